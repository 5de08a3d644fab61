#pragma once

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `Probation`.
struct ProbationParameters {
    Amount fee_max = (u128{1} << 96) - u128{1};  ///< The largest fee of a task that an unproven node may run. The
                                                 ///< default: any.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {fee_max.admitted(), "allot: Probation: fee_max must be below 2^96"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const ProbationParameters&, const ProbationParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(ProbationParameters, fee_max)

/// Refuses tasks of large fee to nodes that the QoS tracker does not regard as proven by good service. It is combined
/// with another policy: `AllOf{HardwareFit{}, Probation{{.fee_max = 50}}}`.
///
/// A network without proven nodes runs no task of large fee, so cheap ones must come first. A tracker without probation
/// regards every node as proven.
class Probation {
public:
    using role = role::eligibility;
    using Parameters = ProbationParameters;

    constexpr Probation() noexcept = default;
    constexpr explicit Probation(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto fits(const NodeClass&, const Requirement&) const noexcept -> Reason {
        return Reason::none;
    }

    [[nodiscard]] constexpr auto admits(const Node&, const Task& task, const Situation& situation) const noexcept
        -> Reason {
        return situation.proven || task.fee <= parameters_.fee_max ? Reason::none : Reason::unproven;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
