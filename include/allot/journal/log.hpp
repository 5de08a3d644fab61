#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/journal/log_form.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Appends records to a sink. A record is acknowledged once a later `sync` has succeeded.
///
/// After a failure the writer refuses everything with `IoError::broken`, because an unknown part was written. After a
/// failed sync even reading does not help: lost pages look as if they had been kept. Call `recover`, which writes the
/// unsynced part again, and make a new writer from the mark it returns.
template <class Sink>
class LogWriter {
    static_assert(ByteSinkCheck<Sink>::passed);

public:
    /// Continues the log at `mark`. If `mark.bytes == 0`, the writer first writes and syncs the header, before the
    /// first record.
    /// @pre `sink` outlives the writer and holds exactly the log that `mark` describes, as returned by `recover`.
    explicit LogWriter(Sink& sink, const LogMark& mark = {}) noexcept : sink_{&sink}, mark_{mark}, synced_{mark} {}

    /// Appends a record with one call of the sink and returns its position.
    ///
    /// Refuses a body of more than `log_body_max` bytes with `too_long` and changes nothing. Returns the sink's error,
    /// or `broken` after an earlier failure.
    /// @complexity linear in the body.
    auto append(std::span<const std::uint8_t> body) -> Result<std::uint64_t, IoError> {
        if (body.size() > log_body_max) { return FailureOf<IoError>{IoError::too_long}; }
        if (mark_.bytes == 0) {
            if (const auto error = sync()) { return FailureOf<IoError>{*error}; }
        }
        const auto stored = detail::log_spelled(body, false, room_);
        buffer_.clear();
        auto out = ByteWriter{buffer_};
        out.integer(static_cast<std::uint32_t>(stored.size()));
        out.integer(mark_.position);
        out.integer(static_cast<std::uint32_t>(detail::log_check(0, buffer_)));
        out.bytes(stored);
        const auto check = detail::log_check(mark_.check, buffer_);
        out.integer(check);
        if (const auto error = write()) { return FailureOf<IoError>{*error}; }
        mark_.check = check;
        return mark_.position++;
    }

    /// Returns once all appended bytes outlast a crash, the header included, and writes a mark behind them.
    ///
    /// Returns the sink's error, or `broken` after an earlier failure.
    auto sync() -> std::optional<IoError> {
        buffer_.clear();
        auto out = ByteWriter{buffer_};
        if (mark_.bytes == 0) {
            out.bytes(detail::log_magic);
            out.integer(log_version);
            out.integer(mark_.position);
            out.integer(mark_.check);
            out.integer(detail::log_check(0, buffer_));
        }
        if (const auto error = write()) { return error; }
        broken_ = true;
        if (const auto error = sink_->sync()) { return error; }
        broken_ = false;
        synced_ = mark_;
        if (mark_.bytes == detail::log_header_size || mark_.bytes == marked_) { return std::nullopt; }
        buffer_.clear();
        out.bytes(detail::log_mark_magic);
        out.integer(mark_.bytes);
        out.integer(detail::log_check(0, buffer_));
        const auto error = write();
        marked_ = mark_.bytes;
        return error;
    }

    /// The current end of the log.
    [[nodiscard]] auto mark() const noexcept -> const LogMark& { return mark_; }
    /// The end of the log at the last `sync`, before its mark: a crash leaves at least this.
    [[nodiscard]] auto synced() const noexcept -> const LogMark& { return synced_; }

private:
    auto write() -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        if (buffer_.empty()) { return std::nullopt; }
        broken_ = true;  // until the sink has returned success; it may throw
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
    std::uint64_t marked_ = 0;  // end of the last mark that this writer wrote
    std::vector<std::uint8_t> buffer_{};
    std::vector<std::uint8_t> room_{};
    bool broken_ = false;
};

/// One record of a log.
struct LogRecord {
    /// Position of the record.
    std::uint64_t position = 0;
    std::span<const std::uint8_t> body{};  ///< The body; valid until the next record is read.
};

/// Reads the records of a log from a source that begins with its header. It skips marks.
///
/// It holds one record at a time. Its memory grows with the bytes read, never with the length that a record claims.
template <class Source>
class LogReader {
    static_assert(ByteSourceCheck<Source>::passed);

public:
    /// Reads from `source`. @pre `source` outlives the reader.
    explicit LogReader(Source& source) noexcept : source_{&source} {}

