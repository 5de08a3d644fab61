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
#include <allot/job/job_effects.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/queue_parameters.hpp>
#include <allot/job/result_set.hpp>
#include <allot/job/verifier.hpp>

namespace allot { inline namespace v0 {

/// Who a replica acts for.
struct JobNode {
    NodeId node;
    WalletId wallet;
    std::uint64_t boot = 0;  ///< A number this node never used before; another after each restart.

    friend auto operator==(const JobNode&, const JobNode&) -> bool = default;
};

/// What one node knows of a MacroJob's queue, and what an owner of it decides; without timers and messages, which are
/// `MicroQueueReplica`'s.
///
/// Its times are those of the queue's clock: it stands still in a snapshot, and runs on from the moment a node takes one
/// in. So no clocks have to agree, and passing the queue on can lengthen a lease, never shorten it.
class QueueState {
public:
    using Item = MicroLeases::Item;

    /// Throws std::invalid_argument where `parameters.fault()`.
    QueueState(MacroPlan plan, JobNode self, const QueueParameters& parameters)
        : plan_{std::move(plan)}, self_{std::move(self)}, parameters_{detail::sound(parameters)} {
        ALLOT_ASSERT(!self_.node.is_null() && !self_.wallet.is_null(), "QueueState: a node needs an id and a wallet");
    }

    [[nodiscard]] auto plan() const noexcept -> const MacroPlan& { return plan_; }
    [[nodiscard]] auto self() const noexcept -> const JobNode& { return self_; }
    [[nodiscard]] auto parameters() const noexcept -> const QueueParameters& { return parameters_; }
    [[nodiscard]] auto results() const noexcept -> const ResultSet& { return results_; }
    [[nodiscard]] auto results() noexcept -> ResultSet& { return results_; }
    [[nodiscard]] auto leases() const noexcept -> const MicroLeases& { return leases_; }

    /// Whether a queue is known, and whether this life of this node owns it.
    [[nodiscard]] auto known() const noexcept -> bool { return control_.has_value(); }
    [[nodiscard]] auto owns() const noexcept -> bool {
        return known() && control_->reign.owner == self_.node && control_->reign.boot == self_.boot;
    }
    /// The reign, and the newest control as a value. @pre `known()`.
    [[nodiscard]] auto reign() const noexcept -> const QueueReign& { return control_->reign; }
    [[nodiscard]] auto control() const -> QueueControl {
        auto control = *control_;
        control.items = leases_.items();
        return control;
    }
    [[nodiscard]] auto accepted() const noexcept -> const std::vector<std::optional<Hash256>>& { return control_->accepted; }
    [[nodiscard]] auto requests() const noexcept -> const std::vector<QueueRequest>& { return control_->requests; }
    [[nodiscard]] auto owners_before() const noexcept -> const std::vector<NodeId>& { return control_->owners_before; }

    /// The queue's time when it is `now` here, and the reverse. @pre `known()`.
    [[nodiscard]] auto clock(TimePoint now) const noexcept -> TimePoint { return control_->clock + (now - anchor_); }
    [[nodiscard]] auto local(TimePoint clock) const noexcept -> TimePoint { return anchor_ + (clock - control_->clock); }

    /// Takes a control for the truth. @pre nothing is wrong with it.
    auto adopt(const QueueControl& control, TimePoint now) -> void {
        leases_ = MicroLeases{control.items};
        control_ = control;
        control_->items.clear();
        anchor_ = now;
    }

    /// A queue of this MacroJob in which nothing happened yet, under the first reign of `epoch`, this node's.
    [[nodiscard]] auto fresh(std::uint64_t epoch) const -> QueueControl {
        auto control = QueueControl{{epoch, self_.node, self_.boot, 0, true}, 0, {}, {}, 0, {}, {}, {}, {}};
        for (std::uint32_t k = 0; k < plan_.items(); ++k) { control.items.push_back({k, 0, {}, false, {}}); }
        control.accepted.resize(plan_.items());
        return control;
    }

    /// Starts the reign of another owner, or of this node, over what is known. @pre `known()`.
    auto begin_reign(const QueueReign& reign, TimePoint now) -> void {
        auto& before = control_->owners_before;
        const auto last = control_->reign.owner;
        std::erase(before, last);
        before.insert(before.begin(), last);
        before.resize(std::min(before.size(), QueueControl::owners_max), last);
        stamp(now);
        control_->reign = reign;
        control_->revision = 0;
        drop_request(reign.owner);
    }

