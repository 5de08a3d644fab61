#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Queued tasks by group and, in a group, in their order: a B+-tree.
///
/// A new task belongs anywhere among a million, and one that leaves is mostly the first of its group. So a leaf is put
/// in order only when its first or last entry is asked for. In any other leaf an entry is written behind those that are
/// there, so that one line of it is read. An entry is found by its order, so that no place of a task need be kept.
///
/// The numbers of entries lie apart from the blocks, two bytes each, which stay in the cache. A full leaf gives to a
/// neighbour that has room, and is divided where there is none, so that three quarters of all places are taken. A block
/// of which a quarter is left joins its neighbour if half of a block holds both. The tree is a value; after a move from
/// it, only assignment and destruction are allowed.
class EntryTree {
public:
    /// Adds an entry. Strong guarantee.
    /// @pre it is not there.
    /// @complexity O(log n). It allocates only where the tree grows.
    void push(const QueueEntry& entry) {
        reserve();
        if (size_ == 0) { root_ = made(); }
        auto path = find(entry);
        if (states_[path.leaf].count == width) {
            split(path, entry);
            path = find(entry);
        }
        auto& [count, sorted] = states_[path.leaf];
        auto* const slots = slots_of(path.leaf);
        auto* const end = slots + count;
        sorted = sorted || count == 0;
        auto* const at = sorted ? std::upper_bound(slots, end, entry, is_after) : end;
        std::move_backward(at, end, end + 1);
        *at = entry;
        ++count;
        ++size_;
    }

    /// The result of `erase`. Its entries hold until the next change.
    struct Erased {
        bool found = false;
        const QueueEntry* next = nullptr;    ///< The entry behind the one that is gone, if it is known; null else.
        const QueueEntry* former = nullptr;  ///< The entry before it, likewise.
    };
    /// Removes an entry; an absent one changes nothing.
    /// @complexity O(log n).
    auto erase(const QueueEntry& entry) noexcept -> Erased {
        if (size_ == 0) { return {}; }
        const auto path = find(entry);
        auto& [count, sorted] = states_[path.leaf];
        auto* const slots = slots_of(path.leaf);
        const auto place = place_of(path.leaf, entry);
        if (place == count) { return {}; }
        --count;
        --size_;
        if (!sorted) { slots[place] = slots[count]; }
        if (sorted) { std::move(slots + place + 1, slots + count + 1, slots + place); }
        if ((count <= width / 4 && join(path)) || !sorted) { return {true}; }
        return {true, place > 0 ? slots + place - 1 : nullptr, place < count ? slots + place : nullptr};
    }

    /// True if an entry is there.
    /// @complexity O(log n).
    [[nodiscard]] auto contains(const QueueEntry& entry) const noexcept -> bool {
        if (size_ == 0) { return false; }
        const auto leaf = find(entry).leaf;
        return place_of(leaf, entry) < states_[leaf].count;
    }

    /// The first entry that is not before another one, which need not be there.
    /// @pre there is such an entry.
    /// @complexity O(log n), amortised.
    [[nodiscard]] auto first_from(const QueueEntry& entry) noexcept -> const QueueEntry& {
        auto path = find(entry);
        const auto [slots, border, end] = divided(path.leaf, entry);
        if (border != slots) { return border[-1]; }
        step(path, true);
        return divided(path.leaf, entry).end[-1];
    }

    /// The last entry before another one, which need not be there.
    /// @pre there is such an entry.
    /// @complexity O(log n), amortised.
    [[nodiscard]] auto last_before(const QueueEntry& entry) noexcept -> const QueueEntry& {
        auto path = find(entry);
        const auto [slots, border, end] = divided(path.leaf, entry);
        if (border != end) { return *border; }
        step(path, false);
        return *divided(path.leaf, entry).slots;
    }

    /// Number of entries.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    class Walk;

    /// True if `trim` has room to give back: a fifth of it, and more than a few blocks.
    [[nodiscard]] auto falls() const noexcept -> bool {
        return blocks_.capacity() > taken_.size() + taken_.size() / 4 + kept_max;
    }

    /// Gives back room at the end, after 16 blocks that are there have moved to free places. Changes no result.
    /// @complexity O(log n), and linear in the room that is given back.
    void trim() noexcept {
        if (size_ == 0) {
            *this = EntryTree{};
            return;
        }
        for (auto moved = 0; moved < 16 && falls() && taken_.lowest_free() < taken_.reach(); ++moved) {
            move_block(taken_.reach() - 1, taken_.lowest_free());
        }
        if (falls() && trimmed(blocks_, taken_)) {
            detail::shrink_to(states_, static_cast<std::size_t>(blocks_.capacity()));
            taken_.trim();
        }
    }

private:
    static constexpr std::uint32_t width = 64;  // entries of a block
    // A neighbour of a full leaf that has no more takes a part of it. At 46, a pair of commands reads a cold line more.
    static constexpr std::uint32_t share_max = 40;
    static constexpr std::uint32_t page_size = 16;
    static constexpr std::uint32_t kept_max = 4 * page_size;  // blocks to spare that stay
    static constexpr std::uint32_t height_max = 12;

