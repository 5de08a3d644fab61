#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/receipt.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace receipt_test {

// A receipt is believed when the choice is made again as it states, and no bit of it may be another.

namespace {

using allot::DecisionKind;
using allot::Receipt;
using allot::ReceiptError;
using D = allot::Dispatcher<allot::ValueQueue>;
using Linear = allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;
using Entry = allot::LogEntry<D::Command>;
using LinearEntry = allot::LogEntry<Linear::Command>;

// A log at random, a snapshot of the state it starts from, and the receipts of all its choices.
struct Record {
    std::vector<std::uint8_t> snapshot{};
    std::vector<Entry> log{};
    std::vector<Receipt> receipts{};

    explicit Record(std::uint64_t seed, std::uint64_t position, int before = 150, int length = 150) {
        auto d = D{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 3}}};
        auto chaos = support::Chaos<D>{seed};
        const auto next = [&]() -> Entry {
            auto moment = chaos.moment(d);
            return {moment, chaos.command(d)};
        };
        for (auto i = 0; i < before; ++i) {
            const auto entry = next();
            (void)d.apply(entry.command, entry.moment);
        }
        snapshot = allot::snapshot(d, position);
        for (auto i = 0; i < length; ++i) {
            log.push_back(next());
            auto watch = allot::Receipts<D>{position + static_cast<std::uint64_t>(i)};
            auto events = allot::Events{};
            d.apply(log.back().command, log.back().moment, events, watch.trace());
            receipts.insert(receipts.end(), watch.all().begin(), watch.all().end());
        }
    }

    auto fault(const std::vector<std::uint8_t>& bytes) const { return allot::verify<D>(bytes, snapshot, log, D{}); }
};

}  // namespace

TEST_CASE("every choice has a receipt that is true, also to linear models") {
    auto kinds = std::map<DecisionKind, int>{};
    for (std::uint64_t i = 0; i < 4; ++i) {
        const auto record = Record{support::seed() + i, 40 * i};
        auto linear_log = std::vector<LinearEntry>{};
        for (const auto& [moment, command] : record.log) { linear_log.push_back({moment, command}); }
        for (const auto& receipt : record.receipts) {
            ++kinds[receipt.kind];
            REQUIRE_FALSE(record.fault(allot::encode(receipt)));
            REQUIRE_FALSE(allot::verify<Linear>(allot::encode(receipt), record.snapshot, linear_log, Linear{}));
            const auto lots = receipt.kind == DecisionKind::draw || receipt.kind == DecisionKind::copy;
            CHECK(receipt.candidates > 0);
            CHECK(receipt.entropy.has_value() == lots);
            CHECK((receipt.weight_total > allot::u128{0}) == lots);
            CHECK(receipt.weight <= receipt.weight_total);
        }
    }
    for (const auto kind : allot::enumerators<DecisionKind>()) {
        INFO(allot::enumerator_name(kind));
        CHECK(kinds[kind] > 0);
    }
}

TEST_CASE("a receipt with any bit flipped is refused") {
    auto flipped = std::map<DecisionKind, std::size_t>{};
    for (std::uint64_t i = 0; i < 20 && flipped.size() < 4; ++i) {
        const auto record = Record{support::seed() + i, 1'000, 150, 40};
        for (const auto& receipt : record.receipts) {
            if (flipped.contains(receipt.kind)) { continue; }
            auto bytes = allot::encode(receipt);
            for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
                bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
                INFO("bit " << bit << " of a receipt of " << allot::enumerator_name(receipt.kind));
                REQUIRE(record.fault(bytes));
                bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            }
            REQUIRE_FALSE(record.fault(bytes));
            flipped[receipt.kind] = bytes.size() * 8;
        }
    }
    CHECK(flipped.size() == 4);
}

