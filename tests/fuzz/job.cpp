#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/job.hpp>

#include "fuzz/support/job_liar.hpp"
#include "fuzz/support/target.hpp"

namespace fuzz_job {

// An input is a sequence of messages and of a worker's own steps. Two workers do one job over a network that delivers
// what the bytes say, and a liar sends whatever has the form of a message: with any name, any epoch and right digests,
// made from what the worker itself has said. Most of its messages are refused for their form. The liar of
// support/job_liar.hpp gets further: it takes part in the jobs, and lies about one thing at a time.

namespace {

namespace message = allot::job_message;
using namespace std::chrono_literals;
using allot::JobEffects;
using allot::JobMessage;
using allot::JobProcessor;
using allot::TimePoint;

auto plan_of(const char* job) -> allot::JobPlan {
    return *allot::JobPlan::slice({allot::JobId{job}, allot::Entropy{7}, {2, 2, 1, 2, 1}, "code", "data"});
}
auto self_of(std::uint32_t number) -> allot::JobNode {
    return {allot::NodeId{"NODE_" + std::to_string(number)}, allot::WalletId{"WALLET_" + std::to_string(number)}, 1};
}

/// The messages that the machines were given, by arbiter: Intent, StoreCas, Quorum. Told when the fuzzer ends.
struct Messages {
    std::array<std::uint64_t, 3> count{};

    ~Messages() {
        if (count[0] + count[1] + count[2] == 0) { return; }
        std::fprintf(stderr, "messages: %.0f with Intent, %.0f with StoreCas, %.0f with Quorum\n",
                     static_cast<double>(count[0]), static_cast<double>(count[1]), static_cast<double>(count[2]));
    }
} messages;

class World {
public:
    explicit World(fuzz::Numbers in) : in_{in}, kind_{in_.byte()} {
        for (std::uint32_t i = 0; i < 2; ++i) {
            workers_.emplace_back(self_of(i), parameters(), arbiter(i), now_);
            heard(i, workers_[i].start(now_));
        }
        heard(0, workers_[0].post(plan_, now_));
    }

    void live() {
        for (auto steps = 0; in_.left() > 0 && steps < 600; ++steps) { step(); }
        // Whatever was said, time goes on: the next deadlines come and pass.
        for (auto i = 0; i < 20; ++i) { pass(0); }
    }

private:
    static auto parameters() -> allot::JobParameters { return {}; }
    [[nodiscard]] auto arbiter(std::uint32_t i) const -> allot::ClaimArbiter {
        switch (kind_ % 3) {
            case 0: return allot::Intent{};
            case 1: return allot::StoreCas{};
            default: return allot::Quorum{self_of(i).node, {self_of(0).node, self_of(1).node, self_of(2).node}};
        }
    }

    // ---- values out of bytes, most of them likely ones
    // ----------------------------------------------------------------

    auto node() -> allot::NodeId {
        const auto i = in_.byte() % 8U;
        return i == 7 ? allot::NodeId{allot::Hash256{}} : self_of(i % 4).node;
    }
    auto wallet() -> allot::WalletId {
        const auto i = in_.byte() % 8U;
        return i == 7 ? allot::WalletId{allot::Hash256{}} : self_of(i % 4).wallet;
    }
    auto job() -> allot::JobId { return in_.byte() < 240 ? plan_.job() : allot::JobId{"another"}; }
    auto small(std::uint32_t usual) -> std::uint32_t {
        const auto byte = in_.byte();
        return byte < 240 ? byte % usual : byte == 255 ? 0xFFFF'FFFFU : byte;
    }
    auto macro() -> std::uint32_t { return small(2); }
    auto key() -> allot::MicroKey { return {macro(), small(3)}; }
    auto count(std::uint64_t near) -> std::uint64_t {
        switch (in_.byte() % 8U) {
            case 0: return std::uint64_t{1} << 48U;
            case 1: return ~std::uint64_t{0};
            case 2: return 0;
            case 3: return near + 1000;
            default: return near + in_.byte() % 3U;
        }
    }
    auto time(TimePoint near) -> TimePoint {
        switch (in_.byte() % 8U) {
            case 0: return allot::time_point_max;
            case 1: return TimePoint::min();
            case 2: return TimePoint::max();
            case 3: return {};
            default: return std::clamp(near, TimePoint{}, allot::time_point_max) + allot::Duration{in_.byte() * 100};
        }
    }
    auto digest() -> allot::Hash256 {
        const auto i = in_.byte();
        if (i < 200 && !digests_.empty()) { return digests_[i % digests_.size()]; }
        return i == 255 ? allot::Hash256{} : allot::RecordHasher{"made up"}.word(i % 4U).finish();
    }
    auto token() -> allot::FencingToken {
        if (in_.byte() < 200 && !tokens_.empty()) { return tokens_[in_.byte() % tokens_.size()]; }
        return {count(1), count(1), count(1)};
    }

