#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 {

/// Memory for the nodes of one container: pieces of one size, taken from blocks and reused.
///
/// A general allocator spends up to 16 bytes and a call on every node. Here nodes are contiguous. A block is a
/// sixteenth of the present memory, and 4,096 pieces at most, so that spare memory stays small. The piece returned
/// last is taken next. Where a quarter is spare, `trim` sorts returned pieces into their blocks; the next ones then
/// come from the block of the lowest number, so that the others become empty and can be given back.
///
/// A piece that nearly fills cache lines begins with one. At 56 bytes three in four reach into a second line: a pair of
/// commands with a million waiting tasks reads 7 cold lines more.
///
/// The block of a piece is found by its address. Addresses differ by machine; they decide nothing else, and no result
/// depends on where a node lies.
class NodePool {
public:
    NodePool() = default;
    NodePool(const NodePool&) = delete;
    auto operator=(const NodePool&) -> NodePool& = delete;

    /// True if `size` is the size of the pieces, which the first call decides.
    [[nodiscard]] auto serves(std::size_t size) noexcept -> bool {
        if (size_ == 0) [[unlikely]] {
            size_ = std::max(size, sizeof(Free));
            stride_ = size_ % line > line - 12 ? (size_ / line + 1) * line : size_;
        }
        return size == size_;
    }

    /// A piece of memory, aligned for any type without an extended alignment. If an allocation throws, nothing changes.
    /// @pre `serves` has returned true.
    /// @complexity O(1), or O(1 + blocks / 64) where the last piece returned is gone; O(blocks) where a block is added.
    [[nodiscard]] auto take() -> void* {
        if (loose_ != nullptr) {
            --loose_count_;
            ++taken_;
            return std::exchange(loose_, loose_->next);
        }
        if (taken_ == pieces_) { add(); }
        const auto word = std::find_if(open_.begin(), open_.end(), [](std::uint64_t bits) { return bits != 0; });
        const auto number =
            static_cast<std::size_t>(word - open_.begin()) * 64 + static_cast<std::size_t>(std::countr_zero(*word));
        auto& block = blocks_[number];
        if (block.used++ == 0) { --empty_; }
        if (block.used == block.pieces) { *word &= *word - 1; }
        ++taken_;
        if (block.free == nullptr) {
            return reinterpret_cast<std::byte*>(block.memory.get()) + block.fresh++ * stride_;
        }
        return std::exchange(block.free, block.free->next);
    }

    /// Returns a piece to the pool.
    /// @pre the piece came from `take` of this pool.
    /// @complexity O(1).
    void give(void* piece) noexcept {
        loose_ = ::new (piece) Free{loose_};
        ++loose_count_;
        --taken_;
    }

    /// True if `trim` has something to do: a large pool is a quarter empty.
    [[nodiscard]] auto falls() const noexcept -> bool {
        return empty_ > 1 || (loose_count_ > 0 && room() > std::max(kept_max, pieces_ / 4));
    }

    /// Gives back blocks without a taken piece, 16 of them, but for the last one, which serves a container that grows
    /// and falls by a few. Of the pieces that were returned, 1,024 are sorted into their blocks before.
    /// @complexity O(log blocks) for each of these pieces, and O(blocks) for each block.
    void trim() noexcept {
        for (auto sorted = 0; sorted < 1'024 && falls() && loose_ != nullptr; ++sorted) {
            const auto number = block_of(loose_);
            auto& block = blocks_[number];
            block.free = std::exchange(loose_, std::exchange(loose_->next, block.free));
            --loose_count_;
            open_[number / 64] |= std::uint64_t{1} << (number % 64);
            if (--block.used == 0) { ++empty_; }
        }
        const auto left = std::max<std::size_t>(empty_, 17) - 16;
        for (auto number = blocks_.size(); empty_ > left && number > 0; --number) {
            auto& block = blocks_[number - 1];
            if (block.pieces == 0 || block.used > 0) { continue; }
            open_[(number - 1) / 64] &= ~(std::uint64_t{1} << ((number - 1) % 64));
            by_address_.erase(std::find_if(by_address_.begin(), by_address_.end(),
                                           [&](const Place& place) { return place.number == number - 1; }));
            pieces_ -= block.pieces;
            --empty_;
            block = Block{};
        }
    }

    /// Number of pieces that `take` returns before it asks for memory.
    [[nodiscard]] auto room() const noexcept -> std::size_t { return pieces_ - taken_; }

private:
    static constexpr std::size_t least = 16;
    static constexpr std::size_t most = 4'096;
    static constexpr std::size_t kept_max = 1'024;  // a pool with so many pieces to spare keeps them
    struct Free {
        Free* next;
    };
    static constexpr std::size_t line = 64;
    /// Without initial values, so that an array of them is made without a pass over it.
    struct alignas(line) Line {
        std::array<std::byte, line> bytes;
    };
    struct Block {
        std::unique_ptr<Line[]> memory;  // null if it was given back
        Free* free = nullptr;            // pieces that were sorted into it
        std::uint32_t fresh = 0;         // the first piece that was never taken
        std::uint32_t used = 0;          // pieces that are taken or loose
        std::uint32_t pieces = 0;
    };
    struct Place {
        const Line* begin;
        std::uint32_t number;  // of the block
    };

