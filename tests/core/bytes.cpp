#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <allot/core/bytes.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::ByteReader;
using allot::ByteWriter;
using allot::DecodeError;
using allot::DecodeFault;

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("numbers are written at full width, the lowest byte first") {
    auto out = Bytes{0xEE};
    auto writer = ByteWriter{out};
    writer.integer(std::uint8_t{0x01});
    writer.integer(std::uint16_t{0x0203});
    writer.integer(std::uint32_t{0x0405'0607});
    writer.integer(std::uint64_t{0x0809'0A0B'0C0D'0E0F});
    writer.bytes(std::array<std::uint8_t, 2>{0xAA, 0xBB});
    CHECK(out == Bytes{0xEE, 1, 3, 2, 7, 6, 5, 4, 0x0F, 0x0E, 0x0D, 0x0C, 0x0B, 0x0A, 9, 8, 0xAA, 0xBB});

    auto reader = ByteReader{out};
    CHECK(reader.integer<std::uint8_t>() == 0xEE);
    CHECK(reader.integer<std::uint8_t>() == 0x01);
    CHECK(reader.integer<std::uint16_t>() == 0x0203);
    CHECK(reader.integer<std::uint32_t>() == 0x0405'0607);
    CHECK(reader.integer<std::uint64_t>() == 0x0809'0A0B'0C0D'0E0F);
    CHECK(reader.remaining() == 2);
    CHECK(reader.bytes(2)[1] == 0xBB);
    reader.end();
    CHECK_FALSE(reader.fault());
}

TEST_CASE("what a reader takes is what a writer gave") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 1'000; ++i) {
        const auto a = static_cast<std::uint16_t>(random());
        const auto b = random();
        const auto c = static_cast<std::uint32_t>(random());
        auto out = Bytes{};
        auto writer = ByteWriter{out};
        writer.integer(a);
        writer.integer(b);
        writer.integer(c);
        REQUIRE(out.size() == 14);
        auto reader = ByteReader{out};
        REQUIRE(reader.integer<std::uint16_t>() == a);
        REQUIRE(reader.integer<std::uint64_t>() == b);
        REQUIRE(reader.integer<std::uint32_t>() == c);
    }
}

TEST_CASE("a reader stops at the end, and says where the value began that is cut off") {
    const auto bytes = Bytes{1, 2, 3, 4, 5, 6};
    auto reader = ByteReader{bytes};
    CHECK(reader.integer<std::uint32_t>() == 0x0403'0201);
    CHECK(reader.integer<std::uint32_t>() == 0);
    CHECK(reader.fault() == DecodeFault{DecodeError::truncated, 4});
    CHECK(reader.remaining() == 0);
    CHECK(reader.integer<std::uint8_t>() == 0);
    CHECK(reader.bytes(1).empty());
    CHECK(reader.count() == 0);
    reader.fail(DecodeError::out_of_range);
    reader.end();
    CHECK(reader.fault() == DecodeFault{DecodeError::truncated, 4});
}

TEST_CASE("an empty message is cut off at its first value") {
    auto reader = ByteReader{{}};
    CHECK_FALSE(reader.fault());
    CHECK(reader.integer<std::uint8_t>() == 0);
    CHECK(reader.fault() == DecodeFault{DecodeError::truncated, 0});
}

TEST_CASE("a count that the bytes cannot fill is refused") {
    auto bytes = Bytes{0xFF, 3, 0, 0, 0, 'a', 'b', 'c'};
    auto reader = ByteReader{bytes};
    (void)reader.integer<std::uint8_t>();
    CHECK(reader.count() == 3);

    bytes[1] = 4;
    auto other = ByteReader{bytes};
    (void)other.integer<std::uint8_t>();
    CHECK(other.count() == 0);
    CHECK(other.fault() == DecodeFault{DecodeError::count_too_large, 1});

    bytes[4] = 0xFF;
    auto huge = ByteReader{bytes};
    (void)huge.integer<std::uint8_t>();
    CHECK(huge.count() == 0);
    CHECK(huge.fault() == DecodeFault{DecodeError::count_too_large, 1});
}

TEST_CASE("a fault names what was read last, and the first one stays") {
    const auto bytes = Bytes{1, 2, 3, 4};
    auto reader = ByteReader{bytes};
    (void)reader.integer<std::uint8_t>();
    (void)reader.integer<std::uint16_t>();
    reader.fail(DecodeError::enumerator_unknown);
    CHECK(reader.fault() == DecodeFault{DecodeError::enumerator_unknown, 1});
    CHECK(reader.integer<std::uint8_t>() == 0);
    CHECK(reader.fault() == DecodeFault{DecodeError::enumerator_unknown, 1});
}

TEST_CASE("bytes that nobody asked for are a fault") {
    const auto bytes = Bytes{1, 2, 3};
    auto reader = ByteReader{bytes};
    (void)reader.integer<std::uint16_t>();
    reader.end();
    CHECK(reader.fault() == DecodeFault{DecodeError::trailing_bytes, 2});
}

TEST_CASE("each decode error has a sentence of its own") {
    auto seen = std::vector<std::string_view>{};
    for (auto number = 1; number <= 9; ++number) {
        const auto text = message(static_cast<DecodeError>(number));
        CHECK(text != "unknown error");
        for (const auto other : seen) { CHECK(text != other); }
        seen.push_back(text);
    }
    CHECK(message(DecodeError{0}) == "unknown error");
    CHECK(message(DecodeError{10}) == "unknown error");
}
