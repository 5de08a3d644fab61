#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <allot/core/error.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// Events as values, named as past participles. README has the table of causes, fields and addressees; a test keeps it equal
/// to this file.
namespace event {

// ---- nodes --------------------------------------------------------------------------------------------------------

/// A node entered the network. Cause: join. For: the node.
struct NodeJoined { NodeId node; bool again = false; };
/// A node's facts changed. Cause: update. For: the node.
struct NodeUpdated { NodeId node; };
/// A node takes no tasks. Cause: pause, or the end of the lease of a node about to pause. For: the node.
struct NodePaused { NodeId node; };
/// A busy node will pause when its lease ends. Cause: pause. For: the node.
struct NodePausePending { NodeId node; };
/// A node takes tasks again, or its pending pause was withdrawn. Cause: resume. For: the node.
struct NodeResumed { NodeId node; };
/// A busy node will leave when its lease ends. Cause: leave. For: the node.
struct NodeLeavePending { NodeId node; };
/// A node left; its stake is to be returned. Cause: leave, or the end of the lease of a node about to leave. For: the node.
struct NodeLeft { NodeId node; Amount stake_returned{}; };
/// A node was removed for bad service; its stake is to be returned. Cause: QoS. For: the node.
struct NodeKickedOut { NodeId node; Amount stake_returned{}; };
/// A node was removed for fraud; its stake is forfeited. Cause: slash. For: the node.
struct NodeSlashed { NodeId node; Amount stake_forfeited{}; };
/// A node is kept out of candidate pools until its health recovers. Cause: QoS. For: the node.
struct NodeExcluded { NodeId node; TimePoint until{}; };
/// An excluded node is a candidate again. Cause: time. For: the node.
struct NodeReadmitted { NodeId node; };
/// A node should fetch a model. Cause: the start of a task. For: the node.
struct ModelWanted { NodeId node; std::string model; TaskId task; };
/// A node's model report was taken in. Cause: report_model. For: the node.
struct ModelsReported { NodeId node; };
/// A verdict on a node was taken in. Cause: observe, score. For: the node.
struct NodeScored { NodeId node; Outcome outcome{}; };

// ---- tasks --------------------------------------------------------------------------------------------------------

/// A task waits, a pinned one at its node and not in the queue. Cause: submit, decline, retry. For: its owner.
struct TaskQueued { TaskId task; std::optional<OwnerId> owner{}; TimePoint deadline{}; };
/// A task runs; one event per lease. Cause: submit, match, a free node. For: the node and the owner.
struct TaskStarted { Lease lease; std::optional<OwnerId> owner{}; };
/// A node committed to its result. Cause: commit. For: the owner.
struct TaskCommitted { Lease lease; };
/// A node disclosed its result. Cause: disclose. For: the owner.
struct TaskDisclosed { Lease lease; };
/// A lease lives longer. Cause: renew. For: the node.
struct LeaseRenewed { Lease lease; };
/// A node refused a task; the pair is avoided from now on. Cause: decline. For: the owner.
struct LeaseDeclined { Lease lease; };
/// A node of a gang has completed its part, and holds still until the others have. Cause: complete. For: the owner and the node.
struct LeaseCompleted { Lease lease; };
/// A node of a gang failed it or ran out of time; the others go on. Cause: fail, slash, time. For: the owner and the node.
struct LeaseLost { Lease lease; OutcomeKind outcome = OutcomeKind::timeout; };
/// A gang broke up before anybody had completed, and this node is not to blame. Cause: decline by another. For: the node.
struct LeaseWithdrawn { Lease lease; };
/// A task starts over on another node. Cause: lease_terms' answer to a failure or a timeout. For: the owner.
struct TaskRetried { TaskId task; std::optional<OwnerId> owner{}; OutcomeKind outcome = OutcomeKind::timeout; };

/// A task is done; the fee goes to the node, or is divided among a gang: the node is the first member that completed, and
/// `LeaseCompleted` told who else did, in order of time. Cause: complete. For: its owner and the node. Terminal.
struct TaskDone { TaskId task; std::optional<OwnerId> owner{}; NodeId node; Amount fee{}; Amount refund{}; };
/// A task failed. Cause: fail. For: its owner. Terminal.
struct TaskFailed {
    TaskId task; std::optional<OwnerId> owner{}; Amount refund{}; FailCause cause = FailCause::execution_error;
};
/// A task was withdrawn, or the one node that may run it left, declined or no longer fits it. Cause: cancel; for a pinned task
/// leave, decline, slash, QoS, a free node. For: its owner and, if it ran, the node. Terminal.
struct TaskCancelled { TaskId task; std::optional<OwnerId> owner{}; Amount refund{}; };

/// Why a task was evicted.
enum class Eviction : std::uint8_t {
    queue_full,    ///< A newcomer found the queue full, and this task was of the lowest value, the newcomer included.
    queue_shrunk,  ///< The network lost nodes, and the queue follows their number.
    table_full,    ///< Too many different requirements are in use, and this task's made way for that of a dearer task; or this is
                   ///< the dearer task, and not all could make way at once: it may be submitted again.
};
/// A queued task gave way; the seeds' TaskAborted. Cause: submit, fewer nodes. For: its owner. Terminal.
struct TaskEvicted {
    TaskId task; std::optional<OwnerId> owner{}; Amount refund{}; Eviction reason = Eviction::queue_full;
};

/// Which deadline passed.
enum class Expiry : std::uint8_t { queue, execution };
/// A task ran out of time. Cause: time. For: its owner and, if it ran, the node. Terminal.
struct TaskTimedOut {
    TaskId task; std::optional<OwnerId> owner{}; Amount refund{}; Expiry expiry = Expiry::queue;
};

// ---- network ------------------------------------------------------------------------------------------------------

/// Time passed. Cause: advance. For: the embedder.
struct Advanced { TimePoint now{}; };
/// Waiting tasks were tried. Cause: match. For: the embedder.
struct Matched { std::uint32_t started = 0; };
/// Parameters changed. Cause: configure. For: everybody.
struct Configured { std::uint32_t rules_version = 0; };
/// The command was refused and changed nothing but time. Cause: any command. For: whoever sent it.
struct Refused { Error error{}; };

/// A node gave way to one of more stake, for a table is full; its stake is to be returned. Cause: join, update. For: the node.
struct NodeDisplaced { NodeId node; Amount stake_returned{}; };

}  // namespace event

/// One thing that happened.
using Event = std::variant<
    event::NodeJoined, event::NodeUpdated, event::NodePaused, event::NodePausePending, event::NodeResumed,
    event::NodeLeavePending, event::NodeLeft, event::NodeKickedOut, event::NodeSlashed, event::NodeExcluded,
    event::NodeReadmitted, event::ModelWanted, event::ModelsReported, event::NodeScored, event::TaskQueued,
    event::TaskStarted, event::TaskCommitted, event::TaskDisclosed, event::LeaseRenewed, event::LeaseDeclined,
    event::TaskRetried, event::TaskDone, event::TaskFailed, event::TaskCancelled, event::TaskEvicted,
    event::TaskTimedOut, event::Advanced, event::Matched, event::Configured, event::Refused,
    event::LeaseCompleted, event::LeaseLost, event::LeaseWithdrawn, event::NodeDisplaced>;

}}  // namespace allot::v0
