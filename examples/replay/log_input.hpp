#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <allot/journal/log.hpp>

#include "json_lines.hpp"
#include "options.hpp"

namespace replay {

/// A fault of the input, its place, and its remedy.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A stream as a source of bytes for `allot::LogReader`.
class StreamSource {
public:
    explicit StreamSource(std::istream& stream) noexcept : stream_{&stream} {}

    [[nodiscard]] auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        stream_->read(reinterpret_cast<char*>(into.data()),
                      static_cast<std::streamsize>(into.size()));  // NOLINT: bytes
        if (stream_->bad()) { return allot::FailureOf<allot::IoError>{allot::IoError::read_failed}; }
        return static_cast<std::size_t>(stream_->gcount());
    }

private:
    std::istream* stream_;
};

/// The commands of a log, binary or JSON Lines, from a file or the standard input.
template <class Command>
class LogInput {
public:
    using Entry = allot::LogEntry<Command>;

    /// Opens the log. Without a format its first byte decides: a binary log begins with "allotlog", a line of JSON
    /// never with "a".
    LogInput(const std::string& path, std::optional<Format> format)
        : name_{path == "-" ? "standard input" : path},
          file_{path == "-" ? std::ifstream{} : std::ifstream{path, std::ios::binary}}, stream_{path == "-" ? std::cin
                                                                                                            : file_} {
        const auto first = stream_.peek();
        if (stream_.bad() || (path != "-" && !file_.is_open())) { throw InputError{name_ + ": cannot be read"}; }
        stream_.clear();
        binary_ = format ? *format == Format::binary : first == 'a';
    }
    LogInput(const LogInput&) = delete;
    auto operator=(const LogInput&) -> LogInput& = delete;

    /// Returns the next entry; none at the end. Throws `InputError`.
    [[nodiscard]] auto next() -> std::optional<Entry> {
        auto entry = binary_ ? next_record() : next_line();
        position_ += entry ? 1U : 0U;
        return entry;
    }
    /// Position of the next entry.
    [[nodiscard]] auto position() const noexcept -> std::uint64_t { return position_; }
    [[nodiscard]] auto name() const noexcept -> const std::string& { return name_; }

private:
    auto next_line() -> std::optional<Entry> {
        auto entry = lines_.next();
        if (lines_.fault()) { throw InputError{name_ + ": " + lines_.fault()->message()}; }
        return entry;
    }

    auto next_record() -> std::optional<Entry> {
        const auto record = records_.next();
        if (const auto& fault = records_.fault()) {
            refuse(fault->position, fault->offset, "of the log", allot::message(fault->error));
        }
        if (!record) { return std::nullopt; }
        if (record->position != position_) {
            refuse(record->position, 0, "of the log", "it begins there; give the whole log, from position 0");
        }
        auto entry = allot::decode<Entry>(record->body);
        if (!entry) {
            refuse(position_, entry.error().offset, "of the record's body", allot::message(entry.error().error));
        }
        return *std::move(entry);
    }
    [[noreturn]] void refuse(std::uint64_t position, std::uint64_t byte, std::string_view of,
                             std::string_view why) const {
        throw InputError{name_ + ": position " + std::to_string(position) + ", byte " + std::to_string(byte) + " " +
                         std::string{of} + ": " + std::string{why}};
    }

    std::string name_;
    std::ifstream file_;
    std::istream& stream_;
    JsonLines<Entry> lines_{stream_};
    StreamSource source_{stream_};
    allot::LogReader<StreamSource> records_{source_};
    bool binary_ = false;
    std::uint64_t position_ = 0;
};

}  // namespace replay
