#include <map>
#include <string>
#include <vector>

#include <allot/reward.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"

namespace {

using namespace support;
using allot::preset::CrynuxTrio;
using Round = allot::SubmissionRounds::Round;
using Trio = allot::Dispatcher<CrynuxTrio>;

auto node(allot::NodeId id, const char* gpu, std::uint32_t vram, std::vector<std::string> models = {}) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) {
        n.gpu = gpu;
        n.vram = {vram};
        n.models = std::move(models);
    });
}
auto leases(const Events& events) -> std::vector<Lease> {
    auto found = std::vector<Lease>{};
    for (const auto& started : all<event::TaskStarted>(events)) { found.push_back(started.lease); }
    return found;
}

}  // namespace

TEST_CASE("a GPT task wants three nodes of one card, an image task any three") {
    auto d = Trio{CrynuxTrio{}};
    ok(d.join(node(1, "RTX 4090", 24), at(0s)));
    ok(d.join(node(2, "RTX 4090", 24), at(0s)));
    ok(d.join(node(3, "RTX 3080", 10), at(0s)));
    CHECK(leases(d.submit(CrynuxTrio::gpt(plain_task(1)), at(0s))).empty());
    CHECK(leases(d.submit(CrynuxTrio::sd(plain_task(2)), at(0s))).size() == 3);
    CHECK(d.queued() == 1);
    const auto joined = d.join(node(4, "RTX 4090", 24), at(1s));
    CHECK(leases(joined).empty());  // the others are busy
}

TEST_CASE("the nodes of a gang share the fee by how early they submitted, and are scored so") {
    auto d = Trio{CrynuxTrio{}};
    for (auto id = 1; id <= 3; ++id) { ok(d.join(node(id, "RTX 4090", 24), at(0s))); }
    const auto lease = leases(d.submit(CrynuxTrio::gpt(plain_task(1)), at(0s)));
    REQUIRE(lease.size() == 3);
    auto rounds = allot::SubmissionRounds{3};
    const auto hear = [&](const Events& events) {
        events.each(
            [&](const event::TaskCommitted& e) { (void)rounds.submitted(Round::commitment, e.lease.member).value(); },
            [&](const event::TaskDisclosed& e) { (void)rounds.submitted(Round::disclosure, e.lease.member).value(); });
    };
    for (const auto member : {2U, 0U, 1U}) { hear(d.commit(lease[member], at(1s))); }
    for (const auto member : {0U, 2U, 1U}) { hear(d.disclose(lease[member], at(2s))); }
    auto done = Events{};
    for (const auto& one : lease) { done = d.complete(one, at(3s)); }
    REQUIRE(done.get<event::TaskDone>() != nullptr);
    const auto split = allot::split_fee(done.get<event::TaskDone>()->paid, rounds.scores()).value();
    CHECK(rounds.scores() == std::vector<std::uint32_t>{19, 12, 19});
    CHECK(split.paid == std::vector<allot::Amount>{38, 24, 38});
    for (auto member = 0U; member < 3; ++member) { ok(d.score(lease[member].node, rounds.scores()[member], at(4s))); }
    CHECK(d.qos_score(*d.node(lease[1].node)) == allot::Score::from_ratio(12, 20));
    CHECK(d.qos_score(*d.node(lease[0].node)) == allot::Score::from_ratio(19, 20));
}

TEST_CASE("who has the model is more likely, and nobody else is kept out") {
    auto d = Trio{CrynuxTrio{}};
    ok(d.join(node(1, "A", 24, {"sdxl"}), at(0s)));
    ok(d.join(node(2, "A", 24), at(0s)));
    ok(d.report_model(1, command::Report::load, {"sdxl"}, at(0s)));
    auto first = std::map<std::string, int>{};
    for (auto i = 0; i < 3'000; ++i) {
        auto session = d.session();
        const auto task = with(plain_task(i), [](TaskSpec& t) {
            t.gang_size = 2;
            t.models = {"sdxl"};
        });
        ++first[leases(d.submit(task, at(0s, i))).at(0).node.text()];
        session.rollback();
    }
    CHECK(first["1"] > 1'850);  // two thirds, within six standard deviations
    CHECK(first["1"] < 2'150);
}

TEST_CASE("three tasks of few points remove a node") {
    auto d = Trio{CrynuxTrio{}};
    ok(d.join(node(1, "A", 24), at(0s)));
    ok(d.score(1, 6, at(1s)));
    ok(d.score(1, 7, at(2s)));
    CHECK(count<event::NodeKickedOut>(d.score(1, 7, at(3s))) == 1);
}
