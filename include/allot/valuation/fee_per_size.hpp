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

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {unit > Duration{0} && unit.count() < std::int64_t{1} << 32U,
             "allot: FeePerSize: unit must be positive and below 2^32 ms"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const FeePerSizeParameters&, const FeePerSizeParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(FeePerSizeParameters, unit)

/// The price of the contracts: ⌊fee / size⌋, an integer (spec: crynux.md 1.6, 1.7).
///
/// The size is the creator's word: the number of images, or of whatever takes one unit of time. A task carries it as its
/// estimate, which `estimate` makes; any other estimate counts as the sizes it has begun.
class FeePerSize {
public:
    using role = role::valuation;
    using Parameters = FeePerSizeParameters;

    constexpr FeePerSize() noexcept = default;
    constexpr explicit FeePerSize(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto value(const Task& task, const Requirement&) const noexcept -> Value {
        return {task.fee.units / size_of(task.duration_estimate), 1};
    }

    /// What to say in `TaskSpec::duration_estimate` of a task of this size. Fails with `duration_invalid` for size 0, by which
    /// the contracts divide (spec: D19), and where the time is 2^32 ms or more.
    [[nodiscard]] constexpr auto estimate(std::uint32_t size) const noexcept -> Result<Duration> {
        const auto time = u128{size} * static_cast<std::uint64_t>(parameters_.unit.count());
        if (!time || time >> 32) {
            return Failure{Error::duration_invalid};
        }
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
