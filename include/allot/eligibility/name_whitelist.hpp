#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/node.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `NameWhitelist`.
struct NameWhitelistParameters {
    std::vector<NodeClass> names{};  ///< The classes that are given tasks. None: every class.

    friend auto operator==(const NameWhitelistParameters&, const NameWhitelistParameters&) -> bool = default;
};
ALLOT_FIELDS(NameWhitelistParameters, names)

/// Keeps tasks from all classes of nodes but those listed. Stands beside another policy:
/// `AllOf{HardwareFit{}, NameWhitelist{{.names = {{"A100", 40_GiB, "Linux", {1, 0, 0}}}}}}`.
///
/// A name at the relay is card and platform in one, with VRAM and version (spec: crynux.md 2.3): a class here. The other half of
/// its name policy, how many nodes of a name there must be, is `Rules::class_nodes_min`.
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
        const auto listed = names.empty() || std::find(names.begin(), names.end(), node_class) != names.end();
        return listed ? Reason::none : Reason::name_policy;
    }

    [[nodiscard]] auto admits(const Node&, const Task&, const Situation&) const noexcept -> Reason { return Reason::none; }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = parameters; }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
