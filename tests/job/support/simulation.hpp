#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <allot/job/job_processor.hpp>

#include "job/support/checks.hpp"
#include "job/support/contract.hpp"
#include "job/support/options.hpp"
#include "job/support/simulated_network.hpp"

// A network of job processors in virtual time, with everything that can go wrong in one. A run is a function of its
// options and its seed; what breaks a promise throws `Broken`, with the seed that repeats it.

namespace job_test {

class Simulation {
public:
    Simulation(const Options& options, std::uint64_t seed)
        : options_{options}, network_{options, seed}, spec_{allot::job_id_of(node_id(0), seed),
                                                            allot::Entropy{seed},
                                                            options.slicing,
                                                            "code",
                                                            "data",
                                                            {node_id(0), allot::NodeId::null(), contract}},
          plan_{*allot::JobPlan::slice(spec_)}, contract_{network_, spec_, plan_}, checks_{network_, plan_} {
        for (std::uint32_t i = 0; i < options_.nodes; ++i) {
            auto node = Node{};
            if (options_.clocks) {
                node.clock.offset = below(1'000'000'000);
                node.clock.skew = below(101) - 50;
                network_.count(Fault::clock_offset);
                network_.count(Fault::rate_skew, node.clock.skew != 0 ? 1 : 0);
            }
            nodes_.push_back(std::move(node));
        }
        for (std::uint32_t i = 0; i < options_.nodes; ++i) {
            network_.at(options_.boots_together ? 0 : below(3'000), Kind::boot, i);
        }
        for (std::uint32_t i = 0; i < options_.crashes; ++i) {
            network_.at(3'000 + below(options_.crash_until), Kind::crash, i % options_.nodes);
        }
        network_.draw_partition();
    }
    virtual ~Simulation() = default;
    Simulation(const Simulation&) = delete;
    auto operator=(const Simulation&) -> Simulation& = delete;

    auto run() -> Outcome {
        while (!over()) {
            const auto event = network_.next();
            if (!event) { network_.broken("the job never ends" + describe()); }
            handle(*event);
        }
        check_end();
        out_.faults = network_.faults();
        out_.looked = checks_.looked();
        out_.messages = network_.messages();
        out_.unverified = contract_.unverified();
        return out_;
    }

    /// What happened, on all nodes, with its time in ms.
    [[nodiscard]] auto events() const -> const std::vector<std::pair<std::int64_t, allot::JobEvent>>& {
        return events_seen_;
    }

protected:
    using Kind = Network::Kind;
    using Event = Network::Event;
    struct Node {
        std::optional<JobProcessor> processor{};
        std::set<std::string> channels{};
        Clock clock{};
        std::uint64_t life = 0;
        std::uint64_t wake = 0;                      // the number of its valid wake-up
        std::optional<allot::ClaimArbiter> voter{};  // what a voter must never forget
        std::vector<allot::job_message::QueueSnapshot> disk{};
        std::optional<allot::job_message::JobPosted> posted{};
        std::uint64_t asked_to_pay = 0;
        std::uint64_t refused_payments = 0;
    };
    struct Execution {
        std::uint32_t node = 0;
        std::uint64_t life = 0;
        allot::MicroKey key{};
        allot::FencingToken token{};
        std::int64_t began = 0;
        std::int64_t takes = 0;
    };

    // ---- what liars do otherwise ----------------------------------------------------------------------------------

    /// Whether a node lies. What is promised is promised to the others.
    [[nodiscard]] virtual auto lies(std::uint32_t /*node*/) const -> bool { return false; }
    /// Sends what a node wants to send.
    virtual void say(std::uint32_t from, const allot::JobSend& send) { broadcast(from, send); }
    /// Whether a node takes note of a message at all.
    virtual auto hears(std::uint32_t /*node*/, const Network::Letter& /*letter*/) -> bool { return true; }
    /// Whether a node does what an event of its own processor asks of it.
    virtual auto heeds(std::uint32_t /*node*/, const allot::JobEvent& /*event*/) -> bool { return true; }
    /// Whether a node writes its results to the store.
    virtual auto writes(std::uint32_t /*node*/) -> bool { return true; }
    /// The time in ms that a MicroJob takes a node.
    virtual auto time_for(std::uint32_t /*node*/, std::int64_t honest) -> std::int64_t { return honest; }
    /// Whether a node is done with its work when its time is over.
    virtual auto finishes(std::uint32_t /*node*/) -> bool { return true; }
    /// What a node finds, or makes up.
    virtual auto hashes_of(std::uint32_t i, const Execution& job) -> std::vector<Hash256> {
        auto hashes = std::vector<Hash256>{};
        for (const auto block : contract_.blocks_of(job.key)) {
            const auto hash = block_hash(block);
            hashes.push_back(cheats(i) ? allot::RecordHasher{"lie"}.hash(hash).word(i).finish() : hash);
        }
        return hashes;
    }
    /// What became of a letter at a node that does not lie: the error with which it was refused, if it was.
    virtual void received(const Network::Letter& /*letter*/, std::optional<allot::JobError> /*error*/) {}
    /// An event of a kind that no honest network has.
    virtual void more(const Event& /*event*/) {}

    // ---- the rest -------------------------------------------------------------------------------------------------

    auto below(std::uint64_t n) -> std::int64_t { return network_.below(n); }
    auto percent(std::uint32_t p) -> bool { return network_.percent(p); }
    [[nodiscard]] auto now() const -> std::int64_t { return network_.now(); }
    [[nodiscard]] auto local(const Node& node) const -> TimePoint { return node.clock.local(now()); }
    /// The name of a member: of a node, or of the contract, which comes after them.
    [[nodiscard]] auto name_of(std::uint32_t i) const -> allot::NodeId {
        return i < options_.nodes ? node_id(i) : contract;
    }
    [[nodiscard]] auto among_liars() const -> bool { return options_.liars > 0; }

    [[nodiscard]] static auto replicas_of(const Node& node) -> const allot::JobParticipation::Replicas& {
        static const auto none = allot::JobParticipation::Replicas{};
        return node.processor->current() == nullptr ? none : node.processor->current()->replicas();
    }

    [[nodiscard]] auto over() const -> bool {
        auto any = false;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            const auto& processor = nodes_[i].processor;
            if (!processor || lies(i)) { continue; }
            const auto ended = processor->final_record(plan_.job()) != nullptr;
            if (processor->knows(plan_.job()) && !ended) { return false; }
            any = any || ended;
        }
        return any && booted_ == options_.nodes && coming_back_ == 0 && alive() > 0;
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
        if (event.node >= options_.nodes) {
            if (event.kind != Kind::deliver) { return more(event); }
            const auto& letter = network_.letter(event.life);
            return contract_.hear(name_of(letter.from), letter.message);
        }
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
            case Kind::lie:
            case Kind::told: return more(event);
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
        p.queue = contract_.queue_parameters();
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
                network_.count(Fault::restart_with_old_state);
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
        network_.count(Fault::crash);
        if (std::holds_alternative<allot::Quorum>(arbiter(i))) { node.voter = node.processor->arbiter(); }
        node.processor.reset();
        ++node.life;
        for (std::uint32_t other = 0; options_.told_of_crashes && other < nodes_.size(); ++other) {
            if (!nodes_[other].processor) { continue; }
            network_.count(Fault::told_of_crash);
            act(
                other, [&](auto& p) { return p.on_gone(node_id(i), local(nodes_[other])); }, false, true);
        }
        if (options_.restarts) {
            ++coming_back_;
            network_.at(now() + 1'000 + below(30'000), Kind::boot, i, 0, 1);
        }
    }

    void broadcast(std::uint32_t from, const allot::JobSend& send) {
        prepare(from, send);
        for (std::uint32_t to = 0; to < options_.nodes + (among_liars() ? 1U : 0U); ++to) {
            if (to != from) { network_.post_to(to); }
        }
    }
    /// Writes and signs a letter.
    void prepare(std::uint32_t from, const allot::JobSend& send) {
        auto message = send.message;
        const auto name = name_of(from);
        sign_own(message, name, [&](const Hash256& digest) { return signature_of(name, digest); });
        checks_.said(network_.write({from, send.channel, std::move(message), telling_}).message);
        if (lies(from)) { return; }
        // Heartbeats and retries, and the handing over of each MicroJob: nothing that grows by itself. Liars earn some
        // more answers.
        ++honest_letters_;
        const auto fair = 200 + 40 * (now() / 1'000 + 1) * std::int64_t{plan_.slicing().macro_count};
        if (honest_letters_ > fair * std::int64_t{options_.nodes} * (among_liars() ? 4 : 1)) {
            network_.broken("messages beget messages");
        }
    }

    void deliver(const Event& event) {
        auto& node = nodes_[event.node];
        const auto letter = network_.letter(event.life);
        if (!node.processor || !node.channels.contains(letter.channel) || !hears(event.node, letter)) { return; }
        const auto* snapshot = std::get_if<allot::job_message::QueueSnapshot>(&letter.message);
        const auto hear = [&](auto& processor) {
            return processor.on_message(name_of(letter.from), letter.message, local(node), proven);
        };
        const auto returned = std::holds_alternative<allot::job_message::LeaseReturned>(letter.message);
        auto effects =
            checked(event.node, hear, snapshot != nullptr && snapshot->control ? snapshot : nullptr, returned);
        if (!lies(event.node)) { received(letter, effects.error); }
        if (effects.sends.size() > 8U + 3U * plan_.slicing().macro_count) {
            network_.broken(fmt::format("one message brings {} answers", effects.sends.size()));
        }
        if (below(16) == 0) {  // the same again, at once
            auto echo = checked(event.node, hear);
            checks_.look(Promise::p10_few_replies);
            if (echo.sends.size() > 2U) {
                auto kinds = std::string{};
                for (const auto& send : echo.sends) { kinds += fmt::format(" {}", send.message.index()); }
                network_.broken(fmt::format("a message said twice brings {} answers: {} brings{}", echo.sends.size(),
                                            letter.message.index(), kinds));
            }
            effects.append(JobEffects{echo});
            // Who hears it over and over falls silent, but for votes, and for a lease that is longer each time.
            for (auto times = 0; !echo.sends.empty() && !std::visit(is_owed, letter.message); ++times) {
                if (times == 8) {
                    network_.broken(fmt::format("message {} is answered by {} however often it is heard",
                                                letter.message.index(), echo.sends[0].message.index()));
                }
                echo = checked(event.node, hear);
                effects.append(JobEffects{echo});
            }
        }
        if (effects.error) {
            if (options_.trace && !lies(event.node)) {
                fmt::print(stderr, "{:>8} message {} of {}{} is refused by {}: {}\n", now(), letter.message.index(),
                           lies(letter.from) ? "liar " : "", letter.from, event.node, message(*effects.error));
            }
            if (among_liars()) { return; }
            using E = allot::JobError;
            constexpr auto harmless =
                std::array{E::queue_missing,     E::result_duplicate, E::result_late,     E::lease_stale,
                           E::lease_missing,     E::item_ended,       E::job_unknown,     E::result_rejected,
                           E::result_twice,      E::result_unleased,  E::history_changed, E::renewal_without_progress,
                           E::message_time_wrong};
            // A lease that went down with its owner, or that a fork did not have, counts nothing.
            if (std::find(harmless.begin(), harmless.end(), *effects.error) == harmless.end()) {
                network_.broken(fmt::format("an honest message is refused: {}", message(*effects.error)));
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
        auto& node = nodes_[i];
        if (among_liars()) { return f(*node.processor); }
        const auto before = Checks::controls(replicas_of(node), local(node));
        auto effects = f(*node.processor);
        checks_.leases(replicas_of(node), before, effects.error ? nullptr : heard, returned);
        return effects;
    }

    void input(std::uint32_t i, JobEffects effects, bool may_fail = false) {
        auto& node = nodes_[i];
        if (effects.error) {
            if (!may_fail) { network_.broken(fmt::format("an input is refused: {}", message(*effects.error))); }
            return;
        }
        for (auto& channel : effects.joined) { node.channels.insert(std::move(channel)); }
        const auto name = node_id(i);
        sign_own(effects, name, [&](const Hash256& digest) { return signature_of(name, digest); });
        for (const auto& write : effects.writes) {
            if (writes(i)) { contract_.write(write.record); }
        }
        for (const auto& claim : effects.claims) {
            claims_.push_back({claim.claim, claim.bid});
            network_.at(now() + 1 + below(options_.delay_max), Kind::stored, i, node.life, claims_.size() - 1);
        }
        for (const auto& event : effects.events) { note(i, event); }
        for (const auto& letter : effects.sends) { say(i, letter); }
        if (below(8) == 0) { save(node); }
        const auto deadline = node.processor->next_deadline();
        checks_.look(Promise::p5_awake);
        if (deadline - local(node) > std::chrono::minutes{11}) { network_.broken("a node sleeps while work remains"); }
        network_.at(node.clock.real(deadline, now()), Kind::wake, i, 0, ++node.wake);
    }
    void save(Node& node) const {
        if (replicas_of(node).empty()) { return; }
        node.posted = *node.processor->posted(plan_.job());
        node.disk.clear();
        for (const auto& [m, replica] : replicas_of(node)) { node.disk.push_back(replica.saved()); }
    }
    void note(std::uint32_t i, const allot::JobEvent& event) {
        if (options_.keep_events) { events_seen_.emplace_back(now(), event); }
        if (options_.trace) {
            fmt::print(stderr, "{:>8} node {} event {}{}\n", now(), i, event.index(), std::visit(details, event));
        }
        if (!heeds(i, event)) { return; }
        if (const auto* contrary = std::get_if<allot::job_event::MemberContradicted>(&event)) {
            for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
                if (node_id(n) == contrary->node && !lies(n)) { network_.broken("an honest member is barred"); }
            }
        }
        if (const auto* leased = std::get_if<allot::job_event::MicroLeased>(&event)) {
            check_barred(i);
            ++out_.executions;
            ++out_.done_by[node_id(i)];
            work_.push_back({i, nodes_[i].life, leased->key, leased->token, now()});
            auto takes = time_for(i, options_.work_min + below(options_.work_max));
            if (network_.faulty() && percent(options_.slow_percent)) {
                network_.count(Fault::slow);
                takes += 20'000;
            } else if (takes > 7'000) {
                network_.at(nodes_[i].clock.real(nodes_[i].processor->work()->renew_at, now()), Kind::renew, i,
                            nodes_[i].life, work_.size() - 1);
            }
            work_.back().takes = takes;
            network_.at(now() + takes, Kind::done, i, nodes_[i].life, work_.size() - 1);
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
        if (++node.asked_to_pay > 1 + node.refused_payments && !lies(i)) {
            network_.broken("a node asks twice for one payment");
        }
        if (request.idempotency_key != allot::escrow_key(plan_.job())) {
            network_.broken("the escrow's key is not the job's");
        }
        if (request.as.outcome != outcome) { network_.broken("a failed job is to be paid"); }
        asks_.push_back(request);
        for (auto& record : asks_.back().records) {
            if (record.owner == node_id(i)) { record.signature = signature_of(record.owner, record.digest); }
        }
        network_.at(now() + 100 + below(2'000), Kind::paid, i, node.life, asks_.size() - 1);
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
            network_.broken("work that is over is taken");
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
        const auto done = std::min(blocks, blocks * (now() - job.began) / job.takes);
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
        network_.at(std::max(next_block, node.clock.real(again->renew_at, now())), Kind::renew, event.node, node.life,
                    event.what);
    }
    void finish_work(std::uint32_t i, std::uint64_t which) {
        auto& node = nodes_[i];
        const auto job = work_[which];
        if (!still_at(node, job) || !finishes(i)) { return; }
        if (network_.faulty() && percent(options_.fail_percent)) {
            network_.count(Fault::give_back);
            return act(
                i, [&](auto& processor) { return processor.fail(work_of(job), local(node)); }, false, true);
        }
        const auto hashes = hashes_of(i, job);
        network_.count(Fault::cheat, cheats(i) ? 1 : 0);
        act(
            i, [&](auto& processor) { return processor.complete(work_of(job), hashes, "output", local(node)); }, true);
        // An owner that lies about a renewal makes the work worthless.
        if (const auto left = node.processor->work(); among_liars() && left && left->token == job.token) {
            act(
                i, [&](auto& processor) { return processor.fail(*left, local(node)); }, true, true);
        }
    }

    void pay(const Event& event) {
        auto& node = nodes_[event.node];
        const auto answer = contract_.answer(asks_[event.what]);
        const auto& settlement = answer.first;  // clang 14 captures no structured binding
        const auto fresh = answer.second;
        for (const auto& culprit : settlement.culprits) {
            if (!fresh || culprit.reason != allot::RejectReason::culprit) { continue; }
            for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
                if (node_id(i) != culprit.node) { continue; }
                ++(cheats(i) || lies(i) ? out_.named_cheaters : out_.named_honest);
            }
        }
        if (!node.processor || node.life != event.life) { return; }
        node.refused_payments += settlement.settled ? 0U : 1U;
        // It may have heard of the end, or lost the queue, in the meantime.
        act(
            event.node, [&](auto& processor) { return processor.on_settlement(settlement, local(node)); }, true);
    }

    void answer_claim(const Event& event) {
        auto& node = nodes_[event.node];
        const auto claim = claims_[event.what].first;
        const auto holder = cas_.try_emplace(claim, claims_[event.what].second).first->second;
        if (!node.processor || node.life != event.life) { return; }
        act(
            event.node, [&](auto& processor) { return processor.on_store(claim, holder, local(node)); }, true);
    }

    /// Whom this node knows as a culprit, in whatever MacroJob, gets no MicroJob of the job: not even this node itself.
    void check_barred(std::uint32_t i) const {
        const auto* job = nodes_[i].processor->current();
        for (std::uint32_t m = 0; job != nullptr && m < plan_.slicing().macro_count; ++m) {
            if (job->tracker().verdicts(m).is_barred(node_id(i), wallet_id(i))) {
                network_.broken("a culprit has another MicroJob");
            }
        }
    }

    virtual void check_end() {
        if (!among_liars()) { checks_.merge(); }
        const auto* first = static_cast<const allot::FinalRecord*>(nullptr);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            if (!nodes_[i].processor || lies(i)) { continue; }
            const auto* record = nodes_[i].processor->final_record(plan_.job());
            if (record == nullptr) { continue; }  // it never heard of the job
            if (first != nullptr && *record != *first) { network_.broken("two nodes know different ends"); }
            first = record;
        }
        out_.outcome = first->outcome;
        out_.ended_at = now();
        checks_.end(contract_, *first, out_.dead_letters, [&](const allot::ResultRecord& result) {
            for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
                const auto lies = node_id(i) == result.node && cheats(i);
                if (lies && !contract_.unpaid().contains(result.key)) { ++out_.accepted_lies; }
            }
        });
    }

    Options options_;
    Network network_;
    allot::JobSpec spec_;
    allot::JobPlan plan_;
    Contract contract_;
    Checks checks_;
    std::vector<Node> nodes_;
    std::vector<Execution> work_;
    std::vector<std::pair<std::int64_t, allot::JobEvent>> events_seen_;
    std::vector<std::pair<Hash256, allot::ClaimBid>> claims_;
    std::map<Hash256, allot::ClaimBid> cas_;
    std::vector<Contract::Ask> asks_;
    std::int64_t honest_letters_ = 0;
    std::uint64_t telling_ = 0;  // the lies of the letters that are written now
    std::uint32_t booted_ = 0;
    std::uint32_t coming_back_ = 0;
    Outcome out_{};
};

}  // namespace job_test
