#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <allot/assert.hpp>
#include <allot/store/handle_map.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Maps equal values to one small id, and counts the users of each.
///
/// It serves names and requirements, which thousands of records share: a record stores four bytes, and two requirements
/// are equal when their ids are. A new value gets the lowest free id. So ids depend on the values present and on their
/// order of arrival, never on the hash or its key. Counts change without touching the value.
///
/// A value is removed only by `erase_if_unused`, so an undo log can first save it. `put` then restores it at its former
/// id.
///
/// `Hash` is called as `hash(const T&) -> std::uint64_t`, and its high half must be good. It needs a key, because
/// untrusted parties choose names. `==` ignores it.
template <class T, class Hash>
class Interner {
public:
    /// An interner without values; `hash` may hold a key.
    explicit Interner(Hash hash = Hash{}) : hash_{std::move(hash)} {}

    /// The id of a value equal to `value`, if there is one. `Like` is `T`, or hashes and compares as one.
    /// @complexity O(1) expected.
    template <class Like>
    [[nodiscard]] auto find(const Like& value) const -> std::optional<std::uint32_t> {
        return find(value, std::uint64_t{hash_(value)});
    }

    /// The id of a value equal to `value`; if there is none, it is inserted with count 0 at the lowest free id. If an
    /// allocation or the copy of the value throws, nothing changes.
    /// @complexity O(1) expected, amortised.
    auto intern(const T& value) -> std::uint32_t {
        const auto hash = std::uint64_t{hash_(value)};
        if (const auto id = find(value, hash)) { return *id; }
        const auto id = ids_.lowest_free();
        place(id, T(value), hash);
        return id;
    }

    /// Puts `value` at `id`, with count 0: the reverse of `erase_if_unused`. If an allocation throws, nothing changes.
    /// @pre no value has this id, and none equals `value`.
    /// @complexity O(1) expected, amortised.
    auto put(std::uint32_t id, T value) -> void {
        ALLOT_ASSERT(!contains(id), "Interner::put: the id is taken");
        const auto hash = std::uint64_t{hash_(value)};
        ALLOT_ASSERT(!find(value, hash), "Interner::put: the value is there already");
        place(id, std::move(value), hash);
    }

    /// Adds one user of `id`.
    /// @pre `contains(id)`.
    auto acquire(std::uint32_t id) noexcept -> void {
        ALLOT_ASSERT(contains(id), "Interner::acquire: no such id");
        ++entries_[id].count;
    }

    /// Subtracts one user of `id`. The value stays, even at 0.
    /// @pre `count(id) > 0`.
    auto release(std::uint32_t id) noexcept -> void {
        ALLOT_ASSERT(contains(id) && entries_[id].count > 0, "Interner::release: nobody uses this id");
        --entries_[id].count;
    }

    /// Removes the value of `id` if it has no users; returns true if it did. The id is then free.
    /// @pre `contains(id)`.
    /// @complexity O(1) expected.
    auto erase_if_unused(std::uint32_t id) -> bool {
        ALLOT_ASSERT(contains(id), "Interner::erase_if_unused: no such id");
        auto& entry = entries_[id];
        if (entry.count != 0) { return false; }
        map_.erase(std::uint64_t{hash_(*entry.value)}, id);
        ids_.free(id);
        entry.value.reset();
        falls_ = falls_ || spare_ || may_trim(entries_, ids_, id) || map_.falls();
        return true;
    }

    /// True if `trim` may find room to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return falls_; }

    /// Gives back empty pages at the end, and room in the map. Returns a number above every id in use if there were any
    /// pages.
    /// @complexity O(1), and amortised O(entries given back).
    auto trim() noexcept -> std::optional<std::uint32_t> {
        if (!falls_) { return std::nullopt; }
        const auto end = trimmed(entries_, ids_);
        map_.shrink();
        falls_ = end || map_.falls();
        spare_ = spare_ || end;
        if (spare_ && ids_.empty()) {
            map_ = HandleMap{};
            spare_ = false;
        }
        return end;
    }

    /// Number of users of `id`.
    /// @pre `contains(id)`.
    [[nodiscard]] auto count(std::uint32_t id) const noexcept -> std::uint32_t {
        ALLOT_ASSERT(contains(id), "Interner::count: no such id");
        return entries_[id].count;
    }

    /// The value of `id`. The reference holds until the value is erased.
    /// @pre `contains(id)`.
    [[nodiscard]] auto value(std::uint32_t id) const noexcept -> const T& {
        ALLOT_ASSERT(contains(id), "Interner::value: no such id");
        return *entries_[id].value;
    }

    /// The id that the next new value gets: the lowest free one.
    [[nodiscard]] auto next_id() const noexcept -> std::uint32_t { return ids_.lowest_free(); }

    /// True if a value has `id`.
    /// @complexity O(1).
    [[nodiscard]] auto contains(std::uint32_t id) const noexcept -> bool { return ids_.taken(id); }

    /// A number above every id in use.
    /// @complexity O(1).
    [[nodiscard]] auto reach() const noexcept -> std::uint32_t { return ids_.reach(); }

    /// Number of values, used or not.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return ids_.size(); }

    /// True if there is no value.
    [[nodiscard]] auto empty() const noexcept -> bool { return ids_.empty(); }

    /// Calls `f(id, value)` for each value, by ascending id.
    /// @pre `f` does not change the interner.
    /// @complexity O(size).
    template <class F>
    auto for_each(F&& f) const -> void {
        ids_.for_each([&](std::uint32_t id) { f(id, *entries_[id].value); });
    }

    /// True if both have the same values at the same ids with the same counts. The hash does not matter.
    /// @complexity O(size).
    [[nodiscard]] friend auto operator==(const Interner& a, const Interner& b) -> bool {
        auto equal = a.ids_ == b.ids_;
        a.ids_.for_each(
            [&](std::uint32_t id) { equal = equal && a.count(id) == b.count(id) && a.value(id) == b.value(id); });
        return equal;
    }

private:
    /// An optional, because a value type need not have a default, and because an erased name should free its memory.
    struct Entry {
        std::optional<T> value;
        std::uint32_t count = 0;
    };

    template <class Like>
    [[nodiscard]] auto find(const Like& value, std::uint64_t hash) const -> std::optional<std::uint32_t> {
        return map_.find(hash, [&](std::uint32_t id) { return *entries_[id].value == value; });
    }

    /// All calls that may throw come before the id is taken; a value left at a free id is never visible.
    auto place(std::uint32_t id, T&& value, std::uint64_t hash) -> void {
        ids_.reserve(id);
        entries_.ensure(id);
        entries_[id].value.emplace(std::move(value));  // its count is 0: else the id would not be free
        map_.insert(hash, id);
        ids_.take(id);
    }

    Hash hash_;
    HandleMap map_;
    SlotSet ids_;
    Pages<Entry, 64> entries_;
    bool falls_ = false;  // a page at the end may be empty
    bool spare_ = false;  // `map_` was large; once it is empty all of it is given back
};

}}  // namespace allot::v0
