#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "job/support/liar.hpp"

// Lies that any member can tell: it forges, repeats, floods, and speaks for others.

namespace job_test {

namespace words = allot::job_message;

/// A record of a MacroJob that names made-up results of the liar, or dead MicroJobs.
inline auto record_by(Liar& me, std::uint32_t macro, bool failed) -> allot::MacroRecord {
    const auto plan = me.plan().macro(macro);
    auto record = allot::MacroRecord{plan.job, macro, 0, me.name(), {}, {}, {}, 0, {}, {}, {}, {}};
    record.outcome = failed ? allot::JobOutcome::failed : allot::JobOutcome::complete;
    for (std::uint32_t k = 0; k < plan.items(); ++k) {
        record.accepted.push_back(failed ? allot::AcceptedResult{}
                                         : allot::AcceptedResult{me.noise(), me.name(), me.wallet()});
    }
    record.digest = digest_of(record);
    return record;
}
/// Tells a record in the queue and in the job.
inline void spread(Liar& me, const allot::MacroRecord& record) {
    auto said = me.snapshot(record.macro);
    said.records = {record};
    me.tell_queue(record.macro, said);
    me.tell_job(words::MacroNews{record.job, record.macro, me.name(), 0, 0, {record}, {}});
}

/// Statements of another member, signed by the liar.
class ForgedStatement : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        const auto victim = me.victim();
        const auto plan = me.plan().macro(macro);
        auto result = allot::ResultRecord{
            {macro, me.a_micro()}, {}, node_id(victim), wallet_id(victim), {}, "forged", {1, 1, 1}, {}, {}};
        result.micro = plan.micros[result.key.micro];
        for (std::uint32_t i = 0; i < plan.blocks_per_micro; ++i) { result.block_hashes.push_back(me.noise()); }
        result.digest = digest_of(plan.job, result);
        result.signature = signature_of(me.name(), result.digest);
        auto promise = commitment_of(result);
        promise.signature = signature_of(me.name(), digest_of(plan.job, promise));
        auto said = me.snapshot(macro);
        said.results = {result};
        me.tell_queue(macro, said);
        said = me.snapshot(macro);
        said.commitments = {promise};
        me.tell_queue(macro, said);
        me.tell_queue(macro, words::ResultCommitted{plan.job, promise});
        // But for a queue that the liar has just handed over, or that a life of its owns: it may sign for that.
        const auto* queue = me.queue(macro);
        if (queue != nullptr && queue->state().reign().owner != me.name() &&
            author_of(queue->state().control()) != me.name()) {
            said = me.snapshot(macro);
            said.control = queue->state().control();
            ++said.control->revision;
            said.control->signature = signature_of(me.name(), digest_of(plan.job, macro, *said.control));
            me.tell_queue(macro, said);
            // A contradiction of which the owner has signed one side.
            auto found = words::ContradictionFound{plan.job, macro, queue->state().control(), *said.control};
            found.other.revision = found.one.revision;
            found.other.requests.clear();
            found.other.tokens += 1;
            found.other.signature = signature_of(me.name(), digest_of(plan.job, macro, found.other));
            me.tell_queue(macro, found);
        }
        me.fired(Lie::forged_statement);
    }
};

class ForgedRecord : public Lying {
public:
    void act(Liar& me) override {
        spread(me, record_by(me, me.a_macro(), me.below(2) == 0));
        me.fired(Lie::forged_record);
    }
};

/// A record in which true results stand beside results that do not exist.
class RecordOfNothing : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        const auto* queue = me.queue(macro);
        if (queue == nullptr) { return; }
        auto record = record_by(me, macro, false);
        for (const auto& promise : queue->state().results().commitments()) {
            record.accepted[promise.key.micro] = {promise.digest, promise.node, me.wallet()};
        }
        record.disclosed = me.below(100);
        record.digest = digest_of(record);
        spread(me, record);
        me.fired(Lie::record_of_nothing);
    }
};

