#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <allot/assert.hpp>
#include <allot/pool/sum_levels.hpp>

namespace allot { inline namespace v0 {

/// Items by place, with the sums of their weights, and a search for the place in which a point of their total falls.
///
/// It is a `SumTree` whose leaves hold no weights. A node has the same weight among the holders of each of its models,
/// so the weight is stored once, in a table of the owner's. The tree holds items only, 4 bytes per place, and the sums
/// above each 16 of them, in one allocation; the owner keeps the total as well.
///
/// There are a hundred thousand such trees, one for each model in each class, most of them tiny: an object of 16 bytes,
/// and 32 more for six items. Item 0 means an empty place. The tree is a value; after a move from it, only assignment
/// and destruction are allowed.
class HolderTree {
public:
    /// Result of a search: an item, and the distance of the point from the beginning of its weight.
    struct Found {
        std::uint32_t item = 0;
        std::uint64_t offset = 0;

        [[nodiscard]] friend auto operator==(const Found&, const Found&) noexcept -> bool = default;
    };

    /// A tree without items.
    HolderTree() noexcept = default;
    /// A deep copy. Strong guarantee.
    /// @complexity linear in the places.
    HolderTree(const HolderTree& other)
        : words_{other.blank() ? nullptr : new std::uint64_t[words_of(other.places_)]},  // NOLINT: owned
          places_{other.places_}, size_{other.size_} {
        std::copy_n(other.words_.get(), words_of(places_), words_.get());
    }
    HolderTree(HolderTree&& other) noexcept = default;
    auto operator=(HolderTree other) noexcept -> HolderTree& {
        std::swap(words_, other.words_);
        std::swap(places_, other.places_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~HolderTree() = default;

    /// Puts an item at a free place. If an allocation throws, nothing changes; a place below one that had an item
    /// since the last `trim` needs no allocation.
    /// @param total The sum of all weights so far.
    /// @pre `item > 0`, `weight > 0`; the place is free.
    /// @complexity O(log8 n), amortised where the tree grows.
    auto put(std::uint32_t place, std::uint32_t item, std::uint32_t weight, std::uint64_t total) -> void {
        ALLOT_ASSERT(item != 0 && this->item(place) == 0, "HolderTree::put: an item for a free place");
        if (place >= places_) { grow(std::size_t{place} + 1, total); }
        write(place, item);
        ++size_;
        add(place, weight);
    }

    /// Removes the item of a place.
    /// @pre The place has an item of that weight.
    /// @complexity O(log8 n).
    auto erase(std::uint32_t place, std::uint32_t weight) noexcept -> void {
        write(place, 0);
        --size_;
        add(place, 0 - std::uint64_t{weight});
    }

    /// Adds to the weight of a place's item; unsigned numbers wrap, so it also subtracts.
    /// @complexity O(log8 n).
    auto add(std::uint32_t place, std::uint64_t difference) noexcept -> void {
        auto* const first = words_.get() + places_ / 2;
        detail::sums_add([first](std::size_t i) { return first + i * detail::sums_fan_out; }, blocks(places_),
                         place / block_places, difference);
    }

    /// The item of a place; 0 if the place is empty.
    [[nodiscard]] auto item(std::uint32_t place) const noexcept -> std::uint32_t {
        return place < places_ ? static_cast<std::uint32_t>(words_[place / 2] >> shift(place)) : 0;
    }

    /// Gives back the room of the places from `reach` on. Changes no result. If that needs memory and there is none,
    /// the room stays.
    /// @pre These places are empty.
    /// @complexity O(reach).
    auto trim(std::uint32_t reach) noexcept -> void {
        try {
            if (room_for(reach) < places_) { lay_out(room_for(reach), 0); }
        } catch (const std::bad_alloc&) { return; }
    }

    /// True if it has no memory: nothing was put into it.
    [[nodiscard]] auto blank() const noexcept -> bool { return words_ == nullptr; }

    /// Number of items.
    [[nodiscard]] auto positive() const noexcept -> std::uint32_t { return size_; }

    /// The first place whose prefix sum, its own weight included, exceeds `point`.
    /// @param weights By item: the weights given to the tree, and 0 for item 0.
    /// @pre `point` is below the sum of all weights.
    /// @complexity O(log8 n), and 16 reads of `weights`.
    template <class Weights>
    [[nodiscard]] auto find(std::uint64_t point, const Weights& weights) const noexcept -> Found {
        const auto* first = words_.get() + places_ / 2;
        const auto lines = detail::sums_lines(blocks(places_));
        const auto block = detail::sums_descend([first](std::size_t i) { return first + i * detail::sums_fan_out; },
                                                lines, blocks(places_), point);
        const auto at = static_cast<std::uint32_t>(block * block_places);
        auto items = std::array<std::uint32_t, block_places>{};
        auto leaf = std::array<std::uint32_t, block_places>{};
        const auto count = std::min<std::uint32_t>(places_ - at, block_places);
        for (std::uint32_t i = 0; i < count; ++i) {
            items[i] = item(at + i);
            leaf[i] = weights[items[i]];
        }
        const auto lane = detail::step<block_places>(leaf.data(), point);
        return {items[lane], point};
    }

    /// The sum of the weights before a place.
    /// @param weights As for `find`.
    /// @pre the place has an item.
    /// @complexity O(log8 n), and 16 reads of `weights`.
    template <class Weights>
    [[nodiscard]] auto before(std::uint32_t place, const Weights& weights) const noexcept -> std::uint64_t {
        const auto* const first = words_.get() + places_ / 2;
        const auto block = place / block_places;
        auto sum = detail::sums_before([first](std::size_t i) { return first + i * detail::sums_fan_out; },
                                       blocks(places_), block);
        for (auto other = block * block_places; other < place; ++other) { sum += weights[item(other)]; }
        return sum;
    }

    /// Calls `f(item)` for each item, in the order of places.
    /// @pre `f` does not change the tree.
    /// @complexity linear in the number of places.
    template <class F>
    auto for_each(F&& f) const -> void {
        for (std::uint32_t place = 0; place < places_; ++place) {
            if (const auto found = item(place); found != 0) { f(found); }
        }
    }

private:
    static constexpr std::uint32_t block_places = 16;

    [[nodiscard]] static auto blocks(std::size_t places) noexcept -> std::size_t {
        return (places + block_places - 1) / block_places;
    }
    [[nodiscard]] static auto words_of(std::size_t places) noexcept -> std::size_t {
        return places / 2 + detail::sums_lines(blocks(places)) * detail::sums_fan_out;
    }
    [[nodiscard]] static auto shift(std::uint32_t place) noexcept -> std::uint32_t { return place % 2 * 32; }

    auto write(std::uint32_t place, std::uint32_t item) noexcept -> void {
        auto& word = words_[place / 2];
        word = (word & (std::uint64_t{0xFFFF'FFFFU} << (32 - shift(place)))) | (std::uint64_t{item} << shift(place));
    }

    /// Number of places to make room for, in small steps, because most trees stay small: 6, 10, 14, 16, 18, 22.
    [[nodiscard]] static auto room_for(std::size_t count) noexcept -> std::size_t {
        const auto room = std::max<std::size_t>((count + 1) / 4 * 4 + 2, 6);
        return count <= block_places ? std::min<std::size_t>(room, block_places) : room;
    }

    /// Makes room for `count` places, beyond one block for a sixteenth more.
    auto grow(std::size_t count, std::uint64_t total) -> void {
        lay_out(room_for(count <= block_places ? count : std::max(count, std::size_t{places_} + places_ / 16)), total);
    }

    /// Lays out items and sums anew. If the allocation throws, nothing changes.
    /// @param total The sum of all weights; a tree of one block does not know it.
    auto lay_out(std::size_t places, std::uint64_t total) -> void {
        const auto lines = detail::sums_lines(blocks(places));
        const auto items = static_cast<std::ptrdiff_t>(std::min<std::size_t>(places, places_) / 2);
        auto words = std::unique_ptr<std::uint64_t[]>{new std::uint64_t[words_of(places)]()};  // NOLINT: owned
        std::copy_n(words_.get(), items, words.get());
        auto* const sum = words.get() + places / 2;
        if (lines > 0 && places_ > block_places) {
            std::copy_n(words_.get() + places_ / 2, blocks(std::min<std::size_t>(places, places_)), sum);
        } else if (lines > 0) {
            *sum = total;
        }
        words_ = std::move(words);
        places_ = static_cast<std::uint32_t>(places);
        auto* const first = words_.get() + places / 2;
        detail::sums_fill([first](std::size_t i) { return first + i * detail::sums_fan_out; }, blocks(places));
    }

    std::unique_ptr<std::uint64_t[]> words_;  // two items per word, then the lines of sums
    std::uint32_t places_ = 0;
    std::uint32_t size_ = 0;
};
static_assert(sizeof(void*) > 8 || sizeof(HolderTree) <= 16, "there is one for each model in each class");

}}  // namespace allot::v0
