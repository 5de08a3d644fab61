#include "dapp.hpp"

#include <algorithm>
#include <variant>

namespace jobs {

Dapp::Dapp(const allot::JobSpec& spec, const std::string& file, int port)
    : file_{file}, broker_{"dapp", port}, plan_{*allot::JobPlan::slice(spec)}, secret_{spec},
      seen_(spec.slicing.macro_count) {
    for (const auto& channel :
         {deals_asked, store, escrow_asked, allot::jobs_channel(), allot::job_channel(spec.job)}) {
        broker_.listen(channel);
    }
    for (std::uint32_t m = 0; m < spec.slicing.macro_count; ++m) { broker_.listen(plan_.macro(m).channel()); }
}

void Dapp::poll(int wait_ms) {
    if (now() >= post_at_ && !ended_) {  // repeat it for late workers
        post_at_ = now() + 1s;
        broker_.say(allot::jobs_channel(),
                    encode(Letter{allot::NodeId{"dapp"}, allot::job_message::JobPosted{plan_, {}}}));
    }
    broker_.poll(wait_ms, [&](const std::string& channel, const std::string& text) { hear(channel, text); });
}

void Dapp::hear(const std::string& channel, const std::string& text) {
    if (channel == deals_asked) { return deal(text); }
    if (channel == store) {
        if (const auto record = decode_result(text);
            record && record->key.macro < seen_.size() && !fault_of(plan_.macro(record->key.macro), *record)) {
            store_.emplace(record->digest, *record);  // only once: the first record stays
        }
        return;
    }
    if (channel == escrow_asked) {
        if (const auto ask = decode_ask(text)) { settle(*ask); }
        return;
    }
    const auto letter = decode(text);
    if (!letter) { return; }
    if (const auto* snapshot = std::get_if<allot::job_message::QueueSnapshot>(&letter->message)) {
        if (snapshot->macro >= seen_.size() || fault_of(plan_.macro(snapshot->macro), *snapshot, parameters().queue)) {
            return;
        }
        auto& seen = seen_[snapshot->macro];
        if (snapshot->control && (!seen.control || snapshot->control->newer_than(*seen.control))) {
            seen.control = snapshot->control;
            seen.heard = now();
        }
        const auto stands = [&](const allot::MacroRecord& record) {
            return std::none_of(record.accepted.begin(), record.accepted.end(),
                                [&](const auto& accepted) { return rejected_.contains(accepted.digest); });
        };
        seen.ended = std::any_of(snapshot->records.begin(), snapshot->records.end(), stands);
    } else if (const auto* end = std::get_if<allot::job_message::JobEnded>(&letter->message)) {
        if (!fault_of(plan_.job(), seen_.size(), end->record)) { ended_ = end->record; }
    }
}

/// Deals blocks. Only the dapp knows which blocks belong to a MicroJob, and so which MicroJob verifies.
void Dapp::deal(const std::string& text) {
    const auto line = text.find('\n');
    if (line == std::string::npos) { return; }
    const auto asked = decode_deal(text.substr(0, line));
    if (!asked || !plan_.contains(asked->key)) { return; }
    const auto secret = secret_.macro(asked->key.macro);
    broker_.say(deals_given + text.substr(line + 1), encode(Deal{asked->key, secret.blocks[asked->key.micro]}));
}

auto Dapp::judged(const std::vector<allot::MacroRecord>& records) const
    -> std::optional<std::vector<allot::Rejection>> {
    auto rejected = std::vector<allot::Rejection>{};
    for (const auto& record : records) {
        auto results = std::vector<const allot::ResultRecord*>{};
        auto refused = false;
        for (const auto& accepted : record.accepted) {
            const auto at = store_.find(accepted.digest);
            if (at == store_.end()) { return std::nullopt; }
            if (const auto known = rejected_.find(accepted.digest); known != rejected_.end()) {
                rejected.push_back(known->second);
                refused = true;
            } else if (culprits_.contains(at->second.node.text())) {
                rejected.push_back(rejection_of(at->second, allot::RejectReason::culprit));
                refused = true;
            }
            results.push_back(&at->second);
        }
        if (refused) { continue; }  // a culprit elsewhere has no vote here: a tie with them would never be broken
        const auto verdict = allot::judge(plan_.macro(record.macro), secret_.macro(record.macro), results);
        if (!verdict) { return std::nullopt; }
        rejected.insert(rejected.end(), verdict->rejected.begin(), verdict->rejected.end());
    }
    return rejected;
}

/// The contract: it settles once, under the job's key, and remembers its answer.
void Dapp::settle(const EscrowAsk& ask) {
    if (fault_of(plan_.job(), seen_.size(), ask.as) || ask.records.size() != seen_.size()) { return; }
    auto settlement = allot::Settlement{plan_.job(), false, {}, {}};
    for (std::uint32_t m = 0; m < seen_.size(); ++m) {
        if (fault_of(plan_.macro(m), ask.records[m])) { return; }
    }
    if (!settled_ && ask.as.outcome == allot::JobOutcome::complete) {
        const auto rejected = judged(ask.records);
        if (!rejected) { return; }  // a result is still missing; they will ask again
        settlement.culprits = *rejected;
        for (const auto& rejection : *rejected) {
            rejected_.emplace(rejection.digest, rejection);
            if (rejection.reason == allot::RejectReason::culprit) { culprits_.insert(rejection.node.text()); }
        }
        if (rejected->empty()) {
            pay(ask.records);
            settled_ = ask.as;
        }
    } else if (!settled_) {
        settled_ = ask.as;
    }
    settlement.settled = settled_.has_value();
    settlement.settled_as = settled_;
    broker_.say(escrow_said + ask.node.text(), encode(settlement));
}

void Dapp::pay(const std::vector<allot::MacroRecord>& records) {
    auto shares = std::vector<allot::EscrowShare>{};
    for (const auto& record : records) {
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            shares.push_back({record.accepted[k].wallet, 1});
            ++payments_[{record.macro, k}];
        }
    }
    const auto split = allot::split_escrow(escrow, shares, static_cast<std::uint32_t>(shares.size()));
    for (const auto& [wallet, amount] : split->paid) { paid_[wallet].units = paid_[wallet].units + amount.units; }
    paid_for_ = records;
}

