#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/job/control_check.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/queue_parameters.hpp>
#include <allot/job/result_set.hpp>

namespace allot { inline namespace v0 {

/// The node and wallet for which a replica acts.
struct JobNode {
    NodeId node;
    WalletId wallet;
    std::uint64_t boot = 0;  ///< A number that this node never used before; each restart needs another.

    friend auto operator==(const JobNode&, const JobNode&) -> bool = default;
};

/// One node's knowledge of a MacroJob's queue, and all that follows from it. `QueueState` changes it.
///
/// Times are those of the queue's clock. It stands still in a snapshot and runs on from the moment when a node adopts
/// one. So no clocks have to agree, and passing the queue on can lengthen a lease but never shorten it.
///
/// @complexity linear in the MacroJob's items, results and requests, unless stated otherwise.
class QueueView {
public:
    using Item = MicroLeases::Item;

    /// Makes a view without a queue. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    /// @pre the ids of the node and its wallet are not null (asserted).
    QueueView(MacroPlan plan, JobNode self, const QueueParameters& parameters)
        : plan_{std::move(plan)}, self_{std::move(self)}, parameters_{detail::sound(parameters)} {
        ALLOT_ASSERT(!self_.node.is_null() && !self_.wallet.is_null(), "QueueView: a node needs an id and a wallet");
    }

    /// The MacroJob.
    [[nodiscard]] auto plan() const noexcept -> const MacroPlan& { return plan_; }
    /// The node for which this view acts.
    [[nodiscard]] auto self() const noexcept -> const JobNode& { return self_; }
    /// The queue's parameters.
    [[nodiscard]] auto parameters() const noexcept -> const QueueParameters& { return parameters_; }
    /// The results, rejections and records known.
    [[nodiscard]] auto results() const noexcept -> const ResultSet& { return results_; }
    /// The valid record of the MacroJob; null if there is none. An owner's record counts once this node has seen all
    /// that it tells: each result under its lease, and each dead MicroJob. @complexity as that of `ResultSet::record`.
    [[nodiscard]] auto record() const -> const MacroRecord* {
        return results_.record([&](const MacroRecord& record) { return supported_.contains(record.digest); });
    }
    /// Returns the records whose grounds are here. Only these are told to others: a member that makes up records is not
    /// helped to spread them. @complexity linear in the records.
    [[nodiscard]] auto proven_records() const -> std::vector<MacroRecord> {
        auto proven = std::vector<MacroRecord>{};
        for (const auto& [digest, record] : results_.records()) {
            if (supported_.contains(digest)) { proven.push_back(record); }
        }
        return proven;
    }
    /// The leases of the MicroJobs.
    [[nodiscard]] auto leases() const noexcept -> const MicroLeases& { return leases_; }

    /// True if a queue is known.
    [[nodiscard]] auto known() const noexcept -> bool { return control_.has_value(); }
    /// True if this life of this node owns the queue.
    [[nodiscard]] auto owns() const noexcept -> bool {
        return known() && reign().owner == self_.node && reign().boot == self_.boot;
    }
    /// The current reign. @pre `known()`.
    [[nodiscard]] auto reign() const noexcept -> const QueueReign& { return control_->reign(); }
    /// Returns the newest control as a value. @pre `known()`.
    [[nodiscard]] auto control() const -> QueueControl {
        auto control = *control_;
        control.items = leases_.items();
        return control;
    }
    /// All reigns so far. @pre `known()`.
    [[nodiscard]] auto chain() const noexcept -> const ReignChain& { return control_->chain; }
    /// The number of leases given so far. @pre `known()`.
    [[nodiscard]] auto tokens() const noexcept -> std::uint64_t { return control_->tokens; }
    /// Number of the owner's messages in this reign. @pre `known()`.
    [[nodiscard]] auto revision() const noexcept -> std::uint64_t { return control_->revision; }
    /// The digest of the control. @pre `known()`.
    [[nodiscard]] auto digest() const -> Hash256 { return digest_of(plan_.job, plan_.macro, control()); }
    /// The accepted result of each MicroJob. @pre `known()`.
    [[nodiscard]] auto accepted() const noexcept -> const std::vector<std::optional<Hash256>>& {
        return control_->accepted;
    }
    /// The waiting requests. @pre `known()`.
    [[nodiscard]] auto requests() const noexcept -> const std::vector<QueueRequest>& { return control_->requests; }
    /// The previous owners, newest first. @pre `known()`.
    [[nodiscard]] auto owners_before() const -> std::vector<NodeId> { return control_->owners_before(); }
    /// The times from which nodes may own the queue, or take it over, by its clock. @pre `known()`.
    [[nodiscard]] auto rests() const -> ReignRests { return {control_->chain, parameters_.owner_timeout}; }
    /// True if a node may own the queue now: it need not rest, and has a reign left. @pre `known()`.
    [[nodiscard]] auto may_own(const NodeId& node, TimePoint now) const -> bool {
        return clock(now) >= rests().may_own_from(node) && control_->has_reign_left(node);
    }

