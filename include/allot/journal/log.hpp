#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/siphash.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

// A log is a header and records, all numbers the lowest byte first:
//
//     header   "allotlog", version u32, position of the first record u64, check of the record before it u64, check u64
//     record   length of the body u32, position u64, check of these two u32, body, check u64
//
// The check of a record covers its position, its body and the check of the record before, which chains the log: a record
// that is flipped, cut out, doubled, moved or taken from another log is found. The length has a check of its own, because a
// flipped length would otherwise look like a record that was never finished, and what was acknowledged would be cut off.
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

/// Why a log cannot be read on. The numbers are stable.
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
        case LogError::torn_tail: return "the log ends within a record that was never acknowledged; cut it there";
        case LogError::checksum_mismatch: return "a record, or one before it, is not what was written; restore it";
        case LogError::out_of_order: return "a record stands in another's place; records were cut out, doubled or moved";
        case LogError::not_a_log: return "the bytes do not begin as a log does";
        case LogError::version_unknown: return "the log's version is unknown; a newer release may know it";
        case LogError::too_long: return "a record claims to be longer than log_body_max";
        case LogError::read_failed: return "the source could not be read; nothing is known of what follows";
        case LogError::cut_failed: return "the torn tail could not be cut off";
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

/// The check of some bytes that follow those with another check.
[[nodiscard]] constexpr auto log_check(std::uint64_t before, std::span<const std::uint8_t> bytes) noexcept -> std::uint64_t {
    return SipHash24{SipKey{0x616C'6C6F'746C'6F67U, 0}}.word(before).bytes(bytes).finish();
}

}  // namespace detail

/// Appends records to a sink. A record is acknowledged once a `sync` after it has succeeded.
///
/// After a failure nothing more is taken, because nobody knows how much of the record was written: `recover` the log and make
/// another writer from what it says.
template <class Sink>
class LogWriter {
    static_assert(ByteSinkCheck<Sink>::passed);

public:
    /// Goes on where a log stands. At its very beginning, `bytes == 0`, the header is written with the first record.
    /// @pre `sink` outlives the writer and holds exactly the log that `mark` describes.
    explicit LogWriter(Sink& sink, const LogMark& mark = {}) noexcept : sink_{&sink}, mark_{mark}, synced_{mark} {}

    /// Appends a record, in one call of the sink; gives its position.
    ///
    /// Refuses with `too_long` a body of more than `log_body_max` bytes, which changes nothing.
    auto append(std::span<const std::uint8_t> body) -> Result<std::uint64_t, IoError> {
        if (body.size() > log_body_max) {
            return FailureOf<IoError>{IoError::too_long};
        }
        buffer_.clear();
        auto out = ByteWriter{buffer_};
        put_header(out);
        const auto head = buffer_.size();
        out.integer(static_cast<std::uint32_t>(body.size()));
        out.integer(mark_.position);
        out.integer(static_cast<std::uint32_t>(detail::log_check(0, std::span{buffer_}.subspan(head))));
        out.bytes(body);
        const auto check = detail::log_check(mark_.check, std::span{buffer_}.subspan(head));
        out.integer(check);
        if (const auto error = write()) {
            return FailureOf<IoError>{*error};
        }
        mark_.check = check;
        return mark_.position++;
    }

    /// Makes sure that all that was appended outlasts a crash, the header included.
    auto sync() -> std::optional<IoError> {
        buffer_.clear();
        auto out = ByteWriter{buffer_};
        put_header(out);
        if (const auto error = write()) {
            return error;
        }
        broken_ = true;
        const auto error = sink_->sync();
        if (!error) {
            broken_ = false;
            synced_ = mark_;
        }
        return error;
    }

    /// Where the log stands.
    [[nodiscard]] auto mark() const noexcept -> const LogMark& { return mark_; }
    /// Where it stood at the last `sync`: what a crash leaves at the least.
    [[nodiscard]] auto synced() const noexcept -> const LogMark& { return synced_; }

private:
    void put_header(ByteWriter& out) {
        if (mark_.bytes == 0) {
            out.bytes(detail::log_magic);
            out.integer(log_version);
            out.integer(mark_.position);
            out.integer(mark_.check);
            out.integer(detail::log_check(0, buffer_));
        }
    }

    auto write() -> std::optional<IoError> {
        if (broken_) {
            return IoError::broken;
        }
        if (buffer_.empty()) {
            return std::nullopt;
        }
        broken_ = true;  // until the sink has said otherwise, should it throw
        const auto error = sink_->append(buffer_);
        if (!error) {
            broken_ = false;
            mark_.bytes += buffer_.size();
        }
        return error;
    }

    Sink* sink_;
    LogMark mark_;
    LogMark synced_;
    std::vector<std::uint8_t> buffer_{};
    bool broken_ = false;
};

/// One record of a log.
struct LogRecord {
    std::uint64_t position = 0;
    std::span<const std::uint8_t> body{};  ///< Until the next record is read.
};

/// Reads the records of a log, from a source that begins with its header.
///
/// It holds one record at a time, and its memory grows with the bytes that are there, never with the length that is claimed.
template <class Source>
class LogReader {
    static_assert(ByteSourceCheck<Source>::passed);

public:
    /// @pre `source` outlives the reader.
    explicit LogReader(Source& source) noexcept : source_{&source} {}

    /// The next record; nothing at the end of the log and at a fault, which `fault()` then names.
    /// @complexity linear in the record.
    [[nodiscard]] auto next() -> std::optional<LogRecord> {
        if (fault_ || (mark_.bytes == 0 && !read_header()) || !read(0, detail::log_head_size) || buffer_.empty()) {
            return std::nullopt;
        }
        auto head = ByteReader{buffer_};
        const auto length = std::size_t{head.integer<std::uint32_t>()};
        const auto position = head.integer<std::uint64_t>();
        const auto check = detail::log_check(0, std::span{buffer_}.first(detail::log_head_size - 4));
        if (head.integer<std::uint32_t>() != static_cast<std::uint32_t>(check)) {
            return stop(LogError::checksum_mismatch);
        }
        if (position != mark_.position) {
            return stop(LogError::out_of_order);
        }
        if (length > log_body_max) {
            return stop(LogError::too_long);
        }
        if (!read(detail::log_head_size, length + detail::log_check_size)) {
            return std::nullopt;
        }
        const auto record = std::span<const std::uint8_t>{buffer_}.first(detail::log_head_size + length);
        auto tail = ByteReader{std::span{buffer_}.subspan(record.size())};
        const auto chained = detail::log_check(mark_.check, record);
        if (tail.integer<std::uint64_t>() != chained) {
            return stop(LogError::checksum_mismatch);
        }
        mark_ = {position + 1, chained, mark_.bytes + buffer_.size()};
        return LogRecord{position, record.subspan(detail::log_head_size)};
    }

    /// What stopped it; nothing while all is well, and at the end of a log that is whole.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<LogFault>& { return fault_; }

    /// Where the log stands after the records that were read: all of them are good.
    [[nodiscard]] auto mark() const noexcept -> const LogMark& { return mark_; }

private:
    auto stop(LogError error) -> std::optional<LogRecord> {
        fault_ = LogFault{error, mark_.position, mark_.bytes};
        return std::nullopt;
    }

    /// An empty source is a log that nobody has begun.
    auto read_header() -> bool {
        const auto whole = read(0, detail::log_header_size);
        const auto begun = std::min(buffer_.size(), detail::log_magic.size());
        if (!std::equal(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begun), detail::log_magic.begin())) {
            stop(LogError::not_a_log);
            return false;
        }
        if (!whole || buffer_.empty()) {
            return false;
        }
        auto header = ByteReader{std::span{buffer_}.subspan(detail::log_magic.size())};
        if (header.integer<std::uint32_t>() != log_version) {
            stop(LogError::version_unknown);
            return false;
        }
        const auto position = header.integer<std::uint64_t>();
        const auto check = header.integer<std::uint64_t>();
        if (header.integer<std::uint64_t>() != detail::log_check(0, std::span{buffer_}.first(detail::log_header_size - 8))) {
            stop(LogError::checksum_mismatch);
            return false;
        }
        mark_ = {position, check, buffer_.size()};
        return true;
    }

    /// Reads `count` bytes into the buffer behind the first `from`. Where a record may end the source may too, and the
    /// buffer then stays empty; elsewhere that is a torn tail.
    auto read(std::size_t from, std::size_t count) -> bool {
        constexpr auto step = std::size_t{1} << 16U;
        buffer_.resize(from);
        while (buffer_.size() < from + count) {
            const auto have = buffer_.size();
            buffer_.resize(std::min(from + count, have + step));
            const auto got = source_->read(std::span{buffer_}.subspan(have));
            buffer_.resize(have + got.value_or(0));
            if (!got) {
                stop(LogError::read_failed);
                return false;
            }
            if (*got == 0) {
                break;
            }
        }
        if (buffer_.size() < from + count && !buffer_.empty()) {
            stop(LogError::torn_tail);
            return false;
        }
        return true;
    }

    Source* source_;
    LogMark mark_{};
    std::vector<std::uint8_t> buffer_{};
    std::optional<LogFault> fault_{};
};

/// Reads a log from its beginning to its end and cuts off a torn tail, so that a writer can go on from the mark it gives.
///
/// `visit(record)` is called for each record. Any other fault is handed back and changes nothing: the log holds less than was
/// acknowledged, and that is the operator's to judge. The records that were acknowledged are among those visited, unless
/// the device forgot what it had said it kept. A mark of zero bytes says that the log was never begun: go on from the mark that
/// it was to begin with.
template <class File, class Visit>
auto recover(File& file, Visit&& visit) -> Result<LogMark, LogFault> {
    static_assert(CuttableCheck<File>::passed);
    auto reader = LogReader<File>{file};
    while (const auto record = reader.next()) {
        visit(*record);
    }
    if (!reader.fault()) {
        return reader.mark();
    }
    if (reader.fault()->error != LogError::torn_tail) {
        return FailureOf<LogFault>{*reader.fault()};
    }
    const auto& mark = reader.mark();
    if (file.cut(mark.bytes) || file.sync()) {
        return FailureOf<LogFault>{LogFault{LogError::cut_failed, mark.position, mark.bytes}};
    }
    return mark;
}

}}  // namespace allot::v0
