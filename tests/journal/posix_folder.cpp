#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <allot/allot.hpp>
#include <allot/journal/posix_folder.hpp>
#include <allot/journal/store.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace posix_folder_test {
namespace {

using allot::IoError;
using allot::PosixFolder;
using D = allot::Dispatcher<>;
using S = allot::Store<D, PosixFolder>;

// A folder that goes when the test does.
class Place {
public:
    Place() {
        auto name = (std::filesystem::temp_directory_path() / "allot-store-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Place(const Place&) = delete;
    auto operator=(const Place&) -> Place& = delete;
    ~Place() { std::filesystem::remove_all(path_); }
    [[nodiscard]] auto path() const -> std::string { return (path_ / "data").string(); }

private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("files of a folder are made, renamed, read and removed") {
    const auto place = Place{};
    auto folder = PosixFolder::open(place.path());
    REQUIRE(folder);
    const auto bytes = std::vector<std::uint8_t>{1, 2, 3};
    {
        auto file = folder->to_write("a");
        REQUIRE(file);
        REQUIRE_FALSE(file->append(bytes));
        REQUIRE_FALSE(file->sync());
    }
    REQUIRE_FALSE(folder->rename("a", "b"));
    REQUIRE_FALSE(folder->sync());
    auto names = *folder->names();
    CHECK(std::count(names.begin(), names.end(), "b") == 1);
    CHECK(std::count(names.begin(), names.end(), "a") == 0);
    auto file = folder->to_read("b");
    REQUIRE(file);
    auto read = std::vector<std::uint8_t>(10);
    CHECK(file->read(read) == 3);
    CHECK(folder->to_read("a").error() == IoError::read_failed);
    CHECK(folder->rename("a", "c") == IoError::write_failed);
    REQUIRE_FALSE(folder->remove("b"));
    CHECK(folder->remove("b") == IoError::write_failed);
}

TEST_CASE("a folder has one owner at a time, and one without a parent is refused") {
    const auto place = Place{};
    {
        const auto folder = PosixFolder::open(place.path());
        REQUIRE(folder);
        CHECK(PosixFolder::open(place.path()).error() == IoError::in_use);
    }
    CHECK(PosixFolder::open(place.path()));
    CHECK(PosixFolder::open(place.path() + "/in/nowhere").error() == IoError::write_failed);
}

TEST_CASE("a store in a folder outlasts a process that is killed") {
    const auto place = Place{};
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto store = S::open(*PosixFolder::open(place.path()), D{}, {.checkpoint_every = 30, .slice_bytes = 500});
        auto events = allot::Events{};
        for (auto i = 0; i < 100; ++i) {
            (void)store->apply(allot::command::Join{support::plain_node(i)}, support::at({}), events);
            (void)store->sync();
        }
        ::_exit(0);  // nothing is closed in order
    }
    auto status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    auto store = S::open(*PosixFolder::open(place.path()), D{});
    REQUIRE(store);
    CHECK(store->position() == 100);
    CHECK(store->dispatcher().state().nodes().size() == 100);
    CHECK(store->snapshots().size() == 2);
}

}  // namespace posix_folder_test
