#include <cstdint>
#include <optional>
#include <vector>

#include <allot/queue/tournament.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::Tournament;

namespace {

/// Players with a score, or out of the game; the highest score wins, then the lowest number.
struct Game {
    std::vector<std::optional<std::uint32_t>> scores;
    Tournament tournament;

    void set(std::uint32_t player, std::optional<std::uint32_t> score) {
        if (player >= scores.size()) { scores.resize(player + std::size_t{1}); }
        scores[player] = score;
        tournament.reserve(player + 1);
        tournament.changed(player, score.has_value(), [&](std::uint32_t p, std::uint32_t q) {
            return scores[p] != scores[q] ? *scores[p] > *scores[q] : p < q;
        });
    }
    auto expected() const -> std::uint32_t {
        auto best = Tournament::nobody;
        for (std::uint32_t p = 0; p < scores.size(); ++p) {
            if (scores[p] && (best == Tournament::nobody || *scores[p] > *scores[best])) { best = p; }
        }
        return best;
    }
};

}  // namespace

TEST_CASE("nobody wins while nobody plays") {
    auto game = Game{};
    CHECK(game.tournament.winner() == Tournament::nobody);

    game.set(40, 7);
    CHECK(game.tournament.winner() == 40);

    game.set(40, std::nullopt);
    CHECK(game.tournament.winner() == Tournament::nobody);
}

TEST_CASE("the winner is the best of all players after any change") {
    auto random = support::seed();
    const auto next = [&] {
        random ^= random << 13U;
        random ^= random >> 7U;
        random ^= random << 17U;
        return static_cast<std::uint32_t>(random >> 20U);
    };
    for (const auto players : {1U, 16U, 17U, 256U, 257U, 5'000U}) {
        auto game = Game{};
        for (auto change = 0; change < 2'000; ++change) {
            const auto player = next() % players;
            game.set(player, next() % 3 == 0 ? std::nullopt : std::optional{next() % 50});
            REQUIRE(game.tournament.winner() == game.expected());
        }
    }
}

TEST_CASE("room that is given back changes no winner") {
    for (const auto left : {0U, 1U, 2U, 3U, 16U, 17U, 64U, 69U}) {
        auto game = Game{};
        for (std::uint32_t player = 0; player < 70; ++player) { game.set(player, player * 37 % 70); }
        for (auto player = left; player < 70; ++player) { game.set(player, std::nullopt); }
        game.tournament.trim(left);
        CAPTURE(left);
        CHECK(game.tournament.winner() == game.expected());
        for (std::uint32_t player = 0; player < left; ++player) {
            game.set(player, player * 53 % 70);
            REQUIRE(game.tournament.winner() == game.expected());
        }
        game.set(500, 100);
        CHECK(game.tournament.winner() == 500);
        game.set(500, std::nullopt);
        CHECK(game.tournament.winner() == game.expected());
    }
}

TEST_CASE("room for more players changes no winner") {
    auto game = Game{};
    game.tournament.reserve(0);
    CHECK(game.tournament.winner() == Tournament::nobody);
    for (std::uint32_t player = 0; player < 70; ++player) {
        game.set(player, 1'000 - player);
        REQUIRE(game.tournament.winner() == 0);
    }
    game.tournament.reserve(5'000);
    game.tournament.reserve(3);
    CHECK(game.tournament.winner() == 0);
    game.set(0, std::nullopt);
    CHECK(game.tournament.winner() == 1);
    game.set(4'999, 2'000);
    CHECK(game.tournament.winner() == 4'999);
}
