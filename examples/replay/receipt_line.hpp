#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <allot/journal/rooted_receipt.hpp>
#include <allot/json.hpp>

#include "json_lines.hpp"
#include "log_input.hpp"

namespace replay {

/// A receipt as a line of JSON: some of its fields for people, and its bytes, which state all of them.
struct ReceiptLine {
    std::uint64_t position = 0;
    std::uint32_t ordinal = 0;
    allot::DecisionKind kind = allot::DecisionKind::draw;
    allot::TaskId task = allot::TaskId::null();
    std::optional<allot::NodeId> node{};  ///< None for an eviction and for a draw that found no node.
    std::uint32_t candidates = 0;
    allot::u128 weight{};
    allot::u128 weight_total{};
    std::string receipt{};  ///< `encode` of a `RootedReceipt`.

    friend auto operator==(const ReceiptLine&, const ReceiptLine&) -> bool = default;
};
ALLOT_FIELDS(ReceiptLine, position, ordinal, kind, task, node, candidates, weight, weight_total, receipt)

[[nodiscard]] inline auto line_of(const allot::RootedReceipt& rooted) -> ReceiptLine {
    const auto& choice = rooted.choice;
    const auto bytes = allot::encode(rooted);
    auto line = ReceiptLine{choice.position,   choice.ordinal, choice.kind,         choice.task, std::nullopt,
                            choice.candidates, choice.weight,  choice.weight_total, {}};
    if (choice.node != allot::NodeId::null()) { line.node = choice.node; }
    line.receipt.assign(bytes.begin(), bytes.end());
    return line;
}

/// True if the fields for people are those of the receipt.
[[nodiscard]] inline auto states_its_receipt(const ReceiptLine& line) -> bool {
    const auto bytes = std::vector<std::uint8_t>(line.receipt.begin(), line.receipt.end());
    const auto receipt = allot::decode<allot::RootedReceipt>(bytes);
    return receipt && line_of(*receipt) == line;
}

/// Returns the receipts of a file by position. Throws `InputError`.
[[nodiscard]] inline auto receipts_from(const std::string& path) -> std::multimap<std::uint64_t, ReceiptLine> {
    auto file = std::ifstream{path, std::ios::binary};
    if (!file.is_open()) { throw InputError{path + ": cannot be read"}; }
    auto lines = JsonLines<ReceiptLine>{file};
    auto all = std::multimap<std::uint64_t, ReceiptLine>{};
    while (auto line = lines.next()) { all.emplace(line->position, *std::move(line)); }
    if (lines.fault()) { throw InputError{path + ": " + lines.fault()->message()}; }
    return all;
}

}  // namespace replay
