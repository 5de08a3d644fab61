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
/// Only answers to one question can check each other, so the tasks of a group have one `work`: a hash of all that the answer
/// follows from, such as program, models, input and seed. The embedder makes it of what the node is really given, never takes
/// it from the creator, and keeps it from the nodes: equal hashes show which hidden tasks belong together.
struct ValidationTask {
    TaskId task;
    OwnerId owner = OwnerId::null();
    Amount fee{};
    Hash256 work{};  ///< Not all zeros, which would say nothing.

    friend auto operator==(const ValidationTask&, const ValidationTask&) -> bool = default;
};

/// Where a task runs.
struct Placement {
    NodeId node;
    OperatorId operator_id;          ///< Who runs the node; the node's own name if it stands alone.
    std::string node_class{};        ///< Compared when `same_class` asks for it: the GPU model, or whatever results depend on.
    TimePoint deadline = never;      ///< Of the lease. The group times the member out then, unless it hears so before.

    friend auto operator==(const Placement&, const Placement&) -> bool = default;
};

/// One member of a group.
struct ValidationMember {
    ValidationTask task;
    MemberState state = MemberState::waiting;
    std::optional<Placement> placement{};
    TimePoint started_at{};             ///< On the node it is on now.
    TimePoint ended_at{};
    std::vector<std::uint8_t> result{};

    /// When the group times it out.
    [[nodiscard]] auto deadline() const noexcept -> TimePoint {
        return state == MemberState::running ? placement->deadline : never;
    }
    /// What it is judged by; it holds no copy of the result.
    [[nodiscard]] auto answer() const noexcept -> MemberAnswer {
        return {task.task, state, ended_at - started_at, result};
    }

    friend auto operator==(const ValidationMember&, const ValidationMember&) -> bool = default;
};

/// Why two members of one group may not run on these two, if anything.
[[nodiscard]] inline auto conflict(const Placement& a, const Placement& b, bool same_class) noexcept
    -> std::optional<ValidationError> {
    if (a.node == b.node) { return ValidationError::node_shared; }
    if (a.operator_id == b.operator_id) { return ValidationError::operator_shared; }
    if (same_class && a.node_class != b.node_class) { return ValidationError::class_differs; }
    return std::nullopt;
}

}}  // namespace allot::v0
