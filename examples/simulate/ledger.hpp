#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/event.hpp>

#include "options.hpp"
#include "results.hpp"
#include "scenario.hpp"
#include "trace.hpp"

namespace simulate {

/// How one task ended.
enum class End : std::uint8_t { open, done, failed, evicted, cancelled, timed_out_queued, timed_out_running, refused };
inline constexpr auto end_names = std::array<std::string_view, 8>{
    "open", "done", "failed", "evicted", "cancelled", "timed out queued", "timed out running", "refused"};

/// The ledger's entry for one task.
struct TaskEntry {
    std::int64_t started_ms = -1;  ///< First start. Negative: never.
    std::int64_t ended_ms = 0;
    std::uint32_t node = 0;      ///< Node that ran it last; meaningful when started.
    std::uint32_t attempts = 0;  ///< Leases.
    End end = End::open;
    bool queued = false;
};

/// The ledger's entry for one node.
struct NodeEntry {
    std::uint64_t work_seconds = 0;  ///< Work done, in estimated seconds.
    std::uint32_t started = 0;       ///< Leases.
    std::uint32_t done = 0;
    std::uint32_t failed = 0;
    std::uint32_t declined = 0;
    std::uint32_t timed_out = 0;
    std::uint32_t exclusions = 0;
    std::uint32_t blamed = 0;  ///< Bad verdicts; and exclusions and kick-outs with the end of a task of the attacker.
    std::uint32_t faults = 0;  ///< Tasks of honest owners that it failed or did not finish.
    std::uint32_t after_vanishing = 0;  ///< Tasks given to it after it vanished, or held by it then.
    bool present = false;
    bool excluded = false;
    bool kicked_out = false;
};

/// One part of the arrivals, for comparing how often free nodes of each kind are drawn.
struct Window {
    std::int64_t from_ms = 0;
    std::int64_t until_ms = 0;
    std::array<std::uint64_t, kind_count> draws{};  ///< Tasks that started on arrival.
    std::array<double, kind_count> expected{};      ///< The same if stake alone decided among the nodes without a task.

    [[nodiscard]] auto contains(std::int64_t time_ms) const -> bool { return from_ms <= time_ms && time_ms < until_ms; }
};

/// Records a run from the dispatcher's events and turns the records into results.
class Ledger {
public:
    Ledger(const Trace& trace, const Scenario& scenario, const Options& options);

    /// A node or a task was added to the scenario.
    void grow();

    void joined(std::uint32_t node);
    void removed(std::uint32_t node, bool kicked_out);
    void excluded(std::uint32_t node, bool is_excluded);
    void blamed(std::uint32_t node) { ++nodes_[node].blamed; }
    void at_fault(std::uint32_t node) { ++nodes_[node].faults; }

    void submitted(std::uint32_t task);
    void queued(std::uint32_t task);
    void started(std::uint32_t task, std::uint32_t node, std::int64_t now_ms);
    /// A lease ended: the node is free.
    void lease_ended(std::uint32_t task, std::uint32_t node, allot::event::LeaseEnd how);
    void ended(std::uint32_t task, End end, std::int64_t now_ms);

    /// Advances the time, in ms; the state so far lasted until now.
    void pass(std::int64_t now_ms);

    [[nodiscard]] auto task(std::uint32_t index) const -> const TaskEntry& { return tasks_[index]; }
    [[nodiscard]] auto node(std::uint32_t index) const -> const NodeEntry& { return nodes_[index]; }
    [[nodiscard]] auto open() const -> std::uint64_t { return open_; }
    [[nodiscard]] auto queue_depth() const -> std::uint64_t { return queued_; }

    /// Returns the counts at this time, in ms. The caller fills in the means of QoS and the queue's bound.
    [[nodiscard]] auto sample(std::int64_t now_ms) const -> Sample;

    /// The results, for the fields that the caller fills in.
    [[nodiscard]] auto results() -> Results& { return results_; }

    /// Completes the records and returns the results.
    [[nodiscard]] auto close(std::int64_t now_ms) -> Results;

    /// The records of all tasks and nodes, to be taken after `close`.
    [[nodiscard]] auto take_tasks() -> std::vector<TaskEntry> { return std::move(tasks_); }
    [[nodiscard]] auto take_nodes() -> std::vector<NodeEntry> { return std::move(nodes_); }

private:
    void note_draw(Window& window, std::size_t kind_drawn) const;
    [[nodiscard]] auto kind_of(std::uint32_t node) const -> std::size_t;
    void summarise_waits();
    void summarise_deciles(std::vector<std::vector<std::int64_t>> waits);
    void summarise_nodes();
    void summarise_windows();
    void summarise_vanished();

    const Scenario& scenario_;
    std::vector<TaskEntry> tasks_;
    std::vector<NodeEntry> nodes_;
    Results results_{};
    std::uint64_t open_ = 0;
    std::uint64_t queued_ = 0;
    /// By node: its weight if all scores were those of a new node.
    std::vector<std::uint64_t> stake_weights_;
    std::int64_t stake_max_ = 1;
    /// By kind: sum of those of nodes without a task, removed nodes included.
    std::array<std::uint64_t, kind_count> free_weights_{};
    std::uint64_t busy_ = 0;
    std::uint64_t present_ = 0;
    std::uint64_t excluded_ = 0;
    std::int64_t now_ms_ = 0;
    Window early_{};
    Window late_{};
    std::uint64_t busy_ms_ = 0;     ///< Node time with a task, while tasks arrive.
    std::uint64_t present_ms_ = 0;  ///< Node time in the network, while tasks arrive.
};

}  // namespace simulate
