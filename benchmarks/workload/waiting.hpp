#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include <allot/policy/task_queue.hpp>

#include "support/chance.hpp"
#include "support/turns.hpp"
#include "workload/population.hpp"

namespace bench {

/// A group of tasks: at least the VRAM of a row, and a card or any. There are 136.
inline auto group_of(std::uint32_t row, std::uint32_t card) -> allot::RequirementId {
    return {row * (cards + 1) + card};
}

/// What a cycle takes out of the queue for each task it puts in.
enum class Takes { best, worst, random };

/// The queue alone, by handles: no ids, no records. It always holds the same number of tasks; a cycle takes one out and
/// puts one in. Nodes ask in the mix of the network; tasks are smaller (`waiting_row`), and half of them accept any
/// card.
///
/// With `blocked`, all but a thousand tasks want the largest card and pay more than the rest, and small nodes ask: a
/// queue that walks down by value steps over all of them.
///
/// A contestant offers `push(entry)`, `erase(entry)`, `best(row, card)` and `worst()` as task handles.
template <class Queue>
class Waiting {
public:
    Waiting(std::size_t tasks, Takes takes, bool blocked = false) : takes_{takes}, blocked_{blocked} {
        for (std::uint32_t h = 0; h < tasks; ++h) {
            entries_.push_back(fresh(h, blocked_ && h >= 1'000));
            queue_.push(entries_.back());
        }
    }

    auto turn(std::size_t operations) -> double {
        auto watch = Stopwatch{};
        for (; operations > 0; operations -= std::min(operations, chunk)) {
            prepare(std::min(operations, chunk));
            watch.start();
            for (auto& step : steps_) {
                const auto taken = take(step);
                if (!taken) { continue; }
                step.taken = *taken;
                queue_.erase(entries_[*taken]);
                step.entry.task = allot::TaskHandle{*taken};
                entries_[*taken] = step.entry;
                queue_.push(step.entry);
            }
            watch.stop();
            for (const auto& step : steps_) { checksum_.add(step.taken); }
        }
        return watch.nanoseconds();
    }
    /// Of all tasks taken out so far.
    [[nodiscard]] auto checksum() const -> std::uint64_t { return checksum_.value(); }

private:
    static constexpr std::size_t chunk = 64;
    struct Step {
        std::uint32_t row;
        std::uint32_t card;
        std::uint32_t random;
        std::uint32_t taken;
        allot::QueueEntry entry;
    };

    /// Values are eighths of a token and more a millisecond, so that a `double` holds them and SQLite sorts them alike.
    auto fresh(std::uint32_t h, bool big) -> allot::QueueEntry {
        const auto row = big ? rows - 1 : blocked_ ? 0 : waiting_row(chance_);
        const auto card = (chance_.next() >> 63U) != 0 ? any_card : chance_.below(cards);
        const auto fee = (chance_.next() >> 24U) + (big ? std::uint64_t{1} << 50U : 0U);
        return {allot::TaskHandle{h}, group_of(row, card), {fee, std::uint64_t{1024} << chance_.below(4)}, sequence_++};
    }

    void prepare(std::size_t count) {
        steps_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = blocked_ ? 0 : chance_.geometric(rows);
            steps_.push_back({row, chance_.below(cards), chance_.below(entries_.size()), 0, fresh(0, false)});
        }
    }

    auto take(const Step& step) -> std::optional<std::uint32_t> {
        switch (takes_) {
            case Takes::best: return queue_.best(step.row, step.card);
            case Takes::worst: return queue_.worst();
            case Takes::random: return step.random;
        }
        return std::nullopt;
    }

    Queue queue_;
    Takes takes_;
    bool blocked_;
    std::vector<allot::QueueEntry> entries_;
    std::vector<Step> steps_;
    std::uint64_t sequence_ = 0;
    Checksum checksum_;
    Chance chance_{5};
};

}  // namespace bench
