#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/macro_record.hpp>
#include <allot/job/result_record.hpp>

namespace allot { inline namespace v0 {

/// All known results of a MacroJob: received ones, rejected ones, and records of its end.
///
/// It only grows, by union, and a rejected result stays rejected. So nodes that received the same messages, in any
/// order and any number of times, have equal sets. Progress follows from the set alone; no separate count could
/// disagree. A plain value, saved and loaded as it is. It checks nothing: call `fault_of` on input.
///
/// @complexity O(log n) in the entries, unless stated otherwise.
class ResultSet {
public:
    /// Adds a result. Errors, which change nothing: `result_rejected`, `result_duplicate`.
    auto add(const ResultRecord& record) -> std::optional<JobError> {
        if (rejected_.contains(record.digest)) { return JobError::result_rejected; }
        if (results_.contains(record.digest)) { return JobError::result_duplicate; }
        results_.emplace(record.digest, record);
        return std::nullopt;
    }
    /// Rejects a result, known or not, and removes it. Returns false if the rejection was known.
    auto reject(const Rejection& rejection) -> bool {
        results_.erase(rejection.digest);
        auto [at, fresh] = rejected_.try_emplace(rejection.digest, rejection);
        if (fresh) { return true; }
        // Nodes that rejected it for different reasons must converge to one reason.
        if (!(order(rejection) < order(at->second))) { return false; }
        at->second = rejection;
        return true;
    }
    /// Adds a record of the whole MacroJob. Returns false if it was known.
    auto add(const MacroRecord& record) -> bool { return records_.emplace(record.digest, record).second; }

    /// Returns the result with this digest, or null.
    [[nodiscard]] auto find(const Hash256& digest) const -> const ResultRecord* {
        const auto at = results_.find(digest);
        return at == results_.end() ? nullptr : &at->second;
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

    /// Returns the node's result for a MicroJob; null if there is none. @complexity linear in the results.
    [[nodiscard]] auto of(const NodeId& node, std::uint32_t micro) const -> const ResultRecord* {
        for (const auto& [digest, record] : results_) {
            if (record.key.micro == micro && record.node == node) { return &record; }
        }
        return nullptr;
    }

    /// Returns the MacroJob's valid record: the first, by `before`, of those without a rejected result; null if there
    /// is none.
    /// @complexity linear in the records' results, times a logarithm.
    [[nodiscard]] auto record() const -> const MacroRecord* {
        const auto* best = static_cast<const MacroRecord*>(nullptr);
        for (const auto& [digest, record] : records_) {
            const auto void_now = std::any_of(record.accepted.begin(), record.accepted.end(),
                                              [&](const auto& result) { return is_rejected(result.digest); });
            if (!void_now && (best == nullptr || before(record, *best))) { best = &record; }
        }
        return best;
    }

    /// All results, by digest.
    [[nodiscard]] auto results() const noexcept -> const std::map<Hash256, ResultRecord>& { return results_; }
    /// All rejections, by digest of the result.
    [[nodiscard]] auto rejected() const noexcept -> const std::map<Hash256, Rejection>& { return rejected_; }
    /// All records, by digest.
    [[nodiscard]] auto records() const noexcept -> const std::map<Hash256, MacroRecord>& { return records_; }

    friend auto operator==(const ResultSet&, const ResultSet&) -> bool = default;

private:
    [[nodiscard]] static auto order(const Rejection& r)
        -> std::tuple<RejectReason, MicroKey, NodeId, WalletId, NodeId> {
        return {r.reason, r.key, r.node, r.wallet, r.author};
    }

    std::map<Hash256, ResultRecord> results_;
    std::map<Hash256, Rejection> rejected_;
    std::map<Hash256, MacroRecord> records_;
};

}}  // namespace allot::v0
