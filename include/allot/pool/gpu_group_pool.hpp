#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/policy/canonical_draw.hpp>
#include <allot/policy/role.hpp>
#include <allot/pool/class_trees.hpp>
#include <allot/pool/holder_tree.hpp>
#include <allot/pool/sum_tree.hpp>
#include <allot/store/column.hpp>

namespace allot { inline namespace v0 {

/// The default candidate pool: candidates grouped by class (GPU, VRAM, platform, version).
///
/// Each group is a sum tree over the bounds of its nodes' weights, and each model's holders in each class form one more
/// tree.
///
/// Invariant: a tree's place holds the node's bound while the node is a candidate, and zero otherwise. Trees know
/// neither stakes nor scores; `canonical_draw` turns bounds into exact weights.
///
/// @complexity a draw O(classes + log n) per try; a change O(log n), and O(log n) more per held model.
class GpuGroupPool {
public:
    using role = role::pool;
    static constexpr std::string_view name = "CanonicalDraw";
    static constexpr bool stores_bounds = true;

    void changed(const NodePlace& before, const NodePlace& after) {
        // A node that only becomes busy or free, or has other models, keeps its place, so its tree is changed once.
        const auto stays =
            before.node == after.node && before.node_class == after.node_class && before.slot == after.slot;
        if (!stays) { set(before, 0); }
        set(after, after.bound);
        if (!before.models.empty() || !after.models.empty()) { set_local(before, after, stays); }
    }

    /// Prefetches the place of a slot among the candidates. Changes nothing.
    void look_ahead(ClassId node_class, std::uint32_t slot) const {
        if (const auto i = candidates_.index(node_class); i != Candidates::none) { candidates_[i].prefetch(slot); }
    }

    /// Gives back the tree of a model's holders in a class.
    /// @pre there is no holder.
    void gone(ModelId model, ClassId node_class) {
        if (models_.find(model.value) == nullptr) { return; }
        models_.at(model.value).drop(node_class);
        models_.give_back(model.value, [](const Holders& holders) { return holders.blank(); });
    }

    /// Gives back the tree of a class.
    /// @pre no node is of the class.
    void gone(ClassId node_class) { candidates_.drop(node_class); }

    /// Gives back the room behind the highest place of a model's holders in a class.
    /// @pre no holder there has a place from `reach` on.
    /// @complexity O(reach).
    void trim(ModelId model, ClassId node_class, std::uint32_t reach) noexcept {
        if (models_.find(model.value) != nullptr) { models_.at(model.value).trim(node_class, reach); }
    }

    /// Gives back the room behind the highest slot of a class.
    /// @pre no node of the class has a slot from `reach` on.
    /// @complexity O(reach).
    void trim(ClassId node_class, std::uint32_t reach) noexcept { candidates_.trim(node_class, reach); }

    /// Gives back the room of nodes that are gone.
    /// @pre no node has a handle from `nodes` on.
    /// @complexity O(1), or linear in the room that is given back.
    void trim(std::uint32_t nodes) noexcept { locals_.trim(nodes + 1); }

    template <class Weigh>
    [[nodiscard]] auto draw(const SamplingFrame& frame, Weigh&& weigh, Random& random) const -> std::optional<Draw> {
        return canonical_draw(*this, frame, weigh, random);
    }

    [[nodiscard]] auto count(const SamplingFrame& frame) const -> std::uint32_t {
        auto count = std::uint32_t{0};
        const auto add = [&](ClassId, const auto& tree) {
            count += tree.positive();
            return true;
        };
        if (frame.models.empty()) { candidates_.each_filled(frame.classes, add); }
        for_each_model(frame, [&](const Holders& holders, std::uint32_t) {
            holders.each_filled(frame.classes, add);
            return true;
        });
        return count;
    }

    /// Calls `f(class, count)` for each of the classes that has candidates, while it returns true.
    /// @complexity O(classes), about a nanosecond for each.
    template <class F>
    void each_filled(std::span<const ClassId> classes, F&& f) const {
        candidates_.each_filled(classes, [&](ClassId c, const SumTree& tree) { return f(c, tree.positive()); });
    }

