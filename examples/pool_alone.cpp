// A candidate pool without a dispatcher: it stores a few numbers for each node, and draws at random in proportion to
// weights that only you know. You can use it as it is if you keep the nodes elsewhere.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/core/weight.hpp>
#include <allot/pool/gpu_group_pool.hpp>

namespace {

struct Node {
    const char* name;
    allot::ClassId group;  // the card: 0 is the RTX 4090, 1 the A100
    std::uint32_t slot;    // its place in the group
    allot::Weight weight;
    bool busy = false;
};

// Weights in tenths. A bound may exceed the weight, so the pool need not be told of each change.
auto tenths(std::uint64_t count) -> allot::Weight { return allot::Weight::from_ratio(count, 10); }

auto nodes = std::vector<Node>{{"relay-1", {0}, 0, tenths(1)},
                               {"relay-2", {0}, 1, tenths(4)},
                               {"relay-3", {1}, 0, tenths(2)},
                               {"relay-4", {1}, 1, tenths(3)}};

// The pool's data for a node. Without bounds the node is no candidate.
auto place(std::uint32_t i, bool candidate) -> allot::NodePlace {
    const auto bound = candidate ? allot::bound_of(nodes[i].weight) : 0U;
    return {allot::NodeHandle{i}, nodes[i].group, nodes[i].slot, bound, bound};
}

auto weigh(allot::NodeHandle node, std::uint32_t) -> allot::Weight { return nodes[node.value].weight; }

}  // namespace

int main() {
    auto pool = allot::GpuGroupPool{};
    for (std::uint32_t i = 0; i < nodes.size(); ++i) { pool.changed(place(i, false), place(i, true)); }

    // A frame selects the candidates: here both groups, then the A100 alone.
    const auto both = std::vector<allot::ClassId>{{0}, {1}};
    const auto a100 = std::vector<allot::ClassId>{{1}};
    auto random = allot::Random{allot::Entropy{2026}, allot::Purpose::dispatch, {}};

    auto counts = std::vector<int>(nodes.size());
    for (auto i = 0; i < 10'000; ++i) { ++counts[pool.draw({both}, weigh, random)->node.value]; }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        std::printf("%s was drawn %d times out of 10000\n", nodes[i].name, counts[i]);
    }

    // Draw and mark busy until no candidate is left: a lease by hand.
    auto leases = std::vector<std::uint32_t>{};
    while (const auto drawn = pool.draw({a100}, weigh, random)) {
        const auto i = drawn->node.value;
        pool.changed(place(i, true), place(i, false));
        leases.push_back(i);
        std::printf("%s takes a task; %u of the A100 are left\n", nodes[i].name, pool.count({a100}));
    }

    // Calling a change with its arguments swapped undoes it.
    while (!leases.empty()) {
        const auto i = leases.back();
        pool.changed(place(i, false), place(i, true));
        leases.pop_back();
    }
    std::printf("after taking it all back %u candidates are there\n", pool.count({both}));
    return pool.count({both}) == nodes.size() ? 0 : 1;
}
