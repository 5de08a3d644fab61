#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <allot/core/moment.hpp>
#include <allot/core/task.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Lease terms around others, to derive from: `Terms` answers each question that the class does not answer itself. So
/// terms may stand around each other in any order, and none hides an answer of those inside.
///
///     class Strict : public allot::TermsAround<allot::FixedTerms> {
///     public:
///         [[nodiscard]] auto after(const Task&, OutcomeKind) const -> Next { return Next::end; }
///     };
///
/// `Own` are further policies of the class, each with parameters of its own.
/// @complexity of each answer: that of `Terms`.
template <lease_terms Terms, class... Own>
class TermsAround {
    static_assert(LeaseTermsCheck<Terms>::passed);

public:
    using role = role::terms;

    constexpr TermsAround() = default;
    constexpr explicit TermsAround(Terms terms, Own... own) : parts_{std::move(terms), std::move(own)...} {}

    [[nodiscard]] constexpr auto length(const Node& node, const Task& task) const -> Duration {
        return terms().length(node, task);
    }
    [[nodiscard]] constexpr auto length_max(const Node& node, const Task& task) const -> Duration {
        return terms().length_max(node, task);
    }
    [[nodiscard]] constexpr auto patience(const Task& task) const -> Duration { return terms().patience(task); }
    [[nodiscard]] constexpr auto after(const Task& task, OutcomeKind outcome) const -> Next {
        return terms().after(task, outcome);
    }
    [[nodiscard]] constexpr auto blames(const Task& task, OutcomeKind outcome) const
        -> bool requires has_blames<Terms> {
        return terms().blames(task, outcome);
    }
    [[nodiscard]] constexpr auto waits_for_evidence(OutcomeKind outcome) const -> bool requires has_evidence<Terms> {
        return terms().waits_for_evidence(outcome);
    }
    [[nodiscard]] constexpr auto fee_min(Duration reserved) const -> Amount requires has_fee_min<Terms> {
        return terms().fee_min(reserved);
    }
    [[nodiscard]] constexpr auto forfeit(const Task& task, Ending ending, Duration held, Ratio crowding) const
        -> Amount requires has_forfeit<Terms> {
        return terms().forfeit(task, ending, held, crowding);
    }
    [[nodiscard]] constexpr auto paid(const Task& task) const -> Amount requires has_paid<Terms> {
        return terms().paid(task);
    }
    [[nodiscard]] constexpr auto draws_in_rounds() const -> bool requires has_rounds<Terms> {
        return terms().draws_in_rounds();
    }
    [[nodiscard]] constexpr auto drawn_until(const Moment& moment) const -> std::optional<TimePoint>
        requires has_rounds<Terms> { return terms().drawn_until(moment); }

    /// The terms inside.
    [[nodiscard]] constexpr auto terms() const noexcept -> const Terms& { return std::get<0>(parts_); }
    /// The terms and the further policies. A dispatcher configures, compares and records each by itself.
    [[nodiscard]] constexpr auto parts() const noexcept -> const std::tuple<Terms, Own...>& { return parts_; }
    [[nodiscard]] constexpr auto parts() noexcept -> std::tuple<Terms, Own...>& { return parts_; }

private:
    std::tuple<Terms, Own...> parts_{};
};

}}  // namespace allot::v0
