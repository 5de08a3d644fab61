#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>

#include <allot/core/random.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Entropy;
using allot::Purpose;
using allot::Random;
using allot::u128;

constexpr auto subject = [] {
    auto bytes = Random::Subject{};
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::uint8_t>(i); }
    return bytes;
}();

auto stream(std::uint64_t entropy) -> Random { return Random{Entropy{entropy}, Purpose::dispatch, subject}; }

// Probability of counts as uneven as these from a uniform source.
auto p_value(const std::vector<std::uint64_t>& counts) -> double {
    auto total = 0.0;
    for (const auto count : counts) { total += static_cast<double>(count); }
    const auto expected = total / static_cast<double>(counts.size());
    auto sum = 0.0;
    for (const auto count : counts) {
        const auto difference = static_cast<double>(count) - expected;
        sum += difference * difference / expected;
    }
    const auto freedom = static_cast<double>(counts.size() - 1);
    return boost::math::cdf(boost::math::complement(boost::math::chi_squared{freedom}, sum));
}

struct HasEntropy {
    int time = 0;
    std::optional<Entropy> entropy{};
};
static_assert(HasEntropy{.time = 1, .entropy = 2026}.entropy == Entropy{2026});
static_assert(Entropy{2026} == Entropy{std::array<std::uint64_t, 4>{2026, 0, 0, 0}});
static_assert(Random{1, Purpose::dispatch, subject}.below(std::uint64_t{1}) == 0);

}  // namespace

