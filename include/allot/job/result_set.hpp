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

/// All that is known of a MacroJob's results: those that came in, those that were rejected, and what the queue came to.
///
/// It only grows, by union, and a rejected result stays rejected; so nodes that heard the same, in whatever order and how
/// often, hold the same. What is done follows from it alone, there is no count beside it that could disagree.
/// A plain value, kept and loaded as it is. Not checked here: use `fault_of` at the door.
class ResultSet {
public:
    /// Takes in a result. The error says why it changes nothing.
    auto add(const ResultRecord& record) -> std::optional<JobError> {
        if (rejected_.contains(record.digest)) { return JobError::result_rejected; }
        if (results_.contains(record.digest)) { return JobError::result_duplicate; }
        results_.emplace(record.digest, record);
        return std::nullopt;
    }
    /// Rejects a result, known or not yet, and forgets it; false when that was known.
    auto reject(const Rejection& rejection) -> bool {
        results_.erase(rejection.digest);
        auto [at, fresh] = rejected_.try_emplace(rejection.digest, rejection);
        if (fresh) { return true; }
        // Nodes that rejected it for different reasons have to end up with the same one.
        if (!(order(rejection) < order(at->second))) { return false; }
        at->second = rejection;
        return true;
    }
    /// Takes in a record of the whole MacroJob; false when it was known.
    auto add(const MacroRecord& record) -> bool { return records_.emplace(record.digest, record).second; }

    [[nodiscard]] auto find(const Hash256& digest) const -> const ResultRecord* {
        const auto at = results_.find(digest);
        return at == results_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] auto is_rejected(const Hash256& digest) const -> bool { return rejected_.contains(digest); }

    /// Whether a result of this node or wallet was rejected as a culprit's.
    [[nodiscard]] auto is_barred(const NodeId& node, const WalletId& wallet) const -> bool {
        return std::any_of(rejected_.begin(), rejected_.end(), [&](const auto& entry) {
            const auto& rejection = entry.second;
            return rejection.reason == RejectReason::culprit && (rejection.node == node || rejection.wallet == wallet);
        });
    }

    /// The node's result of a MicroJob; null if there is none.
    /// @complexity linear in the results, as the next.
    [[nodiscard]] auto of(const NodeId& node, std::uint32_t micro) const -> const ResultRecord* {
        for (const auto& [digest, record] : results_) {
            if (record.key.micro == micro && record.node == node) { return &record; }
        }
        return nullptr;
    }

    /// The MacroJob's record that counts: of those without a rejected result the one that goes first; null if none.
    [[nodiscard]] auto record() const -> const MacroRecord* {
        const auto* best = static_cast<const MacroRecord*>(nullptr);
        for (const auto& [digest, record] : records_) {
            const auto void_now = std::any_of(record.accepted.begin(), record.accepted.end(),
                                              [&](const auto& result) { return is_rejected(result.digest); });
            if (!void_now && (best == nullptr || before(record, *best))) { best = &record; }
        }
        return best;
    }

    [[nodiscard]] auto results() const noexcept -> const std::map<Hash256, ResultRecord>& { return results_; }
    [[nodiscard]] auto rejected() const noexcept -> const std::map<Hash256, Rejection>& { return rejected_; }
    [[nodiscard]] auto records() const noexcept -> const std::map<Hash256, MacroRecord>& { return records_; }

    friend auto operator==(const ResultSet&, const ResultSet&) -> bool = default;

private:
    [[nodiscard]] static auto order(const Rejection& r) -> std::tuple<RejectReason, MicroKey, NodeId, WalletId> {
        return {r.reason, r.key, r.node, r.wallet};
    }

    std::map<Hash256, ResultRecord> results_;
    std::map<Hash256, Rejection> rejected_;
    std::map<Hash256, MacroRecord> records_;
};

}}  // namespace allot::v0
