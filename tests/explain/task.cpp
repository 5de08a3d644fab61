#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <allot/explain/task.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// An explanation is believed when a count that knows nothing of it comes to the same: below stand the rules once more,
// over what the records say, without a word of the library's own about eligibility, narrowing, weights or order.

namespace {

using namespace support;
using allot::Narrowing;
using allot::Reason;
using allot::Relaxed;
using D = allot::Dispatcher<allot::Rules>;

struct Asked {
    std::uint32_t vram = 0;
    std::vector<allot::GpuChoice> gpus{};
    std::vector<std::string> platforms{};
    std::optional<allot::SoftwareVersion> software{};
    std::vector<std::string> models{};
    std::vector<std::string> avoided{};
    std::optional<allot::GroupId> group{};
    std::uint32_t gang = 1;
    bool same_card = false;
    std::vector<std::string> platforms_refused{};
};

auto class_reason(const allot::NodeClass& c, const Asked& asked) -> Reason {
    if (asked.gpus.empty()) {
        if (c.vram.count < asked.vram) { return Reason::vram_too_small; }
    } else {
        auto matches = 0;
        for (const auto& gpu : asked.gpus) {
            matches +=
                gpu.name == c.gpu && (gpu.vram.count == 0 ? c.vram.count >= asked.vram : gpu.vram == c.vram) ? 1 : 0;
        }
        if (matches == 0) { return Reason::gpu_differs; }
    }
    if (!asked.platforms.empty() && std::count(asked.platforms.begin(), asked.platforms.end(), c.platform) == 0) {
        return Reason::platform_refused;
    }
    if (std::count(asked.platforms_refused.begin(), asked.platforms_refused.end(), c.platform) > 0) {
        return Reason::platform_refused;
    }
    if (asked.software) {
        const auto& need = *asked.software;
        const auto& has = c.software;
        const auto newer = std::pair{has.minor, has.patch} >= std::pair{need.minor, need.patch};
        if (has.major != need.major || !newer) { return Reason::version_too_old; }
    }
    return Reason::none;
}

struct Brute {
    std::map<Reason, std::uint32_t> counts{};
    std::set<std::string> candidates{};
    std::map<std::string, Reason> by_node{};
    std::uint32_t downloads = 0;
};

auto brute(const D& d, const Asked& asked) -> Brute {
    const auto& state = d.state();
    auto result = Brute{};
    struct Able {
        std::string name;
        std::pair<std::string, std::uint32_t> card;
        allot::OperatorId operator_id;
        bool has_models;
        bool coming;  // all the models that it lacks
    };
    auto able = std::vector<Able>{};
    const auto narrowing = d.rules()->narrowing;
    const auto alike = [&](allot::ClassId node_class) {
        auto count = std::uint32_t{0};
        state.nodes().for_each([&](allot::NodeHandle, const auto& record) {
            const auto takes_part = record.node.present() && record.node.state != NodeState::paused;
            count += takes_part && record.node.node_class == node_class ? 1U : 0U;
        });
        return count;
    };
    state.nodes().for_each([&](allot::NodeHandle, const auto& record) {
        const auto& node = record.node;
        if (node.state == NodeState::left) { return; }
        const auto name = node.id.text();
        auto reason = Reason::none;
        auto member = false;
        if (asked.group) {
            state.groups().for_each([&](allot::GroupHandle, const allot::GroupRecord& group) {
                for (const auto& one : group.members) {
                    member = member || (group.id == *asked.group &&
                                        (one.node == node.id || one.operator_id == node.operator_id()));
                }
            });
        }
        const auto fits = class_reason(state.fits().value(node.node_class), asked);
        if (node.state == NodeState::paused) {
            reason = Reason::paused;
        } else if (node.state == NodeState::pending_leave || node.state == NodeState::pending_pause) {
            reason = Reason::pending;
        } else if (node.state == NodeState::busy) {
            reason = Reason::busy;
        } else if (fits != Reason::none) {
            reason = fits;
        } else if (alike(node.node_class) < d.rules()->class_nodes_min) {
            reason = Reason::name_policy;
        } else if (node.excluded) {
            reason = Reason::excluded;
        } else if (node.stake.units == allot::u128{0} || d.qos_score(record).raw() == 0) {
            reason = Reason::zero_weight;
        } else if (std::count(asked.avoided.begin(), asked.avoided.end(), name) > 0) {
            reason = Reason::avoided;
        } else if (member) {
            reason = Reason::same_operator;
        } else {
            auto has = std::size_t{0};
            auto coming = std::size_t{0};
            for (const auto& model : asked.models) {
                const auto held = holding(d, node.id, model);
                has += held && *held != allot::Holding::wanted ? 1U : 0U;
                coming += held && *held == allot::Holding::wanted ? 1U : 0U;
            }
            const auto enough = narrowing == Narrowing::none  ? true
                                : narrowing == Narrowing::any ? has > 0 || asked.models.empty()
                                                              : has == asked.models.size();
            const auto& c = state.fits().value(node.node_class);
            able.push_back(
                {name, {c.gpu, c.vram.count}, node.operator_id(), enough, has + coming == asked.models.size()});
            return;
        }
        ++result.counts[reason];
        result.by_node[name] = reason;
    });
    // Who has not enough others for the gang: of its card, if one card is asked for; each operator once, in a
    // validation group.
    auto together = std::map<std::pair<std::string, std::uint32_t>, std::set<std::string>>{};
    const auto card_of = [&](const Able& one) { return asked.same_card ? one.card : std::pair{std::string{}, 0U}; };
    for (const auto& one : able) {
        if (one.has_models || narrowing != Narrowing::gate) {
            together[card_of(one)].insert(asked.group ? "operator " + one.operator_id.text() : one.name);
        }
    }
    auto others = std::vector<std::pair<std::string, bool>>{};
    for (const auto& one : able) {
        const auto alone = together[card_of(one)].size() < asked.gang;
        if (alone && (one.has_models || narrowing != Narrowing::gate)) {
            ++result.counts[Reason::gang_short];
            result.by_node[one.name] = Reason::gang_short;
        } else if (one.has_models) {
            ++result.counts[Reason::none];
            result.by_node[one.name] = Reason::none;
            result.candidates.insert(one.name);
        } else {
            others.emplace_back(one.name, one.coming);
        }
    }
    const auto left = narrowing == Narrowing::gate ? Reason::models_missing
                      : result.candidates.empty()  ? Reason::none
                                                   : Reason::narrowed_out;
    for (const auto& [name, coming] : others) {
        ++result.counts[left];
        result.by_node[name] = left;
        result.downloads += left != Reason::none && coming ? 1U : 0U;
        if (left == Reason::none) { result.candidates.insert(name); }
    }
    return result;
}

/// What a task of the network asks, read off its record.
auto asked_by(const D& d, const allot::Task& task) -> Asked {
    const auto& requirement = d.state().fits().value(task.requirement);
    auto asked =
        Asked{requirement.vram_min.count, requirement.gpus, requirement.platforms, requirement.software, {}, {}, {}};
    for (const auto model : task.models()) { asked.models.push_back(d.state().models().name(model)); }
    for (const auto& node : task.avoided()) { asked.avoided.push_back(node.text()); }
    asked.platforms_refused = requirement.platforms_refused;
    if (task.group != allot::no_handle<allot::GroupHandle>) { asked.group = d.state().groups()[task.group].id; }
    asked.gang = requirement.gang_size;
    asked.same_card = requirement.same_card;
    return asked;
}

auto freed(const Brute& then, const Brute& now) -> std::uint32_t {
    return static_cast<std::uint32_t>(std::count_if(then.candidates.begin(), then.candidates.end(),
                                                    [&](const auto& id) { return !now.candidates.contains(id); }));
}

void check_against_brute(const D& d, const allot::TaskExplanation& e, const Asked& asked) {
    const auto now = brute(d, asked);
    auto sum = e.candidates;
    for (const auto& row : e.kept_out) {
        CAPTURE(static_cast<int>(row.reason));
        CHECK(row.count > 0);
        CHECK(row.count == now.counts.at(row.reason));
        sum += row.count;
    }
    CHECK(std::is_sorted(e.kept_out.begin(), e.kept_out.end(), [](auto& a, auto& b) { return a.reason < b.reason; }));
    CHECK(sum == d.state().present());
    CHECK(e.nodes == d.state().present());
    CHECK(e.candidates == now.candidates.size());
    CHECK(e.downloads == now.downloads);
    CHECK(e.next.on_match == (e.candidates > 0));
    for (const auto& relaxation : e.relaxations) {
        auto milder = asked;
        auto and_models = relaxation.and_models;
        switch (relaxation.what) {
            case Relaxed::models: and_models = true; break;
            case Relaxed::vram: milder.vram = relaxation.vram.count; break;
            case Relaxed::gpu:
                milder.gpus.clear();
                milder.vram = relaxation.vram.count;
                break;
            case Relaxed::platform:
                milder.platforms.clear();
                milder.platforms_refused.clear();
                break;
            case Relaxed::version: milder.software.reset(); break;
        }
        if (and_models) { milder.models.clear(); }
        milder.gang = 1;  // a relaxation tells who could be part of a gang
        const auto then = brute(d, milder);
        CAPTURE(static_cast<int>(relaxation.what), relaxation.vram.count, relaxation.and_models);
        CHECK(relaxation.candidates == then.candidates.size());
        CHECK(relaxation.freed == freed(then, now));
    }
}

auto relaxed(const allot::TaskExplanation& e, Relaxed what) -> std::vector<std::pair<std::uint32_t, std::uint32_t>> {
    auto found = std::vector<std::pair<std::uint32_t, std::uint32_t>>{};
    for (const auto& one : e.relaxations) {
        if (one.what == what && !one.and_models) { found.emplace_back(one.vram.count, one.freed); }
    }
    return found;
}

}  // namespace

