#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Number of times in a line of a `DueTree`.
inline constexpr std::uint32_t due_fan_out = 11;
using DueTimes = std::array<std::int64_t, due_fan_out>;

/// The times of wide lines: those with times 2^32 - 1 ms (49 days) or more apart.
class WideTimes {
public:
    /// The number of lines that one change of a tree may make wide: one a level, and there are ten at most.
    static constexpr std::size_t change_max = 12;

    /// True if a change may make lines wide without asking for memory.
    [[nodiscard]] auto has_room() const noexcept -> bool { return times_.size() - taken_ >= change_max; }
    /// Makes that room. If an allocation throws, nothing changes.
    /// @complexity amortised O(1).
    void make_room() {
        while (!has_room()) {
            if (times_.size() == times_.capacity()) { times_.reserve(times_.size() * 2 + change_max); }
            times_.push_back({free_});
            free_ = static_cast<std::int64_t>(times_.size()) - 1;
        }
    }
    /// Gives room back if no line is wide.
    void trim() noexcept {
        if (taken_ == 0) { *this = WideTimes{}; }
    }

    [[nodiscard]] auto operator[](std::int64_t place) const noexcept -> const DueTimes& {
        return times_[static_cast<std::size_t>(place)];
    }
    /// Stores the times of a line that becomes wide, and returns their place. It allocates only without `make_room`.
    [[nodiscard]] auto take(const DueTimes& times) -> std::int64_t {
        if (taken_ == times_.size()) { make_room(); }
        const auto place = free_;
        auto& taken = times_[static_cast<std::size_t>(place)];
        free_ = taken.front();
        taken = times;
        ++taken_;
        return place;
    }
    void give(std::int64_t place) noexcept {
        times_[static_cast<std::size_t>(place)].front() = free_;
        free_ = place;
        --taken_;
    }

private:
    std::vector<DueTimes> times_;
    std::int64_t free_ = -1;  // a place that is free; its first time is the next one
    std::size_t taken_ = 0;
};

/// Eleven times in a line of the cache, with a hint of each and the number of the first.
///
/// A time is four bytes from a base that the line shares. Only a line with times 49 days apart stores them elsewhere;
/// its own bytes then say in which order they are. So times of one line are compared by `offsets` alone. Whether a line
/// is wide follows from its times, never from its history.
struct alignas(64) DueLine {
    /// The time of an entry that is not there.
    static constexpr auto absent = std::numeric_limits<std::int64_t>::max();
    /// Its offset, which is the greatest.
    static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

    std::int64_t base = 0;  // if it is wide, the place of its times
    std::array<std::uint32_t, due_fan_out> offsets;
    std::array<std::uint8_t, due_fan_out> hints{};  // they say nothing where there is no time
    std::uint8_t first : 4;
    std::uint8_t wide : 1;

    constexpr DueLine() noexcept : offsets{}, first{0}, wide{0} { offsets.fill(none); }

    void set_first(std::uint32_t number) noexcept { first = number & 15U; }

    [[nodiscard]] auto has(std::uint32_t number) const noexcept -> bool { return offsets[number] != none; }
    [[nodiscard]] auto time(std::uint32_t number, const WideTimes& far) const noexcept -> std::int64_t {
        if (!has(number)) { return absent; }
        return wide != 0 ? far[base][number] : base + std::int64_t{offsets[number]};
    }

    /// Writes a time, or `absent`.
    void write(std::uint32_t number, std::int64_t time, WideTimes& far) {
        const auto offset = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(base);
        if (wide == 0 && ((offset < none && time >= base) || time == absent)) {
            offsets[number] = time == absent ? none : static_cast<std::uint32_t>(offset);
        } else {
            rewrite(number, time, far);
        }
    }

    [[nodiscard]] friend auto operator==(const DueLine& a, const DueLine& b) noexcept -> bool {
        return a.wide == b.wide && a.base == b.base && a.offsets == b.offsets;
    }

private:
    /// Writes a time that is too far from the base, or in a wide line.
    void rewrite(std::uint32_t number, std::int64_t written, WideTimes& far) {
        auto times = DueTimes{};
        auto least = absent;
        auto most = std::numeric_limits<std::int64_t>::min();
        for (auto i = 0U; i < due_fan_out; ++i) {
            times[i] = i == number ? written : time(i, far);
            if (times[i] == absent) { continue; }
            least = std::min(least, times[i]);
            most = std::max(most, times[i]);
        }
        const auto spread = least == absent ? 0 : static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
        if (spread < none) {
            if (wide != 0) { far.give(base); }
            // In the middle of the reach, so that the next times are near, too.
            const auto spare = static_cast<std::int64_t>((none - 1 - spread) / 2);
            const auto lowest = std::numeric_limits<std::int64_t>::min();
            wide = 0;
            base = least < lowest + spare ? lowest : least - spare;
            for (auto i = 0U; i < due_fan_out; ++i) {
                offsets[i] = times[i] == absent ? none : static_cast<std::uint32_t>(times[i] - base);
            }
            return;
        }
        if (wide != 0) { far.give(base); }
        base = far.take(times);
        wide = 1;
        for (auto i = 0U; i < due_fan_out; ++i) {
            const auto before = [&](std::int64_t other) { return other < times[i]; };
            const auto rank = std::count_if(times.begin(), times.end(), before);
            offsets[i] = times[i] == absent ? none : static_cast<std::uint32_t>(rank);
        }
    }
};
static_assert(sizeof(DueLine) == 64);

}}}  // namespace allot::v0::detail
