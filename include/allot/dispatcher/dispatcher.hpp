#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/dispatcher/policy_pack.hpp>
#include <allot/dispatcher/rules.hpp>
#include <allot/dispatcher/session.hpp>
#include <allot/dispatcher/trace.hpp>
#include <allot/eligibility/hardware_fit.hpp>
#include <allot/fwd.hpp>
#include <allot/placement/threshold_placement.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/store/records.hpp>
#include <allot/dispatcher/operator_stakes.hpp>
#include <allot/dispatcher/owner_tally.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/valuation/fee_per_second.hpp>
#include <allot/weight/harmonic_weight.hpp>

namespace allot { inline namespace v0 {

/// Decides which node runs which task.
///
/// Feed it commands, each with its Moment, and it gives back the events that follow; it does no I/O, reads no clock, owns no
/// thread and draws no hidden random number. Equal commands give equal events, bit for bit, on every machine.
///
/// `Policies` are plain values in any order, one a role at most; a role left out takes the library's default, and a preset may
/// stand among them. `Dispatcher{LocalityFirst{}, ValueQueue{{.tasks_per_node = 2}}}`.
///
/// It is a value: copies share nothing and compare by content. Const calls may run at the same time; every other call needs
/// exclusive access. Should a policy throw, the state is what it was before the command.
///
/// @complexity of a command: O(log n + classes + groups) for n nodes, and O(log n) more for each model concerned.
template <class... Policies>
class Dispatcher {
    using Pack = detail::PolicyPack<Policies...>;
    template <class Role, template <class> class Check, class Default>
    using Choose = detail::checked<Check<typename Pack::template find<Role, Default>>,
                                   typename Pack::template find<Role, Default>, Default>;

public:
    using WeightPolicy = Choose<role::weight, WeightPolicyCheck, allot::WeightPolicy>;
    using Eligibility = Choose<role::eligibility, EligibilityCheck, HardwareFit>;
    using CandidatePool = Choose<role::pool, CandidatePoolCheck,
                                 std::conditional_t<monotone_weight<WeightPolicy>, allot::CandidatePool, LinearPool>>;
    using TaskQueue = Choose<role::queue, TaskQueueCheck, allot::TaskQueue>;
    using QoSTracker = Choose<role::qos, QoSTrackerCheck, allot::QoSTracker>;
    using Valuation = Choose<role::valuation, TaskValuationCheck, FeePerSecond>;
    using Placement = Choose<role::placement, ModelPlacementCheck, ThresholdPlacement>;
    using Terms = Choose<role::terms, LeaseTermsCheck, FixedTerms>;

    static_assert(!stores_bounds<CandidatePool> || monotone_weight<WeightPolicy>,
                  "allot: this pool stores bounds, so the weight policy must keep the law of monotone_weight and say so with "
                  "`static constexpr bool monotone = true;`; or use allot::LinearPool");
    static_assert(std::is_same_v<typename Pack::template find<role::rules, Rules>, Rules>,
                  "allot: the role `rules` is the hub's own; give the Dispatcher an allot::Rules with your parameters");
    static_assert(std::is_same_v<typename Pack::template find<role::id_key, IdKey>, IdKey>,
                  "allot: the role `id_key` is the hub's own; give the Dispatcher an allot::IdKey with your secret");

    /// Parameters of one policy, or of the rules.
    using Configuration =
        detail::configuration<Rules, Eligibility, WeightPolicy, CandidatePool, TaskQueue, QoSTracker, Valuation, Placement, Terms>;
    /// Any command this dispatcher takes.
    using Command = basic_command<Configuration>;
    using NodeData = typename QoSTracker::node_data;
    using Record = NodeRecord<NodeData>;
    using State = Records<NodeData, Configuration>;

    /// All policies as their defaults make them. A template, because clang 14 instantiates a plain member whose constraint does
    /// not hold when the class is instantiated explicitly.
    template <class = void>
        requires(std::default_initializable<Policies> && ...)
    Dispatcher() : Dispatcher{FromChoices{}, Pack::unpack(Policies{}...)} {}
    explicit Dispatcher(Policies... policies)
        requires(sizeof...(Policies) > 0)
        : Dispatcher{FromChoices{}, Pack::unpack(std::move(policies)...)} {}

