#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/job.hpp>

#include "determinism/scenarios.hpp"

// Jobs in virtual time: processors that talk over a network which loses, doubles and delays, some of them lying or
// slow. What a processor answers to each input is hashed. Whether it is right is the matter of tests/job.
namespace determinism {

namespace {

using allot::Duration;
using allot::Hash256;
using allot::JobEffects;
using allot::JobProcessor;
using allot::TimePoint;

struct JobOptions {
    std::uint32_t nodes = 5;
    allot::Slicing slicing{2, 4, 1, 6, 1};
    bool fair = true;    ///< Else messages are lost, doubled and late, and work is given back.
    bool store = false;  ///< Claims are won in a store; else by saying so.
    bool liar = false;   ///< The last node.
};

/// Hashes what a job's processor says, field by field, by the names that the fields have.
class JobHash {
public:
    template <class T>
    void feed(const T& value) {
        if constexpr (requires { encoder_.put(value); }) {
            encoder_.put(value);
        } else {
            fields(value);
        }
    }
    template <class T>
    void feed(const std::optional<T>& value) {
        feed(value.has_value());
        if (value) { feed(*value); }
    }
    template <class T>
    void feed(const std::vector<T>& values) {
        feed(static_cast<std::uint64_t>(values.size()));
        for (const auto& value : values) { feed(value); }
    }
    template <class... Ts>
    void feed(const std::variant<Ts...>& value) {
        feed(static_cast<std::uint8_t>(value.index()));
        std::visit([this](const auto& alternative) { this->feed(alternative); }, value);
    }
    void feed(const JobEffects& e) {
        feed(e.error);
        feed(e.sends);
        feed(e.events);
        feed(e.writes);
        feed(e.claims);
        feed(e.joined);
        hash_.bytes(bytes_);
        bytes_.clear();
    }
    [[nodiscard]] auto finish() -> Hash256 { return hash_.finish(); }

private:
#define DETERMINISM_FIELD(name)                                                                                        \
    if constexpr (requires { value.name; }) { feed(value.name); }
    template <class T>
    void fields(const T& value){
        DETERMINISM_FIELD(digest) DETERMINISM_FIELD(macro) DETERMINISM_FIELD(micro) DETERMINISM_FIELD(key)
            DETERMINISM_FIELD(node) DETERMINISM_FIELD(wallet) DETERMINISM_FIELD(boot) DETERMINISM_FIELD(owner)
                DETERMINISM_FIELD(holder) DETERMINISM_FIELD(voter) DETERMINISM_FIELD(epoch) DETERMINISM_FIELD(rank)
                    DETERMINISM_FIELD(seq) DETERMINISM_FIELD(token) DETERMINISM_FIELD(tokens) DETERMINISM_FIELD(open)
                        DETERMINISM_FIELD(took) DETERMINISM_FIELD(late) DETERMINISM_FIELD(attempts)
                            DETERMINISM_FIELD(renewals) DETERMINISM_FIELD(closed) DETERMINISM_FIELD(expires)
                                DETERMINISM_FIELD(hold) DETERMINISM_FIELD(heard) DETERMINISM_FIELD(reign)
                                    DETERMINISM_FIELD(revision) DETERMINISM_FIELD(clock) DETERMINISM_FIELD(progress)
                                        DETERMINISM_FIELD(items) DETERMINISM_FIELD(accepted) DETERMINISM_FIELD(requests)
                                            DETERMINISM_FIELD(owners_before) DETERMINISM_FIELD(control)
                                                DETERMINISM_FIELD(results) DETERMINISM_FIELD(rejected)
                                                    DETERMINISM_FIELD(record) DETERMINISM_FIELD(records)
                                                        DETERMINISM_FIELD(final) DETERMINISM_FIELD(as)
                                                            DETERMINISM_FIELD(idempotency_key)
                                                                DETERMINISM_FIELD(culprits) DETERMINISM_FIELD(claim)
                                                                    DETERMINISM_FIELD(bid) DETERMINISM_FIELD(mark)
                                                                        DETERMINISM_FIELD(channel)
                                                                            DETERMINISM_FIELD(path)
                                                                                DETERMINISM_FIELD(message)}
#undef DETERMINISM_FIELD

