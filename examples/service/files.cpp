#include "files.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>

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

void claim(const std::string& folder, const std::string& preset, const std::string& stake_cap) {
    (void)::mkdir(folder.c_str(), 0700);
    const auto path = folder + "/preset";
    auto file = std::ifstream{path};
    auto known = std::string{};
    if (file >> known && known != preset) {
        throw std::runtime_error{folder + ": belongs to the preset " + known + "; use --preset " + known};
    }
    if (file && file >> known) {
        if (known == stake_cap) { return; }
        throw std::runtime_error{folder + ": belongs to the stake cap " + known + "; use --stake-cap " + known};
    }
    if (const auto error = write_whole(path, preset + ' ' + stake_cap + '\n')) {
        throw std::runtime_error{path + ": " + std::string{message(*error)} + "; the folder above --data must exist"};
    }
}

}  // namespace service
