#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/policy/candidate_pool.hpp>

#include "workload/population.hpp"

namespace bench {

/// One of our pools, used alone: beside it lies what the hub would tell it, a place and a weight for each node.
template <class Pool>
class PoolOfAllot {
public:
    PoolOfAllot(std::size_t count, bool with_models) {
        const auto nodes = population(count);
        const auto weights = Weights{nodes};
        auto slots = std::vector<std::uint32_t>(classes);
        for (const auto& node : nodes) {
            places_.push_back({node.node_class(), slots[node.node_class()]++, weights.bound(node),
                               static_cast<std::uint32_t>(weights.now(node).raw().high())});
        }
        if (with_models) { hold(nodes, weights); }
        for (std::uint32_t node_class = 0; node_class < classes; ++node_class) {
            frame_.push_back(allot::ClassId{node_class});
        }
        for (std::uint32_t h = 0; h < count; ++h) { available(h); }
    }

    auto draw(std::uint32_t row, std::optional<std::uint32_t> model) -> std::optional<std::uint32_t> {
        auto frame = allot::SamplingFrame{std::span{frame_}.subspan(row * cards)};
        if (model) {
            const auto wanted = allot::ModelId{*model};
            auto narrowed = frame;
            narrowed.models = {&wanted, 1};
            const auto holder = pool_.draw(
                narrowed, [&](auto h, auto) { return weight(locals_[h.value].weight); }, random_);
            if (holder) { return holder->node.value; }
        }
        const auto drawn = pool_.draw(
            frame, [&](auto h, auto) { return weight(places_[h.value].weight); }, random_);
        return drawn ? std::optional{drawn->node.value} : std::nullopt;
    }
    void busy(std::uint32_t h) { pool_.changed(place(h, true), place(h, false)); }
    void available(std::uint32_t h) { pool_.changed(place(h, false), place(h, true)); }

private:
    struct Place {
        std::uint32_t node_class;
        std::uint32_t slot;
        std::uint32_t bound;
        std::uint32_t weight;
    };
    struct Local {
        std::uint32_t bound;
        std::uint32_t weight;
    };

    static auto weight(std::uint32_t whole) -> allot::Weight {
        return allot::Weight::from_raw(allot::u128::from_parts(whole, 0));
    }

    [[nodiscard]] auto place(std::uint32_t h, bool there) const -> allot::NodePlace {
        const auto& at = places_[h];
        const auto models = held_.empty() ? std::span<const allot::HeldModel>{}
                                          : std::span{held_}.subspan(std::size_t{h} * models_held, models_held);
        const auto local = there && !locals_.empty() ? locals_[h].bound : 0;
        return {allot::NodeHandle{h}, allot::ClassId{at.node_class}, at.slot, there ? at.bound : 0, local, models};
    }

    void hold(const std::vector<Profile>& nodes, const Weights& weights) {
        const auto sets = model_sets(nodes.size());
        auto holders = std::vector<std::uint32_t>(std::size_t{models_total} * classes);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            locals_.push_back(
                {weights.bound(nodes[i], 20), static_cast<std::uint32_t>(weights.now(nodes[i], 17).raw().high())});
            for (const auto model : sets[i]) {
                auto& place = holders[std::size_t{model} * classes + nodes[i].node_class()];
                held_.push_back({allot::ModelId{model}, allot::Holding::on_disk, place++});
            }
        }
    }

    Pool pool_;
    std::vector<Place> places_;
    std::vector<Local> locals_;
    std::vector<allot::HeldModel> held_;
    std::vector<allot::ClassId> frame_;  // ascending by size, so the classes that fit stand at the end
    allot::Random random_{7, allot::Purpose::dispatch, {}};
};

}  // namespace bench
