#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/journal/receipt.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace {

using namespace support;

using Drawing = allot::Dispatcher<allot::ValueQueue>;

auto sum_of(const allot::Distribution& distribution) -> allot::u128 {
    auto sum = allot::u128{};
    for (const auto& share : distribution.nodes) { sum += share.weight; }
    return sum;
}

auto share_of(const allot::Distribution& distribution, const allot::NodeId& node) -> allot::u128 {
    for (const auto& share : distribution.nodes) {
        if (share.node == node) { return share.weight; }
    }
    return {};
}

}  // namespace

TEST_CASE("draws fall as the distribution says") {
    auto random = std::mt19937_64{support::seed()};
    auto d = Drawing{};
    for (auto id = 1; id <= 30; ++id) {
        ok(d.join(with(plain_node(id),
                       [&](NodeSpec& n) {
                           n.stake = id % 10 == 0 ? 0 : 1 + random() % 100'000;
                           n.vram = allot::Gibibytes{static_cast<std::uint32_t>(8 * (1 + id % 3))};
                           n.models = id % 2 == 0 ? std::vector<std::string>{"A"} : std::vector<std::string>{"B", "C"};
                       }),
                  at(0s)));
        ok(d.score(id, static_cast<std::uint32_t>(random() % 11), at(0s)));
    }
    for (const auto id : {3, 7, 9}) { ok(d.observe(id, allot::OutcomeKind::timeout, at(0s))); }
    for (const auto& models : {std::vector<std::string>{}, std::vector<std::string>{"A", "B"}}) {
        const auto task = with(plain_task(1), [&](TaskSpec& t) {
            t.vram_min = 16_GiB;
            t.models = models;
        });
        const auto expected = allot::probabilities(d, task).value();
        CHECK(expected.total == sum_of(expected));
        auto found = std::map<std::string, double>{};
        constexpr auto draws = 24'000;
        for (auto i = 0; i < draws; ++i) {
            auto session = d.session();
            found[where(d.submit(task, at(0s, allot::Entropy{random()})))] += 1;
            session.rollback();
        }
        const auto number = [](allot::u128 weight) { return double(weight.high()) * 0x1p64 + double(weight.low()); };
        auto chi_square = 0.0;
        auto seen = 0.0;
        for (const auto& [node, weight] : expected.nodes) {
            const auto mean = draws * number(weight) / number(expected.total);
            const auto hits = found[node.text()];
            chi_square += (hits - mean) * (hits - mean) / mean;
            seen += hits;
        }
        CHECK(seen == draws);  // nobody else was drawn
        INFO("ALLOT_SEED " << support::seed());
        CAPTURE(expected.nodes.size(), chi_square);
        REQUIRE(expected.nodes.size() >= 16);
        REQUIRE(expected.nodes.size() <= 24);
        CHECK(chi_square < 71.0);  // below p = 1e-6 with up to 23 degrees of freedom
    }
}

TEST_CASE("the distribution is the one that receipts state") {
    auto drawn = 0;
    auto d = Drawing{};
    auto chaos = support::Chaos<Drawing>{support::seed()};
    for (auto step = 0; step < 3'000; ++step) {
        const auto moment = chaos.moment(d);
        const auto command = chaos.command(d);
        const auto* submit = std::get_if<command::Submit>(&command);
        if (submit == nullptr || !moment.entropy) {
            (void)d.apply(command, moment);
            continue;
        }
        (void)d.advance(dark(moment.time.time_since_epoch()));
        const auto expected = allot::probabilities(d, submit->task);
        auto receipts = allot::Receipts<Drawing>{0};
        auto events = Events{};
        d.apply(command, moment, events, receipts.trace());
        auto first = true;  // of a gang, the distribution is that of the first node
        for (const auto& receipt : receipts.all()) {
            if (receipt.kind != allot::DecisionKind::draw || receipt.task != submit->task.id ||
                !std::exchange(first, false)) {
                continue;
            }
            ++drawn;
            INFO("ALLOT_SEED " << support::seed() << ", step " << step);
            REQUIRE(expected);
            CHECK(receipt.candidates == expected->nodes.size());
            CHECK(receipt.weight_total == expected->total);
            CHECK(receipt.weight == share_of(*expected, receipt.node));
        }
    }
    CHECK(drawn > 50);
}

TEST_CASE("a waiting task and one that is not known have the same candidates as the hub counts") {
    auto d = Drawing{};
    auto chaos = support::Chaos<Drawing>{support::seed()};
    auto compared = 0;
    for (auto step = 0; step < 1'500; ++step) {
        const auto moment = chaos.moment(d);
        (void)d.apply(chaos.command(d), moment);
        auto ids = std::vector<allot::TaskHandle>{};
        d.state().tasks().for_each([&](allot::TaskHandle h, const allot::Task& task) {
            if (task.state == allot::TaskState::queued) { ids.push_back(h); }
        });
        for (const auto h : ids) {
            const auto& task = d.state().tasks()[h];
            auto expected = std::vector<allot::Share>{};
            d.view().each_candidate(task, [&](allot::NodeHandle n, allot::Weight weight) {
                expected.push_back({d.state().nodes()[n].node.id, weight.raw()});
            });
            CHECK(allot::probabilities(d, task.id).value().nodes == expected);
            compared += expected.empty() ? 0 : 1;
        }
    }
    CHECK(compared > 20);
    CHECK(allot::probabilities(d, allot::TaskId{"unknown"}).error() == Error::task_unknown);
}
