#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/job.hpp>

#include "fuzz/support/target.hpp"

// A liar that knows what a member knows, and signs as the members that it controls. It has a processor of its own,
// which takes part in the jobs. Of what that says, or might say, the liar changes one thing at a time and signs it
// anew. So its messages pass the outer checks, and what looks at that one thing has to find the lie, or to live with
// it.
namespace fuzz_job::knowing {

namespace message = allot::job_message;
using allot::JobEffects;
using allot::JobMessage;
using allot::JobProcessor;
using allot::TimePoint;

/// What a lie is about. The first ones are about the control that a snapshot has; it counts as taken if it is adopted.
enum class Lie : std::uint8_t {
    clock,
    progress,
    lease_made_up,
    lease_lengthened,
    lease_ended,
    lease_withheld,
    accepted,
    disclosure,
    line,
    reign,
    revision,
    commitments,
    results,
    rejections,
    records,
    final,
    request,
    committed,
    found,
    renewal,
    returned,
    contradiction,
    posted,
    news,
    done,
    ended,
    intent,
    vote_request,
    vote,
    settlement,
    count
};
constexpr auto lie_count = static_cast<std::size_t>(Lie::count);
constexpr std::array<const char*, lie_count> lie_names{
    "clock",       "progress",       "lease made up", "lease lengthened",
    "lease ended", "lease withheld", "accepted",      "disclosure",
    "line",        "reign",          "revision",      "commitments",
    "results",     "rejections",     "records",       "final",
    "request",     "committed",      "found",         "renewal",
    "returned",    "contradiction",  "posted",        "news",
    "done",        "ended",          "intent",        "vote request",
    "vote",        "settlement"};

struct Counts {
    std::array<std::uint64_t, lie_count> taken{};  ///< By a member to which it mattered.
    std::array<std::uint64_t, lie_count> refused{};
    std::uint64_t true_ones = 0;              ///< Messages without a lie that were taken.
    std::uint64_t jobs = 0;                   ///< Jobs that ended.
    std::array<std::uint64_t, 3> messages{};  ///< By arbiter: Intent, StoreCas, Quorum.

    void print() const {
        for (std::size_t i = 0; i < lie_count; ++i) {
            std::fprintf(stderr, "%s%s %.0f/%.0f", i == 0 ? "lies taken/refused: " : ", ", lie_names[i],
                         static_cast<double>(taken[i]), static_cast<double>(refused[i]));
        }
        std::fprintf(stderr, "; true messages taken: %.0f; jobs ended: %.0f\n", static_cast<double>(true_ones),
                     static_cast<double>(jobs));
    }
};

inline auto node_of(std::uint32_t i) -> allot::NodeId { return allot::NodeId{"NODE_" + std::to_string(i)}; }
inline auto wallet_of(std::uint32_t i) -> allot::WalletId { return allot::WalletId{"WALLET_" + std::to_string(i)}; }

/// A signature that needs no key, because nothing here signs as another.
inline auto signature_of(const allot::NodeId& author, const allot::Hash256& digest) -> allot::Signature {
    const auto hash = allot::RecordHasher{"signed"}.id(author).hash(digest).finish();
    return {hash.begin(), hash.end()};
}
inline constexpr auto proven = [](const allot::NodeId& author, const allot::Hash256& digest,
                                  const allot::Signature& signature) {
    return signature == signature_of(author, digest);
};

class World {
public:
    World(fuzz::Numbers in, Counts& counts) : in_{in}, kind_{in_.byte()}, counts_{counts} {
        for (std::uint32_t i = 0; i < members; ++i) {
            workers_.emplace_back(allot::JobNode{node_of(i), wallet_of(i), 1}, allot::JobParameters{}, arbiter(i),
                                  now_);
            heard(i, workers_[i].start(now_));
        }
        post();
    }