    /// Converts the local time `now` to the queue's time. @pre `known()`. @complexity O(1).
    [[nodiscard]] auto clock(TimePoint now) const noexcept -> TimePoint { return control_->clock + (now - anchor_); }
    /// Converts the queue's time to local time. @pre `known()`. @complexity O(1).
    [[nodiscard]] auto local(TimePoint clock) const noexcept -> TimePoint {
        return anchor_ + (clock - control_->clock);
    }

    /// The time since something came forward last, by this node's own clock. @pre `known()`. @complexity O(1).
    [[nodiscard]] auto rested(TimePoint now) const noexcept -> Duration { return now - *progress_at_; }

    /// The time for which results are to be disclosed, by this node's own clock; 0 if they are not. @complexity O(1).
    [[nodiscard]] auto disclosing(TimePoint now) const noexcept -> Duration {
        return disclosing_since_ ? now - *disclosing_since_ : Duration{0};
    }

    // ---- leases and results ----------------------------------------------------------------------------------------

    /// The lease that was given under this token; null if there is none. @complexity O(log n).
    [[nodiscard]] auto lease_given(const FencingToken& token) const -> const LeaseGiven* {
        if (!known()) { return nullptr; }
        const auto& given = control_->given;
        const auto at =
            std::lower_bound(given.begin(), given.end(), token,
                             [](const LeaseGiven& lease, const auto& wanted) { return lease.token < wanted; });
        return at != given.end() && at->token == token ? &*at : nullptr;
    }
    /// True if this node was given the lease of this MicroJob under this token. @complexity O(log n).
    [[nodiscard]] auto gave(const NodeId& node, std::uint32_t micro, const FencingToken& token) const -> bool {
        const auto* lease = lease_given(token);
        return lease != nullptr && lease->micro == micro && lease->holder == node && !lease->withheld;
    }
    /// True if this progress goes beyond that of the lease's last renewal known here, and not beyond the plan.
    /// @complexity O(log n).
    [[nodiscard]] auto is_further(const FencingToken& token, const BlockProgress& progress) const -> bool {
        const auto* lease = lease_given(token);
        return progress.blocks > (lease == nullptr ? 0 : lease->progress.blocks) &&
               progress.blocks <= plan_.blocks_per_micro;
    }
    /// True unless a result lacks the block to which its author committed by the last renewal known here.
    /// @complexity O(log n).
    [[nodiscard]] auto matches_renewal(const ResultRecord& result) const -> bool {
        const auto* lease = lease_given(result.token);
        return lease == nullptr || lease->holder != result.node || keeps(lease->progress, plan_.job, result);
    }
    /// The lease that the queue's chain of owners gave, and that a fork dropped from the queue since; null if there is
    /// none. An owner leases to itself alone, so its reign is that of the holder. @complexity linear in the chain.
    [[nodiscard]] auto lease_dropped(const NodeId& node, std::uint32_t micro, const FencingToken& token) const
        -> const LeaseGiven* {
        const auto at = dropped_.find(LeaseGiven{micro, node, token});
        if (at == dropped_.end() || at->micro != micro || at->holder != node) { return nullptr; }
        const auto gives = [&](const auto& link) {
            return link.reign.owner == node && link.reign.epoch == token.epoch && link.reign.rank() == token.rank;
        };
        return std::any_of(chain().begin(), chain().end(), gives) ? &*at : nullptr;
    }
    /// True if a result under this lease may yet count: it was given, or it is later than all that this replica knows.
    /// @complexity O(log n).
    [[nodiscard]] auto may_count(const NodeId& node, std::uint32_t micro, const FencingToken& token) const -> bool {
        return !known() || (!owns() && token.seq > control_->tokens) || gave(node, micro, token) ||
               lease_dropped(node, micro, token) != nullptr;
    }
    /// As above, for a result or a commitment.
    template <class R>
    [[nodiscard]] auto may_count(const R& result) const -> bool {
        return may_count(result.node, result.key.micro, result.token);
    }
    /// True if results may be disclosed: every MicroJob is dead, or has an accepted commitment that is here, so that it
    /// is too late to copy a result. An owner's word is not enough. @pre `known()`.
    [[nodiscard]] auto discloses() const -> bool {
        if (!parameters_.commit_results) { return true; }
        auto all = closed();
        for (std::uint32_t k = 0; k < plan_.items() && all; ++k) {
            all = !control_->accepted[k] || promise(k) != nullptr;
        }
        return all;
    }
    /// True if this result may be told to others: another node disclosed it, or it is time to.
    [[nodiscard]] auto is_public(const ResultRecord& result) const -> bool {
        return result.node != self_.node || !known() || discloses() || record() != nullptr;
    }
    /// True if every MicroJob is dead, or done with its result disclosed. @pre `known()`.
    [[nodiscard]] auto ended() const -> bool {
        auto all = closed();
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            all = all && (!control_->accepted[k] || disclosed(k) != nullptr);
        }
        return all;
    }
    /// True if a control calls a result withheld that is here. @pre `known()`.
    [[nodiscard]] auto is_denied_by(const QueueControl& control) const -> bool {
        return std::any_of(control.given.begin(), control.given.end(), [&](const LeaseGiven& lease) {
            if (!lease.withheld || !gave(lease.holder, lease.micro, lease.token)) { return false; }
            const auto& all = results_.results();
            return std::any_of(all.begin(), all.end(), [&](const auto& entry) {
                const auto& result = entry.second;
                return result.node == lease.holder && result.token == lease.token && is_public(result);
            });
        });
    }
    /// True if results were committed and not disclosed in time, so that an owner has to retract them. @pre `known()`.
    [[nodiscard]] auto is_withheld(TimePoint now) const -> bool {
        return closed() && !ended() && rests_for(parameters_.disclose_within, now);
    }

