#pragma once

#include <algorithm>
#include <array>
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
/// It uses open addressing by lines of the cache, each of eight entries: the high half of the hash, and the handle.
/// Growing and erasing need only the stored half, so they touch no record, and a lookup reads a record only when 32
/// bits agree. An entry is in its home line, or in a later one if all from there on are full; these know that they were
/// passed. So at the load of 3/4 most calls read one line. Places probed one by one, in the order of their hashes, took
/// a line more for a pair of commands.
///
/// The home line is `hash * lines / 2^32`, which is ascending in the hash. So the number of lines need not be a power
/// of two, and spare memory stays small.
///
/// A large table grows and shrinks by steps: at a hundred thousand entries one pass would take as long as a thousand
/// commands. Both arrays are in the order of the hash, so the old one is emptied from its start, some lines with each
/// entry that comes. One number, the border, tells which array an entry is in.
///
/// It cannot be iterated, on purpose: hash order differs by key and must never show in a decision. Only a keyed hash
/// (SipHash) resists ids that an untrusted party chose; this table cannot help against equal hashes. The map is a
/// value; after a move from it, only assignment and destruction are allowed.
class HandleMap {
public:
    /// Every handle is below this number.
    static constexpr auto handle_limit = std::numeric_limits<std::uint32_t>::max() / 2;

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
    /// @complexity O(1) expected; about one line at the usual load.
    template <class Equal>
    [[nodiscard]] auto find(std::uint64_t hash, Equal&& equal) const -> std::optional<std::uint32_t> {
        const auto* const entry = array_of(high(hash)).locate(high(hash), std::forward<Equal>(equal)).entry;
        return entry == nullptr ? std::nullopt : std::optional{entry->value()};
    }

    /// Fetches the home line of `hash` from memory. Changes nothing.
    void prefetch(std::uint64_t hash) const noexcept {
        const auto& lines = array_of(high(hash));
        if (lines.room > 0) { allot::prefetch(lines.items[lines.home(high(hash))]); }
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
        moving_->owed += moving_->insert;
        if (moving_->owed >= step_min * width) { move(std::exchange(moving_->owed, 0) / width); }
    }

    /// Removes the entry (`hash`, `handle`); returns true if it was there.
    /// @complexity O(1) expected.
    auto erase(std::uint64_t hash, std::uint32_t handle) noexcept -> bool {
        const auto old = in_old(high(hash));
        auto& lines = old ? moving_->old : now_;
        const auto place = lines.locate(high(hash), [handle](std::uint32_t other) { return other == handle; });
        if (place.entry == nullptr) { return false; }
        lines.take(place);
        --size_;
        if (old) { --moving_->left; }
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
        return moving_ != nullptr ||
               (now_.room > kept_max && std::uint64_t{size_} * 20 < std::uint64_t{now_.room} * width * 9);
    }

    /// Begins to give back room, or goes on with it, if `falls()`. Without memory for a smaller array, the room stays.
    /// @complexity O(1): about two thousand places at most.
    auto shrink() noexcept -> void {
        if (falls()) { fall(); }
    }

private:
    static constexpr std::size_t width = 8;

    /// Without initial values, so that an array of them is made without a pass over it.
    struct Entry {
        std::uint32_t hash;
        std::uint32_t handle;  // `handle_limit`: vacant. The upper bit of a line's last one: `Line::passed`

        [[nodiscard]] auto vacant() const noexcept -> bool { return handle == handle_limit; }
        [[nodiscard]] auto value() const noexcept -> std::uint32_t { return handle & handle_limit; }
    };

    /// The vacant entries are the last ones.
    struct alignas(64) Line {
        std::array<Entry, width> entries;

        [[nodiscard]] static auto blank() noexcept -> Line {
            Line line;  // NOLINT: each entry is written
            line.entries.fill({0, handle_limit});
            return line;
        }
        [[nodiscard]] auto full() const noexcept -> bool { return !entries.back().vacant(); }
        /// True if an entry may have gone to a later line, because this one is full.
        [[nodiscard]] auto passed() const noexcept -> bool { return entries.back().handle > handle_limit; }
        /// @pre the line is full.
        void pass() noexcept { entries.back().handle |= ~handle_limit; }
        /// @pre the line is not full.
        void add(const Entry& entry) noexcept {
            const auto vacant = [](const Entry& e) { return e.vacant(); };
            *std::find_if(entries.begin(), entries.end() - 1, vacant) = {entry.hash, entry.value()};
        }
        /// It then is not full, and so not passed.
        void remove(Entry& entry) noexcept {
            auto last = width - 1;
            while (entries[last].vacant()) { --last; }
            entry = {entries[last].hash, entries[last].value()};
            entries[last].handle = handle_limit;
        }
    };

