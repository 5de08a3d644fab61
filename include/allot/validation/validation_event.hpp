#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/validation/validation_error.hpp>

namespace allot { inline namespace v0 {

/// What a group is about to do.
enum class ValidationPhase : std::uint8_t {
    running,           ///< Some member has not ended.
    awaiting_creator,  ///< A hidden task has ended, and its creator has the word.
    uploading,         ///< The result that counts is awaited.
    ended,
};

/// How a validation group ended.
enum class ValidationEnd : std::uint8_t {
    passed,             ///< The result that counts was uploaded.
    error_agreed,       ///< Two nodes say that the task cannot be done, or the creator took a node's word for it.
    no_agreement,       ///< No two answers are the same.
    too_few,            ///< Fewer than two answered.
    creator_timed_out,  ///< The creator gave no verdict in time.
    upload_timed_out,   ///< The result was right, but did not come.
};

/// Who has a part in a fee.
struct FeeShare {
    TaskId task;
    NodeId node;
    std::uint32_t points = 0;

    friend auto operator==(const FeeShare&, const FeeShare&) noexcept -> bool = default;
};

/// What happened in a validation group, as past participles, with the dispatcher's command that an embedder makes of it.
///
/// Each member's fee leaves the group once: refunded by one event, or due by one.
namespace validation_event {

/// A member ran out of time. The dispatcher's lease says so too. For: its creator and the node.
struct MemberTimedOut { TaskId task; std::optional<NodeId> node{}; Amount refund{}; };
/// A member ended without an answer. For: its creator.
struct MemberAborted { TaskId task; Amount refund{}; };
/// A member's result counts, and is to be uploaded by then: `renew`. For: the node and the creator.
struct MemberPassed { TaskId task; NodeId node; TimePoint upload_until{}; };
/// A member's result is the same as the one that counts: `complete`. Its part of that one's fee follows. For: the node.
struct MemberMatched { TaskId task; NodeId node; Amount refund{}; };
/// Two others agree against a member: `slash`, or `fail(incorrect_result)` where wrong answers are reviewed, and for an error
/// report against two results. For: the node.
struct MemberWrong { TaskId task; NodeId node; Amount refund{}; bool slash = true; };
/// Nobody can tell who is right, errors agree, or nobody heard an error report: `fail(execution_error)`, which blames nobody.
/// For: the node and the creator.
struct MemberUndecided { TaskId task; NodeId node; Amount refund{}; };
/// A verdict on a node: `score`. For: the node.
struct NodeScored { TaskId task; NodeId node; std::uint32_t points = 0; };
/// A member has done its part: `complete`. For: the node.
struct MemberCompleted { TaskId task; NodeId node; };
/// A member did not upload the result that counts: `observe(timeout_in_group)` unless its lease expires. For: the node.
struct UploadMissed { TaskId task; NodeId node; Amount refund{}; };
/// A fee is to be divided by points, shares in order of rank: `split_fee`. For: the nodes and the creator.
struct FeeDue { TaskId task; Amount fee{}; std::vector<FeeShare> shares{}; };
/// Nothing more will come of the group. For: the creator.
struct GroupEnded { ValidationEnd end = ValidationEnd::passed; };

}  // namespace validation_event

/// Any event.
using ValidationEvent =
    std::variant<validation_event::MemberTimedOut, validation_event::MemberAborted, validation_event::MemberPassed,
                 validation_event::MemberMatched, validation_event::MemberWrong, validation_event::MemberUndecided,
                 validation_event::NodeScored, validation_event::MemberCompleted, validation_event::UploadMissed,
                 validation_event::FeeDue, validation_event::GroupEnded>;

/// What follows from a command, in order: first what was due. With an `error` the command was refused and changed nothing but
/// time.
struct ValidationEffects {
    std::optional<ValidationError> error{};
    std::vector<ValidationEvent> events{};

    [[nodiscard]] auto accepted() const noexcept -> bool { return !error; }

    /// The first event of a type, or null.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events) {
            if (const auto* found = std::get_if<E>(&event)) { return found; }
        }
        return nullptr;
    }
    template <class E>
    void push(E&& event) {
        events.emplace_back(std::forward<E>(event));
    }
};

}}  // namespace allot::v0
