#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/queue/node_pool.hpp>

#include "support/catch.hpp"

using allot::NodePool;

namespace {

using Numbers = allot::Pooled<std::set<std::uint64_t, std::less<>, allot::PoolAllocator<std::uint64_t>>>;
static_assert(std::is_nothrow_move_constructible_v<Numbers>);
static_assert(std::is_nothrow_move_assignable_v<Numbers>);

auto up_to(std::uint64_t count) -> Numbers {
    auto numbers = Numbers{};
    for (std::uint64_t i = 0; i < count; ++i) { numbers->insert(i); }
    return numbers;
}

}  // namespace

TEST_CASE("pieces of a pool never overlap, and are aligned") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(24));
    auto pieces = std::vector<unsigned char*>{};
    for (std::size_t i = 0; i < 1'000; ++i) {
        pieces.push_back(static_cast<unsigned char*>(pool.take()));
        std::memset(pieces.back(), 0xA5, 24);
        CHECK(reinterpret_cast<std::uintptr_t>(pieces.back()) % alignof(std::uint64_t) == 0);
    }
    std::sort(pieces.begin(), pieces.end(), std::less<>{});
    for (std::size_t i = 1; i < pieces.size(); ++i) { REQUIRE(pieces[i - 1] + 24 <= pieces[i]); }
}

TEST_CASE("a piece that nearly fills a cache line is alone in one") {
    for (const auto size : {std::size_t{56}, std::size_t{64}, std::size_t{120}}) {
        auto pool = NodePool{};
        REQUIRE(pool.serves(size));
        for (auto i = 0; i < 100; ++i) { REQUIRE(reinterpret_cast<std::uintptr_t>(pool.take()) % 64 == 0); }
    }
    auto pool = NodePool{};
    REQUIRE(pool.serves(40));
    const auto* const first = static_cast<std::byte*>(pool.take());
    CHECK(static_cast<std::byte*>(pool.take()) == first + 40);
}

TEST_CASE("a pool gives out again what came back") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(56));
    auto* const a = pool.take();
    auto* const b = pool.take();
    pool.give(a);
    pool.give(b);
    CHECK(pool.take() == b);
    CHECK(pool.take() == a);
}

TEST_CASE("a pool serves one size, the first it is asked for") {
    auto pool = NodePool{};
    CHECK(pool.serves(40));
    CHECK(pool.serves(40));
    CHECK_FALSE(pool.serves(48));
    auto small = NodePool{};
    CHECK_FALSE(small.serves(1));  // no room for the list of what came back
    CHECK(small.serves(sizeof(void*)));
}

TEST_CASE("an allocator of a pool takes arrays and other sizes elsewhere") {
    auto pool = NodePool{};
    auto numbers = allot::PoolAllocator<std::uint64_t>{pool};
    auto* const one = numbers.allocate(1);
    auto* const many = numbers.allocate(100);
    auto pairs = allot::PoolAllocator<std::pair<std::uint64_t, std::uint64_t>>{numbers};
    auto* const pair = pairs.allocate(1);
    CHECK(numbers == pairs);
    pairs.deallocate(pair, 1);
    numbers.deallocate(many, 100);
    numbers.deallocate(one, 1);
    CHECK(numbers.allocate(1) == one);
    auto other = NodePool{};
    CHECK_FALSE(numbers == allot::PoolAllocator<std::uint64_t>{other});
}

TEST_CASE("a pooled container is copied, moved and swapped like a value") {
    auto a = up_to(1'000);
    auto b = a;
    b->erase(7);
    CHECK(a->size() == 1'000);
    CHECK(b->size() == 999);

    auto c = std::move(a);
    CHECK(c->size() == 1'000);
    a = b;
    CHECK(*a == *b);
    a->insert(7);
    CHECK(*a == *c);

    std::swap(b, c);
    CHECK(b->count(7) == 1);
    CHECK(c->count(7) == 0);
    c = std::move(b);
    CHECK(c->size() == 1'000);
    const auto& same = c;
    c = same;
    CHECK(c->size() == 1'000);
}

TEST_CASE("a pool gives back its empty blocks but one, though other pieces stay") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(64));
    const auto take = [&](std::size_t pieces) {
        auto taken = std::vector<void*>{};
        for (std::size_t i = 0; i < pieces; ++i) { taken.push_back(std::memset(pool.take(), 1, 64)); }
        return taken;
    };
    const auto give = [&](const std::vector<void*>& pieces) {
        for (auto* const piece : pieces) { pool.give(piece); }
    };
    const auto kept = take(100);
    const auto room = pool.room();
    for (auto round = 0; round < 3; ++round) {
        const auto flood = take(100'000);
        CHECK(pool.room() < 4'096 + 16);
        give(flood);
        CHECK(pool.room() >= 100'000);  // an undo may take them all again
        auto trims = 0;
        for (; pool.falls(); ++trims) { pool.trim(); }
        CHECK(trims > 1);  // some blocks at once
        CHECK(pool.room() <= room + 4'096);
        pool.trim();
        CHECK(pool.room() >= 16);  // one block stays for the next piece
    }
    give(kept);
}

TEST_CASE("a pool takes pieces from its oldest block, so that the others become empty") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(64));
    auto pieces = std::vector<void*>{};
    for (auto i = 0; i < 50'000; ++i) { pieces.push_back(std::memset(pool.take(), 1, 64)); }
    // One in a hundred stays, wherever it lies, while others take its place one by one.
    auto few = std::vector<void*>{};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i % 100 == 0) {
            few.push_back(pieces[i]);
        } else {
            pool.give(pieces[i]);
        }
    }
    while (pool.falls()) { pool.trim(); }
    CHECK(pool.room() > 20'000);
    for (auto* const piece : few) {
        (void)std::memset(pool.take(), 1, 64);
        pool.give(piece);
        if (pool.falls()) { pool.trim(); }
    }
    while (pool.falls()) { pool.trim(); }
    CHECK(pool.room() < 50'000 / 12);
}

TEST_CASE("a pool takes no memory while it has a piece, wherever blocks were given back") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(64));
    auto pieces = std::vector<void*>{};
    while (pieces.size() < 20'000) { pieces.push_back(std::memset(pool.take(), 1, 64)); }
    while (pool.room() > 0) { (void)pool.take(); }
    for (std::size_t i = 1'000; i < 19'900; ++i) { pool.give(pieces[i]); }  // all of some blocks, of the last not all
    while (pool.falls()) { pool.trim(); }
    CHECK(pool.room() > 100);
    CHECK(pool.room() < 6'000);
    for (auto room = pool.room(); room > 0; --room) {
        CHECK(std::memset(pool.take(), 1, 64) != nullptr);
        CHECK(pool.room() == room - 1);
    }
}
