#include "adversary.hpp"

#include <utility>
#include <variant>

#include "refusals.hpp"

namespace jobs {

namespace m = allot::job_message;

auto cheated(std::uint64_t seed, std::uint64_t block, const allot::Hash256& honest) -> allot::Hash256 {
    const auto draw = allot::RecordHasher{"which"}.word(seed).word(block).finish();
    return draw[0] % 3 == 0 ? allot::RecordHasher{"made up"}.hash(honest).finish() : honest;
}

auto Thief::copies(const allot::JobMessage& message) -> std::vector<allot::JobMessage> {
    auto stolen = std::vector<allot::JobMessage>{};
    const auto steal = [&](const allot::JobId& job, allot::ResultRecord record) {
        if (record.node == self_.node() || !known_.insert(record.digest).second) { return; }
        loot_[job] = record.block_hashes;
        record.node = self_.node();
        record.wallet = self_.wallet();
        record.digest = allot::digest_of(job, record);
        record.signature.clear();
        stolen.emplace_back(m::ResultFound{job, record});
    };
    const auto promise = [&](const allot::JobId& job, allot::Commitment commitment) {
        if (commitment.node == self_.node() || !promised_.insert(commitment.digest).second) { return; }
        commitment.node = self_.node();
        commitment.signature.clear();
        stolen.emplace_back(m::ResultCommitted{job, commitment});
    };
    if (const auto* found = std::get_if<m::ResultFound>(&message)) { steal(found->job, found->record); }
    if (const auto* made = std::get_if<m::ResultCommitted>(&message)) { promise(made->job, made->commitment); }
    if (const auto* snapshot = std::get_if<m::QueueSnapshot>(&message)) {
        for (const auto& record : snapshot->results) { steal(snapshot->job, record); }
        for (const auto& commitment : snapshot->commitments) { promise(snapshot->job, commitment); }
    }
    return stolen;
}

auto Thief::loot(const allot::JobId& job) const -> std::optional<std::vector<allot::Hash256>> {
    const auto at = loot_.find(job);
    return at == loot_.end() ? std::nullopt : std::optional{at->second};
}

namespace {

class Forger {
public:
    Forger(const ForgerOptions& options, const SigningKey& key)
        : options_{options}, key_{key}, broker_{options.self.name, options.password, options.port}, random_{
                                                                                                        options.seed} {}

    [[noreturn]] void run() {
        broker_.listen("#");  // also to what is said to others alone: the broker must not pass that on
        auto next = now();
        auto report_at = now();
        for (auto turn = std::uint64_t{0};; ++turn) {
            while (now() < next) {
                broker_.poll(10,
                             [&](const std::string& channel, const std::string& envelope) { hear(channel, envelope); });
            }
            next = now() + 60ms;
            attack(turn);
            if (now() < report_at) { continue; }
            report_at = now() + 500ms;
            auto report = Report{"sent " + std::to_string(turn + 1) + " forged messages", {}, {}, {}, 0, 0};
            if (overheard_ > 0) { report.refused.push_back({access_broken, overheard_}); }
            say_text(reported + options_.self.name, encode(report));
        }
    }

private:
    void hear(const std::string& channel, const std::string& envelope) {
        if (!channel.starts_with(net)) {
            // The proofs are for all.
            overheard_ += channel == proofs || channel.ends_with("/" + options_.self.name) ? 0U : 1U;
            return;
        }
        const auto letter = opened(envelope);
        if (!letter || letter->sender == options_.self.name) { return; }
        const auto message = decode(letter->text);
        if (!message) { return; }
        if (const auto* posted = std::get_if<m::JobPosted>(&*message)) { posted_ = *posted; }
        if (const auto* snapshot = std::get_if<m::QueueSnapshot>(&*message); snapshot != nullptr && snapshot->control) {
            snapshot_ = *snapshot;
            queue_ = channel;
        }
        heard_.push_back({channel, envelope});
        if (heard_.size() > 100) { heard_.pop_front(); }
    }
    auto below(std::size_t n) -> std::size_t { return static_cast<std::size_t>(random_() % n); }
    auto somebody() -> allot::NodeId { return allot::NodeId{options_.names[below(options_.names.size())]}; }
    auto own(const allot::Hash256& digest) -> allot::Signature { return key_.sign(digest); }
    /// Says something as `sender`, with its own signature: it has no other one.
    void say_as(const std::string& sender, const std::string& channel, const std::string& text) {
        number_ = number_after(number_);
        broker_.say(channel, sealed(key_, sender, number_, channel, text));
    }
    void say_text(const std::string& channel, const std::string& text) { say_as(options_.self.name, channel, text); }
    void say(const std::string& channel, const allot::JobMessage& message) { say_text(channel, encode(message)); }

