#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <allot/replica/attestation.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace attestation_test {
namespace {

using allot::Attestation;
using allot::AttestationTally;
using allot::DivergenceKind;
using allot::Hash256;

const auto right = Hash256{1};
const auto wrong = Hash256{2};

// A tally that attested `right` at the indices 1 to n.
auto noted(std::uint64_t n, std::uint32_t attested_max = 64) -> AttestationTally {
    auto tally = AttestationTally{};
    for (auto i = std::uint64_t{1}; i <= n; ++i) { tally.note({0, i, right, {}}, attested_max); }
    return tally;
}

auto bytes_of(const AttestationTally& tally) -> std::vector<std::uint8_t> {
    auto bytes = std::vector<std::uint8_t>{};
    auto out = allot::Encoder{bytes};
    tally.put(out);
    return bytes;
}

auto read(const std::vector<std::uint8_t>& bytes) -> std::pair<AttestationTally, bool> {
    auto in = allot::ByteReader{bytes};
    auto tally = AttestationTally::get(in);
    in.end();
    return {std::move(tally), !in.fault()};
}

}  // namespace

TEST_CASE("the agreed index is the latest one at which a majority voted for the own hashes") {
    auto tally = noted(3);
    CHECK(tally.agreed(3) == 0);
    (void)tally.vote({0, 2, right, {}}, 3);
    CHECK(tally.agreed(3) == 0);
    (void)tally.vote({1, 2, right, {}}, 3);
    CHECK(tally.agreed(3) == 2);
    (void)tally.vote({1, 3, wrong, {}}, 3);
    CHECK(tally.agreed(3) == 2);
    CHECK(tally.vote({2, 3, wrong, {}}, 3).diverged);  // a majority, for others
    CHECK(tally.agreed(3) == 2);
    CHECK(tally.agreed(4) == 0);
}

TEST_CASE("a majority of equal votes names the one that differs, once, whether it votes before or after them") {
    for (const auto bad : {0U, 1U, 2U}) {
        auto tally = noted(1);
        auto named = 0;
        for (auto round = 0; round < 3; ++round) {
            for (auto id = 0U; id < 3; ++id) {
                const auto result = tally.vote({id, 1, id == bad ? wrong : right, {}}, 3);
                CHECK_FALSE(result.diverged);
                for (const auto& s : result.suspects) {
                    ++named;
                    CHECK(s == allot::Divergence{1, bad, DivergenceKind::events, right, wrong});
                }
            }
        }
        CHECK(named == 1);
        CHECK(tally.undecided(3) == 0);
    }
}

TEST_CASE("a majority that differs stops this replica; less than one does not") {
    auto tally = noted(1);
    CHECK_FALSE(tally.vote({0, 1, right, {}}, 3).diverged);
    CHECK_FALSE(tally.vote({1, 1, wrong, {}}, 3).diverged);
    const auto result = tally.vote({2, 1, wrong, {}}, 3);
    REQUIRE(result.diverged);
    CHECK(result.diverged->mine == right);
    CHECK(result.diverged->theirs == wrong);
    auto four = noted(1);
    CHECK_FALSE(four.vote({0, 1, wrong, {}}, 4).diverged);
    CHECK_FALSE(four.vote({1, 1, wrong, {}}, 4).diverged);  // half is no majority
    CHECK(four.undecided(4) == 1);
    CHECK(four.vote({2, 1, wrong, {}}, 4).diverged);
}

