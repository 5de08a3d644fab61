#include "contract.hpp"

#include <algorithm>
#include <variant>

#include "refusals.hpp"

namespace jobs {

namespace m = allot::job_message;

Contract::Contract(const allot::JobSpec& spec, std::uint32_t samples, const SigningKey& key, const Keyring& ring)
    : key_{key}, ring_{ring}, samples_{samples}, file_{read_file(spec.data_uri)}, seed_{spec.seed},
      posted_{*allot::JobPlan::slice(spec), {}}, secret_{spec}, seen_(spec.slicing.macro_count) {
    posted_.signature = key_.sign(posted_.plan.digest());
}

// ---- what it hears -------------------------------------------------------------------------------------------------

auto Contract::hear(const allot::NodeId& sender, const allot::JobMessage& message) -> Refusal {
    if (const auto fault = fault_of_message(plan(), parameters().queue, sender, message, ring_.check())) {
        return attack_of(*fault);
    }
    if (const auto* found = std::get_if<m::ResultFound>(&message)) { return keep(found->record); }
    const auto* snapshot = std::get_if<m::QueueSnapshot>(&message);
    if (snapshot == nullptr) { return std::nullopt; }
    auto& seen = seen_[snapshot->macro];
    if (snapshot->control && (!seen.control || snapshot->control->newer_than(*seen.control))) {
        seen.control = snapshot->control;
        seen.heard = now();
    }
    for (const auto& record : snapshot->results) { store_.emplace(record.digest, record); }
    const auto stands = [&](const allot::MacroRecord& record) {
        return std::none_of(record.accepted.begin(), record.accepted.end(),
                            [&](const auto& accepted) { return rejected_.contains(accepted.digest); });
    };
    seen.ended = std::any_of(snapshot->records.begin(), snapshot->records.end(), stands);
    return std::nullopt;
}

auto Contract::keep(const allot::ResultRecord& record) -> Refusal {
    if (!plan().contains(record.key)) { return "micro_unknown"; }
    if (const auto fault = fault_of(plan().macro(record.key.macro), record)) { return attack_of(*fault); }
    if (const auto refusal = ring_.refusal_of(record.node, record.digest, record.signature)) {
        return name_of(*refusal);
    }
    store_.emplace(record.digest, record);
    return std::nullopt;
}

auto Contract::deal(const allot::NodeId& sender, allot::MicroKey key, std::vector<std::uint64_t>& blocks) -> Refusal {
    if (!plan().contains(key)) { return "micro_unknown"; }
    const auto& seen = seen_[key.macro];
    if (!seen.control) { return std::nullopt; }  // its news is still under way; the member asks again
    const auto& item = seen.control->items[key.micro];
    if (!item.is_held(seen.control->clock + (now() - seen.heard)) || item.hold->holder != sender) {
        return "blocks_unleased";
    }
    blocks = secret_.macro(key.macro).blocks[key.micro];
    dealt_[key].insert(sender);
    return std::nullopt;
}

// ---- the escrow ----------------------------------------------------------------------------------------------------

auto Contract::fault_of_ask(const allot::NodeId& sender, const EscrowAsk& ask) const -> Refusal {
    if (fault_of(plan().job(), seen_.size(), ask.as) || ask.as.owner != sender || ask.records.size() != seen_.size()) {
        return "record_invalid";
    }
    auto outcome = allot::JobOutcome::complete;
    for (std::uint32_t i = 0; i < seen_.size(); ++i) {
        const auto& record = ask.records[i];
        if (fault_of(plan().macro(i), record) || record.digest != ask.as.macros[i]) { return "record_invalid"; }
        if (const auto refusal = ring_.refusal_of(record.owner, record.digest, record.signature)) {
            return name_of(*refusal);
        }
        outcome = std::max(outcome, record.outcome);
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            const auto& accepted = record.accepted[k];
            const auto* result = this->result(accepted.digest);
            const auto key = allot::MicroKey{i, k};
            if (accepted.digest == allot::Hash256{}) {
                // Dead, it says; the queue has to say so, too.
                const auto& control = seen_[i].control;
                if (!control || !control->items[k].closed || control->accepted[k]) { return "record_invalid"; }
            } else if (result != nullptr &&
                       (result->key != key || result->node != accepted.node || result->wallet != accepted.wallet)) {
                return "record_invalid";
            }
        }
    }
    return outcome == ask.as.outcome ? std::nullopt : Refusal{"record_invalid"};
}

