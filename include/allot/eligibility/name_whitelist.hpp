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
    std::vector<NodeClass> names{};  ///< The classes that may run tasks. Empty: every class.

    friend auto operator==(const NameWhitelistParameters&, const NameWhitelistParameters&) -> bool = default;
};
ALLOT_FIELDS(NameWhitelistParameters, names)

/// Refuses all node classes but the listed ones. It is combined with another policy:
///
///     AllOf{HardwareFit{}, NameWhitelist{{.names = {{"A100", 40_GiB, "Linux", {1, 0, 0}}}}}}
///
/// At the relay a name is card and platform in one, with VRAM and version (spec: crynux.md 2.3); it is a class here.
/// The other half of its name policy, the least number of nodes of a name, is `Rules::class_nodes_min`.
class NameWhitelist {
public:
    using role = role::eligibility;
    using Parameters = NameWhitelistParameters;
    static constexpr std::string_view name = "NameWhitelist";

    NameWhitelist() = default;
    explicit NameWhitelist(Parameters parameters) : parameters_{std::move(parameters)} {}

    /// `Reason::none` for a listed class, and for every class if the list is empty.
    /// @complexity linear in the names; called once for each pair of class and requirement.
    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement&) const -> Reason {
        const auto& names = parameters_.names;
        const auto listed = names.empty() || std::find(names.begin(), names.end(), node_class) != names.end();
        return listed ? Reason::none : Reason::name_policy;
    }

    [[nodiscard]] auto admits(const Node&, const Task&, const Situation&) const noexcept -> Reason {
        return Reason::none;
    }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = parameters; }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
