#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <allot/job/micro_queue_replica.hpp>
#include <allot/job/secret_plan.hpp>
#include <allot/job/verifier.hpp>

#include "job/support/simulated_network.hpp"

// The contract of a simulated network: an honest party that knows the secret and pays once.

namespace job_test {

/// How wrong work fared before the contract, to be compared with what sampling promises.
struct WrongWork {
    std::uint64_t judged = 0;   ///< MacroJobs with a wrong block, when the contract saw them first.
    std::uint64_t escaped = 0;  ///< Those in which it rejected nothing.
    double expected = 0;        ///< (1 - share that is wrong)^sampled, added up.
    double variance = 0;        ///< Of `escaped`, if each escaped with just that chance.
    std::uint64_t paid = 0;     ///< Wrong blocks that were paid,
    std::uint64_t blocks = 0;   ///< of so many.

    auto operator+=(const WrongWork& other) -> WrongWork& {
        judged += other.judged, escaped += other.escaped, expected += other.expected, variance += other.variance;
        paid += other.paid, blocks += other.blocks;
        return *this;
    }
};

class Contract {
public:
    using Ask = allot::job_event::EscrowReleaseRequested;

    Contract(Network& network, const allot::JobSpec& spec, const allot::JobPlan& plan)
        : network_{network}, plan_{plan}, secret_{spec, allot::Entropy{spec.seed.words[0] ^ 0xBEACU}} {
        if (network_.options().liars == 0) { return; }
        for (std::uint32_t m = 0; m < plan_.slicing().macro_count; ++m) {
            auto& witness = witnesses_.emplace_back(
                plan_.macro(m), allot::JobNode{contract, allot::WalletId{"none"}, 1}, queue_parameters(), time());
            (void)witness.leave(time());  // it only listens
            for (const auto block : secret_.samples(m, network_.options().sampled)) {
                recomputed_[block] = block_hash(block);
            }
        }
    }

    [[nodiscard]] auto queue_parameters() const -> allot::QueueParameters {
        auto p = allot::QueueParameters{};
        p.commit_results = network_.options().commit_results;
        return p;
    }
    /// Hears what is said in the queues, and so of the leases. A lease counts whichever of two queues gave it: the
    /// contract cannot know which of them honest members follow, and pays for work that it has proven.
    void hear(const allot::NodeId& sender, const allot::JobMessage& message) {
        for (auto& witness : witnesses_) { (void)witness.on_message(sender, message, time(), proven); }
        const auto* said = std::get_if<allot::job_message::QueueSnapshot>(&message);
        if (witnesses_.empty() || said == nullptr || !said->control ||
            fault_of_message(plan_, queue_parameters(), sender, message, proven)) {
            return;
        }
        for (const auto& lease : said->control->given) {
            leases_.insert({{said->macro, lease.micro}, lease.holder, lease.token});
        }
    }
    /// A result with its author's signature; a place that is taken keeps its content.
    void write(const allot::ResultRecord& record) {
        if (proven(record.node, record.digest, record.signature)) { store_.emplace(record.digest, record); }
    }

    [[nodiscard]] auto paid() const -> const std::optional<allot::FinalRecord>& { return paid_; }
    /// The records of the end, with the results that were paid.
    [[nodiscard]] auto ended_with() const -> const std::vector<allot::MacroRecord>& { return ended_with_; }
    [[nodiscard]] auto judged() const -> const std::vector<allot::Rejection>& { return judged_; }
    [[nodiscard]] auto result(const Hash256& digest) const -> const allot::ResultRecord& { return store_.at(digest); }
    /// Parts that nobody verified.
    [[nodiscard]] auto unpaid() const -> const std::set<allot::MicroKey>& { return unpaid_; }
    [[nodiscard]] auto unverified() const -> std::uint64_t { return unverified_; }
    /// The first result of each MicroJob that a verdict confirmed.
    [[nodiscard]] auto verified() const -> const std::map<allot::MicroKey, Hash256>& { return verified_; }
    [[nodiscard]] auto wrong() const -> const WrongWork& { return wrong_; }
    /// The data blocks of a MicroJob, for the holder of its lease.
    [[nodiscard]] auto blocks_of(allot::MicroKey key) const -> std::vector<std::uint64_t> {
        return secret_of(key.macro).blocks[key.micro];
    }

