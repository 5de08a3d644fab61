#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <allot/core/fields.hpp>
#include <allot/core/id.hpp>
#include <allot/core/node.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/random.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `TestSchedule`.
struct TestScheduleParameters {
    Duration window = std::chrono::hours{24 * 30};  ///< Each node gets at least one task in each (seed 002: a month).
    Duration margin = std::chrono::hours{24};       ///< So long before its end at the latest, that the task can still be run.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {window > Duration{0} && window.count() <= std::int64_t{1} << 48U,
             "allot: TestSchedule: window must be positive and at most 2^48 ms"},
            {margin >= Duration{0} && margin < window,
             "allot: TestSchedule: margin must be 0 or more and less than window"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const TestScheduleParameters&, const TestScheduleParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(TestScheduleParameters, window, margin)

/// What is to be done about a node's test task now.
enum class TestNeed : std::uint8_t {
    none,        ///< Its time has not come, or a task of this window has done already.
    now,         ///< Send it one.
    on_release,  ///< It is busy; send it one when it is free, unless what it runs does.
};
ALLOT_ENUMERATORS(TestNeed, none, now, on_release)

/// When the system sends which node a test task, so that nobody can tell beforehand and every node gets at least one task a
/// window (seed 002, "QoS Scores Calculation"; rule 22).
///
/// A pure function of entropy and node. Draw the entropy of a window at its start and keep it secret until its end: who knows
/// it knows the times. Windows follow each other from the origin of time. Nothing of it is a deadline of the dispatcher, which
/// would show it; the embedder asks `need` as often as he likes.
class TestSchedule {
public:
    using Parameters = TestScheduleParameters;

    constexpr TestSchedule() noexcept = default;
    constexpr explicit TestSchedule(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Start of the window a time lies in.
    [[nodiscard]] constexpr auto window_start(TimePoint time) const noexcept -> TimePoint {
        return TimePoint{parameters_.window * window_number(time)};
    }

    /// The hidden time of a node in the window that `from` lies in: uniform between `from` and the margin before the window's
    /// end; `from` itself when that has come already.
    /// @param from the start of the window, or when the node joined or was resumed if that was later.
    /// @complexity one keyed hash.
    [[nodiscard]] constexpr auto time_of(const Entropy& entropy, NodeId node, TimePoint from) const noexcept -> TimePoint {
        const auto latest = window_start(from) + parameters_.window - parameters_.margin;
        if (latest <= from) {
            return from;
        }
        const auto number = static_cast<std::uint64_t>(window_number(from));
        auto random = Random{entropy, Purpose::system_test, node.bytes(), static_cast<std::uint32_t>(number >> 32U),
                             static_cast<std::uint32_t>(number)};
        return from + Duration{static_cast<std::int64_t>(random.below(elapsed_ms(from, latest)))};
    }

    /// Whether a node needs a test task now.
    /// @param since when the node joined or was resumed; @param last_task when it last started a task, real or test, if ever.
    /// Paused nodes and those that leave are exempt.
    [[nodiscard]] constexpr auto need(const Entropy& entropy, NodeId node, NodeState state, TimePoint since,
                                      std::optional<TimePoint> last_task, TimePoint now) const noexcept -> TestNeed {
        const auto start = window_start(now);
        if ((state != NodeState::available && state != NodeState::busy) || since > now || (last_task && *last_task >= start) ||
            now < time_of(entropy, node, std::max(start, since))) {
            return TestNeed::none;
        }
        return state == NodeState::busy ? TestNeed::on_release : TestNeed::now;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }

private:
    [[nodiscard]] constexpr auto window_number(TimePoint time) const noexcept -> std::int64_t {
        return time.time_since_epoch() / parameters_.window;
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
