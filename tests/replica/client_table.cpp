#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/replica/client_table.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace client_table_test {
namespace {

using namespace std::chrono_literals;
using allot::ClientId;
using allot::ClientTable;
using allot::Error;
using allot::SessionId;
using allot::TimePoint;
using allot::Verdict;

auto few() -> allot::ReplicaParameters {
    auto p = allot::ReplicaParameters{};
    p.sessions_max = 6;
    p.sessions_per_client_max = 3;
    p.session_ttl = 100ms;
    return p;
}

auto at(int ms) -> TimePoint { return TimePoint{allot::Duration{ms}}; }

auto bytes_of(const ClientTable& table) -> std::vector<std::uint8_t> {
    auto bytes = std::vector<std::uint8_t>{};
    auto out = allot::Encoder{bytes};
    table.put(out);
    return bytes;
}

auto read(const std::vector<std::uint8_t>& bytes) -> std::pair<ClientTable, bool> {
    auto in = allot::ByteReader{bytes};
    auto table = ClientTable::get(in);
    in.end();
    return {std::move(table), !in.fault()};
}

// Opens a session at an index, which is also its time.
auto open(ClientTable& table, SessionId session, ClientId client, int index) -> Verdict {
    return table.open({session, client, {}}, few(), at(index), static_cast<std::uint64_t>(index));
}

}  // namespace

TEST_CASE("the next request of a session is applied, the last one is a duplicate, all others are told why not") {
    auto table = ClientTable{};
    CHECK(table.admit("s", 1) == Verdict::session_unknown);
    REQUIRE(open(table, "s", "anna", 7) == Verdict::registered);
    CHECK(table.admit("s", 7) == Verdict::stale);
    CHECK(table.admit("s", 8) == Verdict::applied);
    CHECK(table.admit("s", 9) == Verdict::gap);
    table.answer("s", {8, 9, {std::nullopt, Error::node_unknown}}, few(), at(9));
    CHECK(table.admit("s", 7) == Verdict::stale);
    CHECK(table.admit("s", 8) == Verdict::duplicate);
    CHECK(table.admit("s", 9) == Verdict::applied);
    CHECK(table.admit("s", 10) == Verdict::gap);
    CHECK(table.find("s")->last == allot::LastRequest{8, 9, {std::nullopt, Error::node_unknown}});
}

TEST_CASE("a session that is opened again keeps its last answer, and another client cannot take it") {
    auto table = ClientTable{};
    REQUIRE(open(table, "s", "anna", 1) == Verdict::registered);
    table.answer("s", {2, 2, {}}, few(), at(2));
    CHECK(open(table, "s", "bert", 3) == Verdict::session_taken);
    CHECK(open(table, "s", "anna", 4) == Verdict::registered);
    CHECK(table.admit("s", 2) == Verdict::duplicate);
    CHECK(open(table, SessionId::null(), "anna", 5) == Verdict::id_invalid);
    CHECK(open(table, "t", ClientId::null(), 5) == Verdict::id_invalid);
    CHECK(table.size() == 1);
}

TEST_CASE("a late copy of a session's first life is never applied in its second") {
    auto table = ClientTable{};
    REQUIRE(open(table, "s", "anna", 1) == Verdict::registered);
    table.answer("s", {2, 2, {}}, few(), at(2));
    table.expire(at(102));
    REQUIRE(table.admit("s", 2) == Verdict::session_unknown);
    REQUIRE(open(table, "s", "anna", 103) == Verdict::registered);
    CHECK(table.admit("s", 2) == Verdict::stale);
    CHECK(table.admit("s", 104) == Verdict::applied);
}

TEST_CASE("a client that opens too many sessions closes its own oldest, and no other client's") {
    auto table = ClientTable{};
    REQUIRE(open(table, "b", "bert", 1) == Verdict::registered);
    for (auto i = 2; i < 90; ++i) {
        REQUIRE(open(table, SessionId{i}, "anna", i) == Verdict::registered);
        REQUIRE(table.size() <= 4);
        REQUIRE(table.find("b") != nullptr);
    }
    CHECK(table.find(SessionId{86}) == nullptr);
    CHECK(table.find(SessionId{87}) != nullptr);
    table.answer(SessionId{87}, {88, 95, {}}, few(), at(95));
    REQUIRE(open(table, "new", "anna", 96) == Verdict::registered);
    CHECK(table.find(SessionId{87}) != nullptr);  // it was used since
    CHECK(table.find(SessionId{88}) == nullptr);
}

TEST_CASE("a full table refuses a client without a session, and lets the others exchange theirs") {
    auto table = ClientTable{};
    for (auto i = 1; i <= 6; ++i) { REQUIRE(open(table, SessionId{i}, ClientId{i}, i) == Verdict::registered); }
    CHECK(open(table, "s", "late", 10) == Verdict::sessions_full);
    CHECK(open(table, "t", ClientId{3}, 11) == Verdict::registered);
    CHECK(table.find(SessionId{3}) == nullptr);
    CHECK(table.size() == 6);
}

