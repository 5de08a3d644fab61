#pragma once

#include <string_view>

#include <allot/policy/role.hpp>
#include <allot/policy/task_valuation.hpp>

namespace allot { inline namespace v0 {

/// The default valuation: fee over estimated duration, an exact rational (seed 003).
///
/// The unit is tokens per millisecond; a common factor changes no order.
struct FeePerSecond {
    using role = role::valuation;
    static constexpr std::string_view name = "FeePerSecond";

    [[nodiscard]] constexpr auto value(const Task& task, const Requirement&) const noexcept -> Value {
        return {task.fee.units, static_cast<std::uint64_t>(task.duration_estimate.count())};
    }
};

}}  // namespace allot::v0
