#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 {

/// Memory for the nodes of one container: pieces of one size, taken from blocks and reused.
///
/// A general allocator spends up to 16 bytes and a call on every node. Here nodes are contiguous, and the piece freed
/// last is taken next. A block is a sixteenth of the present memory, so that spare memory stays small. Once all pieces
/// but the first one are back, which the container keeps for itself, a large pool gives back its blocks but one.
class NodePool {
public:
    NodePool() = default;
    NodePool(const NodePool&) = delete;
    auto operator=(const NodePool&) -> NodePool& = delete;

    /// True if `size` is the size of the pieces, which the first call decides.
    [[nodiscard]] auto serves(std::size_t size) noexcept -> bool {
        size_ = size_ == 0 ? std::max(size, sizeof(Free)) : size_;
        return size == size_;
    }

    /// A piece of memory, aligned for any type without an extended alignment. If an allocation throws, nothing changes.
    /// @pre `serves` has returned true.
    /// @complexity O(1).
    [[nodiscard]] auto take() -> void* {
        if (free_ != nullptr) {
            auto* const piece = free_;
            free_ = piece->next;
            first_back_ = first_back_ && static_cast<void*>(piece) != first();
            ++taken_;
            return piece;
        }
        if (fresh_ == 0) {
            const auto count = std::max(least, pieces_ / 16);
            detail::make_room(blocks_, blocks_.size() + 1);
            blocks_.push_back(std::unique_ptr<std::byte[]>{new std::byte[count * size_]});
            pieces_ += count;
            fresh_ = count;
        }
        ++taken_;
        return blocks_.back().get() + --fresh_ * size_;
    }

    /// Returns a piece to the pool.
    /// @pre the piece came from `take` of this pool.
    /// @complexity O(1), and O(blocks) where they are given back.
    void give(void* piece) noexcept {
        free_ = ::new (piece) Free{free_};
        first_back_ = first_back_ || piece == first();
        if (--taken_ != 1 || first_back_ || pieces_ <= kept_max) { return; }
        blocks_.resize(1);
        free_ = nullptr;
        pieces_ = least;
        fresh_ = least - 1;
    }

    /// Number of pieces that `take` returns before it asks for memory.
    [[nodiscard]] auto room() const noexcept -> std::size_t { return pieces_ - taken_; }

private:
    static constexpr std::size_t least = 16;
    static constexpr std::size_t kept_max = 4'096;  // a pool of so many pieces keeps its blocks
    struct Free {
        Free* next;
    };

    /// The piece that was taken first: the last one of the first block.
    [[nodiscard]] auto first() const noexcept -> const void* { return blocks_.front().get() + (least - 1) * size_; }

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    Free* free_ = nullptr;    // given back
    std::size_t fresh_ = 0;   // in the last block, never taken; the last piece is taken first
    std::size_t pieces_ = 0;  // in all blocks
    std::size_t size_ = 0;
    std::size_t taken_ = 0;    // pieces that are not given back
    bool first_back_ = false;  // the piece taken first is given back
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
