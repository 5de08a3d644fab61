#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <allot/allot.hpp>

#include "support/chance.hpp"

namespace bench {

/// A task that a command started, as a row of a table of leases.
struct StartedRow {
    std::int64_t task = 0;
    std::int64_t node = 0;
    std::int64_t token = 0;
    std::int64_t deadline = 0;
};

/// One command, and what a Dispatcher decided on it: all that tables have to write. So they need not choose, which
/// spares them the draw and the search for the best waiting task.
struct Decision {
    bool is_submit = false;
    std::int64_t task = 0;  ///< Submitted or completed.
    std::int64_t fee = 0;
    std::int64_t node = 0;   ///< Of the lease that a completion ends.
    std::int64_t token = 0;  ///< The same.
    std::optional<StartedRow> started{};
};

/// The decisions on one client's commands, who has nodes of its own: tasks are submitted, and leases are completed in
/// random order, with half as many tasks waiting as running. The first ids of nodes and tasks are `first`.
inline auto decisions(std::int64_t first, std::int64_t nodes, std::size_t count) -> std::vector<Decision> {
    const auto number = [](const auto& id) {
        auto out = std::int64_t{0};
        for (std::size_t i = 24; i < 32; ++i) { out = out << 8 | id.bytes()[i]; }
        return out;
    };
    auto dispatcher = allot::Dispatcher<>{};
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = static_cast<std::uint64_t>(first)};
    for (auto i = std::int64_t{0}; i < nodes; ++i) {
        (void)dispatcher
            .join({.id = first + i,
                   .gpu = "RTX 4090",
                   .vram = allot::Gibibytes{24},
                   .stake = allot::Amount{static_cast<std::uint64_t>(i % 1'000 + 1)}},
                  now)
            .or_throw();
    }
    auto chance = Chance{static_cast<std::uint64_t>(first)};
    auto leases = std::vector<allot::Lease>{};
    auto unfinished = std::int64_t{0};
    auto next = first;
    auto out = std::vector<Decision>{};
    while (out.size() < count) {
        now.time += allot::Duration{1};
        now.entropy = allot::Entropy{chance.next()};
        auto& decision = out.emplace_back();
        decision.is_submit = unfinished < nodes * 3 / 2;
        const auto events = [&] {
            if (decision.is_submit) {
                ++unfinished;
                decision.task = next++;
                decision.fee = static_cast<std::int64_t>(chance.below(1'000) + 1);
                return dispatcher.submit({.id = decision.task,
                                          .vram_min = allot::Gibibytes{8},
                                          .fee = allot::Amount{static_cast<std::uint64_t>(decision.fee)},
                                          .duration_estimate = allot::Duration{3'600'000}},
                                         now);
            }
            --unfinished;
            std::swap(leases[chance.below(leases.size())], leases.back());
            const auto lease = leases.back();
            leases.pop_back();
            decision.task = number(lease.task);
            decision.node = number(lease.node);
            decision.token = static_cast<std::int64_t>(lease.token);
            return dispatcher.complete(lease, now);
        }();
        if (!events.accepted()) { throw std::runtime_error{"decisions: a command was refused"}; }
        if (const auto* lease = events.lease()) {
            leases.push_back(*lease);
            decision.started = {number(lease->task), number(lease->node), static_cast<std::int64_t>(lease->token),
                                lease->deadline.time_since_epoch().count()};
        }
    }
    return out;
}

}  // namespace bench
