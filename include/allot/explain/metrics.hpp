#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/events.hpp>
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/trace.hpp>

namespace allot { inline namespace v0 {

/// Counts of durations, in fixed buckets.
struct Histogram {
    /// Upper bounds of all buckets except the last, which has none.
    static constexpr auto bounds =
        std::array{Duration{100},     Duration{1'000},     Duration{10'000},    Duration{60'000},
                   Duration{600'000}, Duration{3'600'000}, Duration{21'600'000}};

    std::array<std::uint64_t, bounds.size() + 1> buckets{};  ///< Not cumulative.
    std::uint64_t count = 0;
    std::uint64_t sum_ms = 0;

    /// Counts one duration in the first bucket whose bound it does not exceed.
    /// @complexity O(log buckets).
    void add(Duration span) noexcept {
        const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), span) - bounds.begin();
        ++buckets[static_cast<std::size_t>(bucket)];
        ++count;
        sum_ms += static_cast<std::uint64_t>(span.count());
    }

    friend auto operator==(const Histogram&, const Histogram&) noexcept -> bool = default;
};

/// An exact part of a whole.
struct Fraction {
    u128 num{};
    u128 den{};  ///< Zero if there is no whole.

    friend auto operator==(const Fraction&, const Fraction&) noexcept -> bool = default;
};

/// Figures of a network: counts of the events so far, and the state now.
struct Metrics {
    std::array<std::uint64_t, event_types> events{};  ///< By the index of the event in `Event`.
    std::map<Error, std::uint64_t> refusals{};
    Histogram waits{};                       ///< From submission to the first start.
    std::array<std::uint64_t, 5> choices{};  ///< By `DecisionKind`: draws, pulls, evictions, copies.
    std::uint64_t rejections = 0;            ///< Rejected tries of draws and copies.
    std::uint64_t scans = 0;                 ///< Draws and copies that an exact scan decided.
    std::uint64_t undecided = 0;             ///< Draws for a task, new or in a match, that stayed undecided.
    std::array<std::uint64_t, 2> cuts{};     ///< Walks that met their bound, by `Walk`: pulls, matches.
    std::uint64_t above_bound = 0;           ///< Weights above their bounds, found by draws and copies. If it is not
                                             ///< zero, the weight policy is not monotone although it claims to be, and
                                             ///< shares are wrong.
    std::uint64_t renewals = 0;              ///< Renewals begun of the bounds of draws, because the largest stake
                                             ///< changed much.
    std::uint64_t explanations = 0;          ///< Calls of `explained`.

    std::uint32_t queued = 0;
    std::uint32_t queue_capacity = 0;
    std::vector<std::pair<Requirement, std::uint32_t>> queued_by_group{};  ///< Groups with demand.
    std::array<std::uint32_t, 5> nodes{};  ///< Nodes that have not left, by `NodeState`.
    std::uint32_t excluded = 0;
    std::uint32_t leases = 0;
    Fraction jain{};   ///< (Σx)² / (n·Σx²) for the x tasks done by each node that has not left.
    Fraction top_1{};  ///< The greatest number of tasks done by one of them, over the sum of all.

    /// Number of events of one type so far.
    template <event_type E>
    [[nodiscard]] auto count() const -> std::uint64_t {
        return events[event_place<E>];
    }
};

/// Counts events and choices. It is outside the dispatcher, which does not depend on it.
///
///     auto recorder = allot::MetricsRecorder{};
///     auto events = allot::Events{};
///     dispatcher.apply(command, moment, events, recorder.trace<decltype(dispatcher)>());  // counts draws
///     recorder.hear(dispatcher, events);
///     const auto metrics = recorder.metrics(dispatcher);
class MetricsRecorder {
public:
    /// The trace to pass to `apply`, which counts draws and their rejections. It may not outlive the recorder.
    template <class Dispatcher>
    [[nodiscard]] auto trace() noexcept -> Trace<typename Dispatcher::View> {
        return {this,
                [](void* self, const typename Dispatcher::View&, const Decision& choice) {
                    static_cast<MetricsRecorder*>(self)->sees(choice);
                },
                [](void* self, Walk walk) {
                    ++static_cast<MetricsRecorder*>(self)->counted_.cuts[static_cast<std::size_t>(walk)];
                }};
    }

