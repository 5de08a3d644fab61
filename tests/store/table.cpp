#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/store/table.hpp>

#include "support/catch.hpp"

namespace {

using allot::NodeHandle;
using allot::NodeId;

struct Record {
    NodeId id = NodeId{0};
    int value = 0;
    friend auto operator==(const Record&, const Record&) -> bool = default;
};
using Plain = allot::Table<NodeHandle, Record>;
using Named = allot::NamedTable<NodeHandle, Record>;

auto handles(const Plain& table) {
    auto list = std::vector<std::uint32_t>{};
    table.for_each([&](NodeHandle h, const Record&) { list.push_back(h.value); });
    return list;
}

}  // namespace

TEST_CASE("a table gives the lowest free handle and gives back what it removes") {
    auto table = Plain{};
    auto out = std::optional<Record>{};
    CHECK(table.next() == NodeHandle{0});
    CHECK(table.reach() == 0);
    table.create({0}, Record{7, 1});
    table.create({1}, Record{8, 2});
    CHECK(table.size() == 2);
    CHECK(table.reach() == 2);
    table.at({0}).value = 3;
    CHECK(table[{0}].value == 3);
    table.destroy({0}, out);
    CHECK(out == Record{7, 3});
    CHECK_FALSE(table.contains({0}));
    CHECK(table.find_record({0}) == nullptr);
    CHECK(table.find_record({1})->value == 2);
    CHECK(table.next() == NodeHandle{0});
    CHECK(handles(table) == std::vector<std::uint32_t>{1});
    CHECK(table.reach() == 2);
    table.destroy({1}, out);
    CHECK(table.reach() == 0);
}

TEST_CASE("tables are equal when they hold equal records under equal handles") {
    auto a = Plain{};
    auto b = Plain{};
    auto out = std::optional<Record>{};
    a.create({3}, Record{7, 1});
    CHECK_FALSE(a == b);
    b.create({3}, Record{7, 1});
    CHECK(a == b);
    b.at({3}).value = 2;
    CHECK_FALSE(a == b);
    b.at({3}).value = 1;
    b.create({9}, Record{8, 1});
    b.destroy({9}, out);
    CHECK(a == b);
}

TEST_CASE("a named table finds records by name, through every change") {
    auto table = Named{{1, 2}};
    auto out = std::optional<Record>{};
    table.create({0}, Record{"alice", 1});
    table.create({1}, Record{"bob", 2});
    CHECK(table.find("alice") == NodeHandle{0});
    CHECK(table.find("bob") == NodeHandle{1});
    CHECK(table.guess(table.hash("bob")) == 1U);
    table.at({0}).value = 5;
    CHECK(table.find("alice") == NodeHandle{0});
    table.destroy({0}, out);
    CHECK_FALSE(table.find("alice"));
    table.create({0}, Record{"carol", 5});
    CHECK(table.find("carol") == NodeHandle{0});
    CHECK(table.find("bob") == NodeHandle{1});
}

TEST_CASE("a table that was told which name comes next answers as if it had not been") {
    auto table = Named{{1, 2}};
    auto out = std::optional<Record>{};
    table.expect("alice", table.hash("alice"));
    CHECK_FALSE(table.find("alice"));
    table.create({0}, Record{"alice", 1});
    CHECK(table.find("alice") == NodeHandle{0});
    table.create({1}, Record{"bob", 2});
    CHECK(table.find("bob") == NodeHandle{1});
    table.expect("bob", table.hash("bob"));
    CHECK(table.find("alice") == NodeHandle{0});
    table.destroy({0}, out);
    CHECK_FALSE(table.find("alice"));
    table.destroy({1}, out);
    CHECK_FALSE(table.find("bob"));
    table.create({0}, Record{"bob", 3});
    table.expect("carol", table.hash("carol"));
    CHECK(table.find("bob") == NodeHandle{0});
    CHECK_FALSE(table.find(NodeId::null()));
}

TEST_CASE("each record of a table that is aligned to cache lines begins one") {
    auto table = allot::Table<NodeHandle, Record, 64>{};
    for (std::uint32_t h = 0; h < 4; ++h) {
        table.create({h}, Record{h, 1});
        CHECK(reinterpret_cast<std::uintptr_t>(&table[{h}]) % 64 == 0);
    }
}

TEST_CASE("the record and the slot of any handle may be prefetched, and that changes nothing") {
    auto table = Plain{};
    const auto ask = [&] {
        const auto before = table;
        for (const auto h : {0U, 1U, 511U, 512U, 100'000U, ~0U}) {
            table.prefetch(NodeHandle{h});
            table.prefetch_slot(NodeHandle{h});
        }
        CHECK(table == before);
    };
    ask();
    table.create(table.next(), Record{NodeId{1}, 7});
    ask();
}
