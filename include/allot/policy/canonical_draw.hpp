#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <boost/container/small_vector.hpp>

#include <allot/core/u128.hpp>
#include <allot/policy/candidate_pool.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// Places of a frame whose length is no longer their bound but their weight now, in the order of the frame.
///
/// The line is then shorter than the frame. Points are in units of 2^-92, like weights.
class Eliminated {
public:
    /// Result of `find`: the place on which a point falls, or none; then `point` is that of the frame.
    struct Found {
        const Draw* place = nullptr;
        u128 point{};
    };

    /// True if each place is as long as its bound.
    [[nodiscard]] auto empty() const -> bool { return places_.empty(); }

    /// Length of the line for a frame of so much.
    [[nodiscard]] auto length(std::uint64_t total) const -> u128 { return (u128{total} << 64) - removed_; }

    /// Where a point of the line falls.
    /// @complexity linear in the places.
    [[nodiscard]] auto find(u128 point) const -> Found {
        for (const auto& place : places_) {
            const auto begin = u128{place.begin} << 64;
            if (point < begin) { break; }
            if (point - begin < place.now.weight.raw()) { return {&place.now, {}}; }
            point += (u128{place.bound} << 64) - place.now.weight.raw();
        }
        return {nullptr, point};
    }

    /// Shortens a place that begins at `begin` in the frame. One that is short already stays as it is.
    void add(std::uint64_t begin, std::uint32_t bound, const Draw& now) {
        const auto place =
            std::find_if(places_.begin(), places_.end(), [&](const Place& other) { return begin <= other.begin; });
        if (place != places_.end() && place->begin == begin) { return; }
        places_.insert(place, Place{begin, bound, now});
        removed_ += (u128{bound} << 64) - now.weight.raw();
    }

private:
    struct Place {
        std::uint64_t begin;
        std::uint32_t bound;
        Draw now;
    };
    boost::container::small_vector<Place, 8> places_{};
    u128 removed_{};
};

/// The exact draw: one visit adds up the weights, another finds the place. `tried` tells of the tries before it.
template <class Index, class Weigh>
[[nodiscard]] auto scanned_draw(const Index& index, const SamplingFrame& frame, Weigh& weigh, Random& random,
                                Draw tried) -> std::optional<Draw> {
    auto sum = u128{0};
    index.for_each(frame, [&](NodeHandle node, std::uint32_t model, std::uint32_t bound) {
        const auto weight = Weight{weigh(node, model)}.raw();
        tried.above_bound += frame.rejections_max > 0 && weight > (u128{bound} << 64) ? 1U : 0U;
        sum += weight;
    });
    if (sum == u128{0}) { return std::nullopt; }
    auto rest = random.below(sum);
    index.for_each(frame, [&](NodeHandle node, std::uint32_t model, std::uint32_t) {
        if (tried.scanned) { return; }
        const auto weight = Weight{weigh(node, model)};
        if (rest < weight.raw()) {
            tried = {node, weight, tried.rejections, true, tried.above_bound};
        } else {
            rest -= weight.raw();
        }
    });
    return tried;
}

/// True if a weight is more than the bound of its place.
template <class Hit>
[[nodiscard]] auto exceeds(const Weight& weight, const Hit& hit) -> bool {
    return weight.raw() > (u128{hit.bound} << 64);
}

/// True if a point falls within the part of a place that is as long as its weight. `fine()` returns the 64 bits behind
/// the point. They decide, and are drawn, only when the point falls on the edge itself.
template <class Hit, class Fine>
[[nodiscard]] auto falls_within(const Weight& weight, const Hit& hit, const Fine& fine) -> bool {
    const auto whole = weight.raw().high();  // the same units as bounds and offsets
    return hit.offset < whole || (hit.offset == whole && fine() < weight.raw().low());
}