    /// Sets the clock forward to `now` and counts the revision, as an owner does with each word it says. @pre `known()`.
    auto stamp(TimePoint now) -> void {
        control_->clock = clock(now);
        anchor_ = now;
        ++control_->revision;
    }

    // ---- what an owner does ---------------------------------------------------------------------------------------

    /// Puts a node in line, or notes that it is still there.
    auto note_request(const QueueRequest& request) -> bool {
        for (auto& known : control_->requests) {
            if (known.node == request.node) {
                const auto changed = known.boot != request.boot;
                known = request;
                return changed;
            }
        }
        if (control_->requests.size() >= QueueControl::requests_max) { return false; }
        control_->requests.push_back(request);
        return true;
    }
    auto drop_request(const NodeId& node) -> void {
        std::erase_if(control_->requests, [&](const auto& request) { return request.node == node; });
    }

    /// Draws every conclusion that time and results allow: leases that expired, results that count, those that were
    /// rejected, and MicroJobs that are dead. True when something changed.
    auto settle(TimePoint now, JobEffects& out) -> bool {
        const auto time = clock(now);
        auto changed = leases_.expire(time, [&](const Item& item) { lost(item, out); }) > 0;
        auto first = std::map<std::uint32_t, const ResultRecord*>{};
        for (const auto& [digest, record] : results_.results()) {
            auto& best = first[record.key.micro];
            if (best == nullptr || record.token < best->token) { best = &record; }
        }
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            auto& accepted = control_->accepted[k];
            if (accepted && results_.find(*accepted) == nullptr) {
                retract(k, time, out);
                changed = true;
            }
            if (!accepted && first[k] != nullptr) {
                accept(*first[k], time, out);
                changed = true;
            }
        }
        return bury(time, out) || changed;
    }

    /// Ends the leases of a node that is gone, and takes it out of the line. True when something changed.
    auto drop(const NodeId& node, TimePoint now, JobEffects& out) -> bool {
        const auto waiting = control_->requests.size();
        drop_request(node);
        const auto ended = leases_.drop_holder(node, clock(now), [&](const Item& item) { lost(item, out); });
        return ended > 0 || control_->requests.size() != waiting;
    }

    /// Bars a node and a wallet that answer for a rejected result elsewhere in the job; what was rejected here bars by itself.
    auto bar(const NodeId& node, const WalletId& wallet) -> void {
        barred_nodes_.insert(node);
        barred_wallets_.insert(wallet);
    }
    [[nodiscard]] auto is_barred(const NodeId& node, const WalletId& wallet) const -> bool {
        return barred_nodes_.contains(node) || barred_wallets_.contains(wallet) || results_.is_barred(node, wallet);
    }

    /// The MicroJob of the lowest number that a node may have now; null when there is none.
    /// Not one barred as a culprit; and while enough nodes take part, nobody gets a second (rule 32).
    [[nodiscard]] auto first_for(const NodeId& node, const WalletId& wallet, TimePoint now) const -> const Item* {
        if (is_barred(node, wallet)) { return nullptr; }
        const auto time = clock(now);
        const auto* item = leases_.first_open(time);
        if (item == nullptr) { return nullptr; }
        const auto busy = engaged(time);
        if (!busy.contains(node)) { return item; }
        auto taking_part = busy;
        for (const auto& request : control_->requests) {
            if (!is_barred(request.node, request.wallet)) { taking_part.insert(request.node); }
        }
        return taking_part.size() < plan_.items() ? item : nullptr;
    }

    /// Leases a MicroJob to this node. @pre it is open.
    auto lease(std::uint32_t micro, TimePoint now) -> FencingToken {
        const auto token = FencingToken{control_->reign.epoch, control_->reign.rank(), ++control_->tokens};
        [[maybe_unused]] const auto fault = leases_.acquire(micro, self_.node, token, clock(now), parameters_.lock);
        ALLOT_ASSERT(fault == LeaseFault::none, "QueueState::lease: the MicroJob must be open");
        control_->progress = clock(now);
        return token;
    }
    auto renew(std::uint32_t micro, const FencingToken& token, TimePoint now) -> LeaseFault {
        return leases_.renew(micro, token, clock(now), parameters_.lock, parameters_.renewals_max);
    }
    auto give_back(std::uint32_t micro, const FencingToken& token, TimePoint now) -> LeaseFault {
        return leases_.release(micro, token, clock(now) + retry_delay(micro));
    }

