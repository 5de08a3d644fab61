#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/any_script.hpp"
#include "support/oracle.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

namespace oracle = support::oracle;
using support::any_script;
using support::broken;
using support::Command;
using support::DispatcherOf;
using support::FastDispatcher;
using support::Runner;
using support::Verb;
using namespace allot::literals;
using namespace std::chrono_literals;

// ---- equal picks
// ----------------------------------------------------------------------------------------------------------

struct PoolWatch {
    template <class D>
    void before(const D&, const Command&, const allot::Moment&) const {
        oracle::complaint().clear();
    }
    template <class D>
    void after(const D&, const Command&, const allot::Moment&, const allot::Events&) const {
        if (!oracle::complaint().empty()) { throw support::Broken{oracle::complaint()}; }
    }
};

template <class Pool>
void draws_as_the_oracle(const char* claim, int runs) {
    using D = DispatcherOf<oracle::WatchedPool<Pool>, allot::ValueQueue>;
    oracle::ways() = {};
    support::property(
        claim,
        [] {
            const auto script = *any_script();
            auto runner = Runner<D, PoolWatch>{script.setup.make<D>(), {}, script.setup};
            runner.run(script.ops);
        },
        runs);
    const auto& ways = oracle::ways();
    CAPTURE(ways.drawn, ways.missed, ways.shortened, ways.nobody, ways.narrowed, ways.without);
    CHECK(ways.drawn > 1'000);
    CHECK(ways.missed > 100);
    CHECK(ways.shortened > 20);
    CHECK(ways.nobody > 100);
    CHECK(ways.narrowed > 100);
    CHECK(ways.without > 100);
}

// A pool alone, with bounds and weights that no policy would give: loose, tight, zero, at the limits.
struct Lone {
    std::vector<allot::NodePlace> places{};
    std::vector<std::vector<allot::HeldModel>> models{};
    std::vector<allot::u128> weights{};
    std::uint64_t seed = 0;
};

auto lone_pool(const std::vector<std::uint32_t>& numbers) -> Lone {
    auto lone = Lone{};
    for (auto i = 0U; i < numbers.size(); ++i) {
        const auto number = numbers[i];
        const auto bound = number % 7 == 0 ? 0xFFFF'FFFFU : number % 7 == 1 ? 1U : number % 100'003;
        const auto all = allot::u128{bound} << 64;
        auto weight = all;
        switch (number / 7 % 5) {
            case 0: weight = allot::u128{0}; break;
            case 1: weight = allot::u128{bound > 0 ? 1U : 0U}; break;  // 2^-92
            case 2: weight = all >> (number % 60); break;
            case 3: weight = bound == 0 ? all : all - allot::u128{1}; break;
            default: break;
        }
        lone.weights.push_back(weight);
        auto held = std::vector<allot::HeldModel>{};
        for (auto model = 0U; model < 3; ++model) {
            if (((number >> (8 + model)) & 1U) != 0) {
                held.push_back({allot::ModelId{model}, allot::Holding::on_disk, i});
            }
        }
        lone.models.push_back(std::move(held));
        lone.places.push_back({allot::NodeHandle{i}, allot::ClassId{i % 3}, i / 3, bound, bound, {}});
    }
    for (auto i = 0U; i < numbers.size(); ++i) { lone.places[i].models = lone.models[i]; }
    return lone;
}

}  // namespace

TEST_CASE("the pool of groups draws as the oracle does, in whatever state") {
    draws_as_the_oracle<allot::GpuGroupPool>("GpuGroupPool draws as the oracle", support::runs(1'500, 50'000));
}

