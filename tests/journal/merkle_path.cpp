#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include <allot/journal/encode.hpp>
#include <allot/journal/merkle_path.hpp>
#include <allot/journal/merkle_tree.hpp>

#include "support/catch.hpp"
#include "support/refused_bytes.hpp"
#include "support/seed.hpp"

namespace merkle_path_test {

// A path shows what the leaves of the tree are, and neither a path of other bytes nor one for another leaf does.

namespace {

using allot::Hash256;
using allot::MerklePath;
using allot::MerkleTree;
using Bytes = std::vector<std::uint8_t>;

auto content_of(std::uint32_t index, std::uint64_t number) -> Bytes {
    auto bytes = allot::encode(index);
    bytes.push_back(static_cast<std::uint8_t>(number));
    return bytes;
}

// A tree and the leaves that it should have.
struct Tree {
    MerkleTree tree{};
    std::map<std::uint32_t, Bytes> leaves{};

    void put(std::uint32_t index, const Bytes& content) {
        tree.put(index, content);
        leaves[index] = content;
    }
    void erase(std::uint32_t index) {
        tree.put(index, {});
        leaves.erase(index);
    }
    auto path(std::uint32_t index) -> MerklePath {
        auto path = allot::path_of(tree, index);
        if (path.height == 0 && index != 0 && !leaves.empty()) { path.opened = leaves.at(0); }
        return path;
    }
    // True if the path shows what the leaf at this index is.
    auto told(const MerklePath& path, std::uint32_t index) -> bool {
        const auto leaf = leaves.find(index);
        return leaf == leaves.end() ? allot::shows_absence(path, tree.root(), index)
                                    : allot::shows(path, tree.root(), index, leaf->second);
    }
};

// Trees of many shapes: of no leaf, of one, dense ones, and ones with far leaves.
auto any_tree(std::mt19937_64& random) -> Tree {
    auto made = Tree{};
    const auto reach = 1 + random() % (random() % 2 == 0 ? 6 : 200);
    for (auto changes = random() % 40; changes > 0; --changes) {
        const auto index = static_cast<std::uint32_t>(random() % reach);
        if (random() % 4 == 0) {
            made.erase(index);
        } else {
            made.put(index, content_of(index, random() % 3));
        }
        if (random() % 4 == 0) { (void)made.tree.root(); }
    }
    return made;
}

}  // namespace

TEST_CASE("a path shows its leaf, present or absent, and no other content") {
    auto random = std::mt19937_64{support::seed()};
    auto seen = std::map<bool, int>{};
    for (auto round = 0; round < 200; ++round) {
        auto made = any_tree(random);
        for (auto index = std::uint32_t{0}; index < 70; ++index) {
            const auto path = made.path(index);
            const auto present = made.leaves.contains(index);
            ++seen[present];
            INFO("round " << round << ", index " << index);
            REQUIRE(made.told(path, index));
            REQUIRE(allot::shows_absence(path, made.tree.root(), index) != present);
            for (const auto number : {0U, 1U, 2U, 3U}) {
                const auto content = content_of(index, number);
                REQUIRE(allot::shows(path, made.tree.root(), index, content) ==
                        (present && made.leaves.at(index) == content));
            }
        }
    }
    CHECK(seen[true] > 500);
    CHECK(seen[false] > 1'000);
}

TEST_CASE("a path for one index proves nothing false of another, and no other path does for it") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 60; ++round) {
        auto made = any_tree(random);
        auto other = any_tree(random);
        for (auto index = std::uint32_t{0}; index < 20; ++index) {
            const auto path = made.path(index);
            for (auto asked = std::uint32_t{0}; asked < 20; ++asked) {
                if (allot::shows_absence(path, made.tree.root(), asked)) { REQUIRE_FALSE(made.leaves.contains(asked)); }
                for (const auto& [owner, content] : made.leaves) {
                    if (allot::shows(path, made.tree.root(), asked, content)) { REQUIRE(owner == asked); }
                }
            }
            if (path != other.path(index)) { REQUIRE_FALSE(other.told(path, index)); }
        }
    }
}

