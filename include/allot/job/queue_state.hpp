#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/job/conclusion.hpp>
#include <allot/job/control_check.hpp>
#include <allot/job/job_effects.hpp>
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

/// One node's knowledge of a MacroJob's queue, and the decisions of its owner; `MicroQueueReplica` adds timers and
/// messages.
///
/// Times are those of the queue's clock. It stands still in a snapshot and runs on from the moment when a node adopts
/// one. So no clocks have to agree, and passing the queue on can lengthen a lease but never shorten it.
///
/// @complexity linear in the MacroJob's items, results and requests, unless stated otherwise.
class QueueState {
public:
    using Item = MicroLeases::Item;

    /// Makes a state without a queue. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    /// @pre the ids of the node and its wallet are not null (asserted).
    QueueState(MacroPlan plan, JobNode self, const QueueParameters& parameters)
        : plan_{std::move(plan)}, self_{std::move(self)}, parameters_{detail::sound(parameters)} {
        ALLOT_ASSERT(!self_.node.is_null() && !self_.wallet.is_null(), "QueueState: a node needs an id and a wallet");
    }

    /// The MacroJob.
    [[nodiscard]] auto plan() const noexcept -> const MacroPlan& { return plan_; }
    /// The node for which this state acts.
    [[nodiscard]] auto self() const noexcept -> const JobNode& { return self_; }
    /// The queue's parameters.
    [[nodiscard]] auto parameters() const noexcept -> const QueueParameters& { return parameters_; }
    /// The results, rejections and records known.
    [[nodiscard]] auto results() const noexcept -> const ResultSet& { return results_; }
    /// As above, to add to them.
    [[nodiscard]] auto results() noexcept -> ResultSet& { return results_; }
    /// The valid record of the MacroJob; null if there is none. An owner's record counts once this node has seen all
    /// that it tells: each result under its lease, and each dead MicroJob. @complexity as that of `ResultSet::record`.
    [[nodiscard]] auto record() const -> const MacroRecord* {
        return results_.record([&](const MacroRecord& record) { return supported_.contains(record.digest); });
    }
    /// Looks for records that this node has seen the grounds of by now. @complexity linear in the new records.
    auto support() -> void {
        for (const auto& [digest, record] : results_.records()) {
            if (!supported_.contains(digest) && supports(record)) { supported_.insert(digest); }
        }
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

    /// Converts the local time `now` to the queue's time. @pre `known()`.
    [[nodiscard]] auto clock(TimePoint now) const noexcept -> TimePoint { return control_->clock + (now - anchor_); }
    /// Converts the queue's time to local time. @pre `known()`.
    [[nodiscard]] auto local(TimePoint clock) const noexcept -> TimePoint {
        return anchor_ + (clock - control_->clock);
    }

    /// Replaces the control by this one. @pre `fault_of` finds no fault in it.
    auto adopt(const QueueControl& control, TimePoint now) -> void {
        leases_ = MicroLeases{control.items};
        control_ = control;
        control_->items.clear();
        anchor_ = now;
    }

    /// Returns a new queue of this MacroJob, under the first reign of `epoch`, this node's.
    [[nodiscard]] auto fresh(std::uint64_t epoch) const -> QueueControl {
        auto control = QueueControl{};
        control.chain.push_back({{epoch, self_.node, self_.boot, 0, true, {}}, {}});
        for (std::uint32_t k = 0; k < plan_.items(); ++k) { control.items.push_back({k, 0, {}, false, {}}); }
        control.accepted.resize(plan_.items());
        return control;
    }

    /// Starts the reign of another owner, or of this node, over the known queue. @pre `known()`.
    auto begin_reign(const QueueReign& reign, TimePoint now) -> void {
        stamp(now);
        control_->chain.push_back({reign, {}});
        control_->revision = 0;
        drop_request(reign.owner);
    }

    /// Advances the clock to `now` and counts the revision, as an owner does with each of its messages. @pre `known()`.
    auto stamp(TimePoint now) -> void {
        control_->clock = clock(now);
        anchor_ = now;
        ++control_->revision;
        control_->signature.clear();
    }

    /// The lease that was given under this token; null if there is none. @complexity O(log n).
    [[nodiscard]] auto lease_given(const FencingToken& token) const -> const LeaseGiven* {
        if (!known()) { return nullptr; }
        const auto& given = control_->given;
        const auto at =
            std::lower_bound(given.begin(), given.end(), token,
                             [](const LeaseGiven& lease, const auto& wanted) { return lease.token < wanted; });
        return at != given.end() && at->token == token ? &*at : nullptr;
    }
    /// True if this node was given the lease of this MicroJob under this token.
    [[nodiscard]] auto gave(const NodeId& node, std::uint32_t micro, const FencingToken& token) const -> bool {
        const auto* lease = lease_given(token);
        return lease != nullptr && lease->micro == micro && lease->holder == node && !lease->withheld;
    }
    /// True if this progress goes beyond that of the lease's last renewal known here, and not beyond the plan.
    [[nodiscard]] auto is_further(const FencingToken& token, const BlockProgress& progress) const -> bool {
        const auto* lease = lease_given(token);
        return progress.blocks > (lease == nullptr ? 0 : lease->progress.blocks) &&
               progress.blocks <= plan_.blocks_per_micro;
    }
    /// True unless a result lacks the block to which its author committed by the last renewal known here.
    [[nodiscard]] auto matches_renewal(const ResultRecord& result) const -> bool {
        const auto* lease = lease_given(result.token);
        return lease == nullptr || lease->holder != result.node || keeps(lease->progress, plan_.job, result);
    }
    /// True if a result under this lease may yet count: it was given, or it is later than all that this replica knows.
    [[nodiscard]] auto may_count(const NodeId& node, std::uint32_t micro, const FencingToken& token) const -> bool {
        return !known() || (!owns() && token.seq > control_->tokens) || gave(node, micro, token);
    }
    /// As above, for a result or a commitment.
    template <class R>
    [[nodiscard]] auto may_count(const R& result) const -> bool {
        return may_count(result.node, result.key.micro, result.token);
    }
    /// True if results may be disclosed: every MicroJob has a committed result or is dead. @pre `known()`.
    [[nodiscard]] auto discloses() const -> bool { return !parameters_.commit_results || closed(); }
    /// True if this result may be told to others: another node disclosed it, or it is time to. @pre `known()`.
    [[nodiscard]] auto is_public(const ResultRecord& result) const -> bool {
        return result.node != self_.node || !known() || discloses() || record() != nullptr;
    }

    // ---- an owner's decisions --------------------------------------------------------------------------------------

    /// Adds a request, or refreshes a node's earlier one. Returns true if the line changed. @pre `known()`.
    auto note_request(const QueueRequest& request) -> bool {
        for (auto& known : control_->requests) {
            if (known.node == request.node) {
                const auto changed = known.boot != request.boot;
                known = request;
                return changed;
            }
        }
        if (control_->requests.size() >= QueueControl::requests_max) {
            std::erase_if(control_->requests, [&](const auto& other) { return !waits(other, request.heard); });
        }
        if (control_->requests.size() >= QueueControl::requests_max) { return false; }
        control_->requests.push_back(request);
        return true;
    }
    /// Removes a node's request. @pre `known()`.
    auto drop_request(const NodeId& node) -> void {
        std::erase_if(control_->requests, [&](const auto& request) { return request.node == node; });
    }

    /// Applies all consequences of time and results: expired leases, accepted results, retracted results, and dead
    /// MicroJobs. Returns true if something changed. @pre `known()`.
    auto settle(TimePoint now, JobEffects& out) -> bool {
        const auto time = clock(now);
        auto changed = leases_.expire(time, [&](const Item& item) { lost(item, out); }) > 0;
        auto first = std::map<std::uint32_t, const Commitment*>{};
        for (const auto& promise : results_.commitments()) {
            if (!gave(promise.node, promise.key.micro, promise.token)) { continue; }
            auto& best = first[promise.key.micro];
            if (best == nullptr || promise.token < best->token) { best = &promise; }
        }
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            auto& accepted = control_->accepted[k];
            if (accepted && promise(k) == nullptr) {
                retract(k, time, out);
                changed = true;
            }
            if (!accepted && first[k] != nullptr) {
                accept(*first[k], time, out);
                changed = true;
            }
        }
        changed = bury(time, out) || changed;
        if (closed() && control_->disclosed == 0) {
            control_->disclosed = control_->tokens;
            changed = true;
        }
        return withdraw(time, out) || changed;
    }

