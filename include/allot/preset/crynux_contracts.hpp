#pragma once

#include <tuple>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/qos/contract_qos.hpp>
#include <allot/valuation/fee_per_size.hpp>
#include <allot/weight/contract_weight.hpp>

namespace allot { inline namespace v0 { namespace preset {

// Both generations of the contracts (spec: crynux.md 1), limited to single-node dispatch.
//
// | difference       | seed 001                         | C1                          | C2                          |
// | ---------------- | -------------------------------- | --------------------------- | --------------------------- |
// | weight           | M·S·Q/(S+Q)                      | score                       | score × models held         |
// | score            | last 50 times health             | mean of all, 0 to 20, whole | mean of all, 0 to 10, whole |
// | new node         | a half                           | 20                          | 20                          |
// | kick-out         | mean of 50 below a fifth         | last three give 20 or less  | last three give 10 or less  |
// | blameless end    | no effect                        | no effect                   | full points                 |
// | value            | fee per second                   | ⌊fee / images⌋              | ⌊fee / size⌋                |
// | queue            | one task per node, least 50      | 50                          | 50                          |
// | lease            | twice the estimate, 1 to 120 min | 15 min                      | 3 min                       |
// | copies of models | fewer than 3: up to 10           | none                        | fewer than 3: up to 10      |
//
// The value needs `FeePerSize::estimate(size)` as a task's estimate. The defects of the contracts are not repeated: see
// spec: crynux.md 5, D17 to D24.

/// The first contracts. A gang models a task's three nodes.
struct CrynuxContracts1 {
    using role = role::preset;

    [[nodiscard]] auto policies() const {
        constexpr auto lease = std::chrono::minutes{15};
        return std::tuple{
            Rules{{.boost_on_disk = 0, .boost_in_use = 0, .boost_unit = 1}},
            HardwareFit{},
            ContractWeight{},
            GpuGroupPool{},
            ValueQueue{{.tasks_per_node = 0, .capacity_min = 50}},
            ContractQos{{.points_max = 20, .padding = 20, .kick_out_at = 20, .aborts_score_full = false}},
            FeePerSize{},
            ThresholdPlacement{{.holders_min = 0, .holders_target = 0}},
            FixedTerms{{.length_min = lease, .length_max = lease}},
        };
    }
};

/// The second contracts.
struct CrynuxContracts2 {
    using role = role::preset;

    [[nodiscard]] auto policies() const {
        constexpr auto lease = std::chrono::minutes{3};
        return std::tuple{
            Rules{{.boost_on_disk = 1, .boost_in_use = 0, .boost_unit = 1}},
            HardwareFit{},
            ContractWeight{},
            GpuGroupPool{},
            ValueQueue{{.tasks_per_node = 0, .capacity_min = 50}},
            ContractQos{},
            FeePerSize{},
            ThresholdPlacement{},
            FixedTerms{{.length_min = lease, .length_max = lease}},
        };
    }
};

}}}  // namespace allot::v0::preset
