#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Where the dispatcher that began a lease has its records, so that a verb which gets the lease back asks for all of
/// their memory at once. Without it task, lease and node are found one after the other: three waits for memory.
///
/// It is no part of the value: never encoded, never compared, and a wrong one changes no result.
struct LeaseHint {
    TaskHandle task = no_handle<TaskHandle>;
    LeaseHandle lease = no_handle<LeaseHandle>;
    NodeHandle node = no_handle<NodeHandle>;

    friend constexpr auto operator==(const LeaseHint&, const LeaseHint&) noexcept -> bool { return true; }
};

/// Exclusive hold of one node on one task until a deadline.
///
/// The token only grows (a fencing token): a command with an older token for the same task is refused.
struct Lease {
    TaskId task;
    NodeId node;
    std::uint64_t token = 0;
    std::uint32_t member = 0;  ///< Index of the node among the task's nodes, from 0.
    std::uint32_t of = 1;      ///< Number of nodes that the task runs on.
    TimePoint deadline{};      ///< The lease has expired when now >= deadline.
    LeaseHint hint{};          ///< Keep it if you keep the lease in memory; it may be left out.

    friend auto operator==(const Lease&, const Lease&) noexcept -> bool = default;
};

/// Progress of a leased task (seed 002: two rounds of submission). A member of a gang that has completed holds its node
/// until all have.
enum class LeasePhase : std::uint8_t { started, committed, disclosed, completed };

/// The greatest time by which `postpone` moves the deadline of one lease, over all outages. So no number of outages
/// keeps a task with one node for ever.
inline constexpr auto postponed_max = Duration{std::chrono::hours{24}};

/// Record of a lease inside the dispatcher.
struct LeaseRecord {
    std::uint64_t token = 0;
    TaskHandle task = no_handle<TaskHandle>;
    NodeHandle node = no_handle<NodeHandle>;
    TimePoint started_at{};
    TimePoint deadline{};                       ///< `never` once completed.
    LeaseHandle next = no_handle<LeaseHandle>;  ///< Lease of the task's next node, by member; none for the last.
    LeasePhase phase = LeasePhase::started;
    std::uint8_t member = 0;  ///< Index of the node among the task's nodes, from 0.
    std::uint8_t of = 1;      ///< Number of nodes that the task was started on.
    Duration postponed{};     ///< Part of the deadline that outages added; at most `postponed_max`.

    friend auto operator==(const LeaseRecord&, const LeaseRecord&) noexcept -> bool = default;
};

}}  // namespace allot::v0
