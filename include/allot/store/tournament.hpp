#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// The winner among many players that change one at a time.
///
/// Players are numbered from 0; the caller says who beats whom, and tells when a player's standing changed. Each level keeps, for
/// every sixteen players below, the number of the best.
///
/// @complexity `changed` O(log16 n) levels of sixteen comparisons; `winner` O(1).
class Tournament {
public:
    static constexpr std::uint32_t nobody = 0xFFFF'FFFFU;

    /// The best player, or `nobody`.
    [[nodiscard]] auto winner() const noexcept -> std::uint32_t { return levels_.empty() ? nobody : levels_.back().front(); }

    /// Plays again what depends on `player`. `plays(p)` says whether p takes part, `beats(p, q)` is a strict total order of those
    /// who do; all players below `players` may be asked about.
    template <class Plays, class Beats>
    void changed(std::uint32_t player, std::uint32_t players, const Plays& plays, const Beats& beats) {
        grow(players, plays, beats);
        auto block = player / fan_out;
        auto best = best_player(block, players, plays, beats);
        for (std::size_t level = 0;; ++level) {
            levels_[level][block] = best;
            if (level + 1 == levels_.size()) {
                return;
            }
            block /= fan_out;
            best = best_of(levels_[level], block, beats);
        }
    }

private:
    static constexpr std::uint32_t fan_out = 16;

    template <class Plays, class Beats>
    [[nodiscard]] static auto best_player(std::uint32_t block, std::uint32_t players, const Plays& plays,
                                          const Beats& beats) -> std::uint32_t {
        auto best = nobody;
        for (auto p = block * fan_out; p < std::min(players, (block + 1) * fan_out); ++p) {
            if (plays(p) && (best == nobody || beats(p, best))) {
                best = p;
            }
        }
        return best;
    }

    template <class Beats>
    [[nodiscard]] static auto best_of(const std::vector<std::uint32_t>& level, std::uint32_t block, const Beats& beats)
        -> std::uint32_t {
        auto best = nobody;
        const auto end = std::min<std::size_t>(level.size(), std::size_t{block + 1} * fan_out);
        for (auto i = std::size_t{block} * fan_out; i < end; ++i) {
            if (level[i] != nobody && (best == nobody || beats(level[i], best))) {
                best = level[i];
            }
        }
        return best;
    }

    template <class Plays, class Beats>
    void grow(std::uint32_t players, const Plays& plays, const Beats& beats) {
        const auto blocks = (std::size_t{players} + fan_out - 1) / fan_out;
        if (!levels_.empty() && levels_.front().size() >= blocks) {
            return;
        }
        levels_.assign(1, std::vector<std::uint32_t>(std::max<std::size_t>(1, blocks + blocks / 4), nobody));
        for (std::uint32_t block = 0; block < blocks; ++block) {
            levels_.front()[block] = best_player(block, players, plays, beats);
        }
        while (levels_.back().size() > 1) {
            const auto& below = levels_.back();
            auto above = std::vector<std::uint32_t>((below.size() + fan_out - 1) / fan_out, nobody);
            for (std::uint32_t block = 0; block < above.size(); ++block) {
                above[block] = best_of(below, block, beats);
            }
            levels_.push_back(std::move(above));
        }
    }

    std::vector<std::vector<std::uint32_t>> levels_;  // from blocks of players up to the one winner
};

}}  // namespace allot::v0