    /// Ends the leases of a vanished node and removes its request. Returns true if something changed. @pre `known()`.
    auto drop(const NodeId& node, TimePoint now, JobEffects& out) -> bool {
        const auto waiting = control_->requests.size();
        drop_request(node);
        const auto ended = leases_.drop_holder(node, clock(now), [&](const Item& item) { lost(item, out); });
        return ended > 0 || control_->requests.size() != waiting;
    }

    /// Bars a node and a wallet for a result rejected elsewhere in the job; a result rejected here bars its author by
    /// itself.
    auto bar(const NodeId& node, const WalletId& wallet) -> void {
        barred_nodes_.insert(node);
        barred_wallets_.insert(wallet);
    }
    /// True if the node or the wallet is barred, for a result here or elsewhere.
    [[nodiscard]] auto is_barred(const NodeId& node, const WalletId& wallet) const -> bool {
        return barred_nodes_.contains(node) || barred_wallets_.contains(wallet) || results_.is_barred(node, wallet);
    }

    /// Returns the lowest MicroJob that a node may have now; null if there is none. A culprit gets none. While enough
    /// nodes take part, no node gets a second one (rule 32). A MicroJob whose last lease was the node's is open to all
    /// others first, for one `lock` (rule 30). @pre `known()`.
    [[nodiscard]] auto first_for(const NodeId& node, const WalletId& wallet, TimePoint now) const -> const Item* {
        if (is_barred(node, wallet)) { return nullptr; }
        const auto time = clock(now);
        const auto had = had_last(node);
        const auto* item = leases_.first_open(
            time, [&](const Item& open) { return !had[open.key] || time >= open_since(open) + parameters_.lock; });
        if (item == nullptr) { return nullptr; }
        const auto busy = engaged(time);
        if (!busy.contains(node)) { return item; }
        auto taking_part = busy;
        for (const auto& request : control_->requests) {
            if (waits(request, time) && !is_barred(request.node, request.wallet)) { taking_part.insert(request.node); }
        }
        return taking_part.size() < plan_.items() ? item : nullptr;
    }

