#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/policy/candidate_pool.hpp>
#include <allot/pool/linear_pool.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// A place that owns the models it points to.
struct OwnedPlace {
    NodePlace place{};
    std::vector<HeldModel> models{};

    [[nodiscard]] auto view() const -> NodePlace {
        auto view = place;
        view.models = models;
        return view;
    }
    [[nodiscard]] auto holds(ModelId model) const -> const HeldModel* {
        const auto found = std::find_if(models.begin(), models.end(),
                                        [&](const HeldModel& held) { return held.model == model && held.on_disk(); });
        return found == models.end() ? nullptr : &*found;
    }
};

/// A few nodes of a few classes with a few models, which change at random as a dispatcher's would.
class PoolWorld {
public:
    explicit PoolWorld(std::uint64_t seed) : sampler_{seed}, nodes_(20) {
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) { nodes_[i].place.node = NodeHandle{i}; }
    }

    [[nodiscard]] auto sampler() -> Sampler& { return sampler_; }
    [[nodiscard]] auto nodes() const -> const std::vector<OwnedPlace>& { return nodes_; }
    [[nodiscard]] auto operator[](std::uint32_t i) const -> const OwnedPlace& { return nodes_[i]; }
    void put(const OwnedPlace& node) { nodes_[node.place.node.value] = node; }

    /// A random next state of a node.
    [[nodiscard]] auto changed(std::uint32_t i) -> OwnedPlace {
        auto node = nodes_[i];
        if (node.place.node_class == no_handle<ClassId>) {
            move(node);
            free_or_busy(node, true);
            return node;
        }
        switch (sampler_.below(8)) {
            case 0: return OwnedPlace{{node.place.node}, {}};  // it leaves
            case 1: move(node); break;
            case 2: hold(node); break;
            case 3: free_or_busy(node, true); break;
            default: free_or_busy(node, node.place.bound == 0); break;
        }
        return node;
    }

    /// Weights for one draw: at most the bound, often zero, sometimes almost zero so that every random draw is
    /// rejected.
    [[nodiscard]] auto weights(bool narrowed) -> std::vector<Weight> {
        auto weights = std::vector<Weight>{};
        const auto faint = sampler_.once_in(4);
        for (const auto& node : nodes_) {
            const auto most = u128{narrowed ? node.place.bound_local : node.place.bound} << 64;
            switch (sampler_.below(4)) {
                case 0: weights.push_back(Weight::zero()); break;
                case 1: weights.push_back(Weight::from_raw(faint ? most >> 80 : most)); break;
                default: weights.push_back(Weight::from_raw((faint ? most >> 75 : most) >> sampler_.below(6))); break;
            }
        }
        return weights;
    }

    [[nodiscard]] auto classes() -> std::vector<ClassId> {
        auto list = std::vector<ClassId>{};
        const auto all = sampler_.once_in(3);
        for (std::uint32_t c = 0; c < class_count + 2; ++c) {  // two that no node ever has
            if (all || sampler_.once_in(2)) { list.push_back(ClassId{c}); }
        }
        return list;
    }
    [[nodiscard]] auto models() -> std::vector<ModelId> {
        auto list = std::vector<ModelId>{};
        for (auto left = sampler_.below(4); left > 0; --left) {
            const auto model = ModelId{sampler_.small(model_count + 1)};
            if (std::find(list.begin(), list.end(), model) == list.end()) { list.push_back(model); }
        }
        return list;
    }

private:
    static constexpr std::uint32_t class_count = 5;
    static constexpr std::uint32_t model_count = 5;

    /// A number near the lowest that no other node uses, according to `used`.
    template <class Used>
    [[nodiscard]] auto vacant(NodeHandle self, Used used) -> std::uint32_t {
        for (auto number = sampler_.small(4);; ++number) {
            if (std::none_of(nodes_.begin(), nodes_.end(), [&](const OwnedPlace& other) {
                    return other.place.node != self && used(other, number);
                })) {
                return number;
            }
        }
    }

    void move(OwnedPlace& node) {
        node.place.node_class = ClassId{sampler_.small(class_count)};
        node.place.slot = vacant(node.place.node, [&](const OwnedPlace& other, std::uint32_t number) {
            return other.place.node_class == node.place.node_class && other.place.slot == number;
        });
        hold(node);
    }
    void hold(OwnedPlace& node) {
        node.models.clear();
        for (std::uint32_t m = 0; m < model_count; ++m) {
            if (sampler_.once_in(2)) { continue; }
            auto held = HeldModel{ModelId{m}, static_cast<Holding>(sampler_.below(3)), 0};
            held.place = vacant(node.place.node,
                                [&](const OwnedPlace& other, std::uint32_t number) {
                                    const auto* theirs = other.holds(held.model);
                                    return theirs != nullptr && other.place.node_class == node.place.node_class &&
                                           theirs->place == number;
                                }) &
                         HeldModel::place_max;
            node.models.push_back(held);
        }
    }
    void free_or_busy(OwnedPlace& node, bool is_free) {
        const auto bound = [&] { return 1 + static_cast<std::uint32_t>(sampler_.magnitude(32).low() >> 1); };
        node.place.bound = is_free ? bound() : 0;
        node.place.bound_local = is_free ? bound() : 0;
    }

    Sampler sampler_;
    std::vector<OwnedPlace> nodes_;
};

