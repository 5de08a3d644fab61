#pragma once

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Several eligibility policies combined: the first reason against a node counts. Example:
/// `AllOf{HardwareFit{}, Mine{}}`.
template <eligibility... Policies>
class AllOf {
public:
    using role = role::eligibility;
    static constexpr std::string_view name = "AllOf";
    static constexpr bool listed_cards_only = (allot::listed_cards_only<Policies> || ...);
    static constexpr bool admits_by_stake = (allot::admits_by_stake<Policies> || ...);

    constexpr AllOf() = default;
    constexpr explicit AllOf(Policies... policies) requires(sizeof...(Policies) > 0)
        : policies_{std::move(policies)...} {}

    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement& requirement) const -> Reason {
        return first([&](const auto& policy) { return policy.fits(node_class, requirement); });
    }

    [[nodiscard]] auto admits(const Node& node, const Task& task, const Situation& situation) const -> Reason {
        return first([&](const auto& policy) { return policy.admits(node, task, situation); });
    }

    /// The least of their greatest fees. @complexity linear in the policies.
    [[nodiscard]] constexpr auto fee_max() const -> Amount requires(has_fee_max<Policies> || ...) {
        auto least = Amount{(u128{1} << 96) - u128{1}};
        const auto ask = [&](const auto& policy) {
            if constexpr (has_fee_max<std::remove_cvref_t<decltype(policy)>>) {
                least = std::min(least, policy.fee_max());
            }
        };
        std::apply([&](const auto&... policy) { (ask(policy), ...); }, policies_);
        return least;
    }

    /// The greatest of their least stakes. @complexity linear in the policies.
    [[nodiscard]] constexpr auto stake_min(Amount fee) const -> Amount requires(has_stake_min<Policies> || ...) {
        auto greatest = Amount{};
        const auto ask = [&](const auto& policy) {
            if constexpr (has_stake_min<std::remove_cvref_t<decltype(policy)>>) {
                greatest = std::max(greatest, policy.stake_min(fee));
            }
        };
        std::apply([&](const auto&... policy) { (ask(policy), ...); }, policies_);
        return greatest;
    }

    /// The policies. A dispatcher configures, compares and records each part by itself.
    [[nodiscard]] constexpr auto parts() const noexcept -> const std::tuple<Policies...>& { return policies_; }
    [[nodiscard]] constexpr auto parts() noexcept -> std::tuple<Policies...>& { return policies_; }

private:
    template <class Ask>
    [[nodiscard]] auto first(Ask ask) const -> Reason {
        auto reason = Reason::none;
        std::apply([&](const auto&... policy) { (void)((reason = ask(policy), reason != Reason::none) || ...); },
                   policies_);
        return reason;
    }

    std::tuple<Policies...> policies_;
};

template <class... Policies>
AllOf(Policies...) -> AllOf<Policies...>;

}}  // namespace allot::v0
