#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <allot/job/job_effects.hpp>
#include <allot/job/queue_state.hpp>

namespace allot { inline namespace v0 {

/// The ownership of a travelling queue: how it is passed on, taken over and announced. Part of `MicroQueueReplica`.
///
/// @complexity of each function: linear in the MacroJob, unless it only returns a value.
class QueueSuccession {
public:
    /// Makes a replica's part without a queue. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    QueueSuccession(MacroPlan plan, JobNode self, const QueueParameters& parameters, TimePoint now)
        : state_{std::move(plan), std::move(self), parameters}, channel_{state_.plan().channel()}, heard_{now},
          request_wait_{parameters.request_retry}, request_at_{now} {}

    /// The queue's state.
    [[nodiscard]] auto state() const noexcept -> const QueueState& { return state_; }
    /// The record of the job's end, once known. From then on the queue is idle.
    [[nodiscard]] auto final_record() const noexcept -> const std::optional<FinalRecord>& { return final_; }
    /// The valid record of the MacroJob; null if there is none.
    [[nodiscard]] auto record() const -> const MacroRecord* { return state_.record(); }
    /// Returns all that is known and may be told, to be sent to a node that knows nothing.
    [[nodiscard]] auto snapshot() const -> job_message::QueueSnapshot {
        auto message = verdicts();
        message.whole = true;
        if (state_.known()) { message.control = state_.control(); }
        tell_results(state_.results().commitments(), message);
        return message;
    }
    /// Returns all that is known, with this node's results that are not disclosed yet. To be saved, and not to be sent.
    [[nodiscard]] auto saved() const -> job_message::QueueSnapshot {
        auto message = snapshot();
        message.results.clear();
        for (const auto& [digest, result] : state_.results().results()) {
            if (counts(result)) { message.results.push_back(result); }
        }
        return message;
    }

protected:
    /// A change of owner that awaits its claim.
    struct Claim {
        Hash256 name{};
        QueueReign reign;
        TimePoint again_at{};
        bool for_silence = false;  ///< The owner was silent. If it is heard, the claim is given up.
    };

    [[nodiscard]] auto parameters() const noexcept -> const QueueParameters& { return state_.parameters(); }
    auto say(JobMessage message, JobEffects& out) const -> void { out.sends.push_back({channel_, std::move(message)}); }

    /// Returns a snapshot of the decisions, without the queue.
    [[nodiscard]] auto verdicts() const -> job_message::QueueSnapshot {
        auto message =
            job_message::QueueSnapshot{state_.plan().job, state_.plan().macro, false, {}, {}, {}, {}, {}, final_};
        for (const auto& [digest, rejection] : state_.results().rejected()) { message.rejected.push_back(rejection); }
        message.records = state_.proven_records();
        return message;
    }
    /// Adds a result to a message; its commitment, if the result is not disclosed.
    auto tell_result(const Commitment& promise, job_message::QueueSnapshot& message) const -> void {
        const auto* result = state_.results().kept(promise);
        if (result != nullptr && state_.is_public(*result)) {
            message.results.push_back(*result);
        } else if (!state_.results().is_rejected(promise.digest)) {
            message.commitments.push_back(promise);
        }
    }
    /// True if a result is this node's, or if its author had the lease, even if it is withheld: its commitment tells
    /// others that results were to be disclosed.
    template <class R>
    [[nodiscard]] auto counts(const R& result) const -> bool {
        const auto* lease = state_.lease_given(result.token);
        return result.node == state_.self().node ||
               (lease != nullptr && lease->micro == result.key.micro && lease->holder == result.node);
    }
    /// Adds the results or commitments that count: of each lease two, which show a contradiction, and the accepted one.
    /// Members can make up any number of others, and a message with all of them would be too large.
    auto tell_results(const std::set<Commitment>& promises, job_message::QueueSnapshot& message) const -> void {
        auto told = std::map<FencingToken, std::uint32_t>{};
        for (const auto& promise : promises) {
            const auto accepted = state_.known() && state_.accepted()[promise.key.micro] == promise.digest;
            if (counts(promise) && (accepted || ++told[promise.token] <= 2)) { tell_result(promise, message); }
        }
    }
    /// Answers a node that lags behind, at most once in `reply_every`.
    auto reply(job_message::QueueSnapshot message, TimePoint now, JobEffects& out) -> void {
        if (now < reply_at_) { return; }
        say(std::move(message), out);
        reply_at_ = now + parameters().reply_every;
    }
    /// Records that a node wants the queue. A node that does not own it remembers the request, because it may arrive
    /// during a handover.
    auto note_request(const job_message::OwnershipRequest& m, TimePoint now, JobEffects& out) -> void {
        if (state_.owns()) {
            if (state_.note_request({m.node, m.wallet, m.boot, state_.clock(now), m.signature})) {
                changed_ = true;
                tell_contradictions(now, out);
            }
            return;
        }
        std::erase_if(overheard_, [&](const auto& request) { return request.node == m.node; });
        if (overheard_.size() < QueueControl::requests_max) {
            overheard_.push_back({m.node, m.wallet, m.boot, now, m.signature});
        }
    }
    /// From `at` on this node requests the queue, beginning with the shortest wait between two requests.
    auto ask_anew(TimePoint at) -> void {
        request_wait_ = parameters().request_retry;
        request_at_ = at;
    }

