#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/sha256.hpp>

namespace allot { inline namespace v0 {

/// A Merkle tree over leaves by index, some of them absent. It updates k changed leaves in O(k log n) hashes.
///
/// The root depends only on the present leaves: an inner node with one child equals that child. This is sound because
/// each leaf's content begins with its index, so no two sets of leaves have the same content. Inner nodes and leaves
/// hash with different first bytes, so neither can pass for the other.
class MerkleTree {
public:
    /// The hash of an absent leaf.
    static constexpr auto absent = Hash256{};

    /// Returns the hash of a leaf's content, which includes its index. @complexity linear in the content.
    [[nodiscard]] static auto leaf(std::span<const std::uint8_t> content) -> Hash256 {
        constexpr auto mark = std::array<std::uint8_t, 1>{0};
        return Sha256{}.bytes(mark).bytes(content).finish();
    }

    /// Sets a leaf, or removes it if `hash` is `absent`. @complexity amortised O(1); `root` does the hashing.
    void set(std::uint32_t index, const Hash256& hash) {
        if (index >= levels_.front().size()) {
            if (hash == absent) { return; }
            levels_.front().resize(std::size_t{index} + 1, absent);
            changed_.push_back(0);  // the former top may have become a child
        }
        levels_.front()[index] = hash;
        changed_.push_back(index);
    }

    /// Returns the hash of all leaves, or `absent` if there is none. @complexity O(log n) hashes for each leaf set
    /// since the last call.
    [[nodiscard]] auto root() -> const Hash256& {
        for (std::size_t level = 0; level + 1 < levels_.size() || levels_[level].size() > 1; ++level) {
            if (level + 1 == levels_.size()) { levels_.emplace_back(); }
            const auto& below = levels_[level];
            auto& above = levels_[level + 1];
            above.resize((below.size() + 1) / 2, absent);
            for (auto& index : changed_) { index /= 2; }
            std::sort(changed_.begin(), changed_.end());
            changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
            for (const auto index : changed_) {
                const auto right = std::size_t{index} * 2 + 1;
                above[index] = joined(below[right - 1], right < below.size() ? below[right] : absent);
            }
        }
        changed_.clear();
        return levels_.back().empty() ? absent : levels_.back().front();
    }

private:
    [[nodiscard]] static auto joined(const Hash256& left, const Hash256& right) -> Hash256 {
        if (left == absent || right == absent) { return left == absent ? right : left; }
        constexpr auto mark = std::array<std::uint8_t, 1>{1};
        return Sha256{}.bytes(mark).bytes(left).bytes(right).finish();
    }

    std::vector<std::vector<Hash256>> levels_{1};  // the leaves first
    std::vector<std::uint32_t> changed_{};
};

}}  // namespace allot::v0
