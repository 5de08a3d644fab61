#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/core/sha256_lanes.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace sha256_lanes_test {
namespace {

using allot::Sha256;
using Message = std::vector<std::uint8_t>;
using Messages = std::array<Message, allot::sha256_lanes>;

auto any_message(std::mt19937_64& random, std::size_t length) -> Message {
    auto message = Message(length);
    for (auto& byte : message) { byte = static_cast<std::uint8_t>(random()); }
    return message;
}

void check(const Messages& messages) {
    auto spans = std::array<std::span<const std::uint8_t>, allot::sha256_lanes>{};
    for (std::size_t i = 0; i < spans.size(); ++i) { spans[i] = messages[i]; }
    const auto hashes = allot::sha256_each(spans);
    for (std::size_t i = 0; i < spans.size(); ++i) {
        INFO("message " << i << " of " << messages[i].size() << " bytes");
        REQUIRE(hashes[i] == Sha256{}.bytes(messages[i]).finish());
    }
}

}  // namespace

TEST_CASE("messages of equal length hash in step as they do alone, for each length up to five blocks") {
    auto random = std::mt19937_64{support::seed()};
    for (std::size_t length = 0; length <= 320; ++length) {
        auto messages = Messages{};
        for (auto& message : messages) { message = any_message(random, length); }
        check(messages);
    }
}

TEST_CASE("messages of any lengths hash in step as they do alone") {
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 2'000; ++i) {
        auto messages = Messages{};
        for (auto& message : messages) { message = any_message(random, random() % (random() % 3 == 0 ? 2'000 : 150)); }
        check(messages);
    }
}

TEST_CASE("blocks in step from any start give the words of each alone") {
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 200; ++i) {
        const auto start = Sha256{}.bytes(any_message(random, 64)).state();
        auto messages = Messages{};
        auto blocks = std::array<const std::uint8_t*, allot::sha256_lanes>{};
        for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
            messages[lane] = any_message(random, 64);
            blocks[lane] = messages[lane].data();
        }
        auto lanes = allot::Sha256Lanes{start};
        lanes.compress(blocks);
        for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
            REQUIRE(lanes.state(lane) == Sha256::compressed(start, messages[lane]));
        }
    }
}

}  // namespace sha256_lanes_test
