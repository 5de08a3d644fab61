#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/placement/bounded_requests.hpp>

#define ALLOT_MODEL allot::BoundedRequests<>
#include "conformance/pure.ipp"
#include "support/network.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

// What a task makes others fetch does not grow with the number of models that it names, and what they fetched for
// nobody is forgotten.

namespace bounded_requests_test {
namespace {

using namespace support;
using allot::BoundedRequests;
using allot::RequestBound;
using allot::RequestBoundParameters;
using allot::ThresholdPlacement;

/// Nodes of a plain network that the start of a task of so many unheard-of models asks for copies. The node that runs
/// it is told to fetch each model, too.
template <class Placement>
auto copies_of(std::uint32_t models, Placement placement) -> std::size_t {
    auto d = allot::Dispatcher{placement};
    join_plain(d, 100);
    auto task = plain_task(1);
    for (std::uint32_t i = 0; i < models; ++i) { task.models.push_back("unheard-" + std::to_string(i)); }
    const auto events = d.submit(task, at(0s));
    REQUIRE(count<event::TaskStarted>(events) == 1);
    return count<event::ModelWanted>(events) - models;
}

/// A network whose nodes hold a model for ten minutes.
auto forgetful(int nodes) {
    auto d = allot::Dispatcher{BoundedRequests{ThresholdPlacement{}, RequestBound{{.held_for = 10min}}}};
    join_plain(d, nodes);
    return d;
}

auto due(allot::Duration time) -> std::optional<allot::TimePoint> { return allot::TimePoint{time}; }

/// Throws when it is asked, if it is told to.
struct Throws {
    using role = allot::role::eligibility;
    static constexpr std::string_view name = "throws/1";
    static inline bool now = false;