TEST_CASE("an explanation parts all nodes by the first reason that keeps each out") {
    auto seen = std::map<Reason, int>{};
    auto queued = 0;
    for (auto run = std::uint64_t{0}; run < 12; ++run) {
        auto d = D{allot::Rules{
            {.narrowing = static_cast<Narrowing>(run % 4), .class_nodes_min = static_cast<std::uint32_t>(run % 3)}}};
        auto chaos = support::Chaos<D>{support::seed() + run};
        for (auto step = 0; step < 400; ++step) {
            const auto moment = chaos.moment(d);
            const auto command = chaos.command(d);
            (void)d.apply(command, moment);
            if (step % 5 != 0) { continue; }
            INFO("ALLOT_SEED " << support::seed() << ", run " << run << ", step " << step);
            const auto before = d.digest();
            auto ids = std::vector<allot::TaskId>{};
            d.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
                if (task.state == allot::TaskState::queued && ids.size() < 2) { ids.push_back(task.id); }
            });
            for (const auto& id : ids) {
                ++queued;
                const auto asked = asked_by(d, *d.task(id));
                const auto e = allot::explain(d, id).value();
                check_against_brute(d, e, asked);
                for (const auto& row : e.kept_out) { ++seen[row.reason]; }
                // Asked about one by one, the nodes say what the sum says.
                for (const auto& [name, reason] : brute(d, asked).by_node) {
                    CAPTURE(name);
                    CHECK(allot::why_not(d, allot::question(d, id).value(), allot::NodeId{std::stoull(name)}).value() ==
                          reason);
                }
            }
            auto spec = chaos.a_task();
            if (chaos.below(4) == 0) { spec.models.push_back("never heard of"); }
            if (const auto e = allot::explain(d, spec)) {
                auto exact = !spec.gpus.empty() && spec.gpus.front().vram.count > 0;
                check_against_brute(d, *e,
                                    {exact ? 0 : spec.vram_min.count,
                                     spec.gpus,
                                     spec.platforms,
                                     spec.software,
                                     spec.models,
                                     {},
                                     spec.group,
                                     spec.gang_size,
                                     spec.same_card,
                                     spec.platforms_refused});
            }
            CHECK(d.digest() == before);
        }
    }
    CHECK(queued > 100);
    CAPTURE(seen);
    for (const auto reason :
         {Reason::paused, Reason::pending, Reason::busy, Reason::vram_too_small, Reason::gpu_differs,
          Reason::platform_refused, Reason::version_too_old, Reason::excluded, Reason::zero_weight, Reason::avoided,
          Reason::same_operator, Reason::models_missing, Reason::gang_short}) {
        CAPTURE(allot::message(reason));
        CHECK(seen[reason] > 0);
    }
}

