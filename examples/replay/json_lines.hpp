#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <utility>

#include <allot/json.hpp>

namespace replay {

/// Longest line in bytes, 64 MiB: the longest record as JSON, and a bound for hostile input.
inline constexpr auto line_max = std::size_t{1} << 26U;

/// Reads values from lines of JSON, such as the entries of a log; skips blank lines.
template <class Value>
class JsonLines {
public:
    /// @pre `stream` outlives the reader.
    explicit JsonLines(std::istream& stream) noexcept : stream_{&stream} {}

    /// Returns the next value; none at the end and at a malformed line, which `fault()` then returns.
    [[nodiscard]] auto next() -> std::optional<Value> {
        while (!fault_ && read_line()) {
            if (line_.find_first_not_of(" \t\r") == std::string::npos) { continue; }
            auto value = allot::read_json<Value>(line_);
            if (value) { return *std::move(value); }
            fault_ = std::move(value.error());
            fault_->line = number_;
        }
        return std::nullopt;
    }

    /// The fault of the line that stopped the reader; none before.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<allot::JsonFault>& { return fault_; }

private:
    /// Reads a line. Returns false at the end of the stream, and for a line that is too long.
    auto read_line() -> bool {
        using Traits = std::istream::traits_type;
        line_.clear();
        ++number_;
        auto& buffer = *stream_->rdbuf();
        if (stream_->tie() != nullptr && buffer.in_avail() <= 0) {
            stream_->tie()->flush();  // the sender may wait for the answer to its line
        }
        for (auto c = buffer.sbumpc(); c != Traits::eof(); c = buffer.sbumpc()) {
            if (c == '\n') { return true; }
            if (line_.size() == line_max) {
                fault_ = allot::JsonFault{number_, "", "the line is longer than 64 MiB; write one command a line"};
                return false;
            }
            line_ += Traits::to_char_type(c);
        }
        return !line_.empty();
    }

    std::istream* stream_;
    std::string line_{};
    std::size_t number_ = 0;
    std::optional<allot::JsonFault> fault_{};
};

}  // namespace replay
