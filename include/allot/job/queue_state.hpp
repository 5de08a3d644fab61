#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/job/conclusion.hpp>
#include <allot/job/job_effects.hpp>
#include <allot/job/queue_view.hpp>

namespace allot { inline namespace v0 {

/// One node's knowledge of a MacroJob's queue, and the decisions of its owner; `MicroQueueReplica` adds timers and
/// messages.
///
/// @complexity linear in the MacroJob's items, results and requests, unless stated otherwise.
class QueueState : public QueueView {
public:
    using QueueView::QueueView;
    using QueueView::results;

    /// The results, rejections and records known, to add to them.
    [[nodiscard]] auto results() noexcept -> ResultSet& { return results_; }

    /// Looks for the records whose grounds are here by now. @complexity linear in the records' results, times a
    /// logarithm; a record whose grounds are here is concluded anew once, which is quadratic in the MicroJobs.
    auto support() -> void {
        supported_.clear();
        for (const auto& [digest, record] : results_.records()) {
            const auto grounds = known() ? grounds_of(record) : std::nullopt;
            if (!grounds) { continue; }
            const auto [at, fresh] = follows_.try_emplace(digest, false);
            if (fresh) {
                const auto right = concluded(plan_, record.owner, record.epoch, *grounds, record.disclosed);
                at->second = right.digest == digest;
            }
            if (at->second) { supported_.insert(digest); }
        }
    }

    /// Replaces the control by this one, and keeps the leases that it lacks. @pre `fault_of` finds no fault in it.
    auto adopt(const QueueControl& control, TimePoint now) -> void {
        if (known()) { keep_dropped(control_->given, control.given); }
        for (const auto& lease : control.given) { dropped_.erase(lease); }
        leases_ = MicroLeases{control.items};
        control_ = control;
        control_->items.clear();
        anchor_ = now;
        note_progress(now);
    }

