#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <allot/dispatcher/late_change.hpp>

#include "support/catch.hpp"

using allot::LateChange;
using allot::NodePlace;

namespace {

/// Notes the bounds before and after each change that it hears of.
struct Listening {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> bounds{};
    bool throws = false;

    void changed(const NodePlace& before, const NodePlace& after) {
        CHECK(before.node == after.node);
        bounds.emplace_back(before.bound, after.bound);
        if (std::exchange(throws, false)) { throw std::runtime_error{"the pool"}; }
    }
};

auto place(std::uint32_t node, std::uint32_t bound) -> NodePlace { return {{node}, {0}, node, bound, bound, {}}; }
using Bounds = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace

TEST_CASE("a pool hears nothing of a node that comes back to no place") {
    auto pool = Listening{};
    auto late = LateChange{};
    late.change(pool, place(1, 0), place(1, 5));
    late.change(pool, place(1, 1), place(1, 0));
    late.settle(pool);
    CHECK(pool.bounds.empty());
}

TEST_CASE("changes of one node are told as one when the pool is read, or when another node changes") {
    auto pool = Listening{};
    auto late = LateChange{};
    late.change(pool, place(1, 1), place(1, 0));
    late.change(pool, place(1, 0), place(1, 5));
    CHECK(pool.bounds.empty());
    late.change(pool, place(2, 0), place(2, 7));
    CHECK(pool.bounds == Bounds{{1, 5}});
    late.settle(pool);
    late.settle(pool);
    CHECK(pool.bounds == Bounds{{1, 5}, {0, 7}});
}

TEST_CASE("a change that the pool breaks off is undone by the change back") {
    auto pool = Listening{.throws = true};
    auto late = LateChange{};
    late.change(pool, place(1, 0), place(1, 5));
    CHECK_THROWS(late.settle(pool));
    late.change(pool, place(1, 1), place(1, 0));
    late.settle(pool);
    CHECK(pool.bounds == Bounds{{0, 5}, {1, 0}});
}
