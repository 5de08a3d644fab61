#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <allot/assert.hpp>
#include <allot/job/claim_arbiter.hpp>
#include <allot/job/finaliser.hpp>
#include <allot/job/job_parameters.hpp>
#include <allot/job/job_tracker.hpp>
#include <allot/job/micro_queue_replica.hpp>

namespace allot { inline namespace v0 {

/// One node's part in one job: its replicas of the MacroJobs' queues, its knowledge of the others, and the job's end.
///
/// It maintains every queue it ever joined until the job has ended, because an owner may vanish at any time.
/// `JobProcessor` decides which queue to join and when, and resolves the claims among the effects.
///
/// @complexity of each input: linear in the job's MicroJobs.
class JobParticipation {
public:
    /// Replicas by number of the MacroJob.
    using Replicas = std::map<std::uint32_t, MicroQueueReplica>;

    /// Starts without a queue. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    JobParticipation(JobPlan plan, JobNode self, const JobParameters& parameters, TimePoint now)
        : self_{std::move(self)}, parameters_{detail::sound(parameters)}, tracker_{std::move(plan), parameters.claim},
          finaliser_{tracker_.plan().job(), tracker_.plan().slicing().macro_count, self_.node},
          look_at_{now + parameters.claim}, announce_at_{now + parameters.claim / 3}, ask_at_{now} {}

    /// The node's knowledge of the whole job.
    [[nodiscard]] auto tracker() const noexcept -> const JobTracker& { return tracker_; }
    /// The job's plan.
    [[nodiscard]] auto plan() const noexcept -> const JobPlan& { return tracker_.plan(); }
    /// The replicas of the joined queues.
    [[nodiscard]] auto replicas() const noexcept -> const Replicas& { return replicas_; }
    /// The record of the job's end, once known.
    [[nodiscard]] auto final_record() const noexcept -> const std::optional<FinalRecord>& {
        return finaliser_.final_record();
    }
    /// True if each MacroJob has ended, as far as this node knows: by the record of a queue that is known here, else by
    /// the word of others.
    [[nodiscard]] auto ended() const -> bool {
        for (std::uint32_t m = 0; m < plan().slicing().macro_count; ++m) {
            if (record(m) == nullptr) { return false; }
        }
        return true;
    }
    /// True if the job is locked or has ended (rule 30): each MacroJob's queue is in use and has no open MicroJob, or
    /// has ended.
    [[nodiscard]] auto is_locked(TimePoint now) const -> bool {
        const auto open = [&](const auto& replica) { return replica.second.open_count(now) > 0; };
        return !unused_macro(now) && !first_not_joined(tracker_.joinable_macros(now)) &&
               std::none_of(replicas_.begin(), replicas_.end(), open);
    }
    /// True if this node has work in a queue that it joined, or may find some once it knows the queue.
    /// Throws `std::out_of_range` if the queue was not joined.
    [[nodiscard]] auto useful(std::uint32_t macro, TimePoint now) const -> bool {
        const auto& replica = replicas_.at(macro);
        if (replica.work() || replica.record() != nullptr) { return replica.work().has_value(); }
        if (!replica.state().known()) { return tracker_.record(macro) == nullptr; }
        return replica.state().first_for(self_.node, self_.wallet, now) != nullptr;
    }
    /// Returns the first MacroJob with work for this node: a joined one, or else one in use with an open MicroJob.
    [[nodiscard]] auto useful_macro(TimePoint now) const -> std::optional<std::uint32_t> {
        for (const auto& [m, replica] : replicas_) {
            if (useful(m, now)) { return m; }
        }
        return first_not_joined(tracker_.joinable_macros(now));
    }
    /// Returns the first MacroJob whose queue no node uses; none if each is in use, joined here, or ended.
    [[nodiscard]] auto unused_macro(TimePoint now) const -> std::optional<std::uint32_t> {
        return first_not_joined(tracker_.open_macros(now));
    }
    /// From then on the job's nodes may be asked again.
    [[nodiscard]] auto ask_at() const noexcept -> TimePoint { return ask_at_; }
    /// The earliest time at which `tick` has work.
    [[nodiscard]] auto next_deadline() const -> TimePoint {
        auto deadline = std::min(announce_at_, ending_ ? ask_at_ : look_at_);
        if (ending_ && replace_at_) { deadline = std::min(deadline, *replace_at_); }
        if (owes_queues_) { deadline = std::min(deadline, queues_at_); }
        if (owes_verdicts_) { deadline = std::min(deadline, verdicts_at_); }
        for (const auto& [m, replica] : replicas_) {
            deadline = std::min(deadline, replica.next_deadline().value_or(deadline));
        }
        return deadline;
    }
    /// The replica of a MacroJob's queue. Pass its effects to `absorb`. Throws `std::out_of_range` if the queue was not
    /// joined.
    [[nodiscard]] auto replica(std::uint32_t macro) -> MicroQueueReplica& { return replicas_.at(macro); }

