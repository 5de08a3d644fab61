#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/samples.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `MonthlyQos`. Seed 002 gives no threshold; these are those of the first contracts (spec: crynux.md
/// 1.1).
struct MonthlyQosParameters {
    std::uint32_t points_max = 20;              ///< Most points of a task: ten in each of two rounds; at most 255.
    Score score_new = Score::from_ratio(1, 2);  ///< Score of a node without samples in its month (rule 12); above zero.
    bool timeout_scores_zero = true;            ///< A timeout outside a group enters as 0 (rule 19).
    std::uint32_t kick_out_window = 3;          ///< Number of last tasks that decide about a kick-out; at most 50.
    std::uint32_t kick_out_at = 20;             ///< A full window of at most so many points removes the node.
    Score score_floor = Score::from_ratio(1, 100);  ///< Least score, so that a node with zero points is still drawn;
                                                    ///< above zero.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {points_max >= 1 && points_max <= 255, "allot: MonthlyQos: points_max must be 1 to 255"},
            {kick_out_window >= 1 && kick_out_window <= 50, "allot: MonthlyQos: kick_out_window must be 1 to 50"},
            {kick_out_at < std::uint64_t{kick_out_window} * points_max,
             "allot: MonthlyQos: kick_out_at must be less than kick_out_window times points_max"},
            {Score::zero() < score_new && score_new <= Score::one(),
             "allot: MonthlyQos: score_new must be above 0 and at most 1"},
            {Score::zero() < score_floor && score_floor <= Score::one(),
             "allot: MonthlyQos: score_floor must be above 0 and at most 1"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const MonthlyQosParameters&, const MonthlyQosParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(MonthlyQosParameters, points_max, score_new, timeout_scores_zero, kick_out_window, kick_out_at,
             score_floor)

/// A node's task scores within 24 h, from the first of these tasks on.
struct DayOfTasks {
    TimePoint from{};          ///< Time at which the first task was scored.
    std::uint32_t points = 0;  ///< Points of all tasks.
    std::uint16_t tasks = 0;   ///< Number of tasks; zero means "no such day".

    friend constexpr auto operator==(const DayOfTasks&, const DayOfTasks&) noexcept -> bool = default;
};
ALLOT_FIELDS(DayOfTasks, from, points, tasks)

/// The tracker of seed 002: task scores of the rolling month, and of the last tasks.
///
/// Each use has its window: the month for the score and for incentives, the last fifty for views, the last three for
/// kick-outs. The month is the last 30 times 24 h (rule 21), without a calendar.
///
/// Tasks are stored by days of the node's own. Each day begins with the first task after the end of the day before, and
/// is forgotten as a whole 30 days after it began. So no task counts for longer than 30 days, none for less than 29,
/// and the only task of a day for 30 exactly.
class MonthlyQos {
public:
    using role = role::qos;
    using Parameters = MonthlyQosParameters;

    static constexpr std::uint32_t days = 30;
    static constexpr std::uint32_t last_max = 50;

    /// The tracker's data of one node.
    struct node_data {
        std::array<DayOfTasks, days> day{};         ///< Ring of days with tasks.
        std::array<std::uint8_t, last_max> last{};  ///< Ring of the last fifty task scores; unused places are zero.
        std::uint8_t next = 0;                      ///< Index of the next place to write.
        std::uint8_t count = 0;                     ///< Number of scores in the ring; zero means "no samples yet".
        std::uint8_t today = 0;                     ///< Index of the newest day.

        /// True for data that this tracker can have written; a snapshot with other data is refused.
        /// @complexity linear in the size of the rings, which is constant.
        [[nodiscard]] constexpr auto valid() const noexcept -> bool {
            if (next >= last_max || count > last_max || today >= days || (count == 0) != (day[today].tasks == 0)) {
                return false;
            }
            for (std::uint32_t back = 0; back < days; ++back) {
                const auto& one = day[(today + days - back) % days];
                const auto& later = day[(today + days - back + 1) % days];
                const auto in_order = back == 0 || one.tasks == 0 || elapsed_ms(one.from, later.from) >= day_ms;
                if (!in_order || one.points > one.tasks * 255U || one.from < TimePoint{} || time_point_max < one.from ||
                    (one.tasks == 0 && one != DayOfTasks{}) || (back > 0 && one.tasks > 0 && later.tasks == 0)) {
                    return false;
                }
            }
            for (std::size_t i = 0; i < last_max; ++i) {
                const auto age = (last_max + next - i - 1U) % last_max;  // 0 is the last
                if (age >= count && last[i] != 0) { return false; }
            }
            return true;
        }
        friend auto operator==(const node_data&, const node_data&) noexcept -> bool = default;
    };

    constexpr MonthlyQos() noexcept = default;
    constexpr explicit MonthlyQos(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Changes nothing: the past counts until it is a month old, even if the node was absent in between (rule 20).
    constexpr void joined(node_data&, TimePoint) const noexcept {}

    [[nodiscard]] constexpr auto record(node_data& data, Outcome outcome, TimePoint time) const noexcept -> Standing {
        const auto zero = outcome.kind == OutcomeKind::incorrect_result ||
                          (outcome.kind == OutcomeKind::timeout && parameters_.timeout_scores_zero);
        if (zero || outcome.kind == OutcomeKind::scored) {
            add(data, zero ? 0 : outcome.points, time);
            const auto window = last(data, parameters_.kick_out_window);
            if (window.count == parameters_.kick_out_window && window.sum <= parameters_.kick_out_at) {
                return Standing::kicked_out;
            }
        }
        return Standing::good;
    }

    /// The mean of the month that ends now, `score_new` when it has no task, and never below the floor. It changes with
    /// time alone: good tasks leave the month as bad ones do.
    [[nodiscard]] constexpr auto score(const node_data& data, TimePoint time) const noexcept -> Score {
        return score_of(month(data, time));
    }
    /// The best mean that can remain when the oldest days have gone, one after the other.
    /// @complexity thirty divisions.
    [[nodiscard]] constexpr auto score_max(const node_data& data) const noexcept -> Score {
        auto samples = Samples{};
        auto most = score_of(samples);
        for (std::uint32_t back = 0; back < days; ++back) {
            add(samples, data.day[(data.today + days - back) % days], data.day[data.today].from);
            most = std::max(most, score_of(samples));
        }
        return most;
    }
    /// Always empty: the seed has no temporary exclusion.
    [[nodiscard]] constexpr auto back_at(const node_data&) const noexcept -> std::optional<TimePoint> {
        return std::nullopt;
    }

    [[nodiscard]] constexpr auto points_max() const noexcept -> std::uint32_t { return parameters_.points_max; }

    /// Task scores of the 30 days that end at `time`; no samples when there was no task.
    /// @pre no task was scored after `time`.
    /// @complexity thirty additions.
    [[nodiscard]] constexpr auto month(const node_data& data, TimePoint time) const noexcept -> Samples {
        auto samples = Samples{};
        for (const auto& day : data.day) { add(samples, day, time); }
        return samples;
    }
    /// The last `wanted` task scores, or as many of them as the ring of fifty has.
    /// @complexity linear in `wanted`.
    [[nodiscard]] constexpr auto last(const node_data& data, std::uint32_t wanted) const noexcept -> Samples {
        auto samples = Samples{0, std::min<std::uint32_t>(wanted, data.count)};
        for (std::uint32_t i = 1; i <= samples.count; ++i) {
            samples.sum += data.last[(last_max + data.next - i) % last_max];
        }
        return samples;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    static constexpr std::uint64_t day_ms = 86'400'000;

    /// Adds a day, if it belongs to the month that ends at `time`.
    static constexpr void add(Samples& samples, const DayOfTasks& day, TimePoint time) noexcept {
        if (elapsed_ms(day.from, time) < days * day_ms) {
            samples.sum += day.points;
            samples.count += day.tasks;
        }
    }

    [[nodiscard]] constexpr auto score_of(const Samples& samples) const noexcept -> Score {
        return std::max(parameters_.score_floor, samples.mean(parameters_.points_max).value_or(parameters_.score_new));
    }

    static constexpr void add(node_data& data, std::uint32_t points, TimePoint time) noexcept {
        if (data.count > 0 && elapsed_ms(data.day[data.today].from, time) >= day_ms) {
            data.today = static_cast<std::uint8_t>((data.today + 1U) % days);
            data.day[data.today] = {};
        }
        auto& today = data.day[data.today];
        if (today.tasks == 0) { today.from = time; }
        if (today.tasks < std::numeric_limits<std::uint16_t>::max()) {  // more than one in 1.4 s: enough is known
            today.points += points;
            ++today.tasks;
        }
        data.last[data.next] = static_cast<std::uint8_t>(points);
        data.next = static_cast<std::uint8_t>((data.next + 1U) % last_max);
        data.count = static_cast<std::uint8_t>(std::min(data.count + 1U, last_max));
    }

    Parameters parameters_{};
};
ALLOT_FIELDS(MonthlyQos::node_data, day, last, next, count, today)

}}  // namespace allot::v0