    /// Notes whether results are to be disclosed.
    auto note_disclosing(TimePoint now) -> void {
        if (!known() || !discloses()) { return disclosing_since_.reset(); }
        if (!disclosing_since_) { disclosing_since_ = now; }
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
        changed = recall() || changed;
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
        note_progress(now);
        changed = bury(now, out) || changed;
        if (closed() && control_->disclosed == 0) {
            control_->disclosed = control_->tokens;
            changed = true;
        }
        return withdraw(now, out) || changed;
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
    /// Bars a node that contradicted itself. @complexity O(log n).
    auto bar(const NodeId& node) -> void { barred_nodes_.insert(node); }
    /// Leases a MicroJob to this node. @pre it is open (asserted). @complexity O(log n).
    auto lease(std::uint32_t micro, TimePoint now) -> FencingToken {
        const auto token = FencingToken{reign().epoch, reign().rank(), ++control_->tokens};
        [[maybe_unused]] const auto fault = leases_.acquire(micro, self_.node, token, clock(now), parameters_.lock);
        ALLOT_ASSERT(fault == LeaseFault::none, "QueueState::lease: the MicroJob must be open");
        control_->given.push_back({micro, self_.node, token, false, {}});
        control_->progress = clock(now);
        note_progress(now);
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

    /// Returns the record of the MacroJob's end. @pre `ended()`.
    [[nodiscard]] auto conclude() const -> MacroRecord {
        auto results = std::vector<const ResultRecord*>{};
        for (std::uint32_t k = 0; k < plan_.items(); ++k) { results.push_back(disclosed(k)); }
        const auto number = parameters_.commit_results ? control_->disclosed : control_->tokens;
        return concluded(plan_, self_.node, reign().epoch, results, number);
    }

private:
    /// Returns the results that a record names, null for a dead MicroJob; none if this node has not seen them all.
    [[nodiscard]] auto grounds_of(const MacroRecord& record) const -> std::optional<std::vector<const ResultRecord*>> {
        auto grounds = std::vector<const ResultRecord*>(plan_.items());
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            const auto& accepted = record.accepted[k];
            if (accepted.digest == Hash256{}) {
                if (!leases_.find(k)->closed || control_->accepted[k]) { return std::nullopt; }
                continue;
            }
            const auto* result = results_.find(accepted.digest);
            if (result == nullptr || result->key.micro != k || result->node != accepted.node ||
                result->wallet != accepted.wallet || !gave(result->node, k, result->token) ||
                !matches_renewal(*result)) {
                return std::nullopt;
            }
            grounds[k] = result;
        }
        return grounds;
    }
    /// Keeps leases that are not among others, of each holder so many for a MicroJob that none can fill the memory.
    auto keep_dropped(const std::vector<LeaseGiven>& leases, const std::vector<LeaseGiven>& kept) -> void {
        auto missing = std::vector<LeaseGiven>{};
        std::set_difference(leases.begin(), leases.end(), kept.begin(), kept.end(), std::back_inserter(missing),
                            ByToken{});
        if (missing.empty()) { return; }
        auto count = std::map<std::pair<NodeId, std::uint32_t>, std::size_t>{};
        for (const auto& lease : dropped_) { ++count[{lease.holder, lease.micro}]; }
        for (const auto& lease : missing) {
            auto& same = count[{lease.holder, lease.micro}];
            if (same < ResultSet::each_max && dropped_.insert(lease).second) { ++same; }
        }
    }
    /// Takes in the leases that a fork dropped, if their work is done: else it would be done again, and each time count
    /// as an attempt. Returns true if there was one.
    auto recall() -> bool {
        auto done = std::vector<LeaseGiven>{};
        for (const auto& promise : results_.commitments()) {
            const auto* lease = lease_dropped(promise.node, promise.key.micro, promise.token);
            if (lease == nullptr) { continue; }
            done.push_back(*lease);
            dropped_.erase(*lease);
        }
        if (done.empty()) { return false; }
        auto next = control();
        auto leases = std::vector<std::vector<LeaseGiven>>(plan_.items());
        for (const auto& lease : next.given) { leases[lease.micro].push_back(lease); }
        const auto seq_max = next.chain.size() * plan_.items() * parameters_.attempts_max;
        std::erase_if(done, [&](const auto& lease) {
            return lease.token.seq > seq_max || !takes_in(leases[lease.micro], lease);
        });
        for (const auto& lease : done) {
            ++next.items[lease.micro].attempts;
            next.tokens = std::max(next.tokens, lease.token.seq);
        }
        next.given.insert(next.given.end(), done.begin(), done.end());
        std::sort(next.given.begin(), next.given.end(), ByToken{});
        if (done.empty() || fault_of(plan_, next, parameters_)) { return false; }
        leases_ = MicroLeases{std::exchange(next.items, {})};
        control_ = std::move(next);
        return true;
    }
    /// Adds a lease to those of its MicroJob, unless these are no leases of a valid control then: each is valid by
    /// itself, so that one that is not keeps no other out.
    auto takes_in(std::vector<LeaseGiven>& leases, const LeaseGiven& lease) const -> bool {
        auto more = leases;
        more.insert(std::upper_bound(more.begin(), more.end(), lease, ByToken{}), lease);
        const auto& hold = leases_.find(lease.micro)->hold;
        const auto early = [&](const auto& l) { return l.token.seq <= control_->disclosed; };
        if (control_->disclosed != 0 && std::none_of(more.begin(), more.end(), early)) { return false; }
        if (more.size() > parameters_.attempts_max || (hold && more.back().token != hold->token)) { return false; }
        for (auto last = more.begin(); last != more.end(); ++last) {
            const auto again = std::any_of(more.begin(), last, [&](const auto& l) { return l.holder == last->holder; });
            if (again && detail::is_last_lease(static_cast<std::uint32_t>(last - more.begin()), parameters_)) {
                return false;
            }
        }
        leases = std::move(more);
        return true;
    }
    /// Notes the time of the greatest progress so far. It is a number that grows, so no owner can make it up for ever.
    auto note_progress(TimePoint now) -> void {
        const auto& accepted = control_->accepted;
        const auto count = static_cast<std::size_t>(std::count_if(accepted.begin(), accepted.end(), has_value));
        const auto progress = std::pair{control_->tokens, count};
        if (progress_at_ && progress <= most_progress_) { return; }
        most_progress_ = progress;
        progress_at_ = now;
    }
    static constexpr auto has_value = [](const auto& digest) { return digest.has_value(); };
    auto lost(const Item& item, JobEffects& out) const -> void {
        out.events.push_back(job_event::LeaseExpired{plan_.job, key(item.key), item.hold->holder});
    }

    /// Grows with the number of attempts.
    [[nodiscard]] auto retry_delay(std::uint32_t micro) const -> Duration {
        const auto attempts = leases_.find(micro)->attempts;
        return parameters_.retry_delay * (std::int64_t{1} << std::min(attempts > 0 ? attempts - 1 : 0U, 6U));
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
    auto withdraw(TimePoint now, JobEffects& out) -> bool {
        if (!is_withheld(now)) { return false; }
        auto any = false;
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            const auto* promised = promise(k);
            if (promised == nullptr || disclosed(k) != nullptr) { continue; }
            for (auto& lease : control_->given) { lease.withheld = lease.withheld || lease.token == promised->token; }
            retract(k, clock(now), out);
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
    auto bury(TimePoint now, JobEffects& out) -> bool {
        const auto time = clock(now);
        auto dead = std::vector<std::uint32_t>{};
        auto idle = rests_for(parameters_.abandon_after, now);
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

    std::map<Hash256, bool> follows_;  // by digest of a record: whether it follows from its grounds
};

}}  // namespace allot::v0