    /// Joins the queue of a MacroJob, unless already joined. @pre the plan has the MacroJob.
    auto join(std::uint32_t macro, TimePoint now, JobEffects& out) -> MicroQueueReplica& {
        const auto [at, fresh] = replicas_.try_emplace(macro, plan().macro(macro), self_, parameters_.queue, now);
        if (fresh) {
            out.joined.push_back(at->second.state().plan().channel());
            out.events.push_back(job_event::MacroOpened{plan().job(), macro});
            for (const auto& culprit : culprits_) { at->second.bar(culprit); }
            tell_replica(macro, now, out);
        }
        return at->second;
    }

    /// Asks which MacroJobs are open.
    auto ask(TimePoint now, JobEffects& out) -> void {
        ask_at_ = now + parameters_.ask_retry;
        say(job_message::MacrosQuery{plan().job(), self_.node}, out);
    }

    /// Applies the effects of a replica to the job: announces a created or ended MacroJob. Returns the error of
    /// `effects`, if any.
    auto absorb(std::uint32_t macro, JobEffects&& effects, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        if (effects.error) { return effects.error; }
        for (const auto& claim : effects.claims) { reign_claims_[claim.claim] = macro; }
        const auto created = effects.get<job_event::QueueCreated>() != nullptr;
        const auto* ended = effects.get<job_event::MacroEnded>();
        if (ended != nullptr) { (void)tracker_.hear(news_of(macro, {ended->record}, {}), now); }
        const auto announced = created || ended != nullptr;
        const auto* final = effects.get<job_event::JobEnded>();
        const auto record = final == nullptr ? std::nullopt : std::optional{final->record};
        std::erase_if(effects.events, is_end);
        for (auto& write : effects.writes) { write.job = plan().job(); }
        out.append(std::move(effects));
        if (announced) { announce(macro, now, out); }
        if (record) { (void)finish(*record, out); }
        return std::nullopt;
    }

    /// Answers a node's question about the MacroJobs: of the queues that this node owns at once, of others after a
    /// delay of up to a quarter of `answer_wait`. An answer is left out if another node has said as much since the
    /// question. Error: `node_invalid`.
    [[nodiscard]] auto hear(const job_message::MacrosQuery& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (m.node.is_null()) { return JobError::node_invalid; }
        if (m.node == self_.node) { return std::nullopt; }
        if (!owes_verdicts_) {
            verdicts_at_ = std::max(verdicts_at_, now + parameters_.answer_delay(plan().job(), m.node, self_.node));
        }
        owes_queues_ = owes_verdicts_ = true;
        asked_at_ = now;
        answer(now, out);
        return std::nullopt;
    }
    /// Records news of a MacroJob, and bars culprits. Errors: those of `JobTracker::hear`.
    [[nodiscard]] auto hear(const job_message::MacroNews& m, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        if (const auto fault = tracker_.hear(m, now)) { return fault; }
        bar(m.rejected);
        if (replicas_.contains(m.macro)) { tell_replica(m.macro, now, out); }
        return std::nullopt;
    }
    /// Records an announced MicroJob. Errors: those of `JobTracker::hear`.
    [[nodiscard]] auto hear(const job_message::MicroDone& m, TimePoint /*now*/, JobEffects& /*out*/)
        -> std::optional<JobError> {
        return tracker_.hear(m);
    }
    /// Passes a message about a queue to its replica. Errors: `queue_missing` for a queue not joined; the replica's.
    template <class M>
    [[nodiscard]] auto hear(const M& m, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        const auto at = replicas_.find(macro_of(m));
        if (at == replicas_.end()) { return JobError::queue_missing; }
        const auto fault = absorb(at->first, at->second.on_proven(m, now), now, out);
        if constexpr (requires { m.rejected; }) {
            if (!fault) { bar(m.rejected); }
        }
        return fault;
    }

    /// Loads the saved state of a queue; the errors of the replica are dropped.
    auto resume(const job_message::QueueSnapshot& kept, TimePoint now, JobEffects& out) -> void {
        auto& replica = join(kept.macro, now, out);
        (void)absorb(kept.macro, replica.resume(kept, now), now, out);
        bar(kept.rejected);
    }
    /// Announces that this node has completed a MicroJob.
    auto announce_done(const MicroKey& key, const Hash256& digest, JobEffects& out) -> void {
        const auto done = job_message::MicroDone{plan().job(), key, self_.node, digest};
        (void)tracker_.hear(done);
        say(done, out);
    }

