#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allot/journal/log.hpp>
#include <allot/journal/posix_file.hpp>

#include "support/catch.hpp"

// Stands in for the system's, and is interrupted as often as a test asks for.
static auto interrupted = 0;
extern "C" auto flock(int handle, int operation) noexcept -> int {
    if (interrupted > 0) {
        --interrupted;
        errno = EINTR;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_flock, handle, operation));
}

namespace {

using allot::IoError;
using allot::LogError;
using allot::LogMark;
using allot::PosixFile;
using Bytes = std::vector<std::uint8_t>;

// A folder that goes when the test does.
class Folder {
public:
    Folder() {
        auto name = (std::filesystem::temp_directory_path() / "allot-log-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    auto operator=(const Folder&) -> Folder& = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] auto file() const -> std::string { return (path_ / "log").string(); }

private:
    std::filesystem::path path_;
};

auto content(std::uint64_t i) -> Bytes {
    return Bytes(static_cast<std::size_t>(i % 50U), static_cast<std::uint8_t>(i));
}

// How many records are in the file; all of them have to be what was written.
auto recovered(PosixFile& file) -> LogMark {
    const auto mark = allot::recover(file, [](const allot::LogRecord& record) {
        const auto expected = content(record.position);
        CHECK(Bytes(record.body.begin(), record.body.end()) == expected);
    });
    REQUIRE(mark);
    return *mark;
}

void write_on(PosixFile& file, const LogMark& from, std::uint64_t to) {
    auto writer = allot::LogWriter{file, from};
    for (auto i = from.position; i < to; ++i) { REQUIRE(writer.append(content(i)) == i); }
    REQUIRE_FALSE(writer.sync());
}

}  // namespace

TEST_CASE("a log in a file is read, cut where it is torn, and written on") {
    const auto folder = Folder{};
    {
        auto file = PosixFile::to_write(folder.file());
        REQUIRE(file);
        CHECK(recovered(*file) == LogMark{});
        write_on(*file, {}, 100);
    }
    std::filesystem::resize_file(folder.file(),
                                 std::filesystem::file_size(folder.file()) - 24 - 3);  // the mark, and more
    {
        auto file = PosixFile::to_write(folder.file());
        REQUIRE(file);
        const auto mark = recovered(*file);
        CHECK(mark.position == 99);
        CHECK(mark.bytes == std::filesystem::file_size(folder.file()));
        write_on(*file, mark, 200);
    }
    auto file = PosixFile::to_read(folder.file());
    REQUIRE(file);
    auto reader = allot::LogReader{*file};
    while (reader.next()) {}
    CHECK_FALSE(reader.fault());
    CHECK(reader.mark().position == 200);
    CHECK(file->append(content(1)) == IoError::write_failed);  // it was opened to be read
}

TEST_CASE("a log that is recovered twice, and reopened where it stands, is written on at its end", "[J1]") {
    const auto folder = Folder{};
    auto size = std::uintmax_t{0};
    {
        auto file = PosixFile::to_write(folder.file());
        REQUIRE(file);
        write_on(*file, recovered(*file), 10);
        CHECK(recovered(*file).position == 10);  // as after a sync that failed: the same file, from its beginning
        write_on(*file, recovered(*file), 20);
        size = std::filesystem::file_size(folder.file());
    }
    auto file = PosixFile::to_write(folder.file());
    REQUIRE(file);
    REQUIRE_FALSE(file->append(Bytes(100)));  // nobody read it first: it goes to the end
    CHECK(std::filesystem::file_size(folder.file()) == size + 100);
    CHECK(recovered(*file).position == 20);
    CHECK(std::filesystem::file_size(folder.file()) == size);
}

TEST_CASE("a file that is not there is refused, and one that another writes to as being in use", "[J5]") {
    const auto folder = Folder{};
    CHECK(PosixFile::to_read(folder.file()).error() == IoError::read_failed);
    CHECK(PosixFile::to_write(folder.file() + "/in/no/folder").error() == IoError::write_failed);
    {
        const auto writing = PosixFile::to_write(folder.file());
        REQUIRE(writing);
        CHECK(PosixFile::to_write(folder.file()).error() == IoError::in_use);
        CHECK(PosixFile::to_read(folder.file()));
    }
    CHECK(PosixFile::to_write(folder.file()));
}

TEST_CASE("a signal while a file is opened changes nothing", "[J5]") {
    const auto folder = Folder{};
    interrupted = 2;
    CHECK(PosixFile::to_write(folder.file()));
    CHECK(interrupted == 0);
}

TEST_CASE("a full device says so") {
    if (!std::filesystem::exists("/dev/full")) { return; }
    auto file = PosixFile::to_write("/dev/full");
    if (file) {  // who may not open it proves nothing
        CHECK(file->append(content(7)) == IoError::no_space);
    }
}

TEST_CASE("a file that may not grow takes what fits, and the log recovers") {
    const auto folder = Folder{};
    // In a process of its own, for the limit stays.
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        auto limit = ::rlimit{1'000, 1'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto file = PosixFile::to_write(folder.file());
        auto writer = allot::LogWriter{*file};
        auto written = std::uint64_t{0};
        while (written < 1'000) {
            const auto appended = writer.append(content(written));
            if (!appended) { ::_exit(appended.error() == IoError::no_space ? 42 : 1); }
            ++written;
        }
        ::_exit(2);
    }
    auto status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 42);
    REQUIRE(std::filesystem::file_size(folder.file()) == 1'000);  // the last write was cut short
    auto file = PosixFile::to_write(folder.file());
    REQUIRE(file);
    const auto mark = recovered(*file);
    CHECK(mark.position > 10);
    CHECK(mark.bytes < 1'000 + 24);  // with a mark
    write_on(*file, mark, 100);
}

TEST_CASE("a signal in the middle of a write changes nothing") {
    // A pipe that is nearly full makes writes wait, so that signals interrupt them.
    auto ends = std::array<int, 2>{};
    REQUIRE(::pipe(ends.data()) == 0);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::close(ends[0]);
        struct sigaction quiet {};
        quiet.sa_handler = [](int) {};  // without SA_RESTART
        ::sigaction(SIGALRM, &quiet, nullptr);
        const auto often = ::itimerval{{0, 1'000}, {0, 1'000}};
        ::setitimer(ITIMER_REAL, &often, nullptr);
        auto file = PosixFile::to_append(ends[1]);
        ::_exit(file.append(Bytes(1'000'000, 7)) ? 1 : 0);
    }
    ::close(ends[1]);
    auto total = std::size_t{0};
    auto buffer = Bytes(10'000);
    while (true) {
        ::usleep(300);
        const auto got = ::read(ends[0], buffer.data(), buffer.size());
        if (got <= 0) { break; }
        total += static_cast<std::size_t>(got);
    }
    ::close(ends[0]);
    auto status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(total == 1'000'000);
}
