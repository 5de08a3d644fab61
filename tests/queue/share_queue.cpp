#include <cstdint>
#include <stdexcept>

#include <allot/laws/ordered.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/linear_queue.hpp>
#include <allot/queue/share_queue.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::QueueShare;
using allot::QueueShareParameters;
using allot::Ratio;
using allot::ShareQueue;
using allot::ValueQueueParameters;

static_assert(allot::task_queue<ShareQueue<>>);
static_assert(allot::has_share<ShareQueue<>>);
static_assert(!allot::has_share<allot::ValueQueue>);

constexpr auto most = ~std::uint32_t{0};

}  // namespace

TEST_CASE("a share is so many tasks for each node, rounded up") {
    CHECK(QueueShare{}.of(0) == 0);
    CHECK(QueueShare{}.of(1) == 3);
    CHECK(QueueShare{}.of(100) == 300);
    const auto half = QueueShare{{.tasks_per_fitting_node = {1, 2}}};
    CHECK(half.of(0) == 0);
    CHECK(half.of(1) == 1);  // one node has room for one task
    CHECK(half.of(2) == 1);
    CHECK(half.of(3) == 2);
    CHECK(QueueShare{{.tasks_per_fitting_node = most}}.of(most) == most);
    CHECK(QueueShare{{.tasks_per_fitting_node = {most, most}}}.of(most) == most);
    CHECK(QueueShare{{.tasks_per_fitting_node = {1, most}}}.of(most) == 1);
}

TEST_CASE("a share without sense is not valid") {
    CHECK(QueueShareParameters{}.valid());
    CHECK_FALSE(QueueShareParameters{.tasks_per_fitting_node = 0}.valid());
    CHECK_FALSE(QueueShareParameters{.tasks_per_fitting_node = {1, 0}}.valid());
    CHECK_THROWS_AS(QueueShare{{.tasks_per_fitting_node = 0}}, std::invalid_argument);
    auto share = QueueShare{};
    CHECK_THROWS_AS(share.configure({.tasks_per_fitting_node = 0}), std::invalid_argument);
    share.configure({.tasks_per_fitting_node = 3});
    CHECK(share.of(2) == 6);
}

TEST_CASE("a queue with shares keeps the laws of a queue, and orders and bounds as the queue in it") {
    for (std::uint64_t i = 0; i < 5; ++i) {
        const auto seed = support::seed() + i;
        CHECK(!allot::laws::ordered(ShareQueue{}, seed));
        CHECK(!allot::laws::ordered(ShareQueue{allot::FlatQueue{}}, seed));
        CHECK(!allot::laws::ordered(ShareQueue{allot::LinearQueue{}}, seed));
    }
    const auto queue = ShareQueue{allot::ValueQueue{ValueQueueParameters{.tasks_per_node = 3, .capacity_min = 7}},
                                  QueueShare{{.tasks_per_fitting_node = 5}}};
    CHECK(queue.capacity(0) == 7);
    CHECK(queue.capacity(100) == 300);
    CHECK(queue.share(2) == 10);
    CHECK(queue.queue().parameters() == ValueQueueParameters{.tasks_per_node = 3, .capacity_min = 7});
}
