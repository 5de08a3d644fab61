#include "member.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "adversary.hpp"
#include "common.hpp"
#include "disk.hpp"
#include "post.hpp"
#include "refusals.hpp"
#include "wire.hpp"

namespace jobs {
namespace {

/// The current work.
struct Doing {
    allot::JobId job;
    allot::MicroKey key;
    allot::FencingToken token;
    allot::TimePoint began{};
    std::vector<std::uint64_t> blocks{};  // empty until dealt
    std::vector<allot::Hash256> hashes{};
    allot::TimePoint next{};  // time at which the next block is done, or is asked for again
    std::size_t renewed = 0;  // blocks at the last renewal
};

class Process {
public:
    Process(const MemberOptions& options, const SigningKey& key, const Keyring& ring)
        : options_{options}, name_{options.self.name}, key_{key}, ring_{ring}, post_{name_, options.password,
                                                                                     options.port, key, ring},
          disk_{options.folder + "/" + name_ + ".json"}, processor_{{options.self.node(), options.self.wallet(),
                                                                     std::random_device{}()},
                                                                    parameters(),
                                                                    allot::Intent{{400ms, 3s}},
                                                                    now()} {
        if (options.self.role == Role::thief) { thief_.emplace(options.self); }
    }

    [[noreturn]] void run() {
        post_.listen(deals_given + name_);
        post_.listen(escrow_said + name_);
        post_.listen(proofs);
        follow(processor_.start(now()));
        for (const auto& saved : disk_.load()) {
            jobs_.insert(saved.posted.plan.job());
            auto effects = processor_.resume(saved.posted, saved.snapshots, now());
            resumed_ += effects.accepted() ? 1U : 0U;
            follow(std::move(effects));
        }
        while (true) {
            const auto due = std::min(processor_.next_deadline(), now() + 50ms);
            const auto wait = std::max<std::int64_t>(0, (due - now()).count());
            post_.poll(
                static_cast<int>(wait),
                [&](const std::string& sender, const std::string& channel, const std::string& text) {
                    hear(sender, channel, text);
                },
                [&](const std::string& why, const std::string& named) {
                    refuse(why, "a letter in the name of " + named);
                });
            follow(processor_.tick(now()));
            work();
            write();
            ask_escrow();
            report();
        }
    }

private:
    // ---- what it hears ---------------------------------------------------------------------------------------------

    void hear(const std::string& sender, const std::string& channel, const std::string& text) {
        if (channel == deals_given + name_) {
            const auto deal = sender == dapp_name ? decode_deal(text) : std::nullopt;
            if (deal && doing_ && doing_->job == deal->job && doing_->key == deal->key && doing_->blocks.empty()) {
                doing_->blocks = deal->blocks;
                doing_->next = now() + options_.block_time;
            }
        } else if (channel == escrow_said + name_) {
            const auto settlement = sender == dapp_name ? decode_settlement(text) : std::nullopt;
            if (settlement && asking_.erase(settlement->job) > 0) {
                follow(processor_.on_settlement(*settlement, now()));
            }
        } else if (channel == proofs) {
            repeat(sender, text);
        } else if (const auto message = decode(text)) {
            hear(sender, channel, *message);
        } else {
            refuse("malformed", "something of " + sender);
        }
    }
    void hear(const std::string& sender, const std::string& channel, const allot::JobMessage& message) {
        // Anybody may post a job; this member works for the dapp alone.
        if (const auto* posted = std::get_if<allot::job_message::JobPosted>(&message);
            posted != nullptr && posted->plan.authorities().poster != allot::NodeId{dapp_name}) {
            return refuse("author_without_right", "the JobPosted of " + sender);
        }
        auto effects = processor_.on_message(allot::NodeId{sender}, message, now(), ring_.check());
        if (effects.error) {
            if (const auto attack = attack_of(*effects.error)) {
                refuse(*attack, "the " + kind_of(message) + " of " + sender);
            }
        }
        follow(std::move(effects));
        if (!thief_) { return; }
        for (auto& copy : thief_->copies(message)) {
            sign_own(copy, options_.self.node(), [&](const auto& digest) { return sign(digest); });
            post_.say(channel, encode(copy));
        }
    }
    /// Repeats the proof of a job that has ended, once.
    void repeat(const std::string& sender, const std::string& text) {
        const auto proof = sender == dapp_name ? decode_proof(text) : std::nullopt;
        const auto job = proof ? proof->posted.plan.job() : allot::JobId::null();
        const auto* final = proof ? processor_.final_record(job) : nullptr;
        if (!proof || (final != nullptr && final->digest != proof->final.digest)) {
            return refuse("proof_wrong", "a proof of " + sender);
        }
        if (final == nullptr || proven_.contains(job)) { return; }
        if (const auto fault = fault_of(*proof, file(proof->posted.plan.data_uri()), samples_promised, ring_)) {
            return refuse("proof_wrong", "the proof of job " + name_of(job) + ": " + *fault);
        }
        proven_.insert(job);
    }
    void refuse(const std::string& what, const std::string& sentence) {
        refusals_.add(what, name_ + " refused " + sentence);
    }