    /// A replica of the liar's victim, if it has one.
    auto replica() -> const allot::MicroQueueReplica* {
        const auto* current = workers_[victim_].current();
        if (current == nullptr || current->replicas().empty()) { return nullptr; }
        auto at = current->replicas().begin();
        std::advance(at, static_cast<std::ptrdiff_t>(in_.byte() % current->replicas().size()));
        return &at->second;
    }

    auto result() -> allot::ResultRecord {
        const auto k = key();
        auto record = allot::ResultRecord{k, {}, node(), wallet(), {}, "out", token(), {}, {}};
        if (plan_.contains(k)) { record.micro = plan_.id(k); }
        for (auto i = in_.byte() < 240 ? 2U : in_.byte() % 4U; i > 0; --i) { record.block_hashes.push_back(digest()); }
        record.digest = in_.byte() < 240 ? digest_of(plan_.job(), record) : digest();
        return record;
    }
    auto rejection() -> allot::Rejection {
        return {digest(),
                key(),
                node(),
                wallet(),
                in_.byte() % 2 == 0 ? allot::RejectReason::culprit : allot::RejectReason::tie_break,
                node(),
                {}};
    }
    auto macro_record() -> allot::MacroRecord {
        auto record = allot::MacroRecord{job(), macro(), count(1), node(), allot::JobOutcome::complete, {}, {}, 0,
                                         {},    {},      {},       {}};
        for (auto i = small(1) == 0 ? 3U : in_.byte() % 5U; i > 0; --i) {
            record.accepted.push_back({digest(), node(), wallet()});
            if (record.accepted.back().digest == allot::Hash256{}) { record.outcome = allot::JobOutcome::failed; }
        }
        for (auto i = in_.byte() % 3U; i > 0; --i) { record.verifiers.push_back(small(3)); }
        record.digest = digest_of(record);
        return record;
    }
    auto final_record() -> allot::FinalRecord {
        auto record = allot::FinalRecord{job(), count(1), node(), allot::JobOutcome::complete, {}, {}, {}};
        if (in_.byte() % 4 == 0) { record.outcome = allot::JobOutcome::failed; }
        for (auto i = in_.byte() < 200 ? 2U : in_.byte() % 5U; i > 0; --i) { record.macros.push_back(digest()); }
        record.digest = digest_of(record);
        return record;
    }
    /// Makes the leases of a control such that it is not refused for them.
    static void give(allot::QueueControl& control) {
        control.given.clear();
        for (auto& item : control.items) {
            item.attempts = item.hold ? 1 : 0;
            if (!item.hold) { continue; }
            const auto& reign = control.chain[item.key % control.chain.size()].reign;
            item.hold->holder = reign.owner;
            item.hold->token = {reign.epoch, reign.rank(), item.key + 1};
            control.given.push_back({item.key, item.hold->holder, item.hold->token});
        }
        std::sort(control.given.begin(), control.given.end(),
                  [](const auto& a, const auto& b) { return a.token < b.token; });
        for (const auto& lease : control.given) { control.tokens = std::max(control.tokens, lease.token.seq); }
    }
    auto fresh_control() -> allot::QueueControl {
        auto control = allot::QueueControl{};
        control.chain.push_back({{1, node(), 1, 0, true, {}}, {}});
        return control;
    }
    auto control() -> allot::QueueControl {
        const auto* known = replica();
        auto control = known != nullptr && known->state().known() ? known->state().control() : fresh_control();
        const auto items = control.items.empty() ? 3U : control.items.size();
        control.items.resize(in_.byte() < 240 ? items : in_.byte() % 6U);
        for (std::uint32_t k = 0; k < control.items.size(); ++k) { control.items[k].key = k; }
        control.accepted.resize(in_.byte() < 240 ? items : in_.byte() % 6U);
        // Most often the next reign, of the liar's choice; sometimes one that cannot follow.
        const auto last = control.reign();
        const auto fits = in_.byte() < 200;
        control.chain.push_back(
            {{fits ? last.epoch + 1 : count(last.epoch), node(), count(1), fits ? last.rank() : count(0),
              in_.byte() % 2 == 0, fits ? control.clock : time(control.clock)},
             {}});
        if (in_.byte() > 250) { control.chain.erase(control.chain.begin()); }
        control.revision = count(control.revision);
        for (auto changes = in_.byte() % 6U; changes > 0; --changes) {
            if (control.items.empty() || control.accepted.empty()) { break; }
            auto& item = control.items[in_.byte() % control.items.size()];
            switch (in_.byte() % 10U) {
                case 0: control.clock = time(control.clock); break;
                case 1: control.progress = time(control.clock); break;
                case 2: control.tokens = count(control.tokens); break;
                case 3: item.closed = !item.closed; break;
                case 4: item.not_before = time(control.clock); break;
                case 5: item.attempts = small(6); break;
                case 6:
                    item.hold =
                        allot::MicroLeases::Grant{node(), token(), time(control.clock), time(control.clock), small(3)};
                    break;
                case 7: control.accepted[in_.byte() % control.accepted.size()] = digest(); break;
                case 8: control.requests.push_back({node(), wallet(), count(1), time(control.clock)}); break;
                default: control.disclosed = count(control.tokens); break;
            }
        }
        if (in_.byte() < 200) { give(control); }
        return control;
    }

