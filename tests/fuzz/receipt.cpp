#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/receipt.hpp>

#include "fuzz/support/decoding.hpp"
#include "fuzz/support/histories.hpp"
#include "fuzz/support/target.hpp"

namespace fuzz_receipt {

// An input is 0 and a receipt; or 1, a receipt, a snapshot without head and hashes, and log entries, the length before
// each.

namespace {

using D = allot::Dispatcher<>;

// A snapshot, the log from there on, and the receipts of all its choices.
struct Record {
    std::vector<std::uint8_t> snapshot{};
    std::vector<fuzz::Entry> log{};
    std::vector<fuzz::Bytes> receipts{};

    Record(std::uint64_t seed, int before, int length) {
        auto words = fuzz::Words{seed};
        auto d = D{};
        const auto few = allot::ValueQueueParameters{{1, 2}, 2};
        (void)d.apply(allot::command::Configure<D::Configuration>{few, 1}, {});
        (void)fuzz::lived(d, words, before);
        snapshot = allot::snapshot(d, 5);
        auto copy = d;
        log = fuzz::lived(copy, words, length);
        for (std::size_t i = 0; i < log.size(); ++i) {
            auto watch = allot::Receipts<D>{5 + i};
            auto events = allot::Events{};
            d.apply(log[i].command, log[i].moment, events, watch.trace());
            for (const auto& receipt : watch.all()) { receipts.push_back(allot::encode(receipt)); }
        }
    }
};

auto record() -> const Record& {
    static const auto made = Record{2026, 40, 12};
    return made;
}

auto believed(std::span<const std::uint8_t> receipt, const std::vector<std::uint8_t>& snapshot,
              const std::vector<fuzz::Entry>& log) -> bool {
    const auto form = fuzz::decoded<allot::Receipt>(receipt);
    const auto fault = allot::verify<D>(receipt, snapshot, log, D{});
    fuzz::ensure(form || (fault && fault->error == allot::ReceiptError::malformed), "what has no form is not believed");
    fuzz::ensure(!fault || message(fault->error) != "unknown error", "a fault is named");
    return !fault;
}

auto target(std::span<const std::uint8_t> input) -> bool {
    auto in = fuzz::Numbers{input};
    if (in.byte() % 2 == 0) {
        const auto given = in.bytes(in.left());
        const auto taken = believed(given, record().snapshot, record().log);
        const auto& all = record().receipts;
        const auto made = std::any_of(all.begin(), all.end(), [&](const fuzz::Bytes& one) {
            return std::equal(one.begin(), one.end(), given.begin(), given.end());
        });
        fuzz::ensure(taken == made, "those receipts are believed that were made");
        return taken;
    }
    const auto part = [&] { return in.bytes(in.below(65'536)); };
    const auto receipt = part();
    const auto snapshot = fuzz::forged<D>(part());
    auto log = std::vector<fuzz::Entry>{};
    while (in.left() > 0 && log.size() < 16) {
        if (auto entry = allot::decode<fuzz::Entry>(part())) { log.push_back(*std::move(entry)); }
    }
    return snapshot && believed(receipt, *snapshot, log);
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto all = std::vector<fuzz::Bytes>{};
    for (const auto& receipt : record().receipts) {
        all.push_back({0});
        all.back().insert(all.back().end(), receipt.begin(), receipt.end());
    }
    for (const auto before : {0, 4, 15}) {
        for (const auto seed : {1U, 2U}) {
            const auto small = Record{seed, before, 8};
            if (small.receipts.empty()) { continue; }
            auto input = fuzz::Bytes{1};
            const auto part = [&](const fuzz::Bytes& bytes) {
                input.push_back(static_cast<std::uint8_t>(bytes.size() >> 8U));
                input.push_back(static_cast<std::uint8_t>(bytes.size()));
                input.insert(input.end(), bytes.begin(), bytes.end());
            };
            part(small.receipts.back());
            part(fuzz::body_of(small.snapshot));
            for (const auto& entry : small.log) { part(allot::encode(entry)); }
            all.push_back(std::move(input));
        }
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(receipt, "any bytes are a receipt that was made, or are not believed")

}  // namespace fuzz_receipt