/// Returns the results of a record that differ from blocks which this contract, as the referee, computed again: the
/// samples, those on which two members disagree, and some of each result that nobody else verified. Nobody is outvoted.
auto Contract::wrong_in(const allot::MacroRecord& record, const std::vector<const allot::ResultRecord*>& results)
    -> std::set<std::uint32_t> {
    const auto secret = secret_.macro(record.macro);
    auto evidence = allot::Evidence{{}, record.disclosed};
    const auto recompute = [&](std::uint64_t block) { return evidence.recomputed.emplace(block, truth(block)).second; };
    for (const auto block : secret_.samples(record.macro, samples_)) { (void)recompute(block); }
    auto wrong = std::set<std::uint32_t>{};
    for (auto decided = false; !decided;) {
        decided = true;
        const auto verdict = allot::judge(plan().macro(record.macro), secret, results, evidence);
        for (const auto& rejection : verdict->rejected) { wrong.insert(rejection.key.micro); }
        for (const auto block : verdict->disputed) { decided = !recompute(block) && decided; }
        for (const auto micro : verdict->unverified) {
            const auto& blocks = secret.blocks[micro];
            for (std::size_t i = 0; i < std::min<std::size_t>(blocks.size(), samples_); ++i) {
                decided = !recompute(blocks[i]) && decided;
            }
        }
    }
    judged_.insert_or_assign(record.digest, Judged{record, evidence.recomputed});
    return wrong;
}

/// The contract's decision on the records of all MacroJobs: the results that are not to be paid; none if a result is
/// not at hand yet.
auto Contract::judged(const std::vector<allot::MacroRecord>& records) -> std::optional<std::vector<allot::Rejection>> {
    auto rejected = std::vector<allot::Rejection>{};
    for (const auto& record : records) {
        auto results = std::vector<const allot::ResultRecord*>{};
        for (const auto& accepted : record.accepted) { results.push_back(result(accepted.digest)); }
        if (std::find(results.begin(), results.end(), nullptr) != results.end()) { return std::nullopt; }
        const auto wrong = wrong_in(record, results);
        for (std::uint32_t k = 0; k < results.size(); ++k) {
            if (const auto known = rejected_.find(results[k]->digest); known != rejected_.end()) {
                rejected.push_back(known->second);
            } else if (wrong.contains(k) || !was_dealt(*results[k]) || culprits_.contains(results[k]->node.text())) {
                rejected.push_back(rejection_of(*results[k], allot::RejectReason::culprit));
                rejected.back().author = allot::NodeId{dapp_name};
                rejected.back().signature = key_.sign(digest_of(plan().job(), rejected.back()));
            } else {
                verified_.try_emplace({record.macro, k}, results[k]->digest);
            }
        }
    }
    std::erase_if(verified_, [&](const auto& first) {
        return std::any_of(rejected.begin(), rejected.end(), [&](const auto& r) { return r.digest == first.second; });
    });
    return rejected;
}

/// A result of a member that never had the blocks cannot be computed, whatever its hashes are.
auto Contract::was_dealt(const allot::ResultRecord& result) const -> bool {
    const auto to = dealt_.find(result.key);
    return to != dealt_.end() && to->second.contains(result.node);
}

