#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <allot/job.hpp>

namespace job_test {

using namespace std::chrono_literals;
using allot::JobEffects;
using allot::JobError;
using allot::MicroKey;
using allot::TimePoint;

inline auto at(allot::Duration time) -> TimePoint { return TimePoint{time}; }

inline auto spec_of(const allot::Slicing& slicing, std::uint64_t seed = 7) -> allot::JobSpec {
    return {allot::JobId{"job"}, allot::Entropy{seed}, slicing, "ipfs://code", "ipfs://data"};
}
inline auto plan_of(const allot::Slicing& slicing, std::uint64_t seed = 7) -> allot::JobPlan {
    return *allot::JobPlan::slice(spec_of(slicing, seed));
}

/// A hash that tells its number.
inline auto hash_of(std::uint64_t number) -> allot::Hash256 {
    return allot::RecordHasher{"test"}.word(number).finish();
}

inline auto hashes_of(const allot::MacroPlan& plan, std::uint64_t first) -> std::vector<allot::Hash256> {
    auto hashes = std::vector<allot::Hash256>{};
    for (std::uint32_t i = 0; i < plan.blocks_per_micro; ++i) { hashes.push_back(hash_of(first + i)); }
    return hashes;
}

inline auto node(std::uint32_t number, std::uint64_t boot = 1) -> allot::JobNode {
    return {allot::NodeId{"NODE_" + std::to_string(number)}, allot::WalletId{"WALLET_" + std::to_string(number)}, boot};
}

/// The parameters of members who trust each other: results are not committed before they are disclosed.
inline auto trusting() -> allot::QueueParameters {
    auto p = allot::QueueParameters{};
    p.commit_results = false;
    return p;
}

inline auto result_of(const allot::MacroPlan& plan, std::uint32_t micro, const allot::JobNode& by,
                      std::vector<allot::Hash256> hashes, allot::FencingToken token = {1, 1, 1})
    -> allot::ResultRecord {
    auto result = allot::ResultRecord{
        {plan.macro, micro}, plan.micros[micro], by.node, by.wallet, std::move(hashes), "out", token, {}, {}};
    result.digest = digest_of(plan.job, result);
    return result;
}

/// Passes a message to a machine as its sender's; one that names no sender as the first node's.
template <class Machine>
auto received(Machine& machine, const allot::JobMessage& message, TimePoint now) -> JobEffects {
    const auto* named = allot::sender_named(message);
    return machine.on_message(named == nullptr ? node(1).node : *named, message, now);
}

/// What the MicroJobs of a MacroJob give when all are honest, by their secret blocks.
inline auto honest(const allot::MacroSecret& secret, std::uint32_t micro) -> std::vector<allot::Hash256> {
    auto hashes = std::vector<allot::Hash256>{};
    for (const auto block : secret.blocks[micro]) { hashes.push_back(hash_of(block)); }
    return hashes;
}

template <class M>
auto count_sent(const JobEffects& effects) -> std::size_t {
    auto count = std::size_t{0};
    for (const auto& send : effects.sends) { count += std::holds_alternative<M>(send.message) ? 1U : 0U; }
    return count;
}
template <class M>
auto sent(const JobEffects& effects) -> const M* {
    const auto* last = static_cast<const M*>(nullptr);
    for (const auto& send : effects.sends) {
        if (const auto* found = std::get_if<M>(&send.message)) { last = found; }
    }
    return last;
}

}  // namespace job_test
