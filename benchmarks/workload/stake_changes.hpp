#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/core/command.hpp>

#include "support/chance.hpp"
#include "support/turns.hpp"
#include "workload/dispatching.hpp"
#include "workload/population.hpp"

namespace bench {

enum class Whose { ordinary, richest };

/// Stake updates in an idle network. An ordinary one moves a random node's stake by up to a tenth. The richest node's
/// stake grows by a thousandth a command until it is 16 times as much, and then falls again: each command changes
/// everybody's score, and a cycle crosses every threshold that stored bounds may have.
template <class Hub>
class StakeChanges {
public:
    static constexpr std::size_t steps_up = 2'774;  // 1.001^2774 = 16
    static constexpr std::size_t cycle = 2 * steps_up;

    explicit StakeChanges(std::size_t nodes) : network_{nodes, Regime::idle}, profiles_{population(nodes)} {
        richest_ = static_cast<std::size_t>(
            std::max_element(profiles_.begin(), profiles_.end(),
                             [](const Profile& a, const Profile& b) { return a.stake < b.stake; }) -
            profiles_.begin());
    }

    auto turn(std::size_t operations, Whose whose) -> double {
        prepare(operations, whose);
        const auto moment = network_.moment();
        auto watch = Stopwatch{};
        watch.start();
        for (const auto& command : commands_) {
            events_.clear();
            network_.hub().apply(command, moment, events_);
        }
        watch.stop();
        return watch.nanoseconds();
    }

    /// Nanoseconds of the longest command of one cycle of the richest.
    auto longest() -> double {
        prepare(cycle, Whose::richest);
        auto longest = 0.0;
        for (const auto& command : commands_) {
            events_.clear();
            auto watch = Stopwatch{};
            watch.start();
            network_.hub().apply(command, network_.moment(), events_);
            watch.stop();
            longest = std::max(longest, watch.nanoseconds());
        }
        return longest;
    }

private:
    void prepare(std::size_t count, Whose whose) {
        commands_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            if (whose == Whose::ordinary) {
                const auto node = chance_.below(profiles_.size());
                const auto factor = std::min(0.9 + 0.2 * chance_.unit(), node == richest_ ? 1.0 : 1.1);
                const auto stake =
                    std::min(static_cast<std::uint64_t>(factor * static_cast<double>(profiles_[node].stake)),
                             profiles_[richest_].stake);
                push(node, node == richest_ ? profiles_[node].stake : stake);
            } else {
                const auto step = i % cycle;
                factor_ = step == 0 ? 1.0 : step <= steps_up ? factor_ * 1.001 : factor_ / 1.001;
                push(richest_, static_cast<std::uint64_t>(factor_ * static_cast<double>(profiles_[richest_].stake)));
            }
        }
    }
    void push(std::size_t node, std::uint64_t stake) {
        auto change = allot::NodeUpdate{.id = network_.nodes()[node]};
        change.stake = stake;
        commands_.push_back(allot::command::Update{std::move(change)});
    }

    Dispatching<Hub> network_;
    std::vector<Profile> profiles_;
    std::size_t richest_ = 0;
    double factor_ = 1;
    std::vector<typename Hub::Command> commands_;
    allot::Events events_;
    Chance chance_{8};
};

}  // namespace bench
