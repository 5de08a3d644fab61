#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <allot/assert.hpp>
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
/// power of two, and spare memory stays small.
///
/// A large table grows and shrinks by steps: at a hundred thousand entries one pass would take as long as a thousand
/// commands. Both arrays are in the order of the hash, so the old one is emptied from its start, some places with each
/// entry that comes or goes. One number, the border, tells which array an entry is in.
///
/// It cannot be iterated, on purpose: hash order differs by key and must never show in a decision. Only a keyed hash
/// (SipHash) resists ids that an untrusted party chose; this table cannot help against equal hashes. The map is a
/// value; after a move from it, only assignment and destruction are allowed.
class HandleMap {
public:
    /// Every handle is below this number.
    static constexpr auto handle_limit = std::numeric_limits<std::uint32_t>::max();

    HandleMap() noexcept = default;
    /// A deep copy. Strong guarantee.
    /// @complexity linear in the room.
    HandleMap(const HandleMap& other)
        : now_{other.now_}, size_{other.size_}, moving_{other.moving_ ? new Moving{*other.moving_} : nullptr} {}
    HandleMap(HandleMap&&) noexcept = default;
    auto operator=(HandleMap other) noexcept -> HandleMap& {
        now_ = std::move(other.now_);
        size_ = other.size_;
        moving_ = std::move(other.moving_);
        return *this;
    }
    ~HandleMap() = default;

    /// The handle stored under `hash` for which `equal(handle)` holds, if any. `equal` is called only for handles
    /// stored with the same high half of the hash.
    /// @complexity O(1) expected; about two places at the usual load.
    template <class Equal>
    [[nodiscard]] auto find(std::uint64_t hash, Equal&& equal) const -> std::optional<std::uint32_t> {
        const auto& places = in_old(high(hash)) ? moving_->old : now_;
        const auto place = places.locate(high(hash), std::forward<Equal>(equal));
        if (!place) { return std::nullopt; }
        return places.items[*place].handle;
    }

    /// Fetches the home place of `hash` from memory. Changes nothing.
    void prefetch(std::uint64_t hash) const noexcept {
        const auto& places = in_old(high(hash)) ? moving_->old : now_;
        if (places.room > 0) { allot::prefetch(places.items[places.home(high(hash))]); }
    }

    /// Stores `handle` under `hash`. If an allocation throws, nothing changes.
    /// @pre no entry of an equal key is there (the map cannot tell); `handle < handle_limit`.
    /// @complexity O(1) expected.
    auto insert(std::uint64_t hash, std::uint32_t handle) -> void {
        ALLOT_ASSERT(handle < handle_limit, "HandleMap::insert: the handle is out of range");
        reserve(size_ + 1);
        ++size_;
        if (moving_ == nullptr) {
            now_.store({high(hash), handle});
            return;
        }
        if (in_old(high(hash))) {
            moving_->old.store({high(hash), handle});
            ++moving_->left;
        } else {
            store_ahead({high(hash), handle});
        }
        step(moving_->insert);
    }

    /// Removes the entry (`hash`, `handle`); returns true if it was there.
    /// @complexity O(1) expected.
    auto erase(std::uint64_t hash, std::uint32_t handle) noexcept -> bool {
        const auto old = in_old(high(hash));
        auto& places = old ? moving_->old : now_;
        const auto place = places.locate(high(hash), [handle](std::uint32_t other) { return other == handle; });
        if (!place) { return false; }
        places.take(*place);
        --size_;
        if (old) { --moving_->left; }
        if (moving_ != nullptr) { step(places_erase); }
        return true;
    }

    /// Number of entries.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// True if there is no entry.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// Makes room for `count` entries in all, so that `insert` allocates nothing before there are more.
    /// @complexity O(1) expected for each additional entry: the table grows by a quarter at least.
    auto reserve(std::uint32_t count) -> void {
        if (count > load_max(now_.room)) { grow(count); }
    }

    /// True if `shrink` has work: fewer than 9/20 of a large table are taken, or there are two arrays.
    [[nodiscard]] auto falls() const noexcept -> bool {
        return moving_ != nullptr || (now_.room > kept_max && std::uint64_t{size_} * 20 < std::uint64_t{now_.room} * 9);
    }