    /// Handles a vanished node. @pre its id is not null.
    auto on_gone(const NodeId& node, TimePoint now, JobEffects& out) -> void {
        for (auto& [m, replica] : replicas_) { (void)absorb(m, replica.on_gone(node, now), now, out); }
    }

    /// Rejects a result, here and, by an announcement, on all nodes. Errors: `macro_unknown` and those of `fault_of`.
    [[nodiscard]] auto reject(const Rejection& rejection, TimePoint now, JobEffects& out) -> std::optional<JobError> {
        if (const auto fault = check(rejection)) { return fault; }
        spread(rejection, now, out);
        return std::nullopt;
    }

    /// Receives the contract's answer. Errors: those of `Finaliser`, and those of the culprits' rejections.
    [[nodiscard]] auto on_settlement(const Settlement& settlement, TimePoint now, JobEffects& out)
        -> std::optional<JobError> {
        for (const auto& culprit : settlement.culprits) {
            if (const auto fault = check(culprit)) { return fault; }
        }
        auto settled = finaliser_.on_settlement(settlement);
        if (settled.error) { return settled.error; }
        out.append(std::move(settled));
        settle_at_ = settlement.culprits.empty() ? now + parameters_.settle_patience : now;
        for (const auto& culprit : settlement.culprits) { spread(culprit, now, out); }
        return std::nullopt;
    }

    /// Receives another node's record of the job's end. Error: `record_invalid`.
    [[nodiscard]] auto finish(const FinalRecord& record, JobEffects& out) -> std::optional<JobError> {
        auto finished = finaliser_.finish(record);
        if (finished.error) { return finished.error; }
        out.append(std::move(finished));
        return std::nullopt;
    }

    /// Handles a decided claim. Returns false if it is no pending claim of this job.
    auto decided(const ClaimDecision& decision, TimePoint now, JobEffects& out) -> bool {
        if (settle_claim_ == decision.claim) {
            settle_claim_.reset();
            settle_at_ = now + parameters_.settle_patience;
            if (decision.won) { settle(out); }
            return true;
        }
        const auto at = reign_claims_.find(decision.claim);
        if (at == reign_claims_.end()) { return false; }
        const auto macro = at->second;
        reign_claims_.erase(at);
        (void)absorb(macro, replica(macro).on_claim(decision.claim, decision.won, now), now, out);
        return true;
    }

    /// Applies passed deadlines.
    auto tick(TimePoint now, JobEffects& out) -> void {
        for (auto& [m, replica] : replicas_) { (void)absorb(m, replica.tick(now), now, out); }
        answer(now, out);
        if (now >= announce_at_) {
            announce_at_ = now + parameters_.claim / 3;
            for (const auto& [m, replica] : replicas_) {
                if (replica.state().owns()) { announce(m, now, out); }
            }
        }
        const auto ending = ended() && !final_record();
        if (std::exchange(ending_, ending) && !ending) { look_at_ = now + parameters_.claim; }
        ending ? await_end(now, out) : look_further(now, out);
    }

private:
    [[nodiscard]] static auto is_end(const JobEvent& event) -> bool {
        return std::holds_alternative<job_event::JobEnded>(event);
    }

    [[nodiscard]] auto first_not_joined(const std::vector<std::uint32_t>& macros) const
        -> std::optional<std::uint32_t> {
        const auto at = std::find_if_not(macros.begin(), macros.end(), [&](auto m) { return replicas_.contains(m); });
        return at == macros.end() ? std::nullopt : std::optional{*at};
    }
    auto say(JobMessage message, JobEffects& out) const -> void {
        out.sends.push_back({job_channel(plan().job()), std::move(message)});
    }
    [[nodiscard]] auto news_of(std::uint32_t macro, std::vector<MacroRecord> records,
                               std::vector<Rejection> rejected) const -> job_message::MacroNews {
        return {plan().job(), macro, self_.node, 0, 0, std::move(records), std::move(rejected)};
    }
    template <class M>
    [[nodiscard]] static auto macro_of(const M& m) noexcept -> std::uint32_t {
        if constexpr (requires { m.macro; }) {
            return m.macro;
        } else if constexpr (requires { m.record; }) {
            return m.record.key.macro;
        } else if constexpr (requires { m.commitment; }) {
            return m.commitment.key.macro;
        } else {
            return m.key.macro;
        }
    }
    [[nodiscard]] auto check(const Rejection& rejection) const -> std::optional<JobError> {
        if (!plan().contains({rejection.key.macro, 0})) { return JobError::macro_unknown; }
        return fault_of(plan().macro(rejection.key.macro), rejection);
    }

