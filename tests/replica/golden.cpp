#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "replica/support.hpp"
#include "support/catch.hpp"

// Logs are kept for ever, so each entry is read for ever as it was written. golden/v1.txt has one line of hex digits
// for each entry below, as version 1 wrote it. A new kind of entry is appended here, and to a file of its own version:
// ALLOT_WRITE_GOLDEN=v2 writes the lines that are missing.

namespace replica_golden_test {
namespace {

using namespace replica_support;

auto entries() -> std::vector<Entry> {
    const auto request = Request{"session", 7, {join(1), submit(2), allot::command::Match{}}, {1, 2, 3}};
    auto parameters = allot::ReplicaParameters{};
    parameters.replicas = 5;
    parameters.beacon = allot::BeaconKind::given;
    const auto state = allot::Hash256{9, 8, 7};
    return {
        {1, 2, at(3), body::Requests<Command>{}},
        {1, 0xFFFF'FFFF'FFFF'FFFFU, at(1'700'000'000'000), body::Requests<Command>{{request, request}}},
        {0, 5, at(6), body::Tick{77, allot::Hash256{1, 2, 3}}},
        {2, 5, at(6), body::Attest{{2, 64, allot::Hash256{4}, {}}}},
        {2, 5, at(6), body::Attest{{2, 65'536, allot::Hash256{4}, state}}},
        {0, 5, at(-1), body::Parameters{3, parameters}},
        {0, 5, at(6), body::Register{"session", "client", {}}},
        {0, 5, at(6), body::Register{"session", "client", at(9)}},
        {0, 5, at(6), body::Operator<Command>{4, {allot::command::Postpone{allot::Duration{8}}}}},
        {0, 5, at(6), body::ChainHead{2, state}},
    };
}

auto hex(const Bytes& bytes) -> std::string {
    auto out = std::string{};
    for (const auto byte : bytes) { out += fmt::format("{:02x}", byte); }
    return out;
}

auto lines() -> std::vector<std::string> {
    auto all = std::vector<std::string>{};
    const auto folder = std::filesystem::path{ALLOT_TESTS_DIR} / "replica" / "golden";
    for (const auto* name : {"v1.txt"}) {
        auto file = std::ifstream{folder / name};
        for (auto line = std::string{}; std::getline(file, line);) { all.push_back(line); }
    }
    return all;
}

}  // namespace

TEST_CASE("an entry that was ever written is read, and is written so again") {
    const auto all = entries();
    const auto golden = lines();
    if (const auto* version = std::getenv("ALLOT_WRITE_GOLDEN")) {
        const auto folder = std::filesystem::path{ALLOT_TESTS_DIR} / "replica" / "golden";
        std::filesystem::create_directories(folder);
        auto file = std::ofstream{folder / (std::string{version} + ".txt"), std::ios::app};
        for (auto i = golden.size(); i < all.size(); ++i) { file << hex(allot::encode_entry(all[i])) << '\n'; }
    }
    REQUIRE(lines().size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(i);
        const auto bytes = allot::encode_entry(all[i]);
        CHECK(hex(bytes) == lines()[i]);
        const auto decoded = allot::decode_entry<Command>(bytes);
        REQUIRE(decoded);
        CHECK(allot::encode_entry(*decoded) == bytes);
        CHECK(decoded->body.index() == all[i].body.index());
    }
}

}  // namespace replica_golden_test