    /// Begins to give back room, or goes on with it, if `falls()`. Without memory for a smaller array, the room stays.
    /// @complexity O(1): about two thousand places at most.
    auto shrink() noexcept -> void {
        if (falls()) { fall(); }
    }

private:
    /// Without initial values, so that an array of them is made without a pass over it.
    struct Entry {
        std::uint32_t hash;
        std::uint32_t handle;  // `handle_limit`: vacant
    };

    struct Places {
        std::unique_ptr<Entry[]> items{};
        std::size_t room = 0;

        Places() noexcept = default;
        explicit Places(std::size_t count) : items{new Entry[count]}, room{count} {}
        Places(const Places& other) : Places{other.room} { std::copy_n(other.items.get(), room, items.get()); }
        Places(Places&& other) noexcept : items{std::move(other.items)}, room{std::exchange(other.room, 0)} {}
        auto operator=(Places other) noexcept -> Places& {
            items.swap(other.items);
            room = other.room;
            return *this;
        }
        ~Places() = default;

        [[nodiscard]] auto vacant(std::size_t place) const noexcept -> bool {
            return items[place].handle == handle_limit;
        }
        [[nodiscard]] auto next(std::size_t place) const noexcept -> std::size_t {
            return place + 1 == room ? 0 : place + 1;
        }
        [[nodiscard]] auto home(std::uint32_t hash) const noexcept -> std::size_t {
            return static_cast<std::size_t>((std::uint64_t{hash} * room) >> 32);
        }
        /// Distance of the entry at `place` from its home place.
        [[nodiscard]] auto distance(std::size_t place) const noexcept -> std::size_t {
            const auto from = home(items[place].hash);
            return place >= from ? place - from : place + room - from;
        }

        template <class Equal>
        [[nodiscard]] auto locate(std::uint32_t hash, Equal&& equal) const -> std::optional<std::size_t> {
            if (room == 0) { return std::nullopt; }
            // The array is never full, so this ends at a vacant place at the latest.
            auto place = home(hash);
            for (std::size_t walked = 0; !vacant(place) && distance(place) >= walked; ++walked, place = next(place)) {
                if (items[place].hash == hash && equal(items[place].handle)) { return place; }
            }
            return std::nullopt;
        }

        /// Stores an entry and returns the place that is vacant no more.
        auto store(Entry entry) noexcept -> std::size_t {  // NOLINT: it changes the places
            auto place = home(entry.hash);
            std::size_t walked = 0;
            for (; !vacant(place) && distance(place) >= walked; ++walked) { place = next(place); }
            // The entry here is nearer to its home than the new one: it and all behind it move back by one.
            for (; !vacant(place); place = next(place)) { std::swap(entry, items[place]); }
            items[place] = entry;
            return place;
        }

        /// Empties a place. The entries behind it move back by one until one is at home: no tombstones, so searches
        /// never decay.
        auto take(std::size_t hole) noexcept -> void {  // NOLINT: it changes the places
            for (auto behind = next(hole); !vacant(behind) && distance(behind) != 0; behind = next(behind)) {
                items[hole] = items[behind];
                hole = behind;
            }
            items[hole].handle = handle_limit;
        }
    };

    /// The state of a move from an old array.
    struct Moving {
        Places old{};
        std::size_t border = 0;  // entries at home in the old array before it are in the new one
        std::size_t at = 0;      // the place of the old array that is moved next
        std::size_t ready = 0;   // places of the new array that were written; the last of them is vacant, so that no
                                 // search goes on to the others
        std::uint32_t left = 0;  // entries of the old array
        std::size_t insert = 0;  // places to move for an entry that comes
        std::size_t owed = 0;    // places to move with the next step
    };

    static constexpr std::size_t at_once_max = 4'096;  // a table of so many places grows at once
    static constexpr std::size_t kept_max = 8'192;     // one of so many stays as it is, however often it fills
    // Places that are moved at least for an entry that comes, and for one that goes: a command may remove thousands. A
    // step goes on to the next vacant place, so many entries share one.
    static constexpr std::size_t places_insert = 8;
    static constexpr std::size_t places_erase = 4;
    static constexpr std::size_t step_min = 128;
    // Places that are moved at most by one call of `shrink`: about eight ordinary pairs.
    static constexpr std::size_t places_fall_max = 2'048;