    /// Answers a request to pay or to refund; `fresh` is true of a first answer, not of one that is repeated.
    [[nodiscard]] auto answer(const Ask& ask) -> std::pair<allot::Settlement, bool> {
        auto settlement = allot::Settlement{plan_.job(), false, std::nullopt, {}};
        auto fresh = true;
        if (!paid_ && !is_grounded(ask)) { return {settlement, false}; }
        if (!paid_ && ask.as.outcome == allot::JobOutcome::failed) {
            end(ask);
        } else if (!paid_) {
            // Its answer may never have arrived; then it says the same again.
            for (const auto& rejection : judged_) {
                for (const auto& record : ask.records) {
                    const auto same = [&](const auto& accepted) { return accepted.digest == rejection.digest; };
                    if (std::any_of(record.accepted.begin(), record.accepted.end(), same)) {
                        settlement.culprits.push_back(rejection);
                    }
                }
            }
            fresh = settlement.culprits.empty();
            for (const auto& record : ask.records) {
                if (!fresh) { break; }
                auto tie = false;
                for (auto rejection : verdict_on(record).rejected) {
                    rejection.author = contract;
                    rejection.signature = signature_of(contract, digest_of(plan_.job(), rejection));
                    settlement.culprits.push_back(rejection);
                    tie = tie || rejection.reason == allot::RejectReason::tie_break;
                }
                rounds_[record.macro] += tie ? 1U : 0U;
            }
            if (settlement.culprits.empty()) { end(ask); }
        }
        settlement.settled = paid_.has_value();
        settlement.settled_as = paid_;
        if (!settlement.settled && fresh) {
            judged_.insert(judged_.end(), settlement.culprits.begin(), settlement.culprits.end());
        }
        return {settlement, fresh};
    }

private:
    [[nodiscard]] auto time() const -> TimePoint { return TimePoint{Duration{network_.now()}}; }
    [[nodiscard]] auto secret_of(std::uint32_t macro) const -> allot::MacroSecret {
        const auto round = rounds_.find(macro);
        return secret_.macro(macro, round == rounds_.end() ? 0 : round->second);
    }
    void end(const Ask& ask) {
        paid_ = ask.as;
        paid_->signature = signature_of(contract, paid_->digest);
        ended_with_ = ask.records;
        if (paid_->outcome == allot::JobOutcome::failed) { return; }
        // Members may have turned to another queue since, in which another member has done the same again.
        for (const auto& [key, digest] : verified_) {
            const auto& result = store_.at(digest);
            const auto named = [&](const auto& rejection) { return rejection.node == result.node; };
            if (std::any_of(judged_.begin(), judged_.end(), named)) { continue; }
            ended_with_[key.macro].accepted[key.micro] = {digest, result.node, result.wallet};
        }
        for (const auto& record : ended_with_) {
            wrong_.paid += wrong_in(record);
            wrong_.blocks += plan_.slicing().blocks_per_macro();
        }
    }

    /// True if all that a request tells is proven: each result by its author's signature and by its lease, each dead
    /// MicroJob by the queue. Members that do not lie are taken at their word.
    [[nodiscard]] auto is_grounded(const Ask& ask) const -> bool {
        if (witnesses_.empty()) { return true; }
        if (ask.records.size() != witnesses_.size() || fault_of(plan_.job(), witnesses_.size(), ask.as)) {
            return false;
        }
        auto outcome = allot::JobOutcome::complete;
        for (std::uint32_t m = 0; m < witnesses_.size(); ++m) {
            const auto& record = ask.records[m];
            if (record.macro != m || fault_of(plan_.macro(m), record) || ask.as.macros[m] != record.digest ||
                !proven(record.owner, record.digest, record.signature) || !is_grounded(record)) {
                return false;
            }
            outcome = std::max(outcome, record.outcome);
        }
        return outcome == ask.as.outcome;
    }
    [[nodiscard]] auto is_grounded(const allot::MacroRecord& record) const -> bool {
        const auto& queue = witnesses_[record.macro].state();
        if (!queue.known()) { return false; }
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            if (record.accepted[k].digest == Hash256{}) {
                if (!queue.leases().find(k)->closed || queue.accepted()[k]) { return false; }
                continue;
            }
            const auto at = store_.find(record.accepted[k].digest);
            if (at == store_.end()) { return false; }
            const auto& result = at->second;
            if (fault_of(queue.plan(), result) || result.key.micro != k || result.node != record.accepted[k].node ||
                result.wallet != record.accepted[k].wallet || !proven(result.node, result.digest, result.signature) ||
                !leases_.contains({result.key, result.node, result.token})) {
                return false;
            }
        }
        return true;
    }

