#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/node.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// A kind of node as a name policy tells kinds apart: card, VRAM and version (spec: crynux.md 2.3), and platform, which the relay
/// writes into the card's name.
struct ListedName {
    std::string gpu{};
    Gibibytes vram{};
    SoftwareVersion software{};
    std::string platform{};

    friend auto operator==(const ListedName&, const ListedName&) -> bool = default;
};
ALLOT_FIELDS(ListedName, gpu, vram, software, platform)

/// Parameters of `NameWhitelist`.
struct NameWhitelistParameters {
    std::vector<ListedName> names{};  ///< The kinds that are given tasks. None: every kind.

    friend auto operator==(const NameWhitelistParameters&, const NameWhitelistParameters&) -> bool = default;
};
ALLOT_FIELDS(NameWhitelistParameters, names)

/// Keeps tasks from all kinds of nodes but those listed. Stands beside another policy:
/// `AllOf{HardwareFit{}, NameWhitelist{{.names = {{"A100+Linux", 40_GiB, {1, 0, 0}}}}}}`.
///
/// The other half of the relay's name policy, how many nodes of a kind there must be, is `Rules::class_nodes_min`.
class NameWhitelist {
public:
    using role = role::eligibility;
    using Parameters = NameWhitelistParameters;
    static constexpr std::string_view name = "NameWhitelist";

    NameWhitelist() = default;
    explicit NameWhitelist(Parameters parameters) : parameters_{std::move(parameters)} {}

    /// @complexity linear in the names; asked once for each pair of class and requirement.
    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement&) const -> Reason {
        const auto& names = parameters_.names;
        const auto own = ListedName{node_class.gpu, node_class.vram, node_class.software, node_class.platform};
        return names.empty() || std::find(names.begin(), names.end(), own) != names.end() ? Reason::none : Reason::name_policy;
    }

    [[nodiscard]] auto admits(const Node&, const Task&, const Situation&) const noexcept -> Reason { return Reason::none; }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = parameters; }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
