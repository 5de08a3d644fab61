#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/sha256.hpp>

namespace allot { inline namespace v0 {

/// A hash over leaves by index, some of them absent, that follows a change of k leaves in O(k log n).
///
/// Its root depends on the leaves that are there and on nothing else: an inner node without one child is the other child. That
/// is sound because each leaf's content begins with its index, so no two sets of leaves share their content. Inner nodes hash
/// with another first byte than leaves, so that none passes for the other.
class MerkleTree {
public:
    /// No leaf.
    static constexpr auto absent = Hash256{};

    /// The hash of a leaf's content, its index included.
    [[nodiscard]] static auto leaf(std::span<const std::uint8_t> content) -> Hash256 {
        constexpr auto mark = std::array<std::uint8_t, 1>{0};
        return Sha256{}.bytes(mark).bytes(content).finish();
    }

    /// Sets or, with `absent`, removes a leaf. @complexity amortised O(1); the work is done by `root`.
    void set(std::uint32_t index, const Hash256& hash) {
        if (index >= levels_.front().size()) {
            if (hash == absent) {
                return;
            }
            levels_.front().resize(std::size_t{index} + 1, absent);
            changed_.push_back(0);  // the top may have become a child
        }
        levels_.front()[index] = hash;
        changed_.push_back(index);
    }

    /// The hash of all leaves; `absent` when there is none. @complexity O(log n) hashes for each leaf set since the last time.
    [[nodiscard]] auto root() -> const Hash256& {
        for (std::size_t level = 0; level + 1 < levels_.size() || levels_[level].size() > 1; ++level) {
            if (level + 1 == levels_.size()) {
                levels_.emplace_back();
            }
            const auto& below = levels_[level];
            auto& above = levels_[level + 1];
            above.resize((below.size() + 1) / 2, absent);
            for (auto& index : changed_) {
                index /= 2;
            }
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
        if (left == absent || right == absent) {
            return left == absent ? right : left;
        }
        constexpr auto mark = std::array<std::uint8_t, 1>{1};
        return Sha256{}.bytes(mark).bytes(left).bytes(right).finish();
    }

    std::vector<std::vector<Hash256>> levels_{1};  // leaves first
    std::vector<std::uint32_t> changed_{};
};

}}  // namespace allot::v0