    static auto fits(const allot::NodeClass&, const allot::Requirement&) -> allot::Reason {
        return allot::Reason::none;
    }
    static auto admits(const allot::Node&, const allot::Task&, const allot::Situation&) -> allot::Reason {
        if (now) { throw std::runtime_error{"admits"}; }
        return allot::Reason::none;
    }
};

template <class D>
auto holds(const D& d, std::uint64_t node, const std::string& model) -> bool {
    const auto id = d.state().models().find(model);
    return id && find_model(d.state().holdings(*d.state().nodes().find(node)), *id) != nullptr;
}

}  // namespace

TEST_CASE("a start asks for what is left of its bound") {
    CHECK(RequestBound{}.left({0, 0}) == 32);
    CHECK(RequestBound{}.left({0, 31}) == 1);
    CHECK(RequestBound{}.left({0, 32}) == 0);
    CHECK(RequestBound{}.left({0, 4'000'000'000}) == 0);
    CHECK(RequestBound{{.copies_max = 0}}.left({}) == 0);
    const auto placement = BoundedRequests{ThresholdPlacement{}};
    CHECK(placement.wanted({0, 0}).copies == 10);
    CHECK(placement.wanted({0, 26}).copies == 6);
    CHECK(placement.wanted({3, 0}).copies == 0);
    CHECK(placement.asked_for() == 30min);
}

TEST_CASE("bounds of requests without sense are not valid") {
    CHECK(RequestBoundParameters{}.valid());
    CHECK(RequestBoundParameters{.copies_max = 65'536}.valid());
    CHECK_FALSE(RequestBoundParameters{.copies_max = 65'537}.valid());
    CHECK(RequestBoundParameters{.held_for = 0ms}.valid());
    CHECK_FALSE(RequestBoundParameters{.held_for = -1ms}.valid());
    CHECK_FALSE(RequestBoundParameters{.held_for = allot::Duration{(std::int64_t{1} << 40) + 1}}.valid());
    CHECK_THROWS_AS(RequestBound{{.copies_max = 70'000}}, std::invalid_argument);
    auto bound = RequestBound{};
    CHECK_THROWS_AS(bound.configure({.copies_max = 70'000}), std::invalid_argument);
    bound.configure({.copies_max = 2});
    CHECK(bound.left({0, 1}) == 1);
}

TEST_CASE("a task of many models asks no more nodes than one of four does") {
    CHECK(copies_of(64, ThresholdPlacement{}) == 640);
    for (const auto models : {4U, 5U, 20U, 64U}) {
        CHECK(copies_of(models, BoundedRequests{ThresholdPlacement{}}) == 32);
    }
    CHECK(copies_of(3, BoundedRequests{ThresholdPlacement{}}) == 30);
    CHECK(copies_of(64, BoundedRequests{ThresholdPlacement{}, RequestBound{{.copies_max = 0}}}) == 0);
}

TEST_CASE("a bound without a time leaves the placement its own") {
    struct Own : ThresholdPlacement {
        static auto held_for() -> allot::Duration { return 1h; }
    };
    CHECK(BoundedRequests{Own{}, RequestBound{{.held_for = 0h}}}.held_for() == allot::Duration{1h});
    CHECK(BoundedRequests{Own{}, RequestBound{{.held_for = 2h}}}.held_for() == allot::Duration{2h});
}

TEST_CASE("a model that a node neither runs nor reports is forgotten") {
    auto d = forgetful(2);
    const auto held_before = d.state().models().held();
    (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
    CHECK(d.next_deadline() == due(10min));
    (void)d.advance(at(10min - 1ms));
    CHECK(holds(d, 1, "m"));
    CHECK(d.advance(at(10min)).size() == 1);  // without an event of its own
    CHECK_FALSE(holds(d, 1, "m"));
    CHECK(d.state().models().held() == held_before);
    CHECK_FALSE(d.state().models().find("m"));
    CHECK_FALSE(d.next_deadline());
}

TEST_CASE("a report lets a model count for longer, once half of its time has passed") {
    const auto reports = {command::Report::add, command::Report::inventory, command::Report::load,
                          command::Report::unload};
    for (const auto report : reports) {
        CAPTURE(static_cast<int>(report));
        auto d = forgetful(1);
        (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
        (void)d.report_model(1, report, {"m"}, at(5min));
        CHECK(d.next_deadline() == due(10min));
        (void)d.report_model(1, report, {"m"}, at(5min + 1ms));
        CHECK(d.next_deadline() == due(15min + 1ms));
    }
    auto d = forgetful(1);
    (void)d.report_model(1, command::Report::add, {"m", "n"}, at(0s));
    (void)d.report_model(1, command::Report::remove, {"n"}, at(9min));  // says nothing about the other
    CHECK(d.next_deadline() == due(10min));
}

TEST_CASE("a task that a node finishes lets its models count for longer") {
    auto d = forgetful(1);
    (void)d.report_model(1, command::Report::add, {"m", "other"}, at(0s));
    auto task = plain_task(1);
    task.models = {"m"};
    const auto lease = all<event::TaskStarted>(d.submit(task, at(9min))).at(0).lease;
    CHECK(d.next_deadline() == due(10min));  // a start alone shows nothing: the node may fetch it only now
    (void)d.complete(lease, at(9min + 1s));
    (void)d.advance(at(10min));
    CHECK(holds(d, 1, "m"));
    CHECK_FALSE(holds(d, 1, "other"));
    (void)d.advance(at(19min + 1s));
    CHECK_FALSE(holds(d, 1, "m"));
}

TEST_CASE("a model that expires while its node runs a task counts again when that is done") {
    auto d = forgetful(1);
    (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
    auto task = plain_task(1);
    task.models = {"m"};
    task.duration_estimate = 30min;
    const auto lease = all<event::TaskStarted>(d.submit(task, at(9min))).at(0).lease;
    (void)d.advance(at(10min));
    CHECK_FALSE(holds(d, 1, "m"));
    REQUIRE(d.complete(lease, at(20min)).accepted());
    CHECK(holds(d, 1, "m"));
    CHECK(d.node(1)->node.state == allot::NodeState::available);
}

TEST_CASE("models keep their time when their node changes its class, and lose it with the node") {
    auto d = forgetful(2);
    (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
    (void)d.update(allot::NodeUpdate{.id = 1, .gpu = "another"}, at(6min));
    CHECK(holds(d, 1, "m"));
    CHECK(d.next_deadline() == due(10min));
    (void)d.leave(1, at(7min));
    (void)d.advance(at(10min));
    CHECK_FALSE(d.state().models().find("m"));
}

TEST_CASE("with a time of 0 a model counts for good, and a new time counts from the next report on") {
    auto d = allot::Dispatcher{BoundedRequests{ThresholdPlacement{}, RequestBound{{.held_for = 0ms}}}};
    join_plain(d, 1);
    (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
    CHECK_FALSE(d.next_deadline());
    (void)d.configure(RequestBoundParameters{.held_for = 10min}, 1, at(1min));
    CHECK_FALSE(d.next_deadline());
    (void)d.report_model(1, command::Report::add, {"m"}, at(2min));
    CHECK(d.next_deadline() == due(12min));
    (void)d.configure(RequestBoundParameters{.held_for = 0ms}, 2, at(3min));
    (void)d.report_model(1, command::Report::add, {"m"}, at(4min));
    CHECK_FALSE(d.next_deadline());
    (void)d.configure(RequestBoundParameters{.held_for = 10min}, 3, at(5min));
    (void)d.report_model(1, command::Report::add, {"m"}, at(5min));
    (void)d.configure(RequestBoundParameters{.held_for = 2min}, 4, at(6min));
    (void)d.report_model(1, command::Report::add, {"m"}, at(6min));  // a shorter time counts at once
    CHECK(d.next_deadline() == due(8min));
}

TEST_CASE("models that expired are there again, with their times, if the command throws") {
    auto d = allot::Dispatcher{Throws{}, BoundedRequests{ThresholdPlacement{}, RequestBound{{.held_for = 10min}}}};
    join_plain(d, 2);
    (void)d.report_model(1, command::Report::add, {"m", "n"}, at(0s));
    (void)d.report_model(2, command::Report::add, {"m"}, at(1min));
    (void)d.report_model(1, command::Report::add, {"n"}, at(6min));
    const auto before = allot::snapshot(d, 0);
    Throws::now = true;
    CHECK_THROWS_AS(d.submit(plain_task(1), at(12min)), std::runtime_error);
    Throws::now = false;
    CHECK(allot::snapshot(d, 0) == before);
    CHECK(d.next_deadline() == due(10min));
    ok(d.submit(plain_task(1), at(12min)));
    CHECK_FALSE(holds(d, 1, "m"));
    CHECK_FALSE(holds(d, 2, "m"));
    CHECK(holds(d, 1, "n"));
}

TEST_CASE("thousands of models that expire at once are forgotten by several pieces of due work") {
    auto d = forgetful(1);
    auto names = std::vector<std::string>{};
    for (auto i = 0; i < 2'000; ++i) { names.push_back("m" + std::to_string(i)); }
    REQUIRE(d.report_model(1, command::Report::inventory, names, at(0s)).accepted());
    REQUIRE(d.configure(allot::RulesParameters{.due_max = 1}, 1, at(1s)).accepted());
    for (const auto left : {1'488U, 976U, 464U, 0U}) {
        (void)d.advance(at(10min));
        CHECK(d.state().models().held() == left);
    }
    CHECK_FALSE(d.next_deadline());
}

TEST_CASE("a command forgets the models of few nodes, if these have many") {
    auto d = forgetful(0);
    auto names = std::vector<std::string>{};
    for (auto i = 0; i < 500; ++i) { names.push_back("m" + std::to_string(i)); }
    for (std::uint64_t id = 1; id <= 6; ++id) {
        ok(d.join(with(plain_node(id), [&](allot::NodeSpec& node) { node.models = names; }), at(0s)));
    }
    // Each counts as one, and one more for each 4 models that go and for each 256 that it had.
    ok(d.configure(allot::RulesParameters{.due_max = 2 * 127}, 1, at(1s)));
    for (const auto left : {4, 2, 0}) {
        (void)d.advance(at(10min));
        auto with_models = 0;
        for (std::uint64_t id = 1; id <= 6; ++id) { with_models += holds(d, id, "m499") ? 1 : 0; }
        CHECK(with_models == left);
    }
}

TEST_CASE("a node whose models expire while it departs is gone with the last of them") {
    const auto blank = allot::Dispatcher{allot::Rules{{.due_max = 1}},
                                         BoundedRequests{ThresholdPlacement{}, RequestBound{{.held_for = 10min}}}};
    auto d = blank;
    const auto node = [&](std::uint64_t id, std::size_t models) {
        return with(plain_node(id), [&](allot::NodeSpec& spec) {
            for (std::size_t i = 0; i < models; ++i) {
                spec.models.push_back(std::to_string(id) + " " + std::to_string(i));
            }
        });
    };
    ok(d.join(node(1, 300), at(0s)));
    auto task = plain_task(1);
    task.duration_estimate = 100s;
    ok(d.submit(task, at(0s)));
    ok(d.leave(1, at(1s)));  // when its task has ended
    // The lease ends late, and the node with it. Then its models expire before it gives up any.
    for (auto i = 0; i < 20; ++i) {
        (void)d.advance(at(20min));
        REQUIRE(allot::load_snapshot(allot::snapshot(d, 0), blank));
    }
    CHECK(d.node(1)->node.state == allot::NodeState::left);
    CHECK(d.state().models().held() == 0);
}

TEST_CASE("after any commands a node holds the models that it reported or ran of late") {
    constexpr auto lasts = allot::Duration{10min};
    auto random = std::mt19937_64{seed()};
    const auto any = [&](std::uint64_t count) { return random() % count; };
    const auto model = [&] { return "m" + std::to_string(any(6)); };
    CAPTURE(seed());
    auto d = forgetful(0);
    using Ends = std::map<std::pair<std::uint64_t, std::string>, allot::Duration>;
    auto ends = Ends{};  // of each node's models
    auto now = allot::Duration{0};
    const auto held = [&](std::uint64_t node, const std::string& name) {
        const auto known = ends.find({node, name});
        if (known == ends.end() || known->second - now < lasts / 2) { ends[{node, name}] = now + lasts; }
    };
    const auto forget = [&](std::uint64_t node) {
        std::erase_if(ends, [&](const auto& one) { return one.first.first == node; });
    };
    auto expired = std::size_t{0};
    for (auto step = 0; step < runs(4'000, 100'000); ++step) {
        now += allot::Duration{static_cast<std::int64_t>(any(120'000))};
        expired += std::erase_if(ends, [&](const auto& one) { return one.second <= now; });
        const auto node = 1 + any(5);
        const auto joined = d.node(node) && d.node(node)->node.present();
        const auto names = std::vector<std::string>{model(), model()};
        if (!joined) {
            const auto spec = with(plain_node(node), [&](allot::NodeSpec& n) { n.models = names; });
            ok(d.join(spec, at(now)));
            for (const auto& name : names) { held(node, name); }
        } else if (const auto kind = any(8); kind == 0) {
            ok(d.leave(node, at(now)));
            forget(node);
        } else if (kind == 1) {
            ok(d.update(allot::NodeUpdate{.id = node, .gpu = "card " + std::to_string(any(3))}, at(now)));
        } else if (kind == 2) {
            auto task = plain_task(1'000 + static_cast<std::uint64_t>(step));
            task.models = {model()};
            task.node = node;
            task.owner.reset();
            const auto started = d.submit(task, at(now));
            ok(d.complete(all<event::TaskStarted>(started).at(0).lease, at(now)));
            held(node, task.models[0]);
        } else if (kind == 3) {
            ok(d.report_model(node, command::Report::inventory, names, at(now)));
            std::erase_if(ends, [&](const auto& one) {
                return one.first.first == node &&
                       std::find(names.begin(), names.end(), one.first.second) == names.end();
            });
            for (const auto& name : names) { held(node, name); }
        } else if (kind == 4) {
            const auto there = ends.contains({node, names[0]});
            CHECK(d.report_model(node, command::Report::load, {names[0]}, at(now)).accepted() == there);
            if (there) { held(node, names[0]); }
        } else {
            ok(d.report_model(node, command::Report::add, {names[0]}, at(now)));
            held(node, names[0]);
        }
        auto told = Ends{};
        d.state().nodes().for_each([&](allot::NodeHandle h, const auto& record) {
            const auto& models = d.state().holdings(h);
            for (const auto& one : models) {
                told[{record.node.id.bytes().back(), d.state().models().name(one.model)}] =
                    models.until(&one).time_since_epoch();
            }
        });
        REQUIRE(told == ends);
    }
    CHECK(expired > 100);
}

TEST_CASE("a snapshot and a refused command keep the times of models") {
    auto d = forgetful(2);
    (void)d.report_model(1, command::Report::add, {"m"}, at(0s));
    (void)d.report_model(2, command::Report::add, {"m", "n"}, at(4min));
    auto loaded = allot::load_snapshot(allot::snapshot(d, 0), forgetful(0));
    REQUIRE(loaded);
    auto& other = loaded->dispatcher;
    CHECK(other.next_deadline() == due(10min));
    CHECK(d.report_model(1, command::Report::load, {"none"}, at(9min)).error() == allot::Error::model_not_on_disk);
    for (auto* one : {&d, &other}) {
        (void)one->advance(at(10min));
        CHECK_FALSE(holds(*one, 1, "m"));
        CHECK(holds(*one, 2, "m"));
        CHECK(one->next_deadline() == due(14min));
    }
    CHECK(allot::snapshot(d, 0) == allot::snapshot(other, 0));
}

}  // namespace bounded_requests_test
