#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/handle.hpp>
#include <allot/core/stake_root.hpp>

namespace allot { inline namespace v0 {

/// The largest stake that the stored weight bounds are made for, while it changes.
///
/// Let A be the root of the largest stake, W(A) a node's weight and T(A) = W(A) * A. W never rises with A, and T never
/// falls (seed 001, staking score; `laws::monotone`). A bound made for a ceiling c is W(c). Draws rescale each weight
/// to T(A) / `unit`. While `unit` is at least A and at least c, the bound holds: T(A) <= T(c) for A below c, and W(A)
/// <= W(c) for A above it.
///
/// So a large stake that joins or leaves only needs `unit` to be raised at once. The bounds are then looser, at worst
/// by `slack` powers of two, until all nodes have been renewed, one stretch of handles per command.
///
/// Invariant: `unit >= from` and `unit >= to`; all are powers of two or zero. Bounds are a function of the records and
/// of this.
struct Ceilings {
    StakeRoot unit{};           ///< Weights are rescaled to it.
    StakeRoot from{};           ///< The ceiling of nodes from `renewed` on.
    StakeRoot to{};             ///< The ceiling of nodes before it.
    std::uint32_t renewed = 0;  ///< Handles renewed so far; zero at rest, when `from` equals `to`.

    /// The ceiling that a node's bound is made for. A node with a larger root uses its own, which `unit` covers as
    /// well.
    [[nodiscard]] constexpr auto of(NodeHandle node, StakeRoot root) const noexcept -> StakeRoot {
        return std::max(node.value < renewed ? to : from, ceil_power_of_two(root));
    }

    /// True while bounds are being renewed.
    [[nodiscard]] constexpr auto moving() const noexcept -> bool { return from != to; }

    /// Powers of two by which the loosest bound may exceed the weight, in addition to its excess at rest.
    [[nodiscard]] constexpr auto slack() const noexcept -> int {
        const auto least = std::min(from, to);
        if (unit.is_zero()) {
            return 0;  // no node ever had any stake: bounds are as tight as the scores
        }
        return least.is_zero() ? slack_max : std::min(exponent_gap(least, unit), slack_max);
    }

    /// True if `following` would change nothing.
    [[nodiscard]] constexpr auto follows(StakeRoot largest) const noexcept -> bool {
        return largest.is_zero() ||
               (largest <= unit && (moving() || (largest <= to && exponent_gap(largest, to) <= gap_max)));
    }

    /// The ceilings adapted to the largest stake. The unit follows at once. At rest the aim of the next renewal follows
    /// when the root of that stake has risen above the ceiling or fallen below a quarter of it.
    [[nodiscard]] constexpr auto following(StakeRoot largest) const noexcept -> Ceilings {
        if (follows(largest)) { return *this; }
        const auto tight = ceil_power_of_two(largest);
        return {std::max(unit, tight), from, moving() ? to : tight, renewed};
    }

    /// The ceilings after a renewal of `stretch` more handles, of those below `end`. Once all are renewed they are at
    /// rest, in the tightest unit.
    [[nodiscard]] constexpr auto renewed_by(std::uint32_t stretch, std::uint32_t end, StakeRoot largest) const noexcept
        -> Ceilings {
        auto next = *this;
        if (!moving()) { return next; }
        if (renewed < end) {
            next.renewed = renewed + std::min(stretch, end - renewed);
        } else {
            next = {std::max(to, ceil_power_of_two(largest)), to, to, 0};
        }
        return next;
    }

    friend constexpr auto operator==(const Ceilings&, const Ceilings&) noexcept -> bool = default;

    /// Bounds at rest are made for at most this many powers of two above the root of the largest stake.
    static constexpr int gap_max = 2;
    /// Above 2^10, adding up the weights is as fast as a random draw by trial.
    static constexpr int slack_max = 10;
};

}}  // namespace allot::v0
