#include "world.hpp"

#if defined(__linux__)
#    include <sys/resource.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <allot/allot.hpp>
#include <allot/explain/expected_wait.hpp>

#include "hash.hpp"
#include "ledger.hpp"

namespace simulate {
namespace {

/// Returns the peak memory of the process in MiB, on systems with getrusage; else 0.
auto memory_peak_mib() -> std::uint64_t {
#if defined(__linux__)
    auto usage = rusage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) / 1024 : 0;
#else
    return 0;
#endif
}

constexpr auto samples_wanted = std::int64_t{288};
// one in so many queued tasks, because each question costs a pass over the network
constexpr auto expected_wait_every = std::uint64_t{100};

/// A scheduled action of the world.
struct Happening {
    enum class Kind : std::uint8_t { completes, fails, downloaded };

    std::int64_t time_ms = 0;
    std::uint64_t sequence = 0;  ///< Decides among equal times.
    Kind kind = Kind::completes;
    std::uint32_t node = 0;
    std::uint64_t token = 0;  ///< Token of the lease, when a task ends.
    std::string model{};      ///< Name of the model that has arrived.

    friend auto operator>(const Happening& a, const Happening& b) -> bool {
        return std::pair{a.time_ms, a.sequence} > std::pair{b.time_ms, b.sequence};
    }
};

/// Tasks have the integers from 0 as ids; the last eight bytes of an id are the integer.
auto index_of(const allot::TaskId& id) -> std::uint32_t {
    auto number = std::uint32_t{0};
    for (auto i = id.bytes().size() - 4; i < id.bytes().size(); ++i) { number = (number << 8U) | id.bytes()[i]; }
    return number;
}

/// The world around one dispatcher: tasks arrive; nodes work, stall, fail and vanish; owners rank validation groups.
///
/// It keeps no record of its own about which node runs which task. It follows the events, and acts on the dispatcher
/// through commands only.
template <class Dispatcher>
class World {
public:
    World(const Trace& trace, const Scenario& scenario, const Options& options)
        : trace_{trace}, scenario_{scenario}, options_{options}, ledger_{trace, scenario, options},
          leases_(scenario.nodes.size()), group_open_(scenario.groups, rule::group_size),
          group_tasks_(scenario.groups) {
        for (auto& tasks : group_tasks_) { tasks.fill(no_task); }
    }

    auto run(Progress& progress) -> Results {
        join_all();
        while (true) {
            const auto arrival = next_task_ < scenario_.tasks.size()
                                     ? std::optional{scenario_.tasks[next_task_].arrival_ms}
                                     : std::nullopt;
            if (!arrival && ledger_.open() == 0) { break; }
            const auto happening = happenings_.empty() ? std::nullopt : std::optional{happenings_.top().time_ms};
            const auto deadline = next_deadline_ms();
            const auto next = earliest(arrival, happening, deadline);
            sample_until(next);
            now_ms_ = next;
            ledger_.pass(now_ms_);
            // The network's deadlines come first, then the nodes' actions, then new tasks.
            if (deadline && *deadline <= now_ms_) {
                apply([&](const allot::Moment& moment) { return dispatcher_.advance(moment); });
            } else if (happening && *happening <= now_ms_) {
                happen();
            } else {
                submit(next_task_++);
                progress.update(next_task_,
                                fmt::format("{:.1f} h, {} queued", static_cast<double>(now_ms_) / 3'600'000.0,
                                            ledger_.queue_depth()));
            }
        }
        auto& results = ledger_.results();
        results.commands = commands_;
        results.decide_seconds = std::chrono::duration<double>(spent_).count();
        results.memory_peak_mib = memory_peak_mib();
        results.library_version =
            fmt::format("{}.{}.{}", ALLOT_VERSION_MAJOR, ALLOT_VERSION_MINOR, ALLOT_VERSION_PATCH);
        return ledger_.close(now_ms_);
    }

private:
    using Clock = std::chrono::steady_clock;  // for the decisions per second only; no decision depends on it

    static auto earliest(std::optional<std::int64_t> a, std::optional<std::int64_t> b, std::optional<std::int64_t> c)
        -> std::int64_t {
        auto first = std::optional<std::int64_t>{};
        for (const auto& time : {a, b, c}) {
            if (time && (!first || *time < *first)) { first = time; }
        }
        if (!first) { throw std::logic_error{"tasks are open, but nothing is left to happen"}; }
        return *first;
    }

    auto next_deadline_ms() const -> std::optional<std::int64_t> {
        const auto deadline = dispatcher_.next_deadline();
        return deadline ? std::optional{deadline->time_since_epoch().count()} : std::nullopt;
    }

    // ---- commands ---------------------------------------------------------------------------------------------------

    /// Gives one command, and the commands with which owners answer its events.
    template <class Verb>
    void apply(Verb verb) {
        command(verb);
        rank_groups();
    }

