#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

// The two tables of docs/architecture.md, cell by cell: each state is brought about by commands, each command is given,
// and the state or the refusal that follows is the one in the table.
namespace life_of_records {

using namespace support;
using D = allot::Dispatcher<>;

constexpr auto* not_asked = "–";

struct Table {
    std::vector<std::string> states{};
    std::vector<std::pair<std::string, std::vector<std::string>>> rows{};
};

auto trimmed(const std::string& text) -> std::string {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string{} : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

auto cells_of(const std::string& line) -> std::vector<std::string> {
    auto cells = std::vector<std::string>{};
    for (auto from = std::size_t{1}; from < line.size();) {
        const auto to = line.find('|', from);
        cells.push_back(trimmed(line.substr(from, to - from)));
        from = to == std::string::npos ? line.size() : to + 1;
    }
    return cells;
}

/// The table between the comments `<!-- name -->` and `<!-- /name -->`.
auto table(const std::string& name) -> Table {
    auto page = std::ifstream{ALLOT_TESTS_DIR "/../docs/architecture.md"};
    REQUIRE(page.good());
    auto found = Table{};
    auto inside = false;
    for (auto line = std::string{}; std::getline(page, line);) {
        if (line == "<!-- " + name + " -->") {
            inside = true;
        } else if (line == "<!-- /" + name + " -->") {
            return found;
        } else if (inside && line.rfind("|---", 0) != 0) {
            auto cells = cells_of(line);
            const auto command = cells.front();
            cells.erase(cells.begin());
            if (found.states.empty()) {
                found.states = cells;
            } else {
                found.rows.emplace_back(command, cells);
            }
        }
    }
    throw std::runtime_error{"docs/architecture.md has no table: " + name};
}

/// The refusal, or else the state after the command.
auto outcome(const Events& events, const std::string& state) -> std::string {
    return events.accepted() ? state : std::string{allot::enumerator_name(events.error())};
}

// ---- a node
// -----------------------------------------------------------------------------------------------------------

/// A network with node 1 in a state and, where the node is busy, with task 1 on it.
struct NodeScene {
    D d{};
    std::optional<Lease> lease{};

    explicit NodeScene(const std::string& state) {
        if (state == "unknown") { return; }
        join_plain(d, 1);
        if (state == "busy" || state == "pending_pause" || state == "pending_leave") {
            lease = leased(d.submit(plain_task(1), at(0s)));
        }
        if (state == "paused" || state == "pending_pause") {
            ok(d.pause(1, at(0s)));
        } else if (state == "left" || state == "pending_leave") {
            ok(d.leave(1, at(0s)));
        }
    }

    [[nodiscard]] auto state() const -> std::string {
        const auto* record = d.node(1);
        if (record == nullptr) { return "unknown"; }
        switch (record->node.state) {
            case NodeState::available: return "available";
            case NodeState::busy: return "busy";
            case NodeState::pending_pause: return "pending_pause";
            case NodeState::pending_leave: return "pending_leave";
            case NodeState::paused: return "paused";
            case NodeState::left:
            case NodeState::departing:
            case NodeState::departing_free: break;
        }
        return "left";
    }

    auto give(const std::string& command) -> Events {
        const auto now = at(1s);
        if (command == "join") return d.join(plain_node(1), now);
        if (command == "update") return d.update({.id = 1, .stake = 500}, now);
        if (command == "report_model") return d.report_model(1, command::Report::add, {"sdxl"}, now);
        if (command == "pause") return d.pause(1, now);
        if (command == "resume") return d.resume(1, now);
        if (command == "leave") return d.leave(1, now);
        if (command == "observe") return d.observe(1, allot::OutcomeKind::success, now);
        if (command == "score") return d.score(1, 5, now);
        if (command == "slash") return d.slash(1, now);
        if (command == "submit") return d.submit(plain_task(2), now);
        if (command == "complete") return d.complete(lease.value(), now);
        if (command == "fail") return d.fail(lease.value(), allot::FailCause::execution_error, now);
        // Without entropy the task that is declined waits, and does not come back to the node.
        if (command == "decline") return d.decline(lease.value(), dark(1s));
        if (command == "cancel") return d.cancel(1, now);
        if (command == "advance to what is due") return d.advance({.time = d.next_deadline().value()});
        throw std::runtime_error{"no such command: " + command};
    }
};

// ---- a task
// -----------------------------------------------------------------------------------------------------------

/// A network of node 1, which is paused for a task that waits, with task 1 in a state. The queue has room for one task.
struct TaskScene {
    D d{};
    Lease lease{.task = 1, .node = 1, .token = 1};

    explicit TaskScene(const std::string& state) {
        ok(d.configure(allot::ValueQueueParameters{.tasks_per_node = 0, .capacity_min = 1}, 1, dark(0s)));
        join_plain(d, 1);
        if (state == "unknown") { return; }
        if (state == "queued" || state == "held") {
            ok(d.pause(1, at(0s)));
            ok(d.submit(state == "held" ? pinned() : plain_task(1), at(0s)));
            return;
        }
        lease = leased(d.submit(plain_task(1), at(0s)));
        if (state == "committed" || state == "disclosed") { ok(d.commit(lease, at(0s))); }
        if (state == "disclosed") { ok(d.disclose(lease, at(0s))); }
        if (state == "ended") { ok(d.complete(lease, at(0s))); }
    }

    [[nodiscard]] static auto pinned() -> TaskSpec {
        return with(plain_task(1), [](TaskSpec& task) {
            task.owner = std::nullopt;
            task.node = allot::NodeId{1};
        });
    }

    [[nodiscard]] auto phase() const -> std::string {
        const auto* task = d.task(1);
        if (task == nullptr) { return d.ended(1) ? "ended" : "unknown"; }
        if (task->state != allot::TaskState::running) {
            return task->state == allot::TaskState::queued ? "queued" : "held";
        }
        switch (d.state().leases()[task->lease].phase) {
            case allot::LeasePhase::started: return "started";
            case allot::LeasePhase::committed: return "committed";
            case allot::LeasePhase::disclosed: return "disclosed";
            case allot::LeasePhase::completed: break;
        }
        return "completed";
    }

    /// How the task ended, if this command ended it.
    [[nodiscard]] static auto ending(const Events& events) -> std::string {
        const auto of_task = [](const auto* event) { return event != nullptr && event->task == allot::TaskId{1}; };
        return of_task(events.get<event::TaskDone>())        ? "done"
               : of_task(events.get<event::TaskFailed>())    ? "failed"
               : of_task(events.get<event::TaskCancelled>()) ? "cancelled"
               : of_task(events.get<event::TaskEvicted>())   ? "evicted"
               : of_task(events.get<event::TaskTimedOut>())  ? "timed_out"
                                                             : "";
    }

    auto give(const std::string& command) -> Events {
        const auto now = at(1s);
        if (command == "submit, a node is free") return d.submit(plain_task(1), now);
        if (command.rfind("submit, ", 0) == 0) {
            if (d.node(1)->node.state == NodeState::available) { ok(d.pause(1, dark(0s))); }
            return d.submit(command.find("pinned") == std::string::npos ? plain_task(1) : pinned(), now);
        }
        if (command == "the node becomes free") return d.resume(1, now);
        if (command == "match") return d.match(now);
        if (command == "cancel") return d.cancel(1, now);
        if (command == "commit") return d.commit(lease, now);
        if (command == "disclose") return d.disclose(lease, now);
        if (command == "complete") return d.complete(lease, now);
        if (command == "fail") return d.fail(lease, allot::FailCause::execution_error, now);
        if (command == "decline") return d.decline(lease, now);
        if (command == "renew") return d.renew(lease, now);
        if (command == "complete with an old token") {
            auto old = lease;
            --old.token;
            return d.complete(old, now);
        }
        if (command == "the node leaves") return d.leave(1, now);
        if (command == "the node is slashed") return d.slash(1, now);
        if (command == "a dearer task finds the queue full") {
            // The node takes nothing more, and one cheaper task than the newcomer waits: task 1 where it is queued,
            // else another.
            if (d.queued() == 0) {
                if (d.node(1)->node.state == NodeState::available) { ok(d.pause(1, dark(0s))); }
                ok(d.submit(paying(2, 1), dark(0s)));
            }
            return d.submit(paying(3, 1'000), now);
        }
        if (command == "advance to what is due") return d.advance({.time = d.next_deadline().value()});
        throw std::runtime_error{"no such command: " + command};
    }
};

/// Calls `walk(state, command, cell)` for each cell that can be asked, and answers how many there were.
template <class F>
auto each_cell(const Table& table, F&& walk) -> std::size_t {
    auto walked = std::size_t{0};
    for (const auto& [command, cells] : table.rows) {
        REQUIRE(cells.size() == table.states.size());
        for (auto i = std::size_t{0}; i < cells.size(); ++i) {
            if (cells[i] != not_asked) {
                CAPTURE(table.states[i], command);
                walk(table.states[i], command, cells[i]);
                ++walked;
            }
        }
    }
    return walked;
}

TEST_CASE("the life of a node is the table of docs/architecture.md") {
    const auto life = table("life of a node");
    const auto walked =
        each_cell(life, [](const std::string& state, const std::string& command, const std::string& cell) {
            auto scene = NodeScene{state};
            REQUIRE(scene.state() == state);
            const auto events = scene.give(command);
            CHECK(outcome(events, scene.state()) == cell);
            if (!events.accepted()) {
                CHECK(scene.state() == state);  // a refusal changes nothing
            }
        });
    std::cout << "the life of a node: " << walked << " cells walked\n";
    CHECK(walked >= 80);
}

TEST_CASE("the life of a task is the table of docs/architecture.md") {
    const auto life = table("life of a task");
    const auto walked =
        each_cell(life, [](const std::string& state, const std::string& command, const std::string& cell) {
            auto scene = TaskScene{state};
            REQUIRE(scene.phase() == state);
            const auto events = scene.give(command);
            const auto ending = scene.ending(events);
            CHECK(outcome(events, ending.empty() ? scene.phase() : ending) == cell);
            if (!ending.empty()) { CHECK(scene.phase() == "ended"); }
            if (!events.accepted()) { CHECK(scene.phase() == state); }
        });
    std::cout << "the life of a task: " << walked << " cells walked\n";
    CHECK(walked >= 100);
}

}  // namespace life_of_records
