#include <map>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// Who may say what: every message that states something, with a wrong sender, a wrong signature, and an author without
// the right.

namespace job_test::statement {

namespace message = allot::job_message;

namespace {

auto signature_of(const allot::NodeId& author, const allot::Hash256& digest) -> allot::Signature {
    const auto hash = allot::RecordHasher{"signed"}.id(author).hash(digest).finish();
    return {hash.begin(), hash.end()};
}
constexpr auto proven = [](const allot::NodeId& author, const allot::Hash256& digest, const allot::Signature& s) {
    return s == signature_of(author, digest);
};

const auto poster = node(1).node;
const auto referee = node(2).node;
const auto contract = node(3).node;

auto judged_plan() -> allot::JobPlan {
    auto spec = spec_of({2, 2, 0, 1, 0});
    spec.job = allot::job_id_of(poster, 1);
    spec.authorities = {poster, referee, contract};
    return *allot::JobPlan::slice(spec);
}
auto record_by(const allot::JobPlan& plan, const allot::NodeId& owner) -> allot::MacroRecord {
    auto record = allot::MacroRecord{plan.job(), 0, 1, owner, allot::JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
    for (std::uint32_t k = 0; k < 2; ++k) { record.accepted.push_back({hash_of(k), node(5).node, node(5).wallet}); }
    record.digest = digest_of(record);
    return record;
}
auto end_of(const allot::JobPlan& plan) -> allot::FinalRecord {
    auto final =
        allot::FinalRecord{plan.job(), 1, node(4).node, allot::JobOutcome::complete, {hash_of(1), hash_of(2)}, {}, {}};
    final.digest = digest_of(final);
    return final;
}
auto rejection_by(const allot::NodeId& author) -> allot::Rejection {
    return {hash_of(0), {0, 0}, node(5).node, node(5).wallet, allot::RejectReason::culprit, author, {}};
}
auto control_of(const allot::JobPlan& plan, const allot::JobNode& owner) -> allot::QueueControl {
    auto replica = allot::MicroQueueReplica{plan.macro(0), owner, {}, at(0s)};
    return *sent<message::QueueSnapshot>(replica.create(at(0s)))->control;
}

auto fault(const allot::JobPlan& plan, const allot::NodeId& sender, const allot::JobMessage& m) {
    return allot::fault_of_authors(plan.authorities(), sender, m, proven);
}

}  // namespace

TEST_CASE("K4: a message speaks for its sender alone") {
    const auto plan = judged_plan();
    const auto a = node(7).node;
    const auto claim = allot::ClaimBid{a, 1};
    auto result = result_of(plan.macro(0), 0, node(7), {hash_of(1)});
    result.signature = signature_of(a, result.digest);
    auto promise = commitment_of(result);
    promise.signature = signature_of(a, digest_of(plan.job(), promise));
    auto request = message::OwnershipRequest{plan.job(), 0, a, node(7).wallet, 1};
    request.signature = signature_of(a, digest_of(plan.job(), 0, request));
    auto renewal = message::RenewalRequest{plan.job(), {0, 0}, a, {}, {1, hash_of(1)}};
    renewal.progress.signature = signature_of(a, digest_of(plan.job(), renewal.key, renewal.token, renewal.progress));
    const auto own = std::vector<allot::JobMessage>{
        request,
        message::ResultCommitted{plan.job(), promise},
        message::ResultFound{plan.job(), result},
        renewal,
        message::LeaseReturned{plan.job(), {0, 0}, a, {}},
        message::JobsQuery{a},
        message::MacrosQuery{plan.job(), a},
        message::MacroNews{plan.job(), 0, a, 1, 0, {}, {}},
        message::MicroDone{plan.job(), {0, 0}, a, hash_of(1)},
        message::ClaimIntent{hash_of(1), claim},
        message::VoteRequest{hash_of(1), claim},
        message::Vote{hash_of(1), {node(8).node, 1}, a},
    };
    for (const auto& m : own) {
        INFO(m.index());
        CHECK(*allot::sender_named(m) == a);
        CHECK(fault(plan, a, m) == std::nullopt);
        CHECK(fault(plan, node(8).node, m) == JobError::author_wrong);
    }
    CHECK(own.size() + 4 == std::variant_size_v<allot::JobMessage>);  // the others only relay
}

TEST_CASE("K4, K6: whatever is relayed needs its author's signature") {
    const auto plan = judged_plan();
    const auto relayer = node(8).node;
    const auto relays = [&](auto change) {
        auto m = message::QueueSnapshot{plan.job(), 0, false, {}, {}, {}, {}, {}, {}};
        change(m);
        return m;
    };
    auto result = result_of(plan.macro(0), 0, node(7), {hash_of(1)});
    auto unsigned_ones = std::vector<std::pair<allot::NodeId, allot::JobMessage>>{
        {node(7).node, relays([&](auto& m) { m.control = control_of(plan, node(7)); })},
        {node(7).node, relays([&](auto& m) { m.commitments = {commitment_of(result)}; })},
        {node(7).node, relays([&](auto& m) { m.results = {result}; })},
        {referee, relays([&](auto& m) { m.rejected = {rejection_by(referee)}; })},
        {contract, relays([&](auto& m) { m.rejected = {rejection_by(contract)}; })},
        {node(7).node, relays([&](auto& m) { m.records = {record_by(plan, node(7).node)}; })},
        {contract, relays([&](auto& m) { m.final = end_of(plan); })},
        {contract, message::JobEnded{end_of(plan)}},
        {poster, message::JobPosted{plan, {}}},
        {node(7).node,
         message::ContradictionFound{plan.job(), 0, control_of(plan, node(7)), control_of(plan, node(7))}},
    };
    for (auto& [author, m] : unsigned_ones) {
        INFO(m.index());
        CHECK(fault(plan, relayer, m) == JobError::author_unproven);
        auto forged = m;
        allot::for_each_statement(forged, plan.authorities(), [&](auto& s, const allot::NodeId&, const auto& digest) {
            s.signature = signature_of(relayer, digest());
        });
        CHECK(fault(plan, relayer, forged) == JobError::author_unproven);
        auto right = m;
        allot::for_each_statement(right, plan.authorities(),
                                  [&, &by = author](auto& s, const allot::NodeId& a, const auto& digest) {
                                      CHECK(a == by);
                                      s.signature = signature_of(a, digest());
                                  });
        CHECK(fault(plan, relayer, right) == std::nullopt);
        auto statements = 0;
        allot::for_each_statement(right, plan.authorities(), [&](auto&, const auto&, const auto&) { ++statements; });
        for (auto without = 0; without < statements; ++without) {
            auto lacking = right;
            auto i = 0;
            allot::for_each_statement(lacking, plan.authorities(), [&](auto& s, const auto&, const auto&) {
                if (i++ == without) { s.signature.clear(); }
            });
            CHECK(fault(plan, relayer, lacking) == JobError::author_unproven);
        }
        auto large = right;
        allot::for_each_statement(large, plan.authorities(), [&](auto& s, const allot::NodeId&, const auto&) {
            s.signature.resize(allot::signature_size_max + 1);
        });
        CHECK(fault(plan, relayer, large) == JobError::message_too_large);
        // Members who trust each other need none.
        CHECK(allot::fault_of_authors(plan.authorities(), relayer, m, allot::TrustAuthors{}) == std::nullopt);
    }
}

TEST_CASE("K4: no owner invents who waits, or how far another has come") {
    const auto plan = judged_plan();
    auto m = message::QueueSnapshot{plan.job(), 0, false, {}, {}, {}, {}, {}, {}};
    m.control = control_of(plan, node(7));
    const auto sign_all = [&](auto by) {
        auto copy = allot::JobMessage{m};
        const auto sign = [&](auto& s, const allot::NodeId& author, const auto& digest) {
            s.signature = signature_of(by(author), digest());
        };
        allot::for_each_statement(copy, plan.authorities(), sign);
        return copy;
    };
    const auto owner_signs = [](const allot::NodeId&) { return node(7).node; };
    CHECK(fault(plan, node(7).node, sign_all(owner_signs)) == std::nullopt);
    m.control->requests.push_back({node(5).node, node(5).wallet, 1, at(0s)});
    CHECK(fault(plan, node(7).node, sign_all(owner_signs)) == JobError::author_unproven);
    m.control->requests.clear();
    m.control->given.push_back({0, node(5).node, {1, 1, 1}, false, {1, hash_of(1)}});
    CHECK(fault(plan, node(7).node, sign_all(owner_signs)) == JobError::author_unproven);
    CHECK(fault(plan, node(7).node, sign_all([](const auto& author) { return author; })) == std::nullopt);
}

TEST_CASE("a contradiction needs the signatures in both controls") {
    const auto plan = judged_plan();
    const auto bare = control_of(plan, node(7));
    allot::JobMessage m = message::QueueSnapshot{plan.job(), 0, false, bare, {}, {}, {}, {}, {}};
    allot::sign_own(m, node(7).node, [](const allot::Hash256& digest) { return signature_of(node(7).node, digest); });
    const auto proven = *std::get<message::QueueSnapshot>(m).control;
    const auto fault_with = [&](const auto& one, const auto& other) {
        return fault(plan, node(8).node, message::ContradictionFound{plan.job(), 0, one, other});
    };
    CHECK(fault_with(proven, proven) == std::nullopt);
    CHECK(fault_with(bare, proven) == JobError::author_unproven);
    CHECK(fault_with(proven, bare) == JobError::author_unproven);
}

TEST_CASE("K4: a verdict counts from those alone whom the plan names") {
    const auto plan = judged_plan();
    const auto says = [&](const allot::NodeId& author) {
        auto m = message::QueueSnapshot{plan.job(), 0, false, {}, {}, {}, {rejection_by(author)}, {}, {}};
        auto& r = m.rejected.front();
        r.signature = signature_of(author, digest_of(plan.job(), r));
        return fault(plan, node(8).node, m);
    };
    CHECK(says(referee) == std::nullopt);
    CHECK(says(contract) == std::nullopt);
    CHECK(says(poster) == JobError::author_without_right);  // it named a referee
    CHECK(says(node(8).node) == JobError::author_without_right);
    CHECK(says(allot::NodeId::null()) == JobError::author_without_right);
    // The machines of a member that trusts all others hold to the plan, too.
    auto replica = allot::MicroQueueReplica{plan.macro(0), node(8), {}, at(0s)};
    CHECK(replica.reject(rejection_by(poster), at(0s)).error == JobError::author_without_right);
    CHECK(replica.reject(rejection_by(referee), at(0s)).accepted());
    // Without a referee the poster rejects; without any name each member does.
    CHECK(allot::JobAuthorities{poster, allot::NodeId::null(), contract}.may_reject(poster));
    CHECK_FALSE(allot::JobAuthorities{poster, allot::NodeId::null(), contract}.may_reject(node(8).node));
    CHECK_FALSE(allot::JobAuthorities{allot::NodeId::null(), allot::NodeId::null(), contract}.may_reject(
        allot::NodeId::null()));
    CHECK(allot::JobAuthorities{}.may_reject(node(8).node));
}

TEST_CASE("a member signs its own statements, and no others") {
    const auto plan = judged_plan();
    auto first = result_of(plan.macro(0), 0, node(7), {hash_of(1)});
    auto others = result_of(plan.macro(0), 1, node(8), {hash_of(2)});
    allot::JobMessage m = message::QueueSnapshot{
        plan.job(), 0, true, control_of(plan, node(7)), {}, {first, others}, {}, {record_by(plan, node(7).node)}, {}};
    auto times = 0;
    const auto sign = [&](const allot::Hash256& digest) {
        ++times;
        return signature_of(node(7).node, digest);
    };
    allot::sign_own(m, node(7).node, sign);
    CHECK(times == 4);  // the control, its reign, a result and a record

    const auto& snapshot = std::get<message::QueueSnapshot>(m);
    CHECK(snapshot.control->signature == signature_of(node(7).node, digest_of(plan.job(), 0, *snapshot.control)));
    CHECK(snapshot.results[0].signature == signature_of(node(7).node, first.digest));
    CHECK(snapshot.results[1].signature.empty());
    allot::sign_own(m, node(7).node, sign);  // what is signed stays
    CHECK(times == 4);
}

TEST_CASE("a member signs its own statements in all that it is about to say: to members, the store and the escrow") {
    const auto plan = judged_plan();
    const auto self = node(7).node;
    const auto own = result_of(plan.macro(0), 0, node(7), {hash_of(1)});
    const auto others = result_of(plan.macro(0), 1, node(8), {hash_of(2)});
    const auto records = std::vector{record_by(plan, self), record_by(plan, node(8).node)};
    auto as = end_of(plan);
    as.owner = self;
    as.digest = digest_of(as);
    auto effects = allot::JobEffects{};
    effects.sends = {{"channel", message::ResultFound{plan.job(), own}}};
    effects.writes = {{"own", own}, {"another's", others}};
    effects.events = {
        allot::job_event::MacroEnded{records[0]}, allot::job_event::EscrowReleaseRequested{plan.job(), {}, records, as},
        allot::job_event::EscrowRefundRequested{plan.job(), {}, records, as}, allot::job_event::JobEnded{end_of(plan)}};
    const auto sign = [&](const allot::Hash256& digest) { return signature_of(self, digest); };
    allot::sign_own(effects, self, sign);
    const auto is_signed = [&](const auto& statement) { return statement.signature == sign(statement.digest); };
    CHECK(is_signed(sent<message::ResultFound>(effects)->record));
    CHECK(is_signed(effects.writes[0].record));
    CHECK(effects.writes[1].record.signature.empty());
    CHECK(is_signed(effects.get<allot::job_event::MacroEnded>()->record));
    const auto escrow = [&](const auto& event) {
        CHECK(is_signed(event.records[0]));
        CHECK(event.records[1].signature.empty());
        CHECK(is_signed(event.as));
    };
    escrow(*effects.get<allot::job_event::EscrowReleaseRequested>());
    escrow(*effects.get<allot::job_event::EscrowRefundRequested>());
    CHECK(effects.get<allot::job_event::JobEnded>()->record.signature.empty());  // of another owner
}

TEST_CASE("a queue that is handed over is its last owner's word, and from then on its new owner's") {
    const auto plan = judged_plan().macro(0);
    auto a = allot::MicroQueueReplica{plan, node(1), {}, at(0s)};
    auto b = allot::MicroQueueReplica{plan, node(2), {}, at(0s)};
    const auto created = *sent<message::QueueSnapshot>(a.create(at(0s)));
    CHECK(author_of(*created.control) == node(1).node);
    (void)received(b, created, at(0s));
    const auto asked = b.want_work(true, at(1s));
    const auto given = *sent<message::QueueSnapshot>(received(a, *sent<message::OwnershipRequest>(asked), at(1s)));
    CHECK(given.control->reign().owner == node(2).node);
    CHECK(author_of(*given.control) == node(1).node);
    const auto leased = *sent<message::QueueSnapshot>(received(b, given, at(1s)));
    CHECK(author_of(*leased.control) == node(2).node);
}

TEST_CASE("the digest of a control covers each of its fields") {
    const auto plan = judged_plan();
    auto control = control_of(plan, node(7));
    control.given.push_back({0, node(8).node, {1, 1, 1}});
    const auto digest = digest_of(plan.job(), 0, control);
    const auto changes = [&](auto change) {
        auto other = control;
        change(other);
        return digest_of(plan.job(), 0, other) != digest;
    };
    CHECK(digest_of(allot::JobId{"another"}, 0, control) != digest);
    CHECK(digest_of(plan.job(), 1, control) != digest);
    CHECK(changes([](auto& c) { ++c.chain.back().reign.epoch; }));
    CHECK(changes([](auto& c) { c.chain.back().reign.owner = node(8).node; }));
    CHECK(changes([](auto& c) { ++c.chain.back().reign.boot; }));
    CHECK(changes([](auto& c) { ++c.chain.back().reign.parent; }));
    CHECK(changes([](auto& c) { c.chain.back().reign.taken = !c.chain.back().reign.taken; }));
    CHECK(changes([](auto& c) { ++c.revision; }));
    CHECK(changes([](auto& c) { c.clock += 1ms; }));
    CHECK(changes([](auto& c) { c.progress += 1ms; }));
    CHECK(changes([](auto& c) { c.chain.back().reign.began += 1ms; }));
    CHECK(changes([](auto& c) { ++c.disclosed; }));
    CHECK(changes([](auto& c) { ++c.tokens; }));
    CHECK(changes([](auto& c) { ++c.items[1].attempts; }));
    CHECK(changes([](auto& c) { c.items[1].not_before += 1ms; }));
    CHECK(changes([](auto& c) { c.items[1].closed = true; }));
    CHECK(changes([](auto& c) { c.items[1].hold = {node(8).node, {1, 1, 1}, at(0s), at(1s), 0}; }));
    CHECK(changes([](auto& c) { c.items.pop_back(); }));
    CHECK(changes([](auto& c) { c.accepted[0] = hash_of(1); }));
    CHECK(changes([](auto& c) { c.accepted[0] = allot::Hash256{}; }));
    CHECK(changes([](auto& c) { c.requests.push_back({node(8).node, node(8).wallet, 1, at(0s)}); }));
    CHECK(changes([](auto& c) { c.chain.push_back(c.chain.back()); }));
    CHECK(changes([](auto& c) { c.given.push_back({0, node(8).node, {1, 1, 1}}); }));
    CHECK(changes([](auto& c) { ++c.given[0].progress.blocks; }));
    CHECK(changes([](auto& c) { c.given[0].progress.commitment = hash_of(1); }));
    CHECK_FALSE(changes([](auto& c) { c.signature = {1}; }));
}

TEST_CASE("a signature over a result is none over a commitment to it, nor to it under another lease") {
    const auto plan = judged_plan();
    auto result = result_of(plan.macro(0), 0, node(7), {hash_of(1)});
    auto commitment = commitment_of(result);
    const auto says = [&](const allot::Hash256& digest) {
        commitment.signature = signature_of(node(7).node, digest);
        return fault(plan, node(8).node,
                     message::QueueSnapshot{plan.job(), 0, false, {}, {commitment}, {}, {}, {}, {}});
    };
    CHECK(says(result.digest) == JobError::author_unproven);
    auto other = commitment;
    ++other.token.seq;
    CHECK(says(digest_of(plan.job(), other)) == JobError::author_unproven);
    CHECK(says(digest_of(allot::JobId{"another"}, commitment)) == JobError::author_unproven);
    CHECK(says(digest_of(plan.job(), commitment)) == std::nullopt);
}

TEST_CASE("a message of the wrong shape is refused before a signature of it is checked") {
    const auto plan = judged_plan();
    auto checks = 0;
    const auto counting = [&](const allot::NodeId&, const allot::Hash256&, const allot::Signature&) {
        ++checks;
        return true;
    };
    // A liar signs ten thousand reigns of its own; each would be proven.
    auto control = control_of(plan, node(7));
    for (auto i = 0; i < 10'000; ++i) {
        const auto last = control.reign();
        control.chain.push_back({{last.epoch + 1, node(7 + i % 2).node, 1, last.rank(), true, at(0s)}, {}});
    }
    const auto forged = message::QueueSnapshot{plan.job(), 0, true, control, {}, {}, {}, {}, {}};
    auto replica = allot::MicroQueueReplica{plan.macro(0), node(9), {}, at(0s)};
    CHECK(replica.on_message(node(7).node, forged, at(0s), counting).error == JobError::reign_too_early);
    auto processor = allot::JobProcessor{node(9), {}, allot::Intent{}, at(0s)};
    CHECK(processor.on_message(node(7).node, forged, at(0s), counting).error == JobError::job_unknown);
    CHECK(checks == 0);
    CHECK(processor.on_message(node(7).node, message::JobPosted{plan, {1}}, at(0s), counting).accepted());
    CHECK(checks == 1);
    CHECK(processor.on_message(node(7).node, forged, at(0s), counting).error == JobError::reign_too_early);
    auto elsewhere = forged;
    elsewhere.macro = 2;
    CHECK(processor.on_message(node(7).node, elsewhere, at(0s), counting).error == JobError::macro_unknown);
    CHECK(checks == 1);
}

}  // namespace job_test::statement
