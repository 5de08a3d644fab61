#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/dispatcher/batch.hpp>
#include <allot/dispatcher/session.hpp>
#include <allot/dispatcher/trace.hpp>

// The class, and those of its functions that are templates. A file that needs no more compiles in 0.85 of the time and
// links the others, which are in <allot/dispatcher/dispatcher.hpp>.

namespace allot { inline namespace v0 {

/// Decides which node runs which task.
///
/// A caller passes commands, each with its Moment, and gets the events that follow. The dispatcher does no I/O, reads
/// no clock, owns no thread and uses no hidden random number. Equal commands give equal events, bit for bit, on every
/// machine.
///
/// `Policies` are plain values in any order, at most one per role. A role without one uses the library's default. A
/// preset is allowed among them. Example:
/// `Dispatcher{LocalityFirst{}, ValueQueue{{.tasks_per_node = 2}}}`.
///
/// The class is the interface: `view()` answers questions, and a `Turn` carries a command out. A dispatcher is a value:
/// copies share nothing and compare by content. Const calls may run at the same time; every other call needs exclusive
/// access. If a policy throws, the state is the one before the command.
///
/// @complexity of a command: O(log n + classes + groups) for n nodes, O(log n) more for each model concerned, and at
/// most `draw_tries_max` tries a draw. A free node's pull asks further about each waiting task that goes before the
/// best one and is refused for itself, `pull_tries_max` at most: it avoids the node, is of its group, or finds no gang.
/// `match`: O(groups), and a draw for each start and for 2 · `match_tries_max` further tasks at most. `configure` and
/// `postpone` look at each record. The cost under attack: `benchmarks/hostile.cpp`, `docs/security.md`.
template <class... Policies>
class Dispatcher {
    using Types = Composition<Policies...>;
    using Pack = typename Types::Pack;

public:
    using WeightPolicy = typename Types::WeightPolicy;
    using Eligibility = typename Types::Eligibility;
    using CandidatePool = typename Types::CandidatePool;
    using TaskQueue = typename Types::TaskQueue;
    using QoSTracker = typename Types::QoSTracker;
    using Valuation = typename Types::Valuation;
    using Placement = typename Types::Placement;
    using Terms = typename Types::Terms;
    /// Parameters of one policy, or of the rules.
    using Configuration = typename Types::Configuration;
    /// Any command that this dispatcher takes.
    using Command = typename Types::Command;
    using NodeData = typename Types::NodeData;
    using Record = typename Types::Record;
    using State = typename Types::State;
    /// The questions about the state; see `view()`.
    using View = allot::View<Policies...>;

    /// All policies are default-constructed. It is a template, because clang 14 instantiates a plain member whose
    /// constraint does not hold when the class is instantiated explicitly.
    template <class = void>
        requires(std::default_initializable<Policies>&&...)
    Dispatcher() : Dispatcher{FromChoices{}, Pack::unpack(Policies{}...)} {}
    explicit Dispatcher(Policies... policies) requires(sizeof...(Policies) > 0)
        : Dispatcher{FromChoices{}, Pack::unpack(std::move(policies)...)} {}

    /// Takes over another dispatcher's records under other policies. QoS data is kept if the tracker has the same data
    /// type; else each node starts as new.
    /// @complexity O(n log n).
    template <class... Old>
    explicit Dispatcher(Dispatcher<Old...>&& old, Policies... policies);

    // Defined elsewhere, so that a program that links a compiled dispatcher does not compile them again.
    Dispatcher(const Dispatcher&);
    Dispatcher(Dispatcher&&) noexcept;
    /// Strong guarantee: if memory runs out, nothing changes.
    auto operator=(const Dispatcher&) -> Dispatcher&;
    auto operator=(Dispatcher&&) noexcept -> Dispatcher&;
    ~Dispatcher();

    // ---- commands -------------------------------------------------------------------------------------------------

    /// Applies one command and returns the events that follow. It is total: an error is the event `Refused`. In
    /// addition to its own errors, every command has `time_went_back` and `time_too_late`. While more is due than one
    /// command settles, every command but `advance` and `postpone` has `advance_first`.
    auto apply(const Command& command, const Moment& moment) -> Events {
        auto events = Events{};
        apply(command, moment, events);
        return events;
    }
    /// The same, appending to the caller's buffer.
    void apply(const Command& command, const Moment& moment, Events& events) { apply(command, moment, events, {}); }
    /// The same, calling `trace` for each choice before any event or record follows from it. An exception from the
    /// trace rolls the command back.
    void apply(const Command& command, const Moment& moment, Events& events, const Trace<View>& trace);
    /// Applies commands in order at one Moment. The events equal those of single calls; a large network saves time.
    void apply(std::span<const Command> commands, const Moment& moment, Events& events);
    /// The same, appending one `Answer` per command.
    void apply(std::span<const Command> commands, const Moment& moment, Events& events, std::vector<Answer>& answers);

