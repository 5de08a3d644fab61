#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/validation/judgement.hpp>
#include <allot/validation/validation_error.hpp>

namespace allot { inline namespace v0 {

/// One task of a group, as its creator submits it.
///
/// Only answers to one question can check each other, so the tasks of a group have equal `work`. It is a hash of all
/// inputs of the answer, such as program, models, input and seed. The embedder computes it from the data that the node
/// receives and never takes it from the creator. Keep it from the nodes: equal hashes show which hidden tasks belong
/// together.
struct ValidationTask {
    TaskId task;
    OwnerId owner = OwnerId::null();
    Amount fee{};    ///< In token units.
    Hash256 work{};  ///< Not all zeros, because zeros identify no work.

    friend auto operator==(const ValidationTask&, const ValidationTask&) -> bool = default;
};

/// The error of a task in a group whose first task is `first`; none if they can check each other.
/// Errors: `id_invalid`, `amount_overflow`, `owner_differs`, `fee_differs`, `work_missing`, `work_differs`.
[[nodiscard]] inline auto fault_of(const ValidationTask& task, const ValidationTask& first)
    -> std::optional<ValidationError> {
    if (task.task.is_null()) { return ValidationError::id_invalid; }
    if (!task.fee.admitted()) { return ValidationError::amount_overflow; }
    if (task.owner != first.owner) { return ValidationError::owner_differs; }
    if (task.fee != first.fee) { return ValidationError::fee_differs; }
    if (task.work == Hash256{}) { return ValidationError::work_missing; }
    return task.work == first.work ? std::nullopt : std::optional{ValidationError::work_differs};
}

/// The node on which a task runs, and its lease's deadline.
struct Placement {
    NodeId node;
    OperatorId operator_id;  ///< Operator of the node; the node's own name if it stands alone.
    /// Compared if `same_class`: the GPU model, or anything else that affects results.
    std::string node_class{};
    /// Deadline of the lease. The group times the member out then, unless an end or a renewal is reported before.
    TimePoint deadline = never;

    friend auto operator==(const Placement&, const Placement&) -> bool = default;
};

/// One member of a group.
struct ValidationMember {
    ValidationTask task;
    MemberState state = MemberState::waiting;
    std::optional<Placement> placement{};
    TimePoint started_at{};  ///< Start on its current node.
    TimePoint ended_at{};
    std::vector<std::uint8_t> result{};

    /// The time at which the group times the member out; `never` unless it runs.
    [[nodiscard]] auto deadline() const noexcept -> TimePoint {
        return state == MemberState::running ? placement->deadline : never;
    }
    /// The member as input of `judge`, without a copy of the result. @pre This member outlives the answer.
    [[nodiscard]] auto answer() const noexcept -> MemberAnswer {
        return {task.task, state, ended_at - started_at, result};
    }

    friend auto operator==(const ValidationMember&, const ValidationMember&) -> bool = default;
};

/// The reason why two members of one group may not run at these two placements; none if they may.
[[nodiscard]] inline auto conflict(const Placement& a, const Placement& b, bool same_class) noexcept
    -> std::optional<ValidationError> {
    if (a.node == b.node) { return ValidationError::node_shared; }
    if (a.operator_id == b.operator_id) { return ValidationError::operator_shared; }
    if (same_class && a.node_class != b.node_class) { return ValidationError::class_differs; }
    return std::nullopt;
}

}}  // namespace allot::v0
