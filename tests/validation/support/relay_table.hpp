#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// The outcome table of the relays as their documentation and their recorded cases have it, case by case and with its
/// defects. The vectors hold it to the real code, the exhaustive test holds ours to it. It shares nothing with the
/// library.
namespace relay {

enum Status : int {
    score_ready = 4,
    error_reported = 3,
    aborted = 9,
    group_validated = 6,
    invalidated = 7,
    group_refund = 10
};

struct Task {
    std::uint64_t id = 0;
    int status = aborted;
    std::int64_t seconds = 0;
    std::vector<std::uint8_t> score{};
    bool by_timeout = true;  ///< Why it was aborted.
};

struct Outcome {
    int next = aborted;
    std::uint32_t qos = 0;
    bool qos_valid = true;
    bool timeout_zero_enters_pool = false;
};

/// Text (`threshold` empty) is compared by its bytes, images by blocks of eight.
inline auto equal(const Task& a, const Task& b, std::optional<int> threshold) -> bool {
    if (a.status != b.status) { return false; }
    if (a.status == error_reported) { return true; }
    if (!threshold) { return a.score == b.score; }
    if (a.score.size() != b.score.size() || a.score.size() % 8 != 0) { return false; }
    for (std::size_t i = 0; i < a.score.size(); i += 8) {
        auto bits = 0;
        for (std::size_t j = i; j < i + 8; ++j) {
            for (auto bit = 0; bit < 8; ++bit) {
                bits += ((a.score[j] >> bit) & 1) != ((b.score[j] >> bit) & 1) ? 1 : 0;
            }
        }
        if (bits >= *threshold) { return false; }
    }
    return true;
}

inline auto table(const std::array<Task, 3>& tasks, std::optional<int> threshold) -> std::array<Outcome, 3> {
    auto out = std::array<Outcome, 3>{};
    auto f = std::vector<std::size_t>{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (tasks[i].status != aborted) { f.push_back(i); }
    }
    std::sort(f.begin(), f.end(), [&](auto a, auto b) {
        return tasks[a].seconds != tasks[b].seconds ? tasks[a].seconds < tasks[b].seconds : tasks[a].id < tasks[b].id;
    });
    const auto rewards = std::array{10U, 5U, 2U};
    for (std::size_t rank = 0; rank < f.size(); ++rank) { out[f[rank]].qos = rewards[rank]; }
    for (std::size_t i = 0; i < 3; ++i) {
        out[i].qos_valid = !f.empty();
        out[i].timeout_zero_enters_pool = tasks[i].status == aborted && tasks[i].by_timeout && !f.empty();
    }
    const auto same = [&](std::size_t a, std::size_t b) { return equal(tasks[f[a]], tasks[f[b]], threshold); };
    const auto ready = [&](std::size_t a) { return tasks[f[a]].status == score_ready; };
    if (f.size() == 2 && same(0, 1) && ready(0)) {
        out[f[0]].next = group_validated;
        out[f[1]].next = group_refund;
    }
    if (f.size() == 3) {
        if (same(0, 1)) {
            if (ready(0)) {
                out[f[0]].next = group_validated;
                out[f[1]].next = group_refund;
            }
            out[f[2]].next = same(0, 2) ? group_refund : invalidated;
        } else if (same(0, 2)) {
            if (ready(0)) {
                out[f[0]].next = group_validated;
                out[f[2]].next = group_refund;
            }
            out[f[1]].next = invalidated;
        } else if (same(1, 2)) {
            if (ready(1)) {
                out[f[1]].next = group_validated;
                out[f[2]].next = group_refund;
            }
            out[f[0]].next = invalidated;
        }
    }
    return out;
}

}  // namespace relay
