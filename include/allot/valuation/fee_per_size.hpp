#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/task_valuation.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `FeePerSize`.
struct FeePerSizeParameters {
    Duration unit = std::chrono::seconds{60};  ///< Estimated time of one unit of size.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {unit > Duration{0} && unit.count() < std::int64_t{1} << 32U,
             "allot: FeePerSize: unit must be positive and below 2^32 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const FeePerSizeParameters&, const FeePerSizeParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(FeePerSizeParameters, unit)

/// The price of the contracts: ⌊fee / size⌋, an integer (spec: crynux.md 1.6, 1.7).
///
/// The task's creator declares the size: the number of images, or of other units that each take one unit of time. A
/// task carries it as its estimate, which `estimate` makes; any other estimate counts as the number of sizes begun.
class FeePerSize {
public:
    using role = role::valuation;
    using Parameters = FeePerSizeParameters;

    constexpr FeePerSize() noexcept = default;
    constexpr explicit FeePerSize(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto value(const Task& task, const Requirement&) const noexcept -> Value {
        return {task.fee.units / size_of(task.duration_estimate), 1};
    }

    /// The value of `TaskSpec::duration_estimate` for a task of this size.
    ///
    /// Error: `duration_invalid` for size 0, by which the contracts divide (spec: D19), and for a time of 2^32 ms or
    /// more.
    [[nodiscard]] constexpr auto estimate(std::uint32_t size) const noexcept -> Result<Duration> {
        const auto time = u128{size} * static_cast<std::uint64_t>(parameters_.unit.count());
        if (!time || time >> 32) { return Failure{Error::duration_invalid}; }
        return Duration{static_cast<std::int64_t>(time.low())};
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    [[nodiscard]] constexpr auto size_of(Duration estimate) const noexcept -> std::uint64_t {
        const auto units = (estimate.count() + parameters_.unit.count() - 1) / parameters_.unit.count();
        return static_cast<std::uint64_t>(std::max<std::int64_t>(units, 1));
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