    /// Gives one command at this time, with entropy of its own, and handles its events.
    template <class Verb>
    void command(Verb verb) {
        auto moment = allot::Moment{.time = allot::TimePoint{allot::Duration{now_ms_}}};
        while (true) {
            moment.entropy = allot::Entropy{hash(options_.seed, Purpose::entropy, commands_++)};
            const auto began = Clock::now();
            const auto events = verb(moment);
            spent_ += Clock::now() - began;
            obey(events);
            if (events.accepted()) { break; }
            if (events.error() != allot::Error::advance_first) {
                ++ledger_.results().refused;
                break;
            }
            advance_fully(moment);
        }
    }

    /// Advances until everything due is settled; one command may not suffice.
    void advance_fully(allot::Moment moment) {
        for (auto deadline = next_deadline_ms(); deadline && *deadline <= now_ms_; deadline = next_deadline_ms()) {
            moment.entropy = allot::Entropy{hash(options_.seed, Purpose::entropy, commands_++)};
            obey(dispatcher_.advance(moment));
        }
    }

    void join_all() {
        for (std::uint32_t i = 0; i < scenario_.nodes.size(); ++i) {
            const auto& plan = scenario_.nodes[i];
            const auto& card = trace_.models[plan.model];
            auto spec = allot::NodeSpec{.id = plan.id};
            spec.gpu = card.name;
            spec.vram = allot::Gibibytes{card.vram};
            spec.stake = allot::Amount{plan.stake_milli};
            spec.operator_id = allot::OperatorId{plan.operator_id};
            for (const auto software : plan.software) { spec.models.emplace_back(software_name(software)); }
            node_index_.emplace(spec.id, i);
            apply([&](const allot::Moment& moment) { return dispatcher_.join(spec, moment); });
        }
    }

    void submit(std::uint32_t task) {
        const auto& plan = scenario_.tasks[task];
        const auto& row = trace_.tasks[plan.row];
        auto spec = allot::TaskSpec{.id = task};
        spec.vram_min = allot::Gibibytes{plan.vram_min};
        for (const auto model : row.models) {
            spec.gpus.push_back({trace_.models[model].name, allot::Gibibytes{trace_.models[model].vram}});
        }
        spec.models.emplace_back(software_name(plan.software));
        if (plan.adapter != plan.software) { spec.models.emplace_back(software_name(plan.adapter)); }
        spec.fee = allot::Amount{std::int64_t{plan.fee_per_second} * row.run_seconds};
        spec.duration_estimate = std::chrono::seconds{row.run_seconds};
        if (plan.group != 0) {
            spec.group = allot::GroupId{plan.group};
            auto& tasks = group_tasks_[plan.group - 1];
            *std::find(tasks.begin(), tasks.end(), no_task) = task;
        }
        ledger_.submitted(task);
        apply([&](const allot::Moment& moment) { return dispatcher_.submit(spec, moment); });
    }

    void happen() {
        const auto what = happenings_.top();
        happenings_.pop();
        const auto& lease = leases_[what.node];
        const auto holds = lease && lease->token == what.token;
        if (what.kind == Happening::Kind::downloaded) {
            if (ledger_.node(what.node).present) {
                ++ledger_.results().models_downloaded;
                apply([&](const allot::Moment& moment) {
                    return dispatcher_.report_model(scenario_.nodes[what.node].id, allot::command::Report::add,
                                                    {what.model}, moment);
                });
            }
        } else if (holds && what.kind == Happening::Kind::completes) {
            apply([&, held = *lease](const allot::Moment& moment) { return dispatcher_.complete(held, moment); });
        } else if (holds) {
            apply([&, held = *lease](const allot::Moment& moment) {
                return dispatcher_.fail(held, allot::FailCause::execution_error, moment);
            });
        }
    }

    // ---- events -----------------------------------------------------------------------------------------------------

    void obey(const allot::Events& events) {
        namespace event = allot::event;
        events.each([&](const event::NodeJoined& e) { ledger_.joined(node_index_.at(e.node)); },
                    [&](const event::NodeLeft& e) { ledger_.removed(node_index_.at(e.node), false); },
                    [&](const event::NodeKickedOut& e) { ledger_.removed(node_index_.at(e.node), true); },
                    [&](const event::NodeExcluded& e) { ledger_.excluded(node_index_.at(e.node), true); },
                    [&](const event::NodeReadmitted& e) { ledger_.excluded(node_index_.at(e.node), false); },
                    [&](const event::ModelWanted& e) { download(node_index_.at(e.node), std::string{e.model.view()}); },
                    [&](const event::TaskQueued& e) {
                        ledger_.queued(index_of(e.task));
                        expect_wait(e.task);
                    },
                    [&](const event::TaskStarted& e) { start(e.lease); },
                    [&](const event::TaskDone& e) { end(index_of(e.task), End::done); },
                    [&](const event::TaskFailed& e) { end(index_of(e.task), End::failed); },
                    [&](const event::TaskCancelled& e) { end(index_of(e.task), End::cancelled); },
                    [&](const event::TaskEvicted& e) { end(index_of(e.task), End::evicted); },
                    [&](const event::TaskTimedOut& e) {
                        end(index_of(e.task),
                            e.expiry == event::Expiry::queue ? End::timed_out_queued : End::timed_out_running);
                    });
    }