    // ---- nodes -----------------------------------------------------------------------------------------------------

    /// True if the node or the wallet is barred, for a result here or elsewhere, or for contradicting itself.
    [[nodiscard]] auto is_barred(const NodeId& node, const WalletId& wallet) const -> bool {
        return barred_nodes_.contains(node) || barred_wallets_.contains(wallet) || results_.is_barred(node, wallet);
    }
    /// True if this node is barred with any wallet.
    [[nodiscard]] auto is_barred(const NodeId& node) const -> bool { return is_barred(node, WalletId::null()); }

    /// Returns the lowest MicroJob that a node may have now; null if there is none. A culprit gets none. While enough
    /// nodes take part that may have one, no node gets a second one (rule 32). A MicroJob that the node had before is
    /// open to all others first, for one `lock` for each lease; and its last lease is for a node that had none
    /// (rule 30). @pre `known()`.
    [[nodiscard]] auto first_for(const NodeId& node, const WalletId& wallet, TimePoint now) const -> const Item* {
        auto in_line = std::optional<std::set<NodeId>>{};
        return first_for(node, wallet, now, in_line);
    }
    /// Returns the first request that could use the queue; null if there is none. Requests silent for too long are
    /// skipped. @pre `known()`. @complexity the requests times the leases and the MicroJobs, at worst.
    [[nodiscard]] auto next_in_line(TimePoint now) const -> const QueueRequest* {
        auto in_line = std::optional<std::set<NodeId>>{};
        for (const auto& request : control_->requests) {
            if (waits(request, clock(now)) && may_own(request.node, now) &&
                first_for(request.node, request.wallet, now, in_line) != nullptr) {
                return &request;
            }
        }
        return nullptr;
    }

