#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::claim_arbiter {
using allot::ClaimBid;
using allot::ClaimDecision;
using allot::Intent;
using allot::Quorum;
using allot::StoreCas;

namespace {

const auto claim = hash_of(1);
const auto a = ClaimBid{node(1).node, 1};
const auto b = ClaimBid{node(2).node, 1};
const auto better = bid_rank(claim, a) < bid_rank(claim, b) ? a : b;
const auto worse = better == a ? b : a;

using Decided = std::vector<ClaimDecision>;

auto hears(const ClaimBid& bid) -> allot::JobMessage { return allot::job_message::ClaimIntent{claim, bid}; }

}  // namespace

TEST_CASE("an intent wins after its window unless a better one was heard") {
    auto alone = Intent{};
    CHECK(alone.begin(claim, worse, at(0s)).messages.size() == 1);
    CHECK(alone.next_deadline() == at(1s));
    CHECK(alone.tick(at(999ms)).decided.empty());
    CHECK(alone.tick(at(1s)).decided == Decided{{claim, true}});
    CHECK(alone.tick(at(2s)).decided.empty());

    auto loser = Intent{};
    (void)loser.begin(claim, worse, at(0s));
    CHECK_FALSE(loser.on_message(hears(better), at(500ms)).error);
    CHECK(loser.tick(at(1s)).decided == Decided{{claim, false}});

    auto winner = Intent{};
    (void)winner.begin(claim, better, at(0s));
    CHECK(winner.on_message(hears(worse), at(500ms)).messages.size() == 1);  // whoever is late hears of it, once
    CHECK(winner.on_message(hears(worse), at(501ms)).messages.empty());
    CHECK(winner.tick(at(1s)).decided == Decided{{claim, true}});
}

TEST_CASE("a better intent is remembered for a while, and then its node may have vanished") {
    auto arbiter = Intent{};
    (void)arbiter.on_message(hears(better), at(0s));
    (void)arbiter.begin(claim, worse, at(5s));
    CHECK(arbiter.tick(at(6s)).decided == Decided{{claim, false}});
    for (auto time = 7; time < 12; ++time) {
        (void)arbiter.on_message(hears(worse), at(std::chrono::seconds{time}));
    }  // keeps nothing alive
    (void)arbiter.begin(claim, worse, at(12s));
    CHECK(arbiter.tick(at(13s)).decided == Decided{{claim, true}});
}

TEST_CASE("with a store the first bid stands, and the store is asked until it answers") {
    auto arbiter = StoreCas{};
    CHECK(arbiter.begin(claim, a, at(0s)).stores.size() == 1);
    CHECK(arbiter.next_deadline() == at(2s));
    CHECK(arbiter.tick(at(2s)).stores.size() == 1);
    CHECK(arbiter.on_store(claim, b, at(3s)).decided == Decided{{claim, false}});
    CHECK(arbiter.on_store(claim, a, at(3s)).error == JobError::claim_unknown);
    (void)arbiter.begin(claim, a, at(4s));
    CHECK(arbiter.on_store(claim, {a.node, 2}, at(5s)).decided ==
          Decided{{claim, false}});  // of the same node, for something else
    CHECK(arbiter.next_deadline() == std::nullopt);
}

TEST_CASE("more than half of the voters give a claim, each votes once, and nobody else counts") {
    const auto voters = std::vector{node(1).node, node(2).node, node(3).node, node(4).node};
    auto one = Quorum{node(1).node, voters};
    auto two = Quorum{node(2).node, voters};
    auto three = Quorum{node(3).node, voters};
    const auto asked = one.begin(claim, a, at(0s));
    REQUIRE(asked.messages.size() == 1);
    CHECK(asked.decided.empty());
    CHECK(two.begin(claim, b, at(0s)).decided.empty());
    CHECK(two.on_message(asked.messages[0], at(10ms)).messages.empty());  // voted for itself
    const auto vote = three.on_message(asked.messages[0], at(10ms)).messages;
    REQUIRE(vote.size() == 1);
    CHECK(three.on_message(allot::job_message::VoteRequest{claim, b}, at(11ms)).messages.empty());
    CHECK(three.on_message(asked.messages[0], at(12ms)).messages.size() == 1);  // said again, not voted again
    CHECK(one.on_message(vote[0], at(20ms)).decided.empty());                   // two of four are no majority
    CHECK(one.on_message(vote[0], at(21ms)).decided.empty());
    CHECK(one.on_message(allot::job_message::Vote{claim, a, node(9).node}, at(21ms)).error == JobError::node_invalid);
    CHECK(one.on_message(allot::job_message::Vote{claim, a, node(4).node}, at(22ms)).decided == Decided{{claim, true}});
    CHECK(two.tick(at(1s)).messages.size() == 1);  // asks again
    CHECK(two.tick(at(4s)).decided == Decided{{claim, false}});
    CHECK(two.next_deadline() == std::nullopt);
}

