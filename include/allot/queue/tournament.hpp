#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 {

/// The winner among many players that change one at a time.
///
/// Players are numbered from 0; the caller decides which of two beats the other, and reports each change of a player. A
/// binary tree of matches stores the number of each winner: 8 to 16 bytes per player.
class Tournament {
public:
    static constexpr std::uint32_t nobody = 0xFFFF'FFFFU;

    /// The best player, or `nobody`.
    /// @complexity O(1).
    [[nodiscard]] auto winner() const noexcept -> std::uint32_t { return winners_.empty() ? nobody : winners_[1]; }

    /// Makes room for players below `players`, which do not take part yet. If an allocation throws, nothing changes.
    /// @complexity O(players) when their number passes a power of two, else O(1).
    void reserve(std::uint32_t players) {
        const auto leaves = std::bit_ceil(std::size_t{players});
        if (2 * leaves <= winners_.size()) { return; }
        auto winners = std::vector<std::uint32_t>(2 * leaves, nobody);
        // The former tree becomes the left end of a higher one.
        for (std::size_t to = leaves, from = winners_.size() / 2; from > 0; to /= 2, from /= 2) {
            for (std::size_t i = 0; i < from; ++i) { winners[to + i] = winners_[from + i]; }
        }
        for (auto match = leaves / 2; match > 0; match /= 2) {
            winners[match] = winners[match] == nobody ? winners[2 * match] : winners[match];
        }
        winners_ = std::move(winners);
    }

    /// Gives back the room of the players from `players` on. Changes no result.
    /// @pre none of them takes part.
    /// @complexity O(1), or linear in the room that is given back.
    void trim(std::uint32_t players) noexcept {
        const auto leaves = std::bit_ceil(std::size_t{players});
        if (4 * leaves > winners_.size()) { return; }
        const auto parts = winners_.size() / 2 / leaves;  // the first of these trees stays
        for (auto match = std::size_t{1}; match <= leaves; match *= 2) {
            for (std::size_t i = 0; i < match; ++i) { winners_[match + i] = winners_[match * parts + i]; }
        }
        detail::shrink_to(winners_, 2 * leaves);
    }

    /// Repeats the matches that depend on `player`, which now takes part or does not. `beats(p, q)` is a strict total
    /// order of the players that take part.
    /// @pre there is room for the player; `beats` does not throw.
    /// @complexity O(log n) comparisons, mostly fewer.
    template <class Beats>
    void changed(std::uint32_t player, bool plays, const Beats& beats) {
        auto match = winners_.size() / 2 + player;
        ALLOT_ASSERT(match < winners_.size(), "Tournament::changed: no room for this player; call reserve() first");
        winners_[match] = plays ? player : nobody;
        while (match > 1) {
            match /= 2;
            const auto a = winners_[2 * match];
            const auto b = winners_[2 * match + 1];
            const auto winner = b == nobody || (a != nobody && beats(a, b)) ? a : b;
            if (winner == winners_[match] && winner != player) {
                return;  // the changed player has no part in the matches further up
            }
            winners_[match] = winner;
        }
    }

private:
    std::vector<std::uint32_t> winners_;  // [1] the final, [2] and [3] the matches before it ...; the players
                                          // themselves last
};

}}  // namespace allot::v0
