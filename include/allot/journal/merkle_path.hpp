#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/merkle_tree.hpp>

namespace allot { inline namespace v0 {

/// Proves to the owner of a root that a leaf of a Merkle tree is present, or that it is absent. `encode` writes it.
///
/// A root covers the indices below 2^height. For an index among them, the path holds the sibling of each node from the
/// leaf up, absent ones included. For a larger index, it opens the root, because that proves the height: a node of
/// another level has another start value.
struct MerklePath {
    std::uint8_t height = 0;             ///< Level of the root, at most 32.
    std::vector<Hash256> hashes{};       ///< The siblings from the leaf up, or the two children of the root.
    std::vector<std::uint8_t> opened{};  ///< Content of leaf 0, where it is the root and the index is another one.

    friend auto operator==(const MerklePath&, const MerklePath&) -> bool = default;
};
ALLOT_FIELDS(MerklePath, height, hashes, opened)

namespace detail {

/// The root above a leaf, from its siblings. @pre There are at most 32 siblings.
[[nodiscard]] inline auto root_above(Hash256 hash, std::uint32_t index, std::span<const Hash256> siblings) -> Hash256 {
    for (auto level = std::size_t{1}; const auto& sibling : siblings) {
        hash = index % 2 == 0 ? MerkleTree::joined(level, hash, sibling) : MerkleTree::joined(level, sibling, hash);
        index /= 2;
        ++level;
    }
    return hash;
}

/// True if a root of this height covers the index. @pre The height is at most 32.
[[nodiscard]] constexpr auto covers(std::uint8_t height, std::uint32_t index) noexcept -> bool {
    return std::uint64_t{index} >> height == 0;
}

}  // namespace detail

/// Returns the path of a leaf, present or absent, to `tree.root()`.
///
/// The tree holds no contents. So if leaf 0 is alone and the index is another one, set `opened` to its content.
/// @complexity that of `root`, and 32 bytes for each level.
[[nodiscard]] inline auto path_of(MerkleTree& tree, std::uint32_t index) -> MerklePath {
    auto path = MerklePath{.height = static_cast<std::uint8_t>(tree.height())};
    if (detail::covers(path.height, index)) {
        for (auto level = std::size_t{0}; level < path.height; ++level) {
            path.hashes.push_back(tree.node(level, (std::size_t{index} >> level) ^ 1U));
        }
    } else if (path.height > 0) {
        path.hashes = {tree.node(path.height - 1U, 0), tree.node(path.height - 1U, 1)};
    }
    return path;
}

/// True if the path proves that the leaf at `index` has this content. The path may come from any party; `root` must be
/// that of a MerkleTree. @complexity one hash of the content and one compression for each level; allocates nothing.
[[nodiscard]] inline auto shows(const MerklePath& path, const Hash256& root, std::uint32_t index,
                                std::span<const std::uint8_t> content) -> bool {
    return path.height <= 32 && detail::covers(path.height, index) && path.hashes.size() == path.height &&
           path.opened.empty() && detail::root_above(MerkleTree::leaf(content), index, path.hashes) == root;
}

/// True if the path proves that there is no leaf at `index`. The path may come from any party; `root` must be that of a
/// MerkleTree. @complexity one compression for each level, or one hash of `opened`; allocates nothing.
[[nodiscard]] inline auto shows_absence(const MerklePath& path, const Hash256& root, std::uint32_t index) -> bool {
    if (root == MerkleTree::absent) { return path == MerklePath{}; }
    if (path.height > 32) { return false; }
    if (detail::covers(path.height, index)) {
        return path.hashes.size() == path.height && path.opened.empty() &&
               detail::root_above(MerkleTree::absent, index, path.hashes) == root;
    }
    if (path.height == 0) { return path.hashes.empty() && MerkleTree::leaf(path.opened) == root; }
    return path.hashes.size() == 2 && path.opened.empty() &&
           MerkleTree::joined(path.height, path.hashes[0], path.hashes[1]) == root;
}

}}  // namespace allot::v0
