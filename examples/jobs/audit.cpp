#include "audit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace jobs {
namespace {

/// A proof must hold, and must not once anything in it is false.
auto fault_of_proof(const Contract& contract, const std::vector<Member>& members, const Keyring& ring)
    -> std::optional<std::string> {
    const auto& proof = *contract.proof();
    const auto file = read_file(contract.plan().data_uri());
    const auto samples = contract.samples();
    if (auto fault = fault_of(proof, file, samples, ring)) { return "its proof does not hold: " + *fault; }
    auto forged = std::vector(8, proof);
    ++forged[0].seed.back();
    forged[1].blocks.front().output = allot::Hash256{1};
    forged[2].blocks.front().signature.front() ^= 1U;
    forged[3].blocks.clear();
    forged[4].judged.front().results.front().block_hashes.front() = allot::Hash256{1};
    const auto honest = std::find_if(members.begin(), members.end(), [&](const auto& member) {
        return member.role == Role::honest && !contract.culprits().contains(member.name);
    });
    forged[5].rejected.push_back({allot::Hash256{}, {}, honest->node(), honest->wallet()});
    forged[6].judged.clear();
    forged[6].blocks.clear();
    forged[6].rejected.clear();
    std::erase_if(forged[7].judged,
                  [&](const auto& judged) { return judged.record.digest == proof.final.macros.back(); });
    for (std::size_t i = 0; i < forged.size(); ++i) {
        if (!fault_of(forged[i], file, samples, ring)) { return fmt::format("forged proof {} was believed", i); }
    }
    return std::nullopt;
}

}  // namespace

auto audited(const Contract& contract, const std::vector<Member>& members, const Keyring& ring) -> Audit {
    auto audit = Audit{};
    const auto wrong = [&](bool is, std::string what) {
        if (is) { audit.faults.push_back(std::move(what)); }
    };
    const auto& slicing = contract.plan().slicing();
    const auto& settled = contract.settled();
    wrong(!settled, "the job did not end in time");
    wrong(settled && settled->outcome != allot::JobOutcome::complete, "a MicroJob is dead: its work is lost");

    // Who is named, and who had to be.
    for (const auto& member : members) {
        const auto named = contract.culprits().contains(member.name);
        wrong(named && member.role == Role::honest, "the honest " + member.name + " was named as a culprit");
    }
    for (const auto& [digest, judged] : contract.judged_records()) {
        const auto& record = judged.record;
        const auto secret = contract.secret(record.macro);
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            const auto& result = *contract.result(record.accepted[k].digest);
            for (std::uint32_t i = 0; i < result.block_hashes.size(); ++i) {
                if (result.block_hashes[i] == contract.truth(secret.blocks[k][i])) { continue; }
                wrong(judged.recomputed.contains(secret.blocks[k][i]) &&
                          !contract.culprits().contains(result.node.text()),
                      result.node.text() + " had a checked block wrong, and was not named");
            }
        }
    }

    if (contract.proof()) {
        const auto fault = fault_of_proof(contract, members, ring);
        wrong(fault.has_value(), fault.value_or(""));
    }

    // The book.
    const auto& book = contract.book();
    auto sum = book.refund.units;
    for (const auto& [wallet, amount] : book.paid) { sum = sum + amount.units; }
    wrong(settled && sum != allot::u128{Contract::deposit}, "the escrow's book does not balance");
    wrong(settled && book.payments.size() != std::size_t{slicing.items()} * slicing.macro_count,
          "a MicroJob was not paid");
    wrong(std::any_of(book.payments.begin(), book.payments.end(), [](const auto& p) { return p.second != 1; }),
          "a MicroJob was paid twice");

    // What was paid: verified by the contract, and all blocks of the file, and how many of them are wrong after all.
    auto found = std::set<std::uint64_t>{};
    for (const auto& record : contract.paid_records()) {
        wrong(!contract.judged_records().contains(record.digest), "something was paid that the contract never judged");
        const auto secret = contract.secret(record.macro);
        auto lies = std::uint64_t{0};
        for (std::uint32_t k = 0; k < record.accepted.size(); ++k) {
            const auto& result = *contract.result(record.accepted[k].digest);
            wrong(contract.culprits().contains(result.node.text()), "the culprit " + result.node.text() + " was paid");
            if (std::find(secret.verifiers.begin(), secret.verifiers.end(), k) != secret.verifiers.end()) { continue; }
            for (std::uint32_t i = 0; i < result.block_hashes.size(); ++i) {
                found.insert(secret.blocks[k][i]);
                lies += result.block_hashes[i] != contract.truth(secret.blocks[k][i]) ? 1U : 0U;
            }
        }
        if (lies > 0) {
            const auto phi = static_cast<double>(lies) / static_cast<double>(slicing.blocks_per_macro());
            audit.notes.push_back(fmt::format(
                "{} of {} blocks of MacroJob {} are wrong and were paid: phi = {:.3f}, s = {}, so that passes with "
                "probability (1-phi)^s = {:.3f} at most",
                lies, slicing.blocks_per_macro(), record.macro, phi, contract.samples(),
                std::pow(1 - phi, contract.samples())));
        }
    }
    wrong(settled && found.size() != block_count(slicing), "blocks of the file are lost");
    return audit;
}

}  // namespace jobs
