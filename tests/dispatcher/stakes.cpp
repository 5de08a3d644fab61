// The largest stake moves: what stored bounds it asks to renew, and how much of that one command does.

#include <algorithm>
#include <cstdint>
#include <string>

#include <allot/pool/gpu_group_pool.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace {

using namespace support;

/// The default pool, counting how often it is told of a change.
struct CountingPool : allot::GpuGroupPool {
    std::uint32_t changes = 0;
    void changed(const allot::NodePlace& before, const allot::NodePlace& after) {
        ++changes;
        GpuGroupPool::changed(before, after);
    }
};

auto network(std::uint32_t nodes) {
    auto d = allot::Dispatcher{CountingPool{}};
    for (auto i = 1U; i <= nodes; ++i) { ok(d.join(plain_node(i), at(0s))); }
    return d;
}

auto whale() {
    return with(plain_node("whale"), [](auto& n) { n.stake = 400'000'000; });
}

}  // namespace

TEST_CASE("a whale costs no command more than 256 nodes, and all bounds are new in the end") {
    auto d = network(1'250);
    auto changes = [&, seen = d.pool().changes]() mutable {
        const auto more = d.pool().changes - seen;
        seen = d.pool().changes;
        return more;
    };
    (void)changes();
    for (const auto leaves : {false, true}) {
        if (leaves) {
            ok(d.leave("whale", at(0s)));
        } else {
            ok(d.join(whale(), at(0s)));
        }
        CHECK(d.state().counters().ceilings.moving());
        CHECK(changes() <= 257);  // the whale itself is one more
        auto commands = 1;
        for (; d.state().counters().ceilings.moving(); ++commands) {
            ok(d.advance(at(0s)));
            CHECK(changes() <= 256);
        }
        CHECK(commands == 5);
        CHECK(d.state().counters().ceilings.slack() == 0);
        const auto largest = d.state().stake_root_max();
        CHECK(d.state().counters().ceilings.to == allot::ceil_power_of_two(largest));
    }
}

TEST_CASE("tasks are drawn exactly while bounds are renewed, and a rollback gives the old bounds back") {
    auto d = network(3'000);
    ok(d.join(whale(), at(0s)));
    REQUIRE(d.state().counters().ceilings.moving());
    const auto before = d;
    const auto run = [](auto& some) {
        auto nodes = std::string{};
        for (auto t = 1U; t <= 60; ++t) {
            const auto events = some.submit(plain_task(t), at(1s));
            nodes += events.lease()->node.text() + " ";
        }
        return nodes;
    };
    auto nodes = std::string{};
    {
        auto session = d.session();
        nodes = run(d);
        CHECK(d.state().counters().ceilings.renewed == 0);  // the renewal came to its end
    }
    CHECK(d == before);
    CHECK(run(d) == nodes);

    auto linear = allot::Dispatcher<allot::LinearPool>{allot::Dispatcher{before}, allot::LinearPool{}};
    CHECK(run(linear) == nodes);
}

namespace {

/// A weight that promises nothing, so that no bound is stored for it.
struct Unbounded {
    using role = allot::role::weight;
    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors factors) const -> allot::Weight {
        return allot::HarmonicWeight{}.weight(node, task, factors);
    }
};

}  // namespace

TEST_CASE("a weight without bounds has none to renew, whatever the default weight promises") {
    auto d = allot::Dispatcher{Unbounded{}};
    for (auto i = 1U; i <= 20; ++i) { ok(d.join(plain_node(i), at(0s))); }
    ok(d.join(whale(), at(0s)));
    ok(d.submit(plain_task(1), at(0s)));
    CHECK(d.state().counters().ceilings == allot::Ceilings{});
}
