#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/task.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/role.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/terms/terms_around.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `RenewalBound`.
struct RenewalBoundParameters {
    Ratio lengths = 2;  ///< Greatest length of a lease with its renewals, in lengths that it had at its start. 1: no
                        ///< renewal makes it longer than at its start.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {lengths.den >= 1 && lengths.den <= lengths.num && lengths.num <= 1'000'000,
             "allot: RenewalBound: lengths must be at least 1, over a denominator of at least 1, in numbers of at most "
             "1,000,000"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RenewalBoundParameters&, const RenewalBoundParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(RenewalBoundParameters, lengths)

/// The greatest length of a lease with its renewals, from its length at the start. `BoundedRenewals` applies it.
class RenewalBound {
public:
    using role = role::terms;
    using Parameters = RenewalBoundParameters;

    constexpr RenewalBound() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit RenewalBound(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The greatest length of a lease that has this length at its start, in ms, rounded down.
    /// @pre `length` is in [0, 2^40 ms]. @complexity O(1).
    [[nodiscard]] constexpr auto length_max(Duration length) const noexcept -> Duration {
        return length * std::int64_t{parameters_.lengths.num} / std::int64_t{parameters_.lengths.den};
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

/// Lease terms, and a bound on renewals: a lease lasts at most so many times as long as at its start, however often it
/// is renewed, and no longer than `Terms` says.
///
/// **Law.** A node keeps a task from the others no longer than a multiple of the time that the task's owner asked and
/// paid for. At the end the lease runs out, and the task starts over elsewhere if the terms say so.
template <lease_terms Terms = FixedTerms>
class BoundedRenewals : public TermsAround<Terms, RenewalBound> {
public:
    static constexpr std::string_view name = "BoundedRenewals";

    constexpr BoundedRenewals() = default;
    constexpr explicit BoundedRenewals(Terms terms, RenewalBound bound = {})
        : TermsAround<Terms, RenewalBound>{std::move(terms), std::move(bound)} {}

    [[nodiscard]] constexpr auto length_max(const Node& node, const Task& task) const -> Duration {
        const auto& bound = std::get<RenewalBound>(this->parts());
        return std::min(this->terms().length_max(node, task), bound.length_max(this->length(node, task)));
    }
};

}}  // namespace allot::v0