    /// Sum of the bounds of the frame.
    [[nodiscard]] auto total(const SamplingFrame& frame) const -> std::uint64_t {
        auto sum = frame.models.empty() ? candidates_.total(frame.classes) : 0;
        for_each_model(frame, [&](const Holders& holders, std::uint32_t) {
            sum += holders.total(frame.classes);
            return true;
        });
        return sum;
    }

    /// Result of `locate`.
    struct Hit {
        NodeHandle node{};
        std::uint32_t model = 0;   ///< Index in `SamplingFrame::models`.
        std::uint32_t offset = 0;  ///< Distance of the point from the beginning of the place.
        std::uint32_t bound = 0;   ///< The length of the place.
    };

    /// The first place of the frame whose prefix sum exceeds `point`.
    /// @pre `point < total(frame)`.
    [[nodiscard]] auto locate(const SamplingFrame& frame, std::uint64_t point) const -> Hit {
        auto hit = Hit{};
        if (frame.models.empty()) {
            const auto& tree = candidates_[candidates_.locate(frame.classes, point)];
            const auto found = tree.find(point);
            return {NodeHandle{found.item}, 0, static_cast<std::uint32_t>(found.offset), tree.weight(found.slot)};
        }
        for_each_model(frame, [&](const Holders& holders, std::uint32_t model) {
            const auto i = holders.locate(frame.classes, point);
            if (i == Holders::none) { return true; }
            const auto found = holders[i].find(point, locals_);
            hit = {NodeHandle{found.item - 1}, model, static_cast<std::uint32_t>(found.offset), locals_[found.item]};
            return false;
        });
        return hit;
    }

    /// Calls `f(node, model index, bound)` for each place of the frame, in its order.
    template <class F>
    void for_each(const SamplingFrame& frame, F&& f) const {
        if (frame.models.empty()) {
            candidates_.each_filled(frame.classes, [&](ClassId, const SumTree& tree) {
                tree.for_each(
                    [&](std::uint32_t, std::uint32_t item, std::uint32_t bound) { f(NodeHandle{item}, 0U, bound); });
                return true;
            });
        }
        for_each_model(frame, [&](const Holders& holders, std::uint32_t model) {
            holders.each_filled(frame.classes, [&](ClassId, const HolderTree& tree) {
                tree.for_each([&](std::uint32_t item) { f(NodeHandle{item - 1}, model, locals_[item]); });
                return true;
            });
            return true;
        });
    }

    /// Calls `f(begin, bound)` for each place of the frame that a node has: one, or one for each model that it holds.
    /// @complexity O(classes + log n) for each place.
    template <class F>
    void each_place(const SamplingFrame& frame, const NodePlace& node, F&& f) const {
        const auto at = std::lower_bound(frame.classes.begin(), frame.classes.end(), node.node_class);
        if (at == frame.classes.end() || *at != node.node_class) { return; }
        const auto earlier = frame.classes.first(static_cast<std::size_t>(at - frame.classes.begin()));
        if (frame.models.empty()) {
            const auto i = candidates_.index(node.node_class);
            const auto bound = i != Candidates::none ? candidates_[i].weight(node.slot) : 0U;
            if (bound > 0) { f(candidates_.total(earlier) + candidates_[i].before(node.slot), bound); }
        }
        auto begin = std::uint64_t{0};
        for_each_model(frame, [&](const Holders& holders, std::uint32_t model) {
            const auto i = holders.index(node.node_class);
            for (const auto& held : node.models) {
                const auto there = held.model == frame.models[model] && held.on_disk() && i != Holders::none;
                if (there && holders[i].item(held.place) == node.node.value + 1) {
                    f(begin + holders.total(earlier) + holders[i].before(held.place, locals_), local(node.node));
                }
            }
            begin += holders.total(frame.classes);
            return true;
        });
    }

private:
    using Candidates = detail::ClassTrees<SumTree, true>;
    using Holders = detail::ClassTrees<HolderTree, false>;
    static auto same_models(const NodePlace& a, const NodePlace& b) -> bool {
        return a.models.data() == b.models.data() && a.models.size() == b.models.size();
    }

