#pragma once

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allot/journal/log_io.hpp>
#include <allot/journal/posix_file.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// A folder of a POSIX system, for a `Store`. Only one process at a time may have it open.
class PosixFolder {
public:
    using File = PosixFile;

    /// Opens a folder, and creates it if it is missing; its parent has to be there. Holds a lock on the file `lock` in
    /// it. Refuses a folder that is open elsewhere: `in_use`.
    [[nodiscard]] static auto open(std::string path) -> Result<PosixFolder, IoError> {
        if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
            return FailureOf<IoError>{errno == ENOSPC ? IoError::no_space : IoError::write_failed};
        }
        path += '/';
        auto lock = PosixFile::to_write(path + "lock");
        if (!lock) { return FailureOf<IoError>{lock.error()}; }
        return PosixFolder{std::move(path), *std::move(lock)};
    }

    /// The names of its files, in any order. Error: `read_failed`. @complexity linear in the files.
    [[nodiscard]] auto names() const -> Result<std::vector<std::string>, IoError> {
        const auto close = [](::DIR* d) { (void)::closedir(d); };
        const auto all = std::unique_ptr<::DIR, decltype(close)>{::opendir(path_.c_str()), close};
        if (all == nullptr) { return FailureOf<IoError>{IoError::read_failed}; }
        auto names = std::vector<std::string>{};
        // Cleared before each call: an allocation between two of them may set it, too.
        for (errno = 0; const auto* one = ::readdir(all.get()); errno = 0) { names.emplace_back(one->d_name); }
        if (errno != 0) { return FailureOf<IoError>{IoError::read_failed}; }
        return names;
    }
    /// Opens a file for reading. Error: as `PosixFile::to_read`.
    [[nodiscard]] auto to_read(const std::string& name) const -> Result<PosixFile, IoError> {
        return PosixFile::to_read(path_ + name);
    }
    /// Opens a file for writing. Error: as `PosixFile::to_write`.
    [[nodiscard]] auto to_write(const std::string& name) const -> Result<PosixFile, IoError> {
        return PosixFile::to_write(path_ + name);
    }
    /// Gives a file another name, in one step. Error: `write_failed`.
    [[nodiscard]] auto rename(const std::string& from, const std::string& to) const -> std::optional<IoError> {
        return result_of(std::rename((path_ + from).c_str(), (path_ + to).c_str()));
    }
    /// Removes a file. Error: `write_failed`.
    [[nodiscard]] auto remove(const std::string& name) const -> std::optional<IoError> {
        return result_of(::unlink((path_ + name).c_str()));
    }
    /// Waits until the device has stored all names. Error: `sync_failed`.
    [[nodiscard]] auto sync() const -> std::optional<IoError> {
        auto folder = PosixFile::to_read(path_);
        return folder ? folder->sync() : IoError::sync_failed;
    }

private:
    PosixFolder(std::string path, PosixFile lock) : path_{std::move(path)}, lock_{std::move(lock)} {}
    static auto result_of(int code) -> std::optional<IoError> {
        return code == 0 ? std::nullopt : std::optional{IoError::write_failed};
    }

    std::string path_;
    PosixFile lock_;
};

}}  // namespace allot::v0
