// labels: vectors
// The draws of both contract generations, number by number: their stream of chance is made here and meets our weights
// and sums.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/pool/sum_tree.hpp>
#include <allot/weight/contract_weight.hpp>

#include "support/keccak.hpp"
#include "vectors/cases.hpp"

namespace {

using namespace support;
using Bytes = std::vector<std::uint8_t>;

auto bytes(const std::string& hex) -> Bytes {
    const auto digit = [](char c) {
        const auto value = std::string{"0123456789abcdef"}.find(c);
        REQUIRE(value != std::string::npos);
        return static_cast<std::uint8_t>(value);
    };
    REQUIRE(hex.size() % 2 == 0);
    auto out = Bytes{};
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        out.push_back(static_cast<std::uint8_t>(digit(hex[i]) * 16U + digit(hex[i + 1])));
    }
    return out;
}
auto hex(std::span<const std::uint8_t> digest) -> std::string {
    auto out = std::string{};
    for (const auto byte : digest) {
        out += "0123456789abcdef"[byte / 16];
        out += "0123456789abcdef"[byte % 16];
    }
    return out;
}

/// A contract's stream: the hash of seed and count, as a number of 256 bits; the count goes on with each number.
class Stream {
public:
    explicit Stream(const Json& row)
        : seed_{bytes(row["seed"].get<std::string>().substr(2))}, count_{row["nonce"].get<std::uint64_t>()} {
        REQUIRE(seed_.size() == 32);
    }
    /// The next number modulo `limit`, which is below 2^63.
    auto below(std::uint64_t limit) -> std::uint64_t {
        auto message = seed_;
        message.resize(64);
        for (std::size_t i = 0; i < 8; ++i) { message[63 - i] = static_cast<std::uint8_t>(count_ >> (8 * i)); }
        ++count_;
        auto rest = allot::u128{};
        for (const auto byte : keccak256(message)) {
            rest = (rest * allot::u128{256} + allot::u128{byte}) % allot::u128{limit};
        }
        return rest.low();
    }

private:
    Bytes seed_;
    std::uint64_t count_;
};
auto numbers(const Json& list) -> std::vector<std::uint64_t> { return list.get<std::vector<std::uint64_t>>(); }

}  // namespace

TEST_CASE("Keccak-256 gives the vectors of its authors") {
    const auto hash = [](const Bytes& message) { return hex(keccak256(message)); };
    CHECK(hash({}) == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    CHECK(hash({0xCC}) == "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a");
    CHECK(hash({0x41, 0xFB}) == "a8eaceda4d47b3281a795ad9e1ea2122b407baf9aabcb9e18b5717b7873537d2");
    // The hash of all hashes, one after the other, of the messages 0, 1, 2 ... modulo 251 of each length up to three
    // blocks, as a second implementation gives it whose SHA-3 is that of Python's hashlib.
    auto all = Bytes{};
    auto message = Bytes{};
    for (std::size_t length = 0; length <= 408; ++length) {
        const auto one = keccak256(message);
        all.insert(all.end(), one.begin(), one.end());
        message.push_back(static_cast<std::uint8_t>(length % 251));
    }
    CHECK(hash(all) == "80693672bf4a3446b7f8718fc56972af5ffc967a94fcc7787c10dfc770bf889a");
}

// Where a point of the sum falls is one question to the contracts' prefix search and to the tree under our pool.
TEST_CASE("a point of the sum falls where the first contracts' draw says") {
    for (const auto& row : cases("contracts_v1_multinomial")) {
        CAPTURE(row.dump());
        auto tree = allot::SumTree{};
        auto slot = std::uint32_t{0};
        for (const auto weight : numbers(row["weights"])) {
            REQUIRE(weight < std::uint64_t{1} << 32U);
            tree.set(slot, static_cast<std::uint32_t>(weight), slot);
            ++slot;
        }
        CHECK(tree.find(Stream{row}.below(tree.total())).slot == row["index"].get<std::uint32_t>());
    }
}

// The second contracts draw by a race: the least of -log2(r) / weight wins, r even in (0, 1); k winners are the first
// k.
TEST_CASE("in the second contracts' race our weights win as theirs do") {
    for (const auto& row : cases("contracts_v2_random")) {
        CAPTURE(row.dump());
        const auto weights = numbers(row["weights"]);
        auto stream = Stream{row};
        auto race = std::vector<std::pair<double, std::uint64_t>>{};
        for (std::size_t i = 0; i < weights.size(); ++i) {
            constexpr auto one = std::uint64_t{1'000'000'000'000'000'000};
            const auto r = static_cast<double>(1 + stream.below(one - 1)) / static_cast<double>(one);
            const auto stake = allot::StakeRoot::from(400U);  // which counts for nothing
            const auto full = *std::max_element(weights.begin(), weights.end());
            const auto score = allot::Score::from_ratio(weights[i], full);
            const auto weight = allot::ContractWeight{}.weight({}, {}, {stake, stake, score});
            race.emplace_back(-std::log2(r) / as_double(weight), i);
        }
        std::sort(race.begin(), race.end());
        if (row["op"] == "choice") {
            CHECK(race.at(0).second == row["index"].get<std::uint64_t>());
        } else {
            REQUIRE(row["op"] == "choices");
            const auto winners = numbers(row["indices"]);
            REQUIRE(winners.size() == row["k"].get<std::size_t>());
            for (std::size_t i = 0; i < winners.size(); ++i) { CHECK(race.at(i).second == winners[i]); }
        }
    }
}
