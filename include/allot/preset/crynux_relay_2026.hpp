#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/name_whitelist.hpp>
#include <allot/valuation/fee_per_weighted_second.hpp>

namespace allot { inline namespace v0 { namespace preset {

/// The relay of 2026 (spec: crynux.md 2.1 to 2.8), limited to single-node dispatch.
///
/// | difference              | seed 001                             | here                                           |
/// | ----------------------- | ------------------------------------ | ---------------------------------------------- |
/// | locality                | holders of any model, else all       | holders of all models, without fallback        |
/// | boost                   | 0.7 on disk, 0.3 loaded              | 0.3 loaded                                     |
/// | cards of rare names     | as any                               | no task below 10 active nodes; maybe whitelist |
/// | value                   | fee per second                       | whole fee per second and 8 GiB                 |
/// | queue                   | one per node, least 50; evicts worst | unlimited                                      |
/// | timeout outside a group | a verdict of 0 (rule 19)             | health only                                    |
/// | rejoining               | leaves health as it is (rule 20)     | restores health                                |
/// | copies of models        | threshold at a start                 | `DemandControl`                                |
/// | estimates, timeouts     | the embedder's                       | `WorkloadCalibration`, `execution_timeout`     |
///
/// Tasks of the embedder:
/// - It calls `DemandControl`, `WorkloadCalibration` and `execution_timeout` outside the dispatcher.
/// - A relay name such as "RTX 4090+Linux" is a card and a platform here; without a plus sign the platform is "Darwin".
/// - A task lists its base models alone. A text task that names no card is submitted with
///   `.platforms_refused = {"Darwin"}`.
/// - For strict rounds commands come without entropy, and `match` at each tick. It visits the tasks from the highest
///   value down. A node is reserved for a task by starting the task, so it is taken for tasks of lower value; a task
///   without a node delays no other.
class CrynuxRelay2026 {
public:
    using role = role::preset;

    /// The composition. With a whitelist, nodes of other names get no task.
    explicit CrynuxRelay2026(std::uint32_t class_nodes_min = 10, std::vector<NodeClass> whitelist = {})
        : rules_{{.narrowing = Narrowing::gate,
                  .boost_on_disk = 0,
                  .boost_in_use = 3,
                  .class_nodes_min = class_nodes_min}},
          whitelist_{{.names = std::move(whitelist)}} {}

    [[nodiscard]] auto policies() const {
        return std::tuple{
            rules_,
            AllOf{HardwareFit{}, whitelist_},
            HarmonicWeight{},
            GpuGroupPool{},
            ValueQueue{{.tasks_per_node = 0, .capacity_min = 0xFFFF'FFFFU}},
            RollingQos{{.timeout_scores_zero = false, .rejoin_clears_health = true}},
            FeePerWeightedSecond{},
            ThresholdPlacement{{.holders_min = 0, .holders_target = 0}},
            FixedTerms{},
        };
    }

private:
    Rules rules_;
    NameWhitelist whitelist_;
};

}}}  // namespace allot::v0::preset
