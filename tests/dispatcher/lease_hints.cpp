#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include <allot/core/event_fields.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/journal/encode.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// A lease carries a hint where the records are that it names. It speeds a verb up, and nothing else: a forged, stale or
// missing hint changes no result.

namespace {

using Command = allot::Dispatcher<>::Command;

/// True if a hint leads to the records that the lease names.
auto leads(const allot::Dispatcher<>& d, const allot::Lease& lease) -> bool {
    const auto& state = d.state();
    const auto [task, handle, node] = lease.hint;
    return state.tasks().contains(task) && state.tasks()[task].id == lease.task && state.nodes().contains(node) &&
           state.nodes()[node].node.id == lease.node && state.leases().contains(handle) &&
           state.leases()[handle].token == lease.token;
}

/// A hint that somebody made up.
auto forged(Chaos<allot::Dispatcher<>>& chaos) -> allot::LeaseHint {
    const auto number = [&] {
        switch (chaos.below(4)) {
            case 0: return static_cast<std::uint32_t>(chaos.below(50));
            case 1: return static_cast<std::uint32_t>(chaos.below(100'000));
            case 2: return ~std::uint32_t{0} - static_cast<std::uint32_t>(chaos.below(3));
            default: return static_cast<std::uint32_t>(chaos.below(std::uint64_t{1} << 32U));
        }
    };
    return {allot::TaskHandle{number()}, allot::LeaseHandle{number()}, allot::NodeHandle{number()}};
}

/// Replaces the hint of a command, if it names a lease.
void set_hint(Command& command, const allot::LeaseHint& hint) {
    std::visit(
        [&](auto& c) {
            if constexpr (requires { c.lease.hint; }) { c.lease.hint = hint; }
        },
        command);
}

}  // namespace

TEST_CASE("each lease that a dispatcher tells of has a hint that leads to its records") {
    auto chaos = Chaos<allot::Dispatcher<>>{seed(), true};
    auto d = allot::Dispatcher<>{};
    auto told = 0;
    for (auto i = 0; i < 3'000; ++i) {
        const auto events = d.apply(chaos.command(d), chaos.moment(d));
        for (const auto& event : events) {
            if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
                // It may have ended with the same command.
                if (d.lease(started->lease.task) == started->lease) {
                    CHECK(leads(d, started->lease));
                    ++told;
                }
            }
        }
        d.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
            d.each_lease_of(task.id, [&](const allot::Lease& lease) { CHECK(leads(d, lease)); });
        });
    }
    CHECK(told > 100);
}

TEST_CASE("forged hints change no result, one by one or in a batch") {
    auto chaos = Chaos<allot::Dispatcher<>>{seed(), true};
    auto plain = allot::Dispatcher<>{};
    auto misled = allot::Dispatcher<>{};
    auto in_batches = allot::Dispatcher<>{};
    auto forgeries = 0;
    for (auto round = 0; round < 400; ++round) {
        const auto moment = chaos.moment(plain);
        auto wrong = std::vector<Command>{};
        auto events = allot::Events{};
        auto others = allot::Events{};
        auto third = allot::Events{};
        for (auto i = 0; i < 8; ++i) {
            auto command = chaos.command(plain);
            plain.apply(command, moment, events);
            set_hint(command, forged(chaos));
            misled.apply(command, moment, others);
            wrong.push_back(command);
            forgeries += std::holds_alternative<allot::command::Complete>(command) ? 1 : 0;
        }
        in_batches.apply(std::span<const Command>{wrong}, moment, third);
        REQUIRE(events.size() == others.size());
        REQUIRE(events.size() == third.size());
        for (std::size_t i = 0; i < events.size(); ++i) {
            REQUIRE(allot::encode(events[i]) == allot::encode(others[i]));
            REQUIRE(allot::encode(events[i]) == allot::encode(third[i]));
        }
        REQUIRE(plain == misled);
        REQUIRE(plain == in_batches);
    }
    CHECK(plain.digest() == misled.digest());
    CHECK(forgeries > 50);
}

TEST_CASE("a hint of records that are gone, whose memory was given back, is harmless") {
    auto d = allot::Dispatcher<>{};
    auto leases = std::vector<allot::Lease>{};
    join_plain(d, 5'000);
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
        leases.push_back(*d.submit(plain_task(i), at(0s)).or_throw().lease());
    }
    for (const auto& lease : leases) { ok(d.complete(lease, at(1s))); }
    for (std::uint64_t i = 1; i <= 5'000; ++i) { ok(d.leave(allot::NodeId{i}, at(2s))); }
    for (auto day = 1; day < 400; ++day) { (void)d.advance(at(std::chrono::hours{24 * day})); }
    for (const auto& lease : leases) { CHECK_FALSE(d.complete(lease, at(std::chrono::hours{24 * 400})).accepted()); }
}

TEST_CASE("a hint is no part of a lease's value, its bytes or its fields") {
    auto lease = allot::Lease{allot::TaskId{1}, allot::NodeId{2}, 3, 0, 1, {}};
    auto hinted = lease;
    hinted.hint = {allot::TaskHandle{7}, allot::LeaseHandle{8}, allot::NodeHandle{9}};
    CHECK(lease == hinted);
    CHECK(allot::encode(lease) == allot::encode(hinted));
    auto fields = 0;
    allot_fields(std::type_identity<allot::Lease>{}, hinted, [&](auto, const auto&) { ++fields; });
    CHECK(fields == 6);
}
