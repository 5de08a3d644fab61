#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <allot/validation/commitment.hpp>
#include <allot/validation/comparison.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Comparison;
using allot::same_result;
using Bytes = std::vector<std::uint8_t>;

auto zeros(std::size_t length) -> Bytes { return Bytes(length); }

/// `length` zero bytes with that many bits set from a bit on.
auto with_bits(std::size_t length, std::size_t from, std::size_t count) -> Bytes {
    auto bytes = zeros(length);
    for (auto bit = from; bit < from + count; ++bit) {
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | (1U << (bit % 8U)));
    }
    return bytes;
}

}  // namespace

TEST_CASE("results are the same when fewer bits than the distance differ in each block") {
    for (const auto distance : {1U, 5U, 24U, 64U}) {
        const auto comparison = Comparison::hamming(distance);
        REQUIRE(comparison.valid());
        for (std::size_t bits = 0; bits <= 64; ++bits) {
            CAPTURE(distance, bits);
            REQUIRE(same_result(comparison, zeros(8), with_bits(8, 0, bits)) == (bits < distance));
            REQUIRE(same_result(comparison, zeros(24), with_bits(24, 64, bits)) ==
                    (bits < distance));  // one block of three
        }
    }
    CHECK(same_result(Comparison::hamming(5), zeros(16), with_bits(16, 60, 8)));  // 4 + 4
    CHECK_FALSE(same_result(Comparison::hamming(5), zeros(16), with_bits(16, 59, 9)));
    CHECK_FALSE(same_result({5, 0}, zeros(16), with_bits(16, 60, 8)));  // all of it is one block
    CHECK(same_result({9, 0}, zeros(16), with_bits(16, 60, 8)));
}

TEST_CASE("results of another length or of broken blocks are never the same") {
    CHECK_FALSE(same_result(Comparison::hamming(64), zeros(8), zeros(16)));
    CHECK_FALSE(same_result(Comparison::hamming(64), zeros(9), zeros(9)));
    CHECK_FALSE(same_result(Comparison::exact(), zeros(8), zeros(9)));
    CHECK(same_result(Comparison::exact(), zeros(9), zeros(9)));
    CHECK(same_result(Comparison::exact(), {}, {}));
    CHECK(Comparison{} == Comparison::exact());
    CHECK_FALSE(Comparison{.distance = 0}.valid());  // D37: nothing would be the same
}

TEST_CASE("an exact comparison is equality, and any is symmetric") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        auto a = zeros(random() % 4U);
        auto b = zeros(random() % 4U);
        for (auto* bytes : {&a, &b}) {
            for (auto& byte : *bytes) { byte = static_cast<std::uint8_t>(random() % 3U); }
        }
        REQUIRE(same_result(Comparison::exact(), a, b) == (a == b));
        const auto near =
            Comparison{static_cast<std::uint32_t>(1 + random() % 5U), static_cast<std::uint32_t>(random() % 3U)};
        REQUIRE(same_result(near, a, b) == same_result(near, b, a));
        REQUIRE((a != b || a.size() % std::max(1U, near.block_bytes) != 0 || same_result(near, a, b)));
    }
}

TEST_CASE("a commitment hides its group, and opens with group, nonce and work alone") {
    constexpr auto commit = allot::CommitmentOf{};
    auto seen = std::set<allot::Hash256>{};
    for (const auto* group : {"g", "h"}) {
        for (std::uint8_t nonce = 0; nonce < 10; ++nonce) {
            for (std::uint8_t work = 7; work < 9; ++work) { seen.insert(commit({group, {nonce}}, {work})); }
        }
    }
    CHECK(seen.size() == 40);
    CHECK(commit({"g", {1}}, {7}) == commit({"g", {1}}, {7}));
    // SHA-256 of "allot validation group", 32 bytes "g" padded, the nonce 1 padded, and the work 7 padded.
    CHECK(allot::NodeId{commit({"g", {1}}, {7})}.hex() ==
          "ce5a7c8932d039ad50e3d25543c1f2bd99cd6bc2ea3df9333f27159a912e0331");
}