    void live() {
        for (auto steps = 0; in_.left() > 0 && steps < 3000; ++steps) {
            step();
            deliver();
            if (workers_[0].final_record(plan_.job()) != nullptr && workers_[1].final_record(plan_.job()) != nullptr) {
                ++counts_.jobs;
                post();
            }
        }
        for (auto i = 0; i < 20; ++i) { pass(allot::Duration{0}); }
    }

private:
    static constexpr std::uint32_t members = 3;
    static constexpr std::uint32_t liar = 2;  // signs for NODE_3, too

    [[nodiscard]] auto arbiter(std::uint32_t i) const -> allot::ClaimArbiter {
        switch (kind_ % 3) {
            case 0: return allot::Intent{};
            case 1: return allot::StoreCas{};
            default: return allot::Quorum{node_of(i), {node_of(0), node_of(1), node_of(2)}};
        }
    }
    /// A job of an honest poster or the liar's. The referee is one of the members that the liar controls.
    static auto plan_of(std::uint32_t poster, std::uint64_t number, std::uint64_t seed = 7) -> allot::JobPlan {
        const auto authorities = allot::JobAuthorities{node_of(poster), node_of(liar + 1)};
        return *allot::JobPlan::slice({allot::job_id_of(node_of(poster), number),
                                       allot::Entropy{seed},
                                       {2, 2, 1, 2, 1},
                                       "code",
                                       "data",
                                       authorities});
    }
    void post() {
        plan_ = plan_of(0, job_number_++);
        own_.reset();
        asked_.clear();
        heard(0, workers_[0].post(plan_, now_));
    }

    // ---- small numbers, mostly likely ones
    // -----------------------------------------------------------------------------