    /// Returns the earliest time after `now` at which something happens without an input: a lease expires, a MicroJob
    /// opens, or the rest is abandoned. @pre `known()`.
    [[nodiscard]] auto next_due(TimePoint now) const -> std::optional<TimePoint> {
        auto due = std::optional<TimePoint>{};
        const auto sooner = [&](TimePoint clock_time) {
            const auto time = local(clock_time);
            if (time > now && (!due || time < *due)) { due = time; }
        };
        auto open = false;
        const auto had = leases_of(self_.node);
        leases_.for_each([&](const Item& item) {
            if (item.closed) { return; }
            open = true;
            sooner(open_since(item));
            if (had[item.key] > 0) { sooner(open_since(item) + parameters_.lock * had[item.key]); }
        });
        const auto wait = open ? parameters_.abandon_after : parameters_.disclose_within;
        if (open || !ended()) {
            sooner(control_->progress + wait);
            sooner(clock(*progress_at_ + wait));
        }
        return due;
    }

protected:
    /// True if nothing has come forward for so long: by the queue's clock and by this node's own, because an owner can
    /// tell any clock to a node that is new. @pre `known()`.
    [[nodiscard]] auto rests_for(Duration time, TimePoint now) const -> bool {
        return clock(now) - control_->progress >= time && rested(now) >= time;
    }
    [[nodiscard]] auto key(std::uint32_t micro) const noexcept -> MicroKey { return {plan_.macro, micro}; }
    /// The number of leases of each MicroJob that a node was given.
    [[nodiscard]] auto leases_of(const NodeId& node) const -> std::vector<std::int64_t> {
        auto had = std::vector<std::int64_t>(plan_.items());
        for (const auto& lease : control_->given) { had[lease.micro] += lease.holder == node ? 1 : 0; }
        return had;
    }
    /// The time at which an item is open, if its lease is not renewed.
    [[nodiscard]] static auto open_since(const Item& item) noexcept -> TimePoint {
        return item.hold ? item.hold->expires : item.not_before;
    }
    /// True if a request was repeated lately; a node that is silent for too long may have vanished.
    [[nodiscard]] auto waits(const QueueRequest& request, TimePoint time) const noexcept -> bool {
        return time - request.heard < parameters_.request_ttl;
    }
    /// As the public one; the nodes in line that may have a MicroJob are looked for once, and kept in `in_line`.
    [[nodiscard]] auto first_for(const NodeId& node, const WalletId& wallet, TimePoint now,
                                 std::optional<std::set<NodeId>>& in_line) const -> const Item* {
        if (is_barred(node, wallet)) { return nullptr; }
        const auto time = clock(now);
        const auto* item = open_for(node, time);
        if (item == nullptr) { return nullptr; }
        auto taking_part = engaged(time);
        if (!taking_part.contains(node)) { return item; }
        if (!in_line) {
            in_line.emplace();
            for (const auto& request : control_->requests) {
                const auto may_have = waits(request, time) && !is_barred(request.node, request.wallet) &&
                                      open_for(request.node, time) != nullptr;
                if (may_have) { in_line->insert(request.node); }
            }
        }
        taking_part.insert(in_line->begin(), in_line->end());
        return taking_part.size() < plan_.items() ? item : nullptr;
    }
    /// Returns the lowest MicroJob that is open for a node because of the leases that it had; null if there is none.
    [[nodiscard]] auto open_for(const NodeId& node, TimePoint time) const -> const Item* {
        const auto had = leases_of(node);
        return leases_.first_open(time, [&](const Item& open) {
            return had[open.key] == 0 || (!detail::is_last_lease(open.attempts, parameters_) &&
                                          time >= open_since(open) + parameters_.lock * had[open.key]);
        });
    }
    /// True if every MicroJob is done or dead.
    [[nodiscard]] auto closed() const -> bool {
        auto all = true;
        leases_.for_each([&](const Item& item) { all = all && item.closed; });
        return all;
    }
    /// Returns the commitment that was accepted for a MicroJob; null if there is none, or it is not here, or its author
    /// did not have the lease.
    [[nodiscard]] auto promise(std::uint32_t micro) const -> const Commitment* {
        if (!control_->accepted[micro]) { return nullptr; }
        const auto& all = results_.commitments();
        const auto& digest = *control_->accepted[micro];
        for (auto at = all.lower_bound({digest, {}, NodeId::null(), {}, {}}); at != all.end() && at->digest == digest;
             ++at) {
            if (at->key.micro == micro && gave(at->node, micro, at->token)) { return &*at; }
        }
        return nullptr;
    }
    /// Returns the accepted result of a MicroJob, once it is disclosed; null before.
    [[nodiscard]] auto disclosed(std::uint32_t micro) const -> const ResultRecord* {
        const auto* promised = promise(micro);
        const auto* result = promised == nullptr ? nullptr : results_.kept(*promised);
        return result != nullptr && matches_renewal(*result) ? result : nullptr;
    }
    /// Returns the nodes that hold a MicroJob or have completed one.
    [[nodiscard]] auto engaged(TimePoint time) const -> std::set<NodeId> {
        auto nodes = std::set<NodeId>{};
        leases_.for_each([&](const Item& item) {
            if (const auto* promised = promise(item.key)) { nodes.insert(promised->node); }
            if (item.is_held(time)) { nodes.insert(item.hold->holder); }
        });
        return nodes;
    }

    struct ByToken {
        auto operator()(const LeaseGiven& a, const LeaseGiven& b) const -> bool { return a.token < b.token; }
    };

    MacroPlan plan_;
    JobNode self_;
    QueueParameters parameters_;
    std::optional<QueueControl> control_{};  // its items are in `leases_`
    MicroLeases leases_;
    std::set<LeaseGiven, ByToken> dropped_;  // leases that were in the queue, and are not in it now
    ResultSet results_;
    std::set<Hash256> supported_;    // digests of records whose grounds are here
    std::set<NodeId> barred_nodes_;  // for results in other MacroJobs, or for contradictions
    std::set<WalletId> barred_wallets_;
    TimePoint anchor_{};                                     // local time of `control_->clock`
    std::optional<TimePoint> disclosing_since_{};            // local
    std::optional<TimePoint> progress_at_{};                 // local time at which these were first seen:
    std::pair<std::uint64_t, std::size_t> most_progress_{};  // leases given, then results accepted
};

}}  // namespace allot::v0
