#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/job/job_effects.hpp>
#include <allot/job/message_check.hpp>
#include <allot/job/result_delivery.hpp>

namespace allot { inline namespace v0 {

/// One node's replica of a MacroJob's travelling queue: each node has a replica, and one node at a time owns the queue.
///
/// A node that wants work requests the queue. The owner passes it on, first come, first served, and the new owner
/// leases itself a MicroJob. An owner that is silent for `owner_timeout` is replaced; the most recent owners are first
/// in line. A node repeats its result until an owner has recorded it.
///
/// Over a network that loses messages two nodes can believe that they own the queue, unless a store with
/// compare-and-set or a quorum arbitrates each change of owner. Then a MicroJob may run twice. All replicas still reach
/// the same results, each MicroJob counts once, and there is one record of the end.
///
/// A value and a state machine: inputs return effects, nothing calls back; `next_deadline()` gives the time to call
/// `tick`. Save `saved()` over a restart; a new replica, with a new `boot`, receives it by `resume`. All inputs
/// may be refused with `time_went_back`. @complexity of each input: linear in the MacroJob.
class MicroQueueReplica : private ResultDelivery {
public:
    using QueueSuccession::final_record;
    using QueueSuccession::record;
    using QueueSuccession::saved;
    using QueueSuccession::snapshot;
    using QueueSuccession::state;

    /// The MicroJob on which this node works, its lease, and the time of the next renewal.
    struct Work {
        std::uint32_t micro = 0;
        FencingToken token{};
        TimePoint renew_at{};  ///< Time to call `renew`, if the work still runs.

        friend auto operator==(const Work&, const Work&) -> bool = default;
    };

    /// Makes a replica without a queue. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    /// @pre the ids of the node and its wallet are not null (asserted).
    MicroQueueReplica(MacroPlan plan, JobNode self, const QueueParameters& parameters, TimePoint now)
        : ResultDelivery{std::move(plan), std::move(self), parameters, now}, now_{now} {}

    /// The current work; none if there is none.
    [[nodiscard]] auto work() const noexcept -> const std::optional<Work>& { return work_; }
    /// True if this node wants a MicroJob whenever it has none.
    [[nodiscard]] auto wants_work() const noexcept -> bool { return wanting_; }
    /// Returns the number of MicroJobs that are open for a lease.
    [[nodiscard]] auto open_count(TimePoint now) const -> std::uint32_t {
        if (!state_.known() || record() != nullptr) { return 0; }
        return state_.leases().open_count(state_.clock(now));
    }
    /// The earliest time at which `tick` has work; none once the job has ended.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        if (final_ || leaving_) { return std::nullopt; }
        auto deadline = claim_ ? claim_->again_at : state_.owns() ? beat_at_ : takeover_at();
        const auto sooner = [&](std::optional<TimePoint> time) {
            deadline = time ? std::min(deadline, *time) : deadline;
        };
        if (unheard() != nullptr) { sooner(repeat_at()); }
        if (record() == nullptr) {
            if (const auto due = state_.known() ? state_.next_due(now_) : std::nullopt) { sooner(due); }
            if (asks(std::max(request_at_, now_))) { sooner(request_at_); }
        }
        return std::max(deadline, now_);
    }

    // ---- inputs ---------------------------------------------------------------------------------------------------