    /// Adds a node, or brings back one that left. Refused: an invalid id, amount, name or class, a node that is
    /// present, or a full table.
    auto join(NodeSpec node, const Moment& m) -> Events { return apply(command::Join{std::move(node)}, m); }
    /// Changes a present node. Refused: an absent node, no change at all, an invalid field, or a full table.
    auto update(NodeUpdate change, const Moment& m) -> Events { return apply(command::Update{std::move(change)}, m); }
    /// Gives a node no further task; a task on it is finished first. Refused: the node is absent, leaving or paused.
    auto pause(NodeId node, const Moment& m) -> Events { return apply(command::Pause{node}, m); }
    /// Ends a pause, or withdraws a pending one. Refused: the node is absent, leaving or not paused.
    auto resume(NodeId node, const Moment& m) -> Events { return apply(command::Resume{node}, m); }
    /// Removes a node, after the task on it. Refused: the node is absent or leaving already.
    auto leave(NodeId node, const Moment& m) -> Events { return apply(command::Leave{node}, m); }
    /// Changes the models that a node holds. Refused: an absent node, an empty or too long list, a full table, or a
    /// model that the node lacks.
    auto report_model(NodeId node, command::Report report, std::vector<std::string> models, const Moment& m) -> Events {
        return apply(command::ReportModel{node, report, std::move(models)}, m);
    }
    /// Passes an outcome that the embedder observed to the QoS tracker. Refused: an unknown node, or the outcome
    /// `scored`.
    auto observe(NodeId node, OutcomeKind outcome, const Moment& m) -> Events {
        return apply(command::Observe{node, outcome}, m);
    }
    /// Removes a node at once, also one at work. Refused: the node is absent, and none of its stake unbonds.
    auto slash(NodeId node, const Moment& m) -> Events { return apply(command::Slash{node}, m); }

    /// Adds a task, which starts, waits, or is evicted from a full queue. Refused: an invalid or duplicate task, a fee
    /// that is too low or too high, and a task that no node may ever run. So are a pinned task whose node is absent or
    /// does not fit it, a full table or group, and an exceeded quota.
    auto submit(TaskSpec task, const Moment& m) -> Events { return apply(command::Submit{std::move(task)}, m); }
    /// Ends a task and refunds its fee, but for the part that the terms forfeit. Refused: the task is unknown or has
    /// ended.
    auto cancel(TaskId task, const Moment& m) -> Events { return apply(command::Cancel{task}, m); }
    /// Enters the phase `committed`. Refused: the lease is not current, or has entered it already.
    auto commit(const Lease& lease, const Moment& m) -> Events { return apply(command::Commit{lease}, m); }
    /// Enters the phase `disclosed`. Refused: the lease is not current, not committed, or disclosed already.
    auto disclose(const Lease& lease, const Moment& m) -> Events { return apply(command::Disclose{lease}, m); }
    /// Ends a node's work with success. Refused: the lease is not current, or is completed.
    auto complete(const Lease& lease, const Moment& m) -> Events { return apply(command::Complete{lease}, m); }
    /// Ends a node's work with a failure. Refused: the lease is not current, or is completed.
    auto fail(const Lease& lease, FailCause cause, const Moment& m) -> Events {
        return apply(command::Fail{lease, cause}, m);
    }
    /// Gives a lease back. Refused: the lease is not current, or is completed.
    auto decline(const Lease& lease, const Moment& m) -> Events { return apply(command::Decline{lease}, m); }
    /// Extends a lease. Refused: the lease is not current, is completed, or has reached its longest life.
    auto renew(const Lease& lease, const Moment& m) -> Events { return apply(command::Renew{lease}, m); }
    /// Gives a node points. Refused: the node is unknown, or the points are out of range.
    auto score(NodeId node, std::uint32_t points, const Moment& m) -> Events {
        return apply(command::Score{node, points}, m);
    }

