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
    Duration window = std::chrono::hours{24 * 30};  ///< Each node gets at least one task in each window (seed 002: a
                                                    ///< month).
    Duration margin = std::chrono::hours{24};       ///< Least time between the task and the end of its window, so that
                                                    ///< the task can still run.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {window > Duration{0} && window.count() <= std::int64_t{1} << 48U,
             "allot: TestSchedule: window must be positive and at most 2^48 ms"},
            {margin >= Duration{0} && margin < window,
             "allot: TestSchedule: margin must be 0 or more and less than window"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const TestScheduleParameters&, const TestScheduleParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(TestScheduleParameters, window, margin)

/// The action that a node's test task requires now.
enum class TestNeed : std::uint8_t {
    none,        ///< No action: its time has not come, or the node has already run a task in this window.
    now,         ///< Send a test task.
    on_release,  ///< The node is busy: send a test task on release, unless the present task counts as one.
};
ALLOT_ENUMERATORS(TestNeed, none, now, on_release)

/// The times at which the network sends test tasks to nodes. No party can predict them, and every node gets at least
/// one task per window (seed 002, "QoS Scores Calculation"; rule 22).
///
/// It is a pure function of entropy and node. Draw the entropy of a window at its start and keep it secret until its
/// end: a party that knows it knows the times. Windows follow each other from the origin of time. No time is a deadline
/// of the dispatcher, which would show it; the embedder may call `need` at any time.
class TestSchedule {
public:
    using Parameters = TestScheduleParameters;

    constexpr TestSchedule() noexcept = default;
    constexpr explicit TestSchedule(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Start of the window that contains `time`.
    [[nodiscard]] constexpr auto window_start(TimePoint time) const noexcept -> TimePoint {
        return TimePoint{parameters_.window * window_number(time)};
    }

    /// The hidden time of a node in the window that contains `from`: uniform between `from` and the margin before the
    /// window's end; `from` itself when the margin has begun already.
    /// @param from The start of the window, or the time when the node joined or was resumed if that was later.
    /// @complexity one keyed hash.
    [[nodiscard]] constexpr auto time_of(const Entropy& entropy, NodeId node, TimePoint from) const noexcept
        -> TimePoint {
        const auto latest = window_start(from) + parameters_.window - parameters_.margin;
        if (latest <= from) { return from; }
        const auto number = static_cast<std::uint64_t>(window_number(from));
        auto random = Random{entropy, Purpose::system_test, node.bytes(), static_cast<std::uint32_t>(number >> 32U),
                             static_cast<std::uint32_t>(number)};
        return from + Duration{static_cast<std::int64_t>(random.below(elapsed_ms(from, latest)))};
    }

    /// The action that a node's test task requires now. Paused nodes and those that leave are exempt.
    /// @param since Time when the node joined or was resumed.
    /// @param last_task Time when it last started a task, real or test, if ever.
    [[nodiscard]] constexpr auto need(const Entropy& entropy, NodeId node, NodeState state, TimePoint since,
                                      std::optional<TimePoint> last_task, TimePoint now) const noexcept -> TestNeed {
        const auto start = window_start(now);
        if ((state != NodeState::available && state != NodeState::busy) || since > now ||
            (last_task && *last_task >= start) || now < time_of(entropy, node, std::max(start, since))) {
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