TEST_CASE(
    "an unused session ends after its time, not earlier; use lengthens it, its expiry and an outage do not vanish") {
    auto table = ClientTable{};
    REQUIRE(open(table, "s", "anna", 0) == Verdict::registered);
    REQUIRE(table.open({"t", "anna", at(50)}, few(), at(0), 1) == Verdict::registered);
    table.expire(at(49));
    CHECK(table.find("t") != nullptr);
    table.expire(at(50));
    CHECK(table.find("t") == nullptr);
    table.answer("s", {1, 2, {}}, few(), at(60));
    table.expire(at(159));
    CHECK(table.find("s") != nullptr);
    table.postpone(1'000ms);
    table.expire(at(1'159));
    CHECK(table.find("s") != nullptr);
    table.expire(at(1'160));
    CHECK(table.find("s") == nullptr);
}

TEST_CASE("an outage lengthens an unused session, but never beyond its expiry, which stays where it was in log time") {
    auto table = ClientTable{};
    REQUIRE(table.open({"s", "anna", at(250)}, few(), at(0), 1) == Verdict::registered);  // unused it ends at 100
    REQUIRE(table.open({"t", "bert", at(50)}, few(), at(0), 2) == Verdict::registered);
    REQUIRE(table.open({"u", "carl", {}}, few(), at(0), 3) == Verdict::registered);
    table.begin();
    table.postpone(100ms);
    table.expire(at(60));
    CHECK(table.find("t") == nullptr);  // the outage did not help it
    table.rollback();
    CHECK(table.find("t") != nullptr);
    table.expire(at(49));
    CHECK(table.find("t") != nullptr);
    table.postpone(100ms);
    table.expire(at(50));
    CHECK(table.find("t") == nullptr);
    table.expire(at(199));
    CHECK(table.find("s") != nullptr);  // 100 and the outage
    table.answer("s", {2, 4, {}}, few(), at(199));
    table.postpone(40ms);
    table.answer("u", {4, 5, {}}, few(), at(199));
    auto again = read(bytes_of(table)).first;
    for (auto* each : {&table, &again}) {
        each->expire(at(249));
        CHECK(each->find("s") != nullptr);
        each->expire(at(250));
        CHECK(each->find("s") == nullptr);  // its use at 199 and the second outage do not reach beyond it
        CHECK(each->find("u") != nullptr);
    }
    CHECK(table.root() == again.root());
}

TEST_CASE("any step is taken back whole, and any table comes back from its bytes and from no others") {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::uint64_t n) { return random() % n; };
    auto table = ClientTable{};
    auto now = 0;
    for (auto step = std::uint64_t{1}; step < 3'000; ++step) {
        const auto before = table;
        const auto back = below(3) == 0;
        table.begin();
        for (auto n = below(4); n > 0; --n) {
            const auto session = SessionId{below(12) + 1};
            switch (below(4)) {
                case 0: {
                    const auto ends =
                        below(3) == 0 ? std::optional{at(now + static_cast<int>(below(90)))} : std::nullopt;
                    (void)table.open({session, ClientId{below(4) + 1}, ends}, few(), at(now), step);
                    break;
                }
                case 1:
                    if (const auto* known = table.find(session)) {
                        table.answer(session, {known->last.seq + 1, step, {Error::task_ended}}, few(), at(now));
                    }
                    break;
                case 2: table.expire(at(now += static_cast<int>(below(60)))); break;
                default: table.postpone(allot::Duration{below(3)}); break;
            }
        }
        if (below(4) == 0) { (void)table.root(); }  // else it follows several steps at once
        if (back) {
            table.rollback();
            REQUIRE(table == before);
            REQUIRE(bytes_of(table) == bytes_of(before));
        }
        const auto bytes = bytes_of(table);
        auto [again, good] = read(bytes);
        REQUIRE(good);
        REQUIRE(again == table);
        if (below(2) == 0) { REQUIRE(again.root() == table.root()); }  // that of a table which followed nothing
        auto cut = bytes;
        cut.resize(below(bytes.size()));
        REQUIRE_FALSE(read(cut).second);
        auto flipped = bytes;
        flipped[below(bytes.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        const auto [other, taken] = read(flipped);
        REQUIRE((!taken || bytes_of(other) == flipped));
    }
}

TEST_CASE("a new session takes the lowest free slot, and bytes with a slot twice or beyond the limit are refused") {
    auto table = ClientTable{};
    for (auto i = 1; i <= 3; ++i) { REQUIRE(open(table, SessionId{i}, ClientId{i}, i) == Verdict::registered); }
    CHECK(table.find(SessionId{3})->slot == 2);
    table.expire(at(101));
    REQUIRE(open(table, SessionId{9}, ClientId{9}, 102) == Verdict::registered);
    CHECK(table.find(SessionId{9})->slot == 0);
    auto bytes = bytes_of(table);  // which end with the slot of the last session
    const auto with_slot = [&](std::uint32_t slot) {
        for (auto i = 0U; i < 4; ++i) { bytes[bytes.size() - 4 + i] = static_cast<std::uint8_t>(slot >> (8 * i)); }
        return read(bytes).second;
    };
    CHECK(with_slot(5));
    CHECK(with_slot(allot::ReplicaParameters::sessions_limit - 1));
    CHECK_FALSE(with_slot(allot::ReplicaParameters::sessions_limit));
    CHECK_FALSE(with_slot(table.find(SessionId{2})->slot));
}

TEST_CASE("a table that was taken back and one that was read close the same sessions afterwards") {
    auto table = ClientTable{};
    for (auto i = 1; i <= 3; ++i) { REQUIRE(open(table, SessionId{i}, "anna", i) == Verdict::registered); }
    auto kept = table;
    table.begin();
    (void)open(table, "x", "anna", 9);
    table.rollback();
    auto again = read(bytes_of(table)).first;
    for (auto* each : {&kept, &table, &again}) {
        REQUIRE(open(*each, "y", "anna", 10) == Verdict::registered);
        each->expire(at(103));
    }
    CHECK(kept == table);
    CHECK(kept == again);
    CHECK(kept.size() == 1);
}

TEST_CASE("every verdict has a number, a name and a sentence") {
    for (const auto verdict : allot::enumerators<Verdict>()) {
        CHECK(message(verdict) != "unknown verdict");
        CHECK_FALSE(allot::enumerator_name(verdict).empty());
    }
    CHECK(message(Verdict{}) == "unknown verdict");
}

}  // namespace client_table_test
