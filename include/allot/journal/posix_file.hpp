#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <allot/journal/log_io.hpp>

namespace allot { inline namespace v0 {

/// A file as a sink and a source of bytes for `LogWriter`, `LogReader` and `recover`, on POSIX systems. No other header
/// but those of its kind needs a system.
///
/// Appending and reading do not disturb each other. Only one process at a time may have it open for writing. It is
/// opened without `O_APPEND`: with it, `recover` could not write unsynced records again in place, because every write
/// would go to the end.
class PosixFile {
public:
    /// Opens a log for reading and writing, and creates it if it is missing. Refuses a log open for writing elsewhere:
    /// `in_use`.
    [[nodiscard]] static auto to_write(const std::string& path) -> Result<PosixFile, IoError> {
        auto file = open(path, O_RDWR | O_CREAT);
        if (!file) { return file; }
        if (again([&] { return ::flock(file->handle_, LOCK_EX | LOCK_NB); }) != 0) {
            return FailureOf<IoError>{errno == EWOULDBLOCK ? IoError::in_use : IoError::write_failed};
        }
        // A new file outlasts a crash only once its folder is synced.
        const auto slash = path.rfind('/');
        auto folder = open(slash == std::string::npos ? "." : path.substr(0, slash + 1), O_RDONLY | O_DIRECTORY);
        if (!folder || folder->sync() || (::lseek(file->handle_, 0, SEEK_END) < 0 && errno != ESPIPE)) {
            return FailureOf<IoError>{IoError::write_failed};
        }
        return file;
    }
    /// Opens a log for reading. Error: `read_failed`.
    [[nodiscard]] static auto to_read(const std::string& path) -> Result<PosixFile, IoError> {
        return open(path, O_RDONLY);
    }
    /// Takes over an open handle, such as a pipe.
    [[nodiscard]] static auto to_append(int handle) noexcept -> PosixFile { return PosixFile{handle}; }

    PosixFile(PosixFile&& other) noexcept : handle_{std::exchange(other.handle_, -1)}, read_at_{other.read_at_} {}
    auto operator=(PosixFile&& other) noexcept -> PosixFile& {
        std::swap(handle_, other.handle_);
        std::swap(read_at_, other.read_at_);
        return *this;
    }
    ~PosixFile() {
        if (handle_ >= 0) { ::close(handle_); }
    }

    /// Writes all the bytes at the end, or at the place set by `seek` or `cut`. Error: `no_space` or `write_failed`.
    /// @complexity linear in the bytes.
    [[nodiscard]] auto append(std::span<const std::uint8_t> bytes) -> std::optional<IoError> {
        while (!bytes.empty()) {
            const auto written = again([&] { return ::write(handle_, bytes.data(), bytes.size()); });
            if (written <= 0) {
                const auto full = written == 0 || errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
                return full ? IoError::no_space : IoError::write_failed;
            }
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
        return std::nullopt;
    }

    /// Waits until the device has stored all appended bytes. After a failure pages may be lost although they look
    /// written, so a second attempt would prove nothing.
    [[nodiscard]] auto sync() -> std::optional<IoError> {
        if (again([&] { return ::fsync(handle_); }) != 0) { return IoError::sync_failed; }
        return std::nullopt;
    }

    /// Reads on from the end of the last read, first from the beginning. Error: `read_failed`.
    [[nodiscard]] auto read(std::span<std::uint8_t> into) -> Result<std::size_t, IoError> {
        const auto got = again([&] { return ::pread(handle_, into.data(), into.size(), read_at_); });
        if (got < 0) { return FailureOf<IoError>{IoError::read_failed}; }
        read_at_ += got;
        return static_cast<std::size_t>(got);
    }

    /// Drops all but the first `bytes` bytes.
    [[nodiscard]] auto cut(std::uint64_t bytes) -> std::optional<IoError> {
        if (again([&] { return ::ftruncate(handle_, static_cast<::off_t>(bytes)); }) != 0) {
            return IoError::write_failed;
        }
        seek(bytes);
        return std::nullopt;
    }
    /// Moves the next read or write behind the first `bytes` bytes.
    void seek(std::uint64_t bytes) noexcept {
        read_at_ = static_cast<::off_t>(bytes);
        (void)::lseek(handle_, read_at_, SEEK_SET);  // fails for a pipe, which needs no seek
    }

private:
    explicit PosixFile(int handle) noexcept : handle_{handle} {}

    static auto open(const std::string& path, int flags) -> Result<PosixFile, IoError> {
        const auto handle = again([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); });
        if (handle < 0) {
            return FailureOf<IoError>{(flags & O_CREAT) != 0 ? IoError::write_failed : IoError::read_failed};
        }
        return PosixFile{handle};
    }

    /// Repeats a call that a signal interrupted.
    template <class Call>
    static auto again(Call&& call) -> decltype(call()) {
        while (true) {
            const auto result = call();
            if (result >= 0 || errno != EINTR) { return result; }
        }
    }

    int handle_;
    ::off_t read_at_ = 0;
};

}}  // namespace allot::v0
