#pragma once

#include <chrono>
#include <cstdint>

#include <allot/laws/sample.hpp>
#include <allot/policy/qos_tracker.hpp>

namespace allot { inline namespace v0 { namespace laws {

/// Checks that a QoS tracker leaves every node a future: after no history is a score zero now and still zero a year
/// later. Such a node would never be drawn, so it would get no further outcome; it could neither improve nor be kicked
/// out. In this check a node that the tracker kicks out leaves and joins again.
///
/// @complexity `steps` outcomes and as many scores.
template <qos_tracker P>
[[nodiscard]] auto drawable(const P& policy, std::uint64_t seed = 1, std::uint32_t steps = 10'000) -> Finding {
    constexpr auto year = std::chrono::hours{24 * 365};
    auto sampler = Sampler{seed};
    auto data = typename P::node_data{};
    auto time = TimePoint{};
    auto serves_badly = false;
    for (std::uint32_t step = 0; step < steps; ++step) {
        if (step == 0 || sampler.once_in(100)) {
            data = typename P::node_data{};
            policy.joined(data, time);
        }
        serves_badly = sampler.once_in(20) ? !serves_badly : serves_badly;
        time += sampler.once_in(3) ? Duration{0} : sampler.duration(32);
        const auto outcome = serves_badly ? sampler.bad_outcome() : sampler.outcome(policy.points_max());
        if (policy.record(data, outcome, time) == Standing::kicked_out) { policy.joined(data, time); }
        if (policy.score(data, time) == Score::zero() && policy.score(data, time + year) == Score::zero()) {
            return sentence("the score is zero at ", time,
                            " and a year later, so the node is never drawn nor judged again (step ", step, " of seed ",
                            seed, ")");
        }
    }
    return {};
}

}}}  // namespace allot::v0::laws
