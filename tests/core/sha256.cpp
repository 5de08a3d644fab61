#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <allot/core/sha256.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Sha256;

constexpr auto sha256(std::span<const std::uint8_t> message) -> allot::Hash256 {
    auto hasher = Sha256{};
    hasher.bytes(message);
    return hasher.finish();
}

auto hex(const allot::Hash256& hash) -> std::string {
    auto out = std::string{};
    for (const auto byte : hash) {
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    return out;
}

auto bytes_of(std::string_view text) -> std::vector<std::uint8_t> { return {text.begin(), text.end()}; }

auto hash_of(std::string_view text) -> std::string { return hex(sha256(bytes_of(text))); }

static_assert(sha256(std::array<std::uint8_t, 3>{'a', 'b', 'c'})[0] == 0xBA);
static_assert(sha256(std::array<std::uint8_t, 64>{})[0] == 0xF5);  // a block, and one more for the length
static_assert(sha256(std::array<std::uint8_t, 1'000>{})[0] == 0x54);

}  // namespace

TEST_CASE("SHA-256 gives the vectors of FIPS 180") {
    CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(hash_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 gives the further vectors of NIST: zeros, and lengths around a block") {
    CHECK(hash_of("\xbd") == "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
    CHECK(hash_of("\xc9\x8c\x8e\x55") == "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
    CHECK(hash_of(std::string(55, '\0')) == "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
    CHECK(hash_of(std::string(56, '\0')) == "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
    CHECK(hash_of(std::string(57, '\0')) == "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
    CHECK(hash_of(std::string(64, '\0')) == "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
    CHECK(hash_of(std::string(1'000, '\0')) == "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53");
    CHECK(hash_of(std::string(1'000, 'A')) == "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4");
    CHECK(hash_of(std::string(1'005, 'U')) == "f4d62ddec0f3dd90ea1380fa16a5ff8dc4c54b21740650f24afc4120903552b0");
    CHECK(hash_of(std::string(1'000'000, '\0')) == "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025");
}

TEST_CASE("messages of each length up to five blocks hash as another implementation says") {
    // The hash of all those hashes, one after the other, of the messages 0, 1, 2 ... modulo 251.
    auto all = Sha256{};
    auto message = std::vector<std::uint8_t>{};
    for (std::size_t length = 0; length <= 320; ++length) {
        all.bytes(sha256(message));
        message.push_back(static_cast<std::uint8_t>(length % 251U));
    }
    CHECK(hex(all.finish()) == "372cafb34ed1c019aa4a6b34126992760b927c973f51349d3c903a4b10d81193");
}

TEST_CASE(
    "whole blocks hash as pieces do: a message hashes alike however it is cut, and can be fed on after it was read",
    "[S6]") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 300; ++i) {
        auto message = std::vector<std::uint8_t>(random() % 400U);
        for (auto& byte : message) { byte = static_cast<std::uint8_t>(random()); }
        auto pieces = Sha256{};
        for (std::size_t at = 0; at < message.size();) {
            const auto length = std::min<std::size_t>(1 + random() % 90U, message.size() - at);
            pieces.bytes(std::span{message}.subspan(at, length));
            at += length;
            REQUIRE(pieces.finish() == sha256(std::span{message}.first(at)));
        }
    }
}
