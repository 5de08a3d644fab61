#pragma once

#include <cstdint>
#include <string_view>

#include <allot/policy/role.hpp>
#include <allot/policy/task_valuation.hpp>

namespace allot { inline namespace v0 {

/// The fee over the time that the task reserves: the length of its lease, once for each node of a gang. It is an exact
/// rational where that is less than 2^32 ms, and else rounded as `Value` says.
///
/// The unit is tokens per millisecond of a lease; a common factor changes no order.
///
/// **Law.** The value does not rise when an owner declares less than the lease's least length. A declared time above it
/// lowers the value as it lengthens the lease. So a false estimate buys no place in the queue: below the least length
/// it changes nothing, and a lease that is too short ends before the task does. With `FeePerSecond`, in contrast, a
/// task that declares a millisecond goes first.
struct FeePerReservedSecond {
    using role = role::valuation;
    static constexpr std::string_view name = "FeePerReservedSecond";

    /// The value of a task whose lease has this length, in ms.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto value(const Task& task, const Requirement& requirement,
                                       Duration reserved) const noexcept -> Value {
        const auto nodes = std::uint64_t{requirement.gang_size};
        return {task.fee.units, static_cast<std::uint64_t>(reserved.count()) * nodes};
    }
};

}}  // namespace allot::v0
