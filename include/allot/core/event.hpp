#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include <allot/core/error.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/name.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// Events as values, named as past participles. docs/events.md has the table of causes, fields and addressees; a test
/// keeps it equal to this file.
namespace event {

// ---- nodes --------------------------------------------------------------------------------------------------------

/// A node entered the network. Cause: join. For: the node.
struct NodeJoined {
    NodeId node;
    bool again = false;
};
/// A node's facts changed. Cause: update. For: the node.
struct NodeUpdated {
    NodeId node;
};
/// A node takes no tasks. Cause: pause, or the end of the lease of a node about to pause. For: the node.
struct NodePaused {
    NodeId node;
};
/// A busy node will pause when its lease ends. Cause: pause. For: the node.
struct NodePausePending {
    NodeId node;
};
/// A node takes tasks again, or its pending pause was withdrawn. Cause: resume. For: the node.
struct NodeResumed {
    NodeId node;
};
/// A busy node will leave when its lease ends. Cause: leave. For: the node.
struct NodeLeavePending {
    NodeId node;
};
/// A node left; its stake is to be returned. Cause: leave, or the end of the lease of a node about to leave. For: the
/// node.
struct NodeLeft {
    NodeId node;
    Amount stake_returned{};
};
/// A node was removed for bad service; its stake is to be returned. Cause: QoS. For: the node.
struct NodeKickedOut {
    NodeId node;
    Amount stake_returned{};
};
/// A node was removed for fraud; its stake is forfeited, with stake that unbonds. If it had left, the latter alone.
/// Cause: slash. For: the node.
struct NodeSlashed {
    NodeId node;
    Amount stake_forfeited{};
};
/// A node gave way to one of more stake, for a table is full; its stake is to be returned. Cause: join, update,
/// report_model. For: the node.
struct NodeDisplaced {
    NodeId node;
    Amount stake_returned{};
};
/// A node is kept out of candidate pools until its health recovers or its rest ends. Cause: QoS, decline, fail,
/// resume, join, update. For: the node.
struct NodeExcluded {
    NodeId node;
    TimePoint until{};
};
/// An excluded node is a candidate again. Cause: time. For: the node.
struct NodeReadmitted {
    NodeId node;
};
/// A verdict on a node was taken in. Cause: observe, score; complete, by evidence. For: the node.
struct NodeScored {
    NodeId node;
    Outcome outcome{};
};
/// A node should fetch a model. Cause: the start of a task. For: the node.
struct ModelWanted {
    NodeId node;
    TaskId task;
    Name model{};
};
/// A node's model report was taken in. Cause: report_model. For: the node.
struct ModelsReported {
    NodeId node;
};

// ---- tasks --------------------------------------------------------------------------------------------------------

/// A task waits, a pinned one at its node and not in the queue. Cause: submit, decline, retry. For: the owner.
struct TaskQueued {
    TaskId task;
    std::optional<OwnerId> owner{};
    TimePoint deadline{};
};
/// A task runs; one event per lease. Cause: submit, match, decline, retry, a free node. For: the node and the owner.
struct TaskStarted {
    Lease lease;
    std::optional<OwnerId> owner{};
};
/// A node committed to its result. Cause: commit. For: the owner.
struct TaskCommitted {
    Lease lease;
    std::optional<OwnerId> owner{};
};
/// A node disclosed its result. Cause: disclose. For: the owner.
struct TaskDisclosed {
    Lease lease;
    std::optional<OwnerId> owner{};
};
/// A lease lives longer. Cause: renew. For: the node.
struct LeaseRenewed {
    Lease lease;
};
/// A node of a gang has completed its part, and holds still until the others have. Cause: complete. For: the node and
/// the owner.
struct LeaseCompleted {
    Lease lease;
    std::optional<OwnerId> owner{};
};

/// How a lease ended.
enum class LeaseEnd : std::uint8_t {
    done,       ///< Its task is done, and the node had completed its part.
    failed,     ///< Its node failed the task.
    timed_out,  ///< Its node ran out of time.
    declined,   ///< Its node refused the task; the pair is avoided from now on.
    cancelled,  ///< The task was withdrawn.
    withdrawn,  ///< The gang broke up before any of its nodes had completed, because another node declined.
    slashed,    ///< Its node was removed for fraud.
};
/// A lease ended: each ends in one such event, and what comes of its task is told after it. The outcome is as the QoS
/// tracker heard it, which hears nothing where a node was slashed. Cause: complete, fail, decline, cancel, slash, time.
/// For: the node and the owner.
struct LeaseEnded {
    Lease lease;
    std::optional<OwnerId> owner{};
    LeaseEnd how = LeaseEnd::done;
    OutcomeKind outcome = OutcomeKind::success;
};
/// A task starts over, elsewhere if the terms say so. Cause: the terms' answer to fail, slash or time. For: the owner.
struct TaskRetried {
    TaskId task;
    std::optional<OwnerId> owner{};
    OutcomeKind outcome = OutcomeKind::timeout;
};

/// A task is done; the fee, or the part of it that the terms pay, goes to the node, or is divided among a gang: the
/// node is the first member that completed, and `LeaseCompleted` told who else did, in order of time. Cause: complete;
/// for a gang also fail, decline, slash, time. For: the owner. Terminal.
struct TaskDone {
    TaskId task;
    NodeId node;
    std::optional<OwnerId> owner{};
    Amount paid{};
    Amount refunded{};
    Amount forfeited{};
};
/// A task failed. Cause: fail, slash. For: the owner. Terminal.
struct TaskFailed {
    TaskId task;
    std::optional<OwnerId> owner{};
    Amount paid{};
    Amount refunded{};
    Amount forfeited{};
    FailCause cause = FailCause::execution_error;
};
/// A task was withdrawn, or the one node that may run it left, declined or no longer fits it. Cause: cancel; for a
/// pinned task leave, decline, slash, QoS, a displaced node, a free node. For: the owner. Terminal.
struct TaskCancelled {
    TaskId task;
    std::optional<OwnerId> owner{};
    Amount paid{};
    Amount refunded{};
    Amount forfeited{};
};

/// Why a task was evicted.
enum class Eviction : std::uint8_t {
    queue_full,    ///< A new task found the queue full, and this task had the lowest value, the new task included.
    queue_shrunk,  ///< The network lost nodes, and the queue follows their number.
    table_full,    ///< Too many different requirements are in use, and this task's was removed for that of a task of
                   ///< higher value. Or this is the task of higher value, and not all could be removed at once: it may
                   ///< be submitted again.
};
/// A queued task gave way to others. Cause: submit, decline, retry, fewer nodes, configure. For: the owner. Terminal.
struct TaskEvicted {
    TaskId task;
    std::optional<OwnerId> owner{};
    Amount paid{};
    Amount refunded{};
    Amount forfeited{};
    Eviction reason = Eviction::queue_full;
};

/// Which deadline passed.
enum class Expiry : std::uint8_t { queue, execution };
/// A task ran out of time. Cause: time. For: the owner. Terminal.
struct TaskTimedOut {
    TaskId task;
    std::optional<OwnerId> owner{};
    Amount paid{};
    Amount refunded{};
    Amount forfeited{};
    Expiry expiry = Expiry::queue;
};

/// The cause that a task's record keeps for this ending.
[[nodiscard]] constexpr auto cause_of(FailCause cause) noexcept -> EndCause {
    switch (cause) {
        case FailCause::out_of_memory: return EndCause::out_of_memory;
        case FailCause::model_download: return EndCause::model_download;
        case FailCause::execution_error: return EndCause::execution_error;
        case FailCause::incorrect_result: break;
    }
    return EndCause::incorrect_result;
}
[[nodiscard]] constexpr auto cause_of(Eviction reason) noexcept -> EndCause {
    switch (reason) {
        case Eviction::queue_full: return EndCause::queue_full;
        case Eviction::queue_shrunk: return EndCause::queue_shrunk;
        case Eviction::table_full: break;
    }
    return EndCause::table_full;
}
[[nodiscard]] constexpr auto cause_of(Expiry expiry) noexcept -> EndCause {
    return expiry == Expiry::queue ? EndCause::queue_deadline : EndCause::lease_deadline;
}

// ---- network ------------------------------------------------------------------------------------------------------

/// Time passed. Cause: advance. For: the embedder.
struct Advanced {
    TimePoint now{};
};
/// Waiting tasks were tried. Cause: match. For: the embedder.
struct Matched {
    std::uint32_t started = 0;
};
/// Parameters changed. Cause: configure. For: everybody.
struct Configured {
    std::uint32_t rules_version = 0;
};
/// The command was refused and changed nothing but time. Cause: any command. For: the sender.
struct Refused {
    Error error{};
};
/// Stake was taken away from a node. It can still be forfeited, with stake that was taken away before and has not been
/// returned, and all of it is to be returned at this time. Cause: update, or what removes the node. For: the node.
struct UnbondingBegan {
    NodeId node;
    Amount stake_unbonding{};
    TimePoint until{};
};
/// After an outage each waiting task and each running lease has so much more time, a lease at most `postponed_max` in
/// all. Cause: postpone. For: everybody.
struct Postponed {
    Duration by{};
};

}  // namespace event

