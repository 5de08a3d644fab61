#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/job/claim_arbiter.hpp>
#include <allot/job/job_participation.hpp>
#include <allot/job/known_jobs.hpp>

namespace allot { inline namespace v0 {

/// State of a `JobProcessor` in the seed's loop.
enum class JobPhase : std::uint8_t {
    jobs,    ///< Looks for an open job.
    macro,   ///< Looks for an open MacroJob of a job.
    create,  ///< Waits for permission to create a MacroJob's queue.
    micro,   ///< Works on a MacroJob's MicroJobs.
};

/// The worker's side of the seed: finds jobs, joins or creates the queues of their MacroJobs, works on MicroJobs one at
/// a time, and ensures that the jobs end.
///
///     JOBS -> MACRO -> CREATE or join -> MICRO -> MACRO ... -> JOBS
///
/// A job is locked while each of its MacroJobs is in work or has ended. The processor then goes on to the next job, and
/// asks each again after `ask_retry`. It maintains every queue that it joined, and ends the jobs whose last queue it
/// owns, next to the work.
///
/// Every state has a deadline. Each input returns effects for the embedder: publish `sends`, subscribe to `joined`,
/// write `writes`, put `claims` into the store, compute on `MicroLeased`, and pay on `EscrowReleaseRequested` (or
/// refund). A value. All inputs may be refused with `time_went_back`.
/// @complexity of each input: linear in the jobs known and in the MicroJobs of those that it takes part in.
class JobProcessor {
public:
    /// The current work: its MicroJob, its lease, and the time to call `renew`. Pass it back to name the work, because
    /// it may have ended and another may have begun; a token alone identifies neither job nor MacroJob.
    struct Work {
        JobId job;
        MicroKey key{};
        FencingToken token{};
        TimePoint renew_at{};
    };

    /// Makes a processor that has not started. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    JobProcessor(JobNode self, const JobParameters& parameters, ClaimArbiter arbiter, TimePoint now)
        : self_{std::move(self)}, parameters_{detail::sound(parameters)}, arbiter_{std::move(arbiter)},
          jobs_{parameters_}, now_{now}, at_{now} {
        parameters_.queue.arbitrate_epochs = !std::holds_alternative<Intent>(arbiter_);
    }

    /// The current state.
    [[nodiscard]] auto phase() const noexcept -> JobPhase { return phase_; }
    /// The node for which this processor acts.
    [[nodiscard]] auto self() const noexcept -> const JobNode& { return self_; }
    /// The arbiter. Save a `Quorum` over a restart.
    [[nodiscard]] auto arbiter() const noexcept -> const ClaimArbiter& { return arbiter_; }
    /// The part in the job where this node works, or last looked for work; null if that job has ended.
    [[nodiscard]] auto current() const -> const JobParticipation* { return current_ ? part(*current_) : nullptr; }
    /// The part in a job that has not ended here; null if it takes none.
    [[nodiscard]] auto part(const JobId& job) const -> const JobParticipation* {
        const auto* known = jobs_.find(job);
        return known == nullptr || !known->part ? nullptr : &*known->part;
    }
    /// True if the job was heard of, and is not forgotten (`KnownJobs`). Those that end before a node hears of them are
    /// never told to it.
    [[nodiscard]] auto knows(const JobId& job) const -> bool { return jobs_.find(job) != nullptr; }
    /// The plan of a job with its poster's signature, to be saved for `resume`; null if it is not known here.
    [[nodiscard]] auto posted(const JobId& job) const -> const job_message::JobPosted* {
        const auto* known = jobs_.find(job);
        return known == nullptr ? nullptr : &known->posted;
    }
    /// The record of a job's end; null if it is not known here.
    [[nodiscard]] auto final_record(const JobId& job) const -> const FinalRecord* {
        const auto* known = jobs_.find(job);
        return known == nullptr || !known->final ? nullptr : &*known->final;
    }
    /// The current work; none if there is none.
    [[nodiscard]] auto work() const -> std::optional<Work> {
        const auto* job = current();
        if (job == nullptr) { return std::nullopt; }
        for (const auto& [m, replica] : job->replicas()) {
            if (const auto& w = replica.work()) {
                return Work{job->plan().job(), {m, w->micro}, w->token, w->renew_at};
            }
        }
        return std::nullopt;
    }
    /// The earliest time at which `tick` has work.
    [[nodiscard]] auto next_deadline() const -> TimePoint {
        auto deadline = at_;
        if (const auto time = std::visit([](const auto& a) { return a.next_deadline(); }, arbiter_)) {
            deadline = std::min(deadline, *time);
        }
        if (asked_at_) { deadline = std::min(deadline, answer_at_); }
        for (const auto& [job, known] : jobs_.all()) {
            if (known.part) { deadline = std::min(deadline, known.part->next_deadline()); }
            if (phase_ == JobPhase::jobs && known.may_have_work()) { deadline = std::min(deadline, known.ask_at()); }
        }
        return std::max(deadline, now_);
    }

