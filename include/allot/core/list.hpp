#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 {

/// A vector for records: 8 bytes instead of 24, because the counts stand before the elements. There are millions of
/// records, and most of their lists are empty: those have no block, and to copy or destroy them is one comparison.
///
/// It has the part of the interface of `std::vector` that records need; iterators are pointers. If an allocation or a
/// copy throws, nothing changes.
/// @complexity as for `std::vector`.
template <class T>
class List {
public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;

    List() noexcept = default;
    /// So many elements `T{}`.
    explicit List(std::size_t count) {
        auto made = with_room(count);
        for (; made.size() < count; ++made.block_->size) { std::construct_at(made.end()); }
        swap(made);
    }
    /// Copies of the elements of a range.
    template <std::forward_iterator It>
    List(It first, It last) {
        auto made = with_room(static_cast<std::size_t>(std::distance(first, last)));
        for (; first != last; ++first) { made.add(*first); }
        swap(made);
    }
    List(std::initializer_list<T> elements) : List(elements.begin(), elements.end()) {}
    List(const List& other) : List(other.begin(), other.end()) {}
    List(List&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
    auto operator=(List other) noexcept -> List& {
        swap(other);
        return *this;
    }
    ~List() {
        if (block_ == nullptr) { return; }
        std::destroy(begin(), end());
        ::operator delete(block_);
    }
    void swap(List& other) noexcept { std::swap(block_, other.block_); }

    [[nodiscard]] auto size() const noexcept -> std::size_t { return block_ == nullptr ? 0 : block_->size; }
    [[nodiscard]] auto capacity() const noexcept -> std::size_t { return block_ == nullptr ? 0 : block_->room; }
    [[nodiscard]] auto empty() const noexcept -> bool { return size() == 0; }
    [[nodiscard]] auto data() noexcept -> T* { return block_ == nullptr ? nullptr : elements_of(block_); }
    [[nodiscard]] auto data() const noexcept -> const T* { return block_ == nullptr ? nullptr : elements_of(block_); }
    [[nodiscard]] auto begin() noexcept -> T* { return data(); }
    [[nodiscard]] auto begin() const noexcept -> const T* { return data(); }
    [[nodiscard]] auto end() noexcept -> T* { return data() + size(); }
    [[nodiscard]] auto end() const noexcept -> const T* { return data() + size(); }
    /// @pre `i < size()`.
    [[nodiscard]] auto operator[](std::size_t i) noexcept -> T& { return data()[i]; }
    [[nodiscard]] auto operator[](std::size_t i) const noexcept -> const T& { return data()[i]; }
    /// @pre the list is not empty.
    [[nodiscard]] auto front() const noexcept -> const T& { return *begin(); }
    [[nodiscard]] auto back() noexcept -> T& { return *(end() - 1); }
    [[nodiscard]] auto back() const noexcept -> const T& { return *(end() - 1); }

    void push_back(T value) {
        if (size() == capacity()) { reserve(std::max(size() + 1, capacity() * 8 / 5)); }
        add(std::move(value));
    }
    /// Adds an element before `at`, and returns its place.
    auto insert(const T* at, T value) -> T* {
        const auto place = at - data();
        push_back(std::move(value));
        std::rotate(begin() + place, end() - 1, end());
        return begin() + place;
    }
    auto erase(const T* at) noexcept -> T* { return erase(at, at + 1); }
    auto erase(const T* first, const T* last) noexcept -> T* {
        auto* const hole = begin() + (first - data());
        if (first == last) { return hole; }
        auto* const left = std::move(begin() + (last - data()), end(), hole);
        block_->size -= static_cast<std::uint32_t>(end() - left);
        std::destroy(left, left + (last - first));
        return hole;
    }
    void clear() noexcept { erase(begin(), end()); }
    template <class It>
    void assign(It first, It last) {
        *this = List(first, last);
    }
    void reserve(std::size_t room) {
        if (room <= capacity()) { return; }
        auto made = with_room(room);
        for (auto& element : *this) { made.add(std::move(element)); }
        swap(made);
    }

    friend auto operator==(const List& a, const List& b) -> bool {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    struct Counts {
        std::uint32_t size;
        std::uint32_t room;
    };

    /// The bytes before the elements, which follow the counts.
    static constexpr auto offset() noexcept -> std::size_t { return std::max(sizeof(Counts), alignof(T)); }

    static auto elements_of(Counts* block) noexcept -> T* {
        static_assert(std::is_nothrow_move_constructible_v<T>, "allot::List moves elements when it grows");
        static_assert(alignof(T) <= alignof(std::max_align_t), "allot::List has no room for so strict an alignment");
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(block) + offset());
    }

    static auto with_room(std::size_t count) -> List {
        auto made = List{};
        if (count == 0) { return made; }
        ALLOT_ASSERT(count <= 0xFFFF'FFFFU, "List: its counts have 32 bits");
        made.block_ = ::new (::operator new(offset() + count * sizeof(T))) Counts{0, static_cast<std::uint32_t>(count)};
        return made;
    }

    /// Adds an element. @pre there is room.
    template <class Value>
    void add(Value&& value) {
        std::construct_at(end(), std::forward<Value>(value));
        ++block_->size;
    }

    Counts* block_ = nullptr;  // null while there are no elements and no room
};

/// The elements of a Boost container as a span. The standard library recognises the iterators of these containers as
/// contiguous only with a Boost newer than 1.74.
/// @complexity O(1).
template <class Container>
[[nodiscard]] constexpr auto span_of(const Container& elements) noexcept
    -> std::span<const typename Container::value_type> {
    return {elements.data(), elements.size()};
}

}}  // namespace allot::v0
