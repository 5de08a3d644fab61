#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/journal/receipt.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

// Tasks that run on several nodes at once (seed 000; rules 17, 25, 26).
namespace gangs_test {

namespace {

using namespace support;
using allot::FailCause;
using allot::NodeId;
using allot::OutcomeKind;
using D = allot::Dispatcher<>;

auto card(NodeId id, const char* gpu, std::uint32_t vram, std::uint64_t stake = 400) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) {
        n.gpu = gpu;
        n.vram = {vram};
        n.stake = stake;
    });
}
auto gang(allot::TaskId id, std::uint32_t size, bool same_card = false, std::uint32_t vram_min = 8) -> TaskSpec {
    return with(plain_task(id), [&](TaskSpec& t) {
        t.gang_size = size;
        t.same_card = same_card;
        t.vram_min = {vram_min};
    });
}
auto leases(const Events& events) -> std::vector<Lease> {
    auto found = std::vector<Lease>{};
    for (const auto& started : all<event::TaskStarted>(events)) { found.push_back(started.lease); }
    return found;
}
auto nodes(const Events& events) -> std::vector<std::string> {
    auto found = std::vector<std::string>{};
    for (const auto& lease : leases(events)) { found.push_back(lease.node.text()); }
    std::sort(found.begin(), found.end());
    return found;
}
auto hows(const Events& events) -> std::vector<event::LeaseEnd> {
    auto found = std::vector<event::LeaseEnd>{};
    for (const auto& end : all<event::LeaseEnded>(events)) { found.push_back(end.how); }
    return found;
}
auto state(const D& d, NodeId node) -> NodeState { return d.node(node)->node.state; }

/// A task on all of three plain nodes.
struct Three {
    D d{};
    std::vector<Lease> lease{};

    explicit Three(TaskSpec task = gang(1, 3)) : Three{std::move(task), D{}} {}
    Three(TaskSpec task, D dispatcher) : d{std::move(dispatcher)} {
        join_plain(d, 3);
        lease = leases(d.submit(task, at(0s)));
        REQUIRE(lease.size() == 3);
    }
};

}  // namespace

TEST_CASE("a gang starts as a whole, a lease for each member") {
    auto d = D{};
    join_plain(d, 2);
    CHECK(d.submit(gang(1, 3), at(0s)).get<event::TaskQueued>() != nullptr);
    const auto joined = d.join(plain_node(3), at(1s));
    const auto given = leases(joined);
    REQUIRE(given.size() == 3);
    CHECK(nodes(joined) == std::vector<std::string>{"1", "2", "3"});
    CHECK(given[0].node == NodeId{3});  // who became free comes first
    for (auto i = std::uint32_t{0}; i < 3; ++i) {
        CHECK(given[i].member == i);
        CHECK(given[i].of == 3);
        CHECK(given[i].token == given[0].token + i);
        CHECK(state(d, given[i].node) == NodeState::busy);
    }
    CHECK(d.state().leases().size() == 3);
}

TEST_CASE("a gang is done when all have completed, and frees its nodes together") {
    auto w = Three{};
    ok(w.d.submit(gang(2, 3), at(0s)));  // waits for all three
    const auto first = w.d.complete(w.lease[1], at(1s));
    REQUIRE(first.get<event::LeaseCompleted>() != nullptr);
    CHECK(first.get<event::LeaseCompleted>()->lease == w.lease[1]);
    CHECK(state(w.d, w.lease[1].node) == NodeState::busy);
    CHECK(refusal(w.d.complete(w.lease[1], at(1s))) == Error::lease_completed);
    CHECK(refusal(w.d.fail(w.lease[1], FailCause::execution_error, at(1s))) == Error::lease_completed);
    CHECK(count<event::TaskDone>(w.d.complete(w.lease[0], at(2s))) == 0);
    const auto last = w.d.complete(w.lease[2], at(3s));
    REQUIRE(count<event::TaskDone>(last) == 1);
    CHECK(last.get<event::TaskDone>()->node == w.lease[0].node);
    CHECK(last.get<event::TaskDone>()->paid == allot::Amount{100});
    CHECK(hows(last) == std::vector(3, event::LeaseEnd::done));
    CHECK(leases(last).size() == 3);  // the next gang
    CHECK(leases(last)[0].task == allot::TaskId{2});
}

