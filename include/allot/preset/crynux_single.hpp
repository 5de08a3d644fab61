#pragma once

#include <tuple>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 { namespace preset {

/// Crynux task dispatching in its single-node form (seed 001): one node per task, drawn by W = M·S·Q/(S+Q) among the
/// holders of its models. Tasks of the highest value are first; QoS is the mean of the last 50 verdicts times health.
/// These are the library's defaults, named.
struct CrynuxSingle {
    using role = role::preset;

    [[nodiscard]] auto policies() const {
        return std::tuple{Rules{},      HardwareFit{},  HarmonicWeight{},     GpuGroupPool{}, ValueQueue{},
                          RollingQos{}, FeePerSecond{}, ThresholdPlacement{}, FixedTerms{}};
    }
};

}}}  // namespace allot::v0::preset