TEST_CASE("the linear pool draws as the oracle does, in whatever state") {
    draws_as_the_oracle<allot::LinearPool>("LinearPool draws as the oracle", support::runs(500, 20'000));
}

TEST_CASE("a submitted task falls on the node that follows from the records") {
    auto compared = 0;
    auto started = 0;
    auto gangs = 0;
    support::property(
        "a dispatch follows from the records",
        [&] {
            const auto script = *any_script();
            auto runner =
                Runner<FastDispatcher, support::NoWatch>{script.setup.make<FastDispatcher>(), {}, script.setup};
            auto& d = runner.dispatcher();
            for (const auto& op : script.ops) {
                if (op.verb != Verb::submit) {
                    runner.step(op);
                    continue;
                }
                const auto moment = support::moment_of(op, script.setup, d.now(), d.next_deadline());
                (void)runner.apply(allot::command::Advance{}, moment);
                const auto command = *support::interpret(op, runner.memory());
                const auto& spec = std::get<allot::command::Submit>(command).task;
                const auto due = d.next_deadline() && *d.next_deadline() <= moment.time;
                if (due || moment.time != d.now() || !moment.entropy || d.check(command)) {
                    (void)runner.apply(command, moment);
                    continue;
                }
                const auto expected = oracle::dispatch(d, spec, *moment.entropy);
                const auto events = runner.apply(command, moment);
                auto on = std::vector<allot::NodeId>{};
                events.each([&](const allot::event::TaskStarted& e) { on.push_back(e.lease.node); });
                // Where a full table has more tasks of the poorest requirement than may be evicted, the newcomer goes
                // and is not drawn for.
                auto has_no_room = false;
                events.each([&](const allot::event::TaskEvicted& e) {
                    has_no_room = has_no_room || (e.task == spec.id && e.reason == allot::event::Eviction::table_full);
                });
                if (has_no_room) { continue; }
                ++compared;
                started += on.empty() ? 0 : 1;
                gangs += on.size() > 1 ? 1 : 0;
                runner.guarded([&] {
                    if (on != expected) {
                        broken("expected {} nodes, {} first", expected.size(),
                               expected.empty() ? "nobody" : expected.front().text());
                    }
                    return 0;
                });
            }
        },
        support::runs(1'500, 50'000));
    CAPTURE(compared, started, gangs);
    CHECK(started > 1'000);
    CHECK(gangs > 50);
    CHECK(compared - started > 1'000);
}

TEST_CASE("pools alone draw as the oracle does, with any bounds and weights") {
    auto shortened = 0;
    auto undecided = 0;
    auto scanned = 0;
    auto without = 0;
    support::property(
        "a lone pool draws as the oracle",
        [&] {
            const auto numbers = *rc::gen::resize(60, rc::gen::container<std::vector<std::uint32_t>>(
                                                          rc::gen::resize(1'000, rc::gen::arbitrary<std::uint32_t>())));
            const auto entropy = *rc::gen::resize(1'000, rc::gen::arbitrary<std::uint64_t>());
            const auto rejections_max = *rc::gen::element(0U, 1U, 7U, 32U, 32U, 50U);
            const auto tries_max = *rc::gen::element(0U, 2U, 20U, 160U);
            const auto every = *rc::gen::element(0U, 2U, 3U);  // each so manieth node is left out
            const auto mask = *rc::gen::inRange(0U, 8U);
            auto lone = lone_pool(numbers);
            auto fast = allot::GpuGroupPool{};
            auto slow = allot::LinearPool{};
            for (const auto& place : lone.places) {
                auto nothing = place;
                nothing.bound = nothing.bound_local = 0;
                fast.changed(nothing, place);
                slow.changed(nothing, place);
            }
            const auto classes = std::vector{allot::ClassId{0}, allot::ClassId{2}};
            auto models = std::vector<allot::ModelId>{};
            for (auto model = 0U; model < 3; ++model) {
                if (((mask >> model) & 1U) != 0) { models.push_back(allot::ModelId{model}); }
            }
            auto line = std::vector<oracle::Place>{};
            for (auto m = 0U; m < std::max<std::size_t>(1, models.size()); ++m) {
                for (const auto c : classes) {
                    for (const auto& place : lone.places) {
                        const auto& held = lone.models[place.node.value];
                        const auto is_it = [&](const auto& h) { return h.model == models[m]; };
                        const auto holds = models.empty() || std::any_of(held.begin(), held.end(), is_it);
                        if (place.node_class == c && place.bound > 0 && holds) {
                            line.push_back({place.node, m, place.bound});
                        }
                    }
                }
            }
            auto left_out = std::vector<allot::NodePlace>{};
            for (const auto& place : lone.places) {
                if (tries_max > 0 && rejections_max > 0 && every > 0 && place.node.value % every == 0) {
                    left_out.push_back(place);
                    left_out.push_back(place);  // an avoided node may be of the group, too
                    lone.weights[place.node.value] = allot::u128{0};
                }
            }
            const auto frame = allot::SamplingFrame{classes, models, rejections_max, tries_max, left_out};
            const auto weigh = [&](allot::NodeHandle node, std::uint32_t) {
                return allot::Weight::from_raw(lone.weights[node.value]);
            };
            const auto words = allot::Random{entropy, allot::Purpose::dispatch, {}};
            auto w0 = words;
            auto w1 = words;
            auto w2 = words;
            const auto expected = oracle::pick(
                line, [&](const oracle::Place& place) { return weigh(place.node, 0).raw(); }, w0,
                oracle::tries_of(frame));
            const auto a = fast.draw(frame, weigh, w1);
            const auto b = slow.draw(frame, weigh, w2);
            RC_ASSERT(fast.count(frame) == line.size());
            RC_ASSERT(slow.count(frame) == line.size());
            RC_ASSERT(a.has_value() == expected.has_value());
            RC_ASSERT(b.has_value() == expected.has_value());
            RC_ASSERT(w0 == w1);
            RC_ASSERT(w0 == w2);
            if (expected) {
                RC_ASSERT(a->node == expected->node);
                RC_ASSERT(b->node == expected->node);
                RC_ASSERT(a->scanned == expected->scanned);
                RC_ASSERT(a->rejections == expected->rejections);
                if (!a->undecided()) { RC_ASSERT(!weigh(a->node, 0).is_zero()); }
                shortened += !a->undecided() && rejections_max > 0 && a->rejections > rejections_max ? 1 : 0;
                undecided += a->undecided() ? 1 : 0;
                scanned += tries_max == 0 && a->scanned && a->rejections > 0 ? 1 : 0;
                without += left_out.empty() ? 0 : 1;
            }
        },
        support::runs(3'000, 200'000));
    CHECK(shortened > 10);
    CHECK(undecided > 10);
    CHECK(scanned > 10);
    CHECK(without > 100);
}

// ---- frequencies
// ----------------------------------------------------------------------------------------------------------

namespace {

// The weight of a node for a task as the seed writes it, in floating point.
struct Share {
    allot::NodeId node;
    long double weight = 0;
};

template <class D>
auto share(const D& d, const allot::NodeId& id, long double boost = 1) -> Share {
    auto stake_max = 0.0L;
    const auto wide = [](allot::u128 v) {
        return static_cast<long double>(v.high()) * 18446744073709551616.0L + static_cast<long double>(v.low());
    };
    d.state().nodes().for_each([&](allot::NodeHandle, const auto& record) {
        if (record.node.present()) { stake_max = std::max(stake_max, wide(record.node.stake.units)); }
    });
    const auto& record = *d.node(id);
    const auto s = std::sqrt(wide(record.node.stake.units) / stake_max);
    const auto q = static_cast<long double>(d.qos_score(record).raw()) / static_cast<long double>(1U << 30U);
    return {id, s + q > 0 ? boost * s * q / (s + q) : 0};
}

// The upper 1e-6 quantile of chi-square (Wilson and Hilferty).
auto chi_square_limit(std::size_t degrees) -> long double {
    const auto k = static_cast<long double>(degrees);
    const auto t = 1 - 2 / (9 * k) + 4.7534L * std::sqrt(2 / (9 * k));
    return k * t * t * t;
}

// Draws one task again and again, each with other entropy and taken back, and compares with the shares.
template <class D>
void draws_in_proportion(D& d, const allot::TaskSpec& spec, const std::vector<Share>& shares) {
    const auto draws = support::runs(20'000, 1'000'000);
    auto counts = std::vector<long>(shares.size());
    for (auto i = 0; i < draws; ++i) {
        auto session = d.session();
        const auto events = d.submit(
            spec, {d.now(), allot::Entropy{std::uint64_t{support::seed()} * 1'000'003U + static_cast<unsigned>(i)}});
        const auto* lease = events.lease();
        REQUIRE(lease != nullptr);
        for (std::size_t n = 0; n < shares.size(); ++n) { counts[n] += shares[n].node == lease->node ? 1 : 0; }
    }
    auto sum = 0.0L;
    for (const auto& s : shares) { sum += s.weight; }
    auto chi_square = 0.0L;
    auto cells = std::size_t{0};
    auto rest_expected = 0.0L;  // cells too rare for the test are taken as one
    auto rest_counted = 0.0L;
    auto total = 0L;
    const auto add = [&](long double counted, long double expected) {
        chi_square += (counted - expected) * (counted - expected) / expected;
        ++cells;
    };
    for (std::size_t n = 0; n < shares.size(); ++n) {
        const auto expected = shares[n].weight / sum * static_cast<long double>(draws);
        total += counts[n];
        CAPTURE(shares[n].node.text(), counts[n], static_cast<double>(expected));
        if (shares[n].weight == 0) {
            CHECK(counts[n] == 0);
        } else if (expected < 10) {
            rest_expected += expected;
            rest_counted += static_cast<long double>(counts[n]);
        } else {
            add(static_cast<long double>(counts[n]), expected);
        }
    }
    if (rest_expected >= 10) { add(rest_counted, rest_expected); }
    CHECK(total == draws);
    if (cells > 1) {
        CAPTURE(cells, static_cast<double>(chi_square), static_cast<double>(chi_square_limit(cells - 1)));
        CHECK(chi_square < chi_square_limit(cells - 1));
    }
}

auto spec_of(int id) -> allot::NodeSpec { return {.id = id, .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}; }
const auto start = allot::Moment{};

auto shares_of(const FastDispatcher& d, int nodes) -> std::vector<Share> {
    auto shares = std::vector<Share>{};
    for (auto i = 0; i < nodes; ++i) { shares.push_back(share(d, i)); }
    return shares;
}

auto fresh() -> FastDispatcher { return support::Setup{}.make<FastDispatcher>(); }
auto plain_task() -> allot::TaskSpec { return {.id = "task", .vram_min = 16_GiB, .fee = 10, .duration_estimate = 20s}; }

}  // namespace

TEST_CASE("draws are in proportion to skewed weights, and zero weight is never drawn") {
    auto d = fresh();
    for (auto i = 0; i < 24; ++i) {
        auto node = spec_of(i);
        node.gpu = i % 3 == 0 ? "A100" : "RTX 4090";
        node.stake = i % 8 == 7 ? allot::Amount{0} : allot::Amount{allot::u128{1} << (2 * i)};
        (void)d.join(node, start);
    }
    draws_in_proportion(d, plain_task(), shares_of(d, 24));
}

TEST_CASE("draws stay in proportion while the largest stake comes and goes") {
    auto d = fresh();
    for (auto i = 0; i < 12; ++i) {
        auto node = spec_of(i);
        node.stake = 100 * (i + 1);
        (void)d.join(node, start);
    }
    auto rich = spec_of(12);
    for (const auto stake : {std::uint64_t{1'500}, std::uint64_t{90'000}, std::uint64_t{1} << 50U, std::uint64_t{2'000},
                             std::uint64_t{130}}) {
        rich.stake = stake;
        (void)d.join(rich, start);
        draws_in_proportion(d, plain_task(), shares_of(d, 13));
        (void)d.update({.id = 12, .stake = stake / 3}, start);
        draws_in_proportion(d, plain_task(), shares_of(d, 13));
        (void)d.leave(12, start);
        draws_in_proportion(d, plain_task(), shares_of(d, 12));
    }
}

TEST_CASE("draws stay in proportion while health recovers") {
    auto d = fresh();
    for (auto i = 0; i < 8; ++i) {
        (void)d.join(spec_of(i), start);
        for (auto bad = 0; bad < i % 3; ++bad) { (void)d.observe(i, allot::OutcomeKind::timeout_in_group, start); }
        for (auto verdicts = 0; verdicts < i; ++verdicts) { (void)d.score(i, 10, start); }
    }
    for (const auto later : {0min, 1min, 20min, 300min}) {
        (void)d.advance({allot::TimePoint{} + later});
        draws_in_proportion(d, plain_task(), shares_of(d, 8));
    }
}

TEST_CASE("draws are in proportion to locality, among holders and else among all") {
    auto d = fresh();
    const auto held = std::vector<std::vector<std::string>>{
        {}, {"base"}, {"lora"}, {"base", "lora"}, {"base", "lora"}, {"other"}, {"lora"}};
    for (auto i = 0; i < 7; ++i) {
        auto node = spec_of(i);
        node.stake = 100 + 300 * i;
        node.models = held[static_cast<std::size_t>(i)];
        (void)d.join(node, start);
    }
    (void)d.report_model(4, allot::command::Report::load, {"base", "lora"}, start);
    (void)d.report_model(6, allot::command::Report::load, {"lora"}, start);
    auto task = plain_task();
    task.models = {"lora", "base"};
    draws_in_proportion(d, task,
                        {share(d, 0, 0), share(d, 1, 1.35L), share(d, 2, 1.35L), share(d, 3, 1.7L), share(d, 4, 2),
                         share(d, 5, 0), share(d, 6, 1.5L)});
    task.models = {"unheard of"};
    draws_in_proportion(d, task, shares_of(d, 7));
}

TEST_CASE("where almost nobody is admitted the refused ones are taken off the line, in proportion") {
    using D = DispatcherOf<oracle::WatchedPool<allot::GpuGroupPool>, allot::ValueQueue>;
    auto d = support::Setup{}.make<D>();
    oracle::complaint().clear();
    oracle::ways() = {};
    for (auto i = 0; i < 100; ++i) {
        auto node = spec_of(i);
        node.stake = 1'000'000;
        node.operator_id = "one for all";
        (void)d.join(node, start);
    }
    for (auto i = 100; i < 103; ++i) {
        auto node = spec_of(i);
        node.stake = i - 98;
        (void)d.join(node, start);
    }
    auto task = plain_task();
    task.group = "a group";
    auto first = task;
    first.id = "first";
    REQUIRE(d.submit(first, {{}, 7}).lease()->node != allot::NodeId{102});  // the group has an operator now
    draws_in_proportion(d, task, {share(d, 100), share(d, 101), share(d, 102)});
    CHECK(oracle::complaint().empty());
    CHECK(oracle::ways().shortened > oracle::ways().drawn / 2);
}

TEST_CASE("where all weights are zero nobody is drawn") {
    auto d = fresh();
    (void)d.configure(allot::RollingQosParameters{.score_floor = allot::Score::zero()}, 1, start);
    for (auto i = 0; i < 5; ++i) {
        auto node = spec_of(i);
        node.stake = i < 3 ? 0 : 100;
        (void)d.join(node, start);
        for (auto verdicts = 0; verdicts < 3 && i >= 3; ++verdicts) { (void)d.score(i, 0, start); }
    }
    for (auto i = 0; i < 1'000; ++i) {
        auto task = plain_task();
        task.id = i;
        const auto events = d.submit(task, {{}, i});
        CAPTURE(i, support::text(events));
        REQUIRE(events.lease() == nullptr);
        REQUIRE(events.accepted());
    }
}