    auto forged() -> JobMessage {
        switch (in_.byte() % 15U) {
            case 0:
            case 1: {
                auto m = message::QueueSnapshot{job(), macro(), in_.byte() % 2 == 0, {}, {}, {}, {}, {}, {}};
                if (in_.byte() < 200) { m.control = control(); }
                for (auto i = in_.byte() % 3U; i > 0; --i) { m.results.push_back(result()); }
                for (auto i = in_.byte() % 3U; i > 0; --i) { m.rejected.push_back(rejection()); }
                for (auto i = in_.byte() % 3U; i > 0; --i) { m.records.push_back(macro_record()); }
                if (in_.byte() > 240) { m.final = final_record(); }
                return m;
            }
            case 2: return message::OwnershipRequest{job(), macro(), node(), wallet(), count(1)};
            case 3: return message::ResultFound{job(), result()};
            case 4: return message::RenewalRequest{job(), key(), node(), token(), {small(4), digest()}};
            case 5: return message::LeaseReturned{job(), key(), node(), token()};
            case 6: return message::JobsQuery{node()};
            case 7: return message::JobPosted{in_.byte() < 200 ? plan_ : plan_of("another"), {}};
            case 8: return message::MacrosQuery{job(), node()};
            case 9: {
                auto m = message::MacroNews{job(), macro(), node(), count(1), small(4), {}, {}};
                for (auto i = in_.byte() % 3U; i > 0; --i) { m.records.push_back(macro_record()); }
                for (auto i = in_.byte() % 3U; i > 0; --i) { m.rejected.push_back(rejection()); }
                return m;
            }
            case 10: return message::MicroDone{job(), key(), node(), digest()};
            case 11:
                return in_.byte() < 250 ? JobMessage{message::JobsQuery{node()}} : message::JobEnded{final_record()};
            case 12: return message::ClaimIntent{claim(), {node(), count(1)}};
            case 13: return message::ContradictionFound{job(), macro(), control(), control()};
            default:
                return in_.byte() % 2 == 0 ? JobMessage{message::VoteRequest{claim(), {node(), count(1)}}}
                                           : message::Vote{claim(), {node(), count(1)}, node()};
        }
    }
    auto claim() -> allot::Hash256 { return claims_.empty() ? digest() : claims_[in_.byte() % claims_.size()].claim; }

    // ---- the run
    // -------------------------------------------------------------------------------------------------------

    void step() {
        victim_ = in_.byte() % 2U;
        auto& worker = workers_[victim_];
        const auto work = worker.work();
        switch (in_.byte() % 12U) {
            case 0: return pass(in_.byte() * 10);
            case 1: return pass(0);
            case 2: {
                if (!work) { return; }
                auto hashes = std::vector<allot::Hash256>{digest(), digest()};
                return heard(victim_, worker.complete(*work, std::move(hashes), "out", now_));
            }
            case 3: return work ? heard(victim_, worker.fail(*work, now_)) : void();
            case 4: return work ? heard(victim_, worker.renew(*work, small(4), digest(), now_)) : void();
            case 5: {
                auto settlement = allot::Settlement{job(), in_.byte() % 2 == 0, {}, {}};
                if (!settlement.settled) { settlement.culprits.push_back(rejection()); }
                return heard(victim_, worker.on_settlement(settlement, now_));
            }
            case 6: return heard(victim_, worker.on_gone(node(), now_));
            case 7: {
                if (claims_.empty()) { return; }
                const auto asked = claims_[in_.byte() % claims_.size()];
                return heard(victim_, worker.on_store(asked.claim,
                                                      in_.byte() < 200 ? asked.bid : allot::ClaimBid{node()}, now_));
            }
            case 8: return heard(victim_, worker.reject(plan_.job(), rejection(), now_));
            case 9: {
                if (said_.empty()) { return; }
                return heard(victim_, received(worker, said_[in_.byte() % said_.size()]));
            }
            default: return heard(victim_, received(worker, forged()));
        }
    }

