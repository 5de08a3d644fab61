#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/siphash.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

// A log is a header, records, and marks of what was synced, all numbers the lowest byte first:
//
//     header   "allotlog", version u32, position of the first record u64, check of the record before it u64, check u64
//     record   length of the stored body u32, position u64, check of these two u32, stored body, check u64
//     mark     8 bytes that stand nowhere else, its own offset in the log u64, check u64
//
// The check of a record covers its position, its stored body and the check of the record before, which chains the log: a
// record that is flipped, cut out, doubled, moved or taken from another log is found. The length has a check of its own, because
// a flipped length would otherwise look like a record that was never finished.
//
// A mark is written when a sync has succeeded: all before it outlasts a crash, and the header is synced before anything follows
// it. So damage behind the last mark is what a crash leaves of writes that were not acknowledged, a torn record or a hole, and is
// cut off; damage before a mark is a loss, is named, and is never cut. A mark has to be found behind damage, where nothing tells
// where records begin, and strangers choose what stands in bodies: so in a stored body a zero follows each seven bytes that a mark
// begins with, and no body holds a mark.
//
// Checks are SipHash-2-4 with a key that everybody knows. CRC-32C finds the same accidents, with 2^-32 left to chance; SipHash
// is there already and leaves 2^-64. Neither withstands a forger: that is what the state root is for.

/// Version of the log's form. What a record holds has a version of its own.
inline constexpr auto log_version = std::uint32_t{1};

/// The longest body of a record, 16 MiB: more than the longest command of the default rules, and a bound for readers.
inline constexpr auto log_body_max = std::size_t{1} << 24U;

/// Where a log stands: what comes next, and what it is chained to.
struct LogMark {
    std::uint64_t position = 0;  ///< Of the next record.
    std::uint64_t check = 0;     ///< Of the last record; 0 before the first one ever.
    std::uint64_t bytes = 0;     ///< Length of the log; 0 when there is none yet, not even a header.

    friend constexpr auto operator==(const LogMark&, const LogMark&) noexcept -> bool = default;
};

/// Why a log cannot be read on. The numbers are stable. `torn_tail` alone loses nothing that was acknowledged.
enum class LogError : std::uint8_t {
    torn_tail = 1,
    checksum_mismatch = 2,
    out_of_order = 3,
    not_a_log = 4,
    version_unknown = 5,
    too_long = 6,
    read_failed = 7,
    cut_failed = 8,
};

/// What was wrong and what to do about it, in one sentence.
[[nodiscard]] constexpr auto message(LogError error) noexcept -> std::string_view {
    switch (error) {
        case LogError::torn_tail: return "the log was not synced from here on and is damaged; cut it here, as recover does";
        case LogError::checksum_mismatch: return "a record, or one before it, is not what was written; restore it";
        case LogError::out_of_order: return "a record stands in another's place; records were cut out, doubled or moved";
        case LogError::not_a_log: return "the bytes do not begin as a log does";
        case LogError::version_unknown: return "the log's version is unknown; a newer release may know it";
        case LogError::too_long: return "a record claims to be longer than log_body_max";
        case LogError::read_failed: return "the source could not be read; nothing is known of what follows";
        case LogError::cut_failed: return "what was not synced could not be cut off or written again; mend the device";
    }
    return "unknown error";
}

/// What stopped a reader, and where.
struct LogFault {
    LogError error = LogError::not_a_log;
    std::uint64_t position = 0;  ///< Of the record that should stand there.
    std::uint64_t offset = 0;    ///< Its first byte; all before is good.

    friend constexpr auto operator==(const LogFault&, const LogFault&) noexcept -> bool = default;
};

namespace detail {

inline constexpr auto log_magic = std::array<std::uint8_t, 8>{'a', 'l', 'l', 'o', 't', 'l', 'o', 'g'};
inline constexpr auto log_header_size = std::size_t{36};
inline constexpr auto log_head_size = std::size_t{16};  // of a record, before its body
inline constexpr auto log_check_size = std::size_t{8};
inline constexpr auto log_mark_magic = std::array<std::uint8_t, 8>{0xA1, 's', 'y', 'n', 'c', 'e', 'd', 0xA2};  // no length
inline constexpr auto log_mark_size = std::size_t{24};
inline constexpr auto log_stored_max = log_body_max / 7 * 8 + 8;

/// The check of some bytes that follow those with another check.
[[nodiscard]] constexpr auto log_check(std::uint64_t before, std::span<const std::uint8_t> bytes) noexcept -> std::uint64_t {
    return SipHash24{SipKey{0x616C'6C6F'746C'6F67U, 0}}.word(before).bytes(bytes).finish();
}

/// A body as it is stored, or a stored one as it was; `room` is used where the two differ.
[[nodiscard]] inline auto log_spelled(std::span<const std::uint8_t> bytes, bool stored, std::vector<std::uint8_t>& room)
    -> std::span<const std::uint8_t> {
    constexpr auto stem = log_mark_magic.size() - 1;
    room.clear();
    auto from = bytes.begin();
    while (true) {
        auto to = std::search(from, bytes.end(), log_mark_magic.begin(), log_mark_magic.begin() + stem);
        if (to == bytes.end()) {
            break;
        }
        to += stem;
        room.insert(room.end(), from, to);
        if (stored) {
            from = to == bytes.end() ? to : to + 1;
        } else {
            room.push_back(0);
            from = to;
        }
    }
    if (from == bytes.begin()) {
        return bytes;
    }
    room.insert(room.end(), from, bytes.end());
    return room;
}

/// Whether a mark begins these bytes. @pre There are `log_mark_size` of them.
[[nodiscard]] inline auto log_mark_begins(std::span<const std::uint8_t> bytes) noexcept -> bool {
    auto in = ByteReader{bytes.subspan(log_mark_size - log_check_size)};
    return std::equal(log_mark_magic.begin(), log_mark_magic.end(), bytes.begin()) &&
           in.integer<std::uint64_t>() == log_check(0, bytes.first(log_mark_size - log_check_size));
}

}  // namespace detail

}}  // namespace allot::v0
