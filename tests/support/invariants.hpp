#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "support/commands.hpp"
#include "support/runner.hpp"

namespace support {

/// An independent model of the state, built from commands and events alone, and compared with the records after each
/// command.
///
/// It shares no code with the dispatcher: its knowledge of a node or a task comes from the messages about it. Throws
/// `Broken` with the name of the invariant (D: dispatcher, Q: queue, S: QoS, L: leases).
class Watch {
public:
    explicit Watch(const Setup& setup)
        : rules_{setup.rules()}, queue_{setup.queue()}, qos_{setup.qos()}, terms_{setup.terms()} {}

    template <class D>
    void before(const D& d, const Command&, const allot::Moment&) {
        now_before_ = d.now();
    }

    template <class D>
    void after(const D& d, const Command& command, const allot::Moment& moment, const allot::Events& events) {
        if (!events.accepted() &&
            (events.error() == allot::Error::time_went_back || events.error() == allot::Error::time_too_late)) {
            ensure(d.now() == now_before_ && events.size() == 1, "a refused time changes nothing");
            ensure(moment.time < now_before_ || moment.time > allot::time_point_max, "a time is refused for a reason");
            return;
        }
        now_ = moment.time;
        ensure(d.now() == now_, "time is that of the last command");
        settled_ = !d.next_deadline() || *d.next_deadline() > now_;
        freed_.clear();
        started_.clear();
        starts_ = 0;
        wanted_.clear();
        judged_.clear();
        shrunk_ = 0;
        displaced_ = 0;
        configured_ = false;
        match_ = std::nullopt;
        reopened_ = std::nullopt;
        departing_ = departures_in(events);
        removal_ = removal_in(command, events);
        const auto accepted = events.accepted();
        forget(d, events);
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (i == events.answer() && accepted) { begin(command); }
            if (i == events.answer()) { verify_lease(command, events); }
            ensure(!overfull_ || std::holds_alternative<allot::event::TaskEvicted>(events[i]),
                   "Q1: what does not fit is evicted at once");
            overfull_ = false;
            std::visit([&](const auto& e) { take(d, e, command, i >= events.answer()); }, events[i]);
        }
        ensure(!overfull_, "Q1: what does not fit is evicted at once");
        ensure(events.size() > events.answer(), "every command is answered");
        ensure(accepted || events.size() == events.answer() + 1, "a refusal stands alone");
        compare_nodes(d);
        compare_tasks(d);
        compare_leases(d);
        compare_queue(d, accepted);
        compare_classes(d);
        compare_models(d);
        compare_deadline(d);
        compare_service(d);
        follow_starts(d, command);
        conserve_work(d, moment, command, accepted);
    }

    /// Number of tasks ever submitted. Each ends once (checked as they end).
    [[nodiscard]] auto submitted() const -> std::uint64_t { return sequence_next_; }
    [[nodiscard]] auto ended() const -> std::uint64_t { return ended_; }
    [[nodiscard]] auto alive() const -> std::uint64_t {
        return static_cast<std::uint64_t>(
            std::count_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.second.state != State::ended; }));
    }

