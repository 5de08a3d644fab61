#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/handle.hpp>
#include <allot/core/stake_root.hpp>

namespace allot { inline namespace v0 {

/// Which largest stake the stored bounds of weights are made for, while it moves.
///
/// With A the root of the largest stake, W(A) a node's weight and T(A) = W(A) * A: W never rises with A, and T never falls (seed
/// 001, staking score; `laws::monotone`). A bound made for a ceiling c is W(c). Draws rescale each weight to T(A) / `unit`.
/// While `unit` is no smaller than A and no smaller than c, the bound holds, whether A lies below c (T(A) <= T(c)) or above it
/// (W(A) <= W(c)). So when a whale joins or leaves nothing has to be done at once but to raise the unit; the bounds only lie
/// looser, at worst by `slack` powers of two, until all nodes have been gone through, a stretch of handles a command.
///
/// Invariant: `unit >= from` and `unit >= to`; all are powers of two or zero. Bounds are a function of the records and of this.
struct Ceilings {
    StakeRoot unit{};            ///< What weights are rescaled to.
    StakeRoot from{};            ///< The ceiling of nodes from `renewed` on.
    StakeRoot to{};              ///< The ceiling of nodes before it.
    std::uint32_t renewed = 0;   ///< Handles gone through; zero at rest, when `from` equals `to`.

    /// The ceiling that a node's bound is made for. A node above it has its own, which `unit` covers as well.
    [[nodiscard]] constexpr auto of(NodeHandle node, StakeRoot root) const noexcept -> StakeRoot {
        return std::max(node.value < renewed ? to : from, ceil_power_of_two(root));
    }

    /// True while bounds are being renewed.
    [[nodiscard]] constexpr auto moving() const noexcept -> bool { return from != to; }

    /// Powers of two by which the loosest bound may lie above the weight beside what it does at rest.
    [[nodiscard]] constexpr auto slack() const noexcept -> int {
        const auto least = std::min(from, to);
        if (unit.is_zero()) {
            return 0;  // nobody ever had any stake: bounds are as tight as the scores
        }
        return least.is_zero() ? slack_max : std::min(exponent_gap(least, unit), slack_max);
    }

    /// True when `following` would change nothing.
    [[nodiscard]] constexpr auto follows(StakeRoot largest) const noexcept -> bool {
        return largest.is_zero() || (largest <= unit && (moving() || (largest <= to && exponent_gap(largest, to) <= gap_max)));
    }

    /// In step with the largest stake: the unit at once, and at rest the aim of the next renewal, once the largest stake rose
    /// above the ceiling or fell to a quarter of it.
    [[nodiscard]] constexpr auto following(StakeRoot largest) const noexcept -> Ceilings {
        if (follows(largest)) {
            return *this;
        }
        const auto tight = ceil_power_of_two(largest);
        return {std::max(unit, tight), from, moving() ? to : tight, renewed};
    }

    /// After `stretch` more handles, of those below `end`; once all are done, at rest in the tightest unit.
    [[nodiscard]] constexpr auto renewed_by(std::uint32_t stretch, std::uint32_t end, StakeRoot largest) const noexcept
        -> Ceilings {
        auto next = *this;
        if (!moving()) {
            return next;
        }
        if (renewed < end) {
            next.renewed = std::min(end, renewed + stretch);
        } else {
            next = {std::max(to, ceil_power_of_two(largest)), to, to, 0};
        }
        return next;
    }

    friend constexpr auto operator==(const Ceilings&, const Ceilings&) noexcept -> bool = default;

    /// Bounds at rest are made for at most so many powers of two above the largest stake's.
    static constexpr int gap_max = 2;
    /// Beyond a thousand times looser, adding the weights up is as good as trying.
    static constexpr int slack_max = 10;
};

}}  // namespace allot::v0
