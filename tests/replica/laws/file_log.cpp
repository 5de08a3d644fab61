#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <stdlib.h>

#include <allot/journal/posix_folder.hpp>
#include <allot/replica/laws/ordered_log.hpp>

#include "support/catch.hpp"
#include "support/file_ordered_log.hpp"

namespace file_log_test {
namespace {

using allot::IoError;
using support::MemoryFolder;

// Reads a folder that a store has open.
struct PosixReader {
    std::filesystem::path path;

    [[nodiscard]] auto names() const -> allot::Result<std::vector<std::string>, IoError> {
        auto all = std::vector<std::string>{};
        for (const auto& one : std::filesystem::directory_iterator{path}) { all.push_back(one.path().filename()); }
        return all;
    }
    [[nodiscard]] auto to_read(const std::string& name) const { return allot::PosixFile::to_read(path / name); }
};

}  // namespace

TEST_CASE("a log in files keeps the laws of an ordered log, and drops what was compacted") {
    auto name = (std::filesystem::temp_directory_path() / "allot-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    {
        auto log = support::FileOrderedLog<allot::PosixFolder, PosixReader>{
            [&] { return *allot::PosixFolder::open(name); }, PosixReader{name}};
        CHECK(allot::laws::ordered_log(log, 1, 1'000).value_or("") == "");
        CHECK(log.compactions() > 1);
        CHECK(log.read(0, 1).error() == allot::OrderedLogError::compacted);
    }
    std::filesystem::remove_all(name);
}

TEST_CASE("a log in files keeps the laws of an ordered log while its machine loses power at any operation") {
    auto compactions = 0;
    for (auto seed = std::uint64_t{1}; seed <= 4; ++seed) {
        INFO("seed " << seed);
        auto disk = support::MemoryDisk{seed};
        const auto crash_within = [&](std::size_t operations) {
            if (disk.below(4) == 0) { disk.crash_after(static_cast<int>(disk.below(operations))); }
        };
        const auto restarted = [&] {
            disk.lose_power();
            crash_within(1'000);
            return MemoryFolder{disk};
        };
        auto log = support::FileOrderedLog<MemoryFolder, MemoryFolder>{restarted, MemoryFolder{disk},
                                                                       [&] { crash_within(20); }};
        CHECK(allot::laws::ordered_log(log, seed, 1'000).value_or("") == "");
        CHECK(log.restarts() > 20);
        compactions += log.compactions();
    }
    CHECK(compactions > 10);
}

}  // namespace file_log_test
