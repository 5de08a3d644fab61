#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/laws/sample.hpp>
#include <allot/policy/qos_tracker.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// The advantage of a node that came back, or declined, over its twin that stayed.
template <class P>
[[nodiscard]] auto gain(const P& policy, const typename P::node_data& back, const typename P::node_data& stayed,
                        Score floor, TimePoint time) -> Finding {
    const auto most = std::max(policy.score(stayed, time), floor);
    if (const auto score = policy.score(back, time); score > most) {
        return sentence("coming back raises the score to ", score, ", where staying or the floor gives ", most);
    }
    if constexpr (has_proven<P>) {
        if (policy.proven(back) && !policy.proven(stayed)) { return sentence("coming back ends the probation"); }
    }
    const auto until = policy.back_at(stayed);
    if (until > time && policy.back_at(back) < until) {
        return sentence("coming back ends an exclusion before ", *until);
    }
    return {};
}

}  // namespace detail

/// Checks that a QoS tracker keeps a node's history faithfully (rules 4, 20).
///
/// Joining again, any number of times, raises no score above the higher one of a floor and the score of a node that
/// stayed. It ends no probation, and ends no exclusion earlier. Declining a task changes nothing.
///
/// @param floor The least score that the tracker gives a node that comes back.
/// @complexity `steps` outcomes and a few scores for each.
template <qos_tracker P>
[[nodiscard]] auto faithful(const P& policy, Score floor = Score::zero(), std::uint64_t seed = 1,
                            std::uint32_t steps = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    auto data = typename P::node_data{};
    auto time = TimePoint{};
    auto serves_badly = false;
    for (std::uint32_t step = 0; step < steps; ++step) {
        const auto where = sentence(" (step ", step, " of seed ", seed, ")");
        if (step == 0 || sampler.once_in(100)) {
            data = typename P::node_data{};
            policy.joined(data, time);
        }
        serves_badly = sampler.once_in(20) ? !serves_badly : serves_badly;
        time += sampler.once_in(3) ? Duration{0} : sampler.duration(24);
        const auto outcome = serves_badly ? sampler.bad_outcome() : sampler.outcome(policy.points_max());
        const auto gone = policy.record(data, outcome, time) == Standing::kicked_out;
        const auto stayed = data;
        for (auto moves = gone ? 1U : sampler.small(3); moves > 0; --moves) {
            time += sampler.duration(24);
            policy.joined(data, time);
            if (const auto finding = detail::gain(policy, data, stayed, floor, time)) { return *finding + where; }
        }
        const auto before = data;
        if (policy.record(data, {OutcomeKind::declined}, time) != Standing::good || !(data == before)) {
            return sentence("declining a task changes what is known of a node", where);
        }
        if (const auto finding = detail::gain(policy, data, stayed, floor, time + sampler.duration(32))) {
            return *finding + where;
        }
    }
    return {};
}

}}}  // namespace allot::v0::laws