    // ---- inputs ---------------------------------------------------------------------------------------------------

    /// Starts looking for jobs.
    [[nodiscard]] auto start(TimePoint now) -> JobEffects {
        return input(now, [](JobEffects& out) -> std::optional<JobError> {
            out.joined.push_back(jobs_channel());
            return std::nullopt;
        });
    }
    /// Posts a job. Errors: `job_duplicate`, `job_forgotten`, `too_many_jobs`.
    [[nodiscard]] auto post(const JobPlan& plan, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (knows(plan.job())) { return JobError::job_duplicate; }
            const auto posted = job_message::JobPosted{plan, {}};
            out.sends.push_back({jobs_channel(), posted});
            return take(posted, now, out);
        });
    }
    /// Resumes a job from an earlier life, beyond `jobs_max`: its saved `posted`, and `saved()` of its replicas.
    /// Errors: `job_duplicate`, `macro_unknown`, and those of the snapshots.
    [[nodiscard]] auto resume(const job_message::JobPosted& posted,
                              const std::vector<job_message::QueueSnapshot>& snapshots, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            const auto& plan = posted.plan;
            if (knows(plan.job())) { return JobError::job_duplicate; }
            for (const auto& snapshot : snapshots) {
                if (snapshot.macro >= plan.slicing().macro_count) { return JobError::macro_unknown; }
                if (const auto fault = fault_of(plan.macro(snapshot.macro), snapshot, parameters_.queue)) {
                    return fault;
                }
            }
            auto& part = take_part(jobs_.restore(posted), now, out);
            out.events.push_back(job_event::JobAccepted{plan.job()});
            for (const auto& snapshot : snapshots) { part.resume(snapshot, now, out); }
            if (phase_ == JobPhase::jobs) { look_around(plan.job(), now, out); }
            return std::nullopt;
        });
    }
    /// Receives a message from any channel; `sender` is proven, and `check` proves the authors of all that it relays.
    /// Errors: those of `fault_of_authors`, `job_unknown`, `queue_missing` for a queue not joined here, and those of
    /// the state machine concerned.
    template <AuthorCheck Check = TrustAuthors>
    [[nodiscard]] auto on_message(const NodeId& sender, const JobMessage& message, TimePoint now,
                                  const Check& check = {}) -> JobEffects {
        const auto* job = job_named(message);
        const auto* about = job == nullptr ? nullptr : posted(*job);
        if (job != nullptr && about == nullptr) { return refused(JobError::job_unknown); }
        const auto fault = about == nullptr ? fault_of_authors(JobAuthorities{}, sender, message, check)
                                            : fault_of_message(about->plan, parameters_.queue, sender, message, check);
        if (fault) { return refused(*fault); }
        return input(now, [&](JobEffects& out) {
            return std::visit([&](const auto& m) { return take(m, now, out); }, message);
        });
    }
    /// Applies passed deadlines.
    [[nodiscard]] auto tick(TimePoint now) -> JobEffects {
        return input(now, [](JobEffects&) -> std::optional<JobError> { return std::nullopt; });
    }
    /// Submits the result of `work`. Errors: `lease_missing` if this node has no work, `lease_foreign` if it has
    /// another MicroJob, `lease_stale` if it has the same under another lease; and those of
    /// `MicroQueueReplica::complete`.
    [[nodiscard]] auto complete(const Work& work, std::vector<Hash256> block_hashes, std::string output_uri,
                                TimePoint now) -> JobEffects {
        return at_work(work, now, [&](MicroQueueReplica& replica, JobEffects& out) {
            auto done = replica.complete(std::move(block_hashes), std::move(output_uri), now);
            for (const auto& promise : replica.state().results().commitments()) {
                if (done.accepted() && promise.token == work.token && promise.node == self_.node) {
                    here().announce_done(work.key, promise.digest, out);
                }
            }
            return done;
        });
    }
    /// Returns `work` without a result. Errors: `lease_missing`, `lease_foreign`, `lease_stale`, as for `complete`.
    [[nodiscard]] auto fail(const Work& work, TimePoint now) -> JobEffects {
        return at_work(work, now, [&](MicroQueueReplica& replica, JobEffects& /*out*/) { return replica.fail(now); });
    }
    /// Extends the lease of `work`, as `MicroQueueReplica::renew` does. Errors: those of `fail`, and of that.
    [[nodiscard]] auto renew(const Work& work, std::uint32_t blocks, const Hash256& newest, TimePoint now)
        -> JobEffects {
        return at_work(work, now, [&](MicroQueueReplica& replica, JobEffects& /*out*/) {
            return replica.renew(blocks, newest, now);
        });
    }
    /// Receives the contract's answer to `EscrowReleaseRequested`. Errors: `job_unknown`, those of `Finaliser`, and
    /// those of the culprits' rejections.
    [[nodiscard]] auto on_settlement(const Settlement& settlement, TimePoint now) -> JobEffects {
        return at_part(settlement.job, now, [&](JobParticipation& part, JobEffects& out) {
            return part.on_settlement(settlement, now, out);
        });
    }
    /// Rejects a result of a job, for the holder of the secret. Errors: `job_unknown`, `macro_unknown`,
    /// `micro_unknown`, `node_invalid`, `wallet_invalid`, `author_without_right`.
    [[nodiscard]] auto reject(const JobId& job, const Rejection& rejection, TimePoint now) -> JobEffects {
        return at_part(job, now,
                       [&](JobParticipation& part, JobEffects& out) { return part.reject(rejection, now, out); });
    }
    /// Handles a vanished node, as `MicroQueueReplica::on_gone` does. Error: `node_invalid`.
    [[nodiscard]] auto on_gone(const NodeId& node, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            if (node.is_null()) { return JobError::node_invalid; }
            each_part([&](JobParticipation& part) { part.on_gone(node, now, out); });
            return std::nullopt;
        });
    }
    /// Receives the store's answer to a claim in `JobEffects::claims`: the bid that it holds. Error: `claim_unknown`.
    [[nodiscard]] auto on_store(const Hash256& claim, const ClaimBid& holder, TimePoint now) -> JobEffects {
        return input(now, [&](JobEffects& out) {
            return follow(std::visit([&](auto& a) { return a.on_store(claim, holder, now); }, arbiter_), now, out);
        });
    }