/// The draw from a line whose places are shortened: those of `without` from the beginning, others as they are rejected.
/// `tried` tells of the tries before it.
template <class Index, class Weigh>
[[nodiscard]] auto eliminating_draw(const Index& index, const SamplingFrame& frame, Weigh& weigh, Random& random,
                                    Draw tried) -> std::optional<Draw> {
    const auto total = index.total(frame);
    auto eliminated = Eliminated{};
    for (const auto& node : frame.without) {
        index.each_place(frame, node,
                         [&](std::uint64_t begin, std::uint32_t bound) { eliminated.add(begin, bound, {node.node}); });
    }
    for (auto& tries = tried.rejections; tries < frame.tries_max; ++tries) {
        auto point = std::uint64_t{0};
        auto fine = std::optional<std::uint64_t>{};  // the 64 bits behind the point, if they are drawn already
        if (eliminated.empty()) {
            point = random.below(total);
        } else {
            const auto length = eliminated.length(total);
            if (length == u128{0}) { return std::nullopt; }
            const auto found = eliminated.find(random.below(length));
            if (found.place != nullptr) {
                return Draw{found.place->node, found.place->weight, tries, false, tried.above_bound};
            }
            point = found.point.high();
            fine = found.point.low();
        }
        const auto hit = index.locate(frame, point);
        const auto weight = Weight{weigh(hit.node, hit.model)};
        tried.above_bound += exceeds(weight, hit) ? 1U : 0U;
        if (falls_within(weight, hit, [&] { return fine ? *fine : random.next(); })) {
            return Draw{hit.node, weight, tries, false, tried.above_bound};
        }
        if (tries + 1 >= frame.rejections_max) { eliminated.add(point - hit.offset, hit.bound, {hit.node, weight}); }
    }
    return tried;
}

}  // namespace detail

/// The definition of a draw, by rejection sampling. A linear scan and a fast index both compute it, bit for bit.
///
/// The frame is a line of intervals, one for each place and as long as its bound. The first part of an interval, as
/// long as the place's weight now, belongs to the place. A uniform random draw picks a point on the line. A point in
/// the part of a place selects that place; any other point is rejected, and the draw is repeated. The result is
/// exactly proportional to the weights, however loose the bounds.
///
/// The line begins without the places of `SamplingFrame::without`. From the rejection `rejections_max` on, a rejected
/// place is shortened to its weight for the rest of the draw, to nothing if it is refused. The shares stay exact: each
/// place keeps the part that belongs to it. Once the line has no length there is no candidate. After `tries_max` tries
/// the draw is not decided: `Draw::undecided`.
///
/// `index` offers `total(frame)`, `locate(frame, r)`, `for_each(frame, f(node, model index, bound))` and
/// `each_place(frame, node, f(begin, bound))`. `locate` finds the first place whose prefix sum exceeds r: node, model
/// index, offset, bound. `for_each` visits the places in frame order, `each_place` those of one node.
/// @pre The weights of the nodes of `without` are zero. Every weight is at most its bound, which holds for a policy
/// that is truly `monotone`. A larger weight counts as its bound, so shares are wrong; `Draw::above_bound` reports it
/// in every build, and the draw continues.
/// @complexity one `locate` and one `weigh` per try; at most two tries on average where bounds are at most twice the
/// weights. At worst `tries_max` tries. Without bounds, two visits of each place of the frame.
template <class Index, class Weigh>
[[nodiscard]] auto canonical_draw(const Index& index, const SamplingFrame& frame, Weigh&& weigh, Random& random)
    -> std::optional<Draw> {
    const auto total = index.total(frame);
    if (total == 0) { return std::nullopt; }
    if (frame.rejections_max == 0) { return detail::scanned_draw(index, frame, weigh, random, {}); }
    const auto eliminates = frame.tries_max > 0;
    auto tried = Draw{no_handle<NodeHandle>};
    if (!eliminates || frame.without.empty()) {
        auto& tries = tried.rejections;
        const auto end = eliminates ? std::min(frame.rejections_max - 1, frame.tries_max) : frame.rejections_max;
        for (; tries < end; ++tries) {
            const auto hit = index.locate(frame, random.below(total));
            const auto weight = Weight{weigh(hit.node, hit.model)};
            tried.above_bound += detail::exceeds(weight, hit) ? 1U : 0U;
            if (detail::falls_within(weight, hit, [&] { return random.next(); })) {
                return Draw{hit.node, weight, tries, false, tried.above_bound};
            }
        }
    }
    return eliminates ? detail::eliminating_draw(index, frame, weigh, random, tried)
                      : detail::scanned_draw(index, frame, weigh, random, tried);
}

}}  // namespace allot::v0