    /// Creates the queue; this node owns it. Error: `queue_exists`.
    [[nodiscard]] auto create(TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (state_.known()) { return JobError::queue_exists; }
            take_over(now, out);
            return std::nullopt;
        });
    }
    /// Applies passed deadlines.
    [[nodiscard]] auto tick(TimePoint now) -> JobEffects {
        return input(now, [](JobEffects&) { return std::nullopt; });
    }
    /// Sets whether this node wants a MicroJob whenever it has none.
    [[nodiscard]] auto want_work(bool wanting, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects&) {
            if (wanting && !wanting_) { ask_anew(now); }
            wanting_ = wanting;
            return std::nullopt;
        });
    }
    /// Submits the result of `work()`. Errors: `lease_missing`; those of `fault_of`; `result_rejected` if this very
    /// result was rejected; `result_contradicts_renewal` if it lacks the block to which a renewal committed;
    /// `result_late` if the MacroJob has ended without it, which also ends the work.
    [[nodiscard]] auto complete(std::vector<Hash256> block_hashes, std::string output_uri, TimePoint now)
        -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (!work_) { return record() != nullptr || final_ ? JobError::result_late : JobError::lease_missing; }
            const auto& plan = state_.plan();
            const auto& self = state_.self();
            auto result = ResultRecord{{plan.macro, work_->micro},
                                       plan.micros[work_->micro],
                                       self.node,
                                       self.wallet,
                                       std::move(block_hashes),
                                       std::move(output_uri),
                                       work_->token,
                                       {},
                                       {}};
            result.digest = digest_of(plan.job, result);
            if (const auto fault = fault_of(plan, result)) { return fault; }
            if (!state_.matches_renewal(result)) { return JobError::result_contradicts_renewal; }
            if (const auto fault = state_.results().add(result)) { return fault; }
            fresh_.insert(commitment_of(result));
            if (!state_.owns() && !shows(result)) { report(result, out); }
            work_.reset();
            repeat_from(now);
            ask_anew(now);
            return std::nullopt;
        });
    }
    /// Returns `work()` without a result. Error: `lease_missing`.
    [[nodiscard]] auto fail(TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (!work_) { return JobError::lease_missing; }
            return_work(now, out);
            return std::nullopt;
        });
    }
    /// Extends the lease of `work()`, of which the first `blocks` blocks are finished; `newest` is the hash of the last
    /// of them. Errors: `lease_missing`; `result_hash_missing`; `renewal_without_progress` if the last renewal named as
    /// many blocks, or the plan has fewer; from an owner also `lease_stale`, `lease_capped`.
    [[nodiscard]] auto renew(std::uint32_t blocks, const Hash256& newest, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (!work_) { return JobError::lease_missing; }
            if (newest == Hash256{}) { return JobError::result_hash_missing; }
            const auto& job = state_.plan().job;
            const auto& self = state_.self();
            const auto key = MicroKey{state_.plan().macro, work_->micro};
            const auto commitment = commitment_to(job, key, self.node, self.wallet, work_->token, blocks, newest);
            const auto request = job_message::RenewalRequest{job, key, self.node, work_->token, {blocks, commitment}};
            if (state_.owns()) {
                if (const auto fault = renewed(request, now, out)) { return fault; }
            } else {
                if (!state_.is_further(request.token, request.progress)) { return JobError::renewal_without_progress; }
                say(request, out);
            }
            work_->renew_at = now + state_.parameters().lock / 2;
            return std::nullopt;
        });
    }
    /// Rejects a result. The caller must have the right to: the holder of the secret, or the contract.
    /// Errors: `micro_unknown`, `macro_unknown`, `node_invalid`, `wallet_invalid`, `author_without_right`.
    [[nodiscard]] auto reject(const Rejection& rejection, TimePoint now) -> JobEffects {
        auto message = verdicts();
        message.rejected = {rejection};
        return on_proven(message, now);
    }
    /// Bars the author of a result rejected in another MacroJob of the job (rule 32), from the next input on.
    auto bar(const Rejection& rejection) -> void { state_.bar(rejection.node, rejection.wallet); }
    /// Takes the queue from an owner that does not do its duty, as the caller finds; no effect while this node has to
    /// rest, or awaits a claim.
    [[nodiscard]] auto replace_owner(TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            const auto& node = state_.self().node;
            const auto rested = state_.known() && state_.clock(now) >= state_.rests().may_take_from(node);
            if (rested && !state_.owns() && !claim_) { take_over(now, out); }
            return std::nullopt;
        });
    }
    /// Leaves the queue: returns the work, passes the queue on, and makes no further requests.
    [[nodiscard]] auto leave(TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) {
            if (work_) { return_work(now, out); }
            wanting_ = false;
            leaving_ = true;
            return std::nullopt;
        });
    }
    /// Handles a node reported as gone by the transport: an owner ends its leases now instead of at their expiry. If
    /// the node lives after all, its MicroJob may run twice and counts once. A vanished owner is detected by its
    /// silence only. Error: `node_invalid`.
    [[nodiscard]] auto on_gone(const NodeId& node, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (node.is_null()) { return JobError::node_invalid; }
            if (state_.owns() && node != state_.self().node) { changed_ = state_.drop(node, now, out) || changed_; }
            return std::nullopt;
        });
    }
    /// Receives the answer to a `JobClaim`. Error: `claim_unknown`.
    [[nodiscard]] auto on_claim(const Hash256& claim, bool won, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (!claim_ || claim_->name != claim) { return JobError::claim_unknown; }
            decide_claim(won, now, out);
            return std::nullopt;
        });
    }
    /// Receives another node's message from the MacroJob's channel; `sender` is proven, and `check` proves the authors
    /// of all that it relays. Errors: those of `fault_of_authors` and of `fault_of` for its parts; `job_unknown` and
    /// `macro_unknown` for another MacroJob; `message_too_large`; `message_shape_wrong` if it is no queue's message;
    /// `result_unleased` for a result without a lease. If this node owns the queue, also the errors of leases, such as
    /// `lease_stale`.
    template <AuthorCheck Check = TrustAuthors>
    [[nodiscard]] auto on_message(const NodeId& sender, const JobMessage& message, TimePoint now,
                                  const Check& check = {}) -> JobEffects {
        if (const auto fault = fault_of_message(state_.plan(), parameters(), sender, message, check)) {
            return refused(*fault);
        }
        return on_proven(message, now);
    }
    /// As above, for a message whose sender and authors are proven.
    [[nodiscard]] auto on_proven(const JobMessage& message, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) {
            return std::visit([&](const auto& m) { return take(m, now, out); }, message);
        });
    }
    /// Loads the `saved()` state of an earlier life. Errors: those of `on_proven`.
    [[nodiscard]] auto resume(const job_message::QueueSnapshot& kept, TimePoint now) -> JobEffects {
        auto effects = on_proven(kept, now);
        adrift_ = adrift_ || effects.accepted();
        return effects;
    }

    friend auto operator==(const MicroQueueReplica& a, const MicroQueueReplica& b) -> bool {
        return a.snapshot() == b.snapshot();
    }

