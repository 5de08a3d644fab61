#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/node.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>
#include <allot/qos/rolling_qos.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `Rest`.
struct RestParameters {
    Ratio after_decline{1, 2};  ///< Rest after a declined task, in lengths of its lease. Half of a lease of two
                                ///< estimates is the estimate. 0: none.
    Duration after_return = std::chrono::seconds{60};  ///< Rest of a node that comes back to the candidates. 0: none.
    Duration after_raise = std::chrono::hours{1};      ///< Time after which stake that was added counts. 0: at once.
    Duration unbond_after = std::chrono::hours{24};    ///< Time after which stake that was taken away is returned;
                                                       ///< until then it can be forfeited. 0: at once.
    Score score_cap = Score::one();  ///< The score that counts in full for the weight, where its policy caps scores. A
                                     ///< raise makes this one smaller, so that the cap does not hide the raise.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {after_decline.den >= 1 && after_decline.den <= 1'000 && after_decline.num <= 1'000,
             "allot: Rest: after_decline must be at most 1,000, over a denominator of 1 to 1,000"},
            {after_return >= Duration{0} && after_return <= duration_max,
             "allot: Rest: after_return must be 0 to 2^40 ms"},
            {after_raise >= Duration{0} && after_raise <= duration_max,
             "allot: Rest: after_raise must be 0 to 2^40 ms"},
            {unbond_after >= Duration{0} && unbond_after <= duration_max,
             "allot: Rest: unbond_after must be 0 to 2^40 ms"},
            {after_raise <= unbond_after,
             "allot: Rest: after_raise must be at most unbond_after, or a stake could move between nodes that left"},
            {score_cap > Score::zero(), "allot: Rest: score_cap must be positive"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RestParameters&, const RestParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(RestParameters, after_decline, after_return, after_raise, unbond_after, score_cap)

/// How long a node rests. `Resting` applies it.
class Rest {
public:
    using role = role::qos;
    using Parameters = RestParameters;

    constexpr Rest() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit Rest(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The length of a rest in ms. `declined` is the length of the lease that the node declined; none if it came back.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto length(std::optional<Duration> declined) const noexcept -> Duration {
        const auto part = parameters_.after_decline;
        const auto lease = std::clamp(declined.value_or(Duration{0}), Duration{0}, duration_max);
        return declined ? lease * std::int64_t{part.num} / std::int64_t{part.den} : parameters_.after_return;
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

/// The data of one node: those of the tracker that measures its service, and its rest.
template <class Service>
struct RestingData {
    Service service{};
    TimePoint rests_until{};    ///< The end of its rest; in the past if it does not rest.
    bool barred = false;        ///< The tracker excluded it; true until the next outcome after that has ended.
    TimePoint counts_at{};      ///< The time from which on all of its stake counts.
    Score part = Score::one();  ///< The part of its stake that counts until then.
    Unbonding unbonding{};      ///< Stake that was taken away.
    std::uint64_t card = 0;     ///< A hash of the card that it has, or had when it left; 0 before it joins.

    /// True for data that `Resting` can have written; a snapshot with other data is refused.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        if constexpr (requires { service.valid(); }) {
            if (!service.valid()) { return false; }
        }
        const auto is_time = [](TimePoint time) { return TimePoint{} <= time && time <= time_point_max; };
        return is_time(rests_until) && is_time(counts_at) && part > Score::zero() && is_time(unbonding.until) &&
               unbonding.stake.admitted();
    }
    friend auto operator==(const RestingData&, const RestingData&) noexcept -> bool = default;
};
ALLOT_FIELDS_OF_TEMPLATE(RestingData, service, rests_until, barred, counts_at, part, unbonding, card)

/// A QoS tracker, and rests: a node that declined a task, or comes back to the candidates, is no candidate for a while;
/// stake that is added counts after a while, and stake that is taken away is returned after a while.
///
/// It measures service as `Tracker` does. A rest is no verdict: it changes no score and ends by itself. While it lasts
/// the node is excluded, so that it is told when it begins and ends.
///
/// **Law.** A declined task keeps its node out of all draws and pulls for as long as its lease tells that it would have
/// kept the node. So a node that chooses among its tasks earns no more a second than one that takes each. It cannot
/// choose by other means: coming back by `resume`, by `update` or by `join` is a rest as well. A new name has no
/// history and no rest; its price is that of its stake.
///
/// The length counts the lease and not the declared time alone, for an owner may declare a millisecond.
///
/// **Law.** A stake that moves from node to node counts for none of them until it has stayed for `after_raise`. Until
/// then the score is smaller in the proportion of the stakes, so that with a weight in proportion to stake and score a
/// node weighs as much as before. Stake that is taken away counts no more at once.
///
/// **Law.** A node proves itself on the card that it has: with another one it is on probation again, also if it left in
/// between.
///
/// **Law.** A node that takes stake away, or leaves, can lose it for `unbond_after` yet. So no node takes its stake out
/// of reach between a wrong result and the proof of it. Such stake weighs nothing.
template <qos_tracker Tracker = RollingQos>
class Resting {
    static_assert(!has_rest<Tracker> && !has_restaked<Tracker> && !has_runs_as<Tracker> && !has_unbonding<Tracker>,
                  "allot: Resting: the tracker inside has rests, stakes or cards of its own, which Resting would hide");

public:
    using role = role::qos;
    using node_data = RestingData<typename Tracker::node_data>;
    static constexpr std::string_view name = "Resting";

    constexpr Resting() = default;
    constexpr explicit Resting(Tracker tracker, Rest rest = {}) : parts_{std::move(tracker), std::move(rest)} {}

    /// Records that a node joins. A rest goes on.
    constexpr void joined(node_data& data, TimePoint time) const {
        data.barred = barred_at(data, time);
        service().joined(data.service, time);
    }

    /// Passes an outcome to the tracker.
    [[nodiscard]] constexpr auto record(node_data& data, Outcome outcome, TimePoint time) const -> Standing {
        // A refusal is no verdict; it leaves the data as they are (`laws::faithful`).
        if (outcome.kind == OutcomeKind::declined) { return service().record(data.service, outcome, time); }
        data.barred = barred_at(data, time);
        const auto standing = service().record(data.service, outcome, time);
        data.barred = data.barred || standing == Standing::excluded;
        return standing;
    }

    /// Lets a node rest from now on. `declined` is the length of the lease that it declined, in ms; none if it comes
    /// back to the candidates. A longer rest that has begun goes on. True if it rests now.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto rest(node_data& data, std::optional<Duration> declined, TimePoint time) const -> bool {
        data.barred = barred_at(data, time);
        const auto until = std::min(time + std::get<Rest>(parts_).length(declined), time_point_max);
        data.rests_until = std::max(data.rests_until, until);
        return data.rests_until > time;
    }

    /// Records that a node's stake changed. Stake that is added counts after `after_raise`.
    /// @complexity O(1).
    constexpr void restaked(node_data& data, Amount before, Amount after, TimePoint time) const {
        const auto wait = std::get<Rest>(parts_).parameters().after_raise;
        if (after <= before || wait == Duration{0}) { return; }
        const auto cut = std::max(0, bit_width(after.units) - 64);
        const auto rest_of = Score::from_ratio((before.units >> cut).low(), (after.units >> cut).low());
        data.part = scaled(data.counts_at > time ? data.part : Score::one(), rest_of);
        data.counts_at = std::min(time + wait, time_point_max);
    }

    /// Records the card of a node. With another card than before its probation begins anew: verdicts on one card prove
    /// nothing about another. Platform and software do not count.
    /// @complexity linear in the name of the card.
    void runs_as(node_data& data, const NodeClass& node_class) const {
        // The key is public. To find a second card of one hash takes 2^64 tries.
        auto hasher = SipHash13{SipKey{}}.bytes(std::as_bytes(std::span{node_class.gpu}));
        const auto card = std::max<std::uint64_t>(hasher.word(node_class.vram.count).finish(), 1);
        if constexpr (has_unproven<Tracker>) {
            if (data.card != 0 && data.card != card) { service().unproven(data.service); }
        }
        data.card = card;
    }

    /// Records that stake is taken away. It can be forfeited until `unbond_after` from now, with the stake that was
    /// taken away before and could be. True unless it is returned at once.
    /// @pre the amount is admitted. @complexity O(1).
    [[nodiscard]] constexpr auto unbond(node_data& data, Amount amount, TimePoint time) const -> bool {
        const auto wait = std::get<Rest>(parts_).parameters().unbond_after;
        if (wait == Duration{0}) { return false; }
        const auto before = data.unbonding.until > time ? data.unbonding : Unbonding{};
        data.unbonding = {std::min(before.stake.units + amount.units, (u128{1} << 96) - u128{1}),
                          std::max(before.until, std::min(time + wait, time_point_max))};
        return true;
    }
    /// Stake that was taken away, and the time until which it can be forfeited. @complexity O(1).
    [[nodiscard]] static constexpr auto unbonding(const node_data& data) noexcept -> Unbonding {
        return data.unbonding;
    }
    /// Records that this stake is forfeited. @complexity O(1).
    static constexpr void forfeited(node_data& data) noexcept { data.unbonding = {}; }

    [[nodiscard]] constexpr auto score(const node_data& data, TimePoint time) const -> Score {
        const auto served = service().score(data.service, time);
        if (data.counts_at <= time) { return served; }
        return scaled(std::min(served, std::get<Rest>(parts_).parameters().score_cap), data.part);
    }
    [[nodiscard]] constexpr auto score_max(const node_data& data) const -> Score {
        return service().score_max(data.service);
    }
    [[nodiscard]] constexpr auto proven(const node_data& data) const -> bool requires has_proven<Tracker> {
        return service().proven(data.service);
    }
    /// The end of the exclusion or of the rest, the later one.
    [[nodiscard]] constexpr auto back_at(const node_data& data) const -> std::optional<TimePoint> {
        if (!data.barred) { return data.rests_until; }
        const auto served = service().back_at(data.service);
        return served ? std::optional{std::max(*served, data.rests_until)} : std::nullopt;
    }
    [[nodiscard]] constexpr auto points_max() const -> std::uint32_t { return service().points_max(); }

    /// The tracker that measures the service.
    [[nodiscard]] constexpr auto service() const noexcept -> const Tracker& { return std::get<Tracker>(parts_); }
    /// The measurements of a node, without its rest.
    [[nodiscard]] static constexpr auto service_of(const node_data& data) noexcept -> const auto& {
        return data.service;
    }

    /// The tracker and the rest. A dispatcher configures, compares and records each by itself.
    [[nodiscard]] constexpr auto parts() const noexcept -> const std::tuple<Tracker, Rest>& { return parts_; }
    [[nodiscard]] constexpr auto parts() noexcept -> std::tuple<Tracker, Rest>& { return parts_; }

private:
    /// The product; positive if the first factor is, so that no node falls out of all draws.
    [[nodiscard]] static constexpr auto scaled(Score score, Score part) noexcept -> Score {
        return score > Score::zero() ? std::max(score * part, Score::from_raw(1)) : score;
    }

    /// True if the tracker's own exclusion goes on.
    [[nodiscard]] constexpr auto barred_at(const node_data& data, TimePoint time) const -> bool {
        return data.barred && service().back_at(data.service).value_or(never) > time;
    }

    std::tuple<Tracker, Rest> parts_{};
};

}}  // namespace allot::v0