    /// Leases a MicroJob to this node. @pre it is open (asserted). @complexity O(log n).
    auto lease(std::uint32_t micro, TimePoint now) -> FencingToken {
        const auto token = FencingToken{reign().epoch, reign().rank(), ++control_->tokens};
        [[maybe_unused]] const auto fault = leases_.acquire(micro, self_.node, token, clock(now), parameters_.lock);
        ALLOT_ASSERT(fault == LeaseFault::none, "QueueState::lease: the MicroJob must be open");
        control_->given.push_back({micro, self_.node, token, false, {}});
        control_->progress = clock(now);
        return token;
    }
    /// Renews a lease of `holder`. Errors: those of `LeaseTable::renew`. @pre `is_further(token, progress)`.
    /// @complexity O(log n).
    auto renew(std::uint32_t micro, const NodeId& holder, const FencingToken& token, const BlockProgress& progress,
               TimePoint now) -> LeaseFault {
        if (leases_.find(micro) == nullptr) { return LeaseFault::unknown; }
        if (!gave(holder, micro, token)) { return LeaseFault::stale; }
        const auto fault = leases_.renew(micro, token, clock(now), parameters_.lock, parameters_.renewals_max);
        const auto number = static_cast<std::size_t>(lease_given(token) - control_->given.data());
        if (fault == LeaseFault::none) { control_->given[number].progress = progress; }
        return fault;
    }
    /// Ends a lease; the MicroJob is open again after the retry delay. Errors: those of `LeaseTable::release`.
    /// @complexity O(log n).
    auto give_back(std::uint32_t micro, const FencingToken& token, TimePoint now) -> LeaseFault {
        if (leases_.find(micro) == nullptr) { return LeaseFault::unknown; }
        return leases_.release(micro, token, clock(now) + retry_delay(micro));
    }

    /// Returns the first request that could use the queue; null if there is none. Requests silent for too long are
    /// skipped.
    /// @complexity quadratic in the requests, at worst.
    [[nodiscard]] auto next_in_line(TimePoint now) const -> const QueueRequest* {
        const auto resting = rests();
        for (const auto& request : control_->requests) {
            if (waits(request, clock(now)) && control_->has_reign_left(request.node) &&
                clock(now) >= resting.may_own_from(request.node) &&
                first_for(request.node, request.wallet, now) != nullptr) {
                return &request;
            }
        }
        return nullptr;
    }

    /// True if every MicroJob is dead, or done with its result disclosed.
    [[nodiscard]] auto ended() const -> bool {
        auto all = closed();
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            all = all && (!control_->accepted[k] || disclosed(k) != nullptr);
        }
        return all;
    }

    /// Returns the record of the MacroJob's end. @pre `ended()`.
    [[nodiscard]] auto conclude() const -> MacroRecord {
        auto results = std::vector<const ResultRecord*>{};
        for (std::uint32_t k = 0; k < plan_.items(); ++k) { results.push_back(disclosed(k)); }
        const auto number = parameters_.commit_results ? control_->disclosed : control_->tokens;
        return concluded(plan_, self_.node, reign().epoch, results, number);
    }

    /// Returns the earliest time after `now` at which something happens without an input: a lease expires, a MicroJob
    /// opens, or the rest is abandoned. @complexity linear.
    [[nodiscard]] auto next_due(TimePoint now) const -> std::optional<TimePoint> {
        auto due = std::optional<TimePoint>{};
        const auto sooner = [&](TimePoint clock_time) {
            const auto time = local(clock_time);
            if (time > now && (!due || time < *due)) { due = time; }
        };
        auto open = false;
        const auto had = had_last(self_.node);
        leases_.for_each([&](const Item& item) {
            if (item.closed) { return; }
            open = true;
            sooner(open_since(item));
            if (had[item.key]) { sooner(open_since(item) + parameters_.lock); }
        });
        if (open) { sooner(control_->progress + parameters_.abandon_after); }
        if (!open && !ended()) { sooner(control_->progress + parameters_.disclose_within); }
        return due;
    }

