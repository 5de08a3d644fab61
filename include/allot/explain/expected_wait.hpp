#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <allot/core/lease.hpp>
#include <allot/core/u128.hpp>
#include <allot/explain/survey.hpp>
#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {
namespace detail {

/// The span before now in which `expected_wait` counts newcomers.
inline constexpr auto newcomers_since = Duration{3'600'000};

/// The expected end of a running task: its start plus its estimate. A late one is expected to take as long again as it
/// is late. It is never after the deadline, nor in the past.
[[nodiscard]] constexpr auto expected_end(const LeaseRecord& lease, Duration estimate, TimePoint now) noexcept
    -> TimePoint {
    const auto planned = lease.started_at + estimate;
    const auto end = planned > now ? planned : now + (now - planned);
    return std::max(now, std::min(end, lease.deadline));
}

/// The time at which a node is expected to take a task; `never` if it takes none by itself.
template <class Dispatcher>
[[nodiscard]] auto expected_free(const Dispatcher& d, const Node& node) -> TimePoint {
    if ((node.state != NodeState::available && node.state != NodeState::busy) || node.kicked_out) { return never; }
    auto free = d.now();
    if (node.held != no_handle<TaskHandle>) { free += d.state().tasks()[node.held].duration_estimate; }
    if (node.leased()) {
        const auto& lease = d.state().leases()[node.lease];
        free += expected_end(lease, d.state().tasks()[lease.task].duration_estimate, d.now()) - d.now();
    }
    return node.excluded ? std::max(free, node.due_at) : free;
}

/// A wait, if newcomers take a part of the offered time: wait / (1 - taken / offered), at most four times the wait.
[[nodiscard]] constexpr auto stretched(Duration wait, Duration taken, Duration offered) noexcept -> Duration {
    const auto number = [](Duration span) { return u128{static_cast<std::uint64_t>(span.count())}; };
    const auto left = std::max({Duration{1}, offered - taken, offered / 4});
    return Duration{static_cast<std::int64_t>((number(wait) * number(std::max(left, offered)) / number(left)).low())};
}

/// Simulates the queue from the state of the records until the task in question starts.
template <class Dispatcher>
class Forecast {
public:
    Forecast(const Dispatcher& d, const Question& question)
        : d_{d}, question_{question}, fits_{reasons_of_classes(d, question.requirement)}, together_{
                                                                                              question.requirement,
                                                                                              question.in_group} {
        gather_ahead();
        gather_nodes();
    }

    /// The expected wait; none if no node would take the task by itself.
    [[nodiscard]] auto wait() -> std::optional<Duration> {
        if (question_.task.pinned()) {  // it is the next one on its node
            auto node = d_.state().nodes()[question_.task.pinned_to].node;
            node.excluded = false;
            node.held = no_handle<TaskHandle>;
            const auto free = expected_free(d_, node);
            return free == never ? std::nullopt : std::optional{free - d_.now()};
        }
        while (!free_.empty()) {
            const auto [time, node] = free_.top();
            free_.pop();
            const auto& record = d_.state().nodes()[node].node;
            const auto& node_class = d_.state().fits().value(record.node_class);
            if (auto* const ahead = best_for(node)) {
                auto& best = ahead->back();
                free_.emplace(time + d_.state().tasks()[best.entry.task].duration_estimate, node);
                if (--best.nodes == 0) { ahead->pop_back(); }
            } else if (takes(node)) {
                together_.add(record, node_class);
                if (together_.enough(node_class)) { return stretched(time - d_.now(), taken_, offered_); }
            }
        }
        return std::nullopt;
    }

private:
    struct Ahead {
        QueueEntry entry{};
        std::uint32_t nodes = 1;  // that it still needs
    };
    using Tasks = std::vector<Ahead>;

    /// Collects the waiting tasks that go before the one in question, by group, the best of each group last.
    void gather_ahead() {
        const auto& task = question_.task;
        const auto it = d_.view().entry_of(no_handle<TaskHandle>, task);
        d_.state().tasks().for_each([&](TaskHandle h, const Task& other) {
            if (other.state != TaskState::queued || other.id == task.id) { return; }
            const auto entry = d_.view().entry_of(h, other);
            if (!goes_before(entry, it)) { return; }
            if (ahead_.size() <= other.requirement.value) { ahead_.resize(std::size_t{other.requirement.value} + 1); }
            ahead_[other.requirement.value].push_back({entry, d_.state().fits().value(other.requirement).gang_size});
        });
        for (auto& tasks : ahead_) {
            std::sort(tasks.begin(), tasks.end(),
                      [](const Ahead& a, const Ahead& b) { return goes_before(b.entry, a.entry); });
        }
    }