    /// The time at which this node replaces the owner: one that is silent, or one that did not act although it had to
    /// for `request_ttl`. (An owner that contradicted itself is given no time for that.)
    [[nodiscard]] auto takeover_at() const -> TimePoint {
        const auto turn = parameters().stagger * turn_of_takeover();
        auto time = heard_ + parameters().owner_timeout + turn;
        if (!state_.known() || state_.reign().owner == state_.self().node) { return time; }
        if (owed_since_) {
            const auto patience = state_.is_barred(state_.reign().owner) ? Duration{0} : parameters().request_ttl;
            // After a lost claim members try again in turns: votes for bids of one moment would be split.
            time = std::min(time, std::max(*owed_since_ + patience, lost_at_) + turn);
        }
        return std::max(time, state_.local(state_.rests().may_take_from(state_.self().node)));
    }
    /// Notes whether the owner has something to do for this node or for the MacroJob. It acts if the queue has both
    /// another reign and another lease; else its heartbeats alone keep it the owner for `request_ttl` only.
    auto note_owed(bool owed, TimePoint now) -> void {
        if (owed) { owed_at_ = now; }
        // A worker looks around for other work now and then, and wants this queue's again.
        if (!owed && now - owed_at_ <= parameters().request_retry_max) { return; }
        if (!owed) { return owed_since_.reset(); }
        const auto epoch = state_.reign().epoch;
        const auto acted = epoch != owed_epoch_ && state_.tokens() != owed_tokens_;
        if (owed_since_ && !acted) { return; }
        owed_since_ = now;
        owed_epoch_ = epoch;
        owed_tokens_ = state_.tokens();
    }

    /// The latest time that the queue's clock can show: that since this node knows it, and a quarter more, and a lease.
    /// Owners' clocks differ and run at different rates, but a liar's clock must not end all leases. A clock beyond it
    /// is refused at first. A member that was new may have believed it, so that two queues would go on side by side:
    /// the allowance is four times as long with each `owner_timeout` in which members insist on that queue.
    [[nodiscard]] auto clock_max(TimePoint now) const -> TimePoint {
        const auto insisted = insists(now) ? (now - refused_since_) / parameters().owner_timeout : 0;
        const auto allowance =
            parameters().lock * (std::int64_t{1} << (2 * std::min(std::int64_t{insisted}, std::int64_t{10})));
        return clock_first_ + (now - clock_first_at_) / 4 * 5 + allowance;
    }
    /// True if this node cannot compare the clock of a control with one that it knows: the queue is new to it, or it
    /// was away.
    [[nodiscard]] auto takes_clock_of(const QueueControl& control) const -> bool {
        return !state_.known() || adrift_ || state_.chain().front() != control.chain.front();
    }
    /// The times by which this node judges a control. If it heard of nothing new for long, it missed the commitments,
    /// and takes the owner's word.
    [[nodiscard]] auto own_times(TimePoint now) const -> OwnTimes {
        const auto missed = now - heard_ >= 4 * parameters().disclose_within;
        return {clock_max(now), state_.rested(now), missed ? state_.rested(now) : state_.disclosing(now)};
    }
    /// Notes that a control which would replace the known one was refused for its clock.
    auto note_refused_clock(TimePoint now) -> void {
        if (!insists(now)) { refused_since_ = now; }
        refused_at_ = now;
    }