private:
    [[nodiscard]] auto supports(const MacroRecord& record) const -> bool {
        if (!known()) { return false; }
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            const auto& accepted = record.accepted[k];
            if (accepted.digest == Hash256{}) {
                if (!leases_.find(k)->closed || control_->accepted[k]) { return false; }
                continue;
            }
            const auto* result = results_.find(accepted.digest);
            if (result == nullptr || result->key.micro != k || result->node != accepted.node ||
                result->wallet != accepted.wallet || !gave(result->node, k, result->token) ||
                !matches_renewal(*result)) {
                return false;
            }
        }
        return true;
    }
    [[nodiscard]] auto key(std::uint32_t micro) const noexcept -> MicroKey { return {plan_.macro, micro}; }
    /// Returns for each MicroJob whether its last lease was the node's.
    [[nodiscard]] auto had_last(const NodeId& node) const -> std::vector<bool> {
        auto had = std::vector<bool>(plan_.items());
        for (const auto& lease : control_->given) { had[lease.micro] = lease.holder == node; }
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
    auto lost(const Item& item, JobEffects& out) const -> void {
        out.events.push_back(job_event::LeaseExpired{plan_.job, key(item.key), item.hold->holder});
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

    /// Grows with the number of attempts.
    [[nodiscard]] auto retry_delay(std::uint32_t micro) const -> Duration {
        const auto attempts = leases_.find(micro)->attempts;
        return parameters_.retry_delay * (std::int64_t{1} << std::min(attempts > 0 ? attempts - 1 : 0U, 6U));
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

    auto accept(const Commitment& promise, TimePoint time, JobEffects& out) -> void {
        const auto* item = leases_.find(promise.key.micro);
        const auto held = item->hold && item->hold->token == promise.token && !item->closed;
        const auto took = held ? time - item->hold->granted : Duration{0};
        control_->accepted[promise.key.micro] = promise.digest;
        control_->progress = time;
        (void)leases_.close(promise.key.micro);
        out.events.push_back(job_event::MicroCompleted{plan_.job, promise.key, promise.node, took, !held});
    }

    /// Retracts the results that were committed and not disclosed in time. Returns true if there was one.
    auto withdraw(TimePoint time, JobEffects& out) -> bool {
        if (!closed() || time - control_->progress < parameters_.disclose_within) { return false; }
        auto any = false;
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            const auto* promised = promise(k);
            if (promised == nullptr || disclosed(k) != nullptr) { continue; }
            for (auto& lease : control_->given) { lease.withheld = lease.withheld || lease.token == promised->token; }
            retract(k, time, out);
            any = true;
        }
        return any;
    }

    /// Retracts an accepted result: it was rejected, or it was lost with the owner that had it. In the second case its
    /// author sees that no owner has it and repeats it. The MicroJob opens after the retry delay.
    auto retract(std::uint32_t micro, TimePoint time, JobEffects& out) -> void {
        const auto rejection = results_.rejected().find(*control_->accepted[micro]);
        if (rejection != results_.rejected().end()) {
            out.events.push_back(
                job_event::ResultRejected{plan_.job, key(micro), rejection->second.node, rejection->second.reason});
        }
        control_->accepted[micro].reset();
        (void)leases_.reopen(micro, time + retry_delay(micro));
        control_->progress = time;
    }

    /// Closes MicroJobs without further attempts, and those abandoned because no node may or wants to take them.
    auto bury(TimePoint time, JobEffects& out) -> bool {
        auto dead = std::vector<std::uint32_t>{};
        auto idle = time - control_->progress >= parameters_.abandon_after;
        leases_.for_each([&](const Item& item) { idle = idle && !item.is_held(time); });
        leases_.for_each([&](const Item& item) {
            const auto tried = item.attempts >= parameters_.attempts_max && item.is_open(time);
            if (!item.closed && !item.hold && (idle || tried)) { dead.push_back(item.key); }
        });
        for (const auto micro : dead) {
            (void)leases_.close(micro);
            out.events.push_back(job_event::MicroDead{plan_.job, key(micro), leases_.find(micro)->attempts});
        }
        return !dead.empty();
    }

    MacroPlan plan_;
    JobNode self_;
    QueueParameters parameters_;
    std::optional<QueueControl> control_{};  // its items are in `leases_`
    MicroLeases leases_;
    ResultSet results_;
    std::set<Hash256> supported_;    // digests of records
    std::set<NodeId> barred_nodes_;  // for results in other MacroJobs
    std::set<WalletId> barred_wallets_;
    TimePoint anchor_{};  // local time of `control_->clock`
};

}}  // namespace allot::v0
