#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <allot/core/fields.hpp>
#include <allot/core/node.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/task.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `Collateral`.
struct CollateralParameters {
    Ratio stake_per_fee = 0;  ///< Stake that a node needs for each unit of the fee of its task. 0: none.
    /// A stake that most honest nodes have. A task whose fee needs more is refused: few nodes could run it, so a flood
    /// of such tasks would fill the queue and wait there at no cost.
    Amount stake_max = (u128{1} << 96) - u128{1};

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {stake_per_fee.den >= 1, "allot: Collateral: stake_per_fee must have a denominator of at least 1"},
            {stake_max.admitted(), "allot: Collateral: stake_max must be below 2^96"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const CollateralParameters&, const CollateralParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(CollateralParameters, stake_per_fee, stake_max)

/// Refuses a task to nodes whose stake does not cover its fee. It is combined with another policy:
/// `AllOf{HardwareFit{}, Collateral{{.stake_per_fee = 10}}}`.
///
/// **Law.** When a node starts a task, its stake is at least `stake_per_fee` times the fee. Where stake that is taken
/// away can still be forfeited (`Resting`), it can be lost for `unbond_after` yet. So the gain from a false result is a
/// known part of the stake that is lost for it, if the result is checked within that time. Choose it longer than a
/// lease with its renewals and the time of a check.
///
/// Each node of a gang needs stake for the whole fee, because those that complete share all of it. A pinned task needs
/// no stake, because the network itself vouches for its node.
///
/// A draw takes more tries where small stakes outweigh those that cover the fee, and may find no node. A free node
/// whose stake covers none of the best waiting tasks pulls nothing (`pull_tries_max`); `match` tries further ones.
/// Stake that is added covers fees at once.
class Collateral {
public:
    using role = role::eligibility;
    using Parameters = CollateralParameters;
    static constexpr bool admits_by_stake = true;

    constexpr Collateral() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit Collateral(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto fits(const NodeClass&, const Requirement&) const noexcept -> Reason {
        return Reason::none;
    }

    /// `Reason::stake_too_small` for a node whose stake does not cover the fee.
    /// @pre fee and stake are admitted. @complexity O(1).
    [[nodiscard]] constexpr auto admits(const Node& node, const Task& task, const Situation&) const noexcept -> Reason {
        return node.stake < stake_min(task.fee) ? Reason::stake_too_small : Reason::none;
    }

    /// The least stake that covers a fee, rounded up.
    /// @pre the fee is admitted. @complexity O(1).
    [[nodiscard]] constexpr auto stake_min(Amount fee) const noexcept -> Amount {
        const auto ratio = parameters_.stake_per_fee;
        return (fee.units * u128{ratio.num} + u128{ratio.den - std::uint32_t{1}}) / std::uint64_t{ratio.den};
    }

    /// The greatest fee that `stake_max` covers. @complexity O(1).
    [[nodiscard]] constexpr auto fee_max() const noexcept -> Amount {
        constexpr auto any = (u128{1} << 96) - u128{1};
        const auto ratio = parameters_.stake_per_fee;
        return ratio.num == 0 ? any
                              : std::min(any, parameters_.stake_max.units * u128{ratio.den} / std::uint64_t{ratio.num});
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