    struct Lines {
        /// An entry, or null, and the number of its line.
        struct Place {
            std::size_t line = 0;
            Entry* entry = nullptr;
        };

        std::unique_ptr<Line[]> items{};
        std::size_t room = 0;

        Lines() noexcept = default;
        explicit Lines(std::size_t count) : items{new Line[count]}, room{count} {}
        Lines(const Lines& other) : Lines{other.room} { std::copy_n(other.items.get(), room, items.get()); }
        Lines(Lines&& other) noexcept : items{std::move(other.items)}, room{std::exchange(other.room, 0)} {}
        auto operator=(Lines other) noexcept -> Lines& {
            items.swap(other.items);
            room = other.room;
            return *this;
        }
        ~Lines() = default;

        [[nodiscard]] auto next(std::size_t line) const noexcept -> std::size_t {
            return line + 1 == room ? 0 : line + 1;
        }
        [[nodiscard]] auto home(std::uint32_t hash) const noexcept -> std::size_t {
            return static_cast<std::size_t>((std::uint64_t{hash} * room) >> 32);
        }
        /// Distance of a line from one before it.
        [[nodiscard]] auto distance(std::size_t from, std::size_t line) const noexcept -> std::size_t {
            return line >= from ? line - from : line + room - from;
        }

        template <class Equal>
        [[nodiscard]] auto locate(std::uint32_t hash, Equal&& equal) const -> Place {
            if (room == 0) { return {}; }
            // The array is never full, so this ends at a vacant place at the latest.
            for (auto number = home(hash);; number = next(number)) {
                auto& line = items[number];
                for (auto& entry : line.entries) {
                    if (entry.vacant()) { return {}; }
                    if (entry.hash == hash && equal(entry.value())) { return {number, &entry}; }
                }
                if (!line.passed()) { return {}; }
            }
        }

        /// Stores an entry and returns its line.
        auto store(const Entry& entry) noexcept -> std::size_t {  // NOLINT: it changes the lines
            auto line = home(entry.hash);
            for (; items[line].full(); line = next(line)) { items[line].pass(); }
            items[line].add(entry);
            return line;
        }

        /// Removes an entry. No tombstones: where its line was passed, an entry comes back from a later one, so that
        /// searches never decay.
        auto take(Place place) noexcept -> void {  // NOLINT: it changes the lines
            auto hole = place.line;
            auto passed = items[hole].passed();
            items[hole].remove(*place.entry);
            for (auto behind = next(hole); passed; behind = next(behind)) {
                auto& line = items[behind];
                passed = line.passed();
                const auto from_before = [&](const Entry& entry) {
                    return !entry.vacant() && distance(home(entry.hash), behind) >= distance(hole, behind);
                };
                auto* const end = line.entries.data() + width;
                auto* const back = std::find_if(line.entries.data(), end, from_before);
                if (back == end) { continue; }
                items[hole].add(*back);
                items[hole].pass();  // others may have passed it
                line.remove(*back);
                hole = behind;
            }
        }
    };

    /// The state of a move from an old array.
    struct Moving {
        Lines old{};
        std::size_t border = 0;  // entries at home in the old array before it are in the new one
        std::size_t at = 0;      // the line of the old array that is moved next
        std::size_t ready = 0;   // lines of the new array that were written; the last of them is not full, so that no
                                 // search goes on to the others
        std::uint32_t left = 0;  // entries of the old array
        std::size_t insert = 0;  // places to move for an entry that comes
        std::size_t owed = 0;    // places to move with the next step
    };

    static constexpr std::size_t at_once_max = 512;  // a table of so many lines grows at once
    static constexpr std::size_t kept_max = 1'024;   // one of so many stays as it is, however often it fills
    // Places that are moved at least for an entry that comes. Slower, most growing tables would have two arrays.
    static constexpr std::size_t places_insert = 32;
    // Lines that are moved at least in a step. It goes on to the next line that was not passed.
    static constexpr std::size_t step_min = 16;
    // Lines that are moved at most by one call of `shrink`: about eight ordinary pairs.
    static constexpr std::size_t fall_max = 256;