TEST_CASE("what is wrong with a receipt is named") {
    const auto record = Record{support::seed(), 10};
    REQUIRE_FALSE(record.receipts.empty());
    const auto fault = [&](auto change) {
        auto receipt = record.receipts.front();
        change(receipt);
        return record.fault(allot::encode(receipt)).value();
    };
    CHECK(fault([](Receipt& r) { r.weight += allot::u128{1}; }).field == "weight");
    CHECK(fault([](Receipt& r) { r.candidates += 1; }).field == "candidates");
    CHECK(fault([](Receipt& r) { r.rules_version += 1; }).field == "rules_version");
    CHECK(fault([](Receipt& r) { r.ordinal = 9'999; }).error == ReceiptError::no_such_choice);
    CHECK(fault([](Receipt& r) { r.position = 9; }).error == ReceiptError::log_incomplete);
    CHECK(fault([](Receipt& r) { r.position = 10 + 150; }).error == ReceiptError::log_incomplete);
    CHECK(fault([](Receipt& r) { r.position = ~std::uint64_t{0}; }).error == ReceiptError::log_incomplete);
    CHECK(record.fault({1, 2, 3})->error == ReceiptError::malformed);
    auto damaged = record;
    damaged.snapshot[30] ^= 1U;
    const auto refused = damaged.fault(allot::encode(record.receipts.front()));
    REQUIRE(refused);
    CHECK(refused->error == ReceiptError::snapshot_refused);
    CHECK(refused->snapshot->error == allot::SnapshotError::damaged);
}

TEST_CASE("a candidate's share of the total is its probability") {
    auto d = D{};
    const auto m = support::at({});
    for (auto i = 1; i <= 4; ++i) {  // equal nodes
        support::ok(d.join(support::plain_node(i), m));
    }
    auto watch = allot::Receipts<D>{0};
    auto events = allot::Events{};
    d.apply(allot::command::Submit{support::plain_task(1)}, m, events, watch.trace());
    REQUIRE(watch.all().size() == 1);
    const auto& receipt = watch.all().front();
    CHECK(receipt.candidates == 4);
    CHECK(receipt.weight_total == receipt.weight * 4);
    CHECK(receipt.task == allot::TaskId{1});
    CHECK(receipt.attempt == 0);
    CHECK(receipt.entropy == m.entropy);
}

// The candidates are counted from the records, what was drawn comes from the indices: two ways to one answer.
TEST_CASE("whoever is drawn or asked is among the candidates, with the weight that is stated") {
    using R = allot::Dispatcher<allot::Rules>;
    struct Seen {
        std::map<DecisionKind, int> good{};
        static void sees(void* self, const R::View& d, const allot::Decision& choice) {
            auto found = 0;
            const auto node = [&](allot::NodeHandle h, allot::Weight weight) {
                found += h == choice.drawn.node && weight == choice.drawn.weight ? 1 : 0;
            };
            auto best = &choice.task;
            switch (choice.kind) {
                case DecisionKind::draw: d.each_candidate(choice, node); break;
                case DecisionKind::copy: d.each_fetcher(choice.task, choice.model, node); break;
                case DecisionKind::pull:
                    d.each_runnable(choice.drawn.node, [&](allot::TaskHandle, const allot::Task& task) {
                        found += task.id == choice.task.id ? 1 : 0;
                        const auto better =
                            task.value != best->value ? task.value > best->value : task.sequence < best->sequence;
                        best = better ? &task : best;
                    });
                    REQUIRE(best->id == choice.task.id);
                    break;
                case DecisionKind::eviction: found = 1; break;
            }
            REQUIRE(found == 1);
            ++static_cast<Seen*>(self)->good[choice.kind];
        }
    };
    auto seen = Seen{};
    for (const auto narrowing : allot::enumerators<allot::Narrowing>()) {
        auto d = R{allot::Rules{{.narrowing = narrowing}}};
        auto chaos = support::Chaos<R>{support::seed()};
        auto events = allot::Events{};
        for (auto i = 0; i < 1'500; ++i) {
            const auto moment = chaos.moment(d);
            const auto command = chaos.command(d);
            if (!std::holds_alternative<allot::command::Configure<R::Configuration>>(command)) {
                events.clear();
                d.apply(command, moment, events, {&seen, Seen::sees});
            }
        }
    }
    CHECK(seen.good[DecisionKind::draw] > 100);
    CHECK(seen.good[DecisionKind::copy] > 10);
    CHECK(seen.good[DecisionKind::pull] > 10);
}

}  // namespace receipt_test