auto Contract::settle(const allot::NodeId& sender, const EscrowAsk& ask, std::optional<allot::Settlement>& answer)
    -> Refusal {
    auto settlement = allot::Settlement{plan().job(), false, {}, {}};
    if (!settled_) {
        if (auto refusal = fault_of_ask(sender, ask)) { return refusal; }
        if (ask.as.outcome == allot::JobOutcome::complete) {
            const auto rejected = judged(ask.records);
            if (!rejected) { return std::nullopt; }
            for (const auto& rejection : *rejected) {
                rejected_.emplace(rejection.digest, rejection);
                culprits_.insert(rejection.node.text());
            }
            settlement.culprits = *rejected;
            if (rejected->empty()) { pay(ask.records); }
        } else {
            book_.refund = allot::Amount{deposit};
        }
        if (settlement.culprits.empty()) {
            settled_ = ask.as;
            settled_->signature = key_.sign(settled_->digest);
            proof_ = proven();
        }
    }
    settlement.settled = settled_.has_value();
    settlement.settled_as = settled_;
    answer = settlement;
    return std::nullopt;
}

/// Pays the first result of each MicroJob that was verified. Members may have turned to another queue since, in which
/// another member has done the same again.
void Contract::pay(std::vector<allot::MacroRecord> records) {
    for (const auto& [key, digest] : verified_) {
        const auto* first = result(digest);
        if (culprits_.contains(first->node.text())) { continue; }
        records[key.macro].accepted[key.micro] = {digest, first->node, first->wallet};
    }
    auto shares = std::vector<allot::EscrowShare>{};
    for (const auto& record : records) {
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            shares.push_back({record.accepted[k].wallet, 1});
            ++book_.payments[{record.macro, k}];
        }
    }
    const auto split = allot::split_escrow(allot::Amount{deposit}, shares, static_cast<std::uint32_t>(shares.size()));
    for (const auto& [wallet, amount] : split->paid) {
        book_.paid[wallet].units = book_.paid[wallet].units + amount.units;
    }
    book_.refund = split->refund;
    paid_for_ = std::move(records);
}

auto Contract::proven() const -> Proof {
    auto proof = Proof{posted_, {seed_.words.begin(), seed_.words.end()}, {}, {}, {}, *settled_};
    auto blocks = std::map<std::uint64_t, allot::RecomputedBlock>{};
    for (const auto& [digest, judged] : judged_) {
        auto results = std::vector<allot::ResultRecord>{};
        for (const auto& accepted : judged.record.accepted) { results.push_back(*result(accepted.digest)); }
        proof.judged.push_back({judged.record, std::move(results)});
        for (const auto& [number, output] : judged.recomputed) {
            auto block = recomputed(file_, number, block_count(plan().slicing()), allot::NodeId{dapp_name});
            block.signature = key_.sign(digest_of(plan().job(), block));
            blocks.emplace(number, std::move(block));
        }
    }
    for (auto& [number, block] : blocks) { proof.blocks.push_back(std::move(block)); }
    for (const auto& [digest, rejection] : rejected_) { proof.rejected.push_back(rejection); }
    return proof;
}

// ---- what it tells, and knows --------------------------------------------------------------------------------------

auto Contract::notices() const -> std::vector<allot::JobMessage> {
    auto all = std::vector<allot::JobMessage>{posted_};
    if (settled_) {
        all.push_back(m::JobEnded{*settled_});
        return all;
    }
    for (const auto& [digest, rejection] : rejected_) {
        all.push_back(m::MacroNews{plan().job(), rejection.key.macro, allot::NodeId{dapp_name}, 0, 0, {}, {rejection}});
    }
    return all;
}

auto Contract::progress() const -> std::pair<std::uint64_t, std::uint64_t> {
    const auto items = std::uint64_t{plan().slicing().items()};
    auto done = std::uint64_t{0};
    for (const auto& seen : seen_) {
        if (!seen.control) { continue; }
        for (const auto& accepted : seen.control->accepted) {
            done += accepted && !rejected_.contains(*accepted) ? 1U : 0U;
        }
    }
    return {done, items * seen_.size()};
}

auto Contract::holds(const std::string& name) const -> bool {
    for (const auto& seen : seen_) {
        if (!seen.control) { continue; }
        for (const auto& item : seen.control->items) {
            if (!item.closed && item.hold && item.hold->holder == allot::NodeId{name}) { return true; }
        }
    }
    return false;
}

}  // namespace jobs