    /// The record of a MacroJob: that of its queue if it is known here, else by the word of others; null if there is
    /// none.
    [[nodiscard]] auto record(std::uint32_t macro) const -> const MacroRecord* {
        const auto at = replicas_.find(macro);
        return at != replicas_.end() && at->second.state().known() ? at->second.record() : tracker_.record(macro);
    }
    /// Passes the tracker's records and rejections on to a replica.
    auto tell_replica(std::uint32_t macro, TimePoint now, JobEffects& out) -> void {
        const auto& known = tracker_.verdicts(macro);
        auto message = job_message::QueueSnapshot{plan().job(), macro, false, {}, {}, {}, {}, {}, {}};
        for (const auto& [digest, rejection] : known.rejected()) { message.rejected.push_back(rejection); }
        for (const auto& [digest, record] : known.records()) { message.records.push_back(record); }
        (void)absorb(macro, replica(macro).on_proven(message, now), now, out);
    }
    /// Announces a MacroJob's state if this node has something to say: it owns the queue, or knows records or
    /// rejections.
    auto announce(std::uint32_t macro, TimePoint now, JobEffects& out) -> void {
        auto news = news_of(macro, {}, {});
        if (const auto* known = record(macro)) { news.records.push_back(*known); }
        for (const auto& [digest, rejection] : tracker_.verdicts(macro).rejected()) {
            news.rejected.push_back(rejection);
        }
        if (const auto at = replicas_.find(macro); at != replicas_.end() && at->second.state().owns()) {
            news.epoch = at->second.state().reign().epoch;
            news.open = at->second.open_count(now);
            (void)tracker_.hear(news, now);
        }
        if (news.epoch > 0 || !news.records.empty() || !news.rejected.empty()) { say(std::move(news), out); }
    }
    /// Answers questions; those at about the same time get one answer. Of its queue an owner alone can tell, so it
    /// needs no other's word for that. Records and rejections are known to many.
    auto answer(TimePoint now, JobEffects& out) -> void {
        const auto owns = [&](std::uint32_t macro) {
            const auto at = replicas_.find(macro);
            return at != replicas_.end() && at->second.state().owns();
        };
        const auto announce_if = [&](auto&& tells) {
            for (std::uint32_t m = 0; m < plan().slicing().macro_count; ++m) {
                if (tells(m)) { announce(m, now, out); }
            }
        };
        if (owes_queues_ && now >= queues_at_) {
            owes_queues_ = false;
            queues_at_ = now + parameters_.answer_wait / 2;
            announce_if(owns);
        }
        if (owes_verdicts_ && now >= verdicts_at_) {
            owes_verdicts_ = false;
            verdicts_at_ = now + parameters_.answer_wait / 4;
            announce_if([&](std::uint32_t m) { return !owns(m) && !(tracker_.told_at(m) > asked_at_); });
        }
    }
    /// A culprit gets no further MicroJob of the whole job (rule 32).
    auto bar(const std::vector<Rejection>& rejected) -> void {
        for (const auto& rejection : rejected) {
            if (rejection.reason != RejectReason::culprit) { continue; }
            const auto known = [&](const auto& c) { return c.node == rejection.node && c.wallet == rejection.wallet; };
            if (std::any_of(culprits_.begin(), culprits_.end(), known)) { continue; }
            culprits_.push_back(rejection);
            for (auto& [m, replica] : replicas_) { replica.bar(rejection); }
        }
    }
    auto spread(const Rejection& rejection, TimePoint now, JobEffects& out) -> void {
        const auto macro = rejection.key.macro;
        (void)tracker_.hear(news_of(macro, {}, {rejection}), now);
        bar({rejection});
        if (replicas_.contains(macro)) { tell_replica(macro, now, out); }
        announce(macro, now, out);
    }