    /// Looks for a contradiction to the known control. An owner's own control changes before it is told, so that its
    /// revision says nothing then; it tells the contradiction with its next publication.
    auto look_for_contradiction(const QueueControl& control, JobEffects& out) -> void {
        const auto& known = state_.control();
        const auto owns = state_.owns();
        const auto* author =
            owns ? contradicts(known.chain, control.chain) : contradicts(state_.plan(), known, control);
        // After a restart this node does not know its own last words, and must not sign others in their place.
        const auto& self = state_.self().node;
        if (author == nullptr || (adrift_ && *author == self) || !contradicted(*author, out)) { return; }
        if (adrift_ && !owns && author_of(known) == self) { return; }
        if (owns) {
            contrary_ = control;
            changed_ = true;
        } else {
            tell_contradiction({state_.plan().job, state_.plan().macro, known, control}, out);
        }
    }
    /// Tells a contradiction to all, and keeps it for members that join the queue later. An owner that went over to the
    /// other queue in the meantime has no proof of it any more.
    auto tell_contradiction(job_message::ContradictionFound found, JobEffects& out) -> void {
        const auto* author = contradicts(state_.plan(), found.one, found.other);
        if (author == nullptr) { return; }
        say(found, out);
        found_.insert_or_assign(NodeId{*author}, std::move(found));
    }
    /// Bars a member that contradicted itself. Returns false if it is barred already.
    auto contradicted(const NodeId& node, JobEffects& out) -> bool {
        if (state_.is_barred(node)) { return false; }
        state_.bar(node);
        out.events.push_back(job_event::MemberContradicted{state_.plan().job, state_.plan().macro, node});
        return true;
    }

    auto pass_on(const QueueRequest& to, TimePoint now, JobEffects& out) -> void {
        change_reign({next_epoch(), to.node, to.boot, state_.reign().rank(), false, state_.clock(now)}, now, out);
    }
    auto take_over(TimePoint now, JobEffects& out) -> void {
        const auto& self = state_.self();
        const auto parent = state_.known() ? state_.reign().rank() : 0;
        const auto began = state_.known() ? state_.clock(now) : TimePoint{};
        change_reign({next_epoch(), self.node, self.boot, parent, true, began}, now, out);
    }
    auto ask_claim(TimePoint now, JobEffects& out) -> void {
        claim_->again_at = now + parameters().owner_timeout;
        out.claims.push_back({claim_->name, {state_.self().node, claim_->reign.rank()}});
    }
    auto decide_claim(bool won, TimePoint now, JobEffects& out) -> void {
        const auto reign = std::exchange(claim_, std::nullopt)->reign;
        epoch_floor_ = std::max(epoch_floor_, reign.epoch);
        if (!won) {
            // Another node won that epoch, or too few voters were there. Give it time to announce that, and skip more
            // epochs with each loss, to find a free one soon; but a long outage must not use up `epoch_step_max`.
            heard_ = lost_at_ = now;
            epoch_floor_ += lost_ < skips_max ? (std::uint64_t{1} << lost_) - 1 : 0;
            ++lost_;
        } else if (reign.parent == (state_.known() ? state_.reign().rank() : 0)) {
            enter(reign, now, out);
        }
    }

    auto adopt(const QueueControl& control, TimePoint now, JobEffects& out) -> void {
        const auto owned = state_.owns();
        const auto same_reign = state_.known() && state_.reign() == control.reign();
        if (takes_clock_of(control)) { set_clock(control.clock, now); }
        state_.adopt(control, now);
        heard_ = now;
        adrift_ = false;
        if (!same_reign || (claim_ && claim_->for_silence)) { claim_.reset(); }
        if (same_reign) { return; }
        forget_losses();
        const auto& reign = state_.reign();
        std::erase_if(overheard_, [&](const auto& r) {
            return r.node == reign.owner || now - r.heard > parameters().request_retry_max;
        });
        if (state_.owns()) {
            for (auto& request : std::exchange(overheard_, {})) {
                request.heard = state_.clock(now);
                state_.note_request(request);
            }
            taken_ = 0;
            changed_ = whole_ = true;  // acknowledges at once
            out.events.push_back(
                job_event::OwnershipGranted{state_.plan().job, state_.plan().macro, reign.owner, reign.epoch});
        } else if (owned) {
            out.events.push_back(job_event::OwnershipLost{state_.plan().job, state_.plan().macro, reign.epoch});
            ask_anew(now);
        }
    }

    auto publish(TimePoint now, JobEffects& out) -> void {
        whole_ = whole_ || now >= beat_at_;
        if (state_.owns()) { state_.stamp(now); }
        auto message = whole_ ? snapshot() : verdicts();
        if (!whole_) {
            message.control = state_.control();
            tell_results(fresh_, message);
        }
        say(std::move(message), out);
        if (auto contrary = std::exchange(contrary_, std::nullopt)) {
            tell_contradiction({state_.plan().job, state_.plan().macro, state_.control(), std::move(*contrary)}, out);
        }
        fresh_.clear();
        changed_ = whole_ = false;
        beat_at_ = now + parameters().heartbeat;
    }