    /// Takes over another dispatcher's records under other policies. What QoS measured is kept when the tracker remembers the
    /// same data, else each node starts as new. @complexity O(n log n).
    template <class... Old>
    explicit Dispatcher(Dispatcher<Old...>&& old, Policies... policies);

    // ---- commands -------------------------------------------------------------------------------------------------

    /// Applies one command and returns what followed. Total: what is wrong is an event, `Refused`.
    auto apply(const Command& command, const Moment& moment) -> Events {
        auto events = Events{};
        apply(command, moment, events);
        return events;
    }
    /// The same, appending to the caller's buffer.
    void apply(const Command& command, const Moment& moment, Events& events) { apply(command, moment, events, {}); }
    /// The same before a trace, who sees every choice as it falls. What it throws is as what a policy throws.
    void apply(const Command& command, const Moment& moment, Events& events, const Trace<Dispatcher>& trace) {
        apply(command, subject_of(command), moment, events, trace);
    }
    /// Applies commands in order at one Moment; the same events as one by one, in less time where the network is large.
    void apply(std::span<const Command> commands, const Moment& moment, Events& events) {
        apply(commands, moment, events, [](const Answer&) {});
    }
    /// The same, appending what each command brought.
    void apply(std::span<const Command> commands, const Moment& moment, Events& events, std::vector<Answer>& answers) {
        apply(commands, moment, events, [&](const Answer& answer) { answers.push_back(answer); });
    }

    auto join(NodeSpec node, const Moment& m) -> Events { return apply(command::Join{std::move(node)}, m); }
    auto update(NodeUpdate change, const Moment& m) -> Events { return apply(command::Update{std::move(change)}, m); }
    auto pause(NodeId node, const Moment& m) -> Events { return apply(command::Pause{node}, m); }
    auto resume(NodeId node, const Moment& m) -> Events { return apply(command::Resume{node}, m); }
    auto leave(NodeId node, const Moment& m) -> Events { return apply(command::Leave{node}, m); }
    auto report_model(NodeId node, command::Report report, std::vector<std::string> models, const Moment& m) -> Events {
        return apply(command::ReportModel{node, report, std::move(models)}, m);
    }
    auto observe(NodeId node, OutcomeKind outcome, const Moment& m) -> Events {
        return apply(command::Observe{node, outcome}, m);
    }
    auto slash(NodeId node, const Moment& m) -> Events { return apply(command::Slash{node}, m); }

    auto submit(TaskSpec task, const Moment& m) -> Events { return apply(command::Submit{std::move(task)}, m); }
    auto cancel(TaskId task, const Moment& m) -> Events { return apply(command::Cancel{task}, m); }
    auto commit(const Lease& lease, const Moment& m) -> Events { return apply(command::Commit{lease}, m); }
    auto disclose(const Lease& lease, const Moment& m) -> Events { return apply(command::Disclose{lease}, m); }
    auto complete(const Lease& lease, const Moment& m) -> Events { return apply(command::Complete{lease}, m); }
    auto fail(const Lease& lease, FailCause cause, const Moment& m) -> Events { return apply(command::Fail{lease, cause}, m); }
    auto decline(const Lease& lease, const Moment& m) -> Events { return apply(command::Decline{lease}, m); }
    auto renew(const Lease& lease, const Moment& m) -> Events { return apply(command::Renew{lease}, m); }
    auto score(NodeId node, std::uint32_t points, const Moment& m) -> Events { return apply(command::Score{node, points}, m); }