    void set(const NodePlace& place, std::uint32_t bound) {
        if (place.node_class == no_handle<ClassId>) { return; }
        const auto i = bound > 0 ? candidates_.made(place.node_class) : candidates_.index(place.node_class);
        if (i != Candidates::none && (bound > 0 || candidates_[i].weight(place.slot) > 0)) {
            candidates_[i].set(place.slot, bound, place.node.value);
            candidates_.add(i, candidates_[i].total() - candidates_.total_of(i));
        }
    }

    /// Moves a node from its old places among the holders of its models to its new ones. Where its models alone
    /// changed, it keeps its places among the holders of the others.
    ///
    /// The bound is written before a place is taken: if an allocation fails there, the places that have the node agree
    /// with it. The node is erased only from places that have it, so that an interrupted change can be undone.
    void set_local(const NodePlace& before, const NodePlace& after, bool stays) {
        const auto was = local(after.node);
        const auto is = after.models.empty() ? 0U : after.bound_local;  // without models the node is in none of the
                                                                        // trees
        const auto same = stays && same_models(before, after);
        if (same && was == is) { return; }
        if (stays && was == is && is > 0) {
            const auto keeps = [](const HeldModel* a, const HeldModel* b) {
                return a != nullptr && b != nullptr && a->on_disk() && b->on_disk() && a->place == b->place;
            };
            each_difference(before.models, after.models, [&](const HeldModel* held, const HeldModel* then) {
                if (held != nullptr && !keeps(held, then)) { leave(before, *held, was); }
            });
            each_difference(before.models, after.models, [&](const HeldModel* then, const HeldModel* held) {
                if (held != nullptr && !keeps(then, held)) { enter(after, *held, was); }
            });
            return;
        }
        if (is > 0) { (void)locals_.made(after.node.value + 1); }
        if (!same) { leave(before, local(before.node)); }
        if (is == 0) { leave(after, was); }
        if (was > 0 || is > 0) { locals_.at(after.node.value + 1) = is; }
        if (is > 0) { enter(after, was); }
    }

    void enter(const NodePlace& place, std::uint32_t was) {
        for (const auto& held : place.models) { enter(place, held, was); }
    }
    void enter(const NodePlace& place, const HeldModel& held, std::uint32_t was) {
        if (!held.on_disk()) { return; }
        const auto item = place.node.value + 1;
        auto& holders = models_.made(held.model.value);
        const auto i = holders.made(place.node_class);
        const auto there = holders[i].item(held.place);
        if (there == item) {
            const auto difference = std::uint64_t{place.bound_local} - std::uint64_t{was};
            holders[i].add(held.place, difference);
            holders.add(i, difference);
            return;
        }
        if (there != 0) { erase(holders, i, held.place, locals_[there]); }
        holders[i].put(held.place, item, place.bound_local, holders.total_of(i));
        holders.add(i, place.bound_local);
    }

    void leave(const NodePlace& place, std::uint32_t was) {
        for (const auto& held : place.models) { leave(place, held, was); }
    }
    void leave(const NodePlace& place, const HeldModel& held, std::uint32_t was) {
        if (!held.on_disk() || models_.find(held.model.value) == nullptr) { return; }
        auto& holders = models_.at(held.model.value);
        const auto i = holders.index(place.node_class);
        if (i != Holders::none && holders[i].item(held.place) == place.node.value + 1) {
            erase(holders, i, held.place, was);
        }
    }

    static void erase(Holders& holders, std::uint32_t i, std::uint32_t place, std::uint32_t weight) {
        holders[i].erase(place, weight);
        holders.add(i, 0 - std::uint64_t{weight});
    }

    /// The bound that the node has among the holders of its models.
    [[nodiscard]] auto local(NodeHandle node) const -> std::uint32_t { return locals_[node.value + 1]; }

    /// Calls `f(holders, model index)` for the models of the frame in order, until `f` returns false.
    template <class F>
    void for_each_model(const SamplingFrame& frame, F&& f) const {
        for (std::uint32_t i = 0; i < frame.models.size(); ++i) {
            const auto* holders = models_.find(frame.models[i].value);
            if (holders != nullptr && !f(*holders, i)) { return; }
        }
    }

    Candidates candidates_;
    Column<Holders, 64> models_;    // by model: the holders' trees
    Column<std::uint32_t> locals_;  // by node + 1: its bound in these trees; 0 if it is in none
};

}}  // namespace allot::v0
