#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/journal/merkle_tree.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace merkle_tree_test {

// A Merkle tree that follows changes gives the root of one that is built at once, whatever it held before.

namespace {

using allot::Hash256;
using allot::MerkleTree;
using Leaves = std::map<std::uint32_t, Hash256>;

// One of three contents of a leaf, of different lengths.
auto any_content(std::uint32_t index, std::uint8_t content) -> std::vector<std::uint8_t> {
    auto bytes =
        std::vector<std::uint8_t>{static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(index >> 8U), content};
    bytes.resize(3 + 60U * content);
    return bytes;
}
auto any_leaf(std::uint32_t index, std::uint8_t content) -> Hash256 {
    return MerkleTree::leaf(any_content(index, content));
}

// Level by level from the definition, up to the lowest node above all leaves.
auto root_of(const Leaves& leaves) -> Hash256 {
    auto level = leaves;
    for (auto height = std::size_t{1}; level.size() > 1 || (level.size() == 1 && level.begin()->first != 0); ++height) {
        auto above = Leaves{};
        for (const auto& [index, hash] : level) {
            const auto left = level.find(index & ~1U);
            const auto right = level.find(index | 1U);
            above[index / 2] = MerkleTree::joined(height, left == level.end() ? MerkleTree::absent : left->second,
                                                  right == level.end() ? MerkleTree::absent : right->second);
        }
        level = above;
    }
    return level.empty() ? MerkleTree::absent : level.begin()->second;
}

}  // namespace

TEST_CASE("leaves set by their contents, in any order with those set by hash, give the root of the leaves") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 60; ++round) {
        auto tree = MerkleTree{};
        auto leaves = Leaves{};
        for (auto step = 0; step < 40; ++step) {
            for (auto changes = 1 + random() % 60; changes > 0; --changes) {
                const auto index = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 300 : 9));
                const auto content = any_content(index, static_cast<std::uint8_t>(random() % 3));
                const auto way = random() % 8;
                if (way == 0) {
                    leaves.erase(index);
                    tree.put(index, {});
                    continue;
                }
                leaves[index] = MerkleTree::leaf(content);
                if (way == 1) {
                    tree.set(index, leaves[index]);
                } else {
                    tree.put(index, content);
                }
            }
            if (random() % 2 == 0) { REQUIRE(tree.root() == root_of(leaves)); }
        }
    }
}

TEST_CASE("a tree that followed changes has the root of its leaves") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 30; ++round) {
        auto tree = MerkleTree{};
        auto leaves = Leaves{};
        for (auto step = 0; step < 120; ++step) {
            for (auto changes = 1 + random() % 4; changes > 0; --changes) {
                const auto index = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 300 : 9));
                if (random() % 3 == 0) {
                    leaves.erase(index);
                    tree.set(index, MerkleTree::absent);
                } else {
                    leaves[index] = any_leaf(index, static_cast<std::uint8_t>(random() % 3));
                    tree.set(index, leaves[index]);
                }
            }
            if (random() % 2 == 0) {  // else more is set before the root is asked for
                REQUIRE(tree.root() == root_of(leaves));
            }
        }
    }
}

TEST_CASE("a tree that was large gives the root of a small one") {
    for (const auto last : {1U, 2U, 3U, 4U, 7U, 8U, 255U, 256U, 5'000U}) {
        auto tree = MerkleTree{};
        auto leaves = Leaves{{0, any_leaf(0, 1)}, {last, any_leaf(last, 1)}};
        for (const auto& [index, leaf] : leaves) { tree.set(index, leaf); }
        CHECK(tree.root() == root_of(leaves));
        tree.set(last, MerkleTree::absent);
        CHECK(tree.root() == any_leaf(0, 1));
        tree.set(0, MerkleTree::absent);
        CHECK(tree.root() == MerkleTree::absent);
        tree.set(last, any_leaf(last, 1));
        leaves.erase(0);
        CHECK(tree.root() == root_of(leaves));
    }
}

TEST_CASE("no leaf passes for an inner node, and each place counts") {
    auto pair = MerkleTree{};
    pair.set(0, any_leaf(0, 1));
    CHECK(pair.root() == any_leaf(0, 1));
    pair.set(1, any_leaf(1, 1));
    auto content = std::vector<std::uint8_t>{};
    for (const auto& hash : {any_leaf(0, 1), any_leaf(1, 1)}) {
        content.insert(content.end(), hash.begin(), hash.end());
    }
    CHECK(pair.root() != MerkleTree::leaf(content));
    CHECK(pair.root() != MerkleTree::joined(2, any_leaf(0, 1), any_leaf(1, 1)));
    // One compression of the two hashes, from the words of a block that names the level.
    auto block = std::array<std::uint8_t, 64>{};
    std::memcpy(block.data(), "allot merkle node", 17);
    block.back() = 1;
    CHECK(pair.root() == allot::Sha256::joined(allot::Sha256{}.bytes(block).state(), any_leaf(0, 1), any_leaf(1, 1)));
    auto other = MerkleTree{};
    other.set(0, any_leaf(1, 1));
    other.set(1, any_leaf(0, 1));
    CHECK(pair.root() != other.root());
    CHECK(MerkleTree{}.root() == MerkleTree::absent);
}

}  // namespace merkle_tree_test
