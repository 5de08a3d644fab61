#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <allot/core/decay.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `RollingQos`; the defaults are those of the 2026 relay (spec: crynux.md 2.7, 2.8).
struct RollingQosParameters {
    std::uint32_t window = 50;                         ///< Number of verdicts that count; at most 50.
    std::uint32_t points_max = 10;                     ///< Points of the best verdict; at most 255.
    Score score_new = Score::from_ratio(1, 2);         ///< Score of a node without verdicts.
    Score score_floor = Score::from_ratio(1, 100);     ///< Least long-term score. Zero: a node that has only
                                                       ///< zeros is never drawn again.
    bool timeout_scores_zero = true;                   ///< A timeout outside a group enters as 0 (rule 19).
    Score kick_out_below = Score::from_ratio(2, 10);   ///< Mean of a full window that removes a node.
    Score rejoin_floor = Score::from_ratio(3, 10);     ///< Mean to which a returning node is lifted.
    Score penalty = Score::from_ratio(3, 10);          ///< A timeout multiplies health by this,
    Score penalty_first = Score::from_ratio(95, 100);  ///< or by this when health was at least
    Score first_from = Score::from_ratio(99, 100);     ///< `first_from`.
    Score boost = Score::from_ratio(15, 100);          ///< A success adds this to health.
    Duration recovery_tau = std::chrono::minutes{30};  ///< Time constant of the recovery.
    Score exclude_below = Score::from_ratio(2, 10);    ///< A timeout that leaves less health excludes.
    Score readmit_from = Score::from_ratio(8, 10);     ///< Health that ends an exclusion.
    bool rejoin_clears_health = false;                 ///< As the seeds do, and the one exception to
                                                       ///< `laws::faithful`; otherwise a departure restores
                                                       ///< no health.
    std::uint32_t proven_from = 0;                     ///< With fewer good verdicts it is on probation.
    Score score_unproven = Score::one();               ///< The greatest score on probation.
    Score penalty_failure = Score::one();              ///< On probation a failed task, too, multiplies health
                                                       ///< by this, and may exclude. One: failures have no
                                                       ///< effect.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {window >= 1 && window <= 50, "allot: RollingQos: window must be 1 to 50"},
            {points_max >= 1 && points_max <= 255, "allot: RollingQos: points_max must be 1 to 255"},
            {recovery_tau > Duration{0} && recovery_tau <= std::chrono::hours{24 * 40},
             "allot: RollingQos: recovery_tau must be positive and at most 40 days"},
            {exclude_below < readmit_from, "allot: RollingQos: exclude_below must be less than readmit_from"},
            {proven_from <= window, "allot: RollingQos: proven_from must be at most window"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RollingQosParameters&, const RollingQosParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(RollingQosParameters, window, points_max, score_new, score_floor, timeout_scores_zero, kick_out_below,
             rejoin_floor, penalty, penalty_first, first_from, boost, recovery_tau, exclude_below, readmit_from,
             rejoin_clears_health, proven_from, score_unproven, penalty_failure)

/// The default tracker: QoS = long-term score × short-term health.
///
/// The long-term score is the mean of the last 50 verdicts over the best verdict. Health starts at one; a timeout
/// multiplies it, a success adds to it, and it recovers with time: H(t) = 1 - (1 - H0)·exp(-t/τ). A node whose health
/// falls below 0.2 is excluded until it is 0.8 again. A node whose full window has a mean below a fifth is kicked out.
class RollingQos {
public:
    using role = role::qos;
    using Parameters = RollingQosParameters;

    /// The tracker's data of one node.
    struct node_data {
        TimePoint health_at{};
        Score health = Score::one();  ///< Health at `health_at`.
        std::uint16_t sum = 0;        ///< Sum of the verdicts in the ring.
        std::uint8_t next = 0;        ///< Index of the next place to write.
        std::uint8_t count = 0;       ///< Number of verdicts in the ring; zero means "no samples yet".
        std::uint8_t good = 0;        ///< Number of good verdicts since its probation began; counts to 255 at most.
        bool joined_before = false;
        std::array<std::uint8_t, 50> points{};  ///< Ring of verdicts; unused places are zero. Rarely read, so last.

        /// True for data that this tracker can have written; a snapshot with other data is refused.
        /// @complexity linear in the size of the ring, which is constant.
        [[nodiscard]] constexpr auto valid() const noexcept -> bool {
            auto total = std::uint32_t{0};
            for (std::size_t i = 0; i < points.size(); ++i) {
                const auto age = (points.size() + next - i - 1U) % points.size();  // 0 is the last verdict
                if (age >= count && points[i] != 0) { return false; }
                total += points[i];
            }
            return next < points.size() && count <= points.size() && total == sum && health <= Score::one() &&
                   (good == 0 || count > 0) && TimePoint{} <= health_at && health_at <= time_point_max;
        }

        friend auto operator==(const node_data&, const node_data&) noexcept -> bool = default;
    };

    constexpr RollingQos() noexcept = default;
    constexpr explicit RollingQos(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Lifts a returning node to the floor, so that it can be drawn; a departure raises nothing else (rule 20). A node
    /// that is lifted begins its probation again: the points it is given prove nothing.
    constexpr void joined(node_data& data, TimePoint time) const noexcept {
        if (!data.joined_before) {
            data = node_data{};
            data.joined_before = true;
            data.health_at = time;
            return;
        }
        if (data.count > 0 && long_term(data) < parameters_.rejoin_floor) { fill(data); }
        if (parameters_.rejoin_clears_health) {
            data.health = Score::one();
            data.health_at = time;
        }
    }

    [[nodiscard]] constexpr auto record(node_data& data, Outcome outcome, TimePoint time) const noexcept -> Standing {
        switch (outcome.kind) {
            case OutcomeKind::success: set_health(data, sum_of(health(data, time), parameters_.boost), time); break;
            case OutcomeKind::timeout:
                if (parameters_.timeout_scores_zero) { take(data, 0); }
                [[fallthrough]];
            case OutcomeKind::timeout_in_group: {
                const auto now = health(data, time);
                const auto factor = now >= parameters_.first_from ? parameters_.penalty_first : parameters_.penalty;
                set_health(data, now * factor, time);
                break;
            }
            case OutcomeKind::incorrect_result: take(data, 0); break;
            case OutcomeKind::scored: take(data, outcome.points); break;
            case OutcomeKind::out_of_memory:
            case OutcomeKind::model_download:
            case OutcomeKind::execution_error:
                if (harms(data, outcome.kind)) {
                    set_health(data, health(data, time) * parameters_.penalty_failure, time);
                }
                break;
            case OutcomeKind::declined:
            case OutcomeKind::cancelled: break;  // neither tells how well the node serves
        }
        return standing(data, outcome.kind);
    }

    [[nodiscard]] constexpr auto score(const node_data& data, TimePoint time) const noexcept -> Score {
        return score_max(data) * health(data, time);
    }
    /// The score in full health. Without the floor a node that scored only zeros would never be drawn again: it could
    /// neither improve nor fill its window and be kicked out.
    [[nodiscard]] constexpr auto score_max(const node_data& data) const noexcept -> Score {
        const auto score = std::max(long_term(data), parameters_.score_floor);
        return proven(data) ? score : std::min(score, parameters_.score_unproven);
    }
    /// True if the node has enough good verdicts that its probation is over. A verdict is good when a full window of
    /// such verdicts would not kick the node out; zero never is.
    [[nodiscard]] constexpr auto proven(const node_data& data) const noexcept -> bool {
        return data.good >= parameters_.proven_from;
    }

    /// Begins a node's probation anew, if there is one.
    constexpr void unproven(node_data& data) const noexcept {
        if (parameters_.proven_from > 0) { data.good = 0; }
    }

    [[nodiscard]] constexpr auto back_at(const node_data& data) const noexcept -> std::optional<TimePoint> {
        const auto tau = static_cast<std::uint64_t>(parameters_.recovery_tau.count());
        const auto wait = recovery_time(data.health, parameters_.readmit_from, tau);
        return data.health_at + Duration{static_cast<std::int64_t>(wait)};
    }

    [[nodiscard]] constexpr auto points_max() const noexcept -> std::uint32_t { return parameters_.points_max; }

    /// The mean verdict over the best one; `score_new` without verdicts.
    [[nodiscard]] constexpr auto long_term(const node_data& data) const noexcept -> Score {
        if (data.count == 0) { return parameters_.score_new; }
        return Score::from_ratio(data.sum, std::uint64_t{parameters_.points_max} * data.count);
    }

    /// The health at `time`, recovered since the last change.
    [[nodiscard]] constexpr auto health(const node_data& data, TimePoint time) const noexcept -> Score {
        return recover(data.health, elapsed_ms(data.health_at, time),
                       static_cast<std::uint64_t>(parameters_.recovery_tau.count()));
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    [[nodiscard]] static constexpr auto sum_of(Score a, Score b) noexcept -> Score {
        return Score::from_raw(std::min(a.raw() + b.raw(), Score::one().raw()));
    }

    static constexpr void set_health(node_data& data, Score health, TimePoint time) noexcept {
        data.health = health;
        data.health_at = time;
    }

    constexpr void take(node_data& data, std::uint32_t points) const noexcept {
        add(data, points);
        const auto good = points > 0 && Score::from_ratio(points, parameters_.points_max) >= parameters_.kick_out_below;
        data.good = static_cast<std::uint8_t>(std::min(data.good + (good ? 1 : 0), 255));
    }

    /// Drops the oldest verdict of a full window, then adds the new one. It is also right after the window was made
    /// smaller.
    constexpr void add(node_data& data, std::uint32_t points) const noexcept {
        while (data.count >= parameters_.window) {
            const auto oldest = (data.next + data.points.size() - data.count) % data.points.size();
            data.sum = static_cast<std::uint16_t>(data.sum - data.points[oldest]);
            data.points[oldest] = 0;
            --data.count;
        }
        data.points[data.next] = static_cast<std::uint8_t>(points);
        data.sum = static_cast<std::uint16_t>(data.sum + points);
        data.next = static_cast<std::uint8_t>((data.next + 1U) % data.points.size());
        ++data.count;
    }

    /// Fills the window at the floor, rounded up to a whole point. Later verdicts then change the mean as slowly as
    /// they would have changed the true one.
    constexpr void fill(node_data& data) const noexcept {
        const auto window = std::uint64_t{parameters_.window};
        const auto sum = (parameters_.rejoin_floor.raw() * window * parameters_.points_max + Score::one().raw() - 1) >>
                         Score::fraction_bits;
        data.points = {};
        data.next = data.count = data.good = 0;
        data.sum = 0;
        for (std::uint64_t i = 0; i < window; ++i) {
            add(data, static_cast<std::uint32_t>(sum * (i + 1) / window - sum * i / window));
        }
    }

    /// True if such an outcome reduces health.
    [[nodiscard]] constexpr auto harms(const node_data& data, OutcomeKind kind) const noexcept -> bool {
        switch (kind) {
            case OutcomeKind::timeout:
            case OutcomeKind::timeout_in_group: return true;
            case OutcomeKind::out_of_memory:
            case OutcomeKind::model_download:
            case OutcomeKind::execution_error: return !proven(data) && parameters_.penalty_failure < Score::one();
            default: return false;
        }
    }

    [[nodiscard]] constexpr auto standing(const node_data& data, OutcomeKind kind) const noexcept -> Standing {
        if (data.count >= parameters_.window && long_term(data) < parameters_.kick_out_below) {
            return Standing::kicked_out;
        }
        return harms(data, kind) && data.health < parameters_.exclude_below ? Standing::excluded : Standing::good;
    }

    Parameters parameters_{};
};
ALLOT_FIELDS(RollingQos::node_data, points, next, count, sum, joined_before, health, health_at, good)

}}  // namespace allot::v0
