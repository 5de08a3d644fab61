#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/u128.hpp>
#include <allot/policy/candidate_pool.hpp>

namespace allot { inline namespace v0 {

/// The definition of a draw, by rejection sampling. A linear scan and a fast index both compute it, bit for bit.
///
/// The frame is a line of intervals, one for each place and as long as its bound. The first part of an interval, as
/// long as the place's weight now, belongs to the place. A uniform random draw picks a point on the line. A point in
/// the part of a place selects that place; any other point is rejected, and the draw is repeated. The result is
/// exactly proportional to the weights, however loose the bounds.
///
/// After `rejections_max` rejections one scan adds up the weights and decides. Only the scan may find that there is no
/// candidate, so a zero weight is never drawn and never hides another.
///
/// `index` offers `total(frame)`, `locate(frame, r)` and `for_each(frame, f(node, model index, bound))`. `locate` finds
/// the first place whose prefix sum exceeds r: node, model index, offset, bound. `for_each` visits the places in frame
/// order.
/// @pre Every weight is at most its bound, which holds for a policy that is truly `monotone`. A larger weight counts as
/// its bound in a try, so shares are wrong; `Draw::above_bound` reports it in every build, and the draw continues.
/// @complexity one `locate` and one `weigh` per try; at most two tries on average where bounds are at most twice the
/// weights. At worst, when almost no candidate is admitted, `rejections_max` tries and two visits of each place of the
/// frame.
template <class Index, class Weigh>
[[nodiscard]] auto canonical_draw(const Index& index, const SamplingFrame& frame, Weigh&& weigh, Random& random)
    -> std::optional<Draw> {
    const auto total = index.total(frame);
    if (total == 0) { return std::nullopt; }
    auto above = std::uint32_t{0};
    const auto compare = [&above](Weight weight, std::uint32_t bound) {
        above += weight.raw() > (u128{bound} << 64) ? 1U : 0U;
    };
    for (std::uint32_t rejections = 0; rejections < frame.rejections_max; ++rejections) {
        const auto hit = index.locate(frame, random.below(total));
        const auto weight = Weight{weigh(hit.node, hit.model)};
        const auto whole = weight.raw().high();  // the same units as bounds and offsets
        compare(weight, hit.bound);
        // The 64 bits behind the point decide, and are drawn, only when the point falls on the edge itself.
        if (hit.offset < whole || (hit.offset == whole && random.next() < weight.raw().low())) {
            return Draw{hit.node, weight, rejections, false, above};
        }
    }
    auto sum = u128{0};
    index.for_each(frame, [&](NodeHandle node, std::uint32_t model, std::uint32_t bound) {
        const auto weight = Weight{weigh(node, model)};
        if (frame.rejections_max > 0) {  // else there are no bounds
            compare(weight, bound);
        }
        sum += weight.raw();
    });
    if (sum == u128{0}) { return std::nullopt; }
    auto rest = random.below(sum);
    auto drawn = std::optional<Draw>{};
    index.for_each(frame, [&](NodeHandle node, std::uint32_t model, std::uint32_t) {
        if (drawn) { return; }
        const auto weight = Weight{weigh(node, model)};
        if (rest < weight.raw()) {
            drawn = Draw{node, weight, frame.rejections_max, true, above};
        } else {
            rest -= weight.raw();
        }
    });
    return drawn;
}

}}  // namespace allot::v0
