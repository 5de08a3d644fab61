// A weight that sees the class of the node and what the task asks.
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <allot/explain/task.hpp>
#include <allot/laws.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace situation_test {

using namespace support;
using allot::Factors;
using allot::Node;
using allot::Situation;
using allot::Task;
using allot::Weight;

/// The default weight, divided by the memory that the task would leave unused.
struct BestFit {
    using role = allot::role::weight;
    static constexpr bool monotone = true;

    auto weight(const Node& node, const Task&, Factors factors, const Situation& situation) const -> Weight {
        const auto has = std::uint64_t{situation.node_class.vram.count};
        const auto asked = std::uint64_t{situation.requirement.vram_min.count};
        return weight_max(node, factors).scaled(1, has > asked ? 1 + (has - asked) : 1);
    }
    auto weight_max(const Node& node, Factors factors) const -> Weight {
        return allot::HarmonicWeight{}.weight(node, {}, factors);
    }
};

/// The same without a bound: every draw is among all.
struct BestFitByScan {
    using role = allot::role::weight;
    auto weight(const Node& node, const Task& task, Factors factors, const Situation& situation) const -> Weight {
        return BestFit{}.weight(node, task, factors, situation);
    }
};

/// Says that it weighs no more than half of what it weighs.
struct TooLow : BestFit {
    auto weight_max(const Node& node, Factors factors) const -> Weight {
        return BestFit::weight_max(node, factors).scaled(1, 2);
    }
    auto weight(const Node& node, const Task& task, Factors factors, const Situation& situation) const -> Weight {
        return BestFit{}.weight(node, task, factors, situation);
    }
};

/// Looks at what it may not: how often it was asked.
struct Impure : BestFitByScan {
    mutable std::uint64_t asked = 0;
    auto weight(const Node& node, const Task& task, Factors factors, const Situation& situation) const -> Weight {
        return BestFitByScan::weight(node, task, factors, situation).scaled(1, 1 + asked++ % 2);
    }
};

/// Says that it has no bound: then it needs no greatest value.
struct SaysNotMonotone : BestFitByScan {
    static constexpr bool monotone = false;
};

static_assert(std::is_same_v<allot::Dispatcher<SaysNotMonotone>::CandidatePool, allot::LinearPool>);
static_assert(allot::monotone_weight<BestFit> && !allot::monotone_weight<BestFitByScan>);
static_assert(std::is_same_v<allot::Dispatcher<BestFit>::CandidatePool, allot::GpuGroupPool>);
static_assert(std::is_same_v<allot::Dispatcher<BestFitByScan>::CandidatePool, allot::LinearPool>);

TEST_CASE("the laws hold for a weight in a situation, and find one that is above its greatest value", "[N3]") {
    CHECK_FALSE(allot::laws::monotone(BestFit{}, seed()));
    CHECK_FALSE(allot::laws::pure(BestFit{}, seed()));
    CHECK_FALSE(allot::laws::pure(BestFitByScan{}, seed()));
    const auto above = allot::laws::monotone(TooLow{}, seed());
    REQUIRE(above);
    CHECK(above->find("is above weight_max") != std::string::npos);
    CHECK(allot::laws::pure(Impure{}, seed()));
}

TEST_CASE("best fit takes the card that wastes least, as often as its weight says", "[N3]") {
    auto d = allot::Dispatcher<BestFit>{};
    for (const auto& [name, vram] : std::map<std::string, std::uint32_t>{{"8", 8}, {"11", 11}, {"80", 80}}) {
        ok(d.join(with(plain_node(allot::NodeId{name}), [vram = vram](auto& n) { n.vram = {vram}; }), at(0s)));
    }
    auto weights = std::map<std::string, Weight>{};
    ok(d.submit(plain_task(9'999), dark(0s)));
    d.view().each_candidate(*d.task(9'999),
                            [&](auto h, Weight w) { weights[d.state().nodes()[h].node.id.text()] = w; });
    ok(d.cancel(9'999, at(0s)));
    REQUIRE(weights.size() == 3);
    CHECK(weights["11"] == weights["8"].scaled(1, 4));
    CHECK(weights["80"] == weights["8"].scaled(1, 73));
    auto drawn = std::map<std::string, int>{};
    for (auto t = 0U; t < 4'000; ++t) {
        const auto lease = leased(d.submit(plain_task(t), at(0s, allot::Entropy{t})));
        ++drawn[lease.node.text()];
        ok(d.complete(lease, at(0s)));
    }
    // Due are 1/1, 1/4 and 1/73 of their sum: 3164, 791 and 43; five standard deviations are 129, 126 and 33.
    CHECK((drawn["8"] > 3'035 && drawn["8"] < 3'293));
    CHECK((drawn["11"] > 665 && drawn["11"] < 917));
    CHECK((drawn["80"] > 10 && drawn["80"] < 76));
}

TEST_CASE(
    "a weight in a situation decides the same by the index and by the linear oracle, in pulls and explanations too",
    "[N3]") {
    auto bounded = allot::Dispatcher<BestFit>{};
    auto scanned = allot::Dispatcher<BestFit, allot::LinearPool>{};
    auto random = std::mt19937_64{seed()};
    const auto both = [&](const auto& command, const Moment& moment) {
        const auto a = bounded.apply(command, moment);
        const auto b = scanned.apply(command, moment);
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) { REQUIRE(a[i].index() == b[i].index()); }
        REQUIRE(all<event::TaskStarted>(a).size() == all<event::TaskStarted>(b).size());
        return a;
    };
    auto leases = std::vector<Lease>{};
    for (auto step = 0U; step < 2'000; ++step) {
        const auto moment = at(Duration{step}, allot::Entropy{random()});
        auto events = Events{};
        if (step < 20 || random() % 10 == 0) {
            const auto vram = std::uint32_t{4} << (random() % 5);
            events = both(command::Join{with(plain_node(step),
                                             [&](auto& n) {
                                                 n.vram = {vram};
                                                 n.stake = random() % 900;
                                             })},
                          moment);
        } else if (random() % 2 == 0 || leases.empty()) {
            const auto vram = std::uint32_t{4} << (random() % 5);
            events = both(command::Submit{with(plain_task(step), [&](auto& t) { t.vram_min = {vram}; })}, moment);
        } else {
            const auto lease = leases.back();
            leases.pop_back();
            events = both(command::Complete{lease}, moment);
        }
        for (const auto& start : all<event::TaskStarted>(events)) {
            CHECK(bounded.lease(start.lease.task)->node == scanned.lease(start.lease.task)->node);
            leases.push_back(start.lease);
        }
    }
    bounded.state().tasks().for_each([&](auto, const Task& task) {
        const auto a = allot::explain(bounded, task.id);
        const auto b = allot::explain(scanned, task.id);
        REQUIRE((a && b));
        CHECK(a->kept_out == b->kept_out);
    });
}

}  // namespace situation_test
