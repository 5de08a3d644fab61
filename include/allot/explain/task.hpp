#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/dispatcher/view/gang_tally.hpp>
#include <allot/explain/survey.hpp>
#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {

/// A requirement that a task might lower. The numbers are stable.
enum class Relaxed : std::uint8_t {
    models = 1,    ///< Its models keep no node out.
    vram = 2,      ///< Less VRAM: the next smaller sizes of the network.
    gpu = 3,       ///< Any card with at least the least VRAM that it asked for.
    platform = 4,  ///< Any platform.
    version = 5,   ///< Any version of the node software.
};
ALLOT_ENUMERATORS(Relaxed, models, vram, gpu, platform, version)

/// The gain of a task if it asked for less.
struct Relaxation {
    Relaxed what = Relaxed::models;
    Gibibytes vram{};              ///< The least VRAM then; meaningful for `vram` and `gpu`.
    bool and_models = false;       ///< In addition, its models keep no node out.
    std::uint32_t candidates = 0;  ///< Nodes that could be drawn then, in a gang if they have enough others ...
    std::uint32_t freed = 0;       ///< ... and the number of these that cannot be drawn now.

    friend auto operator==(const Relaxation&, const Relaxation&) noexcept -> bool = default;
};
ALLOT_FIELDS(Relaxation, what, vram, and_models, candidates, freed)

/// The events by which a waiting task is tried next. A task is tried when one of them happens, never by a timer of its
/// own.
struct NextTry {
    bool on_match = false;                    ///< There are candidates: `match` with entropy draws, best task first. In
                                              ///< rounds one whose entropy comes after this task, and after
                                              ///< the start of running members of its group (rule 47).
    std::optional<TimePoint> on_lease_end{};  ///< The time by which a busy node of a fitting class is free, unless its
                                              ///< lease is renewed.
    std::optional<TimePoint> on_readmission{};  ///< The time at which the first fitting node returns from exclusion.
    bool on_resume = false;                     ///< Fitting nodes are paused.
    bool on_models = false;                     ///< Nodes lack only the models that they must hold.
    TimePoint expires{};                        ///< The time at which it leaves the queue.

    friend auto operator==(const NextTry&, const NextTry&) noexcept -> bool = default;
};
ALLOT_FIELDS(NextTry, on_match, on_lease_end, on_readmission, on_resume, on_models, expires)

/// Why a task waits, or would wait.
struct TaskExplanation {
    TaskId task = TaskId::null();
    TaskState state = TaskState::queued;
    TimePoint now{};
    TimePoint submitted_at{};

    Requirement group{};           ///< The queue's group: its requirement for a node's class.
    std::uint32_t group_size = 0;  ///< Tasks that wait in this group.
    Value value{};
    std::uint32_t position = 0;             ///< Among all waiting tasks, from 1 for the best. 0 for a pinned task.
    std::uint32_t queued = 0;               ///< Waiting tasks, including it if it waits.
    std::uint32_t capacity = 0;             ///< The bound on waiting tasks.
    std::optional<Value> survives_above{};  ///< The queue is full, or its requirement has its share, and this task
                                            ///< survives the next eviction exactly if its value is more than this. It
                                            ///< is in the unit of its own value and includes the margin that the rules
                                            ///< ask of a newcomer. None: there is room, or it survives with any value.

    std::uint32_t nodes = 0;              ///< Nodes that have not left: the sum of `kept_out` and `candidates`.
    std::vector<ReasonCount> kept_out{};  ///< Each node under the first reason that keeps it out, in the order of
                                          ///< `Reason`.
    std::uint32_t candidates = 0;         ///< Nodes that a draw could choose now; for a gang, the draw of its first
                                          ///< node.
    std::uint32_t downloads = 0;          ///< Of the nodes kept out for their models, those that were asked to fetch
                                          ///< all that they lack.
    NextTry next{};
    std::vector<Relaxation> relaxations{};  ///< In the order of `Relaxed`, alone first, then with the models.

    /// Number of nodes that one reason keeps out.
    /// @complexity linear in the reasons.
    [[nodiscard]] auto count(Reason reason) const noexcept -> std::uint32_t {
        for (const auto& row : kept_out) {
            if (row.reason == reason) { return row.count; }
        }
        return 0;
    }

    friend auto operator==(const TaskExplanation&, const TaskExplanation&) -> bool = default;
};
ALLOT_FIELDS(TaskExplanation, task, state, now, submitted_at, group, group_size, value, position, queued, capacity,
             survives_above, nodes, kept_out, candidates, downloads, next, relaxations)

