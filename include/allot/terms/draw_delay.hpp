#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/role.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/terms/terms_around.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `DrawDelay`. With the defaults it is off.
struct DrawDelayParameters {
    TimePoint round_first_at{};  ///< Time at which round 1 of the beacon is published.
    Duration round_period{};     ///< Time between two rounds. 0: the beacon has no schedule, and entropy counts as
                                 ///< published at the time of its moment, as that of a block.
    Duration draw_delay{};       ///< Least time between the submission of a task and the publication of the entropy
                                 ///< with which it is drawn, beyond the uncertainty of clocks; a millisecond at least.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto wait = [](Duration d) { return d >= Duration{0} && d <= duration_max; };
        return detail::first_unmet({
            {round_first_at >= TimePoint{} && round_first_at <= time_point_max,
             "allot: DrawDelay: round_first_at must be 0 to 2^48 ms"},
            {wait(round_period), "allot: DrawDelay: round_period must be 0 to 2^40 ms"},
            {wait(draw_delay), "allot: DrawDelay: draw_delay must be 0 to 2^40 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const DrawDelayParameters&, const DrawDelayParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(DrawDelayParameters, round_first_at, round_period, draw_delay)

/// The rounds of a beacon, and the time that entropy has to come after a submission. `Delayed` applies it.
class DrawDelay {
public:
    using role = role::terms;
    using Parameters = DrawDelayParameters;

    constexpr DrawDelay() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit DrawDelay(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// False if the parameters set neither rounds nor a delay. @complexity O(1).
    [[nodiscard]] constexpr auto is_on() const noexcept -> bool {
        return parameters_.round_period > Duration{0} || parameters_.draw_delay > Duration{0};
    }

    /// The time at which the entropy of a moment was published; none unless its round is the newest that is published
    /// by the time of the moment. Among several, a party that calls `match` could choose.
    /// @pre the time of the moment is in [0, 2^48 ms]. @complexity O(1).
    [[nodiscard]] constexpr auto published_at(const Moment& moment) const noexcept -> std::optional<TimePoint> {
        const auto& [first, period, delay] = parameters_;
        if (period == Duration{0}) { return moment.time; }
        if (!moment.round || *moment.round == 0 || moment.time < first) { return std::nullopt; }
        const auto passed = static_cast<std::uint64_t>((moment.time - first) / period);
        if (*moment.round - 1 != passed) { return std::nullopt; }
        return first + period * static_cast<std::int64_t>(*moment.round - 1);
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

/// Lease terms, and rounds: `match` alone draws, and a task only with entropy that was published after its submission.
///
/// Entropy that other commands bring draws nothing, and their freed nodes pull nothing. `match` has to name a round of
/// the beacon that is published, the newest (`Moment::round`), and passes over tasks that began to wait too late for
/// it. So give `match` the first command after each round. A task of a validation group counts as if it began to wait
/// when the last running member of the group started. So each member is drawn by a later round than the one before it.
///
/// A pull needs no entropy, and would be no draw: a node that becomes free would take the best task. It waits for the
/// round all the same. An owner could else submit a task in the moment in which its own node becomes free, and the draw
/// among all other free nodes would not take place.
///
/// **Law.** No party knows the entropy of a task's draw when the task is submitted or starts over. To choose ids, order
/// or times gains no node more than its share of the weight.
///
/// Its limit: between the publication of a round and its match an owner knows the draws, and may cancel the tasks whose
/// draw it does not like; `Priced` makes it pay for each. A party that never calls `match` for a round skips its draws.
template <lease_terms Terms = FixedTerms>
class Delayed : public TermsAround<Terms, DrawDelay> {
public:
    static constexpr std::string_view name = "Delayed";

    constexpr Delayed() = default;
    constexpr explicit Delayed(Terms terms, DrawDelay delay = {})
        : TermsAround<Terms, DrawDelay>{std::move(terms), std::move(delay)} {}

    /// True if `match` alone draws, by these terms or by those inside. @complexity O(1).
    [[nodiscard]] constexpr auto draws_in_rounds() const -> bool {
        if constexpr (has_rounds<Terms>) {
            if (this->terms().draws_in_rounds()) { return true; }
        }
        return delay().is_on();
    }
    /// The latest time at which a task may have begun to wait that a match at this moment draws. None if the moment
    /// does not name the newest round that is published.
    /// @pre the time of the moment is in [0, 2^48 ms]. @complexity O(1).
    [[nodiscard]] constexpr auto drawn_until(const Moment& moment) const -> std::optional<TimePoint> {
        auto until = std::optional{moment.time};
        if (delay().is_on()) {
            const auto published = delay().published_at(moment);
            until = published ? std::optional{*published - std::max(delay().parameters().draw_delay, Duration{1})}
                              : std::nullopt;
        }
        if constexpr (has_rounds<Terms>) {
            const auto inside = this->terms().draws_in_rounds() ? this->terms().drawn_until(moment) : until;
            return until && inside ? std::optional{std::min(*until, *inside)} : std::nullopt;
        } else {
            return until;
        }
    }

    /// The rounds and the delay.
    [[nodiscard]] constexpr auto delay() const noexcept -> const DrawDelay& {
        return std::get<DrawDelay>(this->parts());
    }
};

}}  // namespace allot::v0