    std::vector<std::uint8_t> bytes_{};
    allot::Encoder encoder_{bytes_};
    allot::Sha256 hash_{};
};

/// One job from its posting to its end, or until no input is left to give.
class JobNetwork {
public:
    JobNetwork(const JobOptions& options, std::uint64_t seed, JobHash& hash, Report& report)
        : options_{options}, words_{seed}, hash_{&hash}, report_{&report}, seed_{seed}, spec_{allot::JobId{seed},
                                                                                              allot::Entropy{seed},
                                                                                              options.slicing, "code",
                                                                                              "data"},
          plan_{*allot::JobPlan::slice(spec_)}, secret_{spec_, allot::Entropy{seed ^ 0xBEACU}} {
        for (std::uint32_t i = 0; i < options.nodes; ++i) { at(static_cast<std::int64_t>(below(3'000)), i, Boot{}); }
    }

    /// @param inputs how many the processors may still be given; counted down.
    void run(std::uint32_t& inputs) {
        while (inputs > 0 && !over() && !due_.empty()) {
            const auto now = due_.begin()->first;
            const auto happening = std::move(due_.begin()->second);
            due_.erase(due_.begin());
            now_ = now.first;
            --inputs;
            std::visit([&](const auto& what) { this->happen(happening.node, what); }, happening.what);
        }
    }

private:
    struct Boot {};
    struct Wake {
        std::uint64_t number;
    };
    struct Deliver {
        std::uint32_t from = 0;
        std::string channel;
        allot::JobMessage message;
    };
    struct Finish {
        allot::MicroKey key;
        allot::FencingToken token;
    };
    struct Stored {
        Hash256 claim;
        allot::ClaimBid bid;
    };
    struct Ask {
        allot::FinalRecord as;
        std::vector<allot::MacroRecord> records;
    };
    struct Happens {
        std::uint32_t node;
        std::variant<Boot, Wake, Deliver, Finish, Stored, Ask> what;
    };
    struct Node {
        std::optional<JobProcessor> processor{};
        std::set<std::string> channels{};
        std::uint64_t wake = 0;
    };

    [[nodiscard]] auto below(std::uint64_t n) -> std::uint64_t { return words_.below(n); }
    [[nodiscard]] static auto true_hash(std::uint64_t block) -> Hash256 {
        return allot::RecordHasher{"block"}.word(block).finish();
    }
    [[nodiscard]] auto unlucky(std::uint64_t percent) -> bool {
        return !options_.fair && now_ < 60'000 && below(100) < percent;
    }
    [[nodiscard]] auto time() const -> TimePoint { return TimePoint{Duration{now_}}; }
    template <class What>
    void at(std::int64_t time, std::uint32_t node, What what) {
        due_.emplace(std::pair{time, order_++}, Happens{node, std::move(what)});
    }
    [[nodiscard]] auto over() const -> bool {
        return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
            return node.processor && node.processor->final_record(plan_.job()) != nullptr;
        });
    }

    void happen(std::uint32_t i, const Boot&) {
        auto arbiter = options_.store ? allot::ClaimArbiter{allot::StoreCas{}} : allot::ClaimArbiter{allot::Intent{}};
        const auto name = std::to_string(i);
        nodes_[i].processor.emplace(allot::JobNode{allot::NodeId{"node-" + name}, allot::WalletId{"wallet-" + name}, 1},
                                    allot::JobParameters{}, std::move(arbiter), time());
        take(i, nodes_[i].processor->start(time()));
        if (i == 0) { take(i, nodes_[i].processor->post(plan_, time())); }
    }
    void happen(std::uint32_t i, const Wake& wake) {
        if (wake.number == nodes_[i].wake) { take(i, nodes_[i].processor->tick(time())); }
    }
    void happen(std::uint32_t i, const Deliver& letter) {
        if (nodes_[i].processor && nodes_[i].channels.contains(letter.channel)) {
            take(i, nodes_[i].processor->on_message(allot::NodeId{"node-" + std::to_string(letter.from)},
                                                    letter.message, time()));
        }
    }
    void happen(std::uint32_t i, const Finish& finish) {
        const auto work = nodes_[i].processor->work();
        if (!work || work->key != finish.key || work->token != finish.token) { return; }
        if (unlucky(10)) { return take(i, nodes_[i].processor->fail(*work, time())); }
        auto hashes = std::vector<Hash256>{};
        const auto secret = secret_.macro(finish.key.macro, rounds_[finish.key.macro]);
        for (const auto block : secret.blocks[finish.key.micro]) {
            const auto lies = options_.liar && i + 1 == options_.nodes;
            hashes.push_back(lies ? allot::RecordHasher{"lie"}.word(block).finish() : true_hash(block));
        }
        take(i, nodes_[i].processor->complete(*work, std::move(hashes), "output", time()));
    }
    void happen(std::uint32_t i, const Stored& stored) {
        const auto holder = cas_.try_emplace(stored.claim, stored.bid).first->second;
        take(i, nodes_[i].processor->on_store(stored.claim, holder, time()));
    }
    /// The contract pays once, when no result is wrong; it knows the secret.
    void happen(std::uint32_t i, const Ask& ask) {
        auto settlement = allot::Settlement{plan_.job(), false, std::nullopt, {}};
        if (!paid_) {
            for (const auto& record : ask.records) { judge(record, settlement.culprits); }
            if (settlement.culprits.empty()) { paid_ = ask.as; }
        }
        settlement.settled = paid_.has_value();
        settlement.settled_as = paid_;
        take(i, nodes_[i].processor->on_settlement(settlement, time()));
    }
    void judge(const allot::MacroRecord& record, std::vector<allot::Rejection>& culprits) {
        auto results = std::vector<const allot::ResultRecord*>{};
        for (const auto& accepted : record.accepted) {
            const auto found = store_.find(accepted.digest);
            if (found == store_.end()) {
                return;  // dead: nobody is paid for it
            }
            results.push_back(&found->second);
        }
        auto& round = rounds_[record.macro];
        const auto secret = secret_.macro(record.macro, round);
        auto evidence = allot::Evidence{{}, record.disclosed, unlucky(20), round < 2};
        for (auto turn = 0; turn < 3; ++turn) {  // the referee computes what is disputed, and then what is unverified
            const auto verdict = allot::judge(plan_.macro(record.macro), secret, results, evidence);
            if (!verdict) { return; }
            hash_->feed(verdict->rejected);
            hash_->feed(verdict->disputed);
            hash_->feed(verdict->unverified);
            hash_->feed(verdict->verifier_hash);
            hash_->feed(verdict->wallets);
            if (!verdict->rejected.empty()) {
                culprits.insert(culprits.end(), verdict->rejected.begin(), verdict->rejected.end());
                ++round;
                return;
            }
            for (const auto block : verdict->disputed) { evidence.recomputed[block] = true_hash(block); }
            for (const auto micro : verdict->unverified) {
                const auto block = secret.blocks[micro].front();
                evidence.recomputed[block] = true_hash(block);
            }
        }
    }

    void take(std::uint32_t i, JobEffects effects) {
        hash_->feed(effects);
        auto& node = nodes_[i];
        (*report_)[Happening::refused] += effects.error ? 1U : 0U;
        node.channels.insert(effects.joined.begin(), effects.joined.end());
        for (const auto& write : effects.writes) { store_.emplace(write.record.digest, write.record); }
        for (const auto& claim : effects.claims) {
            at(now_ + 1 + static_cast<std::int64_t>(below(50)), i, Stored{claim.claim, claim.bid});
        }
        for (const auto& event : effects.events) {
            std::visit([&](const auto& e) { this->note(i, e); }, event);
        }
        for (const auto& send : effects.sends) { publish(i, send); }
        const auto wake = node.processor->next_deadline().time_since_epoch().count();
        at(std::max(now_ + 1, wake), i, Wake{++node.wake});
    }
    void publish(std::uint32_t from, const allot::JobSend& send) {
        for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
            if (to == from || unlucky(10)) { continue; }
            for (auto copies = unlucky(10) ? 2 : 1; copies > 0; --copies) {
                const auto wait = 1 + below(unlucky(5) ? 20'000 : 50);
                at(now_ + static_cast<std::int64_t>(wait), to, Deliver{from, send.channel, send.message});
            }
        }
    }

    void note(std::uint32_t i, const allot::job_event::MicroLeased& e) {
        ++(*report_)[Happening::started];
        const auto takes = unlucky(10) ? 20'000 : 200 + below(4'000);
        at(now_ + static_cast<std::int64_t>(takes), i, Finish{e.key, e.token});
    }
    void note(std::uint32_t, const allot::job_event::MicroCompleted&) { ++(*report_)[Happening::done]; }
    void note(std::uint32_t, const allot::job_event::LeaseExpired&) { ++(*report_)[Happening::expired]; }
    void note(std::uint32_t, const allot::job_event::LeaseGivenBack&) { ++(*report_)[Happening::started_over]; }
    void note(std::uint32_t, const allot::job_event::ResultRejected&) { ++(*report_)[Happening::kicked_out]; }
    void note(std::uint32_t i, const allot::job_event::EscrowReleaseRequested& e) {
        at(now_ + 100, i, Ask{e.as, e.records});
    }
    void note(std::uint32_t i, const allot::job_event::EscrowRefundRequested& e) { at(now_ + 100, i, Ask{e.as, {}}); }
    template <class E>
    void note(std::uint32_t, const E&) {}

    JobOptions options_;
    Words words_;
    JobHash* hash_;
    Report* report_;
    std::uint64_t seed_;
    allot::JobSpec spec_;
    allot::JobPlan plan_;
    allot::SecretPlan secret_;
    std::vector<Node> nodes_ = std::vector<Node>(options_.nodes);
    std::map<std::pair<std::int64_t, std::uint64_t>, Happens> due_{};  // by time, then by order
    std::map<Hash256, allot::ResultRecord> store_{};
    std::map<Hash256, allot::ClaimBid> cas_{};
    std::map<std::uint32_t, std::uint32_t> rounds_{};
    std::optional<allot::FinalRecord> paid_{};
    std::uint64_t order_ = 0;
    std::int64_t now_ = 0;
};

/// Jobs one after another, until the processors have had so many inputs.
auto jobs(const JobOptions& options, std::uint64_t seed, std::uint32_t inputs) -> Report {
    auto report = Report{};
    auto hash = JobHash{};
    while (inputs > 0) { JobNetwork{options, seed++, hash, report}.run(inputs); }
    report.digest = hash.finish();
    return report;
}

}  // namespace

void add_jobs(Scenarios& all) {
    using enum Happening;
    const auto add = [&](const char* name, std::uint64_t seed, const JobOptions& options,
                         std::vector<Happening> never) {
        all.push_back({name, [=](std::uint32_t commands) { return jobs(options, seed, commands); }, std::move(never)});
    };
    // A result that is rejected counts as one kicked out; the rest is not of jobs.
    add("jobs", 501, {}, {refused, expired, started_over, kicked_out, rolled_back, left, wanted, evicted, excluded});
    add("jobs of unlucky nodes", 502, {.fair = false}, {kicked_out, rolled_back, left, wanted, evicted, excluded});
    add("jobs with a store", 503, {.fair = false, .store = true},
        {kicked_out, rolled_back, left, wanted, evicted, excluded});
    add("jobs with a liar", 504, {.nodes = 8, .liar = true},
        {refused, expired, started_over, rolled_back, left, wanted, evicted, excluded});
}

}  // namespace determinism
