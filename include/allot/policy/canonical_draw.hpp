#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/u128.hpp>
#include <allot/policy/candidate_pool.hpp>

namespace allot { inline namespace v0 {

/// The one meaning of a draw, which a linear scan and a fast index both compute, bit for bit.
///
/// Picture the frame as a line on which every place takes up an interval as long as its bound, and lives on the first part of
/// it, as long as its weight now. Throw a dart: whoever lives where it lands is drawn; where nobody lives, throw again. That is
/// exactly proportional to the weights, however loose the bounds. After `rejections_max` rejections one scan adds up the weights and
/// decides; it alone may say that there is no candidate, so a zero weight is never drawn and never hides another.
///
/// `index` offers `total(frame)`, `locate(frame, r)` (the first place whose prefix exceeds r: node, model index, offset, bound) and
/// `for_each(frame, f(node, model index, bound))` in frame order.
///
/// Every weight should be at most its bound, as the weights of a policy are that is `monotone` indeed. One that is not counts as
/// its bound in a try, so shares are wrong; it is told in `Draw::above_bound`, in every build, and the draw goes on.
/// @complexity one `locate` and one `weigh` a try; two tries or fewer on average where bounds are at most twice the weights. At
/// worst, when next to no one is admitted, `rejections_max` tries and two looks at each place of the frame.
template <class Index, class Weigh>
[[nodiscard]] auto canonical_draw(const Index& index, const SamplingFrame& frame, Weigh&& weigh, Random& random)
    -> std::optional<Draw> {
    const auto total = index.total(frame);
    if (total == 0) {
        return std::nullopt;
    }
    auto above = std::uint32_t{0};
    const auto compare = [&above](Weight weight, std::uint32_t bound) {
        above += weight.raw() > (u128{bound} << 64) ? 1U : 0U;
    };
    for (std::uint32_t rejections = 0; rejections < frame.rejections_max; ++rejections) {
        const auto hit = index.locate(frame, random.below(total));
        const auto weight = Weight{weigh(hit.node, hit.model)};
        const auto whole = weight.raw().high();  // the same units as bounds and offsets
        compare(weight, hit.bound);
        // The 64 bits behind the point decide, and are drawn, only when the dart lands on the edge itself.
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
    if (sum == u128{0}) {
        return std::nullopt;
    }
    auto rest = random.below(sum);
    auto drawn = std::optional<Draw>{};
    index.for_each(frame, [&](NodeHandle node, std::uint32_t model, std::uint32_t) {
        if (drawn) {
            return;
        }
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
