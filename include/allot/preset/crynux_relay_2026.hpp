#pragma once

#include <tuple>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/valuation/fee_per_weighted_second.hpp>

namespace allot { inline namespace v0 { namespace preset {

/// The relay of 2026 (spec: crynux.md 2.1 to 2.8), as far as single-node dispatch goes.
///
/// | what differs              | seed 001                                 | here                                              |
/// |---------------------------|------------------------------------------|---------------------------------------------------|
/// | locality                  | holders of any model, else everybody     | holders of all models, without fallback           |
/// | boost                     | 0.7 on disk, 0.3 loaded                  | 0.3 loaded                                        |
/// | value                     | fee per second                           | whole fee per second and 8 GiB                    |
/// | queue                     | one task a node, least 50; cheapest goes | without bound                                     |
/// | timeout outside a group   | a verdict of 0 (rule 19)                 | health only                                       |
/// | rejoining                 | leaves health as it is (rule 20)         | cures health                                      |
/// | copies of models          | threshold at a start                     | `DemandControl`, beside the dispatcher            |
///
/// The embedder lists only a task's base models, names the platforms of a text task (all but Darwin), keeps cards of rare names
/// out himself, and for strict rounds sends commands without entropy and calls `match` at each tick.
struct CrynuxRelay2026 {
    using role = role::preset;

    [[nodiscard]] auto policies() const {
        return std::tuple{
            Rules{{.narrowing = Narrowing::gate, .boost_on_disk = 0, .boost_in_use = 3}},
            HardwareFit{},
            HarmonicWeight{},
            GpuGroupPool{},
            ValueQueue{{.tasks_per_node = 0, .capacity_min = 0xFFFF'FFFFU}},
            RollingQos{{.score_floor = Score::zero(), .timeout_scores_zero = false, .rejoin_clears_health = true}},
            FeePerWeightedSecond{},
            ThresholdPlacement{{.holders_min = 0, .holders_target = 0}},
            FixedTerms{},
        };
    }
};

}}}  // namespace allot::v0::preset