namespace detail {

using AnyEvent =
    std::variant<event::NodeJoined, event::NodeUpdated, event::NodePaused, event::NodePausePending, event::NodeResumed,
                 event::NodeLeavePending, event::NodeLeft, event::NodeKickedOut, event::NodeSlashed,
                 event::NodeDisplaced, event::NodeExcluded, event::NodeReadmitted, event::NodeScored,
                 event::ModelWanted, event::ModelsReported, event::TaskQueued, event::TaskStarted, event::TaskCommitted,
                 event::TaskDisclosed, event::LeaseRenewed, event::LeaseCompleted, event::LeaseEnded,
                 event::TaskRetried, event::TaskDone, event::TaskFailed, event::TaskCancelled, event::TaskEvicted,
                 event::TaskTimedOut, event::Advanced, event::Matched, event::Configured, event::Refused,
                 event::Postponed, event::UnbondingBegan>;

template <class E, class... Es>
[[nodiscard]] constexpr auto place_among(std::type_identity<std::variant<Es...>>) -> std::size_t {
    auto place = std::size_t{0};
    (void)((std::is_same_v<E, Es> || (++place, false)) || ...);
    return place;
}

}  // namespace detail

/// One event: a variant of the types above, in their order. It is copied as bytes, because its only text is names.
struct Event : detail::AnyEvent {
    using Alternatives = detail::AnyEvent;
    using Alternatives::Alternatives;
    using Alternatives::operator=;
};
static_assert(std::is_trivially_copyable_v<Event>);

/// The index of a type of event among all of them; their number for any other type.
template <class E>
inline constexpr auto event_place = detail::place_among<E>(std::type_identity<Event::Alternatives>{});
inline constexpr auto event_types = std::variant_size_v<Event::Alternatives>;

/// The types of events.
template <class E>
concept event_type = event_place<E> < event_types;

}}  // namespace allot::v0