TEST_CASE("a node is said to have no weight exactly when the dispatcher gives it none") {
    auto with_none = 0;
    auto with_some = 0;
    for (auto run = std::uint64_t{0}; run < 4; ++run) {
        auto d = D{};
        auto chaos = support::Chaos<D>{support::seed() + run};
        ok(d.join(with(plain_node(99), [](NodeSpec& n) { n.stake = (allot::u128{1} << 96) - allot::u128{1}; }),
                  at(0s)));
        for (auto step = 0; step < 300; ++step) {
            const auto moment = chaos.moment(d);
            const auto command = chaos.command(d);
            (void)d.apply(command, moment);
            auto task = allot::Task{};
            d.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& one) { task = one; });
            d.state().nodes().for_each([&](allot::NodeHandle h, const auto& record) {
                for (const auto score :
                     {d.qos_score(record), allot::Score::zero(), allot::Score::from_raw(1), allot::Score::one()}) {
                    INFO("ALLOT_SEED " << support::seed() << ", run " << run << ", step " << step);
                    const auto none = d.view().weight_at_score(h, task, {}, score).is_zero();
                    CHECK(d.view().has_no_weight(h, task, {}, score) == none);
                    ++(none ? with_none : with_some);
                }
            });
        }
    }
    CHECK(with_none > 100);
    CHECK(with_some > 100);
}