    /// The entries of a leaf, if it is sorted from the last to the first. Above the leaves, by each block below in
    /// order: the first entry that may be there, with the number of that block as its task. For the first block it is
    /// some entry that may be there.
    struct alignas(64) Block {
        std::array<QueueEntry, width> slots{};
    };
    struct State {
        std::uint8_t count = 0;
        bool sorted = false;
    };
    /// A place in a block above the leaves.
    struct Spot {
        std::uint32_t block;
        std::uint32_t place;
    };
    struct Path {
        std::array<Spot, height_max> spots;  // from the root down, written as far as the tree is high
        std::uint32_t leaf;
    };
    struct Divided {
        const QueueEntry* slots;
        const QueueEntry* border;
        const QueueEntry* end;
    };

    [[nodiscard]] static auto is_before(const QueueEntry& a, const QueueEntry& b) noexcept -> bool {
        return a.group == b.group ? goes_before(a, b) : a.group < b.group;
    }
    [[nodiscard]] static auto is_after(const QueueEntry& a, const QueueEntry& b) noexcept -> bool {
        return is_before(b, a);
    }

    [[nodiscard]] auto slots_of(std::uint32_t block) noexcept -> QueueEntry* { return blocks_[block].slots.data(); }
    [[nodiscard]] auto slots_of(std::uint32_t block) const noexcept -> const QueueEntry* {
        return blocks_[block].slots.data();
    }
    [[nodiscard]] auto below(Spot spot) const noexcept -> std::uint32_t {
        return slots_of(spot.block)[spot.place].task.value;
    }

    /// Makes room for as many blocks as a push may add: one a level, and a root.
    void reserve() {
        const auto last = taken_.reach() + height_ + 2;
        const auto page_last = last | (page_size - 1);
        taken_.reserve(page_last);  // `trim` may have given back its words, but not the blocks
        if (last < blocks_.capacity()) { return; }
        detail::grow_to(states_, std::size_t{page_last} + 1);
        blocks_.ensure(page_last);
    }
    [[nodiscard]] auto made() noexcept -> std::uint32_t {
        const auto block = taken_.lowest_free();
        taken_.take(block);
        states_[block] = {};
        return block;
    }

    /// The leaf that an entry is in, or would be, and the way there.
    [[nodiscard]] auto find(const QueueEntry& entry) const noexcept -> Path {
        Path path;  // NOLINT: written as far as it is read
        path.leaf = root_;
        for (std::uint32_t level = 0; level < height_; ++level) {
            const auto* const slots = slots_of(path.leaf);
            const auto* const next = std::upper_bound(slots + 1, slots + states_[path.leaf].count, entry, is_before);
            path.spots[level] = {path.leaf, static_cast<std::uint32_t>(next - slots - 1)};
            path.leaf = next[-1].task.value;
        }
        return path;
    }

    /// Leads a path to the next leaf, or to the one before. False if there is none.
    auto step(Path& path, bool forward) const noexcept -> bool {
        for (auto level = height_; level > 0; --level) {
            auto& [block, place] = path.spots[level - 1];
            if (forward ? place + 1 == states_[block].count : place == 0) { continue; }
            place = forward ? place + 1 : place - 1;
            path.leaf = below(path.spots[level - 1]);
            for (; level < height_; ++level) {
                path.spots[level] = {path.leaf, forward ? 0 : states_[path.leaf].count - 1U};
                path.leaf = below(path.spots[level]);
            }
            return true;
        }
        return false;
    }

    /// The place of an entry in a leaf, or the number of entries there.
    [[nodiscard]] auto place_of(std::uint32_t leaf, const QueueEntry& entry) const noexcept -> std::uint32_t {
        const auto [count, sorted] = states_[leaf];
        const auto* const slots = slots_of(leaf);
        const auto* const end = slots + count;
        const auto* at = end - 1;  // mostly it is the first in order
        if (sorted) {
            if (at->task != entry.task) { at = std::lower_bound(slots, end, entry, is_after); }
        } else {
            at = std::find_if(slots, end, [&](const QueueEntry& other) { return other.sequence == entry.sequence; });
        }
        return at != end && *at == entry ? static_cast<std::uint32_t>(at - slots) : count;
    }

