#pragma once

#include <cstdint>

#include <allot/laws/sample.hpp>
#include <allot/policy/qos_tracker.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// The law between two outcomes: the score stays at or below `score_max`.
template <class P>
[[nodiscard]] auto score_differs(const P& policy, const typename P::node_data& data, TimePoint time, Sampler& sampler)
    -> Finding {
    const auto most = policy.score_max(data);
    for (std::uint32_t i = 0; i < 4; ++i) {
        const auto score = policy.score(data, time);
        if (score != policy.score(data, time) || most != policy.score_max(data)) {
            return sentence("the score is not pure: equal arguments gave different scores at ", time);
        }
        if (score > most) {
            return sentence("the score ", score, " at ", time, " is above score_max, which is ", most);
        }
        time += sampler.duration(32);
    }
    return {};
}

}  // namespace detail

/// Checks the contract of a QoS tracker. It is pure; the score is at most `score_max` until the next outcome; an
/// excluded node may return at some time that is not in the past.
///
/// @complexity `steps` outcomes and a few scores for each.
template <qos_tracker P>
[[nodiscard]] auto bounded(const P& policy, std::uint64_t seed = 1, std::uint32_t steps = 10'000) -> Finding {
    using Data = typename P::node_data;
    auto sampler = Sampler{seed};
    auto data = Data{};
    auto time = TimePoint{};
    auto is_new = true;  // to join may leave the data of a new node as they are
    for (std::uint32_t step = 0; step < steps; ++step) {
        const auto where = sentence(" (step ", step, " of seed ", seed, ")");
        if (sampler.once_in(200)) {
            data = Data{};
            time = TimePoint{sampler.duration(40)};
            is_new = true;
        }
        time += sampler.once_in(3) ? Duration{0} : sampler.duration(24);
        if (is_new || sampler.once_in(50)) {
            is_new = false;
            auto copy = data;
            policy.joined(data, time);
            policy.joined(copy, time);
            if (!(copy == data)) { return sentence("joined is not pure: equal data became different", where); }
        } else {
            const auto outcome = sampler.outcome(policy.points_max());
            auto copy = data;
            const auto standing = policy.record(data, outcome, time);
            if (policy.record(copy, outcome, time) != standing || !(copy == data)) {
                return sentence("record is not pure: equal data became different", where);
            }
            const auto back_at = policy.back_at(data);
            if (standing == Standing::excluded && !back_at) {
                return sentence("an excluded node is never back: back_at is nothing", where);
            }
            if (standing == Standing::excluded && *back_at < time) {
                return sentence("an excluded node is back at ", *back_at, ", before it was excluded at ", time, where);
            }
            if (back_at != policy.back_at(data)) { return sentence("back_at is not pure", where); }
        }
        if (const auto finding = detail::score_differs(policy, data, time, sampler)) { return *finding + where; }
    }
    return {};
}

}}}  // namespace allot::v0::laws