    // ---- what follows from it --------------------------------------------------------------------------------------

    [[nodiscard]] auto sign(const allot::Hash256& digest) const -> allot::Signature { return key_.sign(digest); }

    /// Applies the effects of the state machine. A refused input, such as a late message, has changed nothing.
    void follow(allot::JobEffects effects) {
        sign_own(effects, options_.self.node(), [&](const auto& digest) { return sign(digest); });
        for (const auto& event : effects.events) { note(event); }
        // First the disk, then the word: after a restart it stands by what it said. A commitment is such a word: a
        // result that a restart forgets cannot be disclosed.
        const auto commits = std::any_of(effects.sends.begin(), effects.sends.end(), [](const auto& send) {
            return std::holds_alternative<allot::job_message::ResultCommitted>(send.message);
        });
        if (commits || !effects.events.empty() || !effects.writes.empty()) { save(); }
        for (const auto& channel : effects.joined) { post_.listen(net + channel); }
        for (const auto& send : effects.sends) { post_.say(net + send.channel, encode(send.message)); }
        for (const auto& write : effects.writes) { writes_.push_back({write.job, write.record}); }
        if (!effects.writes.empty()) { write_at_ = now(); }
    }
    /// The library takes it that what is written to the store stays there. Here the broker may be away and lose it, so
    /// each member writes again until the job has ended.
    void write() {
        if (now() < write_at_) { return; }
        write_at_ = now() + 2s;
        std::erase_if(writes_, [&](const auto& stored) { return processor_.final_record(stored.job) != nullptr; });
        for (const auto& stored : writes_) { post_.say(store + name_, encode(stored)); }
    }
    void note(const allot::JobEvent& event) {
        namespace e = allot::job_event;
        if (const auto* accepted = std::get_if<e::JobAccepted>(&event)) {
            jobs_.insert(accepted->job);
        } else if (const auto* leased = std::get_if<e::MicroLeased>(&event)) {
            doing_ = Doing{leased->job, leased->key, leased->token, now(), {}, {}, now()};
        } else if (const auto* release = std::get_if<e::EscrowReleaseRequested>(&event)) {
            ask_escrow(release->job, {release->records, release->as});
        } else if (const auto* refund = std::get_if<e::EscrowRefundRequested>(&event)) {
            ask_escrow(refund->job, {refund->records, refund->as});
        }
    }
    void save() const {
        auto all = std::vector<Saved>{};
        for (const auto& job : jobs_) {
            const auto* part = processor_.part(job);
            if (part == nullptr) { continue; }  // it has ended, or there was nothing to do yet
            auto saved = Saved{*processor_.posted(job), {}};
            for (const auto& [m, replica] : part->replicas()) { saved.snapshots.push_back(replica.saved()); }
            all.push_back(std::move(saved));
        }
        disk_.save(all);
    }

    // ---- its work --------------------------------------------------------------------------------------------------