    /// Settles the work that is due at this time. Refused: only a time that is wrong.
    auto advance(const Moment& m) -> Events { return apply(command::Advance{}, m); }
    void advance(std::same_as<TimePoint> auto) = delete;  // a verb takes a Moment: write `advance({.time = now})`
    /// Gives running leases and waiting tasks more time after an outage, for the operator alone. Call it first at the
    /// new time, because it settles nothing. A lease gets at most `postponed_max` in all. Refused: a time that is not
    /// positive, or is 2^32 ms or more.
    /// @complexity O(log n) for each lease and waiting task.
    auto postpone(Duration by, const Moment& m) -> Events { return apply(command::Postpone{by}, m); }
    /// Tries the waiting tasks, highest value first. Refused: a Moment without entropy, or not of the newest round.
    auto match(const Moment& m) -> Events { return apply(command::Match{}, m); }
    /// Changes the parameters of one policy or of the rules, and sets the rules version that starts here. Refused:
    /// parameters with a fault.
    template <class Parameters>
    auto configure(Parameters parameters, std::uint32_t rules_version, const Moment& m) -> Events {
        return apply(command::Configure<Configuration>{std::move(parameters), rules_version}, m);
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    /// The questions about the state, each rule written once. The reference is valid as long as the dispatcher and
    /// shows its current state.
    [[nodiscard]] auto view() const noexcept -> const View& { return view_; }
    /// The error with which the command would be refused now; none if it would be accepted. Changes nothing.
    [[nodiscard]] auto check(const Command& command) const -> std::optional<Error>;
    /// The time of the last command.
    [[nodiscard]] auto now() const noexcept -> TimePoint { return view_.now(); }
    /// The time at which something is due next; call `advance` then.
    [[nodiscard]] auto next_deadline() const noexcept -> std::optional<TimePoint> { return view_.next_deadline(); }
    /// All records of this dispatcher, read-only.
    [[nodiscard]] auto state() const noexcept -> const State& { return view_.records; }
    /// The record of a node that has not been forgotten, or null.
    [[nodiscard]] auto node(NodeId id) const -> const Record* { return view_.node(id); }
    /// The record of a task that has not ended, or null.
    [[nodiscard]] auto task(TaskId id) const -> const Task* { return view_.task(id); }
    /// The end of a task; none if it has not ended, or is forgotten (`Rules::forget_tasks_after`).
    [[nodiscard]] auto ended(TaskId id) const -> std::optional<TaskEnd> { return view_.ended(id); }
    /// The lease under which a task runs on one of its nodes; none if it does not run. Verbs that take a lease read
    /// only its task, node and token.
    [[nodiscard]] auto lease(TaskId task, std::uint32_t member = 0) const -> std::optional<Lease> {
        return view_.lease(task, member);
    }
    /// The lease that a node has; none if it has no task.
    [[nodiscard]] auto lease_of(NodeId node) const -> std::optional<Lease> { return view_.lease_of(node); }
    /// Calls `f(lease)` for each node of a running task, by member.
    template <class F>
    void each_lease_of(TaskId task, F&& f) const {
        view_.each_lease_of(task, std::forward<F>(f));
    }
    /// The QoS score of a node now.
    [[nodiscard]] auto qos_score(const Record& record) const -> Score { return view_.qos.score(record.qos, now()); }
    /// Number of waiting tasks.
    [[nodiscard]] auto queued() const -> std::uint32_t { return view_.queue.size(); }
    /// The bound on the number of waiting tasks, for the present nodes.
    [[nodiscard]] auto queue_capacity() const -> std::uint32_t { return view_.queue.capacity(view_.records.present()); }
    /// A hash of all records and counters; of the parameters it covers the rules version alone. It is the same on every
    /// machine.
    /// @complexity linear in all records.
    [[nodiscard]] auto digest() const -> std::uint64_t;

    /// The rules in force.
    [[nodiscard]] auto rules() const noexcept -> const Rules& { return view_.rules; }
    /// The eligibility policy.
    [[nodiscard]] auto eligibility() const noexcept -> const Eligibility& { return view_.eligibility; }
    /// The weight policy.
    [[nodiscard]] auto weight_policy() const noexcept -> const WeightPolicy& { return view_.weight_policy; }
    /// The candidate pool.
    [[nodiscard]] auto pool() const -> const CandidatePool& { return view_.candidates(); }
    /// The task queue.
    [[nodiscard]] auto queue() const noexcept -> const TaskQueue& { return view_.queue; }
    /// The QoS tracker.
    [[nodiscard]] auto qos() const noexcept -> const QoSTracker& { return view_.qos; }

    // ---- as a whole -----------------------------------------------------------------------------------------------

    /// Calls `f(policy)` for each policy, to configure it. Indices are not updated.
    /// @pre there are no records. This is asserted.
    template <class F>
    void configure_each(F&& f);
    /// Takes over records under the same handles, and builds every index. QoS data is kept if it is of this tracker's
    /// type; else each node starts as new.
    /// @pre there are no records. This is asserted.
    /// @complexity O(n log n).
    template <class OtherData, class OtherConfiguration>
    void adopt(const Records<OtherData, OtherConfiguration>& from);
    /// The same for records of this type, which are moved and not written again.
    /// @pre as above, and both have the same key.
    /// @complexity O(n log n).
    void adopt(State&& from);

    /// Opens a session: the commands that follow can be rolled back as a whole.
    [[nodiscard]] auto session() -> Session<Dispatcher> { return Session<Dispatcher>{*this}; }

    /// True if records, counters and parameters are equal.
    friend auto operator==(const Dispatcher& a, const Dispatcher& b) -> bool { return a.equals(b); }

private:
    template <class...>
    friend class Dispatcher;
    friend class Session<Dispatcher>;

    struct FromChoices {};
    Dispatcher(FromChoices, const typename Pack::All& all);

    void apply(const Command& command, const detail::Subject& subject, const Moment& moment, Events& events,
               const Trace<View>& trace);
    template <std::invocable<const Answer&> F>
    void apply(std::span<const Command> commands, const Moment& moment, Events& events, const F& answered);
    [[nodiscard]] auto has_records() const -> bool {
        return now() != TimePoint{} || view_.records.nodes().reach() + view_.records.tasks().reach() > 0;
    }
    [[nodiscard]] auto equals(const Dispatcher& other) const -> bool;

    View view_;
    OpenSessions open_;
};

template <class... Policies>
Dispatcher(Policies...) -> Dispatcher<Policies...>;

template <class... Ps>
template <class... Old>
Dispatcher<Ps...>::Dispatcher(Dispatcher<Old...>&& old, Ps... policies)
    : Dispatcher{FromChoices{}, Pack::unpack(std::move(policies)...)} {
    adopt(old.view_.records);
}

template <class... Ps>
template <class OtherData, class OtherConfiguration>
void Dispatcher<Ps...>::adopt(const Records<OtherData, OtherConfiguration>& from) {
    ALLOT_ASSERT(!has_records(), "a dispatcher that has records was configured or filled past its commands");
    auto& records = view_.records;
    auto indices = Indices<Ps...>{view_};
    auto counters = from.counters();
    records.set(counters, indices);
    from.fits().classes().for_each(
        [&](std::uint32_t id, const NodeClass& v) { records.intern_at(ClassId{id}, v, indices); });
    from.fits().requirements().for_each(
        [&](std::uint32_t id, const Requirement& v) { records.intern_at(RequirementId{id}, v, indices); });
    from.models().names().for_each(
        [&](std::uint32_t id, const std::string& v) { records.intern_at(ModelId{id}, v, indices); });
    from.nodes().for_each([&](NodeHandle h, const auto& other) {
        auto record = Record{other.node, {}};
        if constexpr (std::is_same_v<NodeData, OtherData>) {
            record.qos = other.qos;
        } else {
            view_.qos.joined(record.qos, counters.now);
            if constexpr (has_runs_as<QoSTracker>) {
                if (record.node.present()) {
                    view_.qos.runs_as(record.qos, records.fits().value(record.node.node_class));
                }
            }
            record.node.excluded = false;
            record.node.due_at = record.node.present() ? never : record.node.due_at;
        }
        records.put(h, std::move(record), indices);
        records.hold(h, from.holdings(h), indices);
        if (!from.wishes(h).empty()) { records.wish(h, from.wishes(h), indices); }
        (void)records.forget_undo_log(indices);
    });
    from.node_names().for_each(
        [&](std::uint32_t id, const NodeId& v) { records.intern_at(NodeNameId{id}, v, indices); });
    from.groups().for_each(
        [&](GroupHandle h, const GroupRecord& record) { records.put(h, GroupRecord{record}, indices); });
    from.tasks().for_each([&](TaskHandle h, const Task& record) { records.put(h, Task{record}, indices); });
    from.ended_tasks().for_each(
        [&](EndedHandle h, const EndedTask& record) { records.put(h, EndedTask{record}, indices); });
    from.leases().for_each(
        [&](LeaseHandle h, const LeaseRecord& record) { records.put(h, LeaseRecord{record}, indices); });
    (void)records.forget_undo_log(indices);
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::configure_each(F&& f) {
    ALLOT_ASSERT(!has_records(), "a dispatcher that has records was configured or filled past its commands");
    Parts<Ps...>::each_of(view_, f);
}

}}  // namespace allot::v0
