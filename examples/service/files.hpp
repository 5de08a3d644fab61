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

/// Makes the folder, and notes to which preset and stake cap it belongs for ever: its log means nothing to others. A
/// folder of an older release, which noted the preset alone, takes this cap. Throws a sentence if it belongs to others.
void claim(const std::string& folder, const std::string& preset, const std::string& stake_cap);

}  // namespace service
