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
    Amount fee_max = (u128{1} << 96) - u128{1};  ///< The most a task may pay that an unproven node is given. The default: any.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {fee_max.admitted(), "allot: Probation: fee_max must be below 2^96"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const ProbationParameters&, const ProbationParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(ProbationParameters, fee_max)

/// Keeps dear tasks from nodes that the QoS tracker does not hold proven by good service. Stands beside another policy:
/// `AllOf{HardwareFit{}, Probation{{.fee_max = 50}}}`.
///
/// A network where nobody is proven yet runs no dear task, so cheap ones must come first. A tracker that knows no probation
/// holds every node proven.
class Probation {
public:
    using role = role::eligibility;
    using Parameters = ProbationParameters;

    constexpr Probation() noexcept = default;
    constexpr explicit Probation(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto fits(const NodeClass&, const Requirement&) const noexcept -> Reason { return Reason::none; }

    [[nodiscard]] constexpr auto admits(const Node&, const Task& task, const Situation& situation) const noexcept -> Reason {
        return situation.proven || task.fee <= parameters_.fee_max ? Reason::none : Reason::unproven;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