    void attack(std::uint64_t turn) {
        if (heard_.empty() || !posted_ || !snapshot_) { return; }
        switch (turn % 12) {
            case 0: return speak_for_another();
            case 1: return give_back_for_another();
            case 2: return end_a_job();
            case 3: return rule_a_queue();
            case 4: return name_a_culprit(options_.self.node());
            case 5: return name_a_culprit(allot::NodeId{dapp_name});
            case 6: return post_another_plan();
            case 7: return ask_for_foreign_blocks();
            case 8: return ask_for_the_escrow();
            case 9: return say_again();
            case 10: return promise_for_another();
            default: return babble();
        }
    }
    /// What another member said, said again as if by a third one.
    void speak_for_another() {
        const auto& heard = heard_[below(heard_.size())];
        say_as(somebody().text(), heard.channel, opened(heard.envelope)->text);
    }
    /// What another member said, with that one's own signature.
    void say_again() {
        const auto& heard = heard_[below(heard_.size())];
        broker_.say(heard.channel, heard.envelope);
    }
    /// A result of somebody who has none, as if it were only passed on.
    void promise_for_another() {
        auto message = m::QueueSnapshot{snapshot_->job, snapshot_->macro, false, {}, {}, {}, {}, {}, {}};
        for (const auto& lease : snapshot_->control->given) {
            const auto digest = allot::RecordHasher{"no result"}.id(lease.holder).finish();
            message.commitments.push_back(
                {digest, {snapshot_->macro, lease.micro}, lease.holder, lease.token, own(digest)});
        }
        say(queue_, message);
    }
    /// Under its own name, but about somebody else's lease.
    void give_back_for_another() {
        for (const auto& item : snapshot_->control->items) {
            if (!item.hold) { continue; }
            say(queue_,
                m::LeaseReturned{snapshot_->job, {snapshot_->macro, item.key}, item.hold->holder, item.hold->token});
        }
    }
    void end_a_job() {
        auto record = allot::FinalRecord{posted_->plan.job(), 1, somebody(), allot::JobOutcome::failed, {}, {}, {}};
        for (std::uint32_t i = 0; i < posted_->plan.slicing().macro_count; ++i) {
            record.macros.push_back(allot::RecordHasher{"no record"}.word(i).finish());
        }
        record.digest = allot::digest_of(record);
        record.signature = own(record.digest);
        say(net + allot::job_channel(record.job), m::JobEnded{record});
    }
    /// A newer control of a queue's owner, in which all MicroJobs are its own.
    void rule_a_queue() {
        auto forged = *snapshot_;
        forged.control->revision += 1'000;
        for (auto& item : forged.control->items) {
            if (item.hold) { item.hold->holder = options_.self.node(); }
        }
        for (auto& lease : forged.control->given) { lease.holder = options_.self.node(); }
        forged.control->signature = own(digest_of(forged.job, forged.macro, *forged.control));
        say(queue_, forged);
    }
    void name_a_culprit(const allot::NodeId& author) {
        if (snapshot_->results.empty()) { return; }
        const auto& result = snapshot_->results[below(snapshot_->results.size())];
        auto rejection = rejection_of(result);
        rejection.author = author;
        rejection.signature = own(digest_of(snapshot_->job, rejection));
        say(net + allot::job_channel(snapshot_->job),
            m::MacroNews{snapshot_->job, snapshot_->macro, options_.self.node(), 0, 0, {}, {rejection}});
    }
    /// A plan under the id of a job that is known, in which this member gives the verdicts. It is in the name of the
    /// dapp: with another poster it is no plan, because the id is the dapp's.
    void post_another_plan() {
        const auto& plan = posted_->plan;
        const auto self = options_.self.node();
        const auto forged =
            allot::JobPlan::from_parts(plan.job(), plan.slicing(), plan.code_uri(), plan.data_uri(), plan.macro_ids(),
                                       plan.micro_ids(), {plan.authorities().poster, self, self});
        say(net + allot::jobs_channel(), m::JobPosted{*forged, own(forged->digest())});
    }
    /// On its own channel, for the broker lets it write on no other one.
    void ask_for_foreign_blocks() {
        const auto micro = static_cast<std::uint32_t>(below(snapshot_->control->items.size()));
        say_text(deals_asked + options_.self.name, encode(Deal{snapshot_->job, {snapshot_->macro, micro}, {}}));
        say_text(deals_asked + somebody().text(), encode(Deal{snapshot_->job, {snapshot_->macro, micro}, {}}));
    }
    /// Records of an end that never was, with itself as the worker.
    void ask_for_the_escrow() {
        auto ask =
            EscrowAsk{{}, {posted_->plan.job(), 1, options_.self.node(), allot::JobOutcome::complete, {}, {}, {}}};
        for (std::uint32_t i = 0; i < posted_->plan.slicing().macro_count; ++i) {
            auto record = allot::MacroRecord{
                ask.as.job, i, 1, options_.self.node(), allot::JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
            for (std::uint32_t k = 0; k < posted_->plan.slicing().items(); ++k) {
                const auto digest = allot::RecordHasher{"no work"}.word(i).word(k).finish();
                record.accepted.push_back({digest, options_.self.node(), options_.self.wallet()});
            }
            record.digest = allot::digest_of(record);
            record.signature = own(record.digest);
            ask.as.macros.push_back(record.digest);
            ask.records.push_back(record);
        }
        ask.as.digest = allot::digest_of(ask.as);
        say_text(escrow_asked + options_.self.name, encode(ask));
    }
    /// Half of a message.
    void babble() {
        const auto& heard = heard_[below(heard_.size())];
        const auto text = opened(heard.envelope)->text;
        say_text(heard.channel, text.substr(0, below(text.size())));
    }

    struct Heard {
        std::string channel;
        std::string envelope;
    };

    ForgerOptions options_;
    const SigningKey& key_;
    Broker broker_;
    std::uint64_t number_ = 0;
    std::mt19937_64 random_;
    std::deque<Heard> heard_;
    std::optional<m::JobPosted> posted_{};
    std::optional<m::QueueSnapshot> snapshot_{};
    std::string queue_;
    std::uint64_t overheard_ = 0;
};

}  // namespace

void run_forger(const ForgerOptions& options, const SigningKey& key) { Forger{options, key}.run(); }

}  // namespace jobs
