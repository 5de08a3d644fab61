#include "files.hpp"

#include <cstdio>

#include <fcntl.h>

#include <allot/journal/posix_file.hpp>

namespace service {

auto write_whole(const std::string& path, std::span<const std::uint8_t> bytes, ::mode_t mode)
    -> std::optional<allot::IoError> {
    const auto part = path + ".part";
    auto file = allot::PosixFile::to_append(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (const auto error = file.append(bytes)) { return error; }
    if (const auto error = file.sync()) { return error; }
    if (std::rename(part.c_str(), path.c_str()) != 0) { return allot::IoError::write_failed; }
    auto folder = allot::PosixFile::to_read(path.substr(0, path.rfind('/') + 1));
    return folder ? folder->sync() : allot::IoError::sync_failed;
}

}  // namespace service
