#pragma once

#include <algorithm>
#include <string_view>

#include <allot/policy/eligibility.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// The default eligibility. Hardware, platform and version decide about classes; nodes that the task avoids, and
/// operators of other members of its validation group, are refused one by one.
///
/// A task that lists cards takes exactly those (rule 10), and its `vram_min` counts only for a card listed without
/// VRAM. Otherwise every card with at least `vram_min` fits (seed 001, "Candidate Pool").
struct HardwareFit {
    using role = role::eligibility;
    static constexpr std::string_view name = "HardwareFit";
    static constexpr bool listed_cards_only = true;

    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement& requirement) const -> Reason {
        if (const auto reason = card(node_class, requirement); reason != Reason::none) { return reason; }
        const auto& platforms = requirement.platforms;
        if (!platforms.empty() && !std::binary_search(platforms.begin(), platforms.end(), node_class.platform)) {
            return Reason::platform_refused;
        }
        const auto& refused = requirement.platforms_refused;
        if (std::binary_search(refused.begin(), refused.end(), node_class.platform)) {
            return Reason::platform_refused;
        }
        if (requirement.software && !node_class.software.serves(*requirement.software)) {
            return Reason::version_too_old;
        }
        return Reason::none;
    }

    [[nodiscard]] auto admits(const Node&, const Task&, const Situation& situation) const noexcept -> Reason {
        if (situation.avoided) { return Reason::avoided; }
        return situation.same_operator ? Reason::same_operator : Reason::none;
    }

private:
    [[nodiscard]] static auto card(const NodeClass& node_class, const Requirement& requirement) -> Reason {
        if (requirement.gpus.empty()) {
            return node_class.vram >= requirement.vram_min ? Reason::none : Reason::vram_too_small;
        }
        const auto before = [](const GpuChoice& choice, const std::string& name) { return choice.name < name; };
        const auto end = requirement.gpus.end();
        auto choice = std::lower_bound(requirement.gpus.begin(), end, node_class.gpu, before);
        for (; choice != end && choice->name == node_class.gpu; ++choice) {
            const auto any_vram = choice->vram == Gibibytes{};
            if (any_vram ? node_class.vram >= requirement.vram_min : node_class.vram == choice->vram) {
                return Reason::none;
            }
        }
        return Reason::gpu_differs;
    }
};

}}  // namespace allot::v0
