#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <allot/job/job_participation.hpp>

#include "job/support/contract.hpp"
#include "job/support/simulated_network.hpp"

// What has to hold in every run in which nobody lies.

namespace job_test {

class Checks {
public:
    using Controls = std::map<std::uint32_t, std::pair<allot::QueueControl, TimePoint>>;
    using Replicas = allot::JobParticipation::Replicas;
    using Snapshot = allot::job_message::QueueSnapshot;

    Checks(Network& network, const allot::JobPlan& plan) : network_{network}, plan_{plan} {}

    void look(Promise promise) { ++looked_[static_cast<std::size_t>(promise)]; }
    [[nodiscard]] auto looked() const -> const PromiseCounts& { return looked_; }

    /// The queues that a node knows, and their clocks.
    [[nodiscard]] static auto controls(const Replicas& replicas, TimePoint local) -> Controls {
        auto all = Controls{};
        for (const auto& [m, replica] : replicas) {
            if (replica.state().known()) {
                all.emplace(m, std::pair{replica.state().control(), replica.state().clock(local)});
            }
        }
        return all;
    }

    /// No item is leased anew while the granting state knows of a lease that lives; tokens grow; clocks never go back.
    void leases(const Replicas& replicas, const Controls& before, const Snapshot* heard, bool returned) {
        const auto now = network_.now();
        for (const auto& [m, replica] : replicas) {
            if (!replica.state().known()) { continue; }
            const auto after = replica.state().control();
            const auto known = before.find(m);
            const auto* base = known == before.end() ? nullptr : &known->second.first;
            auto clock = known == before.end() ? TimePoint{} : known->second.second;
            if (base != nullptr && base->newer_than(after)) {
                network_.broken("a queue goes back to an older control");
            }
            if (heard != nullptr && heard->macro == m && (base == nullptr || heard->control->newer_than(*base))) {
                base = &*heard->control;
                clock = heard->control->clock;
            }
            if (base == nullptr || returned) {
                for (const auto& item : after.items) {
                    if (item.hold) { granted_.try_emplace({item.hold->token, item.hold->renewals}, now); }
                }
                continue;
            }
            look(Promise::p3_growing);
            if (after.clock < base->clock || after.tokens < base->tokens) {
                network_.broken("a queue's clock or token went back");
            }
            for (std::uint32_t k = 0; k < after.items.size(); ++k) {
                const auto& was = base->items[k].hold;
                const auto& is = after.items[k].hold;
                if (is) { granted_.try_emplace({is->token, is->renewals}, now); }
                if (was && !after.items[k].closed && (!is || is->token != was->token)) { duration(*was, clock); }
                if (!is || (was && was->token == is->token)) { continue; }
                look(Promise::p2_one_holder);
                if (was && clock < was->expires) {
                    network_.broken("a MicroJob is leased again while its lease lives");
                }
                for (const auto& other : base->items) {
                    if (other.hold && !(other.hold->token < is->token)) { network_.broken("a token does not grow"); }
                }
            }
        }
    }

    /// Takes a message into account for `merge`.
    void said(const allot::JobMessage& message) {
        const auto* snapshot = std::get_if<Snapshot>(&message);
        if (snapshot != nullptr && snapshot->macro == 0 && said_.size() < 60) { said_.push_back(*snapshot); }
    }
    /// The same words in any order, and any number of times, make the same state.
    void merge() {
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
            if (first && !(*first == state)) { network_.broken("the order of messages shows"); }
            first = std::move(state);
            for (std::size_t i = 0; i < order.size(); ++i) {
                std::swap(order[i], order[static_cast<std::size_t>(network_.below(order.size()))]);
            }
            order.push_back(order[0]);
        }
    }
    /// The end that the contract settled covers the plan, and pays nothing that was rejected. `paid` is told of each
    /// result that is paid.
    template <class F>
    void end(const Contract& settled, const allot::FinalRecord& final, std::uint64_t dead_letters, F&& paid) {
        if (!settled.paid()) { network_.broken("a job ended that was not settled"); }
        look(Promise::p6_one_end);
        if (settled.paid()->digest != final.digest) {
            network_.broken("the job that was settled is not the one that ended");
        }
        if (settled.ended_with().size() != plan_.slicing().macro_count) {
            network_.broken("the end does not cover the plan");
        }
        auto dead = 0;
        for (const auto& record : settled.ended_with()) {
            if (record.accepted.size() != plan_.slicing().items()) {
                network_.broken("a MicroJob is neither done nor dead");
            }
            for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
                look(Promise::p7_coverage);
                if (record.accepted[k].digest == Hash256{}) {
                    ++dead;
                    continue;
                }
                const auto& result = settled.result(record.accepted[k].digest);
                if (result.key != allot::MicroKey{record.macro, k}) {
                    network_.broken("a MicroJob is paid with another's result");
                }
                if (final.outcome == allot::JobOutcome::failed) { continue; }  // nobody is paid
                const auto rejected = [&](const auto& r) { return r.digest == result.digest; };
                if (std::any_of(settled.judged().begin(), settled.judged().end(), rejected)) {
                    network_.broken("a rejected result was paid");
                }
                paid(result);
            }
        }
        if ((dead > 0) != (final.outcome == allot::JobOutcome::failed)) {
            network_.broken("dead MicroJobs and the outcome disagree");
        }
        if (dead > 0 && dead_letters == 0) { network_.broken("nobody was told of a dead MicroJob"); }
    }

private:
    /// A lease that ended had its whole length in real time, but for clocks that run at most 5 % fast.
    void duration(const allot::MicroLeases::Grant& hold, TimePoint clock) {
        const auto began = granted_.find({hold.token, hold.renewals});
        if (began == granted_.end() || clock < hold.expires) { return; }
        const auto lasted = network_.now() - began->second;
        look(Promise::p4_full_length);
        if (lasted < 15'000 * 1'000 / 1'051) { network_.broken(fmt::format("a lease of 15 s lasted {} ms", lasted)); }
    }

    Network& network_;
    const allot::JobPlan& plan_;
    std::map<std::pair<allot::FencingToken, std::uint32_t>, std::int64_t> granted_;  // and renewed, in real time
    std::vector<Snapshot> said_;
    PromiseCounts looked_{};
};

}  // namespace job_test
