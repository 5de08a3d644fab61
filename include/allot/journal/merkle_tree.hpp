#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/core/sha256_lanes.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// The start values of inner nodes by level: SHA-256 after one block that names the level.
inline constexpr auto merkle_starts = [] {
    constexpr auto text = std::string_view{"allot merkle node"};
    auto starts = std::array<Sha256::State, 33>{};
    for (std::size_t level = 0; level < starts.size(); ++level) {
        auto block = std::array<std::uint8_t, 64>{};
        std::transform(text.begin(), text.end(), block.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
        block.back() = static_cast<std::uint8_t>(level);
        starts[level] = Sha256{}.bytes(block).state();
    }
    return starts;
}();

}  // namespace detail

/// A Merkle tree over leaves by index, some of them absent.
///
/// An inner node is one compression of its two children from a start value that names its level. A child without leaves
/// is `absent`, and so is a node of two such children. The root is the lowest node above all leaves, so it depends only
/// on the leaves that are present.
///
/// Since an absent child is hashed as such, a path can also prove that a leaf is absent. Leaves hash with another start
/// value, so no leaf passes for an inner node, and no node for one of another level.
class MerkleTree {
public:
    /// The hash of an absent leaf.
    static constexpr auto absent = Hash256{};

    /// Returns the hash of a leaf's content, which includes its index. @complexity linear in the content.
    [[nodiscard]] static auto leaf(std::span<const std::uint8_t> content) -> Hash256 {
        constexpr auto mark = std::array<std::uint8_t, 1>{0};
        return Sha256{}.bytes(mark).bytes(content).finish();
    }

    /// Returns the hash of a node from its children, of which the second may be absent. Leaves are at level 0.
    /// @complexity constant: one compression, or none above absent leaves.
    [[nodiscard]] static auto joined(std::size_t level, const Hash256& left, const Hash256& right) -> Hash256 {
        return left == absent && right == absent ? absent : Sha256::joined(detail::merkle_starts[level], left, right);
    }

    /// Sets a leaf, or removes it if `hash` is `absent`. @complexity amortised O(1); `root` does the hashing.
    void set(std::uint32_t index, const Hash256& hash) {
        hash_leaves();
        write(index, hash);
    }

    /// Sets a leaf by its content, which includes its index; none removes it. Contents are hashed several at a time.
    /// @complexity amortised linear in the content.
    void put(std::uint32_t index, std::span<const std::uint8_t> content) {
        if (content.empty()) {
            set(index, absent);
            return;
        }
        if (waiting_count_ == waiting_.size()) { hash_leaves(); }
        auto& leaf = waiting_[waiting_count_];
        leaf.index = index;
        leaf.message.assign(1, 0);  // the mark of a leaf
        leaf.message.insert(leaf.message.end(), content.begin(), content.end());
        ++waiting_count_;
    }

    /// Returns the hash of all leaves, or `absent` if there is none. @complexity O(log n) hashes for each leaf set
    /// since the last call.
    [[nodiscard]] auto root() -> const Hash256& {
        hash_leaves();
        if (levels_.front().empty()) { return absent; }
        std::sort(changed_.begin(), changed_.end());
        // First nodes are hashed up to the top alone, which is known once all other nodes are up to date.
        height_ = 0;
        for (std::size_t level = 0; levels_[level].size() > 1; ++level) {
            for (auto& index : changed_) { index /= 2; }
            changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
            if (!changed_.empty() && changed_.front() == 0) { firsts_ = std::min(firsts_, level + 1); }
            if (level + 1 == levels_.size()) { levels_.emplace_back(); }
            levels_[level + 1].resize((levels_[level].size() + 1) / 2, absent);
            hash_nodes(level + 1);
            if (levels_[level][1] != absent) { height_ = level + 1; }
        }
        for (auto level = firsts_; level <= height_; ++level) { levels_[level].front() = joined(level, 0); }
        firsts_ = std::max(firsts_, height_ + 1);
        changed_.clear();
        return levels_[height_].front();
    }

    /// Returns the level of the root; 0 if there is no leaf but leaf 0. @complexity that of `root`.
    [[nodiscard]] auto height() -> std::size_t {
        (void)root();
        return height_;
    }

    /// Returns the hash of a node below the root, or `absent`. Leaves are at level 0. @complexity constant.
    /// @pre Nothing was set since the last call of `root` or `height`, and `level` is below that height, or it is 0.
    [[nodiscard]] auto node(std::size_t level, std::size_t index) const -> const Hash256& {
        return index < levels_[level].size() ? levels_[level][index] : absent;
    }

private:
    struct Leaf {
        std::uint32_t index = 0;
        std::vector<std::uint8_t> message{};
    };

    void write(std::uint32_t index, const Hash256& hash) {
        if (index >= levels_.front().size()) {
            if (hash == absent) { return; }
            levels_.front().resize(std::size_t{index} + 1, absent);
        }
        if (levels_.front()[index] == hash) { return; }
        changed_.push_back(index);
        levels_.front()[index] = hash;
    }

    void hash_leaves() {
        const auto count = waiting_count_;
        if (count == waiting_.size()) {
            auto messages = std::array<std::span<const std::uint8_t>, sha256_lanes>{};
            std::transform(waiting_.begin(), waiting_.end(), messages.begin(),
                           [](const Leaf& l) { return std::span{l.message}; });
            const auto hashes = sha256_each(messages);
            for (std::size_t i = 0; i < count; ++i) { write(waiting_[i].index, hashes[i]); }
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                write(waiting_[i].index, Sha256{}.bytes(waiting_[i].message).finish());
            }
        }
        waiting_count_ = 0;  // only now: if memory ran out, they are hashed again
    }

    /// Hashes the changed nodes of a level but the first.
    void hash_nodes(std::size_t level) {
        const auto& below = levels_[level - 1];
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(below.data());
        auto& nodes = levels_[level];
        auto at = std::size_t{!changed_.empty() && changed_.front() == 0 ? 1U : 0U};
        auto blocks = std::array<const std::uint8_t*, sha256_lanes>{};
        for (; changed_.size() > at + sha256_lanes; at += sha256_lanes) {
            // A node's children lie one behind the other and are one block. The last node may have one child only.
            for (std::size_t i = 0; i < sha256_lanes; ++i) { blocks[i] = bytes + std::size_t{changed_[at + i]} * 64; }
            auto lanes = Sha256Lanes{detail::merkle_starts[level]};
            lanes.compress(blocks);
            for (std::size_t i = 0; i < sha256_lanes; ++i) {
                const auto left = std::size_t{changed_[at + i]} * 2;
                const auto none = below[left] == absent && below[left + 1] == absent;
                nodes[changed_[at + i]] = none ? absent : Sha256::bytes_of(lanes.state(i));
            }
        }
        for (; at < changed_.size(); ++at) { nodes[changed_[at]] = joined(level, changed_[at]); }
    }

    [[nodiscard]] auto joined(std::size_t level, std::size_t index) const -> Hash256 {
        return joined(level, node(level - 1, index * 2), node(level - 1, index * 2 + 1));
    }

    std::vector<std::vector<Hash256>> levels_{1};  // the leaves first
    std::vector<std::uint32_t> changed_{};
    std::array<Leaf, sha256_lanes> waiting_{};  // contents to be hashed
    std::size_t waiting_count_ = 0;
    std::size_t firsts_ = 1;  // below this level the first node is up to date
    std::size_t height_ = 0;  // of the last root
};

}}  // namespace allot::v0