    /// The verdict on a MacroJob. What is disputed is recomputed, and a block of each part that nobody verified.
    [[nodiscard]] auto verdict_on(const allot::MacroRecord& record) -> allot::MacroVerdict {
        const auto secret = secret_of(record.macro);
        auto results = std::vector<const allot::ResultRecord*>{};
        for (const auto& accepted : record.accepted) { results.push_back(&store_.at(accepted.digest)); }
        const auto away = network_.options().referee_away;
        auto evidence = allot::Evidence{recomputed_, record.disclosed, away, rounds_[record.macro] < 2};
        for (auto turn = 0;; ++turn) {
            const auto verdict = allot::judge(plan_.macro(record.macro), secret, results, evidence);
            if (!verdict) { network_.broken("a covered MacroJob cannot be judged"); }
            if (verdict->verified() || !verdict->rejected.empty()) { return told(record, *verdict); }
            if (away) {
                unverified_ += verdict->unverified.size();
                for (const auto micro : verdict->unverified) { unpaid_.insert({record.macro, micro}); }
                return *verdict;
            }
            if (turn == 3) { network_.broken("the referee's blocks decide nothing"); }
            for (const auto block : verdict->disputed) { evidence.recomputed[block] = block_hash(block); }
            for (const auto micro : verdict->unverified) {
                const auto& blocks = secret.blocks[micro];
                const auto block = blocks[static_cast<std::size_t>(network_.below(blocks.size()))];
                evidence.recomputed[block] = block_hash(block);
            }
            recomputed_ = evidence.recomputed;
        }
    }
    /// Keeps account of a verdict.
    [[nodiscard]] auto told(const allot::MacroRecord& record, const allot::MacroVerdict& verdict)
        -> const allot::MacroVerdict& {
        const auto rejected = [&](const Hash256& digest) {
            return std::any_of(verdict.rejected.begin(), verdict.rejected.end(),
                               [&](const auto& r) { return r.digest == digest; });
        };
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            const auto& digest = record.accepted[k].digest;
            const auto unverified = std::find(verdict.unverified.begin(), verdict.unverified.end(), k);
            if (!rejected(digest) && unverified == verdict.unverified.end()) {
                verified_.try_emplace({record.macro, k}, digest);
            }
        }
        std::erase_if(verified_, [&](const auto& result) { return rejected(result.second); });
        const auto wrong = wrong_in(record);
        if (wrong > 0 && seen_wrong_.insert(record.macro).second) {
            const auto share = static_cast<double>(wrong) / static_cast<double>(plan_.slicing().blocks_per_macro());
            const auto chance = std::pow(1 - share, network_.options().sampled);
            ++wrong_.judged;
            wrong_.escaped += verdict.rejected.empty() ? 1U : 0U;
            wrong_.expected += chance;
            wrong_.variance += chance * (1 - chance);
        }
        return verdict;
    }
    /// Number of wrong blocks in a result, and in the work that a record accepts (verifiers only repeat some).
    [[nodiscard]] auto wrong_of(const allot::ResultRecord& result) const -> std::uint64_t {
        const auto blocks = blocks_of(result.key);
        auto wrong = std::uint64_t{0};
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            wrong += result.block_hashes[i] != block_hash(blocks[i]) ? 1U : 0U;
        }
        return wrong;
    }
    [[nodiscard]] auto wrong_in(const allot::MacroRecord& record) const -> std::uint64_t {
        const auto verifiers = secret_of(record.macro).verifiers;
        auto wrong = std::uint64_t{0};
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            if (std::find(verifiers.begin(), verifiers.end(), k) == verifiers.end()) {
                wrong += wrong_of(store_.at(record.accepted[k].digest));
            }
        }
        return wrong;
    }

    Network& network_;
    const allot::JobPlan& plan_;
    allot::SecretPlan secret_;
    std::vector<allot::MicroQueueReplica> witnesses_;  // by MacroJob, of members that might lie
    std::set<std::tuple<allot::MicroKey, allot::NodeId, allot::FencingToken>> leases_;  // that an owner gave
    std::map<Hash256, allot::ResultRecord> store_;
    std::vector<allot::Rejection> judged_;
    std::map<std::uint64_t, Hash256> recomputed_;
    std::set<allot::MicroKey> unpaid_;
    std::map<std::uint32_t, std::uint32_t> rounds_;  // by MacroJob: how often a tie had to be broken
    std::optional<allot::FinalRecord> paid_{};
    std::vector<allot::MacroRecord> ended_with_;
    std::uint64_t unverified_ = 0;
    std::map<allot::MicroKey, Hash256> verified_;
    std::set<std::uint32_t> seen_wrong_;  // MacroJobs
    WrongWork wrong_{};
};

}  // namespace job_test
