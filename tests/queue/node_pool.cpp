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

TEST_CASE("a large pool gives back its blocks once only the piece taken first is left") {
    auto pool = NodePool{};
    REQUIRE(pool.serves(64));
    auto* const header = pool.take();
    const auto round = [&](std::size_t pieces) {
        auto taken = std::vector<void*>{};
        for (std::size_t i = 0; i < pieces; ++i) { taken.push_back(std::memset(pool.take(), 1, 64)); }
        for (auto* const piece : taken) { pool.give(piece); }
        return pool.room();
    };
    CHECK(round(100) >= 100);  // small, so it stays
    CHECK(round(10'000) == 15);
    CHECK(round(10'000) == 15);
    auto* const other = pool.take();
    pool.give(header);
    CHECK(round(10'000) >= 10'000);  // the one piece left may lie anywhere
    pool.give(other);
    CHECK(round(10'000) >= 10'000);
}
