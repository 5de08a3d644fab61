#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// A map from a 64-bit hash to a 32-bit handle, whose keys are stored elsewhere, in the records.
///
/// It uses open addressing, 8 bytes per place: the high half of the hash, and the handle. Growing and erasing need only
/// the stored half, so they touch no record, and a lookup reads a record only when 32 bits agree. Entries are ordered
/// by their home places (Robin Hood), which keeps the longest search short at the load of 3/4: plain linear probing
/// showed searches of over a hundred places.
///
/// The home place is `hash * places / 2^32`, which is ascending in the hash. So the number of places need not be a
/// power of two, spare memory stays small, and growing is one pass in order.
///
/// It cannot be iterated, on purpose: hash order differs by key and must never show in a decision. Only a keyed hash
/// (SipHash) resists ids that an untrusted party chose; this table cannot help against equal hashes. The map is a
/// value; after a move from it, only assignment and destruction are allowed.
class HandleMap {
public:
    /// Every handle is below this number.
    static constexpr auto handle_limit = std::numeric_limits<std::uint32_t>::max();

    /// The handle stored under `hash` for which `equal(handle)` holds, if any. `equal` is called only for handles
    /// stored with the same high half of the hash.
    /// @complexity O(1) expected; about two places at the usual load.
    template <class Equal>
    [[nodiscard]] auto find(std::uint64_t hash, Equal&& equal) const -> std::optional<std::uint32_t> {
        const auto place = locate(high(hash), std::forward<Equal>(equal));
        if (!place) { return std::nullopt; }
        return places_[*place].handle;
    }

    /// Fetches the home place of `hash` from memory. Changes nothing.
    void prefetch(std::uint64_t hash) const noexcept {
        if (room_ > 0) { allot::prefetch(places_[home(high(hash))]); }
    }

    /// Stores `handle` under `hash`. If an allocation throws, nothing changes.
    /// @pre no entry of an equal key is there (the map cannot tell); `handle < handle_limit`.
    /// @complexity O(1) expected, amortised.
    auto insert(std::uint64_t hash, std::uint32_t handle) -> void {
        ALLOT_ASSERT(handle < handle_limit, "HandleMap::insert: the handle is out of range");
        reserve(size_ + 1);
        store(Entry{high(hash), handle});
        ++size_;
    }

    /// Removes the entry (`hash`, `handle`); returns true if it was there.
    /// @complexity O(1) expected.
    auto erase(std::uint64_t hash, std::uint32_t handle) noexcept -> bool {
        const auto place = locate(high(hash), [handle](std::uint32_t other) { return other == handle; });
        if (!place) { return false; }
        // The entries behind it move back by one until one is at home: no tombstones, so searches never decay.
        auto hole = *place;
        for (auto behind = next(hole); !vacant(behind) && distance(behind) != 0; behind = next(behind)) {
            places_[hole] = places_[behind];
            hole = behind;
        }
        places_[hole] = Entry{};
        --size_;
        return true;
    }

    /// Number of entries.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// True if there is no entry.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// Makes room for `count` entries in all, so that the table does not grow before there are more.
    /// @complexity amortised O(1) for each additional entry: it grows by a quarter at least.
    auto reserve(std::uint32_t count) -> void {
        if (count > load_max(room_)) { rebuild(std::max(places_for(count), room_ + room_ / 4)); }
    }

    /// Gives back room if a large table has more than 5/2 places for each entry. Needs no memory.
    /// @complexity O(1), or linear in the room.
    auto shrink() noexcept -> void {
        const auto count = places_for(std::uint64_t{size_} + size_ / 8);
        if (room_ <= kept_max || size_ + count > room_) { return; }
        // The entries wait behind their new places.
        auto wait = places_.end();
        for (auto at = places_.end(); at != places_.begin();) {
            if ((--at)->handle != handle_limit) { *--wait = *at; }
        }
        room_ = count;
        std::fill_n(places_.begin(), room_, Entry{});
        std::for_each(wait, places_.end(), [this](const Entry& entry) { store(entry); });
        detail::shrink_to(places_, room_);
    }

private:
    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t handle = handle_limit;  // this value: vacant
    };

    static constexpr std::size_t kept_max = 4'096;  // a table of so many places stays as it is

    static constexpr auto high(std::uint64_t hash) noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(hash >> 32);
    }

    /// Three quarters: at 7/8 an unsuccessful search is twice as long, at 1/2 memory grows by half.
    static constexpr auto load_max(std::uint64_t places) noexcept -> std::uint64_t { return places / 4 * 3; }

    static constexpr auto places_for(std::uint64_t count) noexcept -> std::size_t {
        return static_cast<std::size_t>((count + 2) / 3 * 4);
    }

    [[nodiscard]] auto vacant(std::size_t place) const noexcept -> bool {
        return places_[place].handle == handle_limit;
    }

    [[nodiscard]] auto next(std::size_t place) const noexcept -> std::size_t {
        return place + 1 == room_ ? 0 : place + 1;
    }

    [[nodiscard]] auto home(std::uint32_t hash) const noexcept -> std::size_t {
        return static_cast<std::size_t>((std::uint64_t{hash} * room_) >> 32);
    }

    /// Distance of the entry at `place` from its home place.
    [[nodiscard]] auto distance(std::size_t place) const noexcept -> std::size_t {
        const auto from = home(places_[place].hash);
        return place >= from ? place - from : place + room_ - from;
    }

    template <class Equal>
    [[nodiscard]] auto locate(std::uint32_t hash, Equal&& equal) const -> std::optional<std::size_t> {
        if (size_ == 0) { return std::nullopt; }
        auto place = home(hash);
        // The table is never full, so this ends at a vacant place at the latest.
        for (std::size_t walked = 0; !vacant(place) && distance(place) >= walked; ++walked, place = next(place)) {
            if (places_[place].hash == hash && equal(places_[place].handle)) { return place; }
        }
        return std::nullopt;
    }

    auto store(Entry entry) noexcept -> void {
        auto place = home(entry.hash);
        std::size_t walked = 0;
        for (; !vacant(place) && distance(place) >= walked; ++walked) { place = next(place); }
        // The entry here is nearer to its home than the new one: it and all behind it move back by one.
        for (; !vacant(place); place = next(place)) { std::swap(entry, places_[place]); }
        places_[place] = entry;
    }

    auto rebuild(std::size_t count) -> void {
        ALLOT_ASSERT(count < handle_limit, "HandleMap: a table this large does not fit 32-bit hashes");
        const auto old = std::exchange(places_, std::vector<Entry>(count));
        room_ = count;
        for (const auto& entry : old) {
            if (entry.handle != handle_limit) { store(entry); }
        }
    }

    std::vector<Entry> places_;
    std::size_t room_ = 0;  // number of places
    std::uint32_t size_ = 0;
};

}}  // namespace allot::v0