TEST_CASE("a waiting task is told its place, what it is worth, and what it takes to stay") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 3}}};
    ok(d.submit(paying(1, 100), at(0s)));
    ok(d.submit(paying(2, 300), at(0s)));
    ok(d.submit(with(paying(3, 100), [](TaskSpec& t) { t.vram_min = 80_GiB; }), at(1s)));
    const auto second = allot::explain(d, allot::TaskId{1}).value();
    CHECK(second.position == 2);
    CHECK(second.queued == 3);
    CHECK(second.capacity == 3);
    CHECK(second.group_size == 2);
    CHECK(second.group.vram_min == 8_GiB);
    CHECK(second.value == allot::Value{100, 100'000});
    CHECK(second.submitted_at == TimePoint{0s});
    CHECK(second.next.expires == TimePoint{6h});
    CHECK(second.survives_above == allot::Value{99, 100'000});  // at 100 task 3, which came later, goes first
    const auto hypothetical = allot::explain(d, paying(9, 200)).value();
    CHECK(hypothetical.position == 2);
    CHECK(hypothetical.queued == 3);
    CHECK(hypothetical.survives_above == allot::Value{100, 100'000});
    ok(d.cancel(2, at(1s)));
    CHECK_FALSE(allot::explain(d, allot::TaskId{1}).value().survives_above);
    CHECK(allot::explain(d, allot::TaskId{1}).value().position == 1);
}

TEST_CASE("what outlives the next eviction is what the explanation says") {
    auto random = std::mt19937_64{support::seed()};
    for (auto run = 0; run < 50; ++run) {
        auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 4}}};
        for (auto id = 1; id <= 4; ++id) { ok(d.submit(paying(id, 1 + random() % 6), at(0s))); }
        const auto newcomer = paying(9, 1 + random() % 6);
        const auto e = allot::explain(d, newcomer).value();
        REQUIRE(e.survives_above);
        const auto stays = e.value > *e.survives_above;
        ok(d.submit(newcomer, at(0s)));
        CHECK(is_queued(d, 9) == stays);
    }
}

TEST_CASE("the nearest ways to ask less say how many nodes each would free") {
    auto d = D{allot::Rules{{.narrowing = Narrowing::gate}}};
    const auto join = [&](int id, std::uint32_t vram, const char* gpu, const char* platform,
                          std::vector<std::string> models) {
        ok(d.join(with(plain_node(id),
                       [&](NodeSpec& n) {
                           n.vram = {vram};
                           n.gpu = gpu;
                           n.platform = platform;
                           n.models = models;
                       }),
                  at(0s)));
    };
    join(1, 8, "A", "Linux", {"sdxl"});
    join(2, 12, "A", "Linux", {"sdxl"});
    join(3, 16, "A", "Linux", {"sdxl"});
    join(4, 20, "A", "Linux", {"sdxl"});
    join(5, 24, "A", "Linux", {});
    join(6, 24, "B", "Linux", {"sdxl"});
    join(7, 24, "A", "Darwin", {"sdxl"});
    join(8, 24, "B", "Darwin", {"sdxl"});
    auto task = with(plain_task(1), [](TaskSpec& t) {
        t.vram_min = 24_GiB;
        t.gpus = {{"A", {}}};
        t.platforms = {"Linux"};
        t.models = {"sdxl"};
    });
    ok(d.submit(task, at(0s)));
    const auto e = allot::explain(d, allot::TaskId{1}).value();
    using Freed = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    CHECK(e.candidates == 0);
    CHECK(e.count(Reason::gpu_differs) == 6);  // a card named at least so large: the small ones are other cards to it
    CHECK(e.count(Reason::platform_refused) == 1);
    CHECK(e.count(Reason::models_missing) == 1);
    CHECK(e.next.on_models);
    CHECK_FALSE(e.next.on_match);
    CHECK(relaxed(e, Relaxed::models) == Freed{{0, 1}});
    CHECK(relaxed(e, Relaxed::vram) == Freed{{20, 1}, {16, 2}, {12, 3}});
    CHECK(relaxed(e, Relaxed::gpu) == Freed{{24, 1}});
    CHECK(relaxed(e, Relaxed::platform) == Freed{{24, 1}});
    const auto both =
        std::find_if(e.relaxations.begin(), e.relaxations.end(), [](const auto& r) { return r.and_models; });
    REQUIRE(both != e.relaxations.end());
    CHECK(both->what == Relaxed::vram);
    CHECK(both->freed == 2);  // nodes 4 and 5
}

TEST_CASE("the next try is named: a match, a lease that ends, a node that comes back or resumes, the expiry") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    ok(d.submit(plain_task(1), dark(0s)));
    CHECK(allot::explain(d, allot::TaskId{1}).value().next.on_match);
    const auto lease = leased(d.match(at(0s)));
    ok(d.pause(lease.node == allot::NodeId{1} ? 2 : 1, at(0s)));
    for (const auto id : {2, 3}) {
        while (state_of(d, id) == NodeState::available && !d.node(id)->node.excluded) {
            ok(d.observe(id, allot::OutcomeKind::timeout, dark(0s)));
        }
    }
    ok(d.submit(plain_task(2), at(0s)));
    REQUIRE(is_queued(d, 2));
    const auto e = allot::explain(d, allot::TaskId{2}).value();
    CHECK(e.candidates == 0);
    CHECK_FALSE(e.next.on_match);
    CHECK(e.next.on_resume);
    CHECK(e.next.on_lease_end == lease.deadline);
    REQUIRE(e.next.on_readmission);
    const auto back = *e.next.on_readmission;
    CHECK(d.advance({back, 1}).get<event::TaskStarted>() != nullptr);
}

TEST_CASE("models under way are counted among those who lack them") {
    auto d = D{allot::Rules{{.narrowing = Narrowing::any}}};
    join_plain(d, 5);
    ok(d.submit(with(plain_task(1), [](TaskSpec& t) { t.models = {"sdxl"}; }), at(0s)));  // asks the others to fetch it
    ok(d.configure(allot::RulesParameters{.narrowing = Narrowing::gate}, 2, dark(0s)));
    const auto e = allot::explain(d, with(plain_task(2), [](TaskSpec& t) { t.models = {"sdxl"}; })).value();
    CHECK(e.count(Reason::models_missing) == 4);
    CHECK(e.downloads == 4);
    const auto more = allot::explain(d, with(plain_task(2), [](TaskSpec& t) { t.models = {"sdxl", "lora"}; })).value();
    CHECK(more.downloads == 0);
    CHECK(more.count(Reason::models_missing) == 4);
}

TEST_CASE("a question that cannot be asked says why") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    CHECK(allot::explain(d, allot::TaskId{1}).error() == Error::task_unknown);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(allot::explain(d, allot::TaskId{1}).value().state == allot::TaskState::running);
    ok(d.complete(lease, at(0s)));
    CHECK(allot::explain(d, allot::TaskId{1}).error() == Error::task_ended);
    CHECK(allot::explain(d, plain_task(1)).error() == Error::task_duplicate);
    CHECK(allot::explain(d, with(plain_task(2), [](TaskSpec& t) { t.vram_min = {}; })).error() == Error::vram_zero);
    CHECK(allot::why_not(d, allot::question(d, plain_task(2)).value(), "nobody").error() == Error::node_unknown);
    CHECK(allot::explain(allot::Dispatcher<>{}, plain_task(1)).value().nodes == 0);
}
