#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "job/support/lies_of_talkers.hpp"

// Lies of a member that has a lease.

namespace job_test {

/// Two commitments under one lease.
class TwoCommitments : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        auto other = send;
        auto* promise = std::get_if<words::ResultCommitted>(&other.message);
        if (promise == nullptr) { return true; }
        promise->commitment.digest = me.noise();
        promise->commitment.signature.clear();
        me.tell_both(send, other);
        me.fired(Lie::two_commitments);
        return false;
    }
};

/// It commits, and never discloses.
class WithheldResult : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        if (const auto* found = std::get_if<words::ResultFound>(&send.message)) {
            me.fired(Lie::withheld_result);
            send.message = words::ResultCommitted{found->job, commitment_of(found->record)};
        } else if (auto* said = std::get_if<words::QueueSnapshot>(&send.message)) {
            for (const auto& result : said->results) {
                if (result.node != me.name()) { continue; }
                said->commitments.push_back(commitment_of(result));
                me.fired(Lie::withheld_result);
            }
            std::erase_if(said->results, [&](const auto& r) { return r.node == me.name(); });
        }
        return true;
    }
    auto writes(Liar& /*me*/) -> bool override { return false; }
};

/// It takes leases, and lets them expire.
class WastedLease : public Lying {
public:
    auto finishes(Liar& me) -> bool override {
        me.fired(Lie::wasted_lease);
        return false;
    }
};

/// It gives what others committed to or disclosed as its own.
class CopiedResult : public Lying {
public:
    auto hears(Liar& me, const Network::Letter& letter) -> bool override {
        // Each once: two that copy each other's copies would flood the network without an end.
        const auto is_new = [&](const Hash256& digest) { return seen_.insert(digest).second; };
        if (const auto* promise = std::get_if<words::ResultCommitted>(&letter.message)) {
            const auto work = me.processor().work();
            if (work && is_new(promise->commitment.digest)) {
                me.tell_queue(work->key.macro,
                              words::ResultCommitted{
                                  work->job, {promise->commitment.digest, work->key, me.name(), work->token, {}}});
                me.fired(Lie::copied_result);
            }
        }
        if (const auto* found = std::get_if<words::ResultFound>(&letter.message)) {
            if (is_new(found->record.digest)) { copy(me, found->record); }
        }
        return true;
    }
    void find(Liar& me, allot::MicroKey key, std::vector<Hash256>& hashes) override {
        if (hashes_.empty() || key_ != key) { return; }
        hashes = hashes_;
        me.fired(Lie::copied_result);
    }

private:
    /// Its own result with the hashes of another's, under a lease that it had.
    void copy(Liar& me, const allot::ResultRecord& record) {
        key_ = record.key;
        hashes_ = record.block_hashes;
        const auto* queue = me.queue(record.key.macro);
        if (queue == nullptr) { return; }
        for (const auto& lease : queue->state().control().given) {
            if (lease.holder != me.name() || lease.micro != record.key.micro) { continue; }
            auto own = record;
            own.node = me.name();
            own.wallet = me.wallet();
            own.token = lease.token;
            own.digest = digest_of(me.plan().job(), own);
            own.signature.clear();
            me.tell_queue(own.key.macro, words::ResultFound{me.plan().job(), own});
            me.fired(Lie::copied_result);
        }
    }
    std::set<Hash256> seen_;
    allot::MicroKey key_{};
    std::vector<Hash256> hashes_;
};

/// It works as slowly as it may, and renews as often.
class StalledLease : public Lying {
public:
    auto time_for(Liar& me, std::int64_t /*honest*/) -> std::int64_t override {
        me.fired(Lie::stalled_lease);
        return std::int64_t{me.plan().slicing().blocks_per_micro} * 14'000;
    }
};

/// All liars make up the same outputs, for a share of the blocks, so that a verifier among them finds nothing.
class SharedLie : public Lying {
public:
    void find(Liar& me, allot::MicroKey /*key*/, std::vector<Hash256>& hashes) override {
        const auto share = 1 + digest_word(allot::RecordHasher{"share"}.id(me.plan().job()).finish()) % 10;
        for (auto& hash : hashes) {
            const auto lie = allot::RecordHasher{"shared lie"}.hash(hash).finish();
            if (digest_word(lie) % 10 < share) { hash = lie; }
        }
        me.fired(Lie::shared_lie);
    }

private:
    static auto digest_word(const Hash256& hash) -> std::uint64_t { return hash[0] + std::uint64_t{hash[1]} * 256; }
};

}  // namespace job_test