TEST_CASE("a completed member keeps no deadline, and is free when the last could be") {
    auto w = Three{};
    ok(w.d.renew(w.lease[2], at(50s)));
    ok(w.d.complete(w.lease[0], at(60s)));
    const auto l = w.d.node(w.lease[0].node)->node.lease;
    CHECK(w.d.view().ends_by(l) == TimePoint{250s});
    CHECK(w.d.next_deadline() == w.lease[1].deadline);
}

TEST_CASE("a gang goes on without a member that fails, times out or is slashed") {
    SECTION("fails") {
        auto w = Three{};
        const auto events = w.d.fail(w.lease[0], FailCause::out_of_memory, at(1s));
        REQUIRE(events.get<event::LeaseEnded>() != nullptr);
        CHECK(events.get<event::LeaseEnded>()->lease == w.lease[0]);
        CHECK(events.get<event::LeaseEnded>()->outcome == OutcomeKind::out_of_memory);
        CHECK(count<event::TaskFailed>(events) == 0);
        CHECK(state(w.d, w.lease[0].node) == NodeState::available);
        CHECK(refusal(w.d.complete(w.lease[0], at(1s))) == Error::lease_stale);
        ok(w.d.complete(w.lease[1], at(2s)));
        CHECK(w.d.complete(w.lease[2], at(2s)).get<event::TaskDone>()->node == w.lease[1].node);
    }
    SECTION("times out") {
        auto w = Three{};
        ok(w.d.complete(w.lease[2], at(1s)));
        ok(w.d.renew(w.lease[1], at(100s)));
        const auto events = w.d.advance(at(200s));
        CHECK(events.get<event::LeaseEnded>()->lease == w.lease[0]);
        CHECK(events.get<event::LeaseEnded>()->outcome == OutcomeKind::timeout);
        CHECK(count<event::TaskDone>(events) == 0);
        const auto later = w.d.advance(at(300s));  // nobody is at work any more, and one has completed
        CHECK(later.get<event::LeaseEnded>() != nullptr);
        CHECK(later.get<event::TaskDone>()->node == w.lease[2].node);
    }
    SECTION("is slashed") {
        auto w = Three{};
        const auto events = w.d.slash(w.lease[1].node, at(1s));
        CHECK(events.get<event::LeaseEnded>()->lease == w.lease[1]);
        CHECK(count<event::TaskFailed>(events) == 0);
        CHECK(state(w.d, w.lease[1].node) == NodeState::left);
        ok(w.d.complete(w.lease[0], at(1s)));
        CHECK(count<event::TaskDone>(w.d.complete(w.lease[2], at(1s))) == 1);
    }
    SECTION("is slashed after it completed") {
        auto w = Three{};
        ok(w.d.complete(w.lease[0], at(1s)));
        ok(w.d.slash(w.lease[0].node, at(1s)));
        ok(w.d.complete(w.lease[1], at(1s)));
        CHECK(w.d.complete(w.lease[2], at(1s)).get<event::TaskDone>()->node == w.lease[1].node);
    }
}

TEST_CASE("a task that nobody of its gang finished ends as its last member ended") {
    auto w = Three{};
    ok(w.d.fail(w.lease[0], FailCause::execution_error, at(1s)));
    ok(w.d.fail(w.lease[2], FailCause::execution_error, at(1s)));
    const auto failed = w.d.fail(w.lease[1], FailCause::model_download, at(1s));
    REQUIRE(count<event::TaskFailed>(failed) == 1);
    CHECK(failed.get<event::TaskFailed>()->cause == FailCause::model_download);
    CHECK(count<event::LeaseEnded>(failed) == 1);

    auto late = Three{};
    const auto expired = late.d.advance(at(200s));
    CHECK(count<event::LeaseEnded>(expired) == 3);
    CHECK(count<event::TaskTimedOut>(expired) == 1);
    CHECK(late.d.state().leases().size() == 0);
}

TEST_CASE("a gang that is retried elsewhere avoids all whom it lost") {
    auto w = Three{gang(1, 3), D{}};
    ok(w.d.configure(allot::FixedTermsParameters{.after_failure = allot::Next::retry_elsewhere}, 2, at(0s)));
    for (const auto& lease : w.lease) { ok(w.d.fail(lease, FailCause::execution_error, at(1s))); }
    CHECK(w.d.task(1)->state == allot::TaskState::queued);
    CHECK(w.d.task(1)->avoided().size() == 3);
    ok(w.d.join(plain_node(4), at(2s)));
    ok(w.d.join(plain_node(5), at(2s)));
    CHECK(nodes(w.d.join(plain_node(6), at(2s))) == std::vector<std::string>{"4", "5", "6"});
    CHECK(w.d.task(1)->attempt == 2);
}

