#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <allot/job/job_processor.hpp>
#include <allot/job/secret_plan.hpp>
#include <allot/job/verifier.hpp>

// A network of job processors in virtual time, with everything that can go wrong in one. A run is a function of its
// options and its seed; what breaks a promise throws `Broken`, with the seed that repeats it.

namespace job_test {

using allot::Duration;
using allot::Hash256;
using allot::JobEffects;
using allot::JobProcessor;
using allot::TimePoint;

struct Broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What can go wrong; how often it did is counted by these names.
enum class Fault : std::uint8_t {
    drop,
    duplicate,
    reorder,
    delay,
    partition,
    crash,
    restart_with_old_state,
    clock_offset,
    rate_skew,
    cheat,
    slow,
    give_back,
    told_of_crash,
    count
};
constexpr auto fault_names =
    std::array{"drop",         "duplicate", "reorder", "delay", "partition", "crash",          "restart with old state",
               "clock offset", "rate skew", "cheat",   "slow",  "give back", "told of a crash"};
using FaultCounts = std::array<std::uint64_t, static_cast<std::size_t>(Fault::count)>;

enum class Arbiter : std::uint8_t { intent, store, quorum };

struct Options {
    std::uint32_t nodes = 5;
    std::uint32_t cheaters = 0;  ///< The last ones.
    allot::Slicing slicing{};
    Arbiter arbiter = Arbiter::intent;
    std::uint32_t drop_percent = 0;
    std::uint32_t duplicate_percent = 0;
    std::uint32_t delay_max = 50;    ///< ms; messages overtake each other.
    std::uint32_t late_percent = 0;  ///< So many are late by up to 20 s.
    bool partition = false;
    bool referee_away = false;   ///< Votes decide, and name nobody.
    bool commit_results = true;  ///< Results are committed before they are disclosed.
    std::uint32_t crashes = 0;
    std::uint32_t crash_until = 12'000;   ///< ms after the first three seconds.
    bool told_of_crashes = false;         ///< The transport says so to everybody, at once.
    bool restarts = false;                ///< Who crashed comes back, with what it knew some time before.
    bool clocks = false;                  ///< Clocks stand anywhere and run up to 5 % fast or slow.
    std::uint32_t work_min = 200;         ///< ms a MicroJob takes at least,
    std::uint32_t work_max = 4'000;       ///< and at most so much more.
    bool boots_together = false;          ///< Else within three seconds.
    std::uint32_t slow_percent = 0;       ///< So many take beyond their lease, without renewing.
    std::uint32_t fail_percent = 0;       ///< So many are given back undone.
    std::int64_t faults_until = 120'000;  ///< Then the network is fair.
    std::int64_t give_up_at = 7'200'000;
    bool keep_events = false;  ///< For `events()`.
    bool trace = false;        ///< Says what happens, to whoever looks for a fault.
};

/// How often a promise was looked at, by its number in the specification of the queue that travels.
enum class Promise : std::uint8_t {
    p1_merge,
    p2_one_holder,
    p3_growing,
    p4_full_length,
    p5_awake,
    p6_one_end,
    p7_coverage,
    p10_few_replies,
    count
};
using PromiseCounts = std::array<std::uint64_t, static_cast<std::size_t>(Promise::count)>;

/// What came of a run.
struct Outcome {
    FaultCounts faults{};
    PromiseCounts looked{};
    [[nodiscard]] auto looks(Promise promise) const -> std::uint64_t {
        return looked[static_cast<std::size_t>(promise)];
    }
    allot::JobOutcome outcome = allot::JobOutcome::complete;
    std::uint64_t executions = 0;
    std::uint64_t requests_to_pay = 0;  ///< Over all nodes.
    std::uint64_t takeovers = 0;
    std::uint64_t dead_letters = 0;  ///< Over all nodes.
    std::uint64_t named_honest = 0;
    std::uint64_t named_cheaters = 0;
    std::uint64_t accepted_lies = 0;
    std::uint64_t unverified = 0;  ///< Parts that are not paid, because nobody verified them.
    std::map<allot::NodeId, std::uint64_t> done_by{};
    std::int64_t ended_at = 0;
    std::uint64_t messages = 0;
};

inline auto node_id(std::uint32_t i) -> allot::NodeId { return allot::NodeId{"node-" + std::to_string(i)}; }
inline auto wallet_id(std::uint32_t i) -> allot::WalletId { return allot::WalletId{"wallet-" + std::to_string(i)}; }

/// The member that settles the jobs.
inline const auto contract = allot::NodeId{"the contract"};

/// A member's signature in the simulation: a hash that nobody else makes here.
inline auto signature_of(const allot::NodeId& author, const Hash256& digest) -> allot::Signature {
    const auto hash = allot::RecordHasher{"signed"}.id(author).hash(digest).finish();
    return {hash.begin(), hash.begin() + 8};
}
constexpr auto proven = [](const allot::NodeId& author, const Hash256& digest, const allot::Signature& signature) {
    return signature == signature_of(author, digest);
};

/// The true hash of a data block.
inline auto block_hash(std::uint64_t block) -> Hash256 { return allot::RecordHasher{"block"}.word(block).finish(); }

class Simulation {
public:
    Simulation(const Options& options, std::uint64_t seed)
        : options_{options}, seed_{seed}, random_{seed}, spec_{allot::job_id_of(node_id(0), seed),
                                                               allot::Entropy{seed},
                                                               options.slicing,
                                                               "code",
                                                               "data",
                                                               {node_id(0), allot::NodeId::null(), contract}},
          plan_{*allot::JobPlan::slice(spec_)}, secret_{spec_, allot::Entropy{seed ^ 0xBEACU}} {
        for (std::uint32_t i = 0; i < options_.nodes; ++i) {
            auto node = Node{};
            if (options_.clocks) {
                node.offset = static_cast<std::int64_t>(below(1'000'000'000));
                node.skew = static_cast<std::int64_t>(below(101)) - 50;
                count(Fault::clock_offset);
                count(Fault::rate_skew, node.skew != 0 ? 1 : 0);
            }
            nodes_.push_back(std::move(node));
        }
        for (std::uint32_t i = 0; i < options_.nodes; ++i) {
            at(options_.boots_together ? 0 : below(3'000), Kind::boot, i);
        }
        for (std::uint32_t i = 0; i < options_.crashes; ++i) {
            at(3'000 + below(options_.crash_until), Kind::crash, i % options_.nodes);
        }
        if (options_.partition) {
            cut_from_ = 3'000 + below(20'000);
            cut_until_ = cut_from_ + 10'000 + below(60'000);
        }
    }

    auto run() -> Outcome {
        while (!over()) {
            if (events_.empty() || events_.top().time > options_.give_up_at) {
                broken("the job never ends" + describe());
            }
            const auto event = events_.top();
            events_.pop();
            now_ = event.time;
            handle(event);
        }
        check_end();
        return out_;
    }

    /// What happened, on all nodes, with its time in ms.
    [[nodiscard]] auto events() const -> const std::vector<std::pair<std::int64_t, allot::JobEvent>>& {
        return events_seen_;
    }

private:
    enum class Kind : std::uint8_t { boot, wake, deliver, done, crash, paid, stored, renew };
    struct Event {
        std::int64_t time = 0;
        std::uint64_t order = 0;
        Kind kind = Kind::wake;
        std::uint32_t node = 0;
        std::uint64_t life = 0;  // of the node, or which message
        std::uint64_t what = 0;

        friend auto operator<(const Event& a, const Event& b) -> bool {
            return a.time != b.time ? a.time > b.time : a.order > b.order;
        }
    };
    struct Node {
        std::optional<JobProcessor> processor{};
        std::set<std::string> channels{};
        std::int64_t offset = 0;
        std::int64_t skew = 0;  // per mille
        std::uint64_t life = 0;
        std::uint64_t wake = 0;                      // the number of its valid wake-up
        std::optional<allot::ClaimArbiter> voter{};  // what a voter must never forget
        std::vector<allot::job_message::QueueSnapshot> disk{};
        std::optional<allot::job_message::JobPosted> posted{};
        std::uint64_t asked_to_pay = 0;
        std::uint64_t refused_payments = 0;
    };
    struct Letter {
        std::uint32_t from = 0;
        std::string channel;
        allot::JobMessage message;
    };
    struct Execution {
        std::uint32_t node = 0;
        std::uint64_t life = 0;
        allot::MicroKey key{};
        allot::FencingToken token{};
        std::int64_t began = 0;
        std::int64_t takes = 0;
    };

    [[noreturn]] void broken(const std::string& what) const {
        throw Broken{fmt::format("{} (seed {}, at {} ms)", what, seed_, now_)};
    }
    auto below(std::uint64_t n) -> std::int64_t { return n == 0 ? 0 : static_cast<std::int64_t>(random_() % n); }
    auto percent(std::uint32_t p) -> bool { return below(100) < static_cast<std::int64_t>(p); }
    void count(Fault fault, std::uint64_t n = 1) { out_.faults[static_cast<std::size_t>(fault)] += n; }
    void look(Promise promise) { ++out_.looked[static_cast<std::size_t>(promise)]; }
    void at(std::int64_t time, Kind kind, std::uint32_t node, std::uint64_t life = 0, std::uint64_t what = 0) {
        events_.push({time, order_++, kind, node, life, what});
    }
    [[nodiscard]] auto faulty() const -> bool { return now_ < options_.faults_until; }

    [[nodiscard]] static auto replicas_of(const Node& node) -> const allot::JobParticipation::Replicas& {
        static const auto none = allot::JobParticipation::Replicas{};
        return node.processor->current() == nullptr ? none : node.processor->current()->replicas();
    }

    [[nodiscard]] auto local(const Node& node) const -> TimePoint {
        return TimePoint{Duration{node.offset + now_ + now_ * node.skew / 1'000}};
    }
    [[nodiscard]] auto real(const Node& node, TimePoint time) const -> std::int64_t {
        const auto elapsed = time.time_since_epoch().count() - node.offset;
        return std::max(now_, elapsed * 1'000 / (1'000 + node.skew) + 1);
    }
    [[nodiscard]] auto over() const -> bool {
        return std::all_of(nodes_.begin(), nodes_.end(),
                           [&](const auto& node) {
                               return !node.processor || !node.processor->knows(plan_.job()) ||
                                      node.processor->final_record(plan_.job()) != nullptr;
                           }) &&
               std::any_of(nodes_.begin(), nodes_.end(),
                           [&](const auto& node) {
                               return node.processor && node.processor->final_record(plan_.job()) != nullptr;
                           }) &&
               booted_ == options_.nodes && coming_back_ == 0 && alive() > 0;
    }
    [[nodiscard]] auto alive() const -> std::int64_t {
        return std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.processor.has_value(); });
    }

    /// What each node believes, for whoever has to find out what went wrong.
    [[nodiscard]] auto describe() const -> std::string {
        auto text = std::string{};
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            const auto& node = nodes_[i];
            if (!node.processor) {
                text += fmt::format("\n  node {} is down", i);
                continue;
            }
            text += fmt::format("\n  node {} life {} phase {} final {}", i, node.life,
                                static_cast<int>(node.processor->phase()),
                                node.processor->final_record(plan_.job()) != nullptr);
            for (const auto& [m, replica] : replicas_of(node)) {
                text += fmt::format("\n    macro {}: record {} results {} works {}", m, replica.record() != nullptr,
                                    replica.state().results().results().size(), replica.work().has_value());
                if (!replica.state().known()) { continue; }
                const auto control = replica.state().control();
                text += fmt::format(" epoch {} rev {} owner {} boot {} clock {}", control.reign().epoch,
                                    control.revision, control.reign().owner.text(), control.reign().boot,
                                    control.clock.time_since_epoch().count());
                for (const auto& item : control.items) {
                    text +=
                        fmt::format("\n      {} attempts {} {} {} accepted {}", item.key, item.attempts,
                                    item.closed ? "closed" : "", item.hold ? "held by " + item.hold->holder.text() : "",
                                    control.accepted[item.key].has_value());
                }
            }
        }
        return text;
    }

    static constexpr auto details = [](const auto& event) {
        auto text = std::string{};
        if constexpr (requires { event.key.micro; }) {
            text += fmt::format(" micro {}/{}", event.key.macro, event.key.micro);
        }
        if constexpr (requires { event.epoch; }) { text += fmt::format(" epoch {}", event.epoch); }
        if constexpr (requires { event.owner.text(); }) { text += " owner " + event.owner.text(); }
        if constexpr (requires { event.holder.text(); }) { text += " holder " + event.holder.text(); }
        return text;
    };

    // ---- what happens ---------------------------------------------------------------------------------------------

    void handle(const Event& event) {
        auto& node = nodes_[event.node];
        switch (event.kind) {
            case Kind::boot: return boot(event.node, event.what);
            case Kind::crash: return crash(event.node);
            case Kind::wake:
                if (node.processor && event.what == node.wake) {
                    act(event.node, [&](auto& processor) { return processor.tick(local(node)); });
                }
                return;
            case Kind::deliver: return deliver(event);
            case Kind::done:
                if (node.processor && event.life == node.life) { finish_work(event.node, event.what); }
                return;
            case Kind::renew: return renew(event);
            case Kind::paid: return pay(event);
            case Kind::stored: return answer_claim(event);
        }
    }

    [[nodiscard]] auto arbiter(std::uint32_t i) const -> allot::ClaimArbiter {
        if (options_.arbiter == Arbiter::intent) { return allot::Intent{}; }
        if (options_.arbiter == Arbiter::store) { return allot::StoreCas{}; }
        auto voters = std::vector<allot::NodeId>{};
        for (std::uint32_t v = 0; v < options_.nodes; ++v) { voters.push_back(node_id(v)); }
        return allot::Quorum{node_id(i), voters};
    }

    [[nodiscard]] auto parameters() const -> allot::JobParameters {
        auto p = allot::JobParameters{};
        p.queue.commit_results = options_.commit_results;
        return p;
    }

    void boot(std::uint32_t i, std::uint64_t again) {
        auto& node = nodes_[i];
        ++node.life;
        node.asked_to_pay = node.refused_payments = 0;
        node.channels.clear();
        node.processor.emplace(allot::JobNode{node_id(i), wallet_id(i), node.life}, parameters(),
                               node.voter ? *node.voter : arbiter(i), local(node));
        input(i, node.processor->start(local(node)));
        if (again == 0) {
            ++booted_;
        } else {
            --coming_back_;
            auto old = node.disk;
            if (!old.empty()) {
                count(Fault::restart_with_old_state);
                input(i, node.processor->resume(*node.posted, old, local(node)));
            }
        }
        // The poster says it more than once: to whoever is there by then.
        if (i == 0) { input(i, node.processor->post(plan_, local(node)), again != 0); }
    }

    void crash(std::uint32_t i) {
        auto& node = nodes_[i];
        const auto knows_of_job = [](const auto& other) {
            return other.processor && other.processor->current() != nullptr;
        };
        if (!node.processor || alive() < 2 || std::count_if(nodes_.begin(), nodes_.end(), knows_of_job) < 2) { return; }
        // Who might never come back must not take all results of a vote with them: a majority stays.
        if (options_.arbiter == Arbiter::quorum && !options_.restarts && alive() * 2 <= options_.nodes + 2) { return; }
        count(Fault::crash);
        if (std::holds_alternative<allot::Quorum>(arbiter(i))) { node.voter = node.processor->arbiter(); }
        node.processor.reset();
        ++node.life;
        for (std::uint32_t other = 0; options_.told_of_crashes && other < nodes_.size(); ++other) {
            if (!nodes_[other].processor) { continue; }
            count(Fault::told_of_crash);
            act(
                other, [&](auto& p) { return p.on_gone(node_id(i), local(nodes_[other])); }, false, true);
        }
        if (options_.restarts) {
            ++coming_back_;
            at(now_ + 1'000 + below(30'000), Kind::boot, i, 0, 1);
        }
    }