    auto chance(unsigned of_256) -> bool { return in_.byte() < of_256; }
    auto some(std::size_t n) -> std::uint32_t {
        return static_cast<std::uint32_t>(in_.byte() % std::max<std::size_t>(n, 1));
    }
    auto time(TimePoint near) -> TimePoint {
        switch (in_.byte() % 8U) {
            case 0: return allot::time_point_max;
            case 1: return TimePoint::min();
            case 2: return near - allot::Duration{1 + in_.byte()};
            default: return near + allot::Duration{1 + in_.byte()};
        }
    }
    /// Another number, most often the next one.
    auto number(std::uint64_t near) -> std::uint64_t {
        switch (in_.byte() % 8U) {
            case 0: return ~std::uint64_t{0};
            case 1: return std::uint64_t{1} << 48U;
            case 2: return near - 1;
            default: return near + 1 + some(3);
        }
    }
    auto noise() -> allot::Hash256 {
        const auto byte = in_.byte();
        return byte < 8 ? allot::Hash256{} : allot::RecordHasher{"made up"}.word(byte).word(++noises_).finish();
    }
    auto controlled() -> std::uint32_t { return liar + some(2); }
    auto macro() -> std::uint32_t { return chance(250) ? some(2) : 7; }
    auto micro() -> std::uint32_t { return chance(250) ? some(plan_.slicing().items()) : 4'000'000'000U; }

    /// The liar's replica of a queue; null if it has none.
    auto queue(std::uint32_t macro) const -> const allot::MicroQueueReplica* { return queue(liar, macro); }
    auto queue(std::uint32_t who, std::uint32_t macro) const -> const allot::MicroQueueReplica* {
        const auto* part = workers_[who].part(plan_.job());
        if (part == nullptr) { return nullptr; }
        const auto at = part->replicas().find(macro);
        return at == part->replicas().end() || !at->second.state().known() ? nullptr : &at->second;
    }
    auto owns(std::uint32_t who, std::uint32_t macro) const -> bool {
        const auto* replica = queue(who, macro);
        return replica != nullptr && replica->state().owns();
    }
    /// A lease that the liar was given; any other one if there is none.
    auto lease() -> std::pair<std::uint32_t, allot::LeaseGiven> {
        for (std::uint32_t m = some(2), i = 0; i < 2; ++i, m = 1 - m) {
            const auto* replica = queue(m);
            if (replica == nullptr) { continue; }
            auto own = replica->state().control().given;
            std::erase_if(own, [](const auto& l) { return l.holder != node_of(liar); });
            if (!own.empty()) { return {m, own[own.size() - 1 - (chance(64) ? some(own.size()) : 0)]}; }
        }
        return {macro(), {micro(), node_of(liar), {1, 2, 3}, false, {}}};
    }
    auto result(std::uint32_t macro, const allot::LeaseGiven& lease) -> allot::ResultRecord {
        const auto key = allot::MicroKey{macro, lease.micro};
        auto record =
            allot::ResultRecord{key, {}, node_of(liar), wallet_of(liar), hashes_of(key), "out", lease.token, {}, {}};
        if (plan_.contains(key)) { record.micro = plan_.id(key); }
        record.digest = digest_of(plan_.job(), record);
        return record;
    }
    static auto hashes_of(const allot::MicroKey& key) -> std::vector<allot::Hash256> {
        auto hasher = [&](std::uint64_t i) {
            return allot::RecordHasher{"block"}.word(key.macro).word(key.micro).word(i).finish();
        };
        return {hasher(0), hasher(1)};
    }
    auto rejection() -> allot::Rejection {
        auto [m, l] = lease();
        auto rejected = rejection_of(result(m, l), allot::RejectReason::tie_break);
        rejected.author = node_of(controlled());
        return rejected;
    }
    auto final_record() -> allot::FinalRecord {
        auto record =
            allot::FinalRecord{plan_.job(), 1, node_of(liar), allot::JobOutcome::complete, {noise(), noise()}, {}, {}};
        record.digest = digest_of(record);
        return record;
    }
    /// The record with which the liar would end a MacroJob, if it owned the queue and knew all results.
    auto macro_record(std::uint32_t macro) -> allot::MacroRecord {
        auto record = allot::MacroRecord{plan_.job(), macro, 1, node_of(liar), allot::JobOutcome::complete};
        for (auto i = plan_.slicing().items(); i > 0; --i) {
            record.accepted.push_back({noise(), node_of(liar), wallet_of(liar)});
        }
        record.digest = digest_of(record);
        return record;
    }

    // ---- lies, one field each
    // ------------------------------------------------------------------------------------------

    void change(allot::ResultRecord& r) {
        switch (in_.byte() % 8U) {
            case 0: r.key.micro = micro(); break;
            case 1: r.wallet = wallet_of(some(4)); break;
            case 2: r.output_uri = chance(128) ? "elsewhere" : std::string(5'000, 'x'); break;
            case 3: r.token.seq = number(r.token.seq); break;
            case 4: r.block_hashes.resize(some(4)); break;
            default:
                if (!r.block_hashes.empty()) { r.block_hashes.back() = chance(64) ? r.block_hashes.front() : noise(); }
        }
        r.signature.clear();
        r.digest = chance(250) ? digest_of(plan_.job(), r) : noise();
    }
    void change(allot::Commitment& c) {
        switch (in_.byte() % 4U) {
            case 0: c.key.micro = micro(); break;
            case 1: c.token.seq = number(c.token.seq); break;
            default: c.digest = noise(); break;
        }
        c.signature.clear();
    }
    void change(allot::Rejection& r) {
        switch (in_.byte() % 5U) {
            case 0: r.key.micro = micro(); break;
            case 1: r.node = node_of(some(4)); break;
            case 2: r.reason = allot::RejectReason::culprit; break;
            case 3: r.author = node_of(controlled()); break;
            default: r.digest = noise(); break;
        }
        r.signature.clear();
    }
    void change(allot::MacroRecord& r) {
        if (r.accepted.empty()) { return; }
        auto& accepted = r.accepted[some(r.accepted.size())];
        switch (in_.byte() % 8U) {
            case 0: r.epoch = number(r.epoch); break;
            case 1: r.outcome = allot::JobOutcome::failed; break;
            case 2: r.verifiers = {micro()}; break;
            case 3: r.disclosed = number(r.disclosed); break;
            case 4: r.unverified = {micro()}; break;
            case 5: accepted.node = node_of(some(4)); break;
            case 6: accepted.wallet = wallet_of(some(4)); break;
            default: accepted.digest = noise(); break;
        }
        r.signature.clear();
        r.digest = chance(250) ? digest_of(r) : noise();
    }
    void change(allot::FinalRecord& r) {
        switch (in_.byte() % 4U) {
            case 0: r.epoch = number(r.epoch); break;
            case 1: r.outcome = allot::JobOutcome::failed; break;
            case 2: r.macros.resize(some(4)); break;
            default: r.macros.push_back(noise()), r.macros.erase(r.macros.begin()); break;
        }
        r.signature.clear();
        r.digest = chance(250) ? digest_of(r) : noise();
    }
    /// A control that the liar signs. False if it has nothing about which to lie so.
    auto bend(allot::QueueControl& c, Lie lie) -> bool {
        auto& any = c.items[some(c.items.size())];
        const auto own =
            std::find_if(c.given.rbegin(), c.given.rend(), [](const auto& l) { return l.holder == node_of(liar); });
        switch (lie) {
            case Lie::clock: c.clock = time(c.clock); break;
            case Lie::progress: c.progress = time(c.progress); break;
            case Lie::lease_made_up: {
                const auto open =
                    std::find_if(c.items.begin(), c.items.end(), [](const auto& i) { return !i.closed && !i.hold; });
                if (open == c.items.end() || c.reign().owner != node_of(liar)) { return false; }
                auto& item = *open;
                const auto token = allot::FencingToken{c.reign().epoch, c.reign().rank(), ++c.tokens};
                const auto holder = node_of(chance(200) ? liar : some(4));
                const auto granted = chance(200) ? c.clock : time(c.clock);
                item.hold = allot::MicroLeases::Grant{holder, token, granted, granted + std::chrono::seconds{5}, 0};
                if (chance(200)) { ++item.attempts; }
                c.given.push_back({item.key, holder, token, false, {}});
                break;
            }
            case Lie::lease_lengthened:
                if (!any.hold) { return false; }
                chance(32) ? void(++any.hold->renewals) : void(any.hold->expires = time(any.hold->expires));
                break;
            case Lie::lease_ended:
                if (!any.hold) { return false; }
                any.hold.reset();
                if (chance(128)) { any.closed = true; }
                if (chance(64)) { --any.attempts; }
                break;
            case Lie::lease_withheld: {
                if (c.given.empty()) { return false; }
                auto& given = c.given[some(c.given.size())];
                given.withheld = !given.withheld;
                break;
            }
            case Lie::accepted: {
                auto& accepted = c.accepted[any.key];
                if (!any.closed && chance(200)) { return false; }
                accepted = accepted && chance(64) ? std::nullopt : std::optional{noise()};
                break;
            }
            case Lie::disclosure: c.disclosed = c.disclosed == 0 ? c.tokens : number(c.disclosed); break;
            case Lie::line: {
                auto request = allot::QueueRequest{node_of(some(4)), wallet_of(some(4)), 1, c.clock, {}};
                if (chance(64)) { request.heard = time(c.clock); }
                if (chance(128) && !c.requests.empty()) { c.requests.pop_back(); }
                c.requests.push_back(request);
                break;
            }
            case Lie::reign: {
                auto& last = c.chain.back();
                // Only before it gave leases, because these have the reign's rank in them.
                if (c.chain.size() > 1 && author_of(c.chain, c.chain.size() - 1) != node_of(liar)) { return false; }
                chance(128) ? void(++last.reign.boot) : void(last.reign.began = time(last.reign.began));
                last.signature.clear();
                break;
            }
            case Lie::renewal: {
                if (own == c.given.rend()) { return false; }
                own->progress = {1 + some(2), noise()};
                break;
            }
            default: c.revision = number(c.revision); break;
        }
        c.signature.clear();
        return true;
    }
    auto bend(message::QueueSnapshot& m, Lie lie) -> bool {
        const auto own = [](const auto& node) { return node == node_of(liar) || node == node_of(liar + 1); };
        const auto one = [&](auto& all, auto&& is_own, auto&& made) {
            if (std::none_of(all.begin(), all.end(), is_own) || chance(64)) { all.push_back(made()); }
            change(*std::find_if(all.rbegin(), all.rend(), is_own));
            return true;
        };
        switch (lie) {
            case Lie::commitments:
                return one(
                    m.commitments, [&](const auto& c) { return own(c.node); },
                    [&] {
                        const auto [at, l] = lease();
                        return commitment_of(result(at, l));
                    });
            case Lie::results:
                return one(
                    m.results, [&](const auto& r) { return own(r.node); },
                    [&] {
                        const auto [at, l] = lease();
                        return result(at, l);
                    });
            case Lie::rejections:
                return one(
                    m.rejected, [&](const auto& r) { return own(r.author); }, [&] { return rejection(); });
            case Lie::records:
                return one(
                    m.records, [&](const auto& r) { return own(r.owner); }, [&] { return macro_record(m.macro); });
            case Lie::final:
                if (!chance(64)) { return false; }
                m.final = final_record();
                change(*m.final);
                return true;
            default: return m.control && own(author_of(*m.control)) && lie < Lie::commitments && bend(*m.control, lie);
        }
    }
    /// Changes one thing of a message that the liar could send. Of snapshots the lie says which; others have one.
    auto bend(JobMessage& any, Lie lie) -> std::optional<Lie> {
        return std::visit(
            [&](auto& m) -> std::optional<Lie> {
                using M = std::remove_cvref_t<decltype(m)>;
                if constexpr (std::is_same_v<M, message::QueueSnapshot>) {
                    for (std::size_t i = 0; i <= static_cast<std::size_t>(Lie::final); ++i) {
                        if (bend(m, lie)) { return lie; }
                        lie = static_cast<Lie>((static_cast<std::size_t>(lie) + 1) %
                                               (std::size_t{1} + static_cast<std::size_t>(Lie::final)));
                    }
                    return std::nullopt;
                } else if constexpr (std::is_same_v<M, message::OwnershipRequest>) {
                    const auto as = controlled();
                    switch (some(4)) {
                        case 0: m.boot = number(m.boot); break;
                        case 1: m.wallet = chance(200) ? wallet_of(some(4)) : allot::WalletId::null(); break;
                        case 2: m.macro = macro(); break;
                        default: m.node = node_of(as); break;
                    }
                    m.signature.clear();
                    return Lie::request;
                } else if constexpr (std::is_same_v<M, message::ResultCommitted>) {
                    change(m.commitment);
                    return Lie::committed;
                } else if constexpr (std::is_same_v<M, message::ResultFound>) {
                    change(m.record);
                    return Lie::found;
                } else if constexpr (std::is_same_v<M, message::RenewalRequest>) {
                    switch (some(4)) {
                        case 0: m.key.micro = micro(); break;
                        case 1: m.token.seq = number(m.token.seq); break;
                        case 2: m.progress.blocks = static_cast<std::uint32_t>(number(m.progress.blocks)); break;
                        default: m.progress.commitment = noise(); break;
                    }
                    m.progress.signature.clear();
                    return Lie::renewal;
                } else if constexpr (std::is_same_v<M, message::LeaseReturned>) {
                    switch (some(4)) {
                        case 0: m.key.micro = micro(); break;
                        case 1: m.token.seq = number(m.token.seq); break;
                        case 2: m.node = node_of(controlled()); break;
                        default: break;  // that it leaves is the lie
                    }
                    return Lie::returned;
                } else if constexpr (std::is_same_v<M, message::ContradictionFound>) {
                    (void)bend(m.other, static_cast<Lie>(some(static_cast<std::uint32_t>(Lie::commitments))));
                    return Lie::contradiction;
                } else if constexpr (std::is_same_v<M, message::JobPosted>) {
                    m.plan = chance(64) ? plan_of(0, job_number_ - 1, 8) : plan_of(liar, 1 + some(8));
                    m.signature.clear();
                    return Lie::posted;
                } else if constexpr (std::is_same_v<M, message::MacroNews>) {
                    switch (some(5)) {
                        case 0: m.epoch = number(m.epoch); break;
                        case 1: m.open = some(200); break;
                        case 2: m.macro = macro(); break;
                        case 3: m.rejected.push_back(rejection()), change(m.rejected.back()); break;
                        default: m.records.push_back(macro_record(m.macro)), change(m.records.back()); break;
                    }
                    return Lie::news;
                } else if constexpr (std::is_same_v<M, message::MicroDone>) {
                    chance(128) ? void(m.key.micro = micro()) : void(m.digest = noise());
                    return Lie::done;
                } else if constexpr (std::is_same_v<M, message::JobEnded>) {
                    if (m.record.owner != node_of(liar)) { return std::nullopt; }
                    change(m.record);
                    return Lie::ended;
                } else if constexpr (std::is_same_v<M, message::ClaimIntent>) {
                    chance(64) ? void(m.claim = noise()) : void(m.bid.mark = number(m.bid.mark));
                    return Lie::intent;
                } else if constexpr (std::is_same_v<M, message::VoteRequest>) {
                    chance(64) ? void(m.claim = noise()) : void(m.bid.mark = number(m.bid.mark));
                    return Lie::vote_request;
                } else if constexpr (std::is_same_v<M, message::Vote>) {
                    chance(128) ? void(m.bid.node = node_of(some(4))) : void(m.voter = node_of(controlled()));
                    return Lie::vote;
                } else {
                    return std::nullopt;
                }
            },
            any);
    }
    /// A true message that the liar's processor might send now.
    auto possible() -> std::optional<JobMessage> {
        const auto& job = plan_.job();
        const auto [at, given] = lease();
        const auto key = allot::MicroKey{at, given.micro};
        const auto claim = [&] {
            return claims_.empty() ? allot::JobClaim{noise(), {node_of(liar), 1}} : claims_[some(claims_.size())];
        };
        switch (in_.byte() % 16U) {
            case 0: return message::OwnershipRequest{job, at, node_of(liar), wallet_of(liar), 1, {}};
            case 1: return message::ResultCommitted{job, commitment_of(result(at, given))};
            case 2: return message::ResultFound{job, result(at, given)};
            case 3:
            case 4:
                return message::RenewalRequest{
                    job, key, node_of(liar), given.token, {given.progress.blocks + 1, noise()}};
            case 5: return message::LeaseReturned{job, key, node_of(liar), given.token};
            case 6:
                if (!own_ || !chance(64)) { return std::nullopt; }
                return message::ContradictionFound{job, own_->macro, *own_->control, *own_->control};
            case 7: return message::JobPosted{plan_, {}};
            case 8: return message::MacroNews{job, at, node_of(liar), 1, 1, {}, {}};
            case 9: return message::MicroDone{job, key, node_of(liar), result(at, given).digest};
            case 10: return chance(16) ? std::optional<JobMessage>{message::JobEnded{final_record()}} : std::nullopt;
            case 11: return message::ClaimIntent{claim().claim, {node_of(liar), 1}};
            case 12: return message::VoteRequest{claim().claim, {node_of(liar), 1}};
            case 13: {
                const auto asked = claim();
                return message::Vote{asked.claim, asked.bid, node_of(liar)};
            }
            default: return message::QueueSnapshot{job, at, chance(128), {}, {}, {}, {}, {}, {}};
        }
    }
    void settle() {
        if (asked_.empty()) { return; }
        const auto [who, asked] = asked_.front();
        asked_.pop_front();
        auto answer = allot::Settlement{plan_.job(), true, {}, {}};
        answer.settled_as = asked;
        switch (some(6)) {
            case 0: answer.settled = false; break;
            case 1:
                answer.settled = false;
                answer.culprits.push_back(rejection());
                if (chance(128)) { change(answer.culprits.back()); }
                break;
            case 2: answer.settled_as.reset(); break;
            case 3: break;
            default: change(*answer.settled_as); break;
        }
        for (auto& culprit : answer.culprits) {
            culprit.signature = signature_of(culprit.author, digest_of(plan_.job(), culprit));
        }
        auto effects = workers_[who].on_settlement(answer, now_);
        ++(effects.error ? counts_.refused : counts_.taken)[static_cast<std::size_t>(Lie::settlement)];
        if (effects.error || !answer.settled) { asked_.emplace_back(who, asked); }
        heard(who, std::move(effects));
    }

    // ---- the run
    // -------------------------------------------------------------------------------------------------------

    void step() {
        const auto who = some(members);
        auto& worker = workers_[who];
        const auto work = worker.work();
        switch (in_.byte() % 16U) {
            case 0: return pass(allot::Duration{in_.byte() * 10});
            case 1: return work && chance(128) ? heard(who, worker.fail(*work, now_)) : void();
            case 2: return work ? heard(who, worker.renew(*work, 1 + some(2), noise(), now_)) : void();
            case 3: return chance(32) ? heard(who, worker.on_gone(node_of(some(4)), now_)) : void();
            case 4: return settle();
            case 5:
            case 6:
            case 7:  // the liar is slow, so that its leases live while others own the queue
                return work && (who != liar || chance(128))
                           ? heard(who, worker.complete(*work, hashes_of(work->key), "out", now_))
                           : void();
            case 8:
            case 9:
            case 10: {
                auto m = possible();
                if (m) { lie_to_some(*m); }
                return;
            }
            default: return pass(allot::Duration{0});
        }
    }
    void pass(allot::Duration time) {
        auto next = TimePoint::max();
        for (const auto& worker : workers_) { next = std::min(next, worker.next_deadline()); }
        fuzz::ensure(next >= now_, "a deadline does not lie in the past");
        now_ = time.count() > 0 ? now_ + time : std::min(next, now_ + std::chrono::hours{1});
        for (std::uint32_t i = 0; i < members; ++i) { heard(i, workers_[i].tick(now_)); }
    }
    /// Tells a lie to both honest members, or to one; the other hears the truth.
    void lie_to_some(const JobMessage& truth) {
        auto lied = truth;
        const auto lie = bend(lied, static_cast<Lie>(some(1 + static_cast<std::uint32_t>(Lie::final))));
        const auto to = some(4);  // to one of them, or to both
        for (std::uint32_t i = 0; i < 2; ++i) {
            lie && (to > 1 || to == i) ? tell(i, liar, lied, lie) : tell(i, liar, truth, std::nullopt);
        }
    }
    void deliver() {
        for (auto budget = 60; budget > 0 && !said_.empty(); --budget) {
            const auto [from, m] = std::move(said_.front());
            said_.pop_front();
            if (from == liar) {
                const auto* snapshot = std::get_if<message::QueueSnapshot>(&m);
                if (snapshot != nullptr && snapshot->control && author_of(*snapshot->control) == node_of(liar)) {
                    own_ = *snapshot;
                }
                if (chance(100)) {
                    lie_to_some(m);
                    continue;
                }
            }
            for (std::uint32_t to = 0; to < members; ++to) {
                if (to != from && !chance(8)) { tell(to, from, m, std::nullopt); }
            }
        }
    }
    void tell(std::uint32_t to, std::uint32_t from, JobMessage m, std::optional<Lie> lie) {
        if (from == liar) {
            for (const auto& self : {node_of(liar), node_of(liar + 1)}) {
                sign_own(m, self, [&](const allot::Hash256& digest) { return signature_of(self, digest); });
            }
        }
        ++counts_.messages[kind_ % 3];
        const auto matters = lie && is_deep(to, m);
        const auto* named = allot::sender_named(m);
        auto effects =
            workers_[to].on_message(from == liar && named != nullptr ? *named : node_of(from), m, now_, proven);
        if (lie && effects.error) { ++counts_.refused[static_cast<std::size_t>(*lie)]; }
        if (matters && !effects.error) { ++counts_.taken[static_cast<std::size_t>(*lie)]; }
        if (!lie && !effects.error) { ++counts_.true_ones; }
        // Whatever a member took from the liar, it can tell others: its own words keep the form, and have authors.
        using E = allot::JobError;
        const auto* said = std::get_if<message::QueueSnapshot>(&m);
        const auto known = {E::job_unknown, E::queue_missing, E::history_changed, E::message_time_wrong};
        fuzz::ensure(from == liar || said == nullptr || !effects.error ||
                         std::find(known.begin(), known.end(), *effects.error) != known.end(),
                     "an honest member's snapshot has the right form");
        fuzz::ensure(from == liar || (effects.error != E::author_unproven && effects.error != E::author_wrong),
                     "an honest member's words have their authors");
        heard(to, std::move(effects));
    }
    /// True if the member will look deeper into a message than at its form, unless it refuses it.
    auto is_deep(std::uint32_t to, const JobMessage& any) const -> bool {
        return std::visit(
            [&](const auto& m) {
                if constexpr (requires { m.control; }) {
                    const auto* replica = queue(to, m.macro);
                    return !m.control || replica == nullptr || m.control->newer_than(replica->state().control());
                } else if constexpr (requires { m.key, m.token; }) {
                    return owns(to, m.key.macro);
                } else if constexpr (requires { m.boot; }) {
                    return owns(to, m.macro);
                } else {
                    return true;
                }
            },
            any);
    }
    void heard(std::uint32_t who, JobEffects effects) {
        if (effects.error) { fuzz::ensure(allot::message(*effects.error) != "unknown error", "a refusal is named"); }
        sign_own(effects, node_of(who),
                 [&](const allot::Hash256& digest) { return signature_of(node_of(who), digest); });
        for (auto& send : effects.sends) { said_.emplace_back(who, std::move(send.message)); }
        for (const auto& event : effects.events) {
            const auto asks = [&](const auto& e) {
                if (who != liar && e.job == plan_.job()) { asked_.emplace_back(who, e.as); }
            };
            if (const auto* release = std::get_if<allot::job_event::EscrowReleaseRequested>(&event)) { asks(*release); }
            if (const auto* refund = std::get_if<allot::job_event::EscrowRefundRequested>(&event)) { asks(*refund); }
        }
        for (const auto& claim : effects.claims) {
            claims_.push_back(claim);
            if (claims_.size() > 32) { claims_.erase(claims_.begin()); }
            const auto at =
                std::find_if(store_.begin(), store_.end(), [&](const auto& c) { return c.claim == claim.claim; });
            const auto holder = at == store_.end() ? claim.bid : at->bid;
            if (at == store_.end()) { store_.push_back(claim); }
            heard(who, workers_[who].on_store(claim.claim, holder, now_));
        }
    }

    fuzz::Numbers in_;
    unsigned kind_;
    Counts& counts_;
    std::uint64_t job_number_ = 1;
    allot::JobPlan plan_ = plan_of(0, 1);
    TimePoint now_{};
    std::vector<JobProcessor> workers_;
    std::deque<std::pair<std::uint32_t, JobMessage>> said_;
    std::optional<message::QueueSnapshot> own_;  // the last one with a control that the liar signs
    std::deque<std::pair<std::uint32_t, allot::FinalRecord>> asked_;
    std::vector<allot::JobClaim> claims_;
    std::vector<allot::JobClaim> store_;
    std::uint64_t noises_ = 0;
};

}  // namespace fuzz_job::knowing
