#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// A contract's scores of one node: points of all its tasks, and of the last three (spec: crynux.md 1.1, 1.3, 1.8).
///
/// They are updated task by task: `start`, then `add` for each verdict, then `finish`. The window counts a task from
/// its start, the mean from its end, as the contracts do.
struct ContractScores {
    static constexpr std::uint64_t window = 3;          ///< Number of tasks that decide about a kick-out.
    static constexpr std::uint64_t points_cap = 4'096;  ///< More points than any task gives.

    std::uint64_t total = 0;                     ///< Points of all finished tasks; never reset.
    std::uint64_t tasks = 0;                     ///< Number of tasks started, never reset; zero means "no samples yet".
    std::uint64_t recent_tasks = 0;              ///< Number of tasks started since the last kick-out.
    std::array<std::uint32_t, window> recent{};  ///< Points of the last three of them, a ring.
    std::uint32_t current = 0;                   ///< Points of the current task.

    constexpr void start() noexcept {
        ++tasks;
        recent[recent_tasks % window] = 0;
        ++recent_tasks;
        current = 0;
    }
    /// Adds points to the current task.
    /// @pre a task was started since the last kick-out, and its points stay within `points_cap`.
    constexpr void add(std::uint32_t points) noexcept {
        current += points;
        recent[(recent_tasks - 1) % window] += points;
    }
    /// Sets the points of the current task to zero.
    /// @pre a task was started since the last kick-out.
    constexpr void punish() noexcept {
        current = 0;
        recent[(recent_tasks - 1) % window] = 0;
    }
    constexpr void finish() noexcept { total += current; }
    /// Empties the window, so that a returning node is not kicked out by its first task (spec: D29). The mean stays.
    constexpr void kick_out() noexcept {
        recent = {};
        recent_tasks = 0;
    }

    /// ⌊points / tasks started⌋, and `points_new` before the first task. The current task lowers it until it ends.
    [[nodiscard]] constexpr auto mean(std::uint32_t points_new) const noexcept -> std::uint64_t {
        return tasks == 0 ? points_new : total / tasks;
    }
    [[nodiscard]] constexpr auto recent_sum() const noexcept -> std::uint64_t {
        auto sum = std::uint64_t{0};
        for (const auto points : recent) { sum += points; }
        return sum;
    }
    /// Number of tasks in the window.
    [[nodiscard]] constexpr auto recent_count() const noexcept -> std::uint64_t {
        return std::min(recent_tasks, window);
    }

    /// True for scores that these functions can produce; a snapshot with other scores is refused.
    /// @complexity constant.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        for (std::size_t i = 0; i < window; ++i) {
            if (recent[i] > points_cap || (i >= recent_tasks && recent[i] != 0)) { return false; }
        }
        return recent_tasks <= tasks && tasks < std::uint64_t{1} << 48U && total <= tasks * points_cap &&
               current <= points_cap;
    }

    friend constexpr auto operator==(const ContractScores&, const ContractScores&) noexcept -> bool = default;
};
ALLOT_FIELDS(ContractScores, total, tasks, recent_tasks, recent, current)

/// Parameters of `ContractQos`. The defaults are those of the second contracts; {20, 20, 20, 20, false} are those of
/// the first (spec: crynux.md 1.1).
struct ContractQosParameters {
    std::uint32_t points_max = 10;   ///< Most points of a task: 10 for a rank in one round, 20 in two.
    std::uint32_t points_new = 20;   ///< Mean of a node without tasks, and the scale of the score.
    std::uint32_t padding = 10;      ///< Points for each task that the window of three lacks.
    std::uint32_t kick_out_at = 10;  ///< A window of at most so many points removes the node.
    bool aborts_score_full = true;   ///< True: a task that ended by no fault of the node gives all points. False: it is
                                     ///< not counted. A task that the node declined is never counted.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {points_max >= 1 && points_max <= points_new && points_new <= 1'000,
             "allot: ContractQos: points_max must be 1 to points_new, and points_new at most 1,000"},
            {padding <= 1'000, "allot: ContractQos: padding must be at most 1,000"},
            {kick_out_at < ContractScores::window * padding,
             "allot: ContractQos: kick_out_at must be less than three times padding, or a new node is kicked out"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const ContractQosParameters&, const ContractQosParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(ContractQosParameters, points_max, points_new, padding, kick_out_at, aborts_score_full)

/// The tracker of the contracts: whole points by rank of submission, a mean over the node's life rounded down, and a
/// kick-out by the last three tasks (spec: crynux.md 1.3, 1.8).
///
/// The score is max(1, mean) over the mean of a new node. Points come by `score`; a success alone gives none, because
/// the contracts give points when a result is validated. A timeout in a group waits for the group's verdict.
class ContractQos {
public:
    using role = role::qos;
    using Parameters = ContractQosParameters;
    using node_data = ContractScores;

    constexpr ContractQos() noexcept = default;
    constexpr explicit ContractQos(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Changes nothing: the scores outlive a departure.
    constexpr void joined(node_data&, TimePoint) const noexcept {}

    [[nodiscard]] constexpr auto record(node_data& data, Outcome outcome, TimePoint) const noexcept -> Standing {
        switch (outcome.kind) {
            case OutcomeKind::scored: return take(data, outcome.points);
            case OutcomeKind::timeout:
            case OutcomeKind::incorrect_result: return take(data, 0);
            case OutcomeKind::out_of_memory:
            case OutcomeKind::model_download:
            case OutcomeKind::execution_error:
            case OutcomeKind::cancelled:
                return parameters_.aborts_score_full ? take(data, parameters_.points_max) : Standing::good;
            case OutcomeKind::declined:  // no penalty and no reward (rule 4)
            case OutcomeKind::success:
            case OutcomeKind::timeout_in_group: break;
        }
        return Standing::good;
    }

    [[nodiscard]] constexpr auto score(const node_data& data, TimePoint) const noexcept -> Score {
        return score_max(data);
    }
    [[nodiscard]] constexpr auto score_max(const node_data& data) const noexcept -> Score {
        return Score::from_ratio(std::max<std::uint64_t>(1, data.mean(parameters_.points_new)), parameters_.points_new);
    }
    /// Always empty: the contracts have no temporary exclusion.
    [[nodiscard]] constexpr auto back_at(const node_data&) const noexcept -> std::optional<TimePoint> {
        return std::nullopt;
    }

    [[nodiscard]] constexpr auto points_max() const noexcept -> std::uint32_t { return parameters_.points_max; }

    /// True if the last three tasks gave too few points; each missing one counts as `padding`.
    [[nodiscard]] constexpr auto should_kick_out(const node_data& data) const noexcept -> bool {
        const auto missing = ContractScores::window - data.recent_count();
        return data.recent_sum() + missing * parameters_.padding <= parameters_.kick_out_at;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    constexpr auto take(node_data& data, std::uint32_t points) const noexcept -> Standing {
        data.start();
        data.add(points);
        data.finish();
        if (!should_kick_out(data)) { return Standing::good; }
        data.kick_out();
        return Standing::kicked_out;
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
