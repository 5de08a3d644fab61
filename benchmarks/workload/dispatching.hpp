#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>

#include "support/allocations.hpp"
#include "support/chance.hpp"
#include "support/turns.hpp"
#include "workload/population.hpp"

namespace bench {

enum class Regime {
    idle,       ///< A quarter of the nodes busy, nobody waits: a submitted task starts at once.
    saturated,  ///< All nodes busy, as many tasks waiting: a completed task makes room for the best that waits.
};
enum class Feed { one_by_one, span };

/// A node that joins, as the embedder says it.
inline auto spec_of(const Profile& profile, const allot::NodeId& id) -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = card_name(profile.card);
    spec.vram = vram_of(profile.row);
    spec.stake = profile.stake;
    return spec;
}

/// The whole of dispatching. One operation is a pair of commands: complete a random running task, submit a new one.
///
/// Time goes on by a millisecond a pair. No lease expires while it is measured: they last 3,600 to 7,200 s, many mean
/// service times. Ids are 32 random bytes. Commands are made, and events read, outside the timed stretches, 64 pairs at
/// a time; fed as a span those are one call.
///
/// A contestant names its `Command` and offers `apply(command, moment, events)` and the same for a span.
template <class Hub>
class Dispatching {
public:
    using Command = typename Hub::Command;

    Dispatching(std::size_t nodes, Regime regime) : hub_{nodes}, regime_{regime} {
        auto chance = Chance{6};
        for (const auto& profile : population(nodes)) {
            const auto id = allot::NodeId{chance.bytes()};
            apply(allot::command::Join{spec_of(profile, id)}, allot::Moment{now_, {}});
            apply(allot::command::Score{id, profile.points}, allot::Moment{now_, {}});
            nodes_.push_back(id);
        }
        const auto moment = allot::Moment{now_, entropy};
        const auto saturated = regime == Regime::saturated;
        const auto first = saturated ? nodes : nodes / 4;
        for (std::size_t i = 0; i < first; ++i) {  // small ones, which fit every node
            auto task = fresh();
            task.vram_min = vram_of(0);
            task.gpus.clear();
            apply(allot::command::Submit{std::move(task)}, moment);
            take_leases();
        }
        for (std::size_t i = 0; saturated && i < nodes; ++i) { apply(allot::command::Submit{fresh()}, moment); }
        if (running_.size() != first) { throw std::logic_error{"not all tasks started"}; }
    }

    auto turn(std::size_t operations, Feed feed) -> double {
        auto watch = Stopwatch{};
        run(operations, feed, [&](auto&& work) {
            watch.start();
            work();
            watch.stop();
        });
        return watch.nanoseconds();
    }

    /// So many operations; `around(work)` calls `work` for each of the timed stretches.
    template <class Around>
    void run(std::size_t operations, Feed feed, Around around) {
        for (; operations > 0; operations -= std::min(operations, chunk)) {
            prepare(std::min(operations, chunk));
            now_ += std::chrono::milliseconds{chunk};
            const auto moment = allot::Moment{now_, entropy};
            around([&] {
                if (feed == Feed::span) {
                    hub_.apply(std::span<const Command>{commands_}, moment, events_);
                } else {
                    for (const auto& command : commands_) { hub_.apply(command, moment, events_); }
                }
            });
            take_leases();
        }
    }

    /// How often the hub asked the allocator for something or gave it back.
    auto allocator_calls(std::size_t operations, Feed feed) -> std::uint64_t {
        auto calls = std::uint64_t{0};
        run(operations, feed, [&](auto&& work) {
            const auto allocations = Allocations{};
            work();
            calls += allocations.calls();
        });
        return calls;
    }

    /// Which node got which lease, of all since the beginning.
    [[nodiscard]] auto checksum() const -> std::uint64_t { return checksum_.value(); }

    // For workloads that build on this one.
    [[nodiscard]] auto hub() -> Hub& { return hub_; }
    [[nodiscard]] auto nodes() const -> const std::vector<allot::NodeId>& { return nodes_; }
    [[nodiscard]] auto moment() const -> allot::Moment { return {now_, entropy}; }

private:
    static constexpr std::size_t chunk = 64;
    static constexpr std::uint64_t entropy = 2026;

    void apply(Command command, const allot::Moment& moment) {
        events_.clear();
        hub_.apply(command, moment, events_);
    }

    auto fresh() -> allot::TaskSpec {
        auto task = allot::TaskSpec{.id = allot::TaskId{chance_.bytes()}};
        task.vram_min = vram_of(regime_ == Regime::saturated ? waiting_row(chance_) : chance_.geometric(rows));
        if (regime_ == Regime::saturated && (chance_.next() >> 63U) != 0) {
            task.gpus = {{card_name(chance_.below(cards)), {}}};
        }
        task.fee = chance_.next() >> 16U;
        task.duration_estimate = std::chrono::milliseconds{1'800'000 + chance_.below(1'800'000)};
        return task;
    }

    void prepare(std::size_t count) {
        commands_.clear();
        events_.clear();
        const auto slice = running_.size() / count;
        if (slice == 0 || (regime_ == Regime::saturated && running_.size() * 10 < nodes_.size() * 9)) {
            throw std::logic_error{"the network is not as busy as it should be"};
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto pick = i * slice + chance_.below(slice);
            completed_.push_back(pick);
            commands_.push_back(allot::command::Complete{running_[pick]});
            commands_.push_back(allot::command::Submit{fresh()});
        }
    }

    /// Puts the leases that began in the places of those that were completed.
    void take_leases() {
        auto next = std::size_t{0};
        for (const auto& event : events_) {
            if (std::holds_alternative<allot::event::Refused>(event)) {
                throw std::logic_error{"a command was refused: " +
                                       std::string{message(std::get<allot::event::Refused>(event).error)}};
            }
            const auto* started = std::get_if<allot::event::TaskStarted>(&event);
            if (started == nullptr) { continue; }
            checksum_.add(started->lease.token);
            for (const auto byte : started->lease.node.bytes()) { checksum_.add(byte); }
            if (next < completed_.size()) {
                running_[completed_[next++]] = started->lease;
            } else {
                running_.push_back(started->lease);
            }
        }
        while (completed_.size() > next) {  // fewer began than ended: a large task waits for a large node
            running_[completed_.back()] = running_.back();
            running_.pop_back();
            completed_.pop_back();
        }
        completed_.clear();
    }

    Hub hub_;
    Regime regime_;
    allot::TimePoint now_{};
    std::vector<allot::NodeId> nodes_;
    std::vector<allot::Lease> running_;
    std::vector<std::size_t> completed_;
    std::vector<Command> commands_;
    allot::Events events_;
    Checksum checksum_;
    Chance chance_{7};
};

}  // namespace bench