/// Compares a pool with a linear one built from scratch, for one frame and one draw.
template <class P>
[[nodiscard]] auto pool_differs(const P& pool, PoolWorld& world) -> Finding {
    const auto classes = world.classes();
    const auto models = world.models();
    const auto rejections_max =
        world.sampler().once_in(2) ? draw_rejections_max : world.sampler().small(2 * draw_rejections_max);
    const auto frame =
        SamplingFrame{classes, models, world.sampler().once_in(4) ? 0 : rejections_max, 5 * rejections_max};
    auto linear = LinearPool{};
    for (const auto& node : world.nodes()) { linear.changed({}, node.view()); }
    const auto weights = world.weights(!models.empty());
    const auto weigh = [&](NodeHandle node, std::uint32_t model) -> Weight {
        for (std::uint32_t earlier = 0; earlier < model; ++earlier) {
            if (world[node.value].holds(models[earlier]) != nullptr) { return Weight::zero(); }
        }
        return weights[node.value];
    };
    const auto of = sentence(" (", classes.size(), " classes, ", models.size(), " models)");
    if (pool.count(frame) != linear.count(frame)) {
        return sentence("count is ", pool.count(frame), " where the frame has ", linear.count(frame), " places", of);
    }
    if constexpr (has_total<P>) {
        if (pool.total(frame) != linear.total(frame)) {
            return sentence("total is ", pool.total(frame), " where the bounds are ", linear.total(frame), of);
        }
    }
    const auto key = world.sampler().random();
    (void)world.sampler().random().next();
    auto random = key;
    auto random_again = key;
    auto random_linear = key;
    const auto drawn = pool.draw(frame, weigh, random);
    const auto again = pool.draw(frame, weigh, random_again);
    const auto right = linear.draw(frame, weigh, random_linear);
    const auto same = [](const std::optional<Draw>& a, const std::optional<Draw>& b) {
        return a.has_value() == b.has_value() && (!a || (a->node == b->node && a->weight == b->weight &&
                                                         a->rejections == b->rejections && a->scanned == b->scanned));
    };
    const auto show = [](const std::optional<Draw>& draw) {
        if (draw && draw->undecided()) { return sentence("no decision after ", draw->rejections, " rejections"); }
        return draw ? sentence("node ", draw->node.value, " of weight ", draw->weight, " after ", draw->rejections,
                               " rejections", draw->scanned ? " by scan" : "")
                    : text("no one");
    };
    if (!same(drawn, again) || random != random_again) {
        return sentence("equal draws differ: ", show(drawn), " and then ", show(again), of);
    }
    if (!same(drawn, right)) {
        return sentence("the draw gives ", show(drawn), " where the canonical draw gives ", show(right), of);
    }
    if (random != random_linear) {
        return sentence("the draw took ", random.words_drawn(), " words where the canonical draw takes ",
                        random_linear.words_drawn(), of);
    }
    return {};
}

}  // namespace detail

/// Checks the contract of a pool. Its canonical draw is right bit for bit, and so are its counts; equal keys give equal
/// draws; copies share nothing. `changed` with swapped arguments undoes itself. Undoing a change that never came
/// changes nothing, as the dispatcher does when a policy threw.
///
/// @param empty A pool without candidates.
/// @complexity `steps` changes and as many draws among some twenty nodes.
template <candidate_pool P>
[[nodiscard]] auto reversible(const P& empty, std::uint64_t seed = 1, std::uint32_t steps = 3'000) -> Finding {
    auto world = detail::PoolWorld{seed};
    auto pool = empty;
    auto done = std::vector<std::pair<detail::OwnedPlace, detail::OwnedPlace>>{};
    const auto back = [&] {
        const auto [before, after] = std::move(done.back());
        done.pop_back();
        pool.changed(after.view(), before.view());
        world.put(before);
    };
    auto finding = Finding{};
    const auto check = [&](std::string_view after_what, std::uint32_t step) {
        if (!finding) {
            if (const auto differs = detail::pool_differs(pool, world)) {
                finding = sentence("after ", after_what, " (step ", step, " of seed ", seed, "): ", *differs);
            }
        }
    };
    for (std::uint32_t step = 0; step < steps && !finding; ++step) {
        const auto i = world.sampler().small(static_cast<std::uint32_t>(world.nodes().size()));
        const auto after = world.changed(i);
        if (world.sampler().once_in(8)) {
            pool.changed(after.view(), world[i].view());
            check("taking back a change that never came", step);
            continue;
        }
        done.emplace_back(world[i], after);
        // The dispatcher passes one and the same list when models stay.
        const auto& was = done.back().first;
        auto view = after.view();
        if (was.models == after.models) { view.models = was.models; }
        pool.changed(was.view(), view);
        world.put(after);
        check("a change", step);
        if (world.sampler().once_in(40)) {
            const auto copy = pool;
            auto world_then = world;
            for (auto left = world.sampler().below(done.size() + 1); left > 0 && !finding; --left) {
                back();
                check("a change taken back", step);
            }
            if (const auto differs = detail::pool_differs(copy, world_then); differs && !finding) {
                finding =
                    sentence("a copy noticed changes of its original (step ", step, " of seed ", seed, "): ", *differs);
            }
        }
    }
    while (!done.empty() && !finding) { back(); }
    check("everything taken back", steps);
    return finding;
}

}}}  // namespace allot::v0::laws