    /// Counts the events of one `apply`, as `Events` or another list. Forgets nodes that left.
    /// @complexity O(log n) for each event.
    template <class Dispatcher, class EventList>
    void hear(const Dispatcher& dispatcher, const EventList& events) {
        const auto aim = dispatcher.state().counters().ceilings.to;
        counted_.renewals += aim_ && *aim_ != aim ? 1U : 0U;
        aim_ = aim;
        for (const auto& event : events) {
            ++counted_.events[event.index()];
            if (const auto* refused = std::get_if<event::Refused>(&event)) {
                ++counted_.refusals[refused->error];
            } else if (const auto* done = std::get_if<event::TaskDone>(&event)) {
                ++done_[done->node];
            } else if (const auto* node = left(event); node != nullptr) {
                done_.erase(*node);
            } else if (const auto* started = std::get_if<event::TaskStarted>(&event)) {
                const auto* task = dispatcher.task(started->lease.task);
                if (task != nullptr && task->attempt == 1 && started->lease.member == 0) {
                    counted_.waits.add(dispatcher.now() - task->submitted_at);
                }
            }
        }
    }

    /// Counts an explanation. Explanations change nothing, so only the caller of one can count it.
    void explained() noexcept { ++counted_.explanations; }

    /// The counts so far, and the state of the network.
    /// @complexity linear in the records.
    template <class Dispatcher>
    [[nodiscard]] auto metrics(const Dispatcher& dispatcher) const -> Metrics {
        const auto& state = dispatcher.state();
        auto result = counted_;
        result.queued = dispatcher.queued();
        result.queue_capacity = dispatcher.queue_capacity();
        result.leases = state.leases().size();
        auto groups = std::map<RequirementId, std::uint32_t>{};
        state.tasks().for_each([&](TaskHandle, const Task& task) {
            if (task.state == TaskState::queued) { ++groups[task.requirement]; }
        });
        for (const auto& [group, waiting] : groups) {
            result.queued_by_group.emplace_back(state.fits().value(group), waiting);
        }
        auto sum = u128{};
        auto squares = u128{};
        auto most = std::uint64_t{0};
        state.nodes().for_each([&](NodeHandle, const auto& record) {
            if (!record.node.present()) { return; }
            ++result.nodes[static_cast<std::size_t>(record.node.state)];
            result.excluded += record.node.excluded ? 1U : 0U;
            const auto found = done_.find(record.node.id);
            const auto tasks = found == done_.end() ? 0 : found->second;
            sum += tasks;
            squares += u128{tasks} * u128{tasks};
            most = std::max(most, tasks);
        });
        result.jain = {sum * sum, squares * u128{state.present()}};
        result.top_1 = {most, sum};
        return result;
    }

private:
    /// The node that left with this event, or null.
    [[nodiscard]] static auto left(const Event& event) noexcept -> const NodeId* {
        if (const auto* gone = std::get_if<event::NodeLeft>(&event)) { return &gone->node; }
        if (const auto* gone = std::get_if<event::NodeKickedOut>(&event)) { return &gone->node; }
        if (const auto* gone = std::get_if<event::NodeSlashed>(&event)) { return &gone->node; }
        if (const auto* gone = std::get_if<event::NodeDisplaced>(&event)) { return &gone->node; }
        return nullptr;
    }
    void sees(const Decision& choice) noexcept {
        if (choice.drawn.undecided() && choice.kind == DecisionKind::draw) {
            ++counted_.undecided;
        } else {
            ++counted_.choices[static_cast<std::size_t>(choice.kind)];
        }
        counted_.rejections += choice.drawn.rejections;
        counted_.scans += choice.drawn.scanned ? 1U : 0U;
        counted_.above_bound += choice.drawn.above_bound;
    }

    Metrics counted_{};  // the events' part alone
    std::map<NodeId, std::uint64_t> done_{};
    std::optional<StakeRoot> aim_{};  // the ceiling at the last call of `hear`
};

}}  // namespace allot::v0