TEST_CASE("a member that declines breaks the gang up, unless somebody has completed") {
    auto w = Three{};
    ok(w.d.join(plain_node(4), at(0s)));
    const auto events = w.d.decline(w.lease[0], at(1s));
    CHECK(events.get<event::LeaseEnded>()->lease == w.lease[0]);
    CHECK(hows(events) ==
          std::vector{event::LeaseEnd::declined, event::LeaseEnd::withdrawn, event::LeaseEnd::withdrawn});
    REQUIRE(leases(events).size() == 3);  // at once anew, without whoever declined
    for (const auto& lease : leases(events)) { CHECK(lease.node != w.lease[0].node); }

    auto late = Three{};
    ok(late.d.complete(late.lease[1], at(1s)));
    const auto one = late.d.decline(late.lease[0], at(1s));
    CHECK(hows(one) == std::vector{event::LeaseEnd::declined});
    CHECK(late.d.task(1)->state == allot::TaskState::running);
    CHECK(count<event::TaskDone>(late.d.complete(late.lease[2], at(2s))) == 1);
}

TEST_CASE("a gang that is cancelled frees all its nodes and blames none") {
    auto w = Three{};
    ok(w.d.complete(w.lease[0], at(1s)));
    const auto before = w.d.node(w.lease[1].node)->qos;
    CHECK(count<event::TaskCancelled>(w.d.cancel(1, at(1s))) == 1);
    for (auto id = 1; id <= 3; ++id) { CHECK(state(w.d, id) == NodeState::available); }
    CHECK(w.d.node(w.lease[1].node)->qos == before);
    CHECK(w.d.state().leases().size() == 0);
}

TEST_CASE("pause and leave wait for the gang's end, not for the member's") {
    auto w = Three{};
    ok(w.d.complete(w.lease[0], at(1s)));
    CHECK(w.d.leave(w.lease[0].node, at(1s)).get<event::NodeLeavePending>() != nullptr);
    ok(w.d.complete(w.lease[1], at(1s)));
    CHECK(count<event::NodeLeft>(w.d.complete(w.lease[2], at(1s))) == 1);
}

TEST_CASE("members of a validation group's gang have different operators") {
    auto d = D{};
    for (auto id = 1; id <= 5; ++id) {
        ok(d.join(with(plain_node(id), [&](NodeSpec& n) { n.operator_id = allot::OperatorId{id <= 4 ? 1 : 2}; }),
                  at(0s)));
    }
    const auto apart = [](TaskSpec& t) { t.group = allot::GroupId{7}; };
    CHECK(leases(d.submit(with(gang(1, 3), apart), at(0s))).empty());
    const auto pair = d.submit(with(gang(2, 2), apart), at(0s));
    REQUIRE(leases(pair).size() == 2);
    const auto of = [&](const Lease& lease) { return d.node(lease.node)->node.operator_id(); };
    CHECK_FALSE(of(leases(pair)[0]) == of(leases(pair)[1]));
    CHECK(leases(d.submit(gang(3, 3), at(0s))).size() == 3);  // without a group nobody minds
}

TEST_CASE("a gang of a validation group that a node's decline broke up may run on its other nodes again") {
    for (const auto grouped : {false, true}) {
        CAPTURE(grouped);
        auto w = Three{with(gang(1, 3), [&](TaskSpec& t) {
            if (grouped) { t.group = allot::GroupId{7}; }
        })};
        ok(w.d.join(plain_node(4), at(0s)));
        CHECK(leases(w.d.decline(w.lease[0], at(1s))).size() == 3);
    }
}

TEST_CASE("of one card, a draw falls on cards of enough nodes that can run the very task") {
    auto d = D{};
    ok(d.join(card(1, "A", 24), at(0s)));
    ok(d.join(card(2, "A", 24), at(0s)));
    ok(d.join(card(3, "A", 48), at(0s)));  // another card
    ok(d.join(card(4, "B", 24, 1'000'000), at(0s)));
    ok(d.join(card(5, "B", 24, 0), at(0s)));  // free, but without weight
    for (auto i = 0; i < 50; ++i) {
        auto copy = d;
        CHECK(nodes(copy.submit(gang(i + 1, 2, true), at(0s, i))) == std::vector<std::string>{"1", "2"});
    }
    CHECK(leases(d.submit(gang(100, 3, true), at(0s))).empty());
    CHECK(leases(d.submit(gang(101, 4), at(0s))).size() == 4);
}