    /// Returns the next record; none at the end of the log, and none at a fault, which `fault()` then returns.
    /// @complexity linear in the record; at a fault, linear in the bytes behind it.
    [[nodiscard]] auto next() -> std::optional<LogRecord> {
        auto marked = true;
        while (marked) {
            if (fault_ || (mark_.bytes == 0 && !read_header()) || !fill(0, detail::log_head_size) || buffer_.empty()) {
                return std::nullopt;
            }
            if (buffer_.size() < detail::log_head_size) { return damaged(LogError::torn_tail); }
            marked = std::equal(detail::log_mark_magic.begin(), detail::log_mark_magic.end(), buffer_.begin());
            if (marked && !read_mark()) { return std::nullopt; }
        }
        auto head = ByteReader{buffer_};
        const auto length = std::size_t{head.integer<std::uint32_t>()};
        const auto position = head.integer<std::uint64_t>();
        const auto check = detail::log_check(0, std::span{buffer_}.first(detail::log_head_size - 4));
        if (head.integer<std::uint32_t>() != static_cast<std::uint32_t>(check)) {
            return damaged(LogError::checksum_mismatch);
        }
        if (position != mark_.position) { return damaged(LogError::out_of_order); }
        if (length > detail::log_stored_max) { return damaged(LogError::too_long); }
        const auto size = detail::log_head_size + length + detail::log_check_size;
        if (!fill(detail::log_head_size, size)) { return std::nullopt; }
        if (buffer_.size() < size) { return damaged(LogError::torn_tail); }
        const auto record = std::span<const std::uint8_t>{buffer_}.first(detail::log_head_size + length);
        auto tail = ByteReader{std::span{buffer_}.subspan(record.size())};
        const auto chained = detail::log_check(mark_.check, record);
        if (tail.integer<std::uint64_t>() != chained) { return damaged(LogError::checksum_mismatch); }
        mark_ = {position + 1, chained, mark_.bytes + size};
        return LogRecord{position, detail::log_spelled(record.subspan(detail::log_head_size), true, room_)};
    }

    /// The fault that stopped the reader; none before a fault, and none at the end of an undamaged log.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<LogFault>& { return fault_; }

    /// The position and the check with which the log begins, as its header says; known once `next` was called.
    [[nodiscard]] auto begun() const noexcept -> const LogMark& { return begun_; }

    /// The end of the log after the records read so far; all of them are good.
    [[nodiscard]] auto mark() const noexcept -> const LogMark& { return mark_; }

    /// The end of the log at the last mark read, before that mark; `bytes` is 0 before the first mark.
    [[nodiscard]] auto synced() const noexcept -> const LogMark& { return synced_; }

private:
    auto stop(LogError error) -> std::optional<LogRecord> {
        fault_ = LogFault{error, mark_.position, mark_.bytes};
        return std::nullopt;
    }

    /// Stops at damage. Without a mark behind it the damage is a torn tail, because nothing from here on was synced.
    /// @complexity linear in the bytes behind the damage.
    auto damaged(LogError error) -> std::optional<LogRecord> {
        const auto marked = mark_follows();
        if (!fault_) {
            stop(!marked ? LogError::torn_tail : error == LogError::torn_tail ? LogError::checksum_mismatch : error);
        }
        return std::nullopt;
    }

    /// True if a mark is in the buffer or behind it. @complexity linear in the rest of the log; constant memory.
    auto mark_follows() -> bool {
        constexpr auto step = std::size_t{1} << 16U;
        while (true) {
            auto from = buffer_.begin();
            while (true) {
                from = std::search(from, buffer_.end(), detail::log_mark_magic.begin(), detail::log_mark_magic.end());
                const auto left = static_cast<std::size_t>(buffer_.end() - from);
                if (left < detail::log_mark_size) { break; }
                if (detail::log_mark_begins(std::span{buffer_}.last(left))) { return true; }
                ++from;
            }
            const auto kept = std::min(buffer_.size(), detail::log_mark_size - 1);  // a mark may begin in these
            buffer_.erase(buffer_.begin(), buffer_.end() - static_cast<std::ptrdiff_t>(kept));
            if (!fill(kept, kept + step) || buffer_.size() == kept) { return false; }
        }
    }

    /// Reads the rest of a mark, after its first `log_head_size` bytes.
    auto read_mark() -> bool {
        if (!fill(detail::log_head_size, detail::log_mark_size)) { return false; }
        if (buffer_.size() < detail::log_mark_size || !detail::log_mark_begins(buffer_)) {
            damaged(buffer_.size() < detail::log_mark_size ? LogError::torn_tail : LogError::checksum_mismatch);
            return false;
        }
        auto in = ByteReader{std::span{buffer_}.subspan(detail::log_mark_magic.size())};
        if (in.integer<std::uint64_t>() != mark_.bytes) {
            damaged(LogError::out_of_order);
            return false;
        }
        synced_ = mark_;
        mark_.bytes += detail::log_mark_size;
        return true;
    }

