#pragma once

#include <concepts>

#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// `p.value(task, requirement) -> Value`: the value of a task.
template <class P>
concept has_value = requires(const P& p, const Task& task, const Requirement& requirement) {
    { p.value(task, requirement) } -> std::same_as<Value>;
};

/// `p.value(task, requirement, reserved) -> Value`: the same, for a valuation that also asks for the length of the
/// lease which the terms give the task. It is positive.
template <class P>
concept has_value_of_reserved = requires(const P& p, const Task& task, const Requirement& requirement) {
    { p.value(task, requirement, Duration{1}) } -> std::same_as<Value>;
};

/// Value of a task, computed once at admission. Pure; numerator below 2^96, denominator positive and below 2^32.
/// `laws::rational` checks it.
template <class P>
concept task_valuation = has_value<P> || has_value_of_reserved<P>;

/// One sentence per requirement.
template <class P>
struct TaskValuationCheck {
    static_assert(task_valuation<P>, "allot: a task valuation needs "
                                     "`auto value(const Task&, const Requirement&) const -> Value`");
    static constexpr bool passed = task_valuation<P>;
};

}}  // namespace allot::v0
