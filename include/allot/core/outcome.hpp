#pragma once

#include <cstdint>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Outcome of a node's part in a task, as reported to the QoS tracker.
enum class OutcomeKind : std::uint8_t {
    success,           ///< The task was completed in time.
    timeout,           ///< The lease expired, outside a validation group.
    timeout_in_group,  ///< The lease expired in a validation group, whose ranking scores it later.
    out_of_memory,     ///< The node ran out of video memory.
    model_download,    ///< A model could not be fetched.
    execution_error,   ///< The task reported an error.
    incorrect_result,  ///< The result was wrong.
    declined,          ///< The node refused the task.
    cancelled,         ///< The owner withdrew the task while it ran.
    scored,            ///< A verdict of 0 to 10 points, given after release.
};

/// Outcome with the points of a verdict; the points count for `scored` alone.
struct Outcome {
    OutcomeKind kind = OutcomeKind::success;
    std::uint32_t points = 0;

    friend auto operator==(const Outcome&, const Outcome&) noexcept -> bool = default;
};

/// A QoS tracker's conclusion from an outcome.
enum class Standing : std::uint8_t {
    good,        ///< Nothing changes.
    excluded,    ///< Keep the node out of candidate pools until `back_at`.
    kicked_out,  ///< Remove the node from the network when it is free.
};

/// Reasons for a call of `fail`. In each case the fee is refunded, unless the terms let the task start over or forfeit
/// a part of it. The effect on the node's QoS is the tracker's decision; the effects below are those of the default
/// tracker.
enum class FailCause : std::uint8_t {
    out_of_memory,     ///< The task asked for too little VRAM: no effect on the node.
    model_download,    ///< A model could not be fetched: no effect on the node, because its host may be down.
    execution_error,   ///< The task itself reported an error: no effect on the node.
    incorrect_result,  ///< The result was wrong: a verdict of zero points.
};

/// The outcome that a failure counts as.
[[nodiscard]] constexpr auto outcome_of(FailCause cause) noexcept -> OutcomeKind {
    switch (cause) {
        case FailCause::out_of_memory: return OutcomeKind::out_of_memory;
        case FailCause::model_download: return OutcomeKind::model_download;
        case FailCause::execution_error: return OutcomeKind::execution_error;
        case FailCause::incorrect_result: break;
    }
    return OutcomeKind::incorrect_result;
}

}}  // namespace allot::v0
