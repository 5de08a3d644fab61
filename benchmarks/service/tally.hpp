#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline auto ms_of(Clock::duration d) -> double {
    return std::chrono::duration<double, std::milli>{d}.count();
}

/// What many threads saw of a run: answers with the times they took, and the longest time without any.
class Tally {
public:
    /// The run begins now. What is answered after so many seconds only counts as a command.
    void begin(double seconds) {
        began_ = Clock::now();
        ends_at_ = began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{seconds});
    }
    [[nodiscard]] auto ends_at() const -> Clock::time_point { return ends_at_; }
    [[nodiscard]] auto is_over() const -> bool { return Clock::now() >= ends_at_; }

    void answered(Clock::time_point sent, std::uint64_t commands) {
        const auto now = Clock::now();
        const auto guard = std::lock_guard{mutex_};
        commands_ += commands;
        if (now >= ends_at_) { return; }
        in_time_ += commands;
        at_.push_back(now);
        took_ms_.push_back(ms_of(now - sent));
    }
    void count(std::uint64_t resent, bool is_duplicate, std::uint64_t refused) {
        const auto guard = std::lock_guard{mutex_};
        resent_ += resent;
        duplicates_ += is_duplicate ? 1 : 0;
        refused_ += refused;
    }

    /// Seconds from the beginning to the end, or until now.
    [[nodiscard]] auto seconds() const -> double { return ms_of(std::min(Clock::now(), ends_at_) - began_) / 1'000; }
    /// The figures as fields of a JSON object, without its braces.
    [[nodiscard]] auto json() -> std::string {
        const auto guard = std::lock_guard{mutex_};
        auto out = std::string{};
        const auto field = [&out](const char* name, double value) {
            auto text = std::string(64, '\0');
            const auto size =
                std::snprintf(text.data(), text.size(), "%s\"%s\": %.3f", out.empty() ? "" : ", ", name, value);
            out += text.substr(0, static_cast<std::size_t>(size));
        };
        std::sort(took_ms_.begin(), took_ms_.end());
        const auto part = [&](std::size_t percent) {
            return took_ms_.empty() ? 0 : took_ms_[(took_ms_.size() - 1) * percent / 100];
        };
        field("commands", static_cast<double>(commands_));
        field("per_s", static_cast<double>(in_time_) / seconds());
        field("requests_per_s", static_cast<double>(at_.size()) / seconds());
        field("p50_ms", part(50));
        field("p99_ms", part(99));
        field("max_ms", part(100));
        field("stall_ms", stall_ms(at_));
        field("resent", static_cast<double>(resent_));
        field("duplicate", static_cast<double>(duplicates_));
        field("refused", static_cast<double>(refused_));
        return out;
    }
    /// The longest time between two moments.
    [[nodiscard]] static auto stall_ms(std::vector<Clock::time_point>& at) -> double {
        std::sort(at.begin(), at.end());
        auto longest = 0.0;
        for (std::size_t i = 1; i < at.size(); ++i) { longest = std::max(longest, ms_of(at[i] - at[i - 1])); }
        return longest;
    }

private:
    std::mutex mutex_{};
    std::vector<Clock::time_point> at_{};
    std::vector<double> took_ms_{};
    Clock::time_point began_ = Clock::now();
    Clock::time_point ends_at_ = Clock::time_point::max();
    std::uint64_t commands_ = 0;
    std::uint64_t in_time_ = 0;
    std::uint64_t resent_ = 0;
    std::uint64_t duplicates_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace bench