    [[nodiscard]] auto cut(std::uint32_t a, std::uint32_t b) const -> bool {
        return now_ >= cut_from_ && now_ < cut_until_ && a % 2 != b % 2;
    }

    void send(std::uint32_t from, const allot::JobSend& send) {
        letters_.push_back({from, send.channel, send.message});
        sign_own(letters_.back().message, node_id(from),
                 [&](const Hash256& digest) { return signature_of(node_id(from), digest); });
        if (const auto* snapshot = std::get_if<allot::job_message::QueueSnapshot>(&letters_.back().message);
            snapshot != nullptr && snapshot->macro == 0 && said_.size() < 60) {
            said_.push_back(*snapshot);
        }
        // Heartbeats and retries, and the handing over of each MicroJob: nothing that grows by itself.
        const auto fair = 200 + 40 * (now_ / 1'000 + 1) * std::int64_t{plan_.slicing().macro_count};
        if (static_cast<std::int64_t>(letters_.size()) > fair * std::int64_t{options_.nodes}) {
            broken("messages beget messages");
        }
        for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
            if (to == from) { continue; }
            ++out_.messages;
            if (cut(from, to)) {
                count(Fault::partition);
                continue;
            }
            if (faulty() && percent(options_.drop_percent)) {
                count(Fault::drop);
                continue;
            }
            const auto copies = faulty() && percent(options_.duplicate_percent) ? 2 : 1;
            count(Fault::duplicate, static_cast<std::uint64_t>(copies - 1));
            for (auto i = 0; i < copies; ++i) {
                auto wait = 1 + below(options_.delay_max);
                if (faulty() && percent(options_.late_percent)) {
                    wait += below(20'000);
                    count(Fault::delay);
                }
                auto& last = latest_[{from, to}];
                count(Fault::reorder, now_ + wait < last ? 1 : 0);
                last = std::max(last, now_ + wait);
                at(now_ + wait, Kind::deliver, to, letters_.size() - 1);
            }
        }
    }

    void deliver(const Event& event) {
        auto& node = nodes_[event.node];
        const auto& letter = letters_[event.life];
        if (!node.processor || !node.channels.contains(letter.channel)) { return; }
        const auto* snapshot = std::get_if<allot::job_message::QueueSnapshot>(&letter.message);
        const auto hear = [&](auto& processor) {
            return processor.on_message(node_id(letter.from), letter.message, local(node), proven);
        };
        const auto returned = std::holds_alternative<allot::job_message::LeaseReturned>(letter.message);
        auto effects =
            checked(event.node, hear, snapshot != nullptr && snapshot->control ? snapshot : nullptr, returned);
        if (effects.sends.size() > 8U + 3U * plan_.slicing().macro_count) {
            broken(fmt::format("one message brings {} answers", effects.sends.size()));
        }
        if (below(16) == 0) {  // the same again, at once
            auto echo = checked(event.node, hear);
            look(Promise::p10_few_replies);
            if (echo.sends.size() > 2U) {
                broken(fmt::format("a message said twice brings {} answers", echo.sends.size()));
            }
            effects.append(JobEffects{echo});
            // Who hears it over and over falls silent, but for votes, and for a lease that is longer each time.
            for (auto times = 0; !echo.sends.empty() && !std::visit(is_owed, letter.message); ++times) {
                if (times == 8) { broken("a message is answered however often it is heard"); }
                echo = checked(event.node, hear);
                effects.append(JobEffects{echo});
            }
        }
        if (effects.error) {
            using E = allot::JobError;
            constexpr auto harmless =
                std::array{E::queue_missing,     E::result_duplicate, E::result_late,     E::lease_stale,
                           E::lease_missing,     E::item_ended,       E::job_unknown,     E::result_rejected,
                           E::result_twice,      E::result_unleased,  E::history_changed, E::renewal_without_progress,
                           E::message_time_wrong};
            // A lease that went down with its owner, or that a fork did not have, counts nothing.
            if (std::find(harmless.begin(), harmless.end(), *effects.error) == harmless.end()) {
                broken(fmt::format("an honest message is refused: {}", message(*effects.error)));
            }
            return;
        }
        input(event.node, std::move(effects));
    }

    static constexpr auto is_owed = []<class M>(const M&) {
        return requires(const M& m) { m.claim; }
        || std::is_same_v<M, allot::job_message::RenewalRequest>;
    };

    /// An input to a node, with all that has to hold around it.
    template <class F>
    void act(std::uint32_t i, F&& f, bool may_fail = false, bool returns = false) {
        input(i, checked(i, f, nullptr, returns), may_fail);
    }
    template <class F>
    auto checked(std::uint32_t i, F&& f, const allot::job_message::QueueSnapshot* heard = nullptr,
                 bool returned = false) -> JobEffects {
        const auto before = controls(nodes_[i]);
        auto effects = f(*nodes_[i].processor);
        check_leases(i, before, effects.error ? nullptr : heard, returned);
        return effects;
    }

    void input(std::uint32_t i, JobEffects effects, bool may_fail = false) {
        auto& node = nodes_[i];
        if (effects.error) {
            if (!may_fail) { broken(fmt::format("an input is refused: {}", message(*effects.error))); }
            return;
        }
        for (auto& channel : effects.joined) { node.channels.insert(std::move(channel)); }
        for (auto& write : effects.writes) { store_.emplace(write.record.digest, write.record); }
        for (const auto& claim : effects.claims) {
            claims_.push_back({claim.claim, claim.bid});
            at(now_ + 1 + below(options_.delay_max), Kind::stored, i, node.life, claims_.size() - 1);
        }
        for (const auto& event : effects.events) { note(i, event); }
        for (const auto& letter : effects.sends) { send(i, letter); }
        if (below(8) == 0) { save(node); }
        const auto deadline = node.processor->next_deadline();
        look(Promise::p5_awake);
        if (deadline - local(node) > std::chrono::minutes{11}) { broken("a node sleeps while work remains"); }
        at(real(node, deadline), Kind::wake, i, 0, ++node.wake);
    }
    void save(Node& node) const {
        if (replicas_of(node).empty()) { return; }
        node.posted = *node.processor->posted(plan_.job());
        node.disk.clear();
        for (const auto& [m, replica] : replicas_of(node)) { node.disk.push_back(replica.saved()); }
    }

    void note(std::uint32_t i, const allot::JobEvent& event) {
        if (options_.keep_events) { events_seen_.emplace_back(now_, event); }
        if (options_.trace) {
            fmt::print(stderr, "{:>8} node {} event {}{}\n", now_, i, event.index(), std::visit(details, event));
        }
        if (const auto* leased = std::get_if<allot::job_event::MicroLeased>(&event)) {
            check_barred(i);
            ++out_.executions;
            ++out_.done_by[node_id(i)];
            work_.push_back({i, nodes_[i].life, leased->key, leased->token, now_});
            auto takes = options_.work_min + below(options_.work_max);
            if (faulty() && percent(options_.slow_percent)) {
                count(Fault::slow);
                takes += 20'000;
            } else if (takes > 7'000) {
                at(real(nodes_[i], nodes_[i].processor->work()->renew_at), Kind::renew, i, nodes_[i].life,
                   work_.size() - 1);
            }
            work_.back().takes = takes;
            at(now_ + takes, Kind::done, i, nodes_[i].life, work_.size() - 1);
        } else if (const auto* ask = std::get_if<allot::job_event::EscrowReleaseRequested>(&event)) {
            this->ask(i, *ask, allot::JobOutcome::complete);
        } else if (const auto* refund = std::get_if<allot::job_event::EscrowRefundRequested>(&event)) {
            this->ask(i, {refund->job, refund->idempotency_key, refund->records, refund->as},
                      allot::JobOutcome::failed);
        } else if (std::holds_alternative<allot::job_event::OwnershipTaken>(event)) {
            ++out_.takeovers;
        } else if (std::holds_alternative<allot::job_event::MicroDead>(event)) {
            ++out_.dead_letters;
        }
    }

    void ask(std::uint32_t i, const allot::job_event::EscrowReleaseRequested& request, allot::JobOutcome outcome) {
        auto& node = nodes_[i];
        ++out_.requests_to_pay;
        if (++node.asked_to_pay > 1 + node.refused_payments) { broken("a node asks twice for one payment"); }
        if (request.idempotency_key != allot::escrow_key(plan_.job())) { broken("the escrow's key is not the job's"); }
        if (request.as.outcome != outcome) { broken("a failed job is to be paid"); }
        asks_.push_back(request);
        at(now_ + 100 + below(2'000), Kind::paid, i, node.life, asks_.size() - 1);
    }

    [[nodiscard]] auto cheats(std::uint32_t i) const -> bool { return i + options_.cheaters >= options_.nodes; }

    /// Whether the node still does that. If not, nothing can be done with it, whatever the node does instead; queues of
    /// two MacroJobs may give the same token.
    [[nodiscard]] auto still_at(Node& node, const Execution& job) -> bool {
        const auto work = node.processor->work();
        if (work && work->key == job.key && work->token == job.token) { return true; }
        using E = allot::JobError;
        const auto error = node.processor->complete(work_of(job), {}, "", local(node)).error;
        if (error != E::lease_missing && error != E::lease_foreign && error != E::lease_stale) {
            broken("work that is over is taken");
        }
        return false;
    }
    [[nodiscard]] auto work_of(const Execution& job) const -> JobProcessor::Work {
        return {plan_.job(), job.key, job.token, {}};
    }

    void renew(const Event& event) {
        auto& node = nodes_[event.node];
        if (!node.processor || event.life != node.life) { return; }
        const auto job = work_[event.what];
        if (!still_at(node, job)) { return; }
        const auto blocks = std::int64_t{plan_.slicing().blocks_per_micro};
        const auto done = std::min(blocks, blocks * (now_ - job.began) / job.takes);
        if (done > 0) {
            const auto newest = hashes_of(event.node, job)[static_cast<std::size_t>(done - 1)];
            const auto count = static_cast<std::uint32_t>(done);
            act(
                event.node, [&](auto& processor) { return processor.renew(work_of(job), count, newest, local(node)); },
                true);
        }
        const auto again = node.processor->work();
        if (!again || done == blocks) { return; }
        const auto next_block = job.began + (job.takes * (done + 1) + blocks - 1) / blocks;
        at(std::max(next_block, real(node, again->renew_at)), Kind::renew, event.node, node.life, event.what);
    }
    /// What the node finds, or makes up.
    auto hashes_of(std::uint32_t i, const Execution& job) -> std::vector<Hash256> {
        const auto secret = secret_.macro(job.key.macro, rounds_[job.key.macro]);
        auto hashes = std::vector<Hash256>{};
        for (const auto block : secret.blocks[job.key.micro]) {
            const auto hash = block_hash(block);
            hashes.push_back(cheats(i) ? allot::RecordHasher{"lie"}.hash(hash).word(i).finish() : hash);
        }
        return hashes;
    }

    void finish_work(std::uint32_t i, std::uint64_t which) {
        auto& node = nodes_[i];
        const auto job = work_[which];
        if (!still_at(node, job)) { return; }
        if (faulty() && percent(options_.fail_percent)) {
            count(Fault::give_back);
            return act(
                i, [&](auto& processor) { return processor.fail(work_of(job), local(node)); }, false, true);
        }
        const auto hashes = hashes_of(i, job);
        count(Fault::cheat, cheats(i) ? 1 : 0);
        act(
            i, [&](auto& processor) { return processor.complete(work_of(job), hashes, "output", local(node)); }, true);
    }

    /// The contract: it knows the secret, pays once, and names who was wrong.
    void pay(const Event& event) {
        const auto& ask = asks_[event.what];
        auto& node = nodes_[event.node];
        auto settlement = allot::Settlement{plan_.job(), false, std::nullopt, {}};
        auto fresh = true;
        if (!paid_ && ask.as.outcome == allot::JobOutcome::failed) {
            paid_ = ask.as;
            ended_with_ = ask.records;
        } else if (!paid_) {
            // Its answer may never have arrived; then it says the same again.
            for (const auto& rejection : judged_) {
                for (const auto& record : ask.records) {
                    const auto same = [&](const auto& accepted) { return accepted.digest == rejection.digest; };
                    if (std::any_of(record.accepted.begin(), record.accepted.end(), same)) {
                        settlement.culprits.push_back(rejection);
                    }
                }
            }
            fresh = settlement.culprits.empty();
            for (const auto& record : ask.records) {
                if (!fresh) { break; }
                auto tie = false;
                for (auto rejection : verdict_on(record).rejected) {
                    rejection.author = contract;
                    rejection.signature = signature_of(contract, digest_of(plan_.job(), rejection));
                    settlement.culprits.push_back(rejection);
                    const auto named = rejection.reason == allot::RejectReason::culprit;
                    tie = tie || rejection.reason == allot::RejectReason::tie_break;
                    for (std::uint32_t i = 0; i < nodes_.size() && named; ++i) {
                        if (node_id(i) == rejection.node) { ++(cheats(i) ? out_.named_cheaters : out_.named_honest); }
                    }
                }
                rounds_[record.macro] += tie ? 1U : 0U;
            }
            if (settlement.culprits.empty()) {
                paid_ = ask.as;
                ended_with_ = ask.records;
            }
        }
        if (paid_) { paid_->signature = signature_of(contract, paid_->digest); }
        settlement.settled = paid_.has_value();
        settlement.settled_as = paid_;
        if (!settlement.settled && fresh) {
            judged_.insert(judged_.end(), settlement.culprits.begin(), settlement.culprits.end());
        }
        if (!node.processor || node.life != event.life) { return; }
        node.refused_payments += settlement.settled ? 0U : 1U;
        // It may have heard of the end, or lost the queue, in the meantime.
        act(
            event.node, [&](auto& processor) { return processor.on_settlement(settlement, local(node)); }, true);
    }

    /// The contract's verdict. The referee recomputes what is disputed, and a block of each part that nobody verified.
    [[nodiscard]] auto verdict_on(const allot::MacroRecord& record) -> allot::MacroVerdict {
        const auto secret = secret_.macro(record.macro, rounds_[record.macro]);
        auto results = std::vector<const allot::ResultRecord*>{};
        for (const auto& accepted : record.accepted) { results.push_back(&store_.at(accepted.digest)); }
        auto evidence =
            allot::Evidence{recomputed_, record.disclosed, options_.referee_away, rounds_[record.macro] < 2};
        for (auto turn = 0;; ++turn) {
            const auto verdict = allot::judge(plan_.macro(record.macro), secret, results, evidence);
            if (!verdict) { broken("a covered MacroJob cannot be judged"); }
            if (verdict->verified() || !verdict->rejected.empty()) { return *verdict; }
            if (options_.referee_away) {
                out_.unverified += verdict->unverified.size();
                for (const auto micro : verdict->unverified) { unpaid_.insert({record.macro, micro}); }
                return *verdict;
            }
            if (turn == 3) { broken("the referee's blocks decide nothing"); }
            for (const auto block : verdict->disputed) { evidence.recomputed[block] = block_hash(block); }
            for (const auto micro : verdict->unverified) {
                const auto& blocks = secret.blocks[micro];
                const auto block = blocks[static_cast<std::size_t>(below(blocks.size()))];
                evidence.recomputed[block] = block_hash(block);
            }
            recomputed_ = evidence.recomputed;
        }
    }

    void answer_claim(const Event& event) {
        auto& node = nodes_[event.node];
        const auto claim = claims_[event.what].first;
        const auto holder = cas_.try_emplace(claim, claims_[event.what].second).first->second;
        if (!node.processor || node.life != event.life) { return; }
        act(
            event.node, [&](auto& processor) { return processor.on_store(claim, holder, local(node)); }, true);
    }

    // ---- what has to hold -----------------------------------------------------------------------------------------

    using Controls = std::map<std::uint32_t, std::pair<allot::QueueControl, TimePoint>>;

    [[nodiscard]] auto controls(const Node& node) const -> Controls {
        auto all = Controls{};
        for (const auto& [m, replica] : replicas_of(node)) {
            if (replica.state().known()) {
                all.emplace(m, std::pair{replica.state().control(), replica.state().clock(local(node))});
            }
        }
        return all;
    }

    /// No item is leased anew while the granting state knows of a lease that lives; tokens grow; clocks never go back.
    void check_leases(std::uint32_t i, const Controls& before, const allot::job_message::QueueSnapshot* heard,
                      bool returned) {
        const auto& node = nodes_[i];
        for (const auto& [m, replica] : replicas_of(node)) {
            if (!replica.state().known()) { continue; }
            const auto after = replica.state().control();
            const auto known = before.find(m);
            const auto* base = known == before.end() ? nullptr : &known->second.first;
            auto clock = known == before.end() ? TimePoint{} : known->second.second;
            if (base != nullptr && base->newer_than(after)) { broken("a queue goes back to an older control"); }
            if (heard != nullptr && heard->macro == m && (base == nullptr || heard->control->newer_than(*base))) {
                base = &*heard->control;
                clock = heard->control->clock;
            }
            if (base == nullptr || returned) {
                for (const auto& item : after.items) {
                    if (item.hold) { granted_.try_emplace({item.hold->token, item.hold->renewals}, now_); }
                }
                continue;
            }
            look(Promise::p3_growing);
            if (after.clock < base->clock || after.tokens < base->tokens) {
                broken("a queue's clock or token went back");
            }
            for (std::uint32_t k = 0; k < after.items.size(); ++k) {
                const auto& was = base->items[k].hold;
                const auto& is = after.items[k].hold;
                if (is) { granted_.try_emplace({is->token, is->renewals}, now_); }
                if (was && !after.items[k].closed && (!is || is->token != was->token)) { check_duration(*was, clock); }
                if (!is || (was && was->token == is->token)) { continue; }
                look(Promise::p2_one_holder);
                if (was && clock < was->expires) { broken("a MicroJob is leased again while its lease lives"); }
                for (const auto& other : base->items) {
                    if (other.hold && !(other.hold->token < is->token)) { broken("a token does not grow"); }
                }
            }
        }
    }

    /// Whom this node knows as a culprit, in whatever MacroJob, gets no MicroJob of the job: not even this node itself.
    void check_barred(std::uint32_t i) const {
        const auto* job = nodes_[i].processor->current();
        for (std::uint32_t m = 0; job != nullptr && m < plan_.slicing().macro_count; ++m) {
            if (job->tracker().verdicts(m).is_barred(node_id(i), wallet_id(i))) {
                broken("a culprit has another MicroJob");
            }
        }
    }

    /// A lease that ended had its whole length in real time, but for clocks that run at most 5 % fast.
    void check_duration(const allot::MicroLeases::Grant& hold, TimePoint clock) {
        const auto began = granted_.find({hold.token, hold.renewals});
        if (began == granted_.end() || clock < hold.expires) { return; }
        const auto lasted = now_ - began->second;
        look(Promise::p4_full_length);
        if (lasted < 15'000 * 1'000 / 1'051) { broken(fmt::format("a lease of 15 s lasted {} ms", lasted)); }
    }

    /// The same words in any order, and any number of times, make the same state.
    void check_merge() {
        if (said_.empty()) { return; }
        auto order = std::vector<std::size_t>{};
        for (std::size_t i = 0; i < said_.size(); ++i) { order.push_back(i); }
        auto first = std::optional<allot::job_message::QueueSnapshot>{};
        for (auto turn = 0; turn < 3; ++turn) {
            auto replica = allot::MicroQueueReplica{
                plan_.macro(0), {allot::NodeId{"stranger"}, allot::WalletId{"stranger"}, 1}, {}, {}};
            for (const auto i : order) { (void)replica.resume(said_[i], TimePoint{}); }
            auto state = replica.snapshot();
            if (first) { look(Promise::p1_merge); }
            if (first && !(*first == state)) { broken("the order of messages shows"); }
            first = std::move(state);
            for (std::size_t i = 0; i < order.size(); ++i) {
                std::swap(order[i], order[static_cast<std::size_t>(below(order.size()))]);
            }
            order.push_back(order[0]);
        }
    }

    void check_end() {
        check_merge();
        const auto* first = static_cast<const allot::FinalRecord*>(nullptr);
        for (const auto& node : nodes_) {
            if (!node.processor) { continue; }
            const auto* record = node.processor->final_record(plan_.job());
            if (record == nullptr) { continue; }  // it never heard of the job
            if (first != nullptr && *record != *first) { broken("two nodes know different ends"); }
            first = record;
        }
        out_.outcome = first->outcome;
        out_.ended_at = now_;
        if (!paid_) { broken("a job ended that was not settled"); }
        look(Promise::p6_one_end);
        if (paid_->digest != first->digest) { broken("the job that was settled is not the one that ended"); }
        if (ended_with_.size() != plan_.slicing().macro_count) { broken("the end does not cover the plan"); }
        auto dead = 0;
        for (const auto& record : ended_with_) {
            if (record.accepted.size() != plan_.slicing().items()) { broken("a MicroJob is neither done nor dead"); }
            for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
                look(Promise::p7_coverage);
                if (record.accepted[k].digest == Hash256{}) {
                    ++dead;
                    continue;
                }
                const auto& result = store_.at(record.accepted[k].digest);
                if (result.key != allot::MicroKey{record.macro, k}) {
                    broken("a MicroJob is paid with another's result");
                }
                if (first->outcome == allot::JobOutcome::failed) { continue; }  // nobody is paid
                const auto rejected = [&](const auto& r) { return r.digest == result.digest; };
                if (std::any_of(judged_.begin(), judged_.end(), rejected)) { broken("a rejected result was paid"); }
                for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
                    const auto lies = node_id(i) == result.node && cheats(i);
                    if (lies && !unpaid_.contains(result.key)) { ++out_.accepted_lies; }
                }
            }
        }
        if ((dead > 0) != (first->outcome == allot::JobOutcome::failed)) {
            broken("dead MicroJobs and the outcome disagree");
        }
        if (dead > 0 && out_.dead_letters == 0) { broken("nobody was told of a dead MicroJob"); }
    }

    Options options_;
    std::uint64_t seed_;
    std::mt19937_64 random_;
    allot::JobSpec spec_;
    allot::JobPlan plan_;
    allot::SecretPlan secret_;
    std::vector<Node> nodes_;
    std::priority_queue<Event> events_;
    std::vector<Letter> letters_;
    std::vector<Execution> work_;
    std::vector<std::pair<std::int64_t, allot::JobEvent>> events_seen_;
    std::map<std::pair<allot::FencingToken, std::uint32_t>, std::int64_t> granted_;  // and renewed, in real time
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> latest_;
    std::map<Hash256, allot::ResultRecord> store_;
    std::vector<std::pair<Hash256, allot::ClaimBid>> claims_;
    std::map<Hash256, allot::ClaimBid> cas_;
    std::vector<allot::job_event::EscrowReleaseRequested> asks_;
    std::vector<allot::job_message::QueueSnapshot> said_;
    std::vector<allot::Rejection> judged_;
    std::map<std::uint64_t, Hash256> recomputed_;
    std::set<allot::MicroKey> unpaid_;               // those that nobody verified
    std::map<std::uint32_t, std::uint32_t> rounds_;  // by MacroJob: how often a tie had to be broken
    std::optional<allot::FinalRecord> paid_{};
    std::vector<allot::MacroRecord> ended_with_;
    std::uint64_t order_ = 0;
    std::int64_t now_ = 0;
    std::int64_t cut_from_ = 0;
    std::int64_t cut_until_ = 0;
    std::uint32_t booted_ = 0;
    std::uint32_t coming_back_ = 0;
    Outcome out_{};
};

}  // namespace job_test