auto Dapp::progress() const -> std::pair<std::uint64_t, std::uint64_t> {
    const auto items = std::uint64_t{plan_.slicing().items()};
    auto done = std::uint64_t{0};
    for (const auto& seen : seen_) {
        if (!seen.control) { continue; }
        for (const auto& accepted : seen.control->accepted) {
            done += accepted && !rejected_.contains(*accepted) ? 1U : 0U;
        }
    }
    return {done, items * seen_.size()};
}

auto Dapp::holds(const std::string& name) const -> bool {
    for (const auto& seen : seen_) {
        if (!seen.control) { continue; }
        for (const auto& item : seen.control->items) {
            if (item.hold && item.hold->holder == allot::NodeId{name}) { return true; }
        }
    }
    return false;
}

auto Dapp::faults() const -> std::vector<std::string> {
    auto faults = std::vector<std::string>{};
    const auto wrong = [&](bool is, std::string what) {
        if (is) { faults.push_back(std::move(what)); }
    };
    const auto& slicing = plan_.slicing();
    wrong(!ended_, "the job did not end in time");
    wrong(ended_ && ended_->outcome != allot::JobOutcome::complete,
          "the job ended with a MicroJob that was tried too often");
    wrong(!settled_ || (ended_ && *settled_ != *ended_), "the job was not settled as it ended");
    wrong(payments_.size() != std::size_t{slicing.items()} * slicing.macro_count, "a MicroJob was not paid");
    wrong(std::any_of(payments_.begin(), payments_.end(), [](const auto& p) { return p.second != 1; }),
          "a MicroJob was paid twice");
    auto sum = allot::u128{0};
    for (const auto& [wallet, amount] : paid_) { sum = sum + amount.units; }
    wrong(sum != allot::u128{escrow}, "what was paid is not the escrow");
    wrong(std::any_of(paid_.begin(), paid_.end(),
                      [](const auto& p) { return p.first == allot::WalletId{"wallet of eve"}; }),
          "the cheat was paid");
    wrong(culprits_ != std::set<std::string>{"eve"}, "the cheat was not named, or somebody else was");

    // The combined results of the workers must equal our own computation.
    const auto count = slicing.blocks_per_macro() * slicing.macro_count;
    auto found = std::vector<allot::Hash256>(count);
    for (const auto& record : paid_for_) {
        const auto secret = secret_.macro(record.macro);
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            if (std::find(secret.verifiers.begin(), secret.verifiers.end(), k) != secret.verifiers.end()) { continue; }
            const auto& hashes = store_.at(record.accepted[k].digest).block_hashes;
            for (std::size_t i = 0; i < hashes.size(); ++i) { found[secret.blocks[k][i]] = hashes[i]; }
        }
    }
    auto differing = std::uint64_t{0};
    for (std::uint64_t block = 0; block < count; ++block) {
        differing += found[block] != block_hash(file_, block, count) ? 1U : 0U;
    }
    wrong(differing > 0, std::to_string(differing) + " of " + std::to_string(count) + " blocks are lost or wrong");
    return faults;
}

}  // namespace jobs
