#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/policy/canonical_draw.hpp>
#include <allot/policy/role.hpp>
#include <allot/store/sum_tree.hpp>

namespace allot { inline namespace v0 {

/// The default candidate pool: candidates grouped by class (GPU, VRAM, platform, version), each group a sum tree over the bounds
/// of its nodes' weights, and one more tree for each model's holders in each class.
///
/// Invariant: a tree's place holds the node's bound while it is a candidate, and zero otherwise. Trees know neither stakes nor
/// scores; `canonical_draw` turns bounds into exact weights.
///
/// @complexity a draw O(classes + log n) a try; a change O(log n), and O(log n) more a held model.
class GpuGroupPool {
public:
    using role = role::pool;
    static constexpr bool stores_bounds = true;

    void changed(const NodePlace& before, const NodePlace& after) {
        // A node that only becomes busy or free keeps its places, so each tree is touched once.
        const auto stays = before.node == after.node && before.node_class == after.node_class &&
                           before.slot == after.slot && same_models(before, after);
        if (!stays) {
            set(before, 0, 0);
        }
        set(after, after.bound, after.bound_local);
    }

    template <class Weigh>
    [[nodiscard]] auto draw(const Frame& frame, Weigh&& weigh, Random& random) const -> std::optional<Draw> {
        return canonical_draw(*this, frame, weigh, random);
    }

    [[nodiscard]] auto count(const Frame& frame) const -> std::uint32_t {
        auto count = std::uint32_t{0};
        for_each_tree(frame, [&](const SumTree& tree, std::uint32_t) { count += tree.positive(); return true; });
        return count;
    }

    /// Sum of the bounds of the frame.
    [[nodiscard]] auto total(const Frame& frame) const -> std::uint64_t {
        auto sum = std::uint64_t{0};
        if (frame.models.empty()) {
            for (const auto node_class : frame.classes) {
                sum += total_of(node_class);
            }
            return sum;
        }
        for_each_tree(frame, [&](const SumTree& tree, std::uint32_t) { sum += tree.total(); return true; });
        return sum;
    }

    /// What `locate` finds.
    struct Hit {
        NodeHandle node{};
        std::uint32_t model = 0;   ///< Index in `Frame::models`.
        std::uint64_t offset = 0;  ///< How far behind the place's beginning the point lies.
    };

    /// The first place of the frame whose prefix sum exceeds `point`. @pre `point < total(frame)`.
    [[nodiscard]] auto locate(const Frame& frame, std::uint64_t point) const -> Hit {
        auto hit = Hit{};
        if (frame.models.empty()) {
            auto node_class = frame.classes.begin();
            for (; point >= total_of(*node_class); ++node_class) {
                point -= total_of(*node_class);
            }
            const auto found = classes_[node_class->value].find(point);
            return {NodeHandle{found.item}, 0, found.offset};
        }
        for_each_tree(frame, [&](const SumTree& tree, std::uint32_t model) {
            if (point >= tree.total()) {
                point -= tree.total();
                return true;
            }
            const auto found = tree.find(point);
            hit = {NodeHandle{found.item}, model, found.offset};
            return false;
        });
        return hit;
    }

    /// Calls `f(node, model index)` for each place of the frame, in its order.
    template <class F>
    void for_each(const Frame& frame, F&& f) const {
        for_each_tree(frame, [&](const SumTree& tree, std::uint32_t model) {
            tree.for_each([&](std::uint32_t, std::uint32_t item, std::uint32_t) { f(NodeHandle{item}, model); });
            return true;
        });
    }

private:
    struct Holders {
        ClassId node_class{};
        SumTree tree;
    };

    static auto same_models(const NodePlace& a, const NodePlace& b) -> bool {
        return a.models.data() == b.models.data() && a.models.size() == b.models.size();
    }

    void set(const NodePlace& place, std::uint32_t bound, std::uint32_t bound_local) {
        if (place.node_class == no_handle<ClassId>) {
            return;
        }
        auto& tree = tree_of(place.node_class);
        put(tree, place.slot, bound, place.node);
        totals_[place.node_class.value] = tree.total();
        for (const auto& held : place.models) {
            if (held.on_disk()) {
                put(holders_of(held.model, place.node_class), held.place, bound_local, place.node);
            }
        }
    }

    static void put(SumTree& tree, std::uint32_t slot, std::uint32_t bound, NodeHandle node) {
        if (bound > 0 || tree.weight(slot) > 0) {
            tree.set(slot, bound, node.value);
        }
    }

    auto tree_of(ClassId node_class) -> SumTree& {
        if (node_class.value >= classes_.size()) {
            classes_.resize(node_class.value + std::size_t{1});
            totals_.resize(classes_.size());
        }
        return classes_[node_class.value];
    }

    [[nodiscard]] auto total_of(ClassId node_class) const -> std::uint64_t {
        return node_class.value < totals_.size() ? totals_[node_class.value] : 0;
    }

    auto holders_of(ModelId model, ClassId node_class) -> SumTree& {
        if (model.value >= models_.size()) {
            models_.resize(model.value + std::size_t{1});
        }
        auto& rows = models_[model.value];
        auto row = std::lower_bound(rows.begin(), rows.end(), node_class, before_class);
        if (row == rows.end() || row->node_class != node_class) {
            row = rows.insert(row, Holders{node_class, SumTree{}});
        }
        return row->tree;
    }

    static auto before_class(const Holders& row, ClassId node_class) -> bool { return row.node_class < node_class; }

    /// Calls `f(tree, model index)` for the trees of the frame in order, until one answers false.
    template <class F>
    void for_each_tree(const Frame& frame, F&& f) const {
        if (frame.models.empty()) {
            for (const auto node_class : frame.classes) {
                if (node_class.value < classes_.size() && !f(classes_[node_class.value], 0U)) {
                    return;
                }
            }
        }
        for (std::uint32_t i = 0; i < frame.models.size(); ++i) {
            if (frame.models[i].value >= models_.size()) {
                continue;
            }
            // Both lists ascend by class: walk them side by side.
            auto fitting = frame.classes.begin();
            for (const auto& row : models_[frame.models[i].value]) {
                fitting = std::lower_bound(fitting, frame.classes.end(), row.node_class);
                if (fitting == frame.classes.end()) {
                    break;
                }
                if (*fitting == row.node_class && !f(row.tree, i)) {
                    return;
                }
            }
        }
    }

    std::vector<SumTree> classes_;              // by class
    std::vector<std::uint64_t> totals_;         // of these, side by side: a draw over many classes reads few cache lines
    std::vector<std::vector<Holders>> models_;  // by model, then ascending by class
};

}}  // namespace allot::v0