    /// Collects the time at which each node is free, and the time of fitting nodes that newcomers of greater value
    /// took.
    void gather_nodes() {
        auto free = std::vector<Free>{};
        d_.state().nodes().for_each([&](NodeHandle h, const auto& record) {
            const auto time = expected_free(d_, record.node);
            if (time == never ||
                d_.view().has_no_weight(h, question_.task, question_.requirement, d_.qos_score(record))) {
                return;
            }
            free.emplace_back(time, h);
            if (fits_[record.node.node_class.value] == Reason::none) {
                offered_ += newcomers_since;
                taken_ +=
                    record.node.leased() ? taken_by_newcomer(d_.state().leases()[record.node.lease]) : Duration{0};
            }
        });
        free_ = Nodes{std::greater<>{}, std::move(free)};
    }

    [[nodiscard]] auto taken_by_newcomer(const LeaseRecord& lease) const -> Duration {
        const auto& task = d_.state().tasks()[lease.task];
        auto again = Task{};  // a task of the same value that comes now
        again.value = task.value;
        again.submitted_at = d_.now();
        again.sequence = d_.state().counters().sequence_next + 1;
        const auto overtakes = goes_before(d_.view().entry_of(no_handle<TaskHandle>, again),
                                           d_.view().entry_of(no_handle<TaskHandle>, question_.task));
        return overtakes && task.submitted_at > d_.now() - newcomers_since ? Duration{task.duration_estimate}
                                                                           : Duration{0};
    }

    /// The group whose best task a node takes before the task in question, or null.
    [[nodiscard]] auto best_for(NodeHandle node) -> Tasks* {
        auto* best = static_cast<Tasks*>(nullptr);
        for (const auto group : d_.state().fits().requirements_of(d_.state().nodes()[node].node.node_class)) {
            if (group.value < ahead_.size() && !ahead_[group.value].empty() &&
                (best == nullptr || goes_before(ahead_[group.value].back().entry, best->back().entry))) {
                best = &ahead_[group.value];
            }
        }
        return best;
    }

    [[nodiscard]] auto takes(NodeHandle node) const -> bool {
        return fits_[d_.state().nodes()[node].node.node_class.value] == Reason::none &&
               refusal_alone(d_, node, question_) == Reason::none;
    }

    using Free = std::pair<TimePoint, NodeHandle>;
    using Nodes = std::priority_queue<Free, std::vector<Free>, std::greater<>>;

    const Dispatcher& d_;
    const Question& question_;
    std::vector<Reason> fits_;    // by class
    std::vector<Tasks> ahead_{};  // by requirement
    Nodes free_{};
    GangTally together_;  // of the nodes that would take it
    Duration offered_{};
    Duration taken_{};
};

}  // namespace detail

/// The time that a task is expected to wait from now until it starts, by this model:
///
/// - A node is free when its lease began plus the estimate of its task. A late task is expected to take as long again
///   as it is late. A lease ends by its deadline, and an excluded node returns when its exclusion ends.
/// - Each free node takes the best waiting task that its class fits and that goes before this one, in the order of
///   `View::entry_of`. It runs it for its estimate. The first node that would take this task ends the wait. Worse tasks
///   do not matter. A node without weight takes none.
/// - Tasks of greater value that come later and go before it are expected as they came in the last hour. Let r be the
///   estimates of such newcomers that run on nodes whose class fits, divided by an hour of all these nodes. The wait is
///   divided by 1 - r, but at most multiplied by four. (It is the factor of overtaken tasks in Cobham's formula for
///   queues with priorities.)
/// - The nodes of a gang wait for the last of them. In reality none does, so a gang's wait is underestimated.
///
/// It is an estimate, not a promise: run times and future tasks are unknown. The task may be evicted or expire before
/// (`TaskExplanation::next`). `simulate --expected-wait` reports the error on a real trace. For tasks that go before,
/// only the class that they fit is checked, not the nodes that they avoid, the models that nodes hold, nor admission
/// (probation, collateral). A running task is treated as if it waited.
///
/// A pinned task waits for its node alone.
///
/// The result is never negative. It is zero if a free node would take the task and no better one. The wait for the
/// round of a beacon is not counted (rule 47). Of two tasks that differ only in value, the greater never waits longer.
///
/// @return none if no node would take it by itself: no node fits, or those that do refuse it, are paused, or are about
/// to be.
/// @complexity O((n + a)·(log n + g)) for n nodes, a waiting tasks that go before it, and g groups that a class fits;
/// and one pass over the tasks.
template <class Dispatcher>
[[nodiscard]] auto expected_wait(const Dispatcher& dispatcher, const Question& question) -> std::optional<Duration> {
    return detail::Forecast<Dispatcher>{dispatcher, question}.wait();
}

/// The same for a task of the network. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto expected_wait(const Dispatcher& dispatcher, TaskId task) -> Result<std::optional<Duration>> {
    return question(dispatcher, task).map([&](const Question& asked) { return expected_wait(dispatcher, asked); });
}

/// The same for a task that is not submitted. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto expected_wait(const Dispatcher& dispatcher, const TaskSpec& task)
    -> Result<std::optional<Duration>> {
    return question(dispatcher, task).map([&](const Question& asked) { return expected_wait(dispatcher, asked); });
}

}}  // namespace allot::v0
