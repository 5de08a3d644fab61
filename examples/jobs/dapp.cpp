#include "dapp.hpp"

#include <algorithm>
#include <optional>

#include "refusals.hpp"

namespace jobs {
namespace {

auto sum_of(const std::vector<Refused>& all) -> std::uint64_t {
    auto sum = std::uint64_t{0};
    for (const auto& refused : all) { sum += refused.times; }
    return sum;
}

}  // namespace

Dapp::Dapp(std::vector<Contract>& contracts, const std::string& password, int port, const SigningKey& key,
           const Keyring& ring)
    : contracts_{contracts}, post_{dapp_name, password, port, key, ring} {
    for (const auto& channel : {deals_asked, store, escrow_asked, reported}) { post_.listen(channel + "+"); }
    post_.listen(net + "#");
}

void Dapp::poll(int wait_ms) {
    if (now() >= tell_at_) {  // again and again: for late members, and because the broker may be away
        tell_at_ = now() + 1s;
        for (const auto& contract : contracts_) {
            for (const auto& notice : contract.notices()) { post_.say(net + allot::jobs_channel(), encode(notice)); }
            if (const auto& proof = contract.proof()) { post_.say(proofs, encode(*proof)); }
        }
    }
    post_.poll(
        wait_ms,
        [&](const std::string& sender, const std::string& channel, const std::string& text) {
            hear(sender, channel, text);
        },
        [&](const std::string& why, const std::string& named) { refuse(why, "a letter in the name of " + named); });
}

void Dapp::hear(const std::string& sender, const std::string& channel, const std::string& text) {
    if (channel == deals_asked + sender) { return answer_deal(sender, text); }
    if (channel == escrow_asked + sender) { return answer_escrow(sender, text); }
    if (channel == reported + sender) { return hear_report(sender, text); }
    if (channel == store + sender) {
        const auto stored = decode_stored(text);
        auto* contract = stored ? this->contract(stored->job) : nullptr;
        const auto refusal =
            contract == nullptr ? std::optional<std::string>{"malformed"} : contract->keep(stored->record);
        if (refusal) { refuse(*refusal, "a result of " + sender); }
        return;
    }
    if (!channel.starts_with(net)) { return refuse(access_broken, "a letter of " + sender + " on " + channel); }
    const auto message = decode(text);
    if (!message) { return refuse("malformed", "something of " + sender); }
    const auto* job = allot::job_named(*message);
    auto* contract = job == nullptr ? nullptr : this->contract(*job);
    if (contract == nullptr) { return; }
    if (const auto refusal = contract->hear(allot::NodeId{sender}, *message)) {
        refuse(*refusal, "the " + kind_of(*message) + " of " + sender);
    }
}

void Dapp::answer_deal(const std::string& sender, const std::string& text) {
    auto deal = decode_deal(text);
    auto* contract = deal ? this->contract(deal->job) : nullptr;
    if (contract == nullptr) { return refuse("malformed", "a request of " + sender); }
    deal->blocks.clear();
    if (const auto refusal = contract->deal(allot::NodeId{sender}, deal->key, deal->blocks)) {
        refuse(*refusal, sender + " the blocks of a MicroJob");
    } else if (!deal->blocks.empty()) {
        post_.say(deals_given + sender, encode(*deal));
    }
}

void Dapp::answer_escrow(const std::string& sender, const std::string& text) {
    const auto ask = decode_ask(text);
    auto* contract = ask ? this->contract(ask->as.job) : nullptr;
    if (contract == nullptr) { return refuse("malformed", "a request of " + sender); }
    auto answer = std::optional<allot::Settlement>{};
    if (const auto refusal = contract->settle(allot::NodeId{sender}, *ask, answer)) {
        refuse(*refusal, sender + " the escrow");
    } else if (answer) {
        post_.say(escrow_said + sender, encode(*answer));
    }
}

void Dapp::hear_report(const std::string& sender, const std::string& text) {
    const auto report = decode_report(text);
    if (!report) { return; }
    auto& known = reports_[sender];
    if (!report->last.empty() && report->last != known.last) { show(report->last); }
    if (sum_of(report->refused) < sum_of(known.refused)) {  // it began anew, and so did its counts
        for (const auto& refused : known.refused) { earlier_[sender][refused.what] += refused.times; }
    }
    known = *report;
}

void Dapp::refuse(const std::string& what, const std::string& sentence) {
    ++refused_[what];
    show("the dapp refused " + sentence + ": " + what);
}

void Dapp::show(const std::string& sentence) {
    if (!last_.empty() && last_.back() == sentence) { return; }
    last_.push_back(sentence);
    if (last_.size() > 50) { last_.pop_front(); }
}

auto Dapp::contract(const allot::JobId& job) -> Contract* {
    const auto at = std::find_if(contracts_.begin(), contracts_.end(),
                                 [&](const auto& contract) { return contract.plan().job() == job; });
    return at == contracts_.end() ? nullptr : &*at;
}

auto Dapp::holds(const std::string& name) const -> bool {
    return std::any_of(contracts_.begin(), contracts_.end(),
                       [&](const auto& contract) { return contract.holds(name); });
}

auto Dapp::knows_all_ends(const std::string& name) const -> bool {
    const auto report = reports_.find(name);
    return report != reports_.end() && std::all_of(contracts_.begin(), contracts_.end(), [&](const auto& contract) {
               const auto& ends = report->second.ends;
               return contract.settled() &&
                      std::find(ends.begin(), ends.end(), contract.settled()->digest) != ends.end();
           });
}

auto Dapp::has_repeated_proofs(const std::string& name) const -> bool {
    const auto report = reports_.find(name);
    return report != reports_.end() && report->second.proven == contracts_.size();
}

auto Dapp::refused(const std::vector<std::string>& whose) const -> std::map<std::string, std::uint64_t> {
    auto all = refused_;
    for (const auto& name : whose) {
        const auto report = reports_.find(name);
        if (report == reports_.end()) { continue; }
        for (const auto& refused : report->second.refused) { all[refused.what] += refused.times; }
        if (const auto earlier = earlier_.find(name); earlier != earlier_.end()) {
            for (const auto& [what, times] : earlier->second) { all[what] += times; }
        }
    }
    return all;
}

}  // namespace jobs