TEST_CASE("arbiters refuse what is not theirs, and change nothing") {
    auto intent = Intent{};
    auto store = StoreCas{};
    auto quorum = Quorum{node(1).node, {node(1).node}};
    CHECK(intent.on_message(allot::job_message::JobsQuery{node(1).node}, at(0s)).error ==
          JobError::message_shape_wrong);
    CHECK(intent.on_message(hears({allot::NodeId{""}, 1}), at(0s)).error == JobError::node_invalid);
    CHECK(intent.on_store(claim, a, at(0s)).error == JobError::claim_unknown);
    CHECK(store.on_message(hears(a), at(0s)).error == JobError::message_shape_wrong);
    CHECK(quorum.on_message(hears(a), at(0s)).error == JobError::message_shape_wrong);
    CHECK(quorum.on_message(allot::job_message::VoteRequest{claim, {allot::NodeId{""}, 1}}, at(0s)).error ==
          JobError::node_invalid);
    CHECK(quorum.begin(claim, a, at(0s)).decided == Decided{{claim, true}});  // the only voter
}

TEST_CASE(
    "a node that makes up claims fills its own share alone: no honest bid is refused, and its share is free again") {
    auto arbiter = Intent{};
    const auto bids = [&](std::uint64_t number, const ClaimBid& bid, TimePoint now) {
        return arbiter.on_message(allot::job_message::ClaimIntent{hash_of(number), bid}, now).error;
    };
    for (std::uint64_t i = 0; i < Intent::claims_max; ++i) { CHECK_FALSE(bids(1'000 + i, b, at(0s))); }
    CHECK(bids(9'999, b, at(0s)) == JobError::message_too_large);
    CHECK_FALSE(bids(1'000, b, at(0s)));  // said again
    CHECK_FALSE(bids(9'999, a, at(0s)));
    CHECK_FALSE(bids(9'998, {node(3).node, 1}, at(0s)));
    // A claim that is here already may be contested, and a better bid takes it out of the other's share.
    const auto first = hash_of(1'000);
    auto better_one = ClaimBid{node(3).node, 1};
    while (bid_rank(first, better_one) > bid_rank(first, b)) { ++better_one.mark; }
    CHECK_FALSE(bids(1'000, better_one, at(0s)));
    CHECK_FALSE(bids(9'997, b, at(0s)));
    CHECK(bids(9'996, b, at(0s)) == JobError::message_too_large);
    // Nor does another's claim, which is here, give it one more.
    CHECK(bids(9'998, b, at(0s)) == JobError::message_too_large);
    // This node's own bid is never refused, and wins.
    (void)arbiter.begin(claim, a, at(1s));
    CHECK(arbiter.tick(at(2s)).decided == Decided{{claim, true}});
    (void)arbiter.tick(at(20s));
    CHECK_FALSE(bids(9'996, b, at(20s)));
}

TEST_CASE("a node that makes up claims uses up its own votes alone, and votes that were given stay") {
    const auto voters = std::vector{node(1).node, node(2).node, node(3).node};
    auto voter = Quorum{node(1).node, voters};
    const auto asks = [&](std::uint64_t number, const ClaimBid& bid) {
        return voter.on_message(allot::job_message::VoteRequest{hash_of(number), bid}, at(0s));
    };
    auto given = std::size_t{0};
    for (std::uint64_t i = 0; i < Quorum::votes_max; ++i) { given += asks(10 + i, b).messages.size(); }
    CHECK(given == Quorum::votes_max);
    CHECK(asks(9, b).error == JobError::message_too_large);
    CHECK(asks(9, b).messages.empty());
    CHECK(asks(10, b).messages.size() == 1);  // it voted so
    CHECK(asks(9, {node(3).node, 1}).messages.size() == 1);
    CHECK(asks(9, b).messages.empty());  // and this one went to another
    CHECK_FALSE(asks(9, b).error);
    CHECK(voter.begin(hash_of(8), a, at(0s)).messages.size() == 1);
    // Who is no voter keeps no votes.
    auto other = Quorum{node(9).node, voters};
    CHECK_FALSE(other.on_message(allot::job_message::VoteRequest{claim, b}, at(0s)).error);
}

}  // namespace job_test::claim_arbiter
