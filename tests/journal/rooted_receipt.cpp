#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/rooted_receipt.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace rooted_receipt_test {

// A stranger who trusts a header takes receipt and snapshot from anybody, and believes what is true alone.

namespace {

using allot::HistoryHashes;
using allot::ReceiptError;
using allot::RootedReceipt;
using D = allot::Dispatcher<allot::ValueQueue>;
using Entry = allot::LogEntry<D::Command>;
using Bytes = std::vector<std::uint8_t>;

constexpr auto first_position = std::uint64_t{40};

// A log at random after a header, with the snapshot of the state that the header is of.
struct Block {
    D dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 3}}};
    support::Chaos<D> chaos;
    allot::ReceiptWriter<D> writer{dispatcher, first_position};
    Bytes snapshot{};
    HistoryHashes header{};
    std::vector<Entry> log{};
    std::vector<RootedReceipt> receipts{};

    Block(std::uint64_t seed, int before, int length) : chaos{seed} {
        auto history = allot::EventHash{};
        for (auto i = 0; i < before; ++i) {
            const auto entry = next();
            history.add(dispatcher.apply(entry.command, entry.moment));
        }
        writer = allot::ReceiptWriter<D>{dispatcher, first_position, history.value()};
        header = writer.hashes();
        snapshot = allot::snapshot(dispatcher, first_position);
        for (auto i = 0; i < length; ++i) { follow(next(), history); }
    }

    auto next() -> Entry {
        const auto moment = chaos.moment(dispatcher);
        return {moment, chaos.command(dispatcher)};
    }
    // The writer's hashes are those that are computed from the whole state and from all events.
    void follow(const Entry& entry, allot::EventHash& history) {
        auto events = allot::Events{};
        const auto before = writer.hashes();
        auto made = writer.apply(dispatcher, entry.command, entry.moment, events);
        history.add(events);
        REQUIRE(writer.hashes() == HistoryHashes{allot::state_root(dispatcher), history.value()});
        for (const auto& receipt : made) {
            REQUIRE(receipt.before == before);
            REQUIRE(receipt.after == writer.hashes());
        }
        log.push_back(entry);
        receipts.insert(receipts.end(), made.begin(), made.end());
    }

    auto fault(const Bytes& receipt) const {
        return allot::verify<D>(receipt, header, first_position, snapshot, log, D{});
    }
    template <class Change>
    auto fault_of(Change change) const {
        auto receipt = receipts.back();
        change(receipt);
        return fault(allot::encode(receipt)).value();
    }
};

void flip(std::span<std::uint8_t> bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
}

}  // namespace

TEST_CASE("every choice after a trusted header has a receipt that is true") {
    auto kinds = std::set<allot::DecisionKind>{};
    for (std::uint64_t i = 0; i < 4; ++i) {
        const auto block = Block{support::seed() + i, 150, 100};
        for (const auto& receipt : block.receipts) {
            REQUIRE_FALSE(block.fault(allot::encode(receipt)));
            kinds.insert(receipt.choice.kind);
        }
    }
    CHECK(kinds.size() == allot::enumerators<allot::DecisionKind>().size());
}

TEST_CASE("receipts with any bit flipped are refused") {
    const auto wanted = support::runs(15, 100);  // some 3,000 verifications each
    auto checked = 0;
    for (std::uint64_t i = 0; checked < wanted; ++i) {
        const auto block = Block{support::seed() + i, 8, 12};
        for (const auto& receipt : block.receipts) {
            if (checked == wanted) { break; }
            auto bytes = allot::encode(receipt);
            REQUIRE_FALSE(block.fault(bytes));
            for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
                flip(bytes, bit);
                if (!block.fault(bytes)) { FAIL("bit " << bit << " of receipt " << checked); }
                flip(bytes, bit);
            }
            ++checked;
        }
    }
}

