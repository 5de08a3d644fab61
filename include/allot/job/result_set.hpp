#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/macro_record.hpp>
#include <allot/job/result_record.hpp>

namespace allot { inline namespace v0 {

/// All known results of a MacroJob: received ones, rejected ones, and records of its end.
///
/// It only grows, by union, and a rejected result stays rejected; but of one node's commitments for one MicroJob, and
/// of one owner's records, only the first `each_max` by their order stay, so that no author can fill it. So nodes that
/// received the same messages, in any order and any number of times, have equal sets. Progress follows from the set
/// alone; no separate count could disagree. A plain value, saved and loaded as it is. It checks nothing: call
/// `fault_of` on input.
///
/// @complexity O(log n) in the entries, unless stated otherwise.
class ResultSet {
public:
    /// Greatest number of commitments of one node for one MicroJob, rejected ones included, and of records of one
    /// owner.
    static constexpr std::size_t each_max = 16;

    /// Adds a commitment. Errors, which change nothing: `result_rejected`, `result_duplicate`, `message_too_large`.
    auto add(const Commitment& commitment) -> std::optional<JobError> {
        if (rejected_.contains(commitment.digest)) { return JobError::result_rejected; }
        if (!commitments_.insert(commitment).second) { return JobError::result_duplicate; }
        own_[{commitment.node, commitment.key}].insert({commitment.digest, commitment.token});
        bound(commitment.node, commitment.key);
        return commitments_.contains(commitment) ? std::nullopt : std::optional{JobError::message_too_large};
    }
    /// Adds a result, which is its own commitment, too. Errors, which change nothing, and complexity: as above.
    auto add(const ResultRecord& record) -> std::optional<JobError> {
        if (results_.contains(record.digest)) { return JobError::result_duplicate; }
        const auto fault = add(commitment_of(record));
        if (fault && fault != JobError::result_duplicate) { return fault; }
        results_.emplace(record.digest, record);
        return std::nullopt;
    }
    /// Rejects and removes a result, known or not. Returns false if it was known.
    /// @complexity O(log n), for each commitment to it.
    auto reject(const Rejection& rejection) -> bool {
        results_.erase(rejection.digest);
        auto promise = commitments_.lower_bound({rejection.digest, {}, NodeId::null(), {}, {}});
        while (promise != commitments_.end() && promise->digest == rejection.digest) {
            disown(promise->node, promise->key, {promise->digest, promise->token});
            promise = commitments_.erase(promise);
        }
        auto [at, fresh] = rejected_.try_emplace(rejection.digest, rejection);
        // Nodes that rejected it for different reasons must converge to one reason.
        if (!fresh && !(order(rejection) < order(at->second))) { return false; }
        if (!fresh) { disown(at->second.node, at->second.key, {rejection.digest, {}}); }
        at->second = rejection;
        own_[{rejection.node, rejection.key}].insert({rejection.digest, {}});
        bound(rejection.node, rejection.key);
        return true;
    }
    /// Adds a record of the whole MacroJob. Returns false if it was known, or if its owner has too many.
    /// @complexity linear in the records.
    auto add(const MacroRecord& record) -> bool {
        if (!records_.emplace(record.digest, record).second) { return false; }
        const auto same = [&](const auto& entry) { return entry.second.owner == record.owner; };
        if (std::count_if(records_.begin(), records_.end(), same) > static_cast<std::ptrdiff_t>(each_max)) {
            records_.erase(std::prev(std::find_if(records_.rbegin(), records_.rend(), same).base()));
        }
        return records_.contains(record.digest);
    }

    /// Returns the result with this digest, or null.
    [[nodiscard]] auto find(const Hash256& digest) const -> const ResultRecord* {
        const auto at = results_.find(digest);
        return at == results_.end() ? nullptr : &at->second;
    }
    /// Returns the result that was promised, once it is disclosed; null before.
    [[nodiscard]] auto kept(const Commitment& promise) const -> const ResultRecord* {
        const auto* result = find(promise.digest);
        return result != nullptr && commitment_of(*result) == promise ? result : nullptr;
    }
    /// True if the result with this digest was rejected.
    [[nodiscard]] auto is_rejected(const Hash256& digest) const -> bool { return rejected_.contains(digest); }