    /// Sorts a leaf. The entries at its border, and behind it, are before the other one.
    [[nodiscard]] auto divided(std::uint32_t leaf, const QueueEntry& entry) noexcept -> Divided {
        auto& [count, sorted] = states_[leaf];
        auto* const slots = slots_of(leaf);
        if (!sorted) { std::sort(slots, slots + count, is_after); }
        sorted = true;
        const auto from = [&](const QueueEntry& other) { return !is_before(other, entry); };
        return {slots, std::partition_point(slots, slots + count, from), slots + count};
    }

    /// Makes room in a full leaf to which an entry comes. A neighbour takes a part of it, or it is divided: in halves,
    /// or where the entry will be, if it is the last of its group there. Tasks of one value come in order, and would
    /// leave one half empty each time.
    void split(const Path& path, const QueueEntry& entry) noexcept {
        auto* const slots = slots_of(path.leaf);
        auto last = true;  // of its group
        const auto* const later = std::partition(slots, slots + width, [&](const QueueEntry& other) {
            const auto is_later = is_before(entry, other);
            last = last && !(is_later && other.group == entry.group);
            return !is_later;
        });
        const auto before = static_cast<std::uint32_t>(later - slots);
        const auto ends = last && before > 0;
        if (!ends && share(path, before)) { return; }
        const auto left = ends ? before : width / 2;
        const auto right = made();
        auto first = entry;
        if (left < width) {
            part(slots, before, left);
            std::copy(slots + left, slots + width, slots_of(right));
            first = slots[left];
            states_[path.leaf] = {static_cast<std::uint8_t>(left), false};
            states_[right].count = static_cast<std::uint8_t>(width - left);
        }
        first.task.value = right;
        add(path, first);
    }

    /// Brings the entry that stands at a border in order there, and those before it in front of it, in a full leaf that
    /// is divided so at another place.
    static void part(QueueEntry* slots, std::uint32_t parted, std::uint32_t border) noexcept {
        const auto in_front = border < parted;
        std::nth_element(in_front ? slots : slots + parted, slots + border, slots + (in_front ? parted : width),
                         is_before);
    }

    /// Gives entries of a full leaf to a neighbour below the same block, of the two the emptier one. False if both are
    /// nearly full. The first `parted` entries are before the others.
    auto share(const Path& path, std::uint32_t parted) noexcept -> bool {
        if (height_ == 0) { return false; }
        const auto parent = path.spots[height_ - 1].block;
        const auto place = path.spots[height_ - 1].place;
        auto* const parts = slots_of(parent);
        const auto count_at = [&](std::uint32_t at) -> std::uint32_t {
            return at < states_[parent].count ? states_[parts[at].task.value].count : width;
        };
        const auto after = count_at(place + 1);
        const auto before = place > 0 ? count_at(place - 1) : width;
        if (std::min(after, before) > share_max) { return false; }
        auto* const slots = slots_of(path.leaf);
        const auto forward = after <= before;
        const auto moved = (width - std::min(after, before)) / 2;
        const auto border = forward ? width - moved : moved;
        part(slots, parted, border);
        auto& behind = parts[forward ? place + 1 : place];  // begins at the border from now on
        const auto to = parts[forward ? place + 1 : place - 1].task.value;
        auto& [count, sorted] = states_[to];
        std::copy_n(forward ? slots + border : slots, moved, slots_of(to) + count);
        const auto block = behind.task;
        behind = slots[border];
        behind.task = block;
        if (!forward) { std::copy(slots + border, slots + width, slots); }
        count = static_cast<std::uint8_t>(count + moved);
        sorted = false;
        states_[path.leaf] = {static_cast<std::uint8_t>(width - moved), false};
        return true;
    }

    /// Adds a block behind that of a path, one level above the leaves; full blocks on the way up are divided.
    void add(const Path& path, QueueEntry first) noexcept {
        for (auto level = height_; level > 0; --level) {
            const auto block = path.spots[level - 1].block;
            const auto place = path.spots[level - 1].place + 1;
            if (states_[block].count < width) { return insert(block, place, first); }
            const auto right = made();
            std::copy_n(slots_of(block) + width / 2, width / 2, slots_of(right));
            states_[block].count = states_[right].count = width / 2;
            if (place > width / 2) {
                insert(right, place - width / 2, first);
            } else {
                insert(block, place, first);
            }
            first = *slots_of(right);
            first.task.value = right;
        }
        ALLOT_ASSERT(height_ < height_max, "EntryTree: no number of entries needs so many levels");
        const auto root = made();
        auto* const slots = slots_of(root);
        slots[0] = *slots_of(root_);
        slots[0].task.value = root_;
        slots[1] = first;
        states_[root].count = 2;
        root_ = root;
        ++height_;
    }
    void insert(std::uint32_t block, std::uint32_t place, const QueueEntry& entry) noexcept {
        auto* const slots = slots_of(block);
        std::move_backward(slots + place, slots + states_[block].count, slots + states_[block].count + 1);
        slots[place] = entry;
        ++states_[block].count;
    }