TEST_CASE("a stream is pinned for ever") {
    // Made by an independent Python program from the definition: the 128-bit key is SipHash-2-4 under the key (words 0,
    // 1 of the entropy) of the words 2, 3, the purpose, the subject's bytes and attempt * 2^32 + index; word i is
    // SipHash-1-3 of i.
    const auto entropy = Entropy{std::array<std::uint64_t, 4>{0x0123'4567'89AB'CDEFU, 2, 3, 0xFEDC'BA98'7654'3210U}};
    auto random = Random{entropy, Purpose::placement, subject, 5, 6};
    CHECK(random.next() == 0x2E38'88DE'ABFA'3424U);
    CHECK(random.next() == 0x6083'FE25'54AD'50B8U);
    CHECK(random.next() == 0xF61F'998F'3216'5208U);
    CHECK(random.words_drawn() == 3);

    auto plain = Random{2026, Purpose::dispatch, subject};
    CHECK(plain.next() == 0x6D61'036E'6DE7'654FU);
    CHECK(plain.next() == 0xB5CF'5F14'52BA'7261U);
}

TEST_CASE("pinned numbers below a limit") {
    // floor(word * 1000 / 2^64) of the words 0, 1, 2 above; for 2^100 words 3 and 4 without their lowest 28 bits.
    auto random = Random{2026, Purpose::dispatch, subject};
    CHECK(random.below(std::uint64_t{1000}) == 427);
    CHECK(random.below(std::uint64_t{1000}) == 710);
    CHECK(random.below(std::uint64_t{1000}) == 278);
    CHECK(random.below(u128{1} << 100) == u128::from_parts(0x0000'0008'C4D2'50C6U, 0xD2BB'A866'9F97'C5ABU));
    CHECK(random.words_drawn() == 5);
}

TEST_CASE("every part of the key changes the stream") {
    auto first_words = std::set<std::uint64_t>{};
    auto streams = std::size_t{0};
    const auto add = [&](const Entropy& entropy, Purpose purpose, const Random::Subject& who, std::uint32_t attempt,
                         std::uint32_t index) {
        auto random = Random{entropy, purpose, who, attempt, index};
        first_words.insert(random.next());
        ++streams;
    };
    add(0, Purpose::dispatch, {}, 0, 0);
    for (std::size_t word = 0; word < 4; ++word) {
        for (auto bit = 0U; bit < 64; ++bit) {
            auto entropy = Entropy{};
            entropy.words[word] = std::uint64_t{1} << bit;
            add(entropy, Purpose::dispatch, {}, 0, 0);
        }
    }
    for (std::size_t byte = 0; byte < 32; ++byte) {
        for (auto bit = 0U; bit < 8; ++bit) {
            auto who = Random::Subject{};
            who[byte] = static_cast<std::uint8_t>(1U << bit);
            add(0, Purpose::dispatch, who, 0, 0);
        }
    }
    for (auto bit = 0U; bit < 32; ++bit) {
        add(0, Purpose::dispatch, {}, 1U << bit, 0);
        add(0, Purpose::dispatch, {}, 0, 1U << bit);
    }
    for (const auto purpose : {Purpose::placement, Purpose::validation, Purpose::system_test, Purpose::job}) {
        add(0, purpose, {}, 0, 0);
    }
    CHECK(first_words.size() == streams);
}

TEST_CASE("entropy is read from bytes with the lowest first") {
    auto bytes = std::array<std::uint8_t, 32>{};
    bytes[0] = 0xEA;
    bytes[1] = 0x07;
    CHECK(Entropy{bytes} == Entropy{2026});
    bytes[31] = 0x80;
    CHECK(Entropy{bytes}.words[3] == std::uint64_t{1} << 63U);
    CHECK(Entropy{bytes}.bytes() == bytes);
    CHECK(Entropy{subject}.bytes() == subject);
    CHECK(Entropy{subject}.words[1] == 0x0F0E'0D0C'0B0A'0908U);
}

TEST_CASE("numbers below a limit are below it and uniform") {
    for (const auto limit : {2ULL, 3ULL, 7ULL, 10ULL, 64ULL, 1000ULL}) {
        auto random = stream(allot_test::seed());
        auto words = std::vector<std::uint64_t>(limit);
        auto wides = std::vector<std::uint64_t>(limit);
        for (auto i = 0; i < 100'000; ++i) {
            ++words.at(random.below(std::uint64_t{limit}));
            ++wides.at(random.below(u128{limit}).low());
        }
        CAPTURE(limit);
        CHECK(p_value(words) > 1e-6);
        CHECK(p_value(wides) > 1e-6);
    }
}

TEST_CASE("a limit that divides nothing is met without bias") {
    // Below 3 * 2^62 a plain product of halves hits some thirds twice as often; below 3 * 2^126 so does a plain
    // remainder.
    auto random = stream(allot_test::seed());
    auto words = std::vector<std::uint64_t>(6);
    auto wides = std::vector<std::uint64_t>(6);
    auto parities = std::vector<std::uint64_t>(3);
    const auto limit = std::uint64_t{3} << 62U;
    for (auto i = 0; i < 60'000; ++i) {
        const auto number = random.below(limit);
        ++words.at(number >> 61U);
        ++parities.at(number % 3U);
        const auto wide = random.below(u128{3} << 126);
        ++wides.at((wide >> 125).low());
    }
    CHECK(p_value(words) > 1e-6);
    CHECK(p_value(parities) > 1e-6);
    CHECK(p_value(wides) > 1e-6);
    CHECK(random.words_drawn() > 60'000U * 3U * 5U / 4U);  // a quarter was refused, so refusal happens
}

TEST_CASE("the refused words are those of Lemire's method and no others") {
    auto seeds = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto limit = (seeds() >> (seeds() % 64U)) | 1U;
        auto random = stream(static_cast<std::uint64_t>(i));
        auto words = random;
        const auto refused = static_cast<std::uint64_t>((u128{1} << 64) % limit);
        auto product = allot::multiply_wide(words.next(), limit);
        while (product.low() < refused) { product = allot::multiply_wide(words.next(), limit); }
        REQUIRE(random.below(limit) == product.high());
        REQUIRE(random == words);
    }
}

TEST_CASE("a wide limit takes as many bits as it needs") {
    auto seeds = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto limit = u128::from_parts((seeds() >> (seeds() % 64U)) | 1U, seeds() % 3U == 0 ? 0 : seeds());
        auto random = stream(static_cast<std::uint64_t>(i));
        auto words = random;
        auto power = u128{1} << 64;
        auto bits = 64;
        while (bits < 128 && power < limit) {
            power <<= 1;
            ++bits;
        }
        auto expected = u128{};
        do {
            const auto high = words.next();
            expected = u128::from_parts(high, words.next()) >> (128 - bits);
        } while (expected >= limit);
        REQUIRE(random.below(limit) == expected);
        REQUIRE(random == words);
    }
    auto random = stream(1);
    auto copy = random;
    CHECK(random.below(u128{12345}) == u128{copy.below(std::uint64_t{12345})});
    CHECK(random.below(u128{1}) == 0);
    CHECK(random.below(u128::max()) < u128::max());
}

TEST_CASE("the bits of a stream are even") {
    auto random = stream(allot_test::seed());
    auto ones = std::array<std::uint64_t, 64>{};
    constexpr auto draws = std::uint64_t{40'000};
    for (std::uint64_t i = 0; i < draws; ++i) {
        const auto word = random.next();
        for (std::size_t bit = 0; bit < 64; ++bit) { ones[bit] += (word >> bit) & 1U; }
    }
    for (const auto count : ones) { CHECK(p_value({count, draws - count}) > 1e-8); }
    CHECK(random.words_drawn() == draws);
}