    /// Lets time pass: settles what is due.
    auto advance(const Moment& m) -> Events { return apply(command::Advance{}, m); }
    void advance(std::same_as<TimePoint> auto) = delete;  // a verb takes a Moment: write `advance({.time = now})`
    /// Tries the waiting tasks, highest value first; the Moment needs entropy.
    auto match(const Moment& m) -> Events { return apply(command::Match{}, m); }
    /// Changes the parameters of one policy or of the rules, and the rules version that starts here.
    template <class Parameters>
    auto configure(Parameters parameters, std::uint32_t rules_version, const Moment& m) -> Events {
        return apply(command::Configure<Configuration>{std::move(parameters), rules_version}, m);
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    /// Why the command would be refused now, if it would be. Nothing changes.
    [[nodiscard]] auto check(const Command& command) const -> std::optional<Error>;
    /// The time of the last command.
    [[nodiscard]] auto now() const noexcept -> TimePoint { return state_.counters().now; }
    /// When something is due next; call `advance` then.
    [[nodiscard]] auto next_deadline() const noexcept -> std::optional<TimePoint>;
    /// Everything this dispatcher remembers, to look at.
    [[nodiscard]] auto state() const noexcept -> const State& { return state_; }
    /// When a lease ends at the latest, unless one is renewed: at its deadline; once completed, with the last of its gang.
    [[nodiscard]] auto ends_by(LeaseHandle lease) const -> TimePoint;
    /// The record of a node that has not been forgotten, or null.
    [[nodiscard]] auto node(NodeId id) const -> const Record*;
    /// The record of a task that has not ended, or null.
    [[nodiscard]] auto task(TaskId id) const -> const Task*;
    /// How a task ended; none while it has not, and when it is forgotten (`Rules::forget_tasks_after`).
    [[nodiscard]] auto ended(TaskId id) const -> std::optional<TaskEnd>;
    /// The lease under which a task runs on one of its nodes; none while it does not run. Verbs that take a lease look at its task,
    /// node and token alone.
    [[nodiscard]] auto lease(TaskId task, std::uint32_t member = 0) const -> std::optional<Lease>;
    /// What a node holds.
    [[nodiscard]] auto lease_of(NodeId node) const -> std::optional<Lease>;
    /// Calls `f(lease)` for each node of a running task, by member.
    template <class F>
    void each_lease_of(TaskId task, F&& f) const;
    /// The QoS score of a node now.
    [[nodiscard]] auto qos_score(const Record& record) const -> Score { return qos_.score(record.qos, now()); }
    /// Tasks that wait, and how many may.
    [[nodiscard]] auto queued() const -> std::uint32_t { return queue_.size(); }
    [[nodiscard]] auto queue_capacity() const -> std::uint32_t { return queue_.capacity(state_.present()); }
    /// A hash of all records and counters; of the parameters it knows the rules version alone. The same on every machine.
    [[nodiscard]] auto digest() const -> std::uint64_t;

    [[nodiscard]] auto rules() const noexcept -> const Rules& { return rules_; }
    [[nodiscard]] auto eligibility() const noexcept -> const Eligibility& { return eligibility_; }
    [[nodiscard]] auto weight_policy() const noexcept -> const WeightPolicy& { return weight_; }
    [[nodiscard]] auto pool() const noexcept -> const CandidatePool& { return pool_; }
    [[nodiscard]] auto queue() const noexcept -> const TaskQueue& { return queue_; }
    [[nodiscard]] auto qos() const noexcept -> const QoSTracker& { return qos_; }

    /// Calls `f(policy)` for each policy, in the order of the roles.
    template <class F>
    void each_policy(F&& f) const;
    /// Calls `f(node, weight)` for each candidate of a task that has a positive weight, in the order of the records; narrowed to
    /// holders of its models as a draw would be; for a gang, those of its first node. Weights are in the unit of `Draw::weight`. @complexity linear in the nodes.
    template <class F>
    void each_candidate(const Task& task, F&& f) const;
    /// The same for one draw as a trace saw it, which for a further member of a gang is among fewer nodes.
    template <class F>
    void each_candidate(const Decision& choice, F&& f) const;
    /// The weight of a node that has not left in a draw for a task, were its QoS score this one; nothing else is asked of it.
    /// `requirement` is the task's.
    [[nodiscard]] auto weight(NodeHandle node, const Task& task, const Requirement& requirement, Score score) const -> Weight;
    /// What keeps a class from a requirement: its hardware and software, or that too few such nodes are there.
    [[nodiscard]] auto fitness(ClassId node_class, const Requirement& requirement) const -> Reason;
    /// What eligibility says of this very pair, its class aside. `requirement` is the task's.
    [[nodiscard]] auto admission(NodeHandle node, const Task& task, const Requirement& requirement) const -> Reason;
    /// Whether a task's candidates can be narrowed to this node: it holds one of its models, or all, as the rules say. False for a
    /// task without models.
    [[nodiscard]] auto narrows_to(NodeHandle node, const Task& task) const -> bool;
    /// How many nodes of those that `narrows_to` says yes to it takes to leave out the others: 0 when they are out whatever is
    /// there, none when models keep nobody out.
    [[nodiscard]] auto holders_to_narrow(const Task& task) const -> std::optional<std::uint32_t>;
    /// Whether enough other free nodes can stand beside this one, in a gang; true for a task of one node.
    [[nodiscard]] auto has_gang(NodeHandle node, const Task& task) const -> bool;
    /// The record that a task would have were it queued now. What nobody knows yet has no number: its models, its requirement.
    /// @pre `check` does not refuse it.
    [[nodiscard]] auto record_of(const TaskSpec& spec) const -> Task;
    /// What a task asks of a node's class, in canonical form.
    [[nodiscard]] auto requirement_of(const TaskSpec& spec) const -> Requirement;
    /// What a node's tracker hears of when a task fails on it: not the node's own fault where the terms do not blame it.
    [[nodiscard]] auto attributed(const Task& task, OutcomeKind outcome) const -> OutcomeKind;
    /// Where a task stands in the queue's order, or would stand: by its value, aged as the rules say.
    [[nodiscard]] auto entry_of(TaskHandle h, const Task& task) const -> QueueEntry;
    /// The waiting task that a node takes when it becomes free, were it now: what a pull asks. None when it can run none.
    [[nodiscard]] auto next_for(NodeHandle node) const -> std::optional<TaskHandle>;
    /// Whether a newcomer to a full queue is worth enough more than the worst there to take its place (`Rules::outbid_by`).
    [[nodiscard]] auto outbids(const Task& newcomer, const Task& worst) const -> bool;

    /// Calls `f(node, weight)` for each node that may be asked to fetch a model for a task. @complexity as above.
    template <class F>
    void each_fetcher(const Task& task, ModelId model, F&& f) const;
    /// Calls `f(handle, task)` for each waiting task that a node can run. @complexity linear in the tasks.
    template <class F>
    void each_runnable(NodeHandle node, F&& f) const;

    /// The same with policies that `f` may configure. @pre Nothing is remembered yet: indices do not hear of it.
    template <class F>
    void configure_each(F&& f);
    /// Takes over records, under the same handles, and builds every index. What QoS measured is kept when it is of this tracker's
    /// type, else each node starts as new. @pre Nothing is remembered yet. @complexity O(n log n).
    template <class OtherData, class OtherConfiguration>
    void adopt(const Records<OtherData, OtherConfiguration>& records);

    /// Opens a session: what follows can be taken back as a whole.
    [[nodiscard]] auto session() -> Session<Dispatcher> { return Session<Dispatcher>{*this}; }

    /// Equal records, counters and parameters.
    friend auto operator==(const Dispatcher& a, const Dispatcher& b) -> bool { return a.equals(b); }

private:
    template <class...>
    friend class Dispatcher;
    friend class Session<Dispatcher>;

    using Choices = typename Pack::All;
    struct Followers;
    struct Checker;
    struct Applier;
    class Blocked;
    struct Boost {
        std::uint64_t num = 1;
        std::uint64_t den = 1;
    };
    /// The nodes one task starts on, by member.
    using Gang = boost::container::small_vector<Draw, 3>;
    struct Bounds {
        std::uint32_t plain = 0;
        std::uint32_t local = 0;
    };
    /// What checking a command looked up.
    struct Found {
        std::optional<NodeHandle> node{};
        std::optional<TaskHandle> task{};
        std::optional<LeaseHandle> lease{};
        std::optional<RequirementId> poorest{};     // makes way for that of a new task
        std::optional<ClassId> poorest_class{};     // makes way for that of a node
        std::optional<NodeHandle> poorest_node{};   // makes way for another
        std::uint64_t crowded_by = 0;               // part of the models' table for which others have to make way
    };
    /// The record that a command names, if any, and the hash of its name.
    struct Subject {
        const TaskId* task = nullptr;
        const NodeId* node = nullptr;
        std::uint64_t hash = 0;
        bool known = false;        // where it was seen ahead: whether it is there, and where
        std::uint32_t handle = 0;
    };
    /// One command on its way: when it happens, where its events go, and which nodes it set free.
    struct Step {
        const Moment& moment;
        Events& events;
        const Trace<Dispatcher>& trace;
        boost::container::small_vector<NodeHandle, 4> freed{};

        void tell(const Event& event) { events.push(event); }
    };

    struct FromChoices {};
    Dispatcher(FromChoices, const Choices& all);

    // facts.hpp: what follows from the records; changes nothing
    [[nodiscard]] auto bounds(NodeHandle h, const Record& record, bool holds_models) const -> Bounds;
    [[nodiscard]] auto place(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace;
    [[nodiscard]] auto place_before(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace;
    [[nodiscard]] auto boost(NodeHandle h, const Task& task) const -> Boost;
    [[nodiscard]] auto best_boost() const -> Boost;
    [[nodiscard]] auto weight_now(const Record& record, const Task& task, Boost boost) const -> Weight;
    [[nodiscard]] auto weight_with(const Record& record, const Task& task, const Requirement* requirement, Boost boost, Score score)
        const -> Weight;
    [[nodiscard]] auto weight_at_most(const Record& record, Boost boost) const -> Weight;
    [[nodiscard]] auto greatest_weight(const Node& node, const Factors& factors) const -> Weight;
    template <class F>
    [[nodiscard]] auto weighed(const Record& record, Boost boost, Score score, const F& weigh) const -> Weight;
    [[nodiscard]] auto situation(const Record& record, const Task& task, const Requirement& requirement) const -> Situation;
    [[nodiscard]] auto admits(const Record& record, const Task& task) const -> Reason;
    [[nodiscard]] auto admits(const Record& record, const Task& task, const Requirement& requirement) const -> Reason;
    [[nodiscard]] auto holds(NodeHandle h, ModelId model) const -> const HeldModel*;
    [[nodiscard]] auto holds_all(NodeHandle h, const Task& task) const -> bool;
    [[nodiscard]] static auto on_disk(const HeldModels& models) -> std::uint32_t;
    [[nodiscard]] static auto is_candidate(const Record& record) -> bool;
    [[nodiscard]] auto proven(const Record& record) const -> bool;
    [[nodiscard]] auto fits_somebody(const TaskSpec& spec) const -> bool;
    [[nodiscard]] auto poorest_requirement(const Task& newcomer) const -> std::optional<RequirementId>;
    [[nodiscard]] auto poorest_class(Amount stake, ClassId but) const -> std::optional<ClassId>;
    [[nodiscard]] auto poorest_node(Amount stake) const -> std::optional<NodeHandle>;
    [[nodiscard]] auto models_part(const HeldModels& held) const -> std::uint64_t;
    [[nodiscard]] auto poorest_holder(Amount stake, std::uint64_t part, std::optional<NodeHandle> but) const
        -> std::optional<NodeHandle>;
    [[nodiscard]] auto room_beside(const std::vector<std::string>& models, NodeHandle inventory) const -> std::int64_t;
    [[nodiscard]] static auto has_quota(const RulesParameters& rules) -> bool {
        return rules.tasks_per_owner_max != 0xFFFF'FFFFU;
    }
    void tally(TaskHandle h, const Task* before, const Task* after);
    [[nodiscard]] auto task_of(const TaskSpec& spec) const -> Task;
    [[nodiscard]] auto requirement_known(const TaskSpec& spec) const -> std::optional<RequirementId>;
    [[nodiscard]] static auto vram_asked(const TaskSpec& spec) -> Gibibytes;
    [[nodiscard]] auto lease_value(LeaseHandle h) const -> Lease;
    [[nodiscard]] auto renewed_until(LeaseHandle h) const -> TimePoint;
    [[nodiscard]] auto present_node(NodeId id) const -> std::optional<NodeHandle>;
    [[nodiscard]] auto equals(const Dispatcher& other) const -> bool;

    // batch.hpp: many commands at once
    template <std::invocable<const Answer&> F>
    void apply(std::span<const Command> commands, const Moment& moment, Events& events, const F& answered);
    static constexpr std::size_t stretch = 32;
    [[nodiscard]] auto subject_of(const Command& command) const -> Subject;
    void look_ahead(std::span<Subject> seen) const;

    // verbs.hpp: one command
    void apply(const Command& command, const Subject& subject, const Moment& moment, Events& events,
               const Trace<Dispatcher>& trace);

    // match.hpp: who gets what
    void follow_stakes();
    void renew_bounds();
    [[nodiscard]] auto frame_of(std::span<const ClassId> classes) const -> SamplingFrame;
    template <class F>
    void each_free(ClassId node_class, F&& f) const;
    [[nodiscard]] auto draw_one(const Task& task, std::span<const ClassId> classes, const Gang& chosen, Random& random) const
        -> std::optional<Draw>;
    [[nodiscard]] auto has_or_wants(NodeHandle n, ModelId model) const -> bool;
    [[nodiscard]] auto fetch_weight(NodeHandle n, const Task& task, ModelId model) const -> Weight;
    void traced(const Decision& choice, const Step& step) const;
    template <class Allowed, class F>
    void each_among(const Task& task, const Allowed& allowed, F&& f) const;
    [[nodiscard]] auto draw_among(const Task& task, const SamplingFrame& frame, const Gang& chosen, std::uint32_t least, Random& random) const
        -> std::optional<Draw>;
    [[nodiscard]] auto draw_in(const Task& task, const SamplingFrame& frame, const Gang& chosen, Random& random,
                               std::span<const Draw> without = {}) const
        -> std::optional<Draw>;
    void pull(NodeHandle h, Step& step);
    void pull_freed(Step& step);
    auto match_all(Step& step) -> std::uint32_t;
    [[nodiscard]] auto can_run(NodeHandle n, const Task& task) const -> bool;
    [[nodiscard]] auto runs_nothing(NodeHandle n) const -> bool;
    void start(TaskHandle t, Task&& task, const Gang& gang, Step& step);
    void place_models(const Task& task, const Gang& chosen, Step& step);
    void want(NodeHandle n, ModelId model, TaskId task, Step& step);

    // gang.hpp: several nodes for one task
    [[nodiscard]] auto gang_size(const Task& task) const -> std::uint32_t;
    [[nodiscard]] auto joins(NodeHandle h, const Task& task, const Gang& chosen) const -> bool;
    [[nodiscard]] auto card_of(ClassId like, std::span<const ClassId> classes) const -> std::vector<ClassId>;
    [[nodiscard]] auto beginnings(RequirementId r) const -> std::vector<ClassId>;
    [[nodiscard]] auto startable(RequirementId r) const -> bool;
    void fill(Gang& gang, const Task& task, std::span<const ClassId> classes, Random& random) const;
    [[nodiscard]] auto left_over(const Gang& chosen, std::span<const ClassId> classes) const -> bool;
    [[nodiscard]] auto draw(const Task& task, const Entropy& entropy) const -> Gang;
    [[nodiscard]] auto gang_of(NodeHandle n, const Task& task, const Entropy& entropy) const -> Gang;
    template <class F>
    void each_tier(ClassId own, const Requirement& asked, std::span<const ClassId> classes, F&& f) const;
    [[nodiscard]] auto groups_for(NodeHandle n, std::vector<RequirementId>& possible) const -> std::span<const RequirementId>;
    void traced_gang(const Task& task, const Gang& gang, std::size_t first, const Step& step) const;

    // lifecycle.hpp: how nodes and tasks live and end
    void dispatch(TaskHandle t, Task&& task, Step& step);
    void dispatch_pinned(TaskHandle t, Task&& task, Step& step);
    void start_held(NodeHandle n, Step& step);
    void enqueue(TaskHandle t, Task&& task, Step& step);
    void evict(TaskHandle t, event::Eviction reason, Step& step);
    void withdraw(TaskHandle t, Step& step);
    [[nodiscard]] auto after(const Task& task, OutcomeKind outcome) const -> Next;
    void shrink_queue(Step& step);
    void displace(TaskHandle t, Task&& task, RequirementId poorest, Step& step);
    void displace(ClassId poorest, Step& step);
    void displace(NodeHandle n, Step& step);
    void tell_end(LeaseHandle l, event::LeaseEnd how, OutcomeKind outcome, Step& step) const;
    void end(TaskHandle t, const TaskEnd& how);
    void leave_group(GroupHandle g, TimePoint forgotten_at);
    void judge(Record& record, Outcome outcome, Step& step);
    void release(LeaseHandle l, Outcome outcome, Step& step);
    void depart(NodeHandle n, Record record, Step& step);
    template <class F>
    void each_member(TaskHandle t, F&& f) const;
    [[nodiscard]] auto has_others(LeaseHandle l) const -> bool;
    void unchain(LeaseHandle l, const std::optional<NodeId>& avoided);
    void release_all(TaskHandle t, Outcome outcome, Step& step);
    void conclude(TaskHandle t, Step& step);
    void finish(TaskHandle t, Step& step);
    void avoid(Task& task, const std::optional<NodeId>& node) const;
    void end_unsuccessfully(LeaseHandle l, OutcomeKind outcome, TaskEnd how, const Event& ending, Step& step);
    void start_over(TaskHandle t, std::optional<NodeId> avoided, Step& step);
    void models_used(NodeHandle n, const Task& task, bool fetched);
    void hold(NodeHandle n, HeldModels held);
    [[nodiscard]] auto settle_due(Step& step) -> bool;
    void settle_one(const Due& due, Step& step);

    // composition.hpp: policies, their parameters, and the move to other ones
    template <class Self, class F>
    static void each_of(Self& self, F&& f);
    void configured(const Configuration& configuration);
    [[nodiscard]] auto configuration_like(const Configuration& configuration) -> Configuration;
    void rebuild(std::uint32_t first, std::uint32_t end);
    State state_;
    [[no_unique_address]] Rules rules_;
    [[no_unique_address]] Eligibility eligibility_;
    [[no_unique_address]] WeightPolicy weight_;
    CandidatePool pool_;
    TaskQueue queue_;
    [[no_unique_address]] QoSTracker qos_;
    [[no_unique_address]] Valuation valuation_;
    [[no_unique_address]] Placement placement_;
    [[no_unique_address]] Terms terms_;
    OwnerTally owners_;
    OperatorStakes operators_;
    Task blank_{};  // the task a bound is computed for: monotone weights do not look at it
    OpenSessions open_;
};

template <class... Policies>
Dispatcher(Policies...) -> Dispatcher<Policies...>;

}}  // namespace allot::v0

// The definitions, one subject a header.
#include <allot/dispatcher/composition.hpp>  // IWYU pragma: export
#include <allot/dispatcher/facts.hpp>        // IWYU pragma: export
#include <allot/dispatcher/match.hpp>        // IWYU pragma: export
#include <allot/dispatcher/gang.hpp>         // IWYU pragma: export
#include <allot/dispatcher/lifecycle.hpp>    // IWYU pragma: export
#include <allot/dispatcher/checks.hpp>       // IWYU pragma: export
#include <allot/dispatcher/verbs.hpp>        // IWYU pragma: export
#include <allot/dispatcher/batch.hpp>        // IWYU pragma: export
#include <allot/dispatcher/candidates.hpp>   // IWYU pragma: export
