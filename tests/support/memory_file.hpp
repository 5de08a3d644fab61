#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/journal/log_io.hpp>

namespace support {

/// Bytes in memory: a sink, and a source that returns a few bytes at a time.
struct MemoryFile {
    std::vector<std::uint8_t> bytes{};
    std::size_t at = 0;
    std::size_t step = 7;
    std::optional<std::size_t> end{};  ///< Place of the next bytes, unless at the end.

    auto append(std::span<const std::uint8_t> more) -> std::optional<allot::IoError> {
        end = end.value_or(bytes.size());
        bytes.resize(std::max(bytes.size(), *end + more.size()));
        std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(*end));
        *end += more.size();
        return std::nullopt;
    }
    auto sync() -> std::optional<allot::IoError> { return std::nullopt; }
    auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        const auto count = std::min({into.size(), step, bytes.size() - at});
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, into.begin());
        at += count;
        return count;
    }
    auto cut(std::uint64_t size) -> std::optional<allot::IoError> {
        bytes.resize(static_cast<std::size_t>(size));
        end.reset();
        return std::nullopt;
    }
    void seek(std::uint64_t to) {
        at = static_cast<std::size_t>(to);
        end = at;
    }
};

}  // namespace support
