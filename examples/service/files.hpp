#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sys/types.h>

#include <allot/journal/log_io.hpp>

namespace service {

/// Writes a file so that it outlasts a crash. A crash or an error leaves the former file, or none.
[[nodiscard]] auto write_whole(const std::string& path, std::span<const std::uint8_t> bytes, ::mode_t mode = 0666)
    -> std::optional<allot::IoError>;
/// The same for text.
[[nodiscard]] inline auto write_whole(const std::string& path, const std::string& text) {
    return write_whole(path, std::span{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace service