    /// All MacroJobs have ended. Joins their queues, because only a record whose results are here proves that; and the
    /// last one's owner ends the job, and may vanish. Asks for the end, and replaces an owner that does not ask for it.
    auto await_end(TimePoint now, JobEffects& out) -> void {
        for (std::uint32_t m = 0; m < plan().slicing().macro_count; ++m) { (void)join(m, now, out); }
        if (now >= ask_at_) { ask(now, out); }
        auto& last = replicas_.rbegin()->second;
        if (last.state().owns()) {
            replace_at_.reset();
            return conclude(now, out);
        }
        const auto epoch = last.state().known() ? last.state().reign().epoch : 0;
        const auto pause = parameters_.queue.owner_timeout;
        if (std::exchange(waits_for_, epoch) != epoch || !replace_at_) {
            tries_ = 0;
            replace_at_ = now + parameters_.settle_patience * 2 + pause * turn_of_try();
        }
        if (now >= *replace_at_) {
            ++tries_;
            replace_at_ = now + pause * (1 + turn_of_try());
            (void)absorb(replicas_.rbegin()->first, last.replace_owner(now), now, out);
        }
    }
    /// The number of `owner_timeout`s for which this node lets others go first. It differs with each try, because votes
    /// for bids of one moment would be split.
    [[nodiscard]] auto turn_of_try() const -> std::int64_t {
        return static_cast<std::int64_t>(rank_of(self_.node, tries_, 0) % 8U);
    }
    /// Joins a queue that others say is in use, one in each `claim`, beginning with another one on each node. So
    /// members that claim queues at their word alone delay a job and do not stop it.
    auto look_further(TimePoint now, JobEffects& out) -> void {
        replace_at_.reset();
        if (now < look_at_) { return; }
        look_at_ = now + parameters_.claim;
        const auto count = plan().slicing().macro_count;
        const auto first = rank_of(self_.node, 0, 0) % count;
        for (std::uint32_t k = 0; k < count; ++k) {
            const auto macro = static_cast<std::uint32_t>((first + k) % count);
            if (replicas_.contains(macro) || tracker_.record(macro) != nullptr) { continue; }
            (void)join(macro, now, out);
            return;
        }
    }
    /// Ends the job once each queue that is known here has its record. @pre this node owns the last MacroJob's queue.
    auto conclude(TimePoint now, JobEffects& out) -> void {
        if (finaliser_.asking() || settle_claim_ || now < settle_at_ || !records()) { return; }
        // With a claim one node asks. A node that won it may keep silent, so later the contract alone decides.
        if (!parameters_.queue.arbitrate_epochs || std::exchange(has_claimed_, true)) { return settle(out); }
        settle_claim_ = RecordHasher{"settle"}.id(plan().job()).word(0).finish();
        out.claims.push_back({*settle_claim_, {self_.node, self_.boot}});
    }
    /// Returns the records of all queues; none if one is not proven here.
    [[nodiscard]] auto records() const -> std::optional<std::vector<MacroRecord>> {
        auto all = std::vector<MacroRecord>{};
        for (const auto& [m, replica] : replicas_) {
            if (const auto* record = replica.record()) { all.push_back(*record); }
        }
        return all.size() == plan().slicing().macro_count ? std::optional{all} : std::nullopt;
    }
    auto settle(JobEffects& out) -> void {
        const auto last = replicas_.find(plan().slicing().macro_count - 1);
        auto settled = finaliser_.conclude(records(), last->second.state().reign().epoch);
        if (settled.error) { return; }
        // Others' results that are to be paid: an author may have kept its own from the store, or its write was lost.
        for (const auto& [m, replica] : replicas_) {
            const auto& state = replica.state();
            for (const auto& accepted : replica.record()->accepted) {
                const auto* result = state.results().find(accepted.digest);
                if (result == nullptr || result->node == self_.node) { continue; }
                const auto path = result_path(plan().job(), state.plan().id, result->micro);
                settled.writes.push_back({path, *result, plan().job()});
            }
        }
        out.append(std::move(settled));
    }

    JobNode self_;
    JobParameters parameters_;
    JobTracker tracker_;
    Finaliser finaliser_;
    Replicas replicas_;
    std::vector<Rejection> culprits_;                // one of each node and wallet
    std::map<Hash256, std::uint32_t> reign_claims_;  // MacroJob by claim
    std::optional<Hash256> settle_claim_{};
    bool has_claimed_ = false;  // the right to ask the contract first
    TimePoint settle_at_{};
    std::uint64_t waits_for_ = 0;            // epoch of the owner that has to end the job
    std::optional<TimePoint> replace_at_{};  // then this node replaces it,
    std::uint64_t tries_ = 0;                // and has tried to so often
    TimePoint look_at_;                      // it joins a further queue then
    bool ending_ = false;                    // all MacroJobs have ended, and the job has not
    TimePoint announce_at_;
    TimePoint ask_at_;
    TimePoint asked_at_{};  // time of the last question of another node
    // An answer is owed, as soon as it may be sent: on the queues that this node owns, and on records and rejections.
    bool owes_queues_ = false;
    bool owes_verdicts_ = false;
    TimePoint queues_at_{};
    TimePoint verdicts_at_{};
};

}}  // namespace allot::v0
