#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <allot/core/node.hpp>
#include <allot/core/siphash.hpp>
#include <allot/store/handle_map.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/prefetch.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// The alignment of a record that fills whole cache lines, or nearly, is a line: 128 bytes of a task are then in 2
/// lines instead of 2.9. One that fills half a line more is aligned to that half.
template <class Record>
inline constexpr std::size_t usual_alignment = (sizeof(Record) + 63) % 64 >= 52 ? 64
                                               : sizeof(Record) % 32 == 0       ? 32
                                                                                : alignof(Record);

/// A record as it lies in memory.
template <class Record, std::size_t alignment>
struct alignas(alignment) Cell {
    Record record{};
};

}  // namespace detail

/// Records by stable handle; a new record gets the lowest free one. Each is aligned to so many bytes.
///
/// @complexity every call O(log64 n) at most; `for_each` linear.
template <class H, class Record, std::size_t alignment = detail::usual_alignment<Record>>
class Table {
public:
    using handle_type = H;
    using record_type = Record;

    [[nodiscard]] auto operator[](H h) const -> const Record& { return records_[h.value].record; }
    [[nodiscard]] auto contains(H h) const -> bool { return taken_.taken(h.value); }
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return taken_.size(); }
    /// The handle that the next record gets.
    [[nodiscard]] auto next() const -> H { return H{taken_.lowest_free()}; }
    /// A bound above every handle in use.
    [[nodiscard]] auto reach() const noexcept -> std::uint32_t { return taken_.reach(); }
    /// The record, or null.
    [[nodiscard]] auto find_record(H h) const -> const Record* {
        return contains(h) ? &records_[h.value].record : nullptr;
    }

    /// Prefetches the record of a handle, if a record may be there. Changes nothing.
    void prefetch(H h) const {
        if (h.value < records_.capacity()) { allot::prefetch(records_[h.value]); }
    }

    /// Prefetches the slot of a record that will be removed. Changes nothing.
    void prefetch_slot(H h) const { taken_.prefetch(h.value); }

    /// The record, to be changed by `Records` alone, because indices follow it.
    [[nodiscard]] auto at(H h) -> Record& { return records_[h.value].record; }

    /// Adds a record under a free handle. Strong guarantee.
    void create(H h, Record&& record) {
        records_.ensure(h.value);
        taken_.take(h.value);
        records_[h.value].record = std::move(record);
    }

    /// Moves a record out. The slot keeps a moved-from record until it is reused.
    void destroy(H h, std::optional<Record>& out) {
        out.emplace(std::move(records_[h.value].record));
        taken_.free(h.value);
        falls_ = falls_ || may_trim(records_, taken_, h.value);
    }

    /// True if `trim` may find room to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return falls_; }

    /// Gives back empty pages at the end, as `trimmed` does. Returns the number of handles that still have a page if
    /// there were any.
    /// @complexity O(1), and O(records given back).
    auto trim() noexcept -> std::optional<std::uint32_t> {
        const auto end = falls_ ? trimmed(records_, taken_) : std::nullopt;
        falls_ = end.has_value();
        return end;
    }

    /// Calls `f(handle, record)` for each record, by ascending handle.
    template <class F>
    void for_each(F&& f) const {
        taken_.for_each([&](std::uint32_t h) { f(H{h}, records_[h].record); });
    }

    friend auto operator==(const Table& a, const Table& b) -> bool {
        auto equal = a.taken_ == b.taken_;
        a.taken_.for_each([&](std::uint32_t h) { equal = equal && a.records_[h].record == b.records_[h].record; });
        return equal;
    }

protected:
    bool falls_ = false;  // there may be room to give back

private:
    Pages<detail::Cell<Record, alignment>> records_;
    SlotSet taken_;
};

/// The id of a record.
template <class Record>
[[nodiscard]] auto name_of(const Record& record) -> const auto& {
    if constexpr (requires { record.node.id; }) {
        return record.node.id;
    } else {
        return record.id;
    }
}

/// A table whose records are also found by their 32-byte id, through a keyed hash.
template <class H, class Record>
class NamedTable : public Table<H, Record> {
public:
    using Name = std::remove_cvref_t<decltype(name_of(std::declval<const Record&>()))>;

    explicit NamedTable(SipKey key) : key_{key}, hash_expected_{hash(expected_)} {}

    /// The handle of a name.
    /// @complexity O(1), also for names that an attacker chose.
    [[nodiscard]] auto find(const Name& name) const -> std::optional<H> {
        const auto found =
            names_.find(known_hash(name), [&](std::uint32_t h) { return name_of((*this)[H{h}]) == name; });
        return found ? std::optional{H{*found}} : std::nullopt;
    }

    /// Keyed hash of a name.
    [[nodiscard]] auto hash(const Name& name) const -> std::uint64_t {
        return SipHash13{key_}.words(name.words()).finish();
    }
    /// Declares that the following calls are about this name, so that none of them hashes it again. Changes no result.
    /// @pre `hash(name) == hash`.
    void expect(const Name& name, std::uint64_t hash) {
        expected_ = name;
        hash_expected_ = hash;
    }
    using Table<H, Record>::prefetch;
    /// Prefetches the place at which a name of this hash is stored.
    void prefetch(std::uint64_t key) const { names_.prefetch(key); }
    /// A handle whose name has nearly this hash: almost always the right one.
    [[nodiscard]] auto guess(std::uint64_t key) const -> std::optional<std::uint32_t> {
        return names_.find(key, [](std::uint32_t) { return true; });
    }

    /// Makes room for `more` names, so that the map of names does not grow. Changes no result.
    void reserve(std::uint32_t more) { names_.reserve(names_.size() + more); }

    void create(H h, Record&& record) {
        const auto key = known_hash(name_of(record));
        names_.reserve(names_.size() + 1);
        Table<H, Record>::create(h, std::move(record));
        names_.insert(key, h.value);
    }

    void destroy(H h, std::optional<Record>& out) {
        names_.erase(known_hash(name_of((*this)[h])), h.value);
        Table<H, Record>::destroy(h, out);
        this->falls_ = this->falls_ || (this->size() % 64 == 0 && names_.falls());  // a map falls slowly
    }

    /// As `Table::trim`. The map of names gives room back, too.
    auto trim() noexcept -> std::optional<std::uint32_t> {
        if (!this->falls_) { return std::nullopt; }
        names_.shrink();
        const auto end = Table<H, Record>::trim();
        this->falls_ = end || names_.falls();
        return end;
    }

private:
    [[nodiscard]] auto known_hash(const Name& name) const -> std::uint64_t {
        return name == expected_ ? hash_expected_ : hash(name);
    }

    SipKey key_;
    HandleMap names_;
    Name expected_ = Name::null();
    std::uint64_t hash_expected_;
};

}}  // namespace allot::v0