    /// The liar may send as any member, so it sends as the one that the message names.
    auto received(JobProcessor& worker, const JobMessage& m) -> JobEffects {
        ++messages.count[kind_ % 3];
        const auto* named = allot::sender_named(m);
        return worker.on_message(named == nullptr ? node() : *named, m, now_);
    }

    /// Time goes on by so much, or to the next deadline.
    void pass(int milliseconds) {
        const auto next = std::min(workers_[0].next_deadline(), workers_[1].next_deadline());
        fuzz::ensure(next >= now_, "a deadline does not lie in the past");
        now_ = milliseconds > 0 ? now_ + allot::Duration{milliseconds} : std::min(next, now_ + 1h);
        for (std::uint32_t i = 0; i < 2; ++i) { heard(i, workers_[i].tick(now_)); }
    }

    void heard(std::uint32_t who, const JobEffects& effects) {
        if (effects.error) { fuzz::ensure(message_of(*effects.error) != "unknown error", "a refusal is named"); }
        for (const auto& send : effects.sends) {
            if (said_.size() < 64) {
                said_.push_back(send.message);
            } else {
                said_[said_next_++ % 64] = send.message;
            }
        }
        for (const auto& claim : effects.claims) { claims_.push_back(claim); }
        if (claims_.size() > 32) { claims_.erase(claims_.begin(), claims_.end() - 32); }
        for (const auto& write : effects.writes) { digests_.push_back(write.record.digest); }
        if (const auto work = workers_[who].work()) {
            if (std::find(tokens_.begin(), tokens_.end(), work->token) == tokens_.end()) {
                tokens_.push_back(work->token);
            }
        }
    }
    static auto message_of(allot::JobError error) -> std::string { return std::string{allot::message(error)}; }

    fuzz::Numbers in_;
    unsigned kind_;
    allot::JobPlan plan_ = plan_of("job");
    TimePoint now_{};
    std::vector<JobProcessor> workers_;
    std::uint32_t victim_ = 0;
    std::vector<JobMessage> said_;
    std::size_t said_next_ = 0;
    std::vector<allot::JobClaim> claims_;
    std::vector<allot::Hash256> digests_;
    std::vector<allot::FencingToken> tokens_;
};

/// Of inputs whose first byte has this bit the liar knows what a member knows, and signs for those that it controls.
constexpr std::uint8_t knows = 0x80;

auto target(std::span<const std::uint8_t> input) -> bool {
    if (!input.empty() && (input[0] & knows) != 0) {
        auto counts = knowing::Counts{};
        auto world = knowing::World{fuzz::Numbers{input}, counts};
        world.live();
        for (std::size_t i = 0; i < counts.messages.size(); ++i) { messages.count[i] += counts.messages[i]; }
        return true;
    }
    auto world = World{fuzz::Numbers{input}};
    world.live();
    return true;
}

auto input_of(std::uint64_t seed, std::uint8_t first, std::size_t size) -> fuzz::Bytes {
    auto words = fuzz::Words{seed};
    auto bytes = fuzz::Bytes{first};
    while (bytes.size() < size) { bytes.push_back(static_cast<std::uint8_t>(words.next())); }
    return bytes;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto all = std::vector<fuzz::Bytes>{};
    for (std::uint8_t seed = 0; seed < 12; ++seed) { all.push_back(input_of(seed, seed, 2'000)); }
    for (std::uint8_t seed = 0; seed < 3; ++seed) { all.push_back(input_of(seed, knows | seed, 6'000)); }
    return all;
}

}  // namespace

ALLOT_FUZZ(job, "a worker outlives any sequence of messages")

#ifndef ALLOT_FUZZ_ALONE

TEST_CASE("lies of every kind get beyond the outer checks of a worker") {
    auto counts = knowing::Counts{};
    for (std::uint8_t seed = 0; seed < 32; ++seed) {
        const auto input = input_of(1'000 + seed, knows | seed, 6'000);
        auto world = knowing::World{fuzz::Numbers{input}, counts};
        world.live();
    }
    counts.print();
    for (std::size_t i = 0; i < knowing::lie_count; ++i) {
        INFO(knowing::lie_names[i]);
        CHECK(counts.taken[i] > 0);
        CHECK(counts.refused[i] > 0);
    }
    CHECK(counts.jobs > 0);
}

#endif

}  // namespace fuzz_job
