#include "proof.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "common.hpp"

namespace jobs {
namespace {

using Outputs = std::map<std::uint64_t, allot::Hash256>;

/// Returns the spec that a plan and a seed make.
auto spec_of(const allot::JobPlan& plan, const std::vector<std::uint64_t>& seed) -> allot::JobSpec {
    auto entropy = allot::Entropy{};
    std::copy_n(seed.begin(), std::min(seed.size(), entropy.words.size()), entropy.words.begin());
    return {plan.job(), entropy, plan.slicing(), plan.code_uri(), plan.data_uri(), plan.authorities()};
}

/// True if a block of the result is another than the one computed again.
auto contradicts(const allot::ResultRecord& result, const allot::MacroSecret& secret, const Outputs& outputs) -> bool {
    const auto& blocks = secret.blocks[result.key.micro];
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto at = outputs.find(blocks[i]);
        if (at != outputs.end() && at->second != result.block_hashes[i]) { return true; }
    }
    return false;
}

/// Returns why a record and its results do not belong together.
auto fault_of(const allot::JobPlan& plan, const Proof::Judged& judged, const Keyring& ring)
    -> std::optional<std::string> {
    const auto& record = judged.record;
    const auto name = fmt::format("the record of MacroJob {}", record.macro);
    if (record.macro >= plan.slicing().macro_count) { return "a record is of no MacroJob of the plan"; }
    if (allot::fault_of(plan.macro(record.macro), record)) { return name + " is invalid"; }
    if (ring.refusal_of(record.owner, record.digest, record.signature)) { return name + " is not its owner's"; }
    if (judged.results.size() != record.accepted.size()) { return name + " lacks a result"; }
    for (std::uint32_t k = 0; k < judged.results.size(); ++k) {
        const auto& result = judged.results[k];
        if (result.digest != record.accepted[k].digest || result.key != allot::MicroKey{record.macro, k} ||
            allot::fault_of(plan.macro(record.macro), result) ||
            ring.refusal_of(result.node, result.digest, result.signature)) {
            return fmt::format("result {} of MacroJob {} is not its author's", k, record.macro);
        }
    }
    return std::nullopt;
}

}  // namespace

auto recomputed(const std::string& file, std::uint64_t block, std::uint64_t count, const allot::NodeId& author)
    -> allot::RecomputedBlock {
    const auto input = allot::RecordHasher{"file data"}.text(block_of(file, block, count)).finish();
    return {block, input, block_hash(file, block, count), author, {}};
}

auto fault_of(const Proof& proof, const std::string& file, std::uint32_t samples, const Keyring& ring)
    -> std::optional<std::string> {
    const auto& plan = proof.posted.plan;
    const auto spec = spec_of(plan, proof.seed);
    const auto sliced = allot::JobPlan::slice(spec);
    if (proof.seed.size() != spec.seed.words.size() || !sliced || sliced->digest() != plan.digest()) {
        return "the seed is not that of the plan";
    }
    if (ring.refusal_of(plan.authorities().poster, plan.digest(), proof.posted.signature)) {
        return "the plan is not the poster's";
    }
    const auto& powers = plan.authorities();
    const auto& referee = powers.referee.is_null() ? powers.poster : powers.referee;
    auto outputs = Outputs{};
    for (const auto& block : proof.blocks) {
        auto again = recomputed(file, block.block, block_count(plan.slicing()), referee);
        again.signature = block.signature;
        if (again != block || ring.refusal_of(referee, digest_of(plan.job(), block), block.signature)) {
            return fmt::format("block {} is not what the referee signed, or not right", block.block);
        }
        outputs.emplace(block.block, block.output);
    }
    const auto secrets = allot::SecretPlan{spec};
    auto contradicted = std::set<allot::NodeId>{};
    for (const auto& judged : proof.judged) {
        if (auto fault = fault_of(plan, judged, ring)) { return fault; }
        const auto macro = judged.record.macro;
        const auto drawn = secrets.samples(macro, samples);
        if (!std::all_of(drawn.begin(), drawn.end(), [&](auto block) { return outputs.contains(block); })) {
            return fmt::format("a sample of MacroJob {} was not computed again", macro);
        }
        const auto& ends = proof.final.macros;
        const auto paid = std::find(ends.begin(), ends.end(), judged.record.digest) != ends.end();
        for (const auto& result : judged.results) {
            if (!contradicts(result, secrets.macro(macro), outputs)) { continue; }
            if (paid) { return "a wrong result of " + result.node.text() + " was paid"; }
            contradicted.insert(result.node);
        }
    }
    for (const auto& rejection : proof.rejected) {
        if (!contradicted.contains(rejection.node)) {
            return "the member " + rejection.node.text() + " is named, and contradicts no block";
        }
    }
    const auto& final = proof.final;
    if (final.digest != digest_of(final) || ring.refusal_of(powers.contract, final.digest, final.signature)) {
        return "the end is not the contract's";
    }
    if (allot::fault_of(plan.job(), plan.slicing().macro_count, final)) { return "the end is not that of the plan"; }
    for (std::uint32_t macro = 0; macro < final.macros.size() && final.outcome == allot::JobOutcome::complete;
         ++macro) {
        const auto is_here = [&](const Proof::Judged& judged) {
            return judged.record.macro == macro && judged.record.digest == final.macros[macro];
        };
        if (std::none_of(proof.judged.begin(), proof.judged.end(), is_here)) {
            return fmt::format("the record by which MacroJob {} was paid is not there", macro);
        }
    }
    return std::nullopt;
}

}  // namespace jobs
