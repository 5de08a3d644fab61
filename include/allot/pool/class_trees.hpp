#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/handle.hpp>
#include <allot/pool/sum_levels.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Sum trees by class, with the totals that a draw over many classes adds up.
///
/// Totals are contiguous, and each sixteen have a sum. The classes that fit a task mostly form long rows, of which a
/// draw then reads one number in sixteen. Sixteen classes without a tree take no memory.
///
/// With `in_order`, trees stand in the order of their classes: while none is missing, a class is the index of its tree.
/// A new one then moves all behind it. Without it a block of sixteen takes the place behind the others, because a node
/// may bring a new class to thousands of models at once.
template <class Tree, bool in_order>
class ClassTrees {
public:
    static constexpr auto none = ~std::uint32_t{0};

    /// Index of the tree of a class; makes the tree if it is missing. If an allocation throws, nothing changes.
    /// @complexity O(log classes); O(classes / 16) where a tree is made, O(classes) with `in_order`.
    auto made(ClassId node_class) -> std::uint32_t {
        const auto block = block_of(node_class);
        if (!has(block, node_class)) {
            const auto last = static_cast<std::uint32_t>(blocks_.size());
            make_room(blocks_, last + 1);
            sums_.ensure(last);
            totals_.ensure(last * width + width - 1);
            trees_.ensure(last * width + width - 1);
            const auto at = blocks_.begin() + static_cast<std::ptrdiff_t>(block);
            blocks_.insert(at, Block{node_class.value / width * width, last});
            if constexpr (in_order) {
                const auto place = static_cast<std::uint32_t>(block);
                turn(place, last, last + 1);
                for (auto i = place; i <= last; ++i) { blocks_[i].place = i; }
            }
        }
        return index_in(block, node_class);
    }

    /// Index of the tree of a class, or `none`.
    [[nodiscard]] auto index(ClassId node_class) const -> std::uint32_t {
        const auto block = block_of(node_class);
        return has(block, node_class) ? index_in(block, node_class) : none;
    }

    /// Gives back the room of a class's tree from a place on.
    /// @pre its places from `reach` on are empty.
    /// @complexity O(log classes + reach).
    void trim(ClassId node_class, std::uint32_t reach) noexcept {
        if (const auto i = index(node_class); i != none) { trees_[i].trim(reach); }
    }

    /// Gives back the tree of a class, and with the last of sixteen classes their common block.
    /// @pre the total of the tree is zero.
    /// @complexity O(log classes); O(classes / 16) where the last of sixteen goes, O(classes) with `in_order`.
    void drop(ClassId node_class) {
        const auto block = block_of(node_class);
        if (!has(block, node_class)) { return; }
        const auto place = blocks_[block].place;
        auto* const trees = &trees_[place * width];
        trees[node_class.value % width] = Tree{};
        if (std::any_of(trees, trees + width, [](const Tree& tree) { return !tree.blank(); })) { return; }
        if (blocks_.size() == 1) {
            *this = ClassTrees{};
            return;
        }
        const auto last = static_cast<std::uint32_t>(blocks_.size() - 1);
        if constexpr (in_order) {
            turn(place, place + 1, last + 1);
            for (auto i = block; i <= last; ++i) { --blocks_[i].place; }
        } else {
            turn(place, last, last + 1);
            for (auto& other : blocks_) { other.place = other.place == last ? place : other.place; }
        }
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(block));
        sums_.trim(last);
        totals_.trim(last * width);
        trees_.trim(last * width);
    }

    /// True if no class has a tree.
    [[nodiscard]] auto blank() const -> bool { return blocks_.empty(); }

    [[nodiscard]] auto operator[](std::uint32_t index) -> Tree& { return trees_[index]; }
    [[nodiscard]] auto operator[](std::uint32_t index) const -> const Tree& { return trees_[index]; }

    /// The total of the tree at `index`.
    [[nodiscard]] auto total_of(std::uint32_t index) const -> std::uint64_t { return totals_[index]; }

    /// Adds a difference to the stored total of a tree. Unsigned numbers wrap, so the total may also fall.
    void add(std::uint32_t index, std::uint64_t difference) {
        totals_[index] += difference;
        sums_[index / width] += difference;
    }

    /// Sum of the totals.
    /// @param classes Ascending.
    [[nodiscard]] auto total(std::span<const ClassId> classes) const -> std::uint64_t {
        auto rest = ~std::uint64_t{0};  // no sum is as large
        (void)locate(classes, rest);
        return ~rest;
    }

    /// Index of the tree in which `point` falls, or `none` when it is behind all of them. Subtracts the totals before
    /// that tree from `point`.
    /// @param classes Ascending.
    [[nodiscard]] auto locate(std::span<const ClassId> classes, std::uint64_t& point) const -> std::uint32_t {
        auto rest = point;
        const auto* at = classes.data();
        const auto* const end = at + classes.size();
        const auto found_at = [&](std::uint32_t index) {
            point = rest;
            return index;
        };
        const auto passes = [&](std::uint64_t sum, std::ptrdiff_t count) {
            if (rest < sum) { return false; }
            rest -= sum;
            at += count;
            return true;
        };
        // Ascending and different, so if the sixteenth is the last of the block, all of them are there.
        const auto is_row = [&](std::uint32_t first) {
            return at->value == first && end - at >= width && at[width - 1].value == first + (width - 1);
        };
        const auto found_in_row = [&](std::uint32_t place) {
            const auto lane = static_cast<std::uint32_t>(step<width>(&totals_[place * width], rest));
            return found_at(place * width + lane);
        };
        // While no block is missing, a class is the index of its tree, and eight are added up without a question.
        constexpr auto eight = std::ptrdiff_t{8};
        for (const auto own = classes_that_are_indices(); end - at >= eight && at[eight - 1].value < own;) {
            const auto block = at->value / width;
            if (is_row(block * width)) {
                if (passes(sums_[block], width)) { continue; }
                return found_in_row(block);
            }
            auto sum = std::uint64_t{0};
            for (std::ptrdiff_t i = 0; i < eight; i += 4) {  // by four: g++ 12 at -O2 unrolls nothing by itself
                sum += totals_[at[i].value] + totals_[at[i + 1].value];
                sum += totals_[at[i + 2].value] + totals_[at[i + 3].value];
            }
            if (!passes(sum, eight)) { break; }
        }
        for (auto block = at == end ? blocks_.size() : block_of(*at); at != end && block < blocks_.size(); ++block) {
            const auto [first, place] = blocks_[block];
            at = from(at, end, first);
            if (at != end && is_row(first)) {
                if (passes(sums_[place], width)) { continue; }
                return found_in_row(place);
            }
            for (; at != end && at->value - first < width; ++at) {
                const auto i = place * width + (at->value - first);
                if (rest < totals_[i]) { return found_at(i); }
                rest -= totals_[i];
            }
        }
        return found_at(none);
    }

    /// Calls `f(class, tree)` for each of the classes whose total is positive, while it returns true.
    /// @param classes Ascending.
    /// @complexity O(log classes) for each sixteen classes that have trees, and for each call.
    template <class F>
    void each_filled(std::span<const ClassId> classes, F&& f) const {
        const auto* at = classes.data();
        const auto* const end = at + classes.size();
        for (auto block = at == end ? blocks_.size() : block_of(*at); at != end && block < blocks_.size(); ++block) {
            const auto [first, place] = blocks_[block];
            at = from(at, end, first);
            for (; at != end && at->value - first < width; ++at) {
                const auto i = place * width + (at->value - first);
                if (totals_[i] > 0 && !f(*at, trees_[i])) { return; }
            }
        }
    }