private:
    template <class F>
    [[nodiscard]] auto input(TimePoint now, F&& f) -> JobEffects {
        if (now < now_) { return refused(JobError::time_went_back); }
        auto out = JobEffects{};
        if (const std::optional<JobError> fault = f(out)) { return refused(*fault); }
        now_ = now;
        end_by_record(out);
        if (!final_) { proceed(now, out); }
        state_.note_disclosing(now);
        note_owed(is_owed(now), now);
        if (record() != nullptr || final_) { work_.reset(); }
        // In a fork the queue went on without this lease.
        if (work_ && !state_.may_count(state_.self().node, work_->micro, work_->token)) { work_.reset(); }
        return out;
    }

    /// Ends the MacroJob once the grounds of an owner's record are known.
    auto end_by_record(JobEffects& out) -> void {
        const auto had_ended = record() != nullptr;
        state_.support();
        if (!had_ended && record() != nullptr) { out.events.push_back(job_event::MacroEnded{*record()}); }
    }

    // ---- messages --------------------------------------------------------------------------------------------------

    [[nodiscard]] auto take(const job_message::QueueSnapshot& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = fault_of(state_.plan(), m, parameters())) { return fault; }
        const auto newer = m.control && (!state_.known() || m.control->newer_than(state_.control()));
        // Later clocks go on from this one, up to the greatest time: no liar may begin with it.
        const auto half = TimePoint{time_point_max.time_since_epoch() / 2};
        if (newer && takes_clock_of(*m.control) && m.control->clock > half) { return JobError::message_time_wrong; }
        if (newer && state_.known() && !adrift_) {
            const auto fault = fault_of_change(state_.control(), own_times(now), *m.control, parameters());
            if (fault == JobError::message_time_wrong) { note_refused_clock(now); }
            if (fault) { return fault; }
            if (state_.is_denied_by(*m.control)) { return JobError::history_changed; }
        }
        const auto behind = m.whole && lacks(m);
        if (m.control && state_.known()) { look_for_contradiction(*m.control, out); }
        for (const auto& r : m.rejected) { changed_ = state_.results().reject(r) || changed_; }
        for (const auto& c : m.commitments) {
            if (state_.results().differs(c)) { (void)contradicted(c.node, out); }
            if (!state_.results().add(c)) { fresh_.insert(c); }
        }
        for (const auto& r : m.results) {
            if (state_.results().differs(commitment_of(r))) { (void)contradicted(r.node, out); }
            if (!state_.results().add(r)) { fresh_.insert(commitment_of(r)); }
            if (r.node == state_.self().node) { note_told(r.digest); }
        }
        for (const auto& r : m.records) { changed_ = state_.results().add(r) || changed_; }
        if (m.final && (!final_ || before(*m.final, *final_))) {
            final_ = m.final;
            claim_.reset();
            out.events.push_back(job_event::JobEnded{*final_});
        }
        if (newer) { adopt(*m.control, now, out); }
        if (behind) { reply(verdicts(), now, out); }
        return std::nullopt;
    }
    /// True if the sender of a whole snapshot lacks a record, a rejection or the final record.
    [[nodiscard]] auto lacks(const job_message::QueueSnapshot& m) const -> bool {
        const auto missing = [](const auto& mine, const auto& theirs) {
            return std::any_of(mine.begin(), mine.end(), [&](const auto& entry) {
                return std::none_of(theirs.begin(), theirs.end(),
                                    [&](const auto& t) { return t.digest == entry.digest; });
            });
        };
        const auto mine = verdicts();
        return (final_ && !m.final) || missing(mine.records, m.records) || missing(mine.rejected, m.rejected);
    }

    [[nodiscard]] auto take(const job_message::OwnershipRequest& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = foreign(state_.plan(), m.job, m.macro)) { return fault; }
        if (m.node.is_null()) { return JobError::node_invalid; }
        if (m.wallet.is_null()) { return JobError::wallet_invalid; }
        if (m.node == state_.self().node) { return std::nullopt; }
        // A node that requests after the job's end, or requests a queue that it already owns, missed a message.
        const auto given =
            state_.known() && !state_.owns() && state_.reign().owner == m.node && gave_ == state_.reign();
        if (final_ || given) {
            reply(final_ ? verdicts() : snapshot(), now, out);
        } else if (record() == nullptr) {
            note_request(m, now, out);
        }
        return std::nullopt;
    }

    [[nodiscard]] auto take(const job_message::ResultCommitted& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = foreign(state_.plan(), m.job, m.commitment.key.macro)) { return fault; }
        if (const auto fault = fault_of(state_.plan(), m.commitment)) { return fault; }
        return take_result(m.commitment, m.commitment, now, out);
    }
    [[nodiscard]] auto take(const job_message::ResultFound& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = foreign(state_.plan(), m.job, m.record.key.macro)) { return fault; }
        if (const auto fault = fault_of(state_.plan(), m.record)) { return fault; }
        if (!state_.matches_renewal(m.record)) { return JobError::result_contradicts_renewal; }
        return take_result(m.record, commitment_of(m.record), now, out);
    }
    /// Adds a result, or the commitment to one.
    template <class R>
    [[nodiscard]] auto take_result(const R& result, const Commitment& promise, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (record() != nullptr || final_) { return JobError::result_late; }
        const auto known = state_.results().commitments().contains(promise);
        if (state_.owns() && parameters().fence_completions && !known) {
            const auto* item = state_.leases().find(promise.key.micro);
            if (!item->is_held(state_.clock(now)) || item->hold->token != promise.token) {
                return JobError::lease_stale;
            }
        }
        if (!state_.may_count(promise)) { return JobError::result_unleased; }
        if (state_.results().differs(promise)) {
            return contradicted(promise.node, out) ? std::nullopt : std::optional{JobError::result_twice};
        }
        if (const auto fault = state_.results().add(result)) { return fault; }
        fresh_.insert(promise);
        if (state_.owns() && state_.accepted()[promise.key.micro] && !known) {
            out.events.push_back(job_event::DuplicateResult{state_.plan().job, promise.key, promise.node});
        }
        return std::nullopt;
    }

    [[nodiscard]] auto take(const job_message::RenewalRequest& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = foreign(state_.plan(), m.job, m.key.macro)) { return fault; }
        if (m.progress.commitment == Hash256{}) { return JobError::renewal_without_progress; }
        return state_.owns() ? renewed(m, now, out) : std::nullopt;
    }
    [[nodiscard]] auto take(const job_message::LeaseReturned& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = foreign(state_.plan(), m.job, m.key.macro)) { return fault; }
        return state_.owns() ? returned(m.key.micro, m.token, m.node, now, out) : std::nullopt;
    }
    /// Each member tells a contradiction on, once.
    [[nodiscard]] auto take(const job_message::ContradictionFound& m, TimePoint /*now*/, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = fault_of(state_.plan(), m, parameters())) { return fault; }
        if (contradicted(*contradicts(state_.plan(), m.one, m.other), out)) { tell_contradiction(m, out); }
        return std::nullopt;
    }
    [[nodiscard]] auto take(const job_message::JobEnded& m, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        auto message = verdicts();
        message.final = m.record;
        return take(message, now, out);
    }
    /// Messages about whole jobs do not belong to a queue.
    template <class Other>
    [[nodiscard]] auto take(const Other& /*message*/, TimePoint /*now*/, JobEffects& /*out*/) const
        -> std::optional<JobError> {
        return JobError::message_shape_wrong;
    }

    [[nodiscard]] auto renewed(const job_message::RenewalRequest& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (!state_.is_further(m.token, m.progress)) { return JobError::renewal_without_progress; }
        if (const auto fault = error_of(state_.renew(m.key.micro, m.node, m.token, m.progress, now))) { return fault; }
        out.events.push_back(job_event::LeaseLengthened{m.job, m.key, m.node});
        changed_ = true;
        return std::nullopt;
    }
    [[nodiscard]] auto returned(std::uint32_t micro, const FencingToken& token, const NodeId& node, TimePoint now,
                                JobEffects& out) -> std::optional<JobError> {
        const auto* lease = state_.lease_given(token);
        if (lease != nullptr && lease->holder != node) { return JobError::lease_foreign; }
        if (const auto fault = error_of(state_.give_back(micro, token, now))) { return fault; }
        out.events.push_back(job_event::LeaseGivenBack{state_.plan().job, {state_.plan().macro, micro}, node});
        changed_ = true;
        return std::nullopt;
    }
    auto return_work(TimePoint now, JobEffects& out) -> void {
        const auto work = *std::exchange(work_, std::nullopt);
        const auto& plan = state_.plan();
        if (state_.owns()) {
            (void)returned(work.micro, work.token, state_.self().node, now, out);
        } else {
            say(job_message::LeaseReturned{plan.job, {plan.macro, work.micro}, state_.self().node, work.token}, out);
        }
        ask_anew(now);
    }

    /// True if an honest owner would act, for this node or for the MacroJob: hand the queue over, record a result,
    /// retract one that is withheld, or conclude.
    [[nodiscard]] auto is_owed(TimePoint now) const -> bool {
        if (!state_.known() || state_.owns() || record() != nullptr || final_ || leaving_) { return false; }
        const auto& self = state_.self();
        return (asks(now) && state_.may_own(self.node, now)) ||
               (unheard() != nullptr && !parameters().fence_completions) || state_.is_withheld(now) || state_.ended();
    }

    // ---- consequences ----------------------------------------------------------------------------------------------

    [[nodiscard]] auto hungry() const -> bool { return wanting_ && !work_ && !leaving_ && record() == nullptr; }
    /// True if this node will request the queue at `time`: it wants work, and there may be some for it.
    [[nodiscard]] auto asks(TimePoint time) const -> bool {
        const auto& self = state_.self();
        if (!hungry() || state_.owns() || state_.is_barred(self.node, self.wallet)) { return false; }
        return !state_.known() || state_.first_for(self.node, self.wallet, time) != nullptr;
    }
    auto proceed(TimePoint now, JobEffects& out) -> void {
        if (claim_ && now >= claim_->again_at) { ask_claim(now, out); }
        if (!claim_ && !state_.owns() && !leaving_ && now >= takeover_at()) { take_over(now, out); }
        if (state_.owns()) { rule(now, out); }
        disclose(now, out);
        if (!state_.owns()) { take_part(now, out); }
        if (state_.owns() && (changed_ || now >= beat_at_)) { publish(now, out); }
    }

    auto take_part(TimePoint now, JobEffects& out) -> void {
        const auto& self = state_.self();
        const auto& plan = state_.plan();
        if (now >= request_at_ && asks(now)) {
            say(job_message::OwnershipRequest{plan.job, plan.macro, self.node, self.wallet, self.boot}, out);
            out.events.push_back(job_event::OwnershipRequested{plan.job, plan.macro});
            request_at_ = now + request_wait_;
            request_wait_ = std::min(request_wait_ * 2, parameters().request_retry_max);
        }
        repeat_results(now, out);
    }

    auto rule(TimePoint now, JobEffects& out) -> void {
        if (record() != nullptr) { return; }
        changed_ = state_.settle(now, out) || changed_;
        if (state_.ended()) {
            const auto record = state_.conclude();
            if (!state_.results().add(record)) { return; }  // it has made too many
            end_by_record(out);
            changed_ = whole_ = true;
            return;
        }
        const auto& self = state_.self();
        const auto* next = claim_ ? nullptr : state_.next_in_line(now);
        if (hungry() && (taken_ < parameters().quota || next == nullptr)) {
            if (const auto* item = state_.first_for(self.node, self.wallet, now)) {
                const auto micro = item->key;
                work_ = Work{micro, state_.lease(micro, now), now + parameters().lock / 2};
                out.events.push_back(
                    job_event::MicroLeased{state_.plan().job, {state_.plan().macro, micro}, self.node, work_->token});
                ++taken_;
                changed_ = true;
                next = claim_ ? nullptr : state_.next_in_line(now);
            }
        }
        if (next != nullptr) { pass_on(QueueRequest{*next}, now, out); }
    }

    std::optional<Work> work_{};
    TimePoint now_;
    bool wanting_ = false;
    bool leaving_ = false;
};

}}  // namespace allot::v0
