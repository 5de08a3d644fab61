#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/validation/validation_error.hpp>

namespace allot { inline namespace v0 {

/// The phase of a validation group.
enum class ValidationPhase : std::uint8_t {
    running,           ///< At least one member has not ended.
    awaiting_creator,  ///< A hidden task has ended; the group awaits its creator's verdict.
    awaiting_referee,  ///< Results differ; the group awaits the referee's own result.
    uploading,         ///< The group awaits the upload of the result that counts.
    ended,
};

/// How a validation group ended.
enum class ValidationEnd : std::uint8_t {
    passed,             ///< The result that counts was uploaded.
    error_agreed,       ///< Two nodes report that the task cannot be done, or the creator accepted one node's report.
    no_agreement,       ///< No two answers are the same.
    too_few,            ///< Fewer than two members answered.
    creator_timed_out,  ///< The creator gave no verdict in time.
    upload_timed_out,   ///< The result was right but was not uploaded in time.
};

/// One node's share in a fee.
struct FeeShare {
    TaskId task;
    NodeId node;
    std::uint32_t points = 0;

    friend auto operator==(const FeeShare&, const FeeShare&) noexcept -> bool = default;
};

/// Events of a validation group, as past participles, each with the dispatcher's command that an embedder makes of it.
///
/// Each member's fee leaves the group once: either one event refunds it, or one makes it due. Fees and refunds are
/// token amounts.
namespace validation_event {

/// A member passed its deadline. The dispatcher's lease reports this too. For: its creator and the node.
struct MemberTimedOut {
    TaskId task;
    std::optional<NodeId> node{};
    Amount refund{};
};
/// A member ended without an answer. For: its creator.
struct MemberAborted {
    TaskId task;
    Amount refund{};
};
/// Results differ: have the work done again before `until`, by a party that shares nothing with the members, and tell
/// the group its result with `recomputed`. Until then, renew the members' leases; where the terms bound renewals,
/// `complete` each when it has answered, because `slash` and `score` need no lease. For: the referee.
struct RefereeAsked {
    Hash256 work{};
    TimePoint until{};
};
/// A member's result counts and must be uploaded before `upload_until`: `renew`. For: the node and the creator.
struct MemberPassed {
    TaskId task;
    NodeId node;
    TimePoint upload_until{};
};
/// A member's result equals the one that counts: `complete`. Its share of that member's fee follows. For: the node.
struct MemberMatched {
    TaskId task;
    NodeId node;
    Amount refund{};
};
/// Two others agree against a member, or the referee's result differs from its own: `slash`. Use
/// `fail(incorrect_result)` if wrong answers are reviewed, and for an error report against two results. For: the node.
struct MemberWrong {
    TaskId task;
    NodeId node;
    Amount refund{};
    bool slash = true;
};
/// No answer is confirmed, errors agree, an error report got no verdict, or two others outvote a member and no referee
/// named it: `fail(execution_error)`, which blames no node. For: the node and the creator.
struct MemberUndecided {
    TaskId task;
    NodeId node;
    Amount refund{};
};
/// A verdict on a node: `score`. For: the node.
struct NodeScored {
    TaskId task;
    NodeId node;
    std::uint32_t points = 0;
};
/// A member has completed its task: `complete`. For: the node.
struct MemberCompleted {
    TaskId task;
    NodeId node;
};
/// A member did not upload the result that counts: `observe(timeout_in_group)` unless its lease expires. For: the node.
struct UploadMissed {
    TaskId task;
    NodeId node;
    Amount refund{};
};
/// A fee to be divided by points; the shares are in order of rank: `split_fee`. For: the nodes and the creator.
struct FeeDue {
    TaskId task;
    Amount fee{};
    std::vector<FeeShare> shares{};
};
/// The group has ended; no further event follows. For: the creator.
struct GroupEnded {
    ValidationEnd end = ValidationEnd::passed;
};

}  // namespace validation_event

/// Any event of a validation group.
using ValidationEvent =
    std::variant<validation_event::MemberTimedOut, validation_event::MemberAborted, validation_event::MemberPassed,
                 validation_event::MemberMatched, validation_event::MemberWrong, validation_event::MemberUndecided,
                 validation_event::NodeScored, validation_event::MemberCompleted, validation_event::UploadMissed,
                 validation_event::FeeDue, validation_event::GroupEnded, validation_event::RefereeAsked>;

/// Effects of a command: its events in order, those of passed deadlines first. If `error` is set, the command was
/// refused and changed nothing but time.
struct ValidationEffects {
    std::optional<ValidationError> error{};
    std::vector<ValidationEvent> events{};

    /// True if the command was not refused.
    [[nodiscard]] auto accepted() const noexcept -> bool { return !error; }

    /// Returns the first event of type `E`, or null. @complexity linear in the events.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events) {
            if (const auto* found = std::get_if<E>(&event)) { return found; }
        }
        return nullptr;
    }
    /// Appends an event. @complexity amortised O(1).
    template <class E>
    void push(E&& event) {
        events.emplace_back(std::forward<E>(event));
    }
};

}}  // namespace allot::v0