    static constexpr auto high(std::uint64_t hash) noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(hash >> 32);
    }

    /// Three quarters: at 7/8 an unsuccessful search is twice as long, at 1/2 memory grows by half.
    static constexpr auto load_max(std::uint64_t places) noexcept -> std::uint64_t { return places / 4 * 3; }

    static constexpr auto places_for(std::uint64_t count) noexcept -> std::size_t {
        return static_cast<std::size_t>((count + 2) / 3 * 4);
    }

    /// True if an entry of this hash is in the old array, or would be.
    [[nodiscard]] auto in_old(std::uint32_t hash) const noexcept -> bool {
        return moving_ != nullptr && moving_->old.home(hash) >= moving_->border;
    }

    auto grow(std::uint32_t count) -> void {
        while (moving_ != nullptr) { move(moving_->old.room); }
        begin(std::max(places_for(count), now_.room + now_.room / 4));
    }

    auto fall() noexcept -> void {
        if (moving_ != nullptr) { return move(step_min + std::min(moving_->old.room / 32, places_fall_max)); }
        try {
            begin(std::max(places_for(std::uint64_t{size_} + size_ / 8), now_.room / 8));
        } catch (const std::bad_alloc&) {  // the next call tries again
        }
    }

    /// Makes another array, of `room` places, and moves the entries there, or begins to.
    /// @pre no entries are being moved.
    auto begin(std::size_t room) -> void {
        ALLOT_ASSERT(room < handle_limit, "HandleMap: a table this large does not fit 32-bit hashes");
        auto made = Places{room};
        auto moving = std::unique_ptr<Moving>{new Moving{}};
        moving->left = size_;
        // All have moved before there is no room for one more.
        const auto needed = now_.room / static_cast<std::size_t>(load_max(room) - size_ + 1) + 1;
        moving->insert = std::max(places_insert, needed);
        moving->old = std::exchange(now_, std::move(made));
        moving_ = std::move(moving);
        // The entries for which there was no room at the end follow those at the end.
        auto& [old, border, at, ready, left, insert, owed] = *moving_;
        while (at < old.room && !old.vacant(at) && old.home(old.items[at].hash) > at) { ++at; }
        move(old.room > at_once_max ? step_min : old.room);
    }

    auto step(std::size_t places) noexcept -> void {
        moving_->owed += places;
        if (moving_->owed >= step_min) { move(std::exchange(moving_->owed, 0)); }
    }

    /// Moves entries of the old array, from `count` places on until a vacant one, behind which no entry is that would
    /// be at home before it.
    auto move(std::size_t count) noexcept -> void {
        auto& [old, border, at, ready, left, insert, owed] = *moving_;
        for (std::size_t walked = 0; left > 0; ++walked, ++at) {
            if (at == old.room) { at = 0; }
            if (auto& entry = old.items[at]; entry.handle != handle_limit) {
                write(now_.home(entry.hash) + 1);
                store_ahead(entry);
                entry.handle = handle_limit;
                --left;
            } else {
                border = at + 1;
                if (walked >= count) {
                    ++at;
                    // Beyond every home before the border.
                    write(static_cast<std::size_t>(std::uint64_t{border} * now_.room / old.room) + 2);
                    return;
                }
            }
        }
        write(now_.room);
        moving_.reset();
    }

    /// Stores an entry in the new array.
    auto store_ahead(Entry entry) noexcept -> void {
        if (now_.store(entry) + 1 == moving_->ready) { write(moving_->ready + 1); }
    }

    /// Makes the places of the new array before this one vacant, those that were never written.
    auto write(std::size_t end) noexcept -> void {
        auto& ready = moving_->ready;
        for (end = std::min(end, now_.room); ready < end; ++ready) { now_.items[ready].handle = handle_limit; }
    }

    Places now_;
    std::uint32_t size_ = 0;
    std::unique_ptr<Moving> moving_;
};

}}  // namespace allot::v0