    /// Adds a block. If an allocation throws, nothing changes.
    void add() {
        const auto gone = std::find_if(blocks_.begin(), blocks_.end(), [](auto& block) { return block.pieces == 0; });
        const auto number = static_cast<std::uint32_t>(gone - blocks_.begin());
        detail::make_room(blocks_, std::size_t{number} + 1);
        detail::make_room(by_address_, by_address_.size() + 1);
        detail::make_room(open_, number / 64 + std::size_t{1});
        const auto count = std::clamp(pieces_ / 16, least, most);
        auto memory = std::unique_ptr<Line[]>{new Line[(count * stride_ + line - 1) / line]};
        const auto before = std::upper_bound(by_address_.begin(), by_address_.end(), memory.get(), goes_before);
        by_address_.insert(before, Place{memory.get(), number});
        if (number == blocks_.size()) { blocks_.emplace_back(); }
        blocks_[number] = Block{std::move(memory), nullptr, 0, 0, static_cast<std::uint32_t>(count)};
        detail::grow_to(open_, number / 64 + std::size_t{1});
        open_[number / 64] |= std::uint64_t{1} << (number % 64);
        pieces_ += count;
        ++empty_;
    }

    /// Without a branch on the addresses, which are as good as random.
    [[nodiscard]] auto block_of(const void* piece) const noexcept -> std::uint32_t {
        const auto* first = by_address_.data();
        for (auto count = by_address_.size(); count > 1;) {
            const auto half = count / 2;
            first += goes_before(piece, first[half]) ? 0 : half;
            count -= half;
        }
        return first->number;
    }
    [[nodiscard]] static auto goes_before(const void* piece, const Place& place) noexcept -> bool {
        return std::less<const void*>{}(piece, place.begin);
    }

    std::vector<Block> blocks_;        // by number
    std::vector<Place> by_address_;    // ascending
    std::vector<std::uint64_t> open_;  // a bit for each block that has a piece to take
    std::size_t pieces_ = 0;           // in all blocks
    std::size_t taken_ = 0;            // of these
    std::size_t empty_ = 0;            // number of blocks without a used piece
    Free* loose_ = nullptr;            // pieces that were returned, the last one first
    std::size_t loose_count_ = 0;
    std::size_t size_ = 0;
    std::size_t stride_ = 0;  // from one piece to the next
};

/// An allocator that takes single nodes from a pool, and all other memory from the heap.
template <class T>
class PoolAllocator {
public:
    using value_type = T;
    using propagate_on_container_swap = std::true_type;

    explicit PoolAllocator(NodePool& pool) noexcept : pool_{&pool} {}
    template <class U>
    PoolAllocator(const PoolAllocator<U>& other) noexcept : pool_{other.pool()} {}  // NOLINT: required of an allocator

    [[nodiscard]] auto allocate(std::size_t count) -> T* {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                      "allot::PoolAllocator: this type has an alignment of its own, which a NodePool does not keep.");
        return static_cast<T*>(count == 1 && pool_->serves(sizeof(T)) ? pool_->take()
                                                                      : std::allocator<T>{}.allocate(count));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (count == 1 && pool_->serves(sizeof(T))) {
            pool_->give(memory);
        } else {
            std::allocator<T>{}.deallocate(memory, count);
        }
    }
    template <class U>
    friend auto operator==(const PoolAllocator& a, const PoolAllocator<U>& b) noexcept -> bool {
        return a.pool() == b.pool();
    }

    [[nodiscard]] auto pool() const noexcept -> NodePool* { return pool_; }

private:
    NodePool* pool_;
};

/// A container of nodes together with its pool: a value, as the container with an ordinary allocator is.
///
/// `Container` is sorted, and its allocator a `PoolAllocator`. After a move from it, only assignment and destruction
/// are allowed.
template <class Container>
class Pooled {
public:
    Pooled() : all_{std::make_unique<All>()} {}

    /// A deep copy, whose nodes are in order in memory. Strong guarantee.
    /// @complexity O(n).
    Pooled(const Pooled& other) : Pooled{} {
        for (const auto& value : *other) { all_->container.insert(all_->container.end(), value); }
    }
    Pooled(Pooled&&) noexcept = default;
    auto operator=(const Pooled& other) -> Pooled& { return *this = Pooled{other}; }
    auto operator=(Pooled&&) noexcept -> Pooled& = default;
    ~Pooled() = default;

    /// As `NodePool::falls` and `trim`. Changes no result.
    [[nodiscard]] auto falls() const noexcept -> bool { return all_->pool.falls(); }
    void trim() noexcept { all_->pool.trim(); }

    [[nodiscard]] auto operator*() noexcept -> Container& { return all_->container; }
    [[nodiscard]] auto operator*() const noexcept -> const Container& { return all_->container; }
    [[nodiscard]] auto operator->() noexcept -> Container* { return &all_->container; }
    [[nodiscard]] auto operator->() const noexcept -> const Container* { return &all_->container; }

private:
    struct All {
        NodePool pool;
        Container container{typename Container::allocator_type{pool}};
    };
    std::unique_ptr<All> all_;  // on the heap, because the container has the pool's address
};

}}  // namespace allot::v0