    /// Starts work on a lease, unless the node has vanished, stalls or fails.
    void start(const allot::Lease& lease) {
        const auto task = index_of(lease.task);
        const auto node = node_index_.at(lease.node);
        const auto& plan = scenario_.nodes[node];
        ledger_.started(task, node, now_ms_);
        note_wait(task);
        leases_[node] = lease;

        const auto flaky = plan.kind == Kind::flaky;
        if (flaky && hash(options_.seed, Purpose::run_stalls, task) % 1000 < rule::flaky_stalls_permille) {
            return;  // it never answers; the lease expires
        }
        const auto fails_permille = flaky ? rule::flaky_fails_permille : rule::fails_permille;
        const auto fails = hash(options_.seed, Purpose::run_fails, task) % 1000 < fails_permille;
        const auto noise_milli = 900 + static_cast<std::int64_t>(hash(options_.seed, Purpose::run_noise, task) % 201);
        const auto run_seconds = trace_.tasks[scenario_.tasks[task].row].run_seconds;
        const auto run_ms = run_seconds * 1000 * noise_milli / plan.speed_milli;
        const auto ends_ms = now_ms_ + (fails ? run_ms / 2 : run_ms);
        if (plan.vanishes_at_ms >= 0 && ends_ms >= plan.vanishes_at_ms) {
            return;  // it vanishes before the end
        }
        plan_happening(
            {ends_ms, 0, fails ? Happening::Kind::fails : Happening::Kind::completes, node, lease.token, {}});
    }

    void expect_wait(const allot::TaskId& task) {
        if (!options_.expected_wait || queued_++ % expected_wait_every != 0) { return; }
        const auto* record = dispatcher_.task(task);  // the command that queued it may have ended it, too
        if (record != nullptr && record->state == allot::TaskState::queued) {
            if (const auto wait = allot::expected_wait(dispatcher_, task).value()) {
                expected_.emplace(index_of(task), std::pair{now_ms_, wait->count()});
            }
        }
    }

    void note_wait(std::uint32_t task) {
        if (const auto found = expected_.find(task); found != expected_.end()) {
            const auto [queued_ms, expected_ms] = found->second;
            ledger_.results().expected_waits.push_back({expected_ms, now_ms_ - queued_ms});
            expected_.erase(found);
        }
    }

    void end(std::uint32_t task, End how) {
        ledger_.ended(task, how, now_ms_);
        const auto group = scenario_.tasks[task].group;
        if (group != 0 && --group_open_[group - 1] == 0) { groups_to_rank_.push_back(group - 1); }
    }

    void download(std::uint32_t node, const std::string& model) {
        ++ledger_.results().models_wanted;
        const auto number = ledger_.results().models_wanted;
        const auto takes_ms =
            rule::download_ms_min +
            static_cast<std::int64_t>(hash(options_.seed, Purpose::download_time, number) % rule::download_ms_span);
        const auto vanishes_at_ms = scenario_.nodes[node].vanishes_at_ms;
        if (vanishes_at_ms < 0 || now_ms_ + takes_ms < vanishes_at_ms) {
            plan_happening({now_ms_ + takes_ms, 0, Happening::Kind::downloaded, node, 0, model});
        }
    }

    void plan_happening(Happening happening) {
        happening.sequence = ++happenings_planned_;
        happenings_.push(std::move(happening));
    }

    // ---- validation groups ------------------------------------------------------------------------------------------

    /// Ranks the groups whose members have all ended: 10, 5 and 2 points by speed, 0 for a timeout if another finished.
    void rank_groups() {
        while (!groups_to_rank_.empty()) {
            const auto tasks = group_tasks_[groups_to_rank_.back()];
            groups_to_rank_.pop_back();
            auto finished = std::vector<std::uint32_t>{};
            for (const auto task : tasks) {
                if (ledger_.task(task).end == End::done) { finished.push_back(task); }
            }
            if (finished.empty()) { continue; }
            ++ledger_.results().groups_ranked;
            std::sort(finished.begin(), finished.end(), [&](std::uint32_t a, std::uint32_t b) {
                return std::pair{run_ms(a), a} < std::pair{run_ms(b), b};
            });
            constexpr auto points = std::array<std::uint32_t, rule::group_size>{10, 5, 2};
            for (std::size_t rank = 0; rank < finished.size(); ++rank) { score(finished[rank], points[rank]); }
            for (const auto task : tasks) {
                if (ledger_.task(task).end == End::timed_out_running) { score(task, 0); }
            }
        }
    }

