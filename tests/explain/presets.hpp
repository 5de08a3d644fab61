#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/dispatcher/look.hpp>
#include <allot/explain/expected_wait.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/qos_journal.hpp>
#include <allot/explain/task.hpp>
#include <allot/explain/what_if.hpp>
#include <allot/journal/receipt.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

// What explanations say under a preset `P`, held against what the dispatcher then does: nothing here knows how either
// comes to it. The claims are named in presets.ipp. Numbers that only one preset gives stand in the other files of this
// folder.
namespace explained {

using namespace support;
using allot::NodeId;
using allot::Reason;
using allot::TaskId;
using allot::TaskState;

template <class P>
using Under = allot::Dispatcher<P>;

inline constexpr auto dear = std::uint64_t{1'000'000'000};

/// Lease terms without the ones around them.
template <class Terms>
auto fixed(const Terms& terms) {
    if constexpr (requires { terms.parts(); }) {
        return fixed(std::get<0>(terms.parts()));
    } else {
        return terms;
    }
}

/// The preset, so small that the networks of these tests meet its rules.
template <class P>
auto preset([[maybe_unused]] std::uint64_t probation_fee_max = dear) -> P {
    if constexpr (std::is_same_v<P, allot::preset::Hardened>) {
        return P{1'000, probation_fee_max};
    } else if constexpr (std::is_same_v<P, allot::preset::CrynuxRelay2026>) {
        return P{2};  // active nodes of a kind, of ten
    } else {
        return P{};
    }
}

/// Its dispatcher. A node that comes back does not rest first: these claims are of what it takes when it may. No
/// requirement meets its share of the queue: `dispatcher/shares.cpp` has what is said then.
template <class P>
auto under(std::uint64_t probation_fee_max = dear) -> Under<P> {
    auto d = Under<P>{preset<P>(probation_fee_max)};
    if constexpr (std::is_same_v<P, allot::preset::Hardened>) {
        d.configure_each([](auto& policy) {
            allot::detail::each_configured_by<allot::RestParameters>(
                policy, [](auto& rest) { rest.configure({.after_return = 0s}); });
            allot::detail::each_configured_by<allot::QueueShareParameters>(
                policy, [](auto& share) { share.configure({.tasks_per_fitting_node = 1'000}); });
        });
    }
    return d;
}

/// A network in which much waits: half of the commands come without entropy, and now and then an hour passes.
template <class P>
class Busy {
public:
    using D = Under<P>;

    explicit Busy(std::uint64_t run, int steps = 400) : run_{run}, left_{steps}, chaos{support::seed() + run} {}

    /// The next command; false after the last.
    auto step() -> bool {
        auto moment = chaos.moment(d);
        moment.entropy = chaos.below(2) == 0 ? std::nullopt : moment.entropy;
        auto command = chaos.command(d);
        if (auto* submit = std::get_if<command::Submit>(&command)) { submit->task = a_task(); }
        if (auto* join = std::get_if<command::Join>(&command); join != nullptr && d.rules()->class_nodes_min > 1) {
            join->node = of_a_common_name(join->node);
        }
        (void)d.apply(command, moment);
        if (std::holds_alternative<command::Postpone>(
                command)) {  // which settles nothing; the claims are of what is due next
            allot::settle(d, {moment.time, {}, {}}, [](const allot::Events&) {});
        }
        return left_-- > 0;
    }
    auto a_task() -> TaskSpec {
        return with(chaos.a_task(),
                    [](TaskSpec& t) { t.fee = t.fee.units * allot::u128{1'000}; });  // some presets round
    }
    /// Of one of two classes, so that both mostly have nodes enough; updates still make rare ones.
    static auto of_a_common_name(NodeSpec node) -> NodeSpec {
        node.vram = node.gpu == "H100" ? 24_GiB : 16_GiB;
        node.platform.clear();
        node.software = {1, 0, 0};
        return node;
    }
    [[nodiscard]] auto where() const -> std::string {
        return "ALLOT_SEED " + std::to_string(support::seed()) + ", run " + std::to_string(run_) + ", steps left " +
               std::to_string(left_);
    }
    [[nodiscard]] auto lit() -> Moment { return {d.now(), allot::Entropy{chaos.below(~std::uint64_t{0})}}; }
    [[nodiscard]] auto unlit() const -> Moment { return {d.now(), std::nullopt}; }

private:
    std::uint64_t run_;
    int left_;

public:
    support::Chaos<D> chaos;
    D d = under<P>(8'000);
};

template <class D>
auto waiting(const D& d) -> std::vector<TaskId> {
    auto ids = std::vector<TaskId>{};
    d.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
        if (task.state == TaskState::queued) { ids.push_back(task.id); }
    });
    return ids;
}

/// The waiting tasks as explanations place them, the best first. Fails unless each has a place of its own.
template <class D>
auto in_order(const D& d) -> std::vector<TaskId> {
    const auto ids = waiting(d);
    auto order = std::vector<TaskId>(ids.size(), TaskId::null());
    for (const auto& id : ids) { order.at(allot::explain(d, id)->position - 1) = id; }
    CHECK(std::none_of(order.begin(), order.end(), [](const TaskId& id) { return id.is_null(); }));
    return order;
}

template <class D>
auto present(const D& d) -> std::vector<NodeId> {
    auto ids = std::vector<NodeId>{};
    d.state().nodes().for_each([&](allot::NodeHandle, const auto& record) {
        if (record.node.present()) { ids.push_back(record.node.id); }
    });
    return ids;
}

/// What a command starts on a node, tried and taken back.
template <class D>
auto started_on(D& d, const typename D::Command& command, const Moment& moment, const NodeId& node)
    -> std::optional<TaskId> {
    auto session = d.session();
    const auto events = d.apply(command, moment);
    REQUIRE(events.accepted());
    session.rollback();
    for (const auto& start : all<event::TaskStarted>(events)) {
        if (start.lease.node == node) { return start.lease.task; }
    }
    return std::nullopt;
}

/// A distribution's part in what `Odds` says of one node.
template <class D>
auto odds_in(const D& d, const TaskId& task, const NodeId& node) -> allot::Odds {
    const auto all = allot::probabilities(d, task).value();
    auto odds = allot::Odds{{}, all.total, 0, static_cast<std::uint32_t>(all.nodes.size())};
    for (const auto& share : all.nodes) { odds.weight = share.node == node ? share.weight : odds.weight; }
    if (odds.weight > allot::u128{}) {
        odds.rank = 1;
        for (const auto& share : all.nodes) { odds.rank += share.weight > odds.weight ? 1U : 0U; }
    }
    return odds;
}

/// The room in the queue.
template <class D>
void make_room_for(D& d, std::size_t tasks, const Moment& moment) {
    ok(d.configure(allot::ValueQueueParameters{.tasks_per_node = 0, .capacity_min = static_cast<std::uint32_t>(tasks)},
                   2, moment));
}

// ---- what is said of tasks
// ----------------------------------------------------------------------------------------------

/// One question against all that answers it otherwise: the sum, each node alone, the distribution, and the hub's own
/// count.
template <class P>
auto parts_all_nodes(const Under<P>& d, const allot::Question& question) -> std::size_t {
    const auto e = allot::explain(d, question);
    auto rows = std::map<Reason, std::uint32_t>{};
    auto downloads = std::uint32_t{0};
    for (const auto& id : present(d)) {
        const auto reason = allot::why_not(d, question, id).value();
        ++rows[reason];
        const auto n = d.state().nodes().find(id).value();
        const auto knows = [&](allot::ModelId model) {
            const auto held = merged(d.state().holdings(n), d.state().wishes(n));
            return std::any_of(held.begin(), held.end(),
                               [&](const allot::HeldModel& one) { return one.model == model; });
        };
        const auto models = question.task.models();
        const auto lacks = reason == Reason::models_missing || reason == Reason::narrowed_out;
        downloads += lacks && std::all_of(models.begin(), models.end(), knows) ? 1U : 0U;
    }
    auto sum = e.candidates;
    for (const auto& row : e.kept_out) {
        CAPTURE(allot::message(row.reason));
        CHECK(row.count == rows[row.reason]);
        sum += row.count;
    }
    CHECK(e.candidates == rows[Reason::none]);
    CHECK(e.downloads == downloads);
    CHECK(sum == d.state().present());
    CHECK(e.nodes == sum);
    const auto drawn = allot::probabilities(d, question);
    auto total = allot::u128{};
    for (const auto& share : drawn.nodes) {
        CHECK(share.weight > allot::u128{});
        total += share.weight;
    }
    CHECK(drawn.total == total);
    CHECK(drawn.nodes.size() == e.candidates);
    return e.kept_out.size();
}

template <class P>
void every_node_has_one_reason() {
    auto reasons = std::size_t{0};
    auto counted = 0;
    for (auto run = std::uint64_t{0}; run < 4; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            INFO(busy.where());
            const auto& d = busy.d;
            const auto before = d.digest();
            if (const auto spec = allot::question(d, busy.a_task())) { reasons += parts_all_nodes<P>(d, *spec); }
            for (const auto& id : waiting(d)) {
                reasons += parts_all_nodes<P>(d, allot::question(d, id).value());
                auto hub = std::vector<allot::Share>{};
                d.view().each_candidate(*d.task(id), [&](allot::NodeHandle n, allot::Weight weight) {
                    hub.push_back({d.state().nodes()[n].node.id, weight.raw()});
                });
                CHECK(allot::probabilities(d, id).value().nodes == hub);
                counted += hub.empty() ? 0 : 1;
            }
            d.state().nodes().for_each([&](allot::NodeHandle h, const auto& record) {
                for (const auto score : {d.qos_score(record), allot::Score::zero(), allot::Score::one()}) {
                    CHECK(d.view().has_no_weight(h, allot::Task{}, allot::Requirement{}, score) ==
                          d.view().weight_at_score(h, allot::Task{}, allot::Requirement{}, score).is_zero());
                }
            });
            CHECK(d.digest() == before);
        }
    }
    CHECK(reasons > 1'000);
    CHECK(counted > 100);
}

/// A task that asks less in one thing, as a relaxation says.
inline auto asking_less(TaskSpec task, const allot::Relaxation& by) -> TaskSpec {
    using allot::Relaxed;
    switch (by.what) {
        case Relaxed::models: task.models.clear(); break;
        case Relaxed::gpu: task.gpus.clear(); [[fallthrough]];
        case Relaxed::vram: task.vram_min = by.vram; break;
        case Relaxed::platform:
            task.platforms.clear();
            task.platforms_refused.clear();
            break;
        case Relaxed::version: task.software.reset(); break;
    }
    if (by.and_models) { task.models.clear(); }
    return task;
}

template <class P>
void asking_less_gains_what_it_says() {
    auto gained = 0;
    for (auto run = std::uint64_t{10}; run < 14; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            INFO(busy.where());
            const auto spec = with(busy.a_task(), [](TaskSpec& t) {
                t.gang_size = 1;  // a relaxation tells who could be part of a gang
                t.same_card = false;
            });
            const auto e = allot::explain(busy.d, spec);
            for (const auto& relaxation : e ? e->relaxations : std::vector<allot::Relaxation>{}) {
                CAPTURE(static_cast<int>(relaxation.what), relaxation.and_models, relaxation.vram.count);
                CHECK(relaxation.candidates ==
                      allot::explain(busy.d, asking_less(spec, relaxation)).value().candidates);
                gained += relaxation.freed > 0 ? 1 : 0;
            }
        }
    }
    CHECK(gained > 50);
}

template <class P>
void the_queue_goes_from_its_end() {
    auto gone = std::size_t{0};
    auto aged = 0;
    for (auto run = std::uint64_t{20}; run < 26; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            if (d.queued() < 2) { continue; }
            INFO(busy.where());
            auto order = in_order(d);
            const auto front = *d.task(order.front());
            aged += std::any_of(order.begin(), order.end(),
                                [&](const TaskId& id) { return d.task(id)->value > front.value; })
                        ? 1
                        : 0;
            auto session = d.session();
            make_room_for(d, order.size(), busy.unlit());  // none is over, and the next one will be
            for (const auto& id : order) {
                const auto e = allot::explain(d, id).value();
                CHECK((!e.survives_above || e.value > *e.survives_above) == (id != order.back()));
            }
            const auto left = 1 + busy.chaos.below(order.size() - 1);
            const auto events = d.configure(
                allot::ValueQueueParameters{.tasks_per_node = 0, .capacity_min = static_cast<std::uint32_t>(left)}, 3,
                busy.unlit());
            session.rollback();
            auto expected = std::vector<std::string>{};
            for (; order.size() > left && expected.size() < d.rules()->evictions_max; order.pop_back()) {
                expected.push_back(order.back().text());
            }
            CHECK(evicted(events) == expected);
            gone += expected.size();
        }
    }
    CHECK(gone > 500);
    CHECK((aged > 0) == std::is_same_v<P, allot::preset::Hardened>);  // who waited goes before who is worth more
}

template <class P>
void a_newcomer_stays_as_it_was_told() {
    auto stayed = 0;
    auto went = 0;
    for (auto run = std::uint64_t{30}; run < 36; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            auto spec = busy.a_task();
            if (d.queued() == 0 || d.check(command::Submit{spec})) { continue; }
            INFO(busy.where());
            CHECK_FALSE(allot::explain(d, spec)->survives_above);  // there is room
            auto session = d.session();
            const auto last = in_order(d).back().text();
            make_room_for(d, d.queued(), busy.unlit());
            const auto stays = [&](std::uint64_t fee) {
                spec.fee = fee;
                const auto e = allot::explain(d, spec).value();
                return !e.survives_above || e.value > *e.survives_above;
            };
            auto least = std::uint64_t{0};  // the least fee that is told to be enough
            for (auto bit = std::uint64_t{1} << 50U; bit > 0; bit /= 2) { least += stays(least + bit - 1) ? 0 : bit; }
            for (const auto fee :
                 {least, least > 0 ? least - 1 : 0, least + 1 + busy.chaos.below(9), busy.chaos.below(1 + 2 * least)}) {
                const auto told = stays(fee);
                CHECK(told == (fee >= least));
                auto trial = d.session();
                CHECK(evicted(d.submit(spec, busy.unlit())) == std::vector{told ? last : spec.id.text()});
                trial.rollback();
                ++(told ? stayed : went);
            }
            session.rollback();
        }
    }
    CHECK(stayed > 300);
    CHECK(went > 100);
}

template <class P>
void a_question_that_cannot_be_asked_says_why() {
    auto d = under<P>();
    const auto later = at(1h);
    join_plain(d, 3, later);
    CHECK(allot::explain(d, TaskId{1}).error() == Error::task_unknown);
    CHECK(allot::expected_wait(d, TaskId{1}).error() == Error::task_unknown);
    CHECK(allot::probabilities(d, TaskId{1}).error() == Error::task_unknown);
    const auto lease = leased(d.submit(plain_task(1), later));
    CHECK(allot::explain(d, TaskId{1})->state == TaskState::running);
    ok(d.complete(lease, at(1h + 30s)));
    CHECK(allot::explain(d, TaskId{1}).error() == Error::task_ended);
    CHECK(allot::expected_wait(d, TaskId{1}).error() == Error::task_ended);
    CHECK(allot::explain(d, plain_task(1)).error() == Error::task_duplicate);
    CHECK(allot::explain(d, with(plain_task(2), [](TaskSpec& t) { t.vram_min = {}; })).error() == Error::vram_zero);
    CHECK(allot::why_not(d, allot::question(d, plain_task(2)).value(), "nobody").error() == Error::node_unknown);
    CHECK(allot::explain(d, NodeId{9}).error() == Error::node_unknown);
}

// ---- what is said of draws
// ----------------------------------------------------------------------------------------------

template <class P>
void draws_fall_on_those_named() {
    auto drawn = 0;
    auto none = 0;
    auto matched = 0;
    for (auto run = std::uint64_t{40}; run < 46; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            INFO(busy.where());
            const auto among = [](const allot::Distribution& told, const NodeId& node) {
                return std::any_of(told.nodes.begin(), told.nodes.end(),
                                   [&](const allot::Share& share) { return share.node == node; });
            };
            const auto spec = busy.a_task();
            if (const auto told = allot::probabilities(d, spec)) {
                for (auto i = 0; i < 4; ++i) {  // a start for sure where anybody has a share, on one of them
                    auto session = d.session();
                    const auto events = d.submit(spec, busy.lit());
                    session.rollback();
                    const auto* start = events.template get<event::TaskStarted>();
                    CHECK((start != nullptr) == !told->nodes.empty());
                    if (start != nullptr) { CHECK(among(*told, start->lease.node)); }
                    ++(start != nullptr ? drawn : none);
                }
            }
            auto first = std::optional<TaskId>{};  // whom a match begins with
            for (const auto& id : in_order(d)) { first = !first && allot::explain(d, id)->candidates > 0 ? id : first; }
            auto session = d.session();
            const auto events = d.match(busy.lit());
            session.rollback();
            const auto* start = events.template get<event::TaskStarted>();
            REQUIRE((start != nullptr) == first.has_value());
            if (first) {
                CHECK(start->lease.task == *first);
                CHECK(among(allot::probabilities(d, *first).value(), start->lease.node));
                ++matched;
            }
        }
    }
    CHECK(drawn > 300);
    CHECK(none > 300);
    CHECK(matched > 100);
}

template <class P>
void draws_fall_as_often_as_said() {
    auto random = std::mt19937_64{support::seed()};
    auto d = under<P>();
    auto rules = d.rules().parameters();
    rules.draw_among = 1;  // else the shares are those of the first of some lots
    ok(d.configure(rules, 2, dark(0s)));
    for (auto id = 1; id <= 12; ++id) {
        ok(d.join(with(plain_node(id),
                       [&](NodeSpec& n) {
                           n.stake = id == 5 ? 0 : 200 + random() % 800;
                           n.models = id % 3 == 0 ? std::vector<std::string>{"A"} : std::vector<std::string>{"A", "B"};
                       }),
                  dark(1h)));
        ok(d.score(id, static_cast<std::uint32_t>(4 + random() % 7), dark(1h)));
        if (id % 4 == 0) { ok(d.observe(id, allot::OutcomeKind::timeout, dark(1h))); }
    }
    for (const auto& models : {std::vector<std::string>{}, std::vector<std::string>{"A", "B"}}) {
        const auto task = with(plain_task(1), [&](TaskSpec& t) { t.models = models; });
        const auto told = allot::probabilities(d, task).value();
        auto found = std::map<NodeId, double>{};
        constexpr auto draws = 4'000;
        for (auto i = 0; i < draws; ++i) {
            auto session = d.session();
            found[leased(d.submit(task, at(1h, allot::Entropy{random()}))).node] += 1;
            session.rollback();
        }
        const auto number = [](allot::u128 weight) { return double(weight.high()) * 0x1p64 + double(weight.low()); };
        auto chi_square = 0.0;
        auto seen = 0.0;
        for (const auto& [node, weight] : told.nodes) {
            const auto mean = draws * number(weight) / number(told.total);
            chi_square += (found[node] - mean) * (found[node] - mean) / mean;
            seen += found[node];
        }
        INFO("ALLOT_SEED " << support::seed());
        CAPTURE(told.nodes.size(), chi_square);
        CHECK(seen == draws);
        REQUIRE(told.nodes.size() >= 7);
        CHECK(chi_square < 51.0);  // below p = 1e-6 with up to 11 degrees of freedom
    }
}

template <class P>
void receipts_state_the_same_distribution() {
    using D = Under<P>;
    auto drawn = 0;
    for (auto run = std::uint64_t{50}; run < 54; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            const auto spec = busy.a_task();
            const auto told = allot::probabilities(d, spec);
            if (!told || told->nodes.empty()) { continue; }
            INFO(busy.where());
            auto receipts = allot::Receipts<D>{0};
            auto events = Events{};
            auto session = d.session();
            d.apply(command::Submit{spec}, busy.lit(), events, receipts.trace());
            session.rollback();
            REQUIRE_FALSE(receipts.all().empty());
            const auto& receipt = receipts.all().front();
            REQUIRE(receipt.kind == allot::DecisionKind::draw);
            CHECK(receipt.candidates == told->nodes.size());
            CHECK(receipt.weight_total == told->total);
            const auto share = std::find_if(told->nodes.begin(), told->nodes.end(),
                                            [&](const allot::Share& one) { return one.node == receipt.node; });
            REQUIRE(share != told->nodes.end());
            CHECK(receipt.weight == share->weight);
            ++drawn;
        }
    }
    CHECK(drawn > 50);
}

// ---- what is said of nodes
// ----------------------------------------------------------------------------------------------

template <class P>
void a_node_takes_what_it_was_told() {
    auto free = 0;
    auto freed = 0;
    auto nothing = 0;
    auto gangs = 0;
    auto not_the_dearest = 0;
    for (auto run = std::uint64_t{60}; run < 72; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            for (const auto& id : present(d)) {
                const auto node = d.node(id)->node;
                if (node.excluded || d.queued() == 0) {
                    continue;  // it comes back at a later time, when other scores hold
                }
                INFO(busy.where() << ", node " << id.text());
                const auto told = allot::explain(d, id, 0)->next;
                auto session = d.session();
                if (node.state == NodeState::busy) {
                    // Its task is cancelled. Of a gang all are freed, and some trackers count it.
                    const auto lease = d.state().leases()[node.lease];
                    const auto task = d.state().tasks()[lease.task].id;
                    const auto score = d.qos_score(*d.node(id));
                    auto trial = d.session();
                    ok(d.cancel(task, busy.unlit()));
                    const auto alike = lease.of == 1 && d.qos_score(*d.node(id)) == score;
                    trial.rollback();
                    if (!alike) { continue; }
                    CHECK(started_on(d, command::Cancel{task}, busy.lit(), id) == told);
                    ++freed;
                } else if (node.state == NodeState::available || node.state == NodeState::paused) {
                    if (node.state == NodeState::available) { ok(d.pause(id, busy.unlit())); }
                    if (!d.state().fits().open(node.node_class)) {
                        continue;  // too few of its kind, of whom some come before it when it makes them enough
                    }
                    CHECK(started_on(d, command::Resume{id}, busy.lit(), id) == told);
                    ++free;
                }
                nothing += told ? 0 : 1;
                gangs += told && d.state().fits().value(d.task(*told)->requirement).gang_size > 1 ? 1 : 0;
                if (told) {
                    auto dearest = allot::Value{};
                    d.view().each_runnable(
                        d.state().nodes().find(id).value(),
                        [&](allot::TaskHandle, const allot::Task& task) { dearest = std::max(dearest, task.value); });
                    not_the_dearest += d.task(*told)->value < dearest ? 1 : 0;
                }
            }
        }
    }
    CHECK(free > 500);
    CHECK(
        (freed > 100 || std::is_same_v<P, allot::preset::CrynuxContracts2>));  // there a task withdrawn counts in full
    CHECK(nothing > 200);
    CHECK(gangs > 20);
    CHECK((not_the_dearest > 20) == std::is_same_v<P, allot::preset::Hardened>);  // there who waited goes first
}

template <class P>
void a_node_is_told_of_every_waiting_task() {
    auto told = 0;
    auto better = 0;
    for (auto run = std::uint64_t{80}; run < 83; ++run) {
        for (auto busy = Busy<P>{run, 200}; busy.step();) {
            auto& d = busy.d;
            const auto root = allot::state_root(d);
            for (const auto& id : present(d)) {
                INFO(busy.where() << ", node " << id.text());
                const auto e = allot::explain(d, id).value();
                auto sum = e.runnable;
                for (const auto& row : e.tasks) { sum += row.count; }
                CHECK(sum == d.queued());
                CHECK(e.queued == sum);
                auto runnable = std::uint32_t{0};
                d.view().each_runnable(d.state().nodes().find(id).value(), [&](auto&&...) { ++runnable; });
                CHECK(e.runnable == runnable);
                CHECK(e.next.has_value() ==
                      (e.runnable > 0 && e.obstacle != Reason::pending));  // that one will be gone or paused
                auto place = std::uint32_t{0};
                for (const auto& group : e.groups) {
                    const auto position = allot::explain(d, group.task)->position;
                    CHECK(position > place);  // the group of the best task comes first
                    place = position;
                    if (e.obstacle == Reason::none) { CHECK(group.now == odds_in(d, group.task, id)); }
                }
                if (e.obstacle != Reason::none || e.groups.empty()) { continue; }
                ++told;
                // Each change, made for good, leads to the very odds that were told.
                const auto drawn = std::find_if(e.groups.begin(), e.groups.end(),
                                                [](const auto& one) { return one.now.weight > allot::u128{}; });
                const auto& group = drawn != e.groups.end() ? *drawn : e.groups.front();
                const auto leads_to = [&](const typename Under<P>::Command& change,
                                          const std::optional<allot::Odds>& odds) {
                    if (odds) {
                        auto session = d.session();
                        ok(d.apply(change, busy.unlit()));
                        CHECK(*odds == odds_in(d, group.task, id));
                        better += odds->weight > group.now.weight ? 1 : 0;
                        session.rollback();
                    }
                };
                auto richer = allot::NodeUpdate{.id = id};
                richer.stake = d.node(id)->node.stake.units * allot::u128{2};
                leads_to(command::Update{richer}, group.stake_doubled);
                if (group.next_vram) {
                    auto larger = allot::NodeUpdate{.id = id};
                    larger.vram = *e.next_vram;
                    leads_to(command::Update{larger}, group.next_vram);
                }
                leads_to(command::ReportModel{id, command::Report::add, {group.model}}, group.one_more_model);
            }
            CHECK(allot::state_root(d) == root);
        }
    }
    CHECK(told > 100);
    CHECK(better > 5);
}

template <class P>
void a_node_that_takes_nothing_is_told_why() {
    auto d = under<P>();
    const auto obstacle = [&] { return allot::explain(d, NodeId{1}).value().obstacle; };
    ok(d.join(plain_node(1), dark(1h)));
    CHECK(obstacle() == (d.rules()->class_nodes_min > 1 ? Reason::name_policy : Reason::none));
    ok(d.join(plain_node(2), dark(1h)));
    ok(d.join(plain_node(3), dark(1h)));
    ok(d.pause(3, dark(1h)));
    ok(d.join(plain_node(4), dark(1h)));
    ok(d.pause(4, dark(1h)));
    CHECK(obstacle() == Reason::none);
    ok(d.submit(plain_task(1), at(2h)));
    const auto lease = leased(d.submit(plain_task(2), at(2h)));
    CHECK(obstacle() == Reason::busy);
    const auto lease_of_1 = d.state().leases()[d.node(1)->node.lease];
    CHECK(allot::explain(d, NodeId{1})->free_by == lease_of_1.deadline);
    ok(d.submit(plain_task(3), at(2h)));
    auto e = allot::explain(d, TaskId{3}).value();
    CHECK(e.candidates == 0);
    CHECK_FALSE(e.next.on_match);
    CHECK(e.next.on_resume);
    CHECK(e.next.on_lease_end == std::min(lease.deadline, lease_of_1.deadline));
    CHECK(e.next.expires == TimePoint{8h});
    CHECK(where(d.resume(3, at(2h))) == "3");  // as it said
    ok(d.pause(1, dark(2h)));
    CHECK(obstacle() == Reason::pending);
    ok(d.cancel(d.state().tasks()[lease_of_1.task].id, dark(2h)));
    CHECK(obstacle() == Reason::paused);
    ok(d.resume(1, dark(3h)));
    for (auto i = 0; i < 6 && !d.node(1)->node.excluded && d.node(1)->node.present(); ++i) {
        ok(d.observe(1, allot::OutcomeKind::timeout, dark(3h)));
    }
    if (d.node(1)->node.excluded) {  // the trackers of the contracts and of three nodes exclude nobody
        CHECK(obstacle() == Reason::excluded);
        const auto back = allot::explain(d, NodeId{1})->back_at;
        REQUIRE(back);
        ok(d.submit(plain_task(4), dark(3h)));
        CHECK(allot::explain(d, TaskId{4})->next.on_readmission == back);
        CHECK(d.advance({*back, 1}).template get<event::NodeReadmitted>() != nullptr);
        CHECK(obstacle() == (d.node(1)->node.leased() ? Reason::busy : Reason::none));
    }
}

// ---- how long it takes
// --------------------------------------------------------------------------------------------------

/// Lets each running task end when its estimate says, until nobody runs; tells when each task started.
template <class D>
auto play_out(D& d) -> std::map<TaskId, TimePoint> {
    auto starts = std::map<TaskId, TimePoint>{};
    for (;;) {
        auto next = std::optional<std::pair<TimePoint, Lease>>{};
        d.state().leases().for_each([&](allot::LeaseHandle, const allot::LeaseRecord& record) {
            const auto& task = d.state().tasks()[record.task];
            const auto end = record.started_at + task.duration_estimate;
            const auto& node =
                d.state().nodes()[record.node].node;  // at one time in the order of the records, here of the ids
            if (!next || std::pair{end, node.id} < std::pair{next->first, next->second.node}) {
                next = {end, {task.id, node.id, record.token, 0, 1, record.deadline}};
            }
        });
        if (!next) { return starts; }
        const auto events = d.complete(next->second, {next->first, 7});
        ok(events);
        for (const auto& start : all<event::TaskStarted>(events)) { starts.emplace(start.lease.task, next->first); }
    }
}

/// True of tasks for one node which only the classes of nodes tell apart: a gang's wait is told too short, and who is
/// avoided or lacks a model is looked at for the task in question alone.
template <class P>
void each_task_starts_when_it_was_said_to() {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::uint64_t n) { return random() % n; };
    auto compared = 0;
    for (auto run = 0; run < 30; ++run) {
        auto d = under<P>();
        auto terms = fixed(d.view().terms).parameters();
        terms.length_min = terms.length_max = 2h;
        ok(d.configure(terms, 2, dark(0s)));
        const auto random_task = [&](std::uint64_t id, std::uint64_t seconds, std::uint64_t worth) {
            return with(plain_task(id), [&](TaskSpec& t) {
                t.vram_min = {static_cast<std::uint32_t>(8 + 8 * below(2))};
                t.gpus = below(3) == 0 ? std::vector<allot::GpuChoice>{{"H100", {}}} : t.gpus;
                t.duration_estimate = std::chrono::seconds{seconds};
                t.fee = seconds * worth * 1'000;
            });
        };
        const auto nodes = 4 + below(6);
        for (auto id = std::uint64_t{1}; id <= nodes; ++id) {
            ok(d.join(with(plain_node(id),
                           [&](NodeSpec& n) {
                               n.vram = {static_cast<std::uint32_t>(8 + 8 * below(2))};
                               n.gpu = below(2) == 0 ? "H100" : "RTX 4090";
                           }),
                      dark(0s)));
        }
        for (auto id = std::uint64_t{1}; id <= nodes; ++id) {
            (void)d.submit(with(random_task(1'000 + id, 3'500 + below(90), 1),
                                [&](TaskSpec& t) {
                                    t.vram_min = 8_GiB;
                                    t.gpus.clear();
                                    t.fee = std::uint64_t{3'600};  // worth less than any by every valuation: such
                                                                   // newcomers would lengthen what is said
                                }),
                           at(0s));
        }
        for (const auto& id : waiting(d)) {  // as many as can run do
            ok(d.cancel(id, dark(0s)));
        }
        auto time = Duration{0};
        for (auto id = std::uint64_t{1}; id <= 20; ++id) {  // for three quarters of an hour; worth nearly the same
            time += std::chrono::seconds{below(280)};
            (void)d.submit(random_task(id, 1 + below(100), 20 + below(8)), at(std::min<Duration>(time, 3'400s)));
        }
        auto said = std::map<TaskId, TimePoint>{};
        auto unplaced = std::vector<TaskId>{};
        for (const auto& id : waiting(d)) {
            if (const auto wait = allot::expected_wait(d, id).value()) {
                said.emplace(id, d.now() + *wait);
            } else {
                unplaced.push_back(id);
            }
        }
        INFO("ALLOT_SEED " << support::seed() << ", run " << run);
        CHECK(play_out(d) == said);
        for (const auto& id : unplaced) { CHECK(is_queued(d, id)); }
        compared += static_cast<int>(said.size());
    }
    CHECK(compared > 100);
}

template <class P>
void a_wait_is_never_negative_and_value_helps() {
    auto zero = 0;
    auto shorter = 0;
    auto none = 0;
    for (auto run = std::uint64_t{90}; run < 102; ++run) {
        for (auto busy = Busy<P>{run}; busy.step();) {
            auto& d = busy.d;
            auto spec = busy.a_task();
            if (d.check(command::Submit{spec})) { continue; }
            INFO(busy.where());
            const auto before = d.digest();
            const auto e = allot::explain(d, spec).value();
            const auto wait = allot::expected_wait(d, spec).value();
            spec.fee = spec.fee.units + allot::u128{1'000 + busy.chaos.below(9'000)};
            const auto wait_for_more = allot::expected_wait(d, spec).value();
            CHECK(d.digest() == before);
            none += wait ? 0 : 1;
            if (wait) { CHECK(*wait >= 0s); }
            if (!std::is_same_v<P, allot::preset::Hardened>) {  // there nodes on probation are not given what pays more
                CHECK(wait.has_value() == wait_for_more.has_value());
                CHECK((!wait || *wait_for_more <= *wait));
                shorter += wait && *wait_for_more < *wait ? 1 : 0;
            }
            if (e.position == 1 && e.candidates > 0) {
                CHECK(wait == std::optional<Duration>{0s});
                ++zero;
            }
        }
    }
    CHECK(zero > 10);
    CHECK((shorter > 20 || std::is_same_v<P, allot::preset::Hardened>));
    CHECK(none > 20);
}

// ---- what is counted, journalled and tried
// ------------------------------------------------------------------------------

template <class P>
void what_is_tried_leaves_no_trace() {
    using Command = typename Under<P>::Command;
    for (auto busy = Busy<P>{110, 200}; busy.step();) {
        auto& d = busy.d;
        auto commands = std::vector<Command>{};
        for (auto i = busy.chaos.below(8); i > 0; --i) { commands.push_back(busy.chaos.command(d)); }
        const auto moment = busy.chaos.moment(d);
        const auto root = allot::state_root(d);
        INFO(busy.where());
        auto looked = allot::Hash256{};
        const auto tried =
            allot::what_if(d, commands, moment, [&](const Under<P>& then) { looked = allot::state_root(then); });
        REQUIRE(allot::state_root(d) == root);
        auto events = Events{};
        auto session = d.session();
        d.apply(commands, moment, events);
        CHECK(looked == allot::state_root(d));
        CHECK(events.size() == tried.events.size());
        CHECK(tried.queued == d.queued());
        CHECK(tried.nodes == d.state().present());
        CHECK(tried.refused == count<event::Refused>(events));
        for (const auto& fate : tried.fates) {
            const auto* task = d.task(fate.task);
            CHECK((task != nullptr && task->state == TaskState::queued) == (fate.kind == allot::FateKind::queued));
            CHECK((task != nullptr && task->state == TaskState::running) == (fate.kind == allot::FateKind::running));
        }
        session.rollback();
    }
}

template <class P>
void figures_and_journal_agree_with_the_network() {
    using D = Under<P>;
    auto d = D{preset<P>(8'000)};
    auto chaos = support::Chaos<D>{support::seed() + 120};
    auto recorder = allot::MetricsRecorder{};
    auto journal = allot::QoSJournal<D>{d};
    for (auto step = 0; step < 800; ++step) {
        INFO("ALLOT_SEED " << support::seed() << ", step " << step);
        const auto moment = chaos.moment(d);
        auto events = Events{};
        d.apply(chaos.command(d), moment, events, recorder.trace<D>());
        recorder.hear(d, events);
        journal.hear(d, events);
        REQUIRE(journal.missed() == 0);
        const auto m = recorder.metrics(d);
        auto waits = std::uint32_t{0};
        for (const auto& group : m.queued_by_group) { waits += group.second; }
        CHECK(waits == d.queued());
        CHECK(m.queued == d.queued());
        CHECK(m.queue_capacity == d.queue_capacity());
        auto nodes = std::uint32_t{0};
        for (const auto of_state : m.nodes) { nodes += of_state; }
        CHECK(nodes == d.state().present());
        CHECK(m.template count<event::TaskStarted>() == m.choices[1] + m.choices[2]);
        CHECK(m.template count<event::TaskEvicted>() == m.choices[3]);
        CHECK(m.jain.num <= m.jain.den);
        CHECK(m.top_1.num <= m.top_1.den);
    }
}

}  // namespace explained