private:
    template <class F>
    [[nodiscard]] auto input(TimePoint now, F&& f) -> JobEffects {
        if (now < now_) { return refused(JobError::time_went_back); }
        auto out = JobEffects{};
        if (const std::optional<JobError> fault = f(out)) { return refused(*fault); }
        now_ = now;
        (void)follow(std::visit([&](auto& a) { return a.tick(now); }, arbiter_), now, out);
        each_part([&](JobParticipation& part) { part.tick(now, out); });
        begin_claims(now, out);
        for (auto& [job, known] : jobs_.all()) {
            if (known.part && known.part->final_record()) { leave(job, known); }
        }
        step(now, out);
        answer_jobs(now, out);
        begin_claims(now, out);
        out.claims = std::exchange(stores_, {});
        return out;
    }
    template <class F>
    [[nodiscard]] auto at_work(const Work& work, TimePoint now, F&& f) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            const auto doing = this->work();
            if (!doing) { return JobError::lease_missing; }
            if (doing->job != work.job || doing->key != work.key) { return JobError::lease_foreign; }
            if (doing->token != work.token) { return JobError::lease_stale; }
            return here().absorb(doing->key.macro, f(here().replica(doing->key.macro), out), now, out);
        });
    }
    template <class F>
    [[nodiscard]] auto at_part(const JobId& job, TimePoint now, F&& f) -> JobEffects {
        return input(now, [&](JobEffects& out) -> std::optional<JobError> {
            auto* known = jobs_.find(job);
            if (known == nullptr || !known->part) { return JobError::job_unknown; }
            return f(*known->part, out);
        });
    }
    template <class F>
    void each_part(F&& f) {
        for (auto& [job, known] : jobs_.all()) {
            if (known.part) { f(*known.part); }
        }
    }
    /// The part in the current job. @pre `current()` is not null.
    [[nodiscard]] auto here() -> JobParticipation& { return *jobs_.find(*current_)->part; }
    /// The part in a job, begun if need be.
    auto take_part(KnownJob& known, TimePoint now, JobEffects& out) -> JobParticipation& {
        if (!known.part) {
            known.part.emplace(known.posted.plan, self_, parameters_, now);
            out.joined.push_back(job_channel(known.posted.plan.job()));
        }
        return *known.part;
    }
    /// Gives up the part in a job that has ended.
    auto leave(const JobId& job, KnownJob& known) -> void {
        (void)jobs_.end(known, *known.part->final_record());
        known.part.reset();
        if (current_ != job) { return; }
        current_.reset();
        create_claim_.reset();
        phase_ = JobPhase::jobs;
    }

    // ---- messages --------------------------------------------------------------------------------------------------

    [[nodiscard]] auto take(const job_message::JobsQuery& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (m.node.is_null()) { return JobError::node_invalid; }
        if (m.node == self_.node) { return std::nullopt; }
        if (!asked_at_) {
            answer_at_ = std::max(answer_at_, now + parameters_.answer_delay(JobId::null(), m.node, self_.node));
        }
        asked_at_ = now;
        answer_jobs(now, out);
        return std::nullopt;
    }
    /// Answers which jobs are open. A job is left out if another node has told of it since the question.
    auto answer_jobs(TimePoint now, JobEffects& out) -> void {
        if (!asked_at_ || now < answer_at_) { return; }
        answer_at_ = now + parameters_.queue.reply_every;
        const auto asked = *std::exchange(asked_at_, std::nullopt);
        for (const auto& [job, known] : jobs_.all()) {
            if (known.is_open(now) && known.told_at <= asked) { out.sends.push_back({jobs_channel(), known.posted}); }
        }
    }
    [[nodiscard]] auto take(const job_message::JobPosted& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        const auto is_new = !knows(m.plan.job());
        if (const auto fault = jobs_.add(m, current_)) { return fault; }
        jobs_.find(m.plan.job())->told_at = now;
        if (is_new) { out.events.push_back(job_event::JobAccepted{m.plan.job()}); }
        return std::nullopt;
    }
    [[nodiscard]] auto take(const job_message::JobEnded& m, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        auto* known = jobs_.find(m.record.job);
        if (known == nullptr) { return JobError::job_unknown; }
        if (const auto fault = fault_of(m.record.job, known->posted.plan.slicing().macro_count, m.record)) {
            return fault;
        }
        return hear_end(*known, m.record, now, out);
    }
    /// Messages about a claim.
    template <class M>
        requires requires(const M& m) { m.claim; }
    [[nodiscard]] auto take(const M& m, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        return follow(std::visit([&](auto& a) { return a.on_message(m, now); }, arbiter_), now, out);
    }
    /// Messages about one job. If it has ended, the answer is its final record.
    template <class M>
    [[nodiscard]] auto take(const M& m, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        auto* known = jobs_.find(m.job);
        if (known == nullptr) { return JobError::job_unknown; }
        if (const auto& final = known->final) {
            answer_end(*final, now, out);
            return std::nullopt;
        }
        if (!known->part) { return JobError::queue_missing; }
        return known->part->hear(m, now, out);
    }

    [[nodiscard]] auto hear_end(KnownJob& known, const FinalRecord& record, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (known.part) { return known.part->finish(record, out); }
        if (jobs_.end(known, record)) {
            out.events.push_back(job_event::JobEnded{record});
        } else if (record != *known.final) {
            answer_end(*known.final, now, out);
        }
        return std::nullopt;
    }
    auto answer_end(const FinalRecord& record, TimePoint now, JobEffects& out) -> void {
        if (now < end_at_) { return; }
        end_at_ = now + parameters_.queue.reply_every;
        out.sends.push_back({job_channel(record.job), job_message::JobEnded{record}});
    }

    // ---- claims ---------------------------------------------------------------------------------------------------

    /// Passes pending claims to the arbiter until none is left; collects its requests to the store.
    auto begin_claims(TimePoint now, JobEffects& out) -> void {
        while (!out.claims.empty()) {
            for (const auto& claim : std::exchange(out.claims, {})) {
                (void)follow(std::visit([&](auto& a) { return a.begin(claim.claim, claim.bid, now); }, arbiter_), now,
                             out);
            }
        }
    }
    auto follow(ClaimStep&& step, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        for (auto& message : step.messages) {
            out.sends.push_back({jobs_channel(), std::move(message)});  // a voter need not take part in the job
        }
        stores_.insert(stores_.end(), step.stores.begin(), step.stores.end());
        for (const auto& decision : step.decided) {
            if (create_claim_ == decision.claim) {
                created(decision.won, now, out);
                continue;
            }
            each_part([&](JobParticipation& part) { (void)part.decided(decision, now, out); });
        }
        return step.error;
    }
    auto created(bool won, TimePoint now, JobEffects& out) -> void {
        create_claim_.reset();
        if (phase_ != JobPhase::create) { return; }
        const auto open = here().tracker().open_macros(now);  // another node may have created it since
        if (!won || std::find(open.begin(), open.end(), macro_) == open.end()) {
            return look_around(*current_, now, out);
        }
        auto& replica = here().join(macro_, now, out);
        if (!replica.state().known()) { (void)here().absorb(macro_, replica.create(now), now, out); }
        enter(macro_, now, out);
    }

    // ---- the loop -------------------------------------------------------------------------------------------------

    auto step(TimePoint now, JobEffects& out) -> void {
        switch (phase_) {
            case JobPhase::jobs: return find_job(now, out);
            case JobPhase::macro: return find_macro(now, out);
            case JobPhase::create:
                if (now >= at_) { look_around(*current_, now, out); }
                return;
            case JobPhase::micro: return work_on(now, out);
        }
    }
    /// Asks which MacroJobs of a job are open, and decides: at once, or after the wait for answers if they matter.
    auto look_around(const JobId& job, TimePoint now, JobEffects& out) -> void {
        ask(job, now, out);
        find_macro(now, out);
    }
    auto ask(const JobId& job, TimePoint now, JobEffects& out) -> void {
        current_ = job;
        phase_ = JobPhase::macro;
        at_ = now + parameters_.answer_wait;
        take_part(*jobs_.find(job), now, out).ask(now, out);
    }

    /// Goes on to a queue with work for this node, or asks the jobs that may be asked, each once, until one may have
    /// work.
    auto find_job(TimePoint now, JobEffects& out) -> void {
        for (const auto& [job, known] : jobs_.all()) {
            if (known.part && known.may_have_work() && enter_useful(job, now, out)) { return; }
        }
        for (const auto& job : jobs_.all_to_ask(now)) {
            ask(job, now, out);
            if (stays(now, out)) { return; }
        }
        phase_ = JobPhase::jobs;
        if (now < at_) { return; }
        at_ = now + parameters_.ask_retry;
        out.sends.push_back({jobs_channel(), job_message::JobsQuery{self_.node}});
    }

    /// Goes on to a queue with work for this node, or creates one that no node has after the wait for answers; and to
    /// another job, at once, if it knows that all of them are in work or have ended.
    auto find_macro(TimePoint now, JobEffects& out) -> void {
        if (!stays(now, out)) { find_job(now, out); }
    }
    /// As above; false if it has to go on to another job.
    auto stays(TimePoint now, JobEffects& out) -> bool {
        if (enter_useful(*current_, now, out)) { return true; }
        const auto m = here().unused_macro(now);
        if (m && now >= at_) { parameters_.queue.arbitrate_epochs ? enter(*m, now, out) : claim(*m, now, out); }
        return m.has_value();
    }
    /// Requests permission to create the queue of a MacroJob.
    auto claim(std::uint32_t macro, TimePoint now, JobEffects& out) -> void {
        macro_ = macro;
        phase_ = JobPhase::create;
        at_ = now + parameters_.ask_retry;
        create_claim_ = RecordHasher{"create"}.id(*current_).word(macro).finish();
        out.claims.push_back({*create_claim_, {self_.node, self_.boot}});
    }
    /// Goes on to a queue of a job that has work for this node; returns false if there is none.
    auto enter_useful(const JobId& job, TimePoint now, JobEffects& out) -> bool {
        const auto macro = part(job)->useful_macro(now);
        if (!macro) { return false; }
        current_ = job;
        enter(*macro, now, out);
        return true;
    }
    auto enter(std::uint32_t macro, TimePoint now, JobEffects& out) -> void {
        auto& replica = here().join(macro, now, out);
        macro_ = macro;
        phase_ = JobPhase::micro;
        at_ = now + parameters_.ask_retry;
        (void)here().absorb(macro, replica.want_work(true, now), now, out);
    }
    /// Stays while the queue has work for this node; but not longer than `ask_retry` without a lease, if another job
    /// may be asked, because the owner may keep the queue to itself.
    auto work_on(TimePoint now, JobEffects& out) -> void {
        const auto useful = here().useful(macro_, now);
        const auto works = here().replica(macro_).work().has_value();
        const auto other = works || now < at_ ? std::nullopt : jobs_.to_ask(now);
        if (works || now >= at_) { at_ = now + parameters_.ask_retry; }
        if (useful && !other) { return; }
        (void)here().absorb(macro_, here().replica(macro_).want_work(false, now), now, out);
        look_around(useful ? *other : *current_, now, out);
    }

    JobNode self_;
    JobParameters parameters_;
    ClaimArbiter arbiter_;
    JobPhase phase_ = JobPhase::jobs;
    KnownJobs jobs_;
    std::optional<JobId> current_{};  // where this node works, or last looked for work
    std::vector<JobClaim> stores_;
    std::optional<Hash256> create_claim_{};
    std::uint32_t macro_ = 0;  // in the phases create and micro
    TimePoint now_;
    TimePoint at_;                         // time at which the phase acts next
    std::optional<TimePoint> asked_at_{};  // when another node asked last which jobs are open, if it has no answer;
    TimePoint answer_at_{};                // from then on this node answers,
    TimePoint end_at_{};                   // and tells which job has ended
};

}}  // namespace allot::v0