TEST_CASE("each gang is drawn as often as its weights say, members without replacement") {
    // Cards A (3 nodes), B (2 nodes) and C (2 nodes, one of them without weight): pairs of one card.
    auto d = D{};
    const auto stakes = std::array<std::uint64_t, 7>{100, 900, 2'500, 400, 1'600, 10'000, 0};
    const auto cards = std::array{"A", "A", "A", "B", "B", "C", "C"};
    for (std::size_t i = 0; i < stakes.size(); ++i) {
        ok(d.join(card(static_cast<std::int64_t>(i), cards[i], 24, stakes[i]), at(0s)));
    }
    for (const auto same_card : {true, false}) {
        auto weights = std::map<std::string, double>{};  // of each alone, whoever must stand beside it
        const auto alone = allot::probabilities(d, gang(1, 1)).value();
        for (const auto& share : alone.nodes) { weights[share.node.text()] = static_cast<double>(share.weight.high()); }
        const auto beside = [&](std::size_t a, std::size_t b) {
            return a != b && (!same_card || cards[a] == std::string{cards[b]});
        };
        const auto weight = [&](std::size_t i) {
            return weights.contains(std::to_string(i)) ? weights[std::to_string(i)] : 0.0;
        };
        const auto others = [&](std::size_t a) {
            auto sum = 0.0;
            for (std::size_t b = 0; b < 7; ++b) { sum += beside(a, b) ? weight(b) : 0.0; }
            return sum;
        };
        auto total = 0.0;
        for (std::size_t a = 0; a < 7; ++a) { total += others(a) > 0 ? weight(a) : 0.0; }

        constexpr auto draws = 20'000;
        auto seen = std::map<std::pair<std::size_t, std::size_t>, int>{};
        for (auto i = 0; i < draws; ++i) {
            auto session = d.session();
            const auto given = leases(d.submit(gang(i, 2, same_card), at(0s, i)));
            REQUIRE(given.size() == 2);
            ++seen[{std::stoul(given[0].node.text()), std::stoul(given[1].node.text())}];
            session.rollback();
        }
        auto chi_square = 0.0;
        auto cells = 0;
        for (std::size_t a = 0; a < 7; ++a) {
            for (std::size_t b = 0; b < 7; ++b) {
                const auto expected =
                    beside(a, b) && others(a) > 0 ? draws * weight(a) / total * weight(b) / others(a) : 0.0;
                if (expected == 0.0) {
                    CHECK(seen[{a, b}] == 0);
                    continue;
                }
                ++cells;
                chi_square += (seen[{a, b}] - expected) * (seen[{a, b}] - expected) / expected;
            }
        }
        CAPTURE(same_card, chi_square, cells);
        CHECK(cells == (same_card ? 8 : 30));
        CHECK(chi_square < (same_card ? 40.0 : 80.0));  // p is about 1e-6

        // The distribution of the first node, as it is explained.
        const auto told = allot::probabilities(d, gang(1, 2, same_card)).value();
        CHECK(told.nodes.size() == (same_card ? 5U : 6U));
        for (const auto& share : told.nodes) {
            CHECK(static_cast<double>(share.weight.high()) == weights[share.node.text()]);
        }
    }
}

// All worlds of five nodes of four cards, which join one after the other, the first few unnoticed by those who wait,
// and two waiting tasks of four kinds; each time against every three of the free nodes.
TEST_CASE("a free node starts the best task that any three nodes with it can run, in every small world") {
    struct Card {
        const char* gpu;
        std::uint32_t vram;
    };
    struct Kind {
        bool same_card;
        std::uint32_t vram_min;
    };
    constexpr auto cards = std::array{Card{"A", 8}, Card{"B", 16}, Card{"C", 16}, Card{"D", 24}};
    constexpr auto kinds = std::array{Kind{false, 8}, Kind{false, 16}, Kind{true, 8}, Kind{true, 16}};
    auto worlds = 0;
    auto gangs = 0;
    const auto base = [&] {  // nothing but the tasks
        auto bases = std::vector<D>{};
        for (const auto& first : kinds) {
            for (const auto& second : kinds) {
                auto d = D{};
                const auto task = [](int id, const Kind& kind, std::uint64_t fee) {
                    return with(gang(id, 3, kind.same_card, kind.vram_min), [&](TaskSpec& t) { t.fee = fee; });
                };
                ok(d.submit(task(1, first, 100), dark(0s)));
                ok(d.submit(task(2, second, 200), dark(0s)));
                bases.push_back(std::move(d));
            }
        }
        return bases;
    }();
    for (auto world = 0; world < 3 * 1'024; ++world) {
        const auto unnoticed = 2 + world / 1'024;
        for (std::size_t b = 0; b < base.size(); ++b) {
            ++worlds;
            auto d = base[b];
            const auto kind_of = [&](int task) { return task == 1 ? kinds[b / 4] : kinds[b % 4]; };
            auto waiting = std::vector<int>{2, 1};  // the best first
            auto free = std::vector<int>{};
            const auto of = [&](int node) -> const Card& {
                return cards[static_cast<std::size_t>(world >> (2 * node)) % 4];
            };
            for (auto n = 0; n < 5; ++n) {
                const auto& c = of(n);
                const auto events =
                    d.join(card(n, c.gpu, c.vram), n < unnoticed ? dark(Duration{n}) : at(Duration{n}, world));
                free.push_back(n);
                if (n < unnoticed) { continue; }
                // Every three of the free nodes that contain this one: what they can run, and the smallest VRAM they
                // have.
                auto best = std::optional<int>{};
                auto smallest = std::uint32_t{0};
                for (const auto task : waiting) {
                    const auto kind = kind_of(task);
                    for (std::size_t i = 0; i + 1 < free.size(); ++i) {
                        for (std::size_t j = i + 1; j + 1 < free.size(); ++j) {
                            const auto& x = of(free[i]);
                            const auto& y = of(free[j]);
                            const auto vram = std::min({x.vram, y.vram, c.vram});
                            const auto one_card = x.gpu == std::string{c.gpu} && y.gpu == std::string{c.gpu};
                            if (vram >= kind.vram_min && (one_card || !kind.same_card)) {
                                best = best ? best : std::optional{task};
                                smallest = best == task ? std::max(smallest, vram) : smallest;
                            }
                        }
                    }
                }
                const auto given = leases(events);
                REQUIRE(given.size() == (best ? 3U : 0U));
                if (!best) { continue; }
                ++gangs;
                REQUIRE(given[0].task == allot::TaskId{*best});
                REQUIRE(given[0].node == NodeId{n});
                auto vram = std::uint32_t{100};
                for (const auto& lease : given) {
                    const auto node = std::stoi(lease.node.text());
                    REQUIRE(std::erase(free, node) == 1);
                    vram = std::min(vram, of(node).vram);
                    REQUIRE((of(node).gpu == std::string{c.gpu} || !kind_of(*best).same_card));
                }
                REQUIRE(vram == smallest);
                std::erase(waiting, *best);
            }
        }
    }
    CHECK(worlds == 3 * 1'024 * 16);
    CHECK(gangs > 20'000);
}

TEST_CASE("each draw of a gang has a receipt, whose candidates are those left over") {
    using Drawing = allot::Dispatcher<allot::ValueQueue>;
    auto d = Drawing{};
    for (auto id = 1; id <= 5; ++id) { ok(d.join(card(id, id < 4 ? "A" : "B", 24), at(0s))); }
    const auto snapshot = allot::snapshot(d, 5);
    const auto log =
        std::vector<allot::LogEntry<Drawing::Command>>{{at(1s), Drawing::Command{command::Submit{gang(1, 3, true)}}}};
    auto receipts = allot::Receipts<Drawing>{5};
    auto events = Events{};
    d.apply(log[0].command, log[0].moment, events, receipts.trace());
    REQUIRE(receipts.all().size() == 3);
    for (auto i = 0U; i < 3; ++i) {
        const auto& receipt = receipts.all()[i];
        CHECK(receipt.kind == allot::DecisionKind::draw);
        CHECK(receipt.candidates == 3 - i);
        CHECK(receipt.weight_total == receipt.weight * (3 - i));
        CHECK(receipt.node == leases(events)[i].node);
        CHECK_FALSE(allot::verify<Drawing>(allot::encode(receipt), snapshot, log, Drawing{}));
    }
}

}  // namespace gangs_test