private:
    static constexpr std::uint32_t width = 16;
    struct Block {
        std::uint32_t first;  // of its classes; a multiple of sixteen
        std::uint32_t place;  // among the sums; its trees are at sixteen times this
    };

    /// Index of the tree of a class in its block.
    [[nodiscard]] auto index_in(std::size_t block, ClassId node_class) const -> std::uint32_t {
        return blocks_[block].place * width + node_class.value % width;
    }

    /// Rotates blocks, so that the one at `middle` comes to `first`; without an order it exchanges these two.
    void turn(std::uint32_t first, std::uint32_t middle, std::uint32_t last) {
        const auto rotate = [&](auto& all, std::uint32_t size) {
            auto* const begin = &all[first * size];
            if constexpr (in_order) {
                std::rotate(begin, begin + (middle - first) * size, begin + (last - first) * size);
            } else {
                std::swap_ranges(begin, begin + size, &all[middle * size]);
            }
        };
        rotate(sums_, 1);
        rotate(totals_, width);
        rotate(trees_, width);
    }

    /// The first of these ascending classes that is not below `first`. A model's holders are of few classes, of the
    /// many that fit.
    [[nodiscard]] static auto from(const ClassId* at, const ClassId* end, std::uint32_t first) -> const ClassId* {
        if (at == end || at->value >= first) { return at; }
        return std::lower_bound(at, end, first, [](ClassId c, std::uint32_t f) { return c.value < f; });
    }

    /// Index of the block of a class, or of the place to insert it.
    [[nodiscard]] auto block_of(ClassId node_class) const -> std::size_t {
        const auto first = node_class.value / width * width;
        if (const auto block = std::size_t{first / width}; block < blocks_.size() && blocks_[block].first == first) {
            return block;  // true while no block is missing
        }
        const auto before = [](const Block& block, std::uint32_t f) { return block.first < f; };
        return static_cast<std::size_t>(std::lower_bound(blocks_.begin(), blocks_.end(), first, before) -
                                        blocks_.begin());
    }

    /// Every class below this number is the index of its tree.
    [[nodiscard]] auto classes_that_are_indices() const -> std::size_t {
        if constexpr (!in_order) { return 0; }
        const auto dense = !blocks_.empty() && blocks_.back().first / width == blocks_.size() - 1;
        return dense ? blocks_.size() * width : 0;
    }

    [[nodiscard]] auto has(std::size_t block, ClassId node_class) const -> bool {
        return block < blocks_.size() && blocks_[block].first == node_class.value / width * width;
    }

    std::vector<Block> blocks_;  // ascending by class
    template <class T>
    using Array = SplitVector<T, in_order ? whole_vector : 4 * width, 4 * width>;
    Array<std::uint64_t> sums_;    // of the totals of a block, by place
    Array<std::uint64_t> totals_;  // sixteen per block, by place
    Array<Tree> trees_;            // the same
};

}}}  // namespace allot::v0::detail
