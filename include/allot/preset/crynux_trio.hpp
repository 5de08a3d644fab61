#pragma once

#include <tuple>
#include <utility>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/qos/monthly_qos.hpp>
#include <allot/weight/quality_weight.hpp>

namespace allot { inline namespace v0 { namespace preset {

/// Crynux task dispatching in its three-node form: seed 000, with the quality of service of seed 002.
///
/// Each task runs on three nodes, whose results are compared; `gpt` and `sd` set this in a task's spec. The differences
/// from `CrynuxSingle`:
///
/// | difference       | three nodes                                       | one node (seed 001)           |
/// | ---------------- | ------------------------------------------------- | ----------------------------- |
/// | a task's nodes   | a gang of 3; GPT tasks want one card, SD any      | one                           |
/// | a free node      | gangs with its card, or with the largest VRAM     | takes a task it can run alone |
/// | weight           | Q·M                                               | M·S·Q/(S+Q)                   |
/// | models           | raise weights and narrow nothing                  | narrow to holders first       |
/// | copies of models | none                                              | fewer than 3: up to 10        |
/// | Q                | task scores of the month, out of 20, at least .01 | last 50 scores times health   |
///
/// The points of a task come from `SubmissionRounds` and enter by `score`; `split_fee` divides the fee by them.
struct CrynuxTrio {
    using role = role::preset;

    /// A task on three nodes of one card.
    [[nodiscard]] static auto gpt(TaskSpec task) -> TaskSpec {
        task.gang_size = 3;
        task.same_card = true;
        return task;
    }
    /// A task on any three nodes of enough VRAM.
    [[nodiscard]] static auto sd(TaskSpec task) -> TaskSpec {
        task.gang_size = 3;
        return task;
    }

    [[nodiscard]] auto policies() const {
        return std::tuple{
            Rules{{.narrowing = Narrowing::none}},
            HardwareFit{},
            QualityWeight{},
            GpuGroupPool{},
            ValueQueue{},
            MonthlyQos{},
            FeePerSecond{},
            ThresholdPlacement{{.holders_min = 0, .holders_target = 0}},
            FixedTerms{},
        };
    }
};

}}}  // namespace allot::v0::preset