    auto run_ms(std::uint32_t task) const -> std::int64_t {
        return ledger_.task(task).ended_ms - ledger_.task(task).started_ms;
    }

    void score(std::uint32_t task, std::uint32_t points) {
        const auto node = ledger_.task(task).node;
        if (ledger_.node(node).present) {
            command([&](const allot::Moment& moment) {
                return dispatcher_.score(scenario_.nodes[node].id, points, moment);
            });
        }
    }

    // ---- watching ---------------------------------------------------------------------------------------------------

    void sample_until(std::int64_t time_ms) {
        const auto interval_ms = scenario_.arrivals_end_ms / samples_wanted;
        for (; next_sample_ms_ <= time_ms; next_sample_ms_ += interval_ms) { take_sample(next_sample_ms_); }
    }

    void take_sample(std::int64_t time_ms) {
        auto sample = ledger_.sample(time_ms);
        const auto& qos = dispatcher_.qos();
        const auto time = allot::TimePoint{allot::Duration{time_ms}};
        for (std::uint32_t i = 0; i < scenario_.nodes.size(); ++i) {
            if (!ledger_.node(i).present) { continue; }
            const auto& data = dispatcher_.node(scenario_.nodes[i].id)->qos;
            auto& kind = sample.kinds[static_cast<std::size_t>(scenario_.nodes[i].kind)];
            ++kind.nodes;
            kind.health += fraction(qos.health(data, time));
            kind.long_score += fraction(qos.long_term(data)) * qos.points_max();
            kind.score += fraction(qos.score(data, time));
        }
        for (auto& kind : sample.kinds) {
            const auto nodes = kind.nodes == 0 ? 1.0 : static_cast<double>(kind.nodes);
            kind.health /= nodes;
            kind.long_score /= nodes;
            kind.score /= nodes;
        }
        sample.queue_capacity = dispatcher_.queue_capacity();
        if (time_ms <= scenario_.arrivals_end_ms) {
            for (std::size_t kind = 0; kind < kind_count; ++kind) {
                ledger_.results().kinds[kind].score = sample.kinds[kind].score;
            }
        }
        ledger_.results().samples.push_back(sample);
    }

    static auto fraction(allot::Score score) -> double {
        return static_cast<double>(score.raw()) / static_cast<double>(allot::Score::one().raw());
    }

    static constexpr auto no_task = ~std::uint32_t{0};

    const Trace& trace_;
    const Scenario& scenario_;
    const Options& options_;
    Dispatcher dispatcher_{};
    Ledger ledger_;
    std::map<allot::NodeId, std::uint32_t> node_index_{};
    std::vector<std::optional<allot::Lease>> leases_;  ///< By node: its last lease.
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_{};
    std::vector<std::uint32_t> group_open_;  ///< By group: members that have not ended.
    std::vector<std::array<std::uint32_t, rule::group_size>> group_tasks_;
    std::vector<std::uint32_t> groups_to_rank_{};
    /// By task: time of the question, and the answer.
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> expected_{};
    std::uint64_t queued_ = 0;
    std::uint64_t happenings_planned_ = 0;
    std::uint64_t commands_ = 0;
    std::uint32_t next_task_ = 0;
    std::int64_t now_ms_ = 0;
    std::int64_t next_sample_ms_ = 0;
    Clock::duration spent_{};
};

template <class Dispatcher>
auto play(const Trace& trace, const Scenario& scenario, const Options& options, Progress& progress) -> Results {
    return World<Dispatcher>{trace, scenario, options}.run(progress);
}

using Play = auto(*)(const Trace&, const Scenario&, const Options&, Progress&) -> Results;

struct Preset {
    std::string_view name;
    Play play;
};

/// A preset of the library and its name on the command line.
constexpr auto presets = std::array{Preset{"crynux_single", &play<allot::Dispatcher<allot::preset::CrynuxSingle>>}};

}  // namespace

auto preset_names() -> std::vector<std::string> {
    auto names = std::vector<std::string>{};
    for (const auto& preset : presets) { names.emplace_back(preset.name); }
    return names;
}

auto simulate(const Trace& trace, const Scenario& scenario, const Options& options, Progress::Style style) -> Results {
    auto progress = Progress{"simulate", scenario.tasks.size(), style};
    const auto named = [&](const Preset& preset) { return preset.name == options.preset; };
    const auto preset = std::find_if(presets.begin(), presets.end(), named);
    if (preset == presets.end()) { throw std::invalid_argument{"no preset is called " + options.preset}; }
    return preset->play(trace, scenario, options, progress);
}

}  // namespace simulate
