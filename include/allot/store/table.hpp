#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <allot/core/node.hpp>
#include <allot/core/siphash.hpp>
#include <allot/store/handle_map.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Records by stable handle; a new record gets the lowest free one.
///
/// @complexity every call O(log64 n) at most.
template <class H, class Record>
class Table {
public:
    using record_type = Record;

    [[nodiscard]] auto operator[](H h) const -> const Record& { return records_[h.value]; }
    [[nodiscard]] auto contains(H h) const -> bool { return taken_.taken(h.value); }
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return taken_.size(); }
    /// The handle that the next record gets.
    [[nodiscard]] auto next() const -> H { return H{taken_.lowest_free()}; }
    /// The record, or null.
    [[nodiscard]] auto find_record(H h) const -> const Record* { return contains(h) ? &records_[h.value] : nullptr; }

    /// Writes a record, or with nothing removes it, and gives back what was there. Strong guarantee.
    auto exchange(H h, std::optional<Record>&& after) -> std::optional<Record> {
        auto before = std::optional<Record>{};
        if (contains(h)) {
            before.emplace(std::move(records_[h.value]));
        } else if (after) {
            records_.ensure(h.value);
            taken_.take(h.value);
        }
        if (after) {
            records_[h.value] = std::move(*after);
        } else if (before) {
            records_[h.value] = Record{};
            taken_.free(h.value);
        }
        return before;
    }

    /// Calls `f(handle, record)`, ascending.
    template <class F>
    void for_each(F&& f) const {
        taken_.for_each([&](std::uint32_t h) { f(H{h}, records_[h]); });
    }

    friend auto operator==(const Table& a, const Table& b) -> bool {
        auto equal = a.taken_ == b.taken_;
        a.taken_.for_each([&](std::uint32_t h) { equal = equal && a.records_[h] == b.records_[h]; });
        return equal;
    }

private:
    Pages<Record> records_;
    SlotSet taken_;
};

/// The name of a record.
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

    explicit NamedTable(SipKey key) : key_{key} {}

    /// The handle of a name. @complexity O(1), also for names that an attacker chose.
    [[nodiscard]] auto find(const Name& name) const -> std::optional<H> {
        const auto found = names_.find(hash(name), [&](std::uint32_t h) { return name_of((*this)[H{h}]) == name; });
        return found ? std::optional{H{*found}} : std::nullopt;
    }

    auto exchange(H h, std::optional<Record>&& after) -> std::optional<Record> {
        const auto known = this->contains(h);
        if (known && after && name_of((*this)[h]) == name_of(*after)) {
            return Table<H, Record>::exchange(h, std::move(after));
        }
        const auto arrives = after ? std::optional{hash(name_of(*after))} : std::nullopt;
        if (arrives) {
            names_.reserve(names_.size() + 1);
        }
        if (known) {
            names_.erase(hash(name_of((*this)[h])), h.value);
        }
        auto before = Table<H, Record>::exchange(h, std::move(after));
        if (arrives) {
            names_.insert(*arrives, h.value);
        }
        return before;
    }

private:
    [[nodiscard]] auto hash(const Name& name) const -> std::uint64_t {
        auto hasher = SipHasher<1, 3>{key_};
        hasher.bytes(std::as_bytes(std::span{name.bytes()}));
        return hasher.finish();
    }

    SipKey key_;
    HandleMap names_;
};

}}  // namespace allot::v0
