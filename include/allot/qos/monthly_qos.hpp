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

/// Parameters of `MonthlyQos`. Seed 002 gives no threshold; these are the first contracts' (spec: crynux.md 1.1).
struct MonthlyQosParameters {
    std::uint32_t points_max = 20;              ///< Most points of a task: ten in each of two rounds; at most 255.
    Score score_new = Score::from_ratio(1, 2);  ///< Score of a node without samples (rule 12).
    bool timeout_scores_zero = true;            ///< A timeout outside a group enters as 0 (rule 19).
    std::uint32_t kick_out_window = 3;          ///< So many last tasks decide about a kick-out; at most 50.
    std::uint32_t kick_out_at = 20;             ///< Points in a full window that remove the node, and all below.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {points_max >= 1 && points_max <= 255, "allot: MonthlyQos: points_max must be 1 to 255"},
            {kick_out_window >= 1 && kick_out_window <= 50, "allot: MonthlyQos: kick_out_window must be 1 to 50"},
            {kick_out_at < std::uint64_t{kick_out_window} * points_max,
             "allot: MonthlyQos: kick_out_at must be less than kick_out_window times points_max"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const MonthlyQosParameters&, const MonthlyQosParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(MonthlyQosParameters, points_max, score_new, timeout_scores_zero, kick_out_window, kick_out_at)

/// The tracker of seed 002: task scores of the rolling month, and of the last tasks.
///
/// Each use has its window: the month for the score and for incentives, the last fifty for views, the last three for kick-outs.
/// The month is today and the 29 days before, a day being 24 h of the network's time. Between two tasks the score stands still,
/// as a draw's bounds need; `month` tells what an incentive needs, at any time.
class MonthlyQos {
public:
    using role = role::qos;
    using Parameters = MonthlyQosParameters;

    static constexpr std::uint32_t days = 30;
    static constexpr std::uint32_t last_max = 50;

    /// What is remembered of one node.
    struct node_data {
        std::array<std::uint32_t, days> day_points{};   ///< Points by day, that of day d at d modulo 30.
        std::array<std::uint16_t, days> day_tasks{};    ///< Tasks by day.
        std::array<std::uint8_t, last_max> last{};      ///< Ring of the last fifty; those not yet given are zero.
        std::uint8_t next = 0;                          ///< Where the next goes.
        std::uint8_t count = 0;                         ///< How many of the fifty were given; zero is "no samples yet".
        std::uint32_t day = 0;                          ///< Day of the last task.

        /// True for what this tracker can have written; a snapshot that says otherwise is refused.
        [[nodiscard]] constexpr auto valid() const noexcept -> bool {
            constexpr auto day_max = std::uint32_t{1} << 22U;  // 2^48 ms are fewer days
            for (std::size_t d = 0; d < days; ++d) {
                if (day_points[d] > std::uint32_t{day_tasks[d]} * 255U) {
                    return false;
                }
            }
            for (std::size_t i = 0; i < last_max; ++i) {
                const auto age = (last_max + next - i - 1U) % last_max;  // 0 is the last
                if (age >= count && last[i] != 0) {
                    return false;
                }
            }
            const auto today = day_tasks[day % days] > 0;
            return next < last_max && count <= last_max && (count == 0 ? *this == node_data{} : today) && day <= day_max;
        }
        friend auto operator==(const node_data&, const node_data&) noexcept -> bool = default;
    };

    constexpr MonthlyQos() noexcept = default;
    constexpr explicit MonthlyQos(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Nothing: the past counts until it is a month old, wherever the node was meanwhile (rule 20).
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

    [[nodiscard]] constexpr auto score(const node_data& data, TimePoint) const noexcept -> Score { return score_max(data); }
    [[nodiscard]] constexpr auto score_max(const node_data& data) const noexcept -> Score {
        return month_until(data, data.day).mean(parameters_.points_max).value_or(parameters_.score_new);
    }
    /// Never: the seed knows no exclusion for a time.
    [[nodiscard]] constexpr auto back_at(const node_data&) const noexcept -> std::optional<TimePoint> { return std::nullopt; }

    [[nodiscard]] constexpr auto points_max() const noexcept -> std::uint32_t { return parameters_.points_max; }

    /// Task scores of the month that ends at a time; none when that month saw no task.
    /// @complexity thirty additions.
    [[nodiscard]] constexpr auto month(const node_data& data, TimePoint time) const noexcept -> Samples {
        return month_until(data, std::max(data.day, day_of(time)));
    }
    /// The last `wanted` task scores, or as many as there are of the last fifty.
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
    [[nodiscard]] static constexpr auto day_of(TimePoint time) noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(elapsed_ms(TimePoint{}, time) / 86'400'000U);
    }

    /// @pre `until >= data.day`.
    [[nodiscard]] static constexpr auto month_until(const node_data& data, std::uint32_t until) noexcept -> Samples {
        auto samples = Samples{};
        const auto idle = until - data.day;  // days of the window without a task, so without a bucket of their own
        for (std::uint32_t back = 0; idle < days && back < days - idle; ++back) {
            const auto day = (data.day + days - back) % days;
            samples.sum += data.day_points[day];
            samples.count += data.day_tasks[day];
        }
        return samples;
    }

    static constexpr void add(node_data& data, std::uint32_t points, TimePoint time) noexcept {
        const auto day = std::max(data.day, day_of(time));
        for (auto gone = std::min(day - data.day, days); gone > 0; --gone) {
            const auto i = (day - gone + 1) % days;
            data.day_points[i] = 0;
            data.day_tasks[i] = 0;
        }
        data.day = day;
        const auto today = day % days;
        if (data.day_tasks[today] < std::numeric_limits<std::uint16_t>::max()) {  // more than one in 1.4 s: enough is known
            data.day_points[today] += points;
            ++data.day_tasks[today];
        }
        data.last[data.next] = static_cast<std::uint8_t>(points);
        data.next = static_cast<std::uint8_t>((data.next + 1U) % last_max);
        data.count = static_cast<std::uint8_t>(std::min(data.count + 1U, last_max));
    }

    Parameters parameters_{};
};
ALLOT_FIELDS(MonthlyQos::node_data, day_points, day_tasks, last, next, count, day)

}}  // namespace allot::v0