TEST_CASE("a path with any bit flipped, or with fewer or more bytes, is refused") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 100; ++round) {
        auto made = any_tree(random);
        const auto index = static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 4 : 400));
        const auto root = made.tree.root();
        const auto refused = [&](std::span<const std::uint8_t> bytes) {
            const auto path = allot::decode<MerklePath>(bytes);
            return !path || !made.told(*path, index);
        };
        INFO("round " << round);
        support::require_every_bit(allot::encode(made.path(index)), refused);

        const auto path = made.path(index);
        for (std::size_t bit = 0; bit < 256; ++bit) {
            auto flipped = root;
            flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            REQUIRE_FALSE(allot::shows_absence(path, flipped, index));
            if (made.leaves.contains(index)) { REQUIRE_FALSE(allot::shows(path, flipped, index, made.leaves[index])); }
        }
    }
}

TEST_CASE("forged heights and lengths are refused") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 200; ++round) {
        auto made = any_tree(random);
        for (const auto index : {0U, 1U, 2U, 7U, 250U, 0xFFFF'FFFFU}) {
            const auto path = made.path(index);
            const auto forged = [&](auto change) {
                auto copy = path;
                change(copy);
                REQUIRE((copy == path || !made.told(copy, index)));
            };
            for (auto height = 0; height < 256; ++height) {
                const auto level = static_cast<std::uint8_t>(height);
                forged([&](MerklePath& p) { p.height = level; });
                forged([&](MerklePath& p) { p.height = level, p.hashes.resize(level); });
                forged([&](MerklePath& p) { p.height = level, p.hashes.clear(); });
                forged([&](MerklePath& p) { p.height = level, p.hashes.resize(2); });
            }
            forged([](MerklePath& p) { p.hashes.push_back(MerkleTree::absent); });
            forged([](MerklePath& p) { p.hashes.insert(p.hashes.begin(), MerkleTree::absent); });
            forged([](MerklePath& p) { std::reverse(p.hashes.begin(), p.hashes.end()); });
            forged([](MerklePath& p) { p.opened.push_back(0); });
            forged([](MerklePath& p) { p.opened.clear(); });
        }
    }
}

TEST_CASE("nodes of one level do not pass for those of another") {
    auto made = Tree{};
    for (auto index = 0U; index < 8; ++index) { made.put(index, content_of(index, 1)); }
    const auto root = made.tree.root();
    const auto& tree = made.tree;
    // The two nodes below the root, stated as leaves 0 and 1, so that no other would exist.
    CHECK_FALSE(allot::shows_absence({1, {tree.node(2, 0), tree.node(2, 1)}, {}}, root, 5));
    // The root itself, stated as leaf 0, from the bytes that it hashes.
    auto bytes = Bytes{tree.node(2, 0).begin(), tree.node(2, 0).end()};
    bytes.insert(bytes.end(), tree.node(2, 1).begin(), tree.node(2, 1).end());
    CHECK_FALSE(allot::shows_absence({0, {}, bytes}, root, 5));
    CHECK_FALSE(allot::shows({0, {}, {}}, root, 0, bytes));
    // A tree that has shrunk denies what it held.
    for (auto index = 1U; index < 8; ++index) { made.erase(index); }
    CHECK(made.path(5) == MerklePath{0, {}, content_of(0, 1)});
    CHECK(made.told(made.path(5), 5));
    made.erase(0);
    CHECK(made.path(5) == MerklePath{});
    CHECK(made.told(made.path(5), 5));
}

TEST_CASE("paths reach the highest level") {
    // Only the hashes of a path of 32 levels, for a tree of so many leaves would not fit in memory.
    auto path = MerklePath{32, {}, {}};
    const auto content = content_of(0xFFFF'FFFFU, 1);
    auto root = MerkleTree::leaf(content);
    for (std::size_t level = 1; level <= 32; ++level) {
        path.hashes.push_back(MerkleTree::leaf(content_of(7, level)));
        root = MerkleTree::joined(level, path.hashes.back(), root);
    }
    CHECK(allot::shows(path, root, 0xFFFF'FFFFU, content));
    CHECK_FALSE(allot::shows(path, root, 0xFFFF'FFFEU, content));
    CHECK_FALSE(allot::shows_absence(path, root, 0xFFFF'FFFFU));
}

}  // namespace merkle_path_test