    QueueState state_;
    std::string channel_;
    std::optional<FinalRecord> final_{};
    std::optional<Claim> claim_{};
    std::optional<QueueReign> gave_{};  // the reign of the last handover by this node
    std::set<Commitment> fresh_;        // those not yet published
    TimePoint heard_;                   // last adoption of a newer control
    Duration request_wait_;
    TimePoint request_at_;
    TimePoint beat_at_{};
    std::uint32_t taken_ = 0;  // MicroJobs leased in this reign
    bool adrift_ = false;      // after a restart this node cannot know how far the queue's clock is
    bool changed_ = false;     // a message must be published
    bool whole_ = false;       // and it must be whole
    std::map<NodeId, job_message::ContradictionFound> found_{};  // by author
    std::optional<QueueControl> contrary_{};                     // contradicts this owner's own, and must be told

private:
    /// A member that is new in the line, or was away, may not have heard of them.
    auto tell_contradictions(TimePoint now, JobEffects& out) -> void {
        if (found_.empty() || now < reply_at_) { return; }
        for (const auto& [author, found] : found_) { say(found, out); }
        reply_at_ = now + parameters().reply_every;
    }
    /// This node's turn to replace an owner: the owner itself after a restart, then the previous owners, newest first,
    /// then all others in an order that differs from epoch to epoch.
    [[nodiscard]] auto turn_of_takeover() const -> std::int64_t {
        const auto& self = state_.self();
        const auto turn =
            static_cast<std::int64_t>(rank_of(self.node, state_.known() ? state_.reign().epoch : 0, 0) % 8U);
        if (!state_.known()) { return turn; }
        if (state_.reign().owner == self.node) { return 0; }
        const auto before = state_.owners_before();
        const auto at = std::find(before.begin(), before.end(), self.node);
        return 1 + (at != before.end() ? at - before.begin() : turn + static_cast<std::int64_t>(before.size()));
    }
    [[nodiscard]] auto insists(TimePoint now) const -> bool { return now - refused_at_ <= parameters().owner_timeout; }
    auto set_clock(TimePoint clock, TimePoint now) -> void {
        clock_first_ = clock;
        clock_first_at_ = now;
    }
    [[nodiscard]] auto next_epoch() const -> std::uint64_t {
        const auto last = state_.known() ? state_.reign().epoch : 0;
        return std::min(std::max(epoch_floor_, last) + 1, last + epoch_step_max);
    }
    /// Another reign has begun: epochs are counted from it.
    auto forget_losses() -> void {
        epoch_floor_ = 0;
        lost_ = 0;
    }

    auto change_reign(const QueueReign& reign, TimePoint now, JobEffects& out) -> void {
        if (!parameters().arbitrate_epochs) { return enter(reign, now, out); }
        const auto& plan = state_.plan();
        const auto name = RecordHasher{"reign"}.id(plan.job).word(plan.macro).word(reign.epoch).finish();
        claim_ = Claim{name, reign, now, now >= heard_ + parameters().owner_timeout};
        ask_claim(now, out);
    }

    auto enter(const QueueReign& reign, TimePoint now, JobEffects& out) -> void {
        const auto& plan = state_.plan();
        heard_ = now;
        taken_ = 0;
        changed_ = whole_ = true;
        forget_losses();
        if (!state_.known()) {
            state_.adopt(state_.fresh(reign.epoch), now);
            set_clock({}, now);
            out.events.push_back(job_event::QueueCreated{plan.job, plan.macro});
            return;
        }
        state_.begin_reign(reign, now);
        if (state_.owns()) {
            out.events.push_back(job_event::OwnershipTaken{plan.job, plan.macro, reign.owner, reign.epoch});
            return;
        }
        gave_ = reign;
        out.events.push_back(job_event::OwnershipGranted{plan.job, plan.macro, reign.owner, reign.epoch});
        publish(now, out);
        ask_anew(now + parameters().request_retry);
    }

    static constexpr std::uint32_t skips_max = 16;  // after so many lost claims each skips one epoch

    TimePoint clock_first_{};              // of the queue
    TimePoint clock_first_at_{};           // its local time
    TimePoint refused_since_{};            // controls were refused for their clock since then,
    TimePoint refused_at_{};               // and last at this time
    std::vector<QueueRequest> overheard_;  // times are local
    TimePoint reply_at_{};
    TimePoint owed_at_{};                    // the owner had to act then
    std::optional<TimePoint> owed_since_{};  // the owner has not acted since then; these were the
    std::uint64_t owed_epoch_ = 0;           // reign
    std::uint64_t owed_tokens_ = 0;          // and the leases
    std::uint64_t epoch_floor_ = 0;          // highest epoch known to be taken since this reign began
    std::uint32_t lost_ = 0;                 // claims lost since then
    TimePoint lost_at_ = TimePoint::min();   // time of the last loss
};

}}  // namespace allot::v0