    /// Reads the header. An empty source is a log not yet begun; so is a partly written header with nothing behind it.
    auto read_header() -> bool {
        if (!fill(0, detail::log_header_size) || buffer_.empty()) { return false; }
        const auto begun =
            std::span<const std::uint8_t>{buffer_}.first(std::min(buffer_.size(), detail::log_magic.size()));
        const auto is_zero = std::all_of(begun.begin(), begun.end(), [](std::uint8_t byte) { return byte == 0; });
        const auto is_log = std::equal(begun.begin(), begun.end(), detail::log_magic.begin());
        const auto whole = buffer_.size() == detail::log_header_size;
        auto error = is_log ? LogError::checksum_mismatch : LogError::not_a_log;
        if (is_log && whole) {
            auto header = ByteReader{std::span{buffer_}.subspan(detail::log_magic.size())};
            const auto version = header.integer<std::uint32_t>();
            const auto position = header.integer<std::uint64_t>();
            const auto check = header.integer<std::uint64_t>();
            if (version != log_version) {
                stop(LogError::version_unknown);
                return false;
            }
            if (header.integer<std::uint64_t>() ==
                detail::log_check(0, std::span{buffer_}.first(detail::log_header_size - 8))) {
                mark_ = {position, check, detail::log_header_size};
                synced_ = {position, check, 0};
                begun_ = synced_;
                return true;
            }
        }
        if ((is_zero || is_log) && (!whole || (fill(detail::log_header_size, detail::log_header_size + 1) &&
                                               buffer_.size() == detail::log_header_size))) {
            error = LogError::torn_tail;
        }
        if (!fault_) { stop(error); }
        return false;
    }

    /// Fills the buffer behind its first `from` bytes up to `size` bytes, or to the end. Returns false if reading
    /// failed.
    auto fill(std::size_t from, std::size_t size) -> bool {
        constexpr auto step = std::size_t{1} << 16U;
        buffer_.resize(from);
        while (buffer_.size() < size) {
            const auto have = buffer_.size();
            buffer_.resize(std::min(size, have + step));
            const auto got = source_->read(std::span{buffer_}.subspan(have));
            buffer_.resize(have + got.value_or(0));
            if (!got) {
                stop(LogError::read_failed);
                return false;
            }
            if (*got == 0) { break; }
        }
        return true;
    }

    Source* source_;
    LogMark mark_{};
    LogMark synced_{};
    LogMark begun_{};
    std::vector<std::uint8_t> buffer_{};
    std::vector<std::uint8_t> room_{};
    std::optional<LogFault> fault_{};
};

/// Reads a whole log, cuts off a torn tail, and returns the mark from which a writer can continue.
///
/// Calls `visit(record)` for each record. The records behind the last mark are written again in place and synced. They
/// can be read, but pages that a failed sync gave up look as if they had been kept, and no later sync would write them.
/// The visited records outlast a crash only once `recover` has succeeded.
///
/// Error: any other fault, which changes nothing: the log then holds less than was acknowledged, and the operator has
/// to decide. The visited records include the acknowledged ones, unless the device lost bytes that it reported as
/// synced.
/// Error `cut_failed`: cutting or writing again failed. A mark of zero bytes means the log was never begun:
/// continue from the initial mark.
/// @complexity linear in the log. Memory is linear in one record and in the unsynced part.
template <class File, class Visit>
auto recover(File& file, Visit&& visit) -> Result<LogMark, LogFault> {
    static_assert(CuttableCheck<File>::passed);
    file.seek(0);
    auto reader = LogReader<File>{file};
    auto from = LogMark{};
    auto unsynced = std::vector<std::vector<std::uint8_t>>{};
    for (auto more = true; more;) {
        const auto record = reader.next();
        if (reader.synced() != from) {
            from = reader.synced();
            unsynced.clear();
        }
        more = record.has_value();
        if (more) {
            unsynced.emplace_back(record->body.begin(), record->body.end());
            visit(*record);
        }
    }
    const auto end = reader.mark();
    const auto failed = FailureOf<LogFault>{LogFault{LogError::cut_failed, end.position, end.bytes}};
    if (reader.fault()) {
        if (reader.fault()->error != LogError::torn_tail) { return FailureOf<LogFault>{*reader.fault()}; }
        if (file.cut(end.bytes)) { return failed; }
    }
    file.seek(from.bytes);
    if (end.bytes == 0) { return end; }
    auto writer = LogWriter<File>{file, from};
    auto error = writer.sync();  // writes the header or the mark again
    for (auto body = unsynced.begin(); !error && body != unsynced.end(); ++body) {
        const auto written = writer.append(*body);
        error = written ? std::nullopt : std::optional{written.error()};
    }
    if (error || writer.sync()) { return failed; }
    return writer.mark();
}

}}  // namespace allot::v0