    static constexpr auto high(std::uint64_t hash) noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(hash >> 32);
    }

    /// Three quarters: at 7/8 a third of all lines have passed an entry on, at 1/2 memory grows by half.
    static constexpr auto load_max(std::uint64_t lines) noexcept -> std::uint64_t { return lines * 6; }

    static constexpr auto lines_for(std::uint64_t count) noexcept -> std::size_t {
        return static_cast<std::size_t>((count + 5) / 6);
    }

    /// True if an entry of this hash is in the old array, or would be.
    [[nodiscard]] auto in_old(std::uint32_t hash) const noexcept -> bool {
        return moving_ != nullptr && moving_->old.home(hash) >= moving_->border;
    }
    [[nodiscard]] auto array_of(std::uint32_t hash) const noexcept -> const Lines& {
        return in_old(hash) ? moving_->old : now_;
    }

    auto grow(std::uint32_t count) -> void {
        while (moving_ != nullptr) { move(moving_->old.room); }
        begin(std::max(lines_for(count), now_.room + now_.room / 4));
    }

    auto fall() noexcept -> void {
        if (moving_ != nullptr) { return move(step_min + std::min(moving_->old.room / 32, fall_max)); }
        try {
            begin(std::max(lines_for(std::uint64_t{size_} + size_ / 8), now_.room / 8));
        } catch (const std::bad_alloc&) {  // the next call tries again
        }
    }

    /// Makes another array, of `room` lines, and moves the entries there, or begins to.
    /// @pre no entries are being moved.
    auto begin(std::size_t room) -> void {
        ALLOT_ASSERT(room < handle_limit / width, "HandleMap: a table this large does not fit 32-bit hashes");
        auto made = Lines{room};
        auto moving = std::unique_ptr<Moving>{new Moving{}};
        moving->left = size_;
        // All have moved before there is no room for one more.
        const auto needed = now_.room * width / static_cast<std::size_t>(load_max(room) - size_ + 1) + 1;
        moving->insert = std::max(places_insert, needed);
        moving->old = std::exchange(now_, std::move(made));
        moving_ = std::move(moving);
        const auto& old = moving_->old;
        if (old.room > 0) { move_first(); }
        move(old.room > at_once_max ? step_min : old.room);
    }

    /// Moves the first lines, up to one that was not passed. Entries from the end of the array, for which there was no
    /// room, stay as if they were alone there: they are moved last.
    auto move_first() noexcept -> void {
        auto& old = moving_->old;
        auto kept = std::size_t{0};  // the line that the next entry from the end is put into
        for (auto passed = true; passed && moving_->at < old.room; ++moving_->at) {
            const auto line = std::exchange(old.items[moving_->at], Line::blank());
            passed = line.passed();
            for (const auto& entry : line.entries) {
                if (entry.vacant()) { break; }
                if (old.home(entry.hash) <= moving_->at) {
                    move(entry);
                    continue;
                }
                if (old.items[kept].full()) { old.items[kept++].pass(); }
                old.items[kept].add(entry);
            }
        }
        set_border(moving_->at);
    }

    /// Moves entries of the old array, from `count` lines on until a line that was not passed, behind which no entry is
    /// that would be at home before it.
    auto move(std::size_t count) noexcept -> void {
        auto& [old, border, at, ready, left, insert, owed] = *moving_;
        for (std::size_t walked = 1; left > 0; ++walked) {
            if (at == old.room) { at = 0; }
            const auto line = std::exchange(old.items[at++], Line::blank());
            for (const auto& entry : line.entries) {
                if (entry.vacant()) { break; }
                move(entry);
            }
            if (!line.passed() && walked >= count && left > 0) { return set_border(at); }
        }
        write(now_.room);
        moving_.reset();
    }

    auto move(const Entry& entry) noexcept -> void {
        write(now_.home(entry.hash) + 1);
        store_ahead(entry);
        --moving_->left;
    }

    auto set_border(std::size_t border) noexcept -> void {
        moving_->border = border;
        // Beyond every home before the border.
        write(static_cast<std::size_t>(std::uint64_t{border} * now_.room / moving_->old.room) + 2);
    }

    /// Stores an entry in the new array.
    auto store_ahead(const Entry& entry) noexcept -> void {
        const auto line = now_.store(entry);
        if (line + 1 == moving_->ready && now_.items[line].full()) { write(moving_->ready + 1); }
    }

    /// Makes the lines of the new array before this one vacant, those that were never written.
    auto write(std::size_t end) noexcept -> void {
        auto& ready = moving_->ready;
        for (end = std::min(end, now_.room); ready < end; ++ready) { now_.items[ready] = Line::blank(); }
    }

    Lines now_;
    std::uint32_t size_ = 0;
    std::unique_ptr<Moving> moving_;
};

}}  // namespace allot::v0