private:
    enum class State { pending, queued, held, running, ended };
    struct NodeBook {
        allot::NodeSpec spec;
        allot::OperatorId operator_id;
        allot::NodeState state = allot::NodeState::available;
        bool excluded = false;
        bool kicked_out = false;
        std::optional<allot::TaskId> task{};
        std::set<std::string> disk{};
        allot::TimePoint forget_at{};
        std::optional<allot::RollingQos::node_data> qos{};
    };
    /// One node of a running task, with its lease.
    struct Member {
        allot::NodeId node;
        std::uint64_t token = 0;
        std::uint32_t number = 0;
        allot::TimePoint started_at{};
        allot::TimePoint deadline{};
        allot::LeasePhase phase = allot::LeasePhase::started;
        allot::Duration postponed{};
    };
    struct TaskBook {
        allot::TaskSpec spec;
        std::uint64_t sequence = 0;
        State state = State::pending;
        std::vector<Member> members{};
        std::uint32_t starts = 0;
        std::vector<allot::NodeId> avoided{};
        allot::TimePoint deadline{};  // in the queue
        allot::TimePoint forget_at{};
        allot::TaskEnd how{};

        [[nodiscard]] auto find(const allot::Lease& lease) -> Member* {
            for (auto& m : members) {
                if (m.token == lease.token && m.node == lease.node) { return &m; }
            }
            return nullptr;
        }
        [[nodiscard]] auto runs_on(const allot::NodeId& id) const -> bool {
            return std::any_of(members.begin(), members.end(), [&](const Member& m) { return m.node == id; });
        }
        [[nodiscard]] auto completed() const -> std::size_t {
            return static_cast<std::size_t>(std::count_if(members.begin(), members.end(), [](const Member& m) {
                return m.phase == allot::LeasePhase::completed;
            }));
        }
    };
    struct GroupBook {
        std::uint32_t tasks = 0;
        std::uint32_t left = 0;
        allot::TimePoint forget_at{};
        std::vector<std::pair<allot::NodeId, allot::OperatorId>> members{};
    };
    struct Started {
        allot::NodeId node;
        allot::TaskId task;
    };

    static void ensure(bool holds, const char* what) {
        if (!holds) { throw Broken{what}; }
    }
    static void ensure(bool holds, const char* what, const allot::NodeId& node) {
        if (!holds) { broken("{} (node {})", what, node); }
    }
    static void ensure(bool holds, const char* what, const allot::TaskId& task) {
        if (!holds) { broken("{} (task {})", what, task); }
    }

    // ---- the predicates, a second time -----------------------------------------------------------------------------

    /// Returns the nodes of one kind that take part.
    [[nodiscard]] auto alike(const allot::NodeSpec& node) const -> std::vector<const NodeBook*> {
        auto found = std::vector<const NodeBook*>{};
        for (const auto& [id, book] : nodes_) {
            const auto& other = book.spec;
            const auto takes_part = book.state != allot::NodeState::left && book.state != allot::NodeState::paused;
            if (takes_part && other.gpu == node.gpu && other.vram == node.vram && other.platform == node.platform &&
                other.software == node.software) {
                found.push_back(&book);
            }
        }
        return found;
    }
    /// The name policy: true if enough nodes of the kind take part.
    [[nodiscard]] auto is_open(const allot::NodeSpec& node) const -> bool {
        return alike(node).size() >= rules_.class_nodes_min;
    }
    /// A node became a candidate of its kind. The node that makes them enough frees them all.
    void became_candidate(const allot::NodeId& id) {
        freed_.insert(id);
        const auto kind = alike(node(id).spec);
        if (kind.size() == rules_.class_nodes_min) {
            for (const auto* book : kind) {
                if (is_free(*book)) { freed_.insert(book->spec.id); }
            }
        }
    }
    [[nodiscard]] auto serves(const allot::NodeSpec& node, const allot::TaskSpec& task) const -> bool {
        auto card = task.gpus.empty() && node.vram.count >= task.vram_min.count;
        for (const auto& choice : task.gpus) {
            const auto enough =
                choice.vram.count == 0 ? node.vram.count >= task.vram_min.count : node.vram.count == choice.vram.count;
            card = card || (choice.name == node.gpu && enough);
        }
        auto platform = task.platforms.empty();
        for (const auto& name : task.platforms) { platform = platform || name == node.platform; }
        for (const auto& name : task.platforms_refused) { platform = platform && name != node.platform; }
        const auto version = [&] {
            if (!task.software) { return true; }
            const auto& has = node.software;
            const auto& needs = *task.software;
            return has.major == needs.major && std::tie(has.minor, has.patch) >= std::tie(needs.minor, needs.patch);
        }();
        return card && platform && version && is_open(node);
    }
    /// True if a goes before b: its value is higher, or equal and it came earlier.
    [[nodiscard]] static auto goes_first(const TaskBook& a, const TaskBook& b) -> bool {
        const auto millis = [](const TaskBook& t) {
            return allot::u128{static_cast<std::uint64_t>(t.spec.duration_estimate.count())};
        };
        const auto left = a.spec.fee.units * millis(b);
        const auto right = b.spec.fee.units * millis(a);
        return left == right ? a.sequence < b.sequence : left > right;
    }
    [[nodiscard]] auto capacity() const -> std::uint64_t {
        const auto n = static_cast<std::uint64_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const auto& entry) {
            return entry.second.state != allot::NodeState::left;
        }));
        return std::max<std::uint64_t>(queue_.capacity_min, n * queue_.tasks_per_node.num / queue_.tasks_per_node.den);
    }
    [[nodiscard]] auto waiting() const -> std::uint64_t {
        return static_cast<std::uint64_t>(std::count_if(tasks_.begin(), tasks_.end(), [](const auto& entry) {
            return entry.second.state == State::queued || entry.second.state == State::pending;
        }));
    }
    /// True if a free node of positive weight may run a task.
    [[nodiscard]] auto may_run(const NodeBook& node, const TaskBook& task) const -> bool {
        if (task.spec.node) { return node.spec.id == *task.spec.node && serves(node.spec, task.spec); }
        const auto& avoided = task.avoided;
        if (!serves(node.spec, task.spec) || std::find(avoided.begin(), avoided.end(), node.spec.id) != avoided.end()) {
            return false;
        }
        if (task.spec.group) {
            for (const auto& [id, operator_id] : groups_.at(*task.spec.group).members) {
                if (id == node.spec.id || operator_id == node.operator_id) { return false; }
            }
        }
        return rules_.narrowing != allot::Narrowing::gate || holds_all(node, task);
    }
    [[nodiscard]] static auto holds_all(const NodeBook& node, const TaskBook& task) -> bool {
        const auto& models = task.spec.models;
        return std::all_of(models.begin(), models.end(), [&](const auto& name) { return node.disk.contains(name); });
    }
    template <class D>
    [[nodiscard]] static auto has_weight(const D& d, const NodeBook& node) -> bool {
        const auto* record = d.node(node.spec.id);  // null if the answer to a later event displaced it
        return record != nullptr && node.spec.stake.units != allot::u128{0} && d.qos_score(*record).raw() > 0;
    }
    [[nodiscard]] static auto is_free(const NodeBook& node) -> bool {
        return node.state == allot::NodeState::available && !node.excluded && !node.task;
    }

    [[nodiscard]] static auto same_card(const NodeBook& a, const NodeBook& b) -> bool {
        return a.spec.gpu == b.spec.gpu && a.spec.vram == b.spec.vram;
    }
    /// Returns the free nodes that may join a node in a task's gang.
    template <class D>
    [[nodiscard]] auto companions(const D& d, const NodeBook& node, const TaskBook& task) const
        -> std::vector<const NodeBook*> {
        auto found = std::vector<const NodeBook*>{};
        auto operators = std::set<allot::OperatorId>{node.operator_id};
        for (const auto& [id, other] : nodes_) {
            const auto fits = &other != &node && other.state == allot::NodeState::available && is_free(other) &&
                              has_weight(d, other) && may_run(other, task) &&
                              (!task.spec.same_card || same_card(other, node));
            if (fits && (!task.spec.group || operators.insert(other.operator_id).second)) { found.push_back(&other); }
        }
        return found;
    }
    /// True if a free node may start a task, alone or with others.
    template <class D>
    [[nodiscard]] auto may_start(const D& d, const NodeBook& node, const TaskBook& task) const -> bool {
        return may_run(node, task) && companions(d, node, task).size() + 1 >= task.spec.gang_size;
    }

    /// Returns the pinned task that waits for a node, or null.
    [[nodiscard]] auto held_for(const allot::NodeId& id) const -> const TaskBook* {
        for (const auto& [name, task] : tasks_) {
            if (task.state == State::held && *task.spec.node == id) { return &task; }
        }
        return nullptr;
    }

    // ---- the effect of a command on the model -----------------------------------------------------------------------

    void begin(const Command& command) {
        if (const auto* submit = std::get_if<allot::command::Submit>(&command)) {
            const auto& spec = submit->task;
            ensure(!tasks_.contains(spec.id), "D4: a task id is not taken twice", spec.id);
            auto task = TaskBook{spec};
            task.sequence = sequence_next_++;
            if (spec.group) {
                ++groups_[*spec.group].tasks;
                ++groups_[*spec.group].left;
            }
            tasks_.emplace(spec.id, std::move(task));
        }
    }

    void verify_lease(const Command& command, const allot::Events& events) {
        const auto* lease = std::visit(
            [](const auto& c) -> const allot::Lease* {
                if constexpr (requires { c.lease; }) {
                    return &c.lease;
                } else {
                    return nullptr;
                }
            },
            command);
        if (lease == nullptr || (!events.accepted() && events.error() == allot::Error::advance_first)) { return; }
        const auto task = tasks_.find(lease->task);
        const auto* member =
            task != tasks_.end() && task->second.state == State::running ? task->second.find(*lease) : nullptr;
        const auto current = member != nullptr;
        if (member != nullptr && member->phase == allot::LeasePhase::completed) {
            ensure(!events.accepted() && events.error() == allot::Error::lease_completed, "a completed part is done",
                   lease->task);
            return;
        }
        if (events.accepted()) {
            ensure(current, "L2: only the current lease is accepted", lease->task);
        } else {
            const auto error = events.error();
            const auto about_the_lease = error == allot::Error::task_unknown || error == allot::Error::task_ended ||
                                         error == allot::Error::task_not_leased || error == allot::Error::lease_stale;
            ensure(current != about_the_lease, "L2: the current lease is not refused as stale", lease->task);
        }
    }

    /// Removes the entries of records that the dispatcher forgot before the command.
    template <class D>
    void forget(const D& d, const allot::Events& events) {
        for (auto it = tasks_.begin(); it != tasks_.end();) {
            const auto& [id, task] = *it;
            if (task.state == State::ended) {
                const auto left = d.state().ended_tasks().find(id);
                // else the id's next task
                const auto gone = !left || d.state().ended_tasks()[*left].due_at != task.forget_at;
                ensure(!gone || task.forget_at <= now_, "an ended task is not forgotten early", id);
                ensure(gone || task.forget_at > now_ || !settled_, "an ended task is forgotten in time", id);
                if (gone) {
                    it = tasks_.erase(it);
                    continue;
                }
            }
            ++it;
        }
        for (auto it = groups_.begin(); it != groups_.end();) {
            const auto& [id, group] = *it;
            const auto due = group.left == 0 && group.forget_at <= now_;
            const auto g = d.state().groups().find(id);
            // else the id's next group
            const auto gone = !g || (due && d.state().groups()[*g].due_at != group.forget_at);
            ensure(!gone || due, "a group is not forgotten early");
            ensure(gone || !due || !settled_, "a group is forgotten in time");
            it = gone ? groups_.erase(it) : std::next(it);
        }
        for (auto it = nodes_.begin(); it != nodes_.end();) {
            const auto& [id, node] = *it;
            const auto* joined = events.get<allot::event::NodeJoined>();
            const auto newcomer = joined != nullptr && !joined->again;
            const auto fresh = newcomer && joined->node == id;
            const auto gone = d.node(id) == nullptr || fresh;
            if (node.state != allot::NodeState::left) {
                ensure(!gone || (newcomer && nodes_.size() >= rules_.nodes_max), "a node that is present is remembered",
                       id);
            } else {
                const auto due = node.forget_at <= now_;
                ensure(!gone || due || (newcomer && nodes_.size() >= rules_.nodes_max),  // then it makes room
                       "the history of a node is not forgotten early", id);
                ensure(gone || !due || !settled_, "the history of a node is forgotten in time", id);
                if (gone && due) {
                    it = nodes_.erase(it);
                    continue;
                }
            }
            ++it;
        }
    }

    // ---- events -----------------------------------------------------------------------------------------------------

    [[nodiscard]] auto node(const allot::NodeId& id) -> NodeBook& {
        const auto found = nodes_.find(id);
        ensure(found != nodes_.end() && found->second.state != allot::NodeState::left,
               "an event names a node that is present", id);
        return found->second;
    }
    [[nodiscard]] auto task(const allot::TaskId& id) -> TaskBook& {
        const auto found = tasks_.find(id);
        ensure(found != tasks_.end() && found->second.state != State::ended,
               "L4: nothing happens to a task after its end", id);
        return found->second;
    }
    /// One of its nodes is free again; after the last one the task no longer runs.
    void release(TaskBook& t, const allot::NodeId& id) {
        ensure(t.state == State::running && t.runs_on(id), "only a running task gives its node free", t.spec.id);
        if (slashed_ == id) {
            slashed_.reset();  // it has left already
        } else {
            auto& n = node(id);
            ensure(n.task == t.spec.id, "D2: a node holds the task it ran", n.spec.id);
            n.task.reset();
            judged_.insert(n.spec.id);
            if (n.state == allot::NodeState::busy) {
                n.state = allot::NodeState::available;
                freed_.insert(n.spec.id);
            }
        }
        std::erase_if(t.members, [&](const Member& m) { return m.node == id; });
        t.state = t.members.empty() ? State::pending : State::running;
    }
    template <class E>
    void end(TaskBook& t, const E& e, allot::TaskEnd how) {
        if (t.spec.group) {
            auto& group = groups_[*t.spec.group];
            --group.left;
            group.forget_at = std::max(group.forget_at, now_ + rules_.forget_tasks_after);
        }
        t.how = how;
        ensure(e.owner == t.spec.owner, "an ending names the owner", t.spec.id);
        const auto done = std::is_same_v<E, allot::event::TaskDone>;
        ensure(e.paid == (done ? t.spec.fee : allot::Amount{}) && e.refunded == (done ? allot::Amount{} : t.spec.fee) &&
                   e.forfeited == allot::Amount{},
               "D9: a fee is paid or refunded", t.spec.id);
        t.state = State::ended;
        t.forget_at = now_ + rules_.forget_tasks_after;
        ++ended_;
    }
    void avoid(TaskBook& t, const allot::NodeId& id) const {
        t.avoided.push_back(id);
        if (t.avoided.size() > rules_.avoided_max) { t.avoided.erase(t.avoided.begin()); }
    }
    void depart(const allot::NodeId& id) {
        auto& n = node(id);
        n.state = allot::NodeState::left;
        n.kicked_out = false;
        n.forget_at = now_ + rules_.forget_nodes_after;
        freed_.erase(id);
        departing_.erase(departing_.find(id));
    }
    /// The nodes that leave by one of these events. Their records show it before the events are read.
    [[nodiscard]] static auto departures_in(const allot::Events& events) -> std::multiset<allot::NodeId> {
        auto found = std::multiset<allot::NodeId>{};
        for (const auto& event : events) {
            std::visit(
                [&]<class E>(const E& e) {
                    if constexpr (std::is_same_v<E, allot::event::NodeLeft> ||
                                  std::is_same_v<E, allot::event::NodeDisplaced> ||
                                  std::is_same_v<E, allot::event::NodeKickedOut> ||
                                  std::is_same_v<E, allot::event::NodeSlashed>) {
                        found.insert(e.node);
                    }
                },
                event);
        }
        return found;
    }
    /// The report of models that this command makes, if it is accepted and takes models from a disk. Records show it
    /// before the events are read.
    [[nodiscard]] static auto removal_in(const Command& command, const allot::Events& events)
        -> std::optional<allot::command::ReportModel> {
        const auto* report = std::get_if<allot::command::ReportModel>(&command);
        const auto removes =
            report != nullptr && events.accepted() &&
            (report->report == allot::command::Report::inventory || report->report == allot::command::Report::remove);
        return removes ? std::optional{*report} : std::nullopt;
    }
    /// True if a later event of this command takes a model from a node's disk.
    [[nodiscard]] auto removed_later(const allot::NodeId& id, const std::string& model) const -> bool {
        return departing_.contains(id) ||
               (removal_ && removal_->node == id &&
                (removal_->report == allot::command::Report::inventory ||
                 std::find(removal_->models.begin(), removal_->models.end(), model) != removal_->models.end()));
    }
    /// A node has models on its disk; if the table of models is full, only those already in it.
    template <class D>
    void have(const D& d, const allot::NodeId& id, const std::vector<std::string>& models,
              bool room_came_later = false) {
        const auto& state = d.state();
        const auto n = *state.nodes().find(id);
        for (const auto& name : models) {
            const auto model = state.models().find(name);
            const auto& held = state.holdings(n);
            const auto kept = removed_later(id, name) || std::any_of(held.begin(), held.end(), [&](const auto& h) {
                                  return model && h.model == *model && h.on_disk();
                              });
            ensure(kept || room_came_later || state.models().held() >= rules_.models_max,
                   "a model is written down while there is room", id);
            if (kept) { node(id).disk.insert(name); }
        }
    }
    /// Returns the worth of a node for eviction: its stake; of equal stakes, a node that left is worth less.
    [[nodiscard]] static auto worth(const NodeBook& n) {
        return std::pair{n.spec.stake, n.state != allot::NodeState::left};
    }
    /// At the limit a joining node takes the row of the poorest node without work.
    template <class D>
    void make_room(const D& d, const allot::NodeSpec& newcomer) {
        if (nodes_.size() < rules_.nodes_max) { return; }
        auto gone = std::vector<allot::NodeId>{};
        for (const auto& [id, book] : nodes_) {
            if (d.node(id) == nullptr) { gone.push_back(id); }
        }
        ensure(gone.size() == 1, "one node makes way for another", newcomer.id);
        const auto poorest = worth(nodes_.at(gone[0]));
        ensure(poorest < std::pair{newcomer.stake, true}, "a node makes way for one that is worth more", gone[0]);
        for (const auto& [id, book] : nodes_) {
            ensure(book.task || poorest <= worth(book), "the poorest node makes way", id);
        }
        if (!poorest.second) { nodes_.erase(gone[0]); }
    }
    [[nodiscard]] auto length(const TaskBook& t) const -> allot::Duration {
        const auto wanted = t.spec.duration_estimate * terms_.estimates;
        return std::min(std::max(wanted, terms_.length_min), terms_.length_max);
    }

    template <class D>
    void take(const D& d, const allot::event::NodeJoined& e, const Command& command, bool) {
        const auto& spec = std::get<allot::command::Join>(command).node;
        auto book = NodeBook{spec, spec.operator_id ? *spec.operator_id : allot::OperatorId{spec.id.bytes()}};
        book.excluded = d.node(e.node)->node.excluded;
        if (!e.again) { make_room(d, spec); }
        ensure(e.again == nodes_.contains(e.node), "a node joins again when its history is known", e.node);
        if (e.again) {
            auto& past = nodes_.at(e.node);
            ensure(past.state == allot::NodeState::left, "a node joins when it is away", e.node);
            // The score it would have after staying; the floor applies to nodes below it.
            const auto stayed = d.qos().score(*past.qos, now_);
            const auto now = d.qos_score(*d.node(e.node));
            ensure(now <= std::max(stayed, qos_.rejoin_floor) || qos_.rejoin_clears_health,
                   "S5: joining again raises no score", e.node);
            const auto back_at = d.qos().back_at(*past.qos);
            ensure(!past.excluded || book.excluded || (back_at && *back_at <= now_),
                   "S5: joining again ends no exclusion", e.node);
            nodes_.erase(e.node);
        }
        nodes_.emplace(e.node, std::move(book));
        have(d, e.node, spec.models);
        judged_.insert(e.node);
        became_candidate(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::NodeUpdated& e, const Command& command, bool) {
        const auto& change = std::get<allot::command::Update>(command).change;
        auto& n = node(e.node);
        const auto before = n.spec;
        n.spec.gpu = change.gpu.value_or(n.spec.gpu);
        n.spec.vram = change.vram.value_or(n.spec.vram);
        n.spec.stake = change.stake.value_or(n.spec.stake);
        n.spec.platform = change.platform.value_or(n.spec.platform);
        n.spec.software = change.software.value_or(n.spec.software);
        n.operator_id = change.operator_id.value_or(n.operator_id);
        const auto& is = n.spec;
        const auto same = std::tie(is.gpu, is.vram, is.platform, is.software) ==
                          std::tie(before.gpu, before.vram, before.platform, before.software);
        if (!same) {
            became_candidate(e.node);
        } else if (change.operator_id || before.stake.units == allot::u128{0}) {
            freed_.insert(e.node);
        }
    }
    template <class D>
    void take(const D&, const allot::event::NodePaused& e, const Command&, bool) {
        auto& n = node(e.node);
        ensure(!n.task && (n.state == allot::NodeState::available || n.state == allot::NodeState::pending_pause),
               "a node pauses when it is free", e.node);
        n.state = allot::NodeState::paused;
        freed_.erase(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::NodePausePending& e, const Command&, bool) {
        ensure(node(e.node).state == allot::NodeState::busy, "a pause is pending on a busy node", e.node);
        node(e.node).state = allot::NodeState::pending_pause;
    }
    template <class D>
    void take(const D&, const allot::event::NodeResumed& e, const Command&, bool) {
        auto& n = node(e.node);
        ensure(n.state == allot::NodeState::paused || n.state == allot::NodeState::pending_pause,
               "what resumes was paused", e.node);
        n.state = n.task ? allot::NodeState::busy : allot::NodeState::available;
        became_candidate(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::NodeLeavePending& e, const Command&, bool) {
        ensure(node(e.node).task.has_value(), "a leave is pending on a busy node", e.node);
        node(e.node).state = allot::NodeState::pending_leave;
    }
    template <class D>
    void take(const D&, const allot::event::NodeLeft& e, const Command&, bool) {
        ensure(!node(e.node).task, "a node leaves when it is free", e.node);
        ensure(node(e.node).spec.stake == e.stake_returned, "the stake goes back", e.node);
        depart(e.node);
    }
    template <class D>
    void take(const D& d, const allot::event::NodeDisplaced& e, const Command& command, bool answer) {
        const auto* join = std::get_if<allot::command::Join>(&command);
        const auto* update = std::get_if<allot::command::Update>(&command);
        const auto* report = std::get_if<allot::command::ReportModel>(&command);
        ensure(answer && (join != nullptr || update != nullptr || report != nullptr), "a node gives way to another one",
               e.node);
        const auto newcomer = join != nullptr ? join->node.id : update != nullptr ? update->change.id : report->node;
        const auto& n = node(e.node);
        auto part = allot::u128{0};  // of the table of models; the other brings at least a whole one
        for (const auto& model : n.disk) {
            part += 16384U / static_cast<unsigned>(std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& other) {
                        return other.second.state != allot::NodeState::left && other.second.disk.contains(model);
                    }));
        }
        const auto stake = d.node(newcomer)->node.stake;
        ensure(!n.task && (n.spec.stake < stake || n.spec.stake.units * 16384U < stake.units * part),
               "a node gives way when it is free and the other has more stake", e.node);
        ensure(n.spec.stake == e.stake_returned, "the stake goes back", e.node);
        depart(e.node);
        if (d.node(e.node) == nullptr) {
            ensure(nodes_.size() > rules_.nodes_max, "a node is forgotten when there are too many", e.node);
            nodes_.erase(e.node);
        }
        if (join != nullptr) { became_candidate(newcomer); }  // it comes when all others have made way
    }
    template <class D>
    void take(const D& d, const allot::event::NodeKickedOut& e, const Command&, bool answer) {
        ensure(!node(e.node).task, "a node is kicked out when it is free", e.node);
        ensure(node(e.node).spec.stake == e.stake_returned, "the stake goes back", e.node);
        const auto& data = d.node(e.node)->qos;
        const auto low =
            data.count >= qos_.window && std::uint64_t{data.sum} * 5U < std::uint64_t{data.count} * qos_.points_max;
        ensure(low || node(e.node).kicked_out || !answer,  // the answer to a due event may have changed it again
               "a node is kicked out for a full window below a fifth", e.node);
        depart(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::NodeSlashed& e, const Command&, bool) {
        ensure(node(e.node).spec.stake == e.stake_forfeited, "the stake is forfeited", e.node);
        if (node(e.node).task) {
            slashed_ = e.node;
            node(e.node).task.reset();
        }
        depart(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::NodeExcluded& e, const Command&, bool) {
        ensure(!node(e.node).excluded && e.until >= now_, "a node is excluded once", e.node);
        node(e.node).excluded = true;
    }
    template <class D>
    void take(const D& d, const allot::event::NodeReadmitted& e, const Command&, bool) {
        ensure(node(e.node).excluded, "what is readmitted was excluded", e.node);
        ensure(configured_ever_ || d.qos().health(*node(e.node).qos, now_) >= qos_.readmit_from,
               "S: readmission waits for health", e.node);
        node(e.node).excluded = false;
        freed_.insert(e.node);
    }
    template <class D>
    void take(const D&, const allot::event::ModelWanted& e, const Command&, bool) {
        const auto& models = task(e.task).spec.models;
        ensure(task(e.task).state == State::running, "a model is wanted when a task starts", e.task);
        ensure(std::find(models.begin(), models.end(), e.model.view()) != models.end(), "a task's own model is wanted",
               e.task);
        ensure(serves(node(e.node).spec, task(e.task).spec), "a model is wanted from a node that may run the task",
               e.node);
        ensure(task(e.task).runs_on(e.node) || is_free(node(e.node)), "a model is wanted from a candidate", e.node);
        ensure(wanted_.insert({e.node, std::string{e.model.view()}, e.task, task(e.task).starts}).second,
               "a model is wanted once a start", e.node);
    }
    template <class D>
    void take(const D& d, const allot::event::ModelsReported& e, const Command& command, bool) {
        const auto& report = std::get<allot::command::ReportModel>(command);
        removal_.reset();
        auto& disk = node(e.node).disk;
        if (report.report == allot::command::Report::inventory) { disk.clear(); }
        if (report.report == allot::command::Report::add || report.report == allot::command::Report::inventory) {
            have(d, e.node, report.models);
        }
        for (const auto& name : report.models) {
            switch (report.report) {
                case allot::command::Report::add:
                case allot::command::Report::inventory: break;
                case allot::command::Report::remove: disk.erase(name); break;
                case allot::command::Report::load:
                    ensure(disk.contains(name), "only what is on disk is loaded", e.node);
                    break;
                case allot::command::Report::unload: break;
            }
        }
        if (rules_.narrowing == allot::Narrowing::gate) { freed_.insert(e.node); }
    }
    template <class D>
    void take(const D& d, const allot::event::NodeScored& e, const Command&, bool) {
        const auto found = nodes_.find(e.node);
        ensure(found != nodes_.end(), "a node that is scored is known", e.node);
        judged_.insert(e.node);
        const auto& n = found->second;
        if (n.state != allot::NodeState::left && n.qos && d.qos().score(*n.qos, now_).raw() == 0) {
            freed_.insert(e.node);  // from no weight to some
        }
    }

    template <class D>
    void take(const D&, const allot::event::TaskQueued& e, const Command&, bool) {
        auto& t = task(e.task);
        ensure(t.state == State::pending, "D1: a task is queued when it neither waits nor runs", e.task);
        ensure(e.deadline == now_ + terms_.patience && e.owner == t.spec.owner, "a queued task has its deadline",
               e.task);
        t.deadline = e.deadline;
        if (t.spec.node) {
            ensure(node(*t.spec.node).state != allot::NodeState::available,
                   "a pinned task waits when its node is not free", e.task);
            ensure(!held_for(*t.spec.node), "one pinned task waits for a node", *t.spec.node);
            t.state = State::held;
            return;
        }
        t.state = State::queued;
        overfull_ = waiting() > capacity();
    }
    template <class D>
    void take(const D& d, const allot::event::TaskStarted& e, const Command& command, bool answer) {
        auto& t = task(e.lease.task);
        auto& n = node(e.lease.node);
        const auto first = e.lease.member == 0;
        ensure(first ? t.state != State::running && t.state != State::ended : t.state == State::running,
               "D1: a task starts when it does not run", e.lease.task);
        ensure(e.lease.of == t.spec.gang_size && e.lease.member == t.members.size() && e.owner == t.spec.owner,
               "a gang starts as a whole, and a lease names its owner", t.spec.id);
        ensure(n.state == allot::NodeState::available, "D6: a node that starts a task was available", n.spec.id);
        ensure(!n.task, "D2: a node that starts a task held none", n.spec.id);
        ensure(!n.excluded || t.spec.node, "D6: a node that starts a task was not excluded", n.spec.id);
        ensure(n.spec.stake.units != allot::u128{0} || t.spec.node, "D6: a node that starts a task has weight",
               n.spec.id);
        const auto* held = held_for(n.spec.id);
        ensure(held == nullptr || held == &t, "a node's pinned task goes before all others", n.spec.id);
        ensure(serves(n.spec, t.spec), "D3: a node that starts a task serves it", n.spec.id);
        ensure(may_run(n, t), "D3, D8: a node that starts a task is not avoided and new to its group", n.spec.id);
        ensure(e.lease.token > token_, "L1: tokens only grow", t.spec.id);
        ensure(e.lease.deadline == now_ + length(t), "a lease has its deadline", t.spec.id);
        const auto matched = answer && std::holds_alternative<allot::command::Match>(command);
        const auto reopened = answer && t.spec.group && t.spec.group == reopened_;
        if (first) { pulled_ = !matched && !reopened && t.state == State::queued; }
        if (!first) {
            const auto& leader = node(t.members.front().node);
            ensure(!t.spec.same_card || same_card(leader, n), "a gang of one card has one card", t.spec.id);
            for (const auto* other : companions(d, leader, t)) {
                ensure(!pulled_ || t.spec.same_card || other->spec.vram <= n.spec.vram,
                       "rule 26: the smallest VRAM of a gang is as large as can be", t.spec.id);
            }
        } else if (matched) {
            ensure(!match_ || goes_first(tasks_.at(*match_), t), "match walks tasks in their order", t.spec.id);
            match_ = t.spec.id;
        } else if (pulled_) {
            ensure(freed_.contains(n.spec.id), "a queued task starts on a node that became free", n.spec.id);
            for (const auto& [id, other] : tasks_) {
                ensure(other.state != State::queued || !goes_first(other, t) || !may_start(d, n, other),
                       "Q2: a free node takes the best task it can run", id);
            }
        }
        token_ = e.lease.token;
        n.state = allot::NodeState::busy;
        n.task = t.spec.id;
        t.state = State::running;
        t.members.push_back({n.spec.id, e.lease.token, e.lease.member, now_, e.lease.deadline});
        t.starts += first ? 1U : 0U;
        if (t.spec.group) { groups_[*t.spec.group].members.emplace_back(n.spec.id, n.operator_id); }
        started_.push_back({n.spec.id, t.spec.id});
        starts_ += first ? 1U : 0U;
    }
    auto same_lease(const allot::Lease& lease) -> Member& {
        auto& t = task(lease.task);
        auto* member = t.find(lease);
        ensure(t.state == State::running && member != nullptr && member->number == lease.member &&
                   lease.of == t.spec.gang_size && member->phase != allot::LeasePhase::completed,
               "L2: an event names the current lease", lease.task);
        return *member;
    }
    template <class D>
    void take(const D&, const allot::event::TaskCommitted& e, const Command&, bool) {
        auto& member = same_lease(e.lease);
        ensure(member.phase == allot::LeasePhase::started && e.owner == task(e.lease.task).spec.owner,
               "a lease is committed once", e.lease.task);
        member.phase = allot::LeasePhase::committed;
    }
    template <class D>
    void take(const D&, const allot::event::TaskDisclosed& e, const Command&, bool) {
        auto& member = same_lease(e.lease);
        ensure(member.phase == allot::LeasePhase::committed, "a lease is disclosed after it was committed",
               e.lease.task);
        member.phase = allot::LeasePhase::disclosed;
    }
    template <class D>
    void take(const D&, const allot::event::LeaseRenewed& e, const Command&, bool) {
        auto& member = same_lease(e.lease);
        const auto& t = task(e.lease.task);
        ensure(e.lease.deadline > member.deadline, "a renewal makes a lease longer", e.lease.task);
        ensure(e.lease.deadline ==
                   std::min(now_ + length(t), member.started_at + terms_.renewed_max + member.postponed),
               "a renewal counts from now, up to the cap", e.lease.task);
        member.deadline = e.lease.deadline;
    }
    template <class D>
    void take(const D&, const allot::event::LeaseCompleted& e, const Command&, bool answer) {
        same_lease(e.lease).phase = allot::LeasePhase::completed;
        ensure(answer && e.lease.of > 1 && e.owner == task(e.lease.task).spec.owner, "a member completes by command",
               e.lease.task);
    }
    template <class D>
    void take(const D& d, const allot::event::LeaseEnded& e, const Command& command, bool answer) {
        using allot::event::LeaseEnd;
        auto& t = task(e.lease.task);
        const auto over = e.how == LeaseEnd::done || e.how == LeaseEnd::cancelled || e.how == LeaseEnd::slashed;
        const auto completed =
            over && t.find(e.lease) != nullptr && t.find(e.lease)->phase == allot::LeasePhase::completed;
        const auto& member = completed ? *t.find(e.lease) : same_lease(e.lease);
        ensure(e.owner == t.spec.owner, "the end of a lease names the owner", e.lease.task);
        ended_as_.erase(e.lease.task);
        const auto ran_nothing = [&] {
            if (!t.spec.group || d.state().counters().rules_version < 2) { return; }
            std::erase_if(groups_[*t.spec.group].members,
                          [&](const auto& other) { return other.first == e.lease.node; });
            reopened_ = t.spec.group;
        };
        switch (e.how) {
            case LeaseEnd::done:
                ensure(t.spec.gang_size == 1 || completed, "a gang is done when all who are left are", e.lease.task);
                ensure(e.outcome == allot::OutcomeKind::success, "who is done succeeded", e.lease.task);
                done_by_.emplace(e.lease.task, e.lease.node);                           // the first of them
                have(d, e.lease.node, t.spec.models, removal_ || !departing_.empty());  // it has fetched them all
                break;
            case LeaseEnd::declined:
                ensure(std::holds_alternative<allot::command::Decline>(command), "a lease is declined by command",
                       e.lease.task);
                avoid(t, e.lease.node);
                ran_nothing();
                break;
            case LeaseEnd::withdrawn:
                ensure(std::holds_alternative<allot::command::Decline>(command) && t.completed() == 0,
                       "a gang breaks up before anybody is done", e.lease.task);
                ran_nothing();
                break;
            case LeaseEnd::cancelled:
                ensure(answer && std::holds_alternative<allot::command::Cancel>(command),
                       "a task is cancelled by command", e.lease.task);
                break;
            case LeaseEnd::slashed:
                ensure(slashed_ == e.lease.node, "a node that is slashed loses its lease", e.lease.node);
                lost(t, e);
                break;
            case LeaseEnd::timed_out:
                ensure(member.deadline <= now_, "L3: a lease expires at its deadline", e.lease.task);
                lost(t, e);
                break;
            case LeaseEnd::failed:
                ensure(answer && std::holds_alternative<allot::command::Fail>(command), "a lease fails by command",
                       e.lease.task);
                lost(t, e);
                break;
        }
        release(t, e.lease.node);
    }
    /// A member is lost. A task with other members goes on and may avoid the node; the next event tells the end of a
    /// task without.
    void lost(TaskBook& t, const allot::event::LeaseEnded& e) {
        const auto next = e.how == allot::event::LeaseEnd::timed_out ? terms_.after_timeout : terms_.after_failure;
        if (t.members.size() == 1) {
            ended_as_.insert_or_assign(t.spec.id, e);
        } else if (next == allot::Next::retry_elsewhere && t.starts < terms_.attempts_max && slashed_ != e.lease.node) {
            avoid(t, e.lease.node);
        }
    }
    /// Returns the way in which the task's last lease was just lost.
    [[nodiscard]] auto loss(const TaskBook& t) const -> const allot::event::LeaseEnded& {
        const auto found = ended_as_.find(t.spec.id);
        ensure(t.members.empty() && found != ended_as_.end(), "a task ends so with its last lease", t.spec.id);
        return found->second;
    }
    template <class D>
    void take(const D&, const allot::event::TaskRetried& e, const Command&, bool) {
        auto& t = task(e.task);
        const auto& last = loss(t);
        const auto timeout =
            e.outcome == allot::OutcomeKind::timeout || e.outcome == allot::OutcomeKind::timeout_in_group;
        ensure(timeout == (last.how == allot::event::LeaseEnd::timed_out), "a retry says how the lease ended", e.task);
        ensure(t.starts < terms_.attempts_max, "a task is not tried for ever", e.task);
        const auto next = timeout ? terms_.after_timeout : terms_.after_failure;
        ensure(next != allot::Next::end && !t.spec.node, "a task starts over when the terms say so", e.task);
        if (next == allot::Next::retry_elsewhere && last.how != allot::event::LeaseEnd::slashed) {
            avoid(t, last.lease.node);
        }
    }
    template <class D>
    void take(const D&, const allot::event::TaskDone& e, const Command&, bool) {
        auto& t = task(e.task);
        const auto first = done_by_.find(e.task);
        ensure(t.members.empty() && first != done_by_.end() && first->second == e.node,
               "the fee goes to the node that ran the task", e.task);
        done_by_.erase(e.task);
        end(t, e, {allot::Ending::done, allot::EndCause::none, e.node});
    }
    template <class D>
    void take(const D&, const allot::event::TaskFailed& e, const Command&, bool) {
        const auto& last = loss(task(e.task));
        ensure(last.how == allot::event::LeaseEnd::failed || last.how == allot::event::LeaseEnd::slashed,
               "a task fails with its lease", e.task);
        end(task(e.task), e, {allot::Ending::failed, allot::event::cause_of(e.cause), last.lease.node});
    }
    template <class D>
    void take(const D&, const allot::event::TaskCancelled& e, const Command&, bool) {
        ensure(task(e.task).members.empty(), "the leases of a cancelled task have ended", e.task);
        end(task(e.task), e, {.ending = allot::Ending::cancelled});
    }
    template <class D>
    void take(const D&, const allot::event::TaskEvicted& e, const Command&, bool) {
        auto& t = task(e.task);
        const auto how = allot::TaskEnd{.ending = allot::Ending::evicted, .cause = allot::event::cause_of(e.reason)};
        const auto newcomer = t.state == State::pending && e.reason == allot::event::Eviction::table_full;
        ensure(t.state != State::running && (newcomer || !t.spec.node),
               "neither a running nor a waiting pinned task is evicted", e.task);
        if (e.reason == allot::event::Eviction::table_full) {
            ensure(++displaced_ <= rules_.evictions_max + 1, "a full table loses a few tasks a command", e.task);
            end(t, e, how);
            return;
        }
        for (const auto& [id, other] : tasks_) {
            if (other.state == State::queued || other.state == State::pending) {
                ensure(id == e.task || goes_first(other, t), "Q3: the evicted is the least of queue and newcomer", id);
            }
        }
        ensure(waiting() > capacity(), "a task is evicted when there is no room", e.task);
        if (e.reason == allot::event::Eviction::queue_shrunk) {
            ensure(++shrunk_ <= rules_.evictions_max, "a shrinking queue loses a few tasks a command", e.task);
        }
        end(t, e, how);
    }
    template <class D>
    void take(const D&, const allot::event::TaskTimedOut& e, const Command&, bool) {
        auto& t = task(e.task);
        auto how = allot::TaskEnd{.ending = allot::Ending::timed_out, .cause = allot::event::cause_of(e.expiry)};
        if (e.expiry == allot::event::Expiry::execution) {
            how.node = loss(t).lease.node;
            ensure(loss(t).how == allot::event::LeaseEnd::timed_out, "L3: a task times out with its lease", e.task);
        } else {
            ensure(t.deadline <= now_, "L3: nothing expires before its deadline", e.task);
            ensure(t.state == State::queued || t.state == State::held, "a queue deadline passes in the queue", e.task);
        }
        end(t, e, how);
    }
    template <class D>
    void take(const D&, const allot::event::Advanced& e, const Command&, bool) {
        ensure(e.now == now_, "advance tells the time");
    }
    template <class D>
    void take(const D&, const allot::event::Matched& e, const Command&, bool) {
        matched_ = e.started;
        started_.clear();
        starts_ = 0;
    }
    template <class D>
    void take(const D& d, const allot::event::Configured& e, const Command& command, bool) {
        ensure(d.state().counters().rules_version == e.rules_version, "a configuration names its rules version");
        configured_ = configured_ever_ = true;
        std::visit(
            [&](const auto& parameters) {
                using P = std::remove_cvref_t<decltype(parameters)>;
                if constexpr (std::is_same_v<P, allot::RulesParameters>) {
                    rules_ = parameters;
                } else if constexpr (std::is_same_v<P, allot::ValueQueueParameters>) {
                    queue_ = parameters;
                } else if constexpr (std::is_same_v<P, allot::RollingQosParameters>) {
                    qos_ = parameters;
                } else if constexpr (std::is_same_v<P, allot::FixedTermsParameters>) {
                    terms_ = parameters;
                }
            },
            std::get<allot::command::Configure<Configuration>>(command).parameters);
    }
    template <class D>
    void take(const D&, const allot::event::UnbondingBegan& e, const Command&, bool) {
        ensure(false, "no stake unbonds where the tracker returns it at once", e.node);
    }
    template <class D>
    void take(const D&, const allot::event::Postponed& e, const Command& command, bool answer) {
        ensure(answer && e.by == std::get<allot::command::Postpone>(command).by, "a postponement tells its length");
        for (auto& [id, t] : tasks_) {
            if (t.state == State::queued || t.state == State::held) { t.deadline += e.by; }
            for (auto& member : t.members) {
                const auto by = std::min(e.by, allot::postponed_max - member.postponed);
                member.deadline += by;
                member.postponed += by;
            }
        }
    }
    template <class D>
    void take(const D&, const allot::event::Refused&, const Command&, bool answer) {
        ensure(answer, "a refusal is an answer");
    }

    // ---- comparison of the records with the model -------------------------------------------------------------------

    template <class D>
    void compare_nodes(const D& d) {
        ensure(d.state().nodes().size() == nodes_.size(), "every node is remembered once");
        auto present = std::uint32_t{0};
        auto largest = allot::StakeRoot{};
        auto slots = std::set<std::pair<allot::ClassId, std::uint32_t>>{};
        for (auto& [id, book] : nodes_) {
            const auto* record = d.node(id);
            const auto& node = record->node;
            ensure((node.departs() ? allot::NodeState::left : node.state) == book.state,
                   "the state of a node is what its events say", id);
            if (book.state == allot::NodeState::left) {
                book.excluded = node.excluded;
                ensure(!node.leased(), "D2: a node that left holds nothing", id);
                continue;
            }
            ensure(node.excluded == book.excluded, "a node is excluded as its events say", id);
            ensure(node.stake == book.spec.stake && node.operator_id() == book.operator_id,
                   "a node has its stake and operator", id);
            ensure(node.leased() == book.task.has_value(), "D2: a node holds what its events say", id);
            ensure((node.state == allot::NodeState::busy) <= book.task.has_value(), "a busy node holds a task", id);
            const auto pending =
                node.state == allot::NodeState::pending_pause || node.state == allot::NodeState::pending_leave;
            ensure(!pending || book.task, "only a busy node waits to pause or leave", id);
            const auto& c = d.state().fits().value(node.node_class);
            ensure(c.gpu == book.spec.gpu && c.vram == book.spec.vram && c.platform == book.spec.platform &&
                       c.software == book.spec.software,
                   "a node has its class", id);
            ensure(slots.insert({node.node_class, node.slot}).second, "no two nodes of a class share a slot", id);
            const auto* held = held_for(id);
            const auto holds = node.held != allot::no_handle<allot::TaskHandle>;
            ensure(holds == (held != nullptr) && (!holds || d.state().tasks()[node.held].id == held->spec.id),
                   "a node holds the pinned task that waits for it", id);
            ensure(!holds || node.state != allot::NodeState::available, "nothing waits for a free node", id);
            ++present;
            largest = std::max(largest, allot::StakeRoot::from(book.spec.stake.units));
        }
        ensure(d.state().present() == present, "N counts those present");
        ensure(d.state().stake_root_max() == largest, "the largest stake is that of a node that is present");
    }

    template <class D>
    void compare_tasks(const D& d) const {
        ensure(d.state().tasks().size() + d.state().ended_tasks().size() == tasks_.size(),
               "D4: every task is remembered once");
        auto names = std::map<allot::NodeId, std::uint32_t>{};
        for (const auto& [id, book] : tasks_) {
            ensure(d.ended(id).has_value() == (book.state == State::ended), "D1: a task that has ended says so", id);
            ensure((d.task(id) != nullptr) == (book.state != State::ended), "D1: a task that lives is remembered", id);
            if (book.state == State::ended) {
                ensure(d.ended(id) == book.how, "a task that has ended tells how, and who did it", id);
                const auto& left = d.state().ended_tasks()[*d.state().ended_tasks().find(id)];
                ensure(left.due_at == book.forget_at, "an ended task has its time to be forgotten", id);
                if (book.how.node) { ++names[*book.how.node]; }
                continue;
            }
            const auto& task = *d.task(id);
            ensure(book.state != State::pending, "D1: after a command a task waits, runs or has ended", id);
            const auto state = book.state == State::queued ? allot::TaskState::queued
                               : book.state == State::held ? allot::TaskState::held
                                                           : allot::TaskState::running;
            ensure(task.state == state, "D1: the state of a task is what its events say", id);
            ensure(task.pinned() == book.spec.node.has_value(), "a task is pinned until it ends", id);
            ensure(task.attempt == book.starts && task.sequence == book.sequence, "a task counts its starts", id);
            ensure(std::ranges::equal(task.avoided(), book.avoided), "a task avoids whom it should", id);
            ensure(state == allot::TaskState::running || task.due_at == book.deadline,
                   "a waiting task has its deadline", id);
            const auto ms = allot::u128{static_cast<std::uint64_t>(book.spec.duration_estimate.count())};
            ensure(task.value.num() * ms == book.spec.fee.units * allot::u128{task.value.den()},
                   "a task is worth its fee per time", id);
        }
        const auto& known = d.state().node_names();
        ensure(known.size() == names.size(), "the nodes that ended tasks name are remembered, and no others");
        for (const auto& [id, count] : names) {
            const auto number = known.find(id);
            ensure(number && known.count(*number) == count, "the ended tasks that name a node are counted", id);
        }
        ensure(d.state().groups().size() == groups_.size(), "every group is remembered once");
        for (const auto& [id, book] : groups_) {
            const auto g = d.state().groups().find(id);
            ensure(g.has_value(), "a group is remembered");
            const auto& group = d.state().groups()[*g];
            auto nodes = std::set<allot::NodeId>{};
            auto operators = std::set<allot::OperatorId>{};
            for (const auto& member : group.members) {
                ensure(nodes.insert(member.node).second && operators.insert(member.operator_id).second,
                       "D8: members of a group share neither node nor operator", member.node);
            }
            ensure(group.members.size() == book.members.size() && group.tasks == book.tasks &&
                       group.tasks_left == book.left && group.due_at == book.forget_at,
                   "a group has its members");
        }
        ensure(sequence_next_ == ended_ + alive(), "D4: what was submitted waits, runs or has ended");
    }

    template <class D>
    void compare_leases(const D& d) const {
        auto running = std::uint32_t{0};
        for (const auto& [id, book] : tasks_) {
            if (book.state != State::running) { continue; }
            ensure(book.completed() < book.members.size(), "a task runs as long as somebody is at work", id);
            auto l = d.task(id)->lease;
            for (const auto& member : book.members) {
                ++running;
                ensure(d.state().leases().contains(l), "a running task has its leases", id);
                const auto& lease = d.state().leases()[l];
                const auto& node = d.state().nodes()[lease.node].node;
                ensure(lease.token == member.token && node.id == member.node && node.lease == l &&
                           lease.member == member.number && lease.of == book.spec.gang_size,
                       "L2: a lease joins task and node", id);
                const auto done = member.phase == allot::LeasePhase::completed;
                ensure(lease.deadline == (done ? allot::never : member.deadline) &&
                           lease.started_at == member.started_at && lease.phase == member.phase,
                       "a lease has its deadline and phase", id);
                ensure(lease.deadline > now_ || !settled_, "L3: a lease ends at its deadline", id);
                ensure(nodes_.at(member.node).task == id, "D2: a node holds its task", member.node);
                l = lease.next;
            }
            ensure(l == allot::no_handle<allot::LeaseHandle>, "a running task has no lease beside", id);
        }
        ensure(d.state().leases().size() == running, "L: no lease without a running task");
    }

    template <class D>
    void compare_queue(const D& d, bool accepted) const {
        const TaskBook* best = nullptr;
        const TaskBook* worst = nullptr;
        auto queued = std::uint32_t{0};
        for (const auto& [id, book] : tasks_) {
            if (book.state == State::queued) {
                ++queued;
                best = best == nullptr || goes_first(book, *best) ? &book : best;
                worst = worst == nullptr || goes_first(*worst, book) ? &book : worst;
            }
        }
        ensure(d.queued() == queued, "Q4: the queue holds the queued tasks");
        ensure(d.queue_capacity() == capacity(), "Q1: the bound follows the number of nodes");
        ensure(!accepted || queued <= capacity() || shrunk_ == rules_.evictions_max, "Q1: the queue keeps its bound");
        auto groups = std::vector<allot::RequirementId>{};
        d.state().fits().requirements().for_each(
            [&](std::uint32_t r, const auto&) { groups.push_back(allot::RequirementId{r}); });
        const auto head = d.queue().best(groups, [](allot::TaskHandle) { return true; });
        const auto tail = d.queue().worst();
        ensure(head.has_value() == (best != nullptr) && tail.has_value() == (worst != nullptr),
               "Q4: the queue has an end");
        if (best != nullptr) {
            ensure(d.state().tasks()[*head].id == best->spec.id, "Q2: the head is the best task", best->spec.id);
            ensure(d.state().tasks()[*tail].id == worst->spec.id, "Q3: the tail is the worst task", worst->spec.id);
        }
    }

    template <class D>
    void compare_classes(const D& d) const {
        const auto& fits = d.state().fits();
        auto requirements = std::vector<allot::RequirementId>{};
        fits.requirements().for_each(
            [&](std::uint32_t r, const auto&) { requirements.push_back(allot::RequirementId{r}); });
        auto classes = std::vector<allot::ClassId>{};
        fits.classes().for_each([&](std::uint32_t c, const auto&) { classes.push_back(allot::ClassId{c}); });
        for (const auto r : requirements) {
            const auto& is = fits.value(r);
            const auto as_task = allot::TaskSpec{.id = 0,
                                                 .vram_min = is.vram_min,
                                                 .gpus = is.gpus,
                                                 .platforms = is.platforms,
                                                 .platforms_refused = is.platforms_refused,
                                                 .software = is.software};
            auto expected = std::vector<allot::ClassId>{};
            for (const auto c : classes) {
                const auto& has = fits.value(c);
                const auto as_node = allot::NodeSpec{
                    .id = 0, .gpu = has.gpu, .vram = has.vram, .platform = has.platform, .software = has.software};
                const auto back = fits.requirements_of(c);
                const auto serving = serves(as_node, as_task);
                ensure((std::find(back.begin(), back.end(), r) != back.end()) == serving,
                       "the bits of a class are the predicate");
                if (serving) { expected.push_back(c); }
            }
            const auto row = fits.classes_of(r);
            ensure(std::equal(row.begin(), row.end(), expected.begin(), expected.end()),
                   "the bits of a requirement are the predicate");
        }
        auto users = std::map<allot::ClassId, std::uint32_t>{};
        auto askers = std::map<allot::RequirementId, std::uint32_t>{};
        for (const auto& [id, book] : nodes_) {
            const auto& node = d.node(id)->node;
            if (node.state != allot::NodeState::left) { ++users[node.node_class]; }
        }
        for (const auto& [id, book] : tasks_) {
            if (book.state != State::ended) { ++askers[d.task(id)->requirement]; }
        }
        ensure(users.size() == classes.size() && askers.size() == requirements.size(),
               "nothing is interned that nobody uses");
        for (const auto& [c, count] : users) { ensure(fits.count(c) == count, "the users of a class are counted"); }
        for (const auto& [r, count] : askers) {
            ensure(fits.count(r) == count, "the users of a requirement are counted");
        }
    }

    template <class D>
    void compare_models(const D& d) const {
        auto places = std::set<std::tuple<allot::ModelId, allot::ClassId, std::uint32_t>>{};
        auto users = std::map<allot::ModelId, std::uint32_t>{};
        for (const auto& [id, book] : nodes_) {
            const auto n = *d.state().nodes().find(id);
            const auto held = merged(d.state().holdings(n), d.state().wishes(n));
            ensure(d.node(id)->node.state != allot::NodeState::left || held.empty(), "a node that left holds no models",
                   id);
            ensure(!d.node(id)->node.departs() || !held.empty(), "a node that departs still holds models", id);
            ensure(std::is_sorted(held.begin(), held.end(),
                                  [](const auto& a, const auto& b) { return a.model <= b.model; }) &&
                       std::all_of(d.state().holdings(n).begin(), d.state().holdings(n).end(),
                                   [](const auto& model) { return model.on_disk(); }),
                   "a node's models ascend, each once", id);
            auto disk = std::set<std::string>{};
            for (const auto& model : held) {
                ++users[model.model];
                if (model.on_disk()) { disk.insert(d.state().models().name(model.model)); }
                ensure(!model.on_disk() ||
                           places.insert({model.model, d.node(id)->node.node_class, model.place}).second,
                       "no two holders of a model in a class share a place", id);
            }
            const auto wishes = held.size() - disk.size();
            ensure(wishes <= rules_.wishes_per_node_max, "a node has few wishes", id);
            for (const auto& model : held) {
                ensure(!settled_ || model.on_disk() || held.until(&model) > now_, "a wish ends", id);
            }
            ensure(book.state == allot::NodeState::left || disk == book.disk,
                   "a node holds what it reported and what it ran", id);
        }
        for (const auto& [id, book] : tasks_) {
            if (book.state == State::ended) { continue; }
            auto names = std::set<std::string>{book.spec.models.begin(), book.spec.models.end()};
            auto i = std::size_t{0};
            const auto models = d.task(id)->models();
            ensure(models.size() == names.size(), "a task has its models", id);
            for (const auto& name : names) {
                ++users[models[i]];
                ensure(d.state().models().name(models[i++]) == name, "a task's models stand in canonical order", id);
            }
        }
        ensure(d.state().models().names().size() == users.size(), "no model is interned that nobody uses");
        for (const auto& [model, count] : users) {
            ensure(d.state().models().names().count(model.value) == count, "the users of a model are counted");
        }
    }

    template <class D>
    void compare_deadline(const D& d) const {
        auto first = std::optional<allot::TimePoint>{};
        const auto take = [&](allot::TimePoint at) { first = first ? std::min(*first, at) : at; };
        d.state().leases().for_each([&](allot::LeaseHandle, const auto& lease) {
            if (lease.deadline != allot::never) { take(lease.deadline); }
        });
        d.state().tasks().for_each([&](allot::TaskHandle, const auto& task) {
            if (task.state != allot::TaskState::running) { take(task.due_at); }
        });
        d.state().ended_tasks().for_each([&](allot::EndedHandle, const auto& task) { take(task.due_at); });
        d.state().groups().for_each([&](allot::GroupHandle, const auto& group) {
            if (group.tasks_left == 0) { take(group.due_at); }
        });
        d.state().nodes().for_each([&](allot::NodeHandle n, const auto& record) {
            if (record.node.due_at != allot::never) { take(record.node.due_at); }
            const auto& wishes = d.state().wishes(n);
            for (const auto& wish : wishes) { take(wishes.until(&wish)); }
            ensure((record.node.due_at != allot::never) == (record.node.excluded || !record.node.present()),
                   "a node is due when it is excluded or left", record.node.id);
        });
        ensure(d.next_deadline() == first, "L6: the next deadline is the earliest of all");
    }

    template <class D>
    void compare_service(const D& d) {
        for (auto& [id, book] : nodes_) {
            const auto& data = d.node(id)->qos;
            auto sum = std::uint32_t{0};
            for (const auto points : data.points) { sum += points; }
            ensure(data.sum == sum && data.count <= data.points.size(), "S3: the window is what it sums to", id);
            ensure(d.qos_score(*d.node(id)) <= allot::Score::one() && data.health <= allot::Score::one(),
                   "S1: a score lies in [0, 1]", id);
            ensure(d.qos().score(data, now_) <= d.qos().score_max(data), "S1: a score keeps below its bound", id);
            ensure(!book.qos || judged_.contains(id) || *book.qos == data, "S4: a node is judged for its own deeds",
                   id);
            book.qos = data;
            const auto kicked_out = d.node(id)->node.kicked_out;
            ensure(kicked_out || !book.kicked_out, "S6: a kick-out is final", id);
            book.kicked_out = kicked_out;
        }
    }

    template <class D>
    void follow_starts(const D& d, const Command& command) {
        if (std::holds_alternative<allot::command::Match>(command)) {
            ensure(!matched_ || *matched_ == starts_, "match counts what it started");
        }
        matched_.reset();
        const auto disturbs = std::holds_alternative<allot::command::Score>(command) ||
                              std::holds_alternative<allot::command::Observe>(command) ||
                              std::holds_alternative<allot::command::ReportModel>(command) || configured_;
        for (const auto& [n, t] : started_) {
            const auto book = nodes_.find(n);
            if (disturbs || book == nodes_.end() || book->second.task != t) { continue; }
            ensure(d.qos_score(*d.node(n)).raw() > 0 || tasks_.at(t).spec.node,
                   "D6: a node that starts a task has weight", n);
            const auto& models = tasks_.at(t).spec.models;
            const auto h = *d.state().nodes().find(n);
            const auto all = merged(d.state().holdings(h), d.state().wishes(h));
            for (const auto& held : all) {
                const auto asked =
                    std::find(models.begin(), models.end(), d.state().models().name(held.model)) != models.end();
                ensure((held.holding == allot::Holding::in_use) == (asked && held.on_disk()),
                       "a start loads the task's models", n);
            }
            for (const auto& name : models) {
                const auto model = *d.state().models().find(name);
                const auto found = place_of(all, model);
                ensure(found != all.end() && found->model == model && (found->on_disk() || all.until(found) > now_),
                       "a node has what it runs, or was asked to fetch it", n);
            }
        }
    }

    /// Checks that no queued task could start on a free node for which a search was due.
    template <class D>
    void conserve_work(const D& d, const allot::Moment& moment, const Command& command, bool accepted) {
        const auto none_for = [&](const NodeBook& n, const char* what) {
            if (!is_free(n) || !has_weight(d, n)) { return; }
            for (const auto& [id, t] : tasks_) { ensure(t.state != State::queued || !may_start(d, n, t), what, id); }
        };
        if (configured_ || !moment.entropy) {
            starved_ = true;
        } else {
            for (const auto& id : freed_) {
                none_for(nodes_.at(id), "rule 17: a node that became free takes a task it can run");
            }
        }
        if (std::holds_alternative<allot::command::Match>(command) && accepted) { starved_ = false; }
        if (!starved_) {
            for (const auto& [id, n] : nodes_) { none_for(n, "D5: no queued task while a candidate for it is idle"); }
        }
    }

    std::map<allot::NodeId, NodeBook> nodes_{};
    std::map<allot::TaskId, TaskBook> tasks_{};
    std::map<allot::GroupId, GroupBook> groups_{};
    allot::RulesParameters rules_;
    allot::ValueQueueParameters queue_;
    allot::RollingQosParameters qos_;
    allot::FixedTermsParameters terms_;
    std::uint64_t token_ = 0;
    std::uint64_t sequence_next_ = 0;
    std::uint64_t ended_ = 0;
    // a task may wait although a node is idle: a command had no entropy, or the rules changed
    bool starved_ = false;
    bool configured_ever_ = false;

    // of the command at hand
    allot::TimePoint now_before_{};
    allot::TimePoint now_{};
    bool settled_ = true;
    bool configured_ = false;
    std::uint32_t shrunk_ = 0;     // tasks that a smaller queue lost
    std::uint32_t displaced_ = 0;  // tasks that a full table lost
    bool overfull_ = false;
    std::optional<allot::TaskId> match_{};
    std::optional<std::uint32_t> matched_{};
    std::optional<allot::NodeId> slashed_{};
    std::map<allot::TaskId, allot::event::LeaseEnded> ended_as_{};  // last leases that were lost
    std::map<allot::TaskId, allot::NodeId> done_by_{};
    std::set<allot::NodeId> freed_{};
    std::multiset<allot::NodeId> departing_{};              // their events are still to come
    std::optional<allot::command::ReportModel> removal_{};  // the same
    std::optional<allot::GroupId> reopened_{};              // a node stopped being its member, so its tasks are tried
    std::set<allot::NodeId> judged_{};
    std::set<std::tuple<allot::NodeId, std::string, allot::TaskId, std::uint64_t>> wanted_{};
    std::vector<Started> started_{};
    std::uint32_t starts_ = 0;  // counts tasks, not nodes
    bool pulled_ = false;       // the task that starts was pulled by its first node
};

}  // namespace support
