// labels: vectors
// What a folder of recorded cases has to hold.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "vectors/cases.hpp"

namespace {

/// Another folder of recorded cases, as long as it lives: with these files, each of one case.
class Folder {
public:
    explicit Folder(const std::vector<std::string>& files) {
        std::filesystem::create_directory(path_);
        for (const auto& file : files) { std::ofstream{path_ / file} << "[{}]"; }
        REQUIRE(setenv("ALLOT_VECTORS", path_.c_str(), 1) == 0);
    }
    Folder(const Folder&) = delete;
    auto operator=(const Folder&) -> Folder& = delete;
    ~Folder() {
        (void)(was_.empty() ? unsetenv("ALLOT_VECTORS") : setenv("ALLOT_VECTORS", was_.c_str(), 1));
        std::filesystem::remove_all(path_);
    }

private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("allot_vectors_" + std::to_string(std::random_device{}()));
    std::string was_ = std::getenv("ALLOT_VECTORS") != nullptr ? std::getenv("ALLOT_VECTORS") : "";
};

}  // namespace

TEST_CASE("another folder of recorded cases need not have each file, and what is not there is passed over", "[V3]") {
    const auto folder = Folder{{"relay_priority.json"}};
    CHECK(support::cases("relay_priority").size() == 1);
    CHECK(support::cases("relay_qos_pool").empty());
}

TEST_CASE("a folder without any file of recorded cases is a failure, however many other files it has", "[V3]") {
    const auto folder = Folder{{"README.md", "other.json"}};
    CHECK_THROWS(support::cases("relay_priority"));
    CHECK_THROWS(support::cases("relay_qos_pool"));
}

TEST_CASE("our own folder has each file that a test reads", "[V3]") {
    const auto folder = Folder{{}};
    REQUIRE(setenv("ALLOT_VECTORS", "", 1) == 0);
    CHECK_THROWS(support::cases("no_such_file"));
    CHECK_FALSE(support::cases("relay_priority").empty());
}
