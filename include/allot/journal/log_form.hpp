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

// A log is a header, records and sync marks. All numbers are stored with the lowest byte first:
//
//     header   "allotlog", version u32, position of the first record u64, check of the record before it u64, check u64
//     record   length of the stored body u32, position u64, check of these two u32, stored body, check u64
//     mark     8 bytes that occur nowhere else, its own offset in the log u64, check u64
//
// The check of a record covers its position, its stored body and the check of the previous record. This chains the log:
// a record that was flipped, cut out, doubled, moved or taken from another log is detected. The length has a check of
// its own, because a flipped length would otherwise look like an unfinished record.
//
// The writer writes a mark after each successful sync: all bytes before the mark outlast a crash. The header is synced
// before any record follows it. So damage behind the last mark, a torn record or a hole, comes from a crash before
// those writes were acknowledged; it is cut off. Damage before a mark is a loss; it is reported and never cut. A reader
// must find marks behind damage, where record boundaries are unknown and untrusted clients choose the bodies. So in a
// stored body a zero byte follows each occurrence of a mark's first seven bytes, and no body contains a mark.
//
// Checks are SipHash-2-4 with a public key. CRC-32C detects the same accidents and misses 2^-32 of them; SipHash is
// already in the library and misses 2^-64. Neither detects a forger; the state root does.

/// Version of the log's form. The content of a record has a version of its own.
inline constexpr auto log_version = std::uint32_t{1};

/// Greatest size of a record's body in bytes, 16 MiB: more than the longest command of the default rules. Bounds a
/// reader's memory.
inline constexpr auto log_body_max = std::size_t{1} << 24U;

/// The end of a log: the next position, the check to chain to, and the length.
struct LogMark {
    std::uint64_t position = 0;  ///< Position of the next record.
    std::uint64_t check = 0;     ///< Check of the last record; 0 before the first record ever.
    std::uint64_t bytes = 0;     ///< Length of the log in bytes; 0 if not even the header is written.

    friend constexpr auto operator==(const LogMark&, const LogMark&) noexcept -> bool = default;
};

/// Why a log cannot be read further. The numbers are stable. Only `torn_tail` loses no acknowledged record.
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

/// Returns one sentence: the fault and its remedy.
[[nodiscard]] constexpr auto message(LogError error) noexcept -> std::string_view {
    switch (error) {
        case LogError::torn_tail:
            return "the log was not synced from here on and is damaged; cut it here, as recover does";
        case LogError::checksum_mismatch: return "a record, or one before it, is not what was written; restore it";
        case LogError::out_of_order:
            return "a record stands in another's place; records were cut out, doubled or moved";
        case LogError::not_a_log: return "the bytes do not begin as a log does";
        case LogError::version_unknown: return "the log's version is unknown; a newer release may know it";
        case LogError::too_long: return "a record claims to be longer than log_body_max";
        case LogError::read_failed: return "the source could not be read; nothing is known of what follows";
        case LogError::cut_failed: return "what was not synced could not be cut off or written again; mend the device";
    }
    return "unknown error";
}

/// The fault that stopped a reader, and its place.
struct LogFault {
    LogError error = LogError::not_a_log;
    std::uint64_t position = 0;  ///< Position of the record expected there.
    std::uint64_t offset = 0;    ///< Offset of its first byte; all bytes before it are good.

    friend constexpr auto operator==(const LogFault&, const LogFault&) noexcept -> bool = default;
};

namespace detail {

inline constexpr auto log_magic = std::array<std::uint8_t, 8>{'a', 'l', 'l', 'o', 't', 'l', 'o', 'g'};
inline constexpr auto log_header_size = std::size_t{36};
inline constexpr auto log_head_size = std::size_t{16};  // of a record, before its body
inline constexpr auto log_check_size = std::size_t{8};
// Read as the length of a record, these bytes are never valid.
inline constexpr auto log_mark_magic = std::array<std::uint8_t, 8>{0xA1, 's', 'y', 'n', 'c', 'e', 'd', 0xA2};
inline constexpr auto log_mark_size = std::size_t{24};
inline constexpr auto log_stored_max = log_body_max / 7 * 8 + 8;

/// Returns the check of `bytes`, chained to the check `before`. @complexity linear in the bytes.
[[nodiscard]] constexpr auto log_check(std::uint64_t before, std::span<const std::uint8_t> bytes) noexcept
    -> std::uint64_t {
    return SipHash24{SipKey{0x616C'6C6F'746C'6F67U, 0}}.word(before).bytes(bytes).finish();
}

/// Converts a body to its stored form, or back if `stored`. Uses `room` for the result where the two forms differ.
/// @complexity linear in the bytes.
[[nodiscard]] inline auto log_spelled(std::span<const std::uint8_t> bytes, bool stored, std::vector<std::uint8_t>& room)
    -> std::span<const std::uint8_t> {
    constexpr auto stem = log_mark_magic.size() - 1;
    room.clear();
    auto from = bytes.begin();
    while (true) {
        auto to = std::search(from, bytes.end(), log_mark_magic.begin(), log_mark_magic.begin() + stem);
        if (to == bytes.end()) { break; }
        to += stem;
        room.insert(room.end(), from, to);
        if (stored) {
            from = to == bytes.end() ? to : to + 1;
        } else {
            room.push_back(0);
            from = to;
        }
    }
    if (from == bytes.begin()) { return bytes; }
    room.insert(room.end(), from, bytes.end());
    return room;
}

/// True if a valid mark begins at these bytes. @pre There are `log_mark_size` of them.
[[nodiscard]] inline auto log_mark_begins(std::span<const std::uint8_t> bytes) noexcept -> bool {
    auto in = ByteReader{bytes.subspan(log_mark_size - log_check_size)};
    return std::equal(log_mark_magic.begin(), log_mark_magic.end(), bytes.begin()) &&
           in.integer<std::uint64_t>() == log_check(0, bytes.first(log_mark_size - log_check_size));
}

}  // namespace detail

}}  // namespace allot::v0
