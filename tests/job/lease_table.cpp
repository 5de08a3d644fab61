#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <allot/job/lease_table.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using namespace std::chrono_literals;
using allot::LeaseFault;
using allot::TimePoint;

namespace {

using Table = allot::LeaseTable<std::uint32_t, std::string>;

auto at(allot::Duration time) -> TimePoint { return TimePoint{time}; }

auto table_of(std::uint32_t count) -> Table {
    auto table = Table{};
    for (std::uint32_t k = 0; k < count; ++k) { CHECK(table.add({k, 0, {}, false, {}})); }
    return table;
}

auto expired(Table& table, TimePoint now) -> std::vector<std::uint32_t> {
    auto keys = std::vector<std::uint32_t>{};
    table.expire(now, [&](const auto& item) {
        CHECK(item.hold);  // as it was
        keys.push_back(item.key);
    });
    return keys;
}

}  // namespace

TEST_CASE("the open items are those never leased and those whose lease expired, the lowest key first") {
    auto table = table_of(3);
    CHECK(table.first_open(at(0s))->key == 0);
    CHECK(table.acquire(0, "a", 1, at(0s), 15s) == LeaseFault::none);
    CHECK(table.first_open(at(0s))->key == 1);
    CHECK(table.acquire(1, "b", 2, at(1s), 15s) == LeaseFault::none);
    CHECK(table.acquire(2, "c", 3, at(2s), 15s) == LeaseFault::none);
    CHECK(table.first_open(at(14'999ms)) == nullptr);
    CHECK(table.first_open(at(15s))->key == 0);  // expired when now >= expires, though nobody called expire
    CHECK(table.first_open(at(20s), [](const auto& item) { return item.key != 0; })->key == 1);
    CHECK(table.find(0)->attempts == 1);
}

TEST_CASE("a held item is not leased, an unknown or closed one neither, and nothing changes") {
    auto table = table_of(2);
    REQUIRE(table.acquire(0, "a", 5, at(0s), 10s) == LeaseFault::none);
    CHECK_FALSE(table.add({0, 0, {}, false, {}}));
    const auto before = table;
    CHECK(table.acquire(0, "b", 6, at(9s), 10s) == LeaseFault::held);
    CHECK(table.acquire(7, "b", 6, at(9s), 10s) == LeaseFault::unknown);
    CHECK(table.acquire(0, "b", 5, at(10s), 10s) == LeaseFault::stale);  // its token must grow
    CHECK(table.acquire(0, "b", 4, at(10s), 10s) == LeaseFault::stale);
    CHECK(table.renew(1, 5, at(1s), 10s) == LeaseFault::not_held);
    CHECK(table.renew(0, 4, at(1s), 10s) == LeaseFault::stale);
    CHECK(table.renew(0, 5, at(10s), 10s) == LeaseFault::stale);  // what has expired stays so
    CHECK(table.release(0, 6, at(1s)) == LeaseFault::stale);
    CHECK(table.release(7, 6, at(1s)) == LeaseFault::unknown);
    CHECK(table.close(7) == LeaseFault::unknown);
    CHECK(table == before);
    REQUIRE(table.close(0) == LeaseFault::none);
    CHECK(table.acquire(0, "b", 6, at(20s), 10s) == LeaseFault::closed);
    CHECK(table.close(0) == LeaseFault::closed);
    CHECK(table.first_open(at(20s))->key == 1);
}

TEST_CASE("a renewal counts from now, never shortens, and is capped") {
    auto table = table_of(1);
    REQUIRE(table.acquire(0, "a", 1, at(0s), 10s) == LeaseFault::none);
    CHECK(table.renew(0, 1, at(4s), 10s, 2) == LeaseFault::none);
    CHECK(table.find(0)->hold->expires == at(14s));
    CHECK(table.renew(0, 1, at(5s), 1s, 2) == LeaseFault::none);
    CHECK(table.find(0)->hold->expires == at(14s));
    CHECK(table.renew(0, 1, at(6s), 10s, 2) == LeaseFault::capped);
    CHECK(table.next_deadline() == at(14s));
}

TEST_CASE("what is released or reopened is open from its time on") {
    auto table = table_of(1);
    REQUIRE(table.acquire(0, "a", 1, at(0s), 10s) == LeaseFault::none);
    CHECK(table.release(0, 1, at(5s)) == LeaseFault::none);
    CHECK(table.acquire(0, "b", 2, at(4s), 10s) == LeaseFault::not_yet);
    CHECK(table.first_open(at(4s)) == nullptr);
    CHECK(table.acquire(0, "b", 2, at(5s), 10s) == LeaseFault::none);
    CHECK(table.find(0)->attempts == 2);
    CHECK(table.close(0) == LeaseFault::none);
    CHECK(table.next_deadline() == std::nullopt);
    CHECK(table.reopen(0, at(30s)) == LeaseFault::none);
    CHECK(table.first_open(at(29s)) == nullptr);
    CHECK(table.first_open(at(30s))->key == 0);
}

TEST_CASE("who drops out loses its leases at once, and nobody else does") {
    auto table = table_of(4);
    REQUIRE(table.acquire(3, "a", 1, at(0s), 10s) == LeaseFault::none);
    REQUIRE(table.acquire(0, "a", 2, at(0s), 5s) == LeaseFault::none);
    REQUIRE(table.acquire(1, "a", 3, at(0s), 10s) == LeaseFault::none);
    REQUIRE(table.acquire(2, "b", 4, at(0s), 10s) == LeaseFault::none);
    CHECK(table.open_count(at(0s)) == 0);
    CHECK(table.open_count(at(5s)) == 1);
    auto dropped = std::vector<std::uint32_t>{};
    const auto drop = [&](const std::string& holder) {
        return table.drop_holder(holder, at(5s), [&](const auto& item) {
            CHECK(item.hold->holder == holder);  // as it was
            dropped.push_back(item.key);
        });
    };
    CHECK(drop("c") == 0);
    CHECK(drop("a") == 2);
    CHECK(dropped == std::vector<std::uint32_t>{1, 3});
    CHECK(drop("a") == 0);
    CHECK(table.open_count(at(5s)) == 3);
    CHECK(table.renew(1, 3, at(5s), 10s) == LeaseFault::not_held);
    CHECK(table.acquire(1, "b", 5, at(5s), 10s) == LeaseFault::none);
    CHECK(table.find(1)->attempts == 2);
    CHECK(table.find(2)->is_held(at(5s)));
    CHECK(expired(table, at(5s)) == std::vector<std::uint32_t>{0});  // that one had expired, and still says so
    REQUIRE(table.close(0) == LeaseFault::none);
    CHECK(table.open_count(at(5s)) == 1);
    CHECK(table.drop_holder("nobody", at(5s), [](const auto&) {}) == 0);
    CHECK(Table{}.open_count(at(0s)) == 0);
}

TEST_CASE("leases expire by time, then by key, each once") {
    auto table = table_of(4);
    REQUIRE(table.acquire(3, "a", 1, at(0s), 10s) == LeaseFault::none);
    REQUIRE(table.acquire(1, "a", 2, at(0s), 10s) == LeaseFault::none);
    REQUIRE(table.acquire(0, "a", 3, at(0s), 12s) == LeaseFault::none);
    REQUIRE(table.acquire(2, "a", 4, at(0s), 30s) == LeaseFault::none);
    CHECK(expired(table, at(9'999ms)).empty());
    CHECK(expired(table, at(12s)) == std::vector<std::uint32_t>{1, 3, 0});
    CHECK(expired(table, at(12s)).empty());
    CHECK(table.next_deadline() == at(30s));
}

TEST_CASE("whatever is done, the table answers as a map that is searched through, and its items make it anew") {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    auto table = table_of(8);
    auto model = std::map<std::uint32_t, Table::Item>{};
    for (const auto& item : table.items()) { model[item.key] = item; }
    auto token = std::uint64_t{0};
    for (auto step = 0; step < 20'000; ++step) {
        const auto now = at(allot::Duration{step * 100});
        const auto key = below(8);
        auto& item = model[key];
        const auto held = item.hold.has_value();
        const auto holder = std::string{key % 2 == 0 ? "even" : "odd"};
        switch (below(8)) {
            case 0:
            case 1: {
                const auto open = item.is_open(now);
                REQUIRE((table.acquire(key, holder, ++token, now, 1s) == LeaseFault::none) == open);
                if (open) {
                    item.hold = Table::Grant{holder, token, now, now + 1s, 0};
                    ++item.attempts;
                }
                break;
            }
            case 2: {
                const auto live = held && !item.closed && now < item.hold->expires;
                REQUIRE((table.renew(key, held ? item.hold->token : 0, now, 2s) == LeaseFault::none) == live);
                if (live) {
                    item.hold->expires = std::max(item.hold->expires, now + 2s);
                    ++item.hold->renewals;
                }
                break;
            }
            case 3: {
                REQUIRE((table.release(key, held ? item.hold->token : 0, now + 300ms) == LeaseFault::none) == held);
                if (held) {
                    item.hold.reset();
                    item.not_before = now + 300ms;
                }
                break;
            }
            case 4:
                (void)table.close(key);
                item.closed = true;
                item.hold.reset();
                break;
            case 5:
                (void)table.reopen(key, now);
                item.closed = false;
                item.hold.reset();
                item.not_before = now;
                break;
            case 6: {
                auto count = std::uint32_t{0};
                for (auto& [k, m] : model) {
                    if (m.hold && now < m.hold->expires && m.hold->holder == holder) {
                        m.hold.reset();
                        ++count;
                    }
                }
                REQUIRE(table.drop_holder(holder, now, [](const auto&) {}) == count);
                break;
            }
            default: {
                auto count = std::uint32_t{0};
                for (auto& [k, m] : model) {
                    if (m.hold && now >= m.hold->expires) {
                        m.not_before = std::max(m.not_before, m.hold->expires);
                        m.hold.reset();
                        ++count;
                    }
                }
                REQUIRE(table.expire(now, [](const auto&) {}) == count);
            }
        }
        const auto* open = table.first_open(now);
        auto expected = std::uint32_t{8};
        auto count = std::uint32_t{0};
        for (const auto& [k, m] : model) {
            expected = std::min(expected, m.is_open(now) ? k : 8U);
            count += m.is_open(now) ? 1U : 0U;
        }
        REQUIRE(table.open_count(now) == count);
        REQUIRE((open == nullptr ? 8U : open->key) == expected);
        auto items = std::vector<Table::Item>{};
        for (const auto& [k, m] : model) { items.push_back(m); }
        REQUIRE(table.items() == items);
        REQUIRE(Table{items} == table);
    }
}