    /// The first in line that could use the queue; null when there is none. Those not heard for long are left out.
    [[nodiscard]] auto next_in_line(TimePoint now) const -> const QueueRequest* {
        for (const auto& request : control_->requests) {
            if (clock(now) - request.heard < parameters_.request_ttl && first_for(request.node, request.wallet, now)) {
                return &request;
            }
        }
        return nullptr;
    }

    /// Whether every MicroJob is done or dead.
    [[nodiscard]] auto ended() const -> bool {
        auto all = true;
        leases_.for_each([&](const Item& item) { all = all && item.closed; });
        return all;
    }

    /// What the MacroJob came to. @pre `ended()`.
    [[nodiscard]] auto conclude() const -> MacroRecord {
        auto record = MacroRecord{plan_.job, plan_.macro, reign().epoch, self_.node, JobOutcome::complete, {}, {}, false, {}};
        auto lists = std::vector<const std::vector<Hash256>*>{};
        auto wallets = std::set<WalletId>{};
        for (const auto& digest : control_->accepted) {
            const auto* result = digest ? results_.find(*digest) : nullptr;
            if (result == nullptr) {
                record.outcome = JobOutcome::failed;
                record.accepted.emplace_back();
                continue;
            }
            record.accepted.push_back({*digest, result->node, result->wallet});
            record.self_verified = !wallets.insert(result->wallet).second || record.self_verified;
            lists.push_back(&result->block_hashes);
        }
        if (record.outcome == JobOutcome::complete && plan_.verifiers > 0) { record.verifiers = find_verifiers(plan_, lists); }
        record.digest = digest_of(record);
        return record;
    }

    /// When, after `now`, something happens by itself: a lease expires, a MicroJob's time comes, or nobody wants the rest.
    /// @complexity linear.
    [[nodiscard]] auto next_due(TimePoint now) const -> std::optional<TimePoint> {
        auto due = std::optional<TimePoint>{};
        const auto sooner = [&](TimePoint clock_time) {
            const auto time = local(clock_time);
            if (time > now && (!due || time < *due)) { due = time; }
        };
        auto open = false;
        leases_.for_each([&](const Item& item) {
            if (item.closed) { return; }
            open = true;
            sooner(item.hold ? item.hold->expires : item.not_before);
        });
        if (open) { sooner(control_->progress + parameters_.abandon_after); }
        return due;
    }

private:
    [[nodiscard]] auto key(std::uint32_t micro) const noexcept -> MicroKey { return {plan_.macro, micro}; }
    auto lost(const Item& item, JobEffects& out) const -> void {
        out.events.push_back(job_event::LeaseExpired{plan_.job, key(item.key), item.hold->holder});
    }

    /// The longer, the more often it was tried.
    [[nodiscard]] auto retry_delay(std::uint32_t micro) const -> Duration {
        const auto attempts = leases_.find(micro)->attempts;
        return parameters_.retry_delay * (std::int64_t{1} << std::min(attempts > 0 ? attempts - 1 : 0U, 6U));
    }

    /// Nodes that hold a MicroJob or have done one.
    [[nodiscard]] auto engaged(TimePoint time) const -> std::set<NodeId> {
        auto nodes = std::set<NodeId>{};
        leases_.for_each([&](const Item& item) {
            const auto& accepted = control_->accepted[item.key];
            const auto* result = accepted ? results_.find(*accepted) : nullptr;
            if (result != nullptr) { nodes.insert(result->node); }
            if (item.is_held(time)) { nodes.insert(item.hold->holder); }
        });
        return nodes;
    }

    auto accept(const ResultRecord& record, TimePoint time, JobEffects& out) -> void {
        const auto* item = leases_.find(record.key.micro);
        const auto held = item->hold && item->hold->token == record.token && !item->closed;
        const auto took = held ? time - item->hold->granted : Duration{0};
        control_->accepted[record.key.micro] = record.digest;
        (void)leases_.close(record.key.micro);
        out.events.push_back(job_event::MicroCompleted{plan_.job, record.key, record.node, took, !held});
    }

    /// Takes an accepted result back: it was rejected, or went down with the owner who had it, and its author, who sees
    /// that nobody has it, will say it again. The MicroJob is open after a while.
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

    /// Closes MicroJobs that were tried often enough, and those that nobody may or wants to take.
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
    std::optional<QueueControl> control_{};  // its items are in leases_
    MicroLeases leases_;
    ResultSet results_;
    std::set<NodeId> barred_nodes_;      // for what they did in other MacroJobs
    std::set<WalletId> barred_wallets_;
    TimePoint anchor_{};  // when control_->clock was the queue's time
};

}}  // namespace allot::v0