namespace detail {

/// Number of smaller sizes of VRAM that are tried.
inline constexpr std::size_t smaller_sizes = 3;

/// A requirement that asks for a little less.
struct Milder {
    Relaxed what;
    Requirement requirement;
};

/// The least VRAM of a card that the requirement admits.
[[nodiscard]] inline auto least_vram(const Requirement& requirement) -> Gibibytes {
    auto least = requirement.gpus.empty() ? requirement.vram_min : Gibibytes{0xFFFF'FFFFU};
    for (const auto& choice : requirement.gpus) {
        least = std::min(least, choice.vram == Gibibytes{} ? requirement.vram_min : choice.vram);
    }
    return least;
}

/// All requirements that are milder in one respect, in the order of `Relaxed`.
template <class Dispatcher>
[[nodiscard]] auto milder_than(const Dispatcher& d, const Requirement& asked) -> std::vector<Milder> {
    auto milder = std::vector<Milder>{};
    const auto add = [&](Relaxed what, auto change) {
        milder.push_back({what, asked});
        change(milder.back().requirement);
    };
    if (asked.vram_min > Gibibytes{}) {
        auto sizes = std::vector<Gibibytes>{};
        for (const auto id : d.state().fits().all_classes()) {
            if (const auto vram = d.state().fits().value(id).vram; vram < asked.vram_min) { sizes.push_back(vram); }
        }
        std::sort(sizes.rbegin(), sizes.rend());
        sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
        sizes.resize(std::min(sizes.size(), smaller_sizes));
        for (const auto size : sizes) {
            add(Relaxed::vram, [&](Requirement& r) { r.vram_min = size; });
        }
    }
    if (!asked.gpus.empty()) {
        add(Relaxed::gpu, [&](Requirement& r) {
            r.vram_min = least_vram(asked);
            r.gpus.clear();
        });
    }
    if (!asked.platforms.empty() || !asked.platforms_refused.empty()) {
        add(Relaxed::platform, [](Requirement& r) {
            r.platforms.clear();
            r.platforms_refused.clear();
        });
    }
    if (asked.software) {
        add(Relaxed::version, [](Requirement& r) { r.software.reset(); });
    }
    return milder;
}

/// The pass over the nodes for an explanation, and its counts.
template <class Dispatcher>
class TaskSurvey {
public:
    TaskSurvey(const Dispatcher& d, const Question& question)
        : d_{d}, question_{question}, milder_{milder_than(d, question.requirement)}, fits_{reasons_of_classes(
                                                                                         d, question.requirement)},
          bits_(fits_.size()), free_(fits_.size()),
          short_(fits_.size()), tally_{question.requirement, question.in_group} {
        mark(0, fits_);
        for (std::size_t i = 0; i < milder_.size(); ++i) { mark(i + 1, reasons_of_classes(d, milder_[i].requirement)); }
        d.state().nodes().for_each([&](NodeHandle h, const auto& record) {
            if (record.node.present()) { look_at(h, record.node); }
        });
        leave_out_short_gangs();
        const auto holders = free_of(0, true, true);
        const auto others = free_of(0, false, true);
        const auto left = reason_of_narrowing(d, question.task, holders, classes_of(0));
        counts_[left] += others;
        counts_[Reason::none] += holders;
        for (std::size_t i = 0; i < free_.size() && left != Reason::none; ++i) {
            downloads_ += !short_[i] || left == Reason::models_missing ? free_[i].downloads : 0U;
        }
    }

    void tell(TaskExplanation& out) const {
        out.kept_out = counts_.rows();
        out.nodes = counts_.sum();
        out.candidates = counts_[Reason::none];
        out.downloads = downloads_;
        out.next = next_;
        out.next.on_match = out.candidates > 0 && !question_.task.pinned();
        out.next.on_models = out.count(Reason::models_missing) > 0;
        const auto models = !question_.task.models().empty();
        if (models) { out.relaxations.push_back(relaxation(Relaxed::models, 0, false)); }
        for (const auto and_models : {false, true}) {
            for (std::size_t i = 0; i < milder_.size() && (models || !and_models); ++i) {
                out.relaxations.push_back(relaxation(milder_[i].what, i + 1, and_models));
            }
        }
    }

private:
    /// Free nodes of one class that would take the task if their class fitted.
    struct Free {
        std::uint32_t holders = 0;
        std::uint32_t others = 0;
        std::uint32_t downloads = 0;  // of the others, those that were asked for all that they lack
    };

    void mark(std::size_t bit, const std::vector<Reason>& fits) {
        for (std::size_t i = 0; i < fits.size(); ++i) {
            bits_[i] = static_cast<std::uint8_t>(bits_[i] | (fits[i] == Reason::none ? 1U << bit : 0U));
        }
    }

    void look_at(NodeHandle h, const Node& node) {
        const auto node_class = node.node_class.value;
        const auto fits = fits_[node_class];
        const auto reason = first_reason(d_, h, question_, fits);
        const auto free = reason_of_state(node) == Reason::none && (!node.excluded || question_.task.pinned());
        if (free && bits_[node_class] != 0 &&
            (fits == Reason::none ? reason : refusal(d_, h, question_)) == Reason::none) {
            could_run(h, node_class);
        }
        if (reason == Reason::none) {
            return;  // counted once the models of the others are known
        }
        ++counts_[reason];
        if (fits != Reason::none) { return; }
        switch (reason) {
            case Reason::paused: next_.on_resume = true; break;
            case Reason::busy: sooner(next_.on_lease_end, d_.view().ends_by(node.lease)); break;
            case Reason::excluded: sooner(next_.on_readmission, node.due_at); break;
            default: break;
        }
    }

    void could_run(NodeHandle h, std::uint32_t node_class) {
        const auto narrows = d_.view().narrows_to(h, question_.task);
        if (question_.requirement.gang_size > 1 && fits_[node_class] == Reason::none &&
            (narrows || reason_of_narrowing(d_, question_.task, 0) == Reason::none)) {
            tally_.add(d_.state().nodes()[h].node, d_.state().fits().value(ClassId{node_class}));
        }
        if (narrows) {
            ++free_[node_class].holders;
            return;
        }
        ++free_[node_class].others;
        if (fits_[node_class] == Reason::none && fetches(h)) { ++free_[node_class].downloads; }
    }

    /// Counts the nodes that cannot be drawn now, because their card has too few others for a gang.
    void leave_out_short_gangs() {
        if (question_.requirement.gang_size == 1) { return; }
        const auto without = reason_of_narrowing(d_, question_.task, 0);  // the reason of nodes without the models
        for (const auto id : d_.state().fits().all_classes()) {
            const auto& free = free_[id.value];
            if ((bits_[id.value] & 1U) != 0 && !tally_.enough(d_.state().fits().value(id))) {
                counts_[Reason::gang_short] += free.holders;
                counts_[without == Reason::none ? Reason::gang_short : without] += free.others;
                short_[id.value] = true;
            }
        }
    }

    /// True if a node was asked for all the models that it lacks.
    [[nodiscard]] auto fetches(NodeHandle h) const -> bool {
        const auto models = question_.task.models();
        const auto& state = d_.state();
        return !models.empty() && std::all_of(models.begin(), models.end(), [&](ModelId model) {
            return find_model(state.holdings(h), model) != nullptr || find_model(state.wishes(h), model) != nullptr;
        });
    }

    static void sooner(std::optional<TimePoint>& first, TimePoint time) {
        if (time != never && (!first || time < *first)) { first = time; }
    }

    /// Number of free nodes, holders or others, of the classes that fit a milder requirement. With `fit_now`, only of
    /// those that also fit as asked and have enough others for a gang.
    [[nodiscard]] auto free_of(std::size_t bit, bool holders, bool fit_now = false) const -> std::uint32_t {
        const auto wanted = (1U << bit) | (fit_now ? 1U : 0U);
        auto sum = std::uint32_t{0};
        for (std::size_t i = 0; i < bits_.size(); ++i) {
            sum += (bits_[i] & wanted) == wanted && !(fit_now && short_[i])
                       ? (holders ? free_[i].holders : free_[i].others)
                       : 0U;
        }
        return sum;
    }

    /// The classes that fit a milder requirement; bit 0: as asked.
    [[nodiscard]] auto classes_of(std::size_t bit) const -> std::vector<ClassId> {
        auto classes = std::vector<ClassId>{};
        for (const auto id : d_.state().fits().all_classes()) {
            if ((bits_[id.value] >> bit & 1U) != 0) { classes.push_back(id); }
        }
        return classes;
    }

    [[nodiscard]] auto relaxation(Relaxed what, std::size_t bit, bool and_models) const -> Relaxation {
        const auto without_models = and_models || what == Relaxed::models;
        const auto keeps_others = [&](std::size_t of, bool now) {
            return reason_of_narrowing(d_, question_.task, free_of(of, true, now), classes_of(of)) == Reason::none;
        };
        auto result = Relaxation{what, bit == 0 ? Gibibytes{} : milder_[bit - 1].requirement.vram_min, and_models};
        const auto others_then = without_models || keeps_others(bit, false);
        const auto others_now = keeps_others(0, true);
        result.candidates = free_of(bit, true) + (others_then ? free_of(bit, false) : 0);
        result.freed =
            result.candidates - free_of(bit, true, true) - (others_then && others_now ? free_of(bit, false, true) : 0);
        return result;
    }

    const Dispatcher& d_;
    const Question& question_;
    std::vector<Milder> milder_;
    std::vector<Reason> fits_;
    std::vector<std::uint8_t> bits_;  // by class; bit 0: it fits as asked, bit i: it fits the i-th milder question
    std::vector<Free> free_;          // by class
    std::vector<bool> short_;         // by class: it has too few others for a gang
    GangTally tally_;                 // of those that fit as asked
    ReasonCounts counts_{};
    std::uint32_t downloads_ = 0;
    NextTry next_{};
};

/// The greatest value, with the task's denominator, at which it would be evicted next. None if it survives `worst`, the
/// worst of the others, with any value. A task that does not wait yet is treated as a newcomer.
template <class Dispatcher>
[[nodiscard]] auto survives_above(const Dispatcher& d, Task task, const Task& worst) -> std::optional<Value> {
    constexpr auto any = no_handle<TaskHandle>;
    const auto* known = d.task(task.id);
    const auto waits = known != nullptr && known->state == TaskState::queued;
    const auto den = task.value.den();
    const auto survives = [&](u128 num) {
        task.value = Value{num, den};
        return goes_before(d.view().entry_of(any, task), d.view().entry_of(any, worst)) &&
               (waits || d.view().outbids(task, worst));
    };
    if (survives(0)) { return std::nullopt; }
    auto dies = u128{0};
    for (auto bit = u128{1} << 95; bit; bit = bit >> 1) {  // the greater its value, the longer it stays
        dies += survives(dies + bit) ? u128{0} : bit;
    }
    return Value{dies, den};
}

/// Adds a task's position, or hypothetical position, among the waiting tasks.
template <class Dispatcher>
void tell_queue(const Dispatcher& d, const Question& question, TaskExplanation& out) {
    out.queued = d.queued();
    out.capacity = d.queue_capacity();
    if (question.task.pinned()) {  // it waits at its node and is never evicted
        return;
    }
    const auto it = d.view().entry_of(no_handle<TaskHandle>, question.task);
    auto worst = std::optional<QueueEntry>{};
    auto worst_of_group = std::optional<QueueEntry>{};
    out.position = 1;
    d.state().tasks().for_each([&](TaskHandle h, const Task& task) {
        if (task.state != TaskState::queued) { return; }
        const auto in_group = task.requirement == question.task.requirement;
        out.group_size += in_group ? 1U : 0U;
        if (task.id == question.task.id) { return; }
        const auto other = d.view().entry_of(h, task);
        out.position += goes_before(other, it) ? 1U : 0U;
        worst = !worst || goes_before(*worst, other) ? other : *worst;
        if (in_group && (!worst_of_group || goes_before(*worst_of_group, other))) { worst_of_group = other; }
    });
    const auto group = question.task.requirement;
    if (worst_of_group && d.view().share_exceeds(group, 0) && !d.view().share_exceeds(group, out.group_size)) {
        worst = worst_of_group;
    } else if (out.queued < out.capacity) {
        return;
    }
    if (worst) { out.survives_above = survives_above(d, question.task, d.state().tasks()[worst->task]); }
}

}  // namespace detail

/// Explains why a task waits, or would wait. It counts all present nodes by the first reason that keeps each out. It
/// gives the task's position in the queue, the gain of asking for less, and the events by which it is tried next.
///
/// For a milder requirement, `admits` of the eligibility policy is still asked with the task's own.
/// @complexity one pass over the nodes that weighs each free one, and one over the tasks; O(classes) for each
/// relaxation.
template <class Dispatcher>
[[nodiscard]] auto explain(const Dispatcher& dispatcher, const Question& question) -> TaskExplanation {
    auto out = TaskExplanation{};
    out.task = question.task.id;
    out.state = question.task.state;
    out.now = dispatcher.now();
    out.submitted_at = question.task.submitted_at;
    out.group = question.requirement;
    out.value = question.task.value;
    detail::tell_queue(dispatcher, question, out);
    detail::TaskSurvey<Dispatcher>{dispatcher, question}.tell(out);
    out.next.expires = question.task.due_at;
    return out;
}

/// The same for a task of the network. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto explain(const Dispatcher& dispatcher, TaskId task) -> Result<TaskExplanation> {
    return question(dispatcher, task).map([&](const Question& asked) { return explain(dispatcher, asked); });
}

/// The same for a task that is not submitted. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto explain(const Dispatcher& dispatcher, const TaskSpec& task) -> Result<TaskExplanation> {
    return question(dispatcher, task).map([&](const Question& asked) { return explain(dispatcher, asked); });
}

}}  // namespace allot::v0