    void work() {
        const auto lease = processor_.work();
        if (!lease || !doing_ || lease->job != doing_->job || lease->key != doing_->key ||
            lease->token != doing_->token) {
            doing_.reset();
            return;
        }
        const auto blocks = doing_->hashes.size();
        if (now() >= lease->renew_at && blocks > doing_->renewed) {
            follow(processor_.renew(*lease, static_cast<std::uint32_t>(blocks), doing_->hashes.back(), now()));
            doing_->renewed = blocks;
        }
        if (now() < doing_->next) { return; }
        if (thief_) { return steal(*lease); }
        if (doing_->blocks.empty()) {
            post_.say(deals_asked + name_, encode(Deal{doing_->job, doing_->key, {}}));
            doing_->next = now() + 300ms;
            return;
        }
        const auto& plan = processor_.posted(doing_->job)->plan;
        const auto block = doing_->blocks[doing_->hashes.size()];
        auto hash = block_hash(file(plan.data_uri()), block, block_count(plan.slicing()));
        if (options_.self.role == Role::cheat) { hash = cheated(options_.seed, block, hash); }
        doing_->hashes.push_back(hash);
        doing_->next += options_.block_time;
        if (doing_->hashes.size() == doing_->blocks.size()) { finish(*lease, doing_->hashes); }
    }
    void finish(const allot::JobProcessor::Work& lease, const std::vector<allot::Hash256>& hashes) {
        follow(processor_.complete(lease, hashes, "mem://" + name_, now()));
        doing_.reset();
    }
    /// The thief waits for a result that it can copy, and gives the MicroJob back if it hears none.
    void steal(const allot::JobProcessor::Work& lease) {
        doing_->next = now() + 300ms;
        if (doing_->hashes.empty()) {  // the blocks must be dealt to it, else nobody believes that it worked
            post_.say(deals_asked + name_, encode(Deal{doing_->job, doing_->key, {}}));
            doing_->hashes.emplace_back();
        } else if (const auto loot = thief_->loot(doing_->job)) {
            finish(lease, *loot);
        } else if (now() > doing_->began + 4s) {
            follow(processor_.fail(lease, now()));
            doing_.reset();
        }
    }
    auto file(const std::string& path) -> const std::string& {
        const auto at = files_.find(path);
        return at != files_.end() ? at->second : files_.emplace(path, read_file(path)).first->second;
    }

    // ---- the escrow and the view -----------------------------------------------------------------------------------

    void ask_escrow(const allot::JobId& job, EscrowAsk ask) {
        asking_.insert_or_assign(job, std::move(ask));
        ask_at_ = now();
    }
    void ask_escrow() {
        if (now() < ask_at_) { return; }
        ask_at_ = now() + 2s;
        std::erase_if(asking_, [&](const auto& entry) { return processor_.final_record(entry.first) != nullptr; });
        for (const auto& [job, ask] : asking_) { post_.say(escrow_asked + name_, encode(ask)); }
    }
    void report() {
        if (now() < report_at_) { return; }
        report_at_ = now() + 500ms;
        auto report = Report{"looks for work",
                             refusals_.counts(),
                             refusals_.last(),
                             {},
                             static_cast<std::uint32_t>(post_.reconnects()),
                             resumed_,
                             static_cast<std::uint32_t>(proven_.size())};
        if (doing_) {
            report.doing = fmt::format("job {}, MicroJob {}.{}: {}/{}", name_of(doing_->job), doing_->key.macro,
                                       doing_->key.micro, doing_->hashes.size(), doing_->blocks.size());
        }
        for (const auto& job : jobs_) {
            if (const auto* final = processor_.final_record(job)) { report.ends.push_back(final->digest); }
        }
        post_.say(reported + name_, encode(report));
    }

    MemberOptions options_;
    std::string name_;
    const SigningKey& key_;
    const Keyring& ring_;
    Post post_;
    Disk disk_;
    allot::JobProcessor processor_;
    std::optional<Thief> thief_{};
    std::set<allot::JobId> jobs_;
    std::set<allot::JobId> proven_;
    std::optional<Doing> doing_{};
    std::map<allot::JobId, EscrowAsk> asking_;
    std::vector<Stored> writes_;
    std::map<std::string, std::string> files_;
    Refusals refusals_;
    std::uint32_t resumed_ = 0;
    allot::TimePoint ask_at_{};
    allot::TimePoint write_at_{};
    allot::TimePoint report_at_{};
};

}  // namespace

void run_member(const MemberOptions& options, const SigningKey& key, const Keyring& ring) {
    Process{options, key, ring}.run();
}

}  // namespace jobs
