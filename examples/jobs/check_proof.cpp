// Checks which proofs are believed, with a job of one worker, one verifier and two MacroJobs; ends with 1 and a line
// for each fault.

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "common.hpp"
#include "proof.hpp"

namespace {

using jobs::dapp_name;
using jobs::Proof;

constexpr auto samples = 2U;
const auto file = std::string{"sixteen letters of a file that is cut into blocks"};

/// The contract, which can sign whatever it likes, and an honest worker.
struct Stage {
    Stage() {
        ring.admit(dapp_name, contract.public_key());
        ring.admit("worker", worker.public_key());
    }

    /// Another end, as the contract signs it.
    void end(Proof& proof, std::vector<allot::Hash256> macros, allot::JobOutcome outcome) const {
        proof.final.macros = std::move(macros);
        proof.final.outcome = outcome;
        proof.final.digest = digest_of(proof.final);
        proof.final.signature = contract.sign(proof.final.digest);
    }

    [[nodiscard]] auto judged(const allot::JobPlan& plan, const allot::MacroSecret& secret, std::uint32_t macro) const
        -> Proof::Judged {
        auto results = std::vector<allot::ResultRecord>{};
        for (std::uint32_t k = 0; k < plan.slicing().items(); ++k) {
            auto result = allot::ResultRecord{
                {macro, k}, plan.macro(macro).micros[k], allot::NodeId{"worker"}, allot::WalletId{"wallet"}};
            for (const auto block : secret.blocks[k]) {
                result.block_hashes.push_back(jobs::block_hash(file, block, jobs::block_count(plan.slicing())));
            }
            result.digest = digest_of(plan.job(), result);
            result.signature = worker.sign(result.digest);
            results.push_back(std::move(result));
        }
        auto record = allot::MacroRecord{plan.job(), macro, 1, allot::NodeId{"worker"}};
        for (const auto& result : results) { record.accepted.push_back({result.digest, result.node, result.wallet}); }
        record.digest = digest_of(record);
        record.signature = worker.sign(record.digest);
        return {record, results};
    }

    [[nodiscard]] auto honest() const -> Proof {
        const auto dapp = allot::NodeId{dapp_name};
        const auto spec =
            allot::JobSpec{jobs::job_of(0), allot::Entropy{7}, {2, 1, 1, 4, 1}, "", "", {dapp, dapp, dapp}};
        const auto secrets = allot::SecretPlan{spec};
        const auto plan = *allot::JobPlan::slice(spec);
        auto proof =
            Proof{{plan, contract.sign(plan.digest())},    {spec.seed.words.begin(), spec.seed.words.end()}, {}, {}, {},
                  {plan.job(), 1, allot::NodeId{"worker"}}};
        auto macros = std::vector<allot::Hash256>{};
        for (std::uint32_t macro = 0; macro < plan.slicing().macro_count; ++macro) {
            proof.judged.push_back(judged(plan, secrets.macro(macro), macro));
            macros.push_back(proof.judged.back().record.digest);
            for (const auto number : secrets.samples(macro, samples)) {
                proof.blocks.push_back(jobs::recomputed(file, number, jobs::block_count(plan.slicing()), dapp));
                proof.blocks.back().signature = contract.sign(digest_of(plan.job(), proof.blocks.back()));
            }
        }
        end(proof, macros, allot::JobOutcome::complete);
        return proof;
    }

    jobs::SigningKey contract{1, dapp_name};
    jobs::SigningKey worker{1, "worker"};
    jobs::Keyring ring{};
};

}  // namespace

auto main() -> int {
    const auto stage = Stage{};
    auto faults = 0;
    const auto check = [&](const std::string& name, const std::optional<std::string>& fault,
                           const std::function<void(Proof&)>& change) {
        auto proof = stage.honest();
        change(proof);
        const auto found = fault_of(proof, file, samples, stage.ring);
        if (found == fault) { return; }
        fmt::print("{}: {}, and not: {}\n", name, found.value_or("believed"), fault.value_or("believed"));
        ++faults;
    };
    constexpr auto complete = allot::JobOutcome::complete;
    check("an honest proof", std::nullopt, [](Proof&) {});
    check("a proof without records", "the record by which MacroJob 0 was paid is not there", [](Proof& proof) {
        proof.judged.clear();
        proof.blocks.clear();
    });
    check("a proof without one record", "the record by which MacroJob 1 was paid is not there",
          [](Proof& proof) { proof.judged.pop_back(); });
    check("records of one MacroJob for another", "the record by which MacroJob 1 was paid is not there",
          [&](Proof& proof) {
              stage.end(proof, {proof.final.macros[0], proof.final.macros[0]}, complete);
          });
    check("an end without records", "the end is not that of the plan",
          [&](Proof& proof) { stage.end(proof, {}, complete); });
    check("a proof without samples", "a sample of MacroJob 0 was not computed again",
          [](Proof& proof) { proof.blocks.clear(); });
    check("an end without pay", std::nullopt, [&](Proof& proof) {
        proof.judged.clear();
        stage.end(proof, proof.final.macros, allot::JobOutcome::failed);
    });
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