    /// Removes the leaf of a path if it is empty, or joins it with its neighbour, and so on above it. False if it
    /// stays.
    auto join(const Path& path) noexcept -> bool {
        auto block = path.leaf;
        for (auto level = height_; level > 0; --level) {
            const auto [parent, place] = path.spots[level - 1];
            auto& count = states_[parent].count;
            auto* const slots = slots_of(parent);
            auto gone = place;
            if (states_[block].count > 0) {
                const auto leaves = level == height_;
                if (states_[block].count > width / 4 || count == 1) { return !leaves; }
                gone = place + 1 < count ? place + 1 : place;
                if (!append(slots[gone - 1].task.value, slots[gone], leaves)) { return !leaves; }
            }
            taken_.free(slots[gone].task.value);
            std::move(slots + gone + 1, slots + count, slots + gone);
            --count;
            block = parent;
        }
        const auto joined = height_ > 0;
        for (; height_ > 0 && states_[root_].count == 1; --height_) {
            taken_.free(root_);
            root_ = below({root_, 0});
        }
        if (size_ == 0) { taken_.free(root_); }
        return joined;
    }
    /// Adds the entries of a block to the one before it, if half of a block holds both.
    auto append(std::uint32_t left, const QueueEntry& right, bool of_leaves) noexcept -> bool {
        const auto more = states_[right.task.value].count;
        const auto count = states_[left].count;
        if (count + more > width / 2) { return false; }
        auto* const to = slots_of(left) + count;
        std::copy_n(slots_of(right.task.value), more, to);
        if (!of_leaves) {
            const auto block = to->task;
            *to = right;
            to->task = block;
        }
        states_[left] = {static_cast<std::uint8_t>(count + more), false};
        return true;
    }

    /// @pre `from` is a block, and `to` is free.
    void move_block(std::uint32_t from, std::uint32_t to) noexcept {
        blocks_[to] = blocks_[from];
        states_[to] = states_[from];
        taken_.take(to);
        taken_.free(from);
        if (from == root_) {
            root_ = to;
            return;
        }
        const auto path = find(*slots_of(from));
        for (std::uint32_t level = 0; level < height_; ++level) {
            auto& slot = slots_of(path.spots[level].block)[path.spots[level].place];
            if (slot.task.value == from) { slot.task.value = to; }
        }
    }

    SlotSet taken_;  // numbers of blocks
    Pages<Block, page_size> blocks_;
    std::vector<State> states_;
    std::uint32_t root_ = 0;    // there is one unless the tree is empty
    std::uint32_t height_ = 0;  // levels above the leaves
    std::uint32_t size_ = 0;
};

/// Entries of a tree in order, from one of them on, while the tree does not change.
class EntryTree::Walk {
public:
    /// @pre the entry is in the tree.
    /// @complexity O(log n).
    Walk(const EntryTree& tree, const QueueEntry& from) noexcept : tree_{&tree}, path_{tree.find(from)} {
        open();
        while (is_before(entry(), from)) { ++at_; }
    }
    /// The entry that the walk is at.
    /// @complexity O(1).
    [[nodiscard]] auto entry() const noexcept -> const QueueEntry& { return tree_->slots_of(path_.leaf)[order_[at_]]; }
    /// Goes to the next entry; false if there is none, and then the walk is over.
    /// @complexity O(log n), amortised.
    auto next() noexcept -> bool {
        if (++at_ < count_) { return true; }
        if (!tree_->step(path_, true)) { return false; }
        open();
        return true;
    }

private:
    void open() noexcept {
        const auto [count, sorted] = tree_->states_[path_.leaf];
        const auto* const slots = tree_->slots_of(path_.leaf);
        at_ = 0;
        count_ = count;
        std::iota(order_.begin(), order_.begin() + count, std::uint8_t{0});
        if (sorted) {
            std::reverse(order_.begin(), order_.begin() + count);
        } else {
            std::sort(order_.begin(), order_.begin() + count,
                      [&](std::uint8_t a, std::uint8_t b) { return is_before(slots[a], slots[b]); });
        }
    }

    const EntryTree* tree_;
    Path path_;
    std::array<std::uint8_t, width> order_;  // the places of the leaf's entries, in their order
    std::uint32_t at_ = 0;
    std::uint32_t count_ = 0;
};

}}  // namespace allot::v0