TEST_CASE("the header, the snapshot and the log are those of the receipt") {
    const auto block = Block{support::seed(), 60, 60};
    const auto drawn = std::find_if(block.receipts.rbegin(), block.receipts.rend(),
                                    [](const RootedReceipt& r) { return r.choice.entropy.has_value(); });
    REQUIRE(drawn != block.receipts.rend());
    const auto bytes = allot::encode(*drawn);
    const auto fault = [&](const HistoryHashes& header, const Bytes& snapshot, std::span<const Entry> log) {
        return allot::verify<D>(bytes, header, first_position, snapshot, log, D{}).value();
    };
    for (std::size_t bit = 0; bit < 256; ++bit) {
        auto header = block.header;
        flip(header.state_root, bit);
        REQUIRE(fault(header, block.snapshot, block.log).error == ReceiptError::root_differs);
        header = block.header;
        flip(header.event_hash, bit);
        REQUIRE(fault(header, block.snapshot, block.log).field == "before");
    }
    // A snapshot of another state is sound, and still not the trusted one.
    const auto other = allot::snapshot(block.dispatcher, first_position);
    CHECK(fault(block.header, other, block.log).error == ReceiptError::root_differs);
    const auto position = static_cast<std::size_t>(drawn->choice.position - first_position);
    auto log = block.log;
    CHECK(fault(block.header, block.snapshot, std::span{log}.first(position)).error == ReceiptError::log_incomplete);
    log[position].moment.entropy = allot::Entropy{7};
    CHECK(fault(block.header, block.snapshot, log).error == ReceiptError::differs);
}

TEST_CASE("a receipt's position is counted from the trusted one, whatever the snapshot says") {
    const auto block = Block{support::seed(), 60, 60};
    REQUIRE_FALSE(block.receipts.empty());
    const auto loaded = allot::load_snapshot(block.snapshot, D{}, {allot::SnapshotParameters::taken_over});
    REQUIRE(loaded);
    const auto moved = allot::snapshot(loaded->dispatcher, first_position + 1'000);  // the same state and root
    auto receipt = block.receipts.back();
    const auto fault = [&](const Bytes& snapshot, std::uint64_t trusted) {
        return allot::verify<D>(allot::encode(receipt), block.header, trusted, snapshot, block.log, D{});
    };
    CHECK_FALSE(fault(block.snapshot, first_position));
    CHECK(fault(moved, first_position)->error == ReceiptError::position_differs);
    CHECK(fault(block.snapshot, first_position + 1)->error == ReceiptError::position_differs);
    receipt.choice.position += 1'000;
    CHECK(fault(moved, first_position)->error == ReceiptError::position_differs);
    CHECK(fault(block.snapshot, first_position)->error == ReceiptError::log_incomplete);
    CHECK_FALSE(fault(moved, first_position + 1'000));  // true for one who trusts that position
}

TEST_CASE("what is wrong with a rooted receipt is named") {
    const auto block = Block{support::seed(), 60, 60};
    REQUIRE_FALSE(block.receipts.empty());
    CHECK(block.fault({1, 2, 3})->error == ReceiptError::malformed);
    CHECK(block.fault(allot::encode(block.receipts.back().choice))->error == ReceiptError::malformed);
    CHECK(block.fault_of([](RootedReceipt& r) { r.choice.candidates += 1; }).field == "candidates");
    CHECK(block.fault_of([](RootedReceipt& r) { r.before.state_root[3] ^= 1U; }).field == "before");
    CHECK(block.fault_of([](RootedReceipt& r) { r.after.event_hash[3] ^= 1U; }).field == "after");
    CHECK(block.fault_of([](RootedReceipt& r) { r.choice.ordinal = 99; }).error == ReceiptError::no_such_choice);
    CHECK(block.fault_of([](RootedReceipt& r) { r.choice.position = 39; }).error == ReceiptError::log_incomplete);
    CHECK(message(ReceiptError::root_differs) != "unknown error");
    CHECK(message(ReceiptError::position_differs) != "unknown error");
}

TEST_CASE("a header's root may include an embedder's section") {
    auto block = Block{support::seed(), 60, 20};
    REQUIRE_FALSE(block.receipts.empty());
    const auto bytes = allot::encode(block.receipts.back());
    auto loaded = allot::load_snapshot(block.snapshot, D{}, {allot::SnapshotParameters::taken_over});
    REQUIRE(loaded);
    const auto section = allot::EmbeddedSection{"orders", {1, 2, 3}};
    const auto snapshot = allot::snapshot(loaded->dispatcher, first_position, section);
    auto header = block.header;
    CHECK(allot::verify<D>(bytes, header, first_position, snapshot, block.log, D{})->error ==
          ReceiptError::root_differs);
    header.state_root = allot::state_root(loaded->dispatcher, section);
    CHECK_FALSE(allot::verify<D>(bytes, header, first_position, snapshot, block.log, D{}));
}

}  // namespace rooted_receipt_test
