#pragma once

#include <cstdint>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why a validation group refused an input. The numbers are stable. A refused input changes nothing but time.
enum class ValidationError : std::uint16_t {
    time_went_back = 1,
    time_too_late = 2,
    parameter_invalid = 3,
    id_invalid = 4,
    amount_overflow = 5,
    group_size_wrong = 6,

    member_unknown = 10,
    member_duplicate = 11,
    member_not_running = 12,
    member_ended = 13,

    node_shared = 20,
    operator_shared = 21,
    class_differs = 22,

    result_empty = 30,
    result_too_long = 31,

    not_hidden = 40,
    not_awaited = 41,
    task_sampled = 42,
    task_not_sampled = 43,
    opening_wrong = 44,
    owner_differs = 45,
    parameters_differ = 46,
    already_revealed = 47,
    not_revealed = 48,
    nothing_submitted = 49,
    upload_unasked = 50,
    fee_differs = 51,
    work_missing = 52,
    work_differs = 53,
    recomputation_unasked = 54,
};

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(ValidationError error) noexcept -> std::string_view {
    switch (error) {
        case ValidationError::time_went_back:
            return "the time is earlier than the last one; pass a time that never goes back";
        case ValidationError::time_too_late: return "the time lies beyond 2^48 ms; pass milliseconds since your origin";
        case ValidationError::parameter_invalid: return "a parameter is outside its documented range";
        case ValidationError::id_invalid:
            return "an id is null; use an integer, 1 to 32 bytes of text, 32 bytes or 64 hex digits";
        case ValidationError::amount_overflow: return "the fee is 2^96 or more; token amounts must be below";
        case ValidationError::group_size_wrong: return "a validation group has exactly three tasks";
        case ValidationError::member_unknown: return "the group has no task of this id";
        case ValidationError::member_duplicate: return "the group has a task of this id";
        case ValidationError::member_not_running: return "the task has not started";
        case ValidationError::member_ended: return "the task has already ended";
        case ValidationError::node_shared:
            return "another task of the group runs or ran on this node; its answer would prove nothing";
        case ValidationError::operator_shared:
            return "another task of the group runs or ran on a node of this operator; its answer would prove nothing";
        case ValidationError::class_differs:
            return "the node is of another class than the group's others, so results may differ";
        case ValidationError::result_empty: return "the result is empty; report an error if there is none";
        case ValidationError::result_too_long: return "the result is longer than result_bytes_max; pass a hash of it";
        case ValidationError::not_hidden: return "a declared group is judged without its creator";
        case ValidationError::not_awaited: return "the creator's word is not awaited now";
        case ValidationError::task_sampled: return "the task is sampled for validation; reveal its group";
        case ValidationError::task_not_sampled: return "the task is not sampled for validation; accept it alone";
        case ValidationError::opening_wrong: return "group, nonce and the task's work do not open its commitment";
        case ValidationError::owner_differs: return "tasks of one group have one owner";
        case ValidationError::parameters_differ: return "tasks of one group are validated by the same parameters";
        case ValidationError::already_revealed: return "the task's group has been revealed already";
        case ValidationError::not_revealed: return "reveal the group before others join it";
        case ValidationError::nothing_submitted: return "the task submitted nothing that could be accepted";
        case ValidationError::upload_unasked: return "no upload of this task's result is awaited";
        case ValidationError::fee_differs:
            return "tasks of one group have one fee, for which of them is paid shows at the end";
        case ValidationError::work_missing:
            return "the task has no work; pass a hash of all that its answer follows from";
        case ValidationError::work_differs:
            return "tasks of one group have one work, for answers to different questions differ";
        case ValidationError::recomputation_unasked:
            return "no referee's result is awaited; pass one only after RefereeAsked, and before its time is over";
    }
    return "unknown error";
}

}}  // namespace allot::v0