/// A queue of the liar's own, in which all is done, and by the liar.
class ForgedControl : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        const auto items = me.plan().slicing().items();
        auto said = me.snapshot(macro);
        said.whole = true;
        auto& control = said.control.emplace();
        control.chain = {{{1 + me.below(1'000), me.name(), 1, 0, true, {}}, {}}};
        const auto& reign = control.reign();
        control.revision = 1 + me.below(1'000);
        control.tokens = control.disclosed = items;
        control.clock = TimePoint{Duration{static_cast<std::int64_t>(me.below(100'000))}};
        for (std::uint32_t k = 0; k < items; ++k) {
            const auto token = allot::FencingToken{reign.epoch, reign.rank(), k + 1};
            control.items.push_back({k, 1, {}, true, {}});
            control.given.push_back({k, me.name(), token, false, {}});
            said.commitments.push_back({me.noise(), {macro, k}, me.name(), token, {}});
            control.accepted.emplace_back(said.commitments.back().digest);
        }
        me.tell_queue(macro, said);
        me.fired(Lie::forged_control);
    }
};

/// The highest epochs, revisions and clocks that pass, and higher ones.
class HighNumbers : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        me.tell_job(words::MacroNews{
            me.plan().job(), macro, me.name(), allot::QueueControl::count_max + me.below(2), 0, {}, {}});
        // A queue that no member created is in use, and nothing in it is open.
        me.tell_job(words::MacroNews{me.plan().job(), me.a_macro(), me.name(), 1, 0, {}, {}});
        if (const auto* queue = me.queue(macro)) {
            auto said = me.snapshot(macro);
            said.control = queue->state().control();
            auto& control = *said.control;
            const auto last = control.reign();
            control.clock += std::chrono::seconds{me.below(3'600)};
            control.chain.push_back(
                {{last.epoch + allot::epoch_step_max, me.name(), 1, last.rank(), true, control.clock}, {}});
            control.revision = allot::QueueControl::count_max;
            control.signature.clear();
            me.tell_queue(macro, said);
        }
        me.fired(Lie::high_numbers);
    }
};

class ForgedRejection : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        const auto* queue = me.queue(macro);
        if (queue == nullptr) { return; }
        const auto& promises = queue->state().results().commitments();
        if (promises.empty()) { return; }
        const auto& promise = *std::next(promises.begin(), static_cast<std::ptrdiff_t>(me.below(promises.size())));
        auto rejection = allot::Rejection{promise.digest, promise.key, promise.node, wallet_id(me.victim())};
        rejection.author = me.below(2) == 0 ? me.name() : contract;
        rejection.signature = signature_of(me.name(), digest_of(me.plan().job(), rejection));
        auto said = me.snapshot(macro);
        said.rejected = {rejection};
        me.tell_queue(macro, said);
        me.tell_job(words::MacroNews{me.plan().job(), macro, me.name(), 0, 0, {}, {rejection}});
        me.fired(Lie::forged_rejection);
    }
};

class ForgedEnd : public Lying {
public:
    void act(Liar& me) override {
        auto end = allot::FinalRecord{me.plan().job(), 0, me.name(), allot::JobOutcome::complete, {}, {}, {}};
        for (std::uint32_t m = 0; m < me.plan().slicing().macro_count; ++m) { end.macros.push_back(me.noise()); }
        end.digest = digest_of(end);
        end.signature = signature_of(me.name(), end.digest);
        me.tell_job(words::JobEnded{end});
        auto said = me.snapshot(me.a_macro());
        said.final = end;
        me.tell_queue(said.macro, said);
        me.fired(Lie::forged_end);
    }
};

/// Snapshots of before, with controls that were replaced since.
class Replay : public Lying {
public:
    void act(Liar& me) override {
        if (me.heard().empty()) { return; }
        const auto& letter = me.heard()[static_cast<std::size_t>(me.below(me.heard().size()))];
        me.tell({letter.channel, letter.message});
        me.fired(Lie::replay);
    }
};

/// What was said in one queue, said in another one, and in another job.
class OtherQueue : public Lying {
public:
    void act(Liar& me) override {
        if (me.heard().empty()) { return; }
        auto said =
            std::get<words::QueueSnapshot>(me.heard()[static_cast<std::size_t>(me.below(me.heard().size()))].message);
        said.macro = (said.macro + 1) % me.plan().slicing().macro_count;
        for (auto& result : said.results) { result.key.macro = said.macro; }
        for (auto& promise : said.commitments) { promise.key.macro = said.macro; }
        if (me.below(2) == 0) { said.job = allot::JobId{me.noise()}; }
        me.tell_queue(said.macro, said);
        me.fired(Lie::other_queue);
    }
};

class Flood : public Lying {
public:
    void act(Liar& me) override {
        const auto job = me.plan().job();
        for (auto i = 0; i < 3; ++i) {
            const auto macro = me.a_macro();
            const auto key = allot::MicroKey{macro, me.a_micro()};
            me.tell_queue(macro, words::OwnershipRequest{job, macro, me.name(), me.wallet(), 1});
            me.tell({allot::jobs_channel(), words::JobsQuery{me.name()}});
            me.tell_job(words::MacrosQuery{job, me.name()});
            me.tell_job(words::MacroNews{job, macro, me.name(), 0, key.micro, {}, {}});
            me.tell_job(words::MicroDone{job, key, me.name(), me.noise()});
            me.tell_queue(macro, words::RenewalRequest{job, key, me.name(), {1, 1, 1}, {1, me.noise()}});
            auto said = me.snapshot(macro);
            said.whole = true;  // it seems to lack all verdicts
            me.tell_queue(macro, said);
        }
        me.fired(Lie::flood);
    }
};

/// Bids for all that might be claimed, with the marks of the lowest rank that a short search finds.
class MadeUpClaim : public Lying {
public:
    void act(Liar& me) override {
        const auto job = me.plan().job();
        const auto macro = me.a_macro();
        const auto* queue = me.queue(macro);
        bid(me, allot::RecordHasher{"create"}.id(job).word(macro).finish());
        const auto epoch = queue == nullptr ? 0 : queue->state().reign().epoch;
        for (std::uint64_t ahead = 1; ahead <= 3; ++ahead) {
            bid(me, allot::RecordHasher{"reign"}.id(job).word(macro).word(epoch + ahead).finish());
        }
        bid(me, allot::RecordHasher{"settle"}.id(job).word(tries_++ % 4).finish());
        bid(me, me.noise());
        me.fired(Lie::made_up_claim);
    }

private:
    void bid(Liar& me, const Hash256& claim) {
        auto best = allot::ClaimBid{me.name(), 0};
        for (std::uint64_t mark = 1; mark < 64; ++mark) {
            const auto other = allot::ClaimBid{me.name(), mark};
            if (allot::bid_rank(claim, other) < allot::bid_rank(claim, best)) { best = other; }
        }
        switch (me.options().arbiter) {
            case Arbiter::intent: return me.tell({allot::jobs_channel(), words::ClaimIntent{claim, best}});
            case Arbiter::quorum: return me.tell({allot::jobs_channel(), words::VoteRequest{claim, best}});
            case Arbiter::store: return me.claim(claim, best);
        }
    }
    std::uint64_t tries_ = 0;
};

/// A voter that gives its vote to each bid.
class TwoVotes : public Lying {
public:
    auto hears(Liar& me, const Network::Letter& letter) -> bool override {
        const auto* request = std::get_if<words::VoteRequest>(&letter.message);
        if (request == nullptr) { return true; }
        const auto [at, first] = voted_.try_emplace(request->claim, request->bid);
        if (!first && at->second != request->bid) { me.fired(Lie::two_votes); }
        me.tell({allot::jobs_channel(), words::Vote{request->claim, request->bid, me.name()}});
        return false;
    }

private:
    std::map<Hash256, allot::ClaimBid> voted_;
};

/// Words in the names of others, and in its own name about others' leases.
class OtherName : public Lying {
public:
    void act(Liar& me) override {
        const auto job = me.plan().job();
        const auto macro = me.a_macro();
        const auto victim = node_id(me.victim());
        me.tell_job(words::MacroNews{job, macro, victim, 1'000, 0, {}, {}});
        const auto* queue = me.queue(macro);
        if (queue != nullptr && !queue->state().control().given.empty()) {
            const auto lease = queue->state().control().given.back();
            const auto key = allot::MicroKey{macro, lease.micro};
            for (const auto& name : {victim, me.name()}) {
                me.tell_queue(macro, words::LeaseReturned{job, key, name, lease.token});
                me.tell_queue(macro, words::RenewalRequest{job, key, name, lease.token, {1, me.noise()}});
            }
        }
        me.fired(Lie::other_name);
    }
};

}  // namespace job_test