TEST_CASE("votes of replicas that went count no more: they stop none that is right, and make no majority") {
    auto tally = noted(2);
    for (const auto id : {3U, 4U}) { CHECK_FALSE(tally.vote({id, 1, wrong, {}}, 5).diverged); }
    for (const auto id : {0U, 1U}) { CHECK_FALSE(tally.vote({id, 1, right, {}}, 5).diverged); }
    CHECK(tally.agreed(3) == 1);
    const auto result = tally.vote({2, 1, right, {}}, 3);  // now there are three, and all of them agree
    CHECK_FALSE(result.diverged);
    CHECK(result.suspects.empty());  // none of them differs
    for (const auto id : {3U, 4U}) { CHECK_FALSE(tally.vote({id, 2, right, {}}, 5).diverged); }
    CHECK(tally.undecided(3) == 1);
    CHECK(tally.agreed(3) == 1);
    CHECK_FALSE(tally.vote({0, 2, wrong, {}}, 3).diverged);
    CHECK(tally.vote({1, 2, wrong, {}}, 3).diverged);              // the majority of those that are left
    CHECK(tally.vote({2, 2, right, {}}, 5).suspects.size() == 2);  // there are five again
}

TEST_CASE("three votes that all differ stop no replica") {
    auto tally = noted(1);
    for (auto id = 0U; id < 3; ++id) {
        const auto result = tally.vote({id, 1, Hash256{static_cast<std::uint8_t>(id + 7)}, {}}, 3);
        CHECK_FALSE(result.diverged);
        CHECK(result.suspects.empty());
    }
    CHECK(tally.undecided(3) == 1);
}

TEST_CASE("a state root that differs under equal events is a divergence of the state") {
    auto tally = AttestationTally{};
    tally.note({0, 5, right, right}, 64);
    (void)tally.vote({1, 5, right, wrong}, 3);
    const auto result = tally.vote({2, 5, right, wrong}, 3);
    REQUIRE(result.diverged);
    CHECK(result.diverged->kind == DivergenceKind::state);
    CHECK(result.diverged->theirs == wrong);
}

TEST_CASE("doubled votes, votes of observers, and votes on the future or the forgotten past have no effect") {
    auto tally = noted(100, 10);
    const auto before = tally;
    constexpr auto last = std::numeric_limits<std::uint64_t>::max();
    for (const auto index : {std::uint64_t{0}, std::uint64_t{90}, std::uint64_t{101}, last}) {
        for (auto id = 0U; id < 3; ++id) { CHECK_FALSE(tally.vote({id, index, wrong, {}}, 3).diverged); }
    }
    for (const auto id : {3U, 63U, 64U, std::numeric_limits<std::uint32_t>::max()}) {
        CHECK_FALSE(tally.vote({id, 95, wrong, {}}, 3).diverged);
    }
    CHECK(tally == before);
    for (auto i = 0; i < 1'000; ++i) { CHECK_FALSE(tally.vote({1, 95, wrong, {}}, 3).diverged); }
    CHECK_FALSE(tally.vote({2, 95, right, {}}, 3).diverged);
    CHECK(tally.vote({0, 95, right, {}}, 3).suspects.size() == 1);
    CHECK(bytes_of(tally).size() < 2'000);
    CHECK(tally.own(91).has_value());
    CHECK_FALSE(tally.own(90).has_value());
}

TEST_CASE("a tally comes back from its bytes and from no others, and counts on") {
    auto random = std::mt19937_64{support::seed()};
    auto tally = AttestationTally{};
    for (auto i = std::uint64_t{1}; i < 40; ++i) {
        tally.note({0, 3 * i, Hash256{static_cast<std::uint8_t>(i)}, i % 4 == 0 ? std::optional{right} : std::nullopt},
                   8);
        (void)tally.vote({static_cast<std::uint32_t>(random() % 3), 3 * (i - random() % 3), right, {}}, 3);
        const auto bytes = bytes_of(tally);
        auto [again, good] = read(bytes);
        REQUIRE(good);
        REQUIRE(again == tally);
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            auto flipped = bytes;
            flipped[at] ^= static_cast<std::uint8_t>(1U << (random() % 8));
            const auto [other, taken] = read(flipped);
            REQUIRE((!taken || bytes_of(other) == flipped));
            REQUIRE_FALSE(read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)}).second);
        }
    }
}

}  // namespace attestation_test