    /// True if a result of this node or wallet was rejected as a culprit's. @complexity linear in the rejections.
    [[nodiscard]] auto is_barred(const NodeId& node, const WalletId& wallet) const -> bool {
        return std::any_of(rejected_.begin(), rejected_.end(), [&](const auto& entry) {
            const auto& rejection = entry.second;
            return rejection.reason == RejectReason::culprit && (rejection.node == node || rejection.wallet == wallet);
        });
    }

    /// True if the node committed to another result under the same lease.
    /// @complexity O(log n), and linear in the node's commitments for the MicroJob.
    [[nodiscard]] auto differs(const Commitment& promise) const -> bool {
        const auto own = own_.find({promise.node, promise.key});
        return own != own_.end() && std::any_of(own->second.begin(), own->second.end(), [&](const auto& told) {
                   const auto& [digest, token] = told;
                   return token == promise.token && digest != promise.digest && !is_rejected(digest);
               });
    }

    /// Returns the MacroJob's valid record: the first, by `before`, of those without a rejected result for which
    /// `counts(record)` is true; null if there is none.
    /// @complexity linear in the records' results, times a logarithm.
    template <class F>
    [[nodiscard]] auto record(F&& counts) const -> const MacroRecord* {
        const auto* best = static_cast<const MacroRecord*>(nullptr);
        for (const auto& [digest, record] : records_) {
            const auto void_now = std::any_of(record.accepted.begin(), record.accepted.end(),
                                              [&](const auto& result) { return is_rejected(result.digest); });
            if (!void_now && counts(record) && (best == nullptr || before(record, *best))) { best = &record; }
        }
        return best;
    }
    /// As above, for any record.
    [[nodiscard]] auto record() const -> const MacroRecord* {
        return record([](const MacroRecord&) { return true; });
    }

    /// All commitments, by digest of the result.
    [[nodiscard]] auto commitments() const noexcept -> const std::set<Commitment>& { return commitments_; }
    /// All results, by digest.
    [[nodiscard]] auto results() const noexcept -> const std::map<Hash256, ResultRecord>& { return results_; }
    /// All rejections, by digest of the result.
    [[nodiscard]] auto rejected() const noexcept -> const std::map<Hash256, Rejection>& { return rejected_; }
    /// All records, by digest.
    [[nodiscard]] auto records() const noexcept -> const std::map<Hash256, MacroRecord>& { return records_; }

    friend auto operator==(const ResultSet&, const ResultSet&) -> bool = default;

private:
    /// A node's commitments for one MicroJob, rejected ones with no token.
    using Told = std::set<std::pair<Hash256, FencingToken>>;

    /// Keeps the first commitments of a node for a MicroJob. Rejected ones count, so that the order of messages does
    /// not.
    auto bound(const NodeId& node, const MicroKey& key) -> void {
        auto& own = own_[{node, key}];
        if (own.size() <= each_max) { return; }
        for (auto at = std::next(own.begin(), each_max); at != own.end();) {
            const auto promise = Commitment{at->first, key, node, at->second, {}};
            if (is_rejected(promise.digest)) {
                ++at;
                continue;
            }
            if (kept(promise) != nullptr) { results_.erase(promise.digest); }
            commitments_.erase(promise);
            at = own.erase(at);
        }
    }
    auto disown(const NodeId& node, const MicroKey& key, const Told::value_type& told) -> void {
        const auto own = own_.find({node, key});
        if (own != own_.end() && own->second.erase(told) > 0 && own->second.empty()) { own_.erase(own); }
    }
    [[nodiscard]] static auto order(const Rejection& r)
        -> std::tuple<RejectReason, MicroKey, NodeId, WalletId, NodeId> {
        return {r.reason, r.key, r.node, r.wallet, r.author};
    }

    std::set<Commitment> commitments_;
    std::map<std::pair<NodeId, MicroKey>, Told> own_;  // follows from the commitments and rejections
    std::map<Hash256, ResultRecord> results_;
    std::map<Hash256, Rejection> rejected_;
    std::map<Hash256, MacroRecord> records_;
};

}}  // namespace allot::v0
