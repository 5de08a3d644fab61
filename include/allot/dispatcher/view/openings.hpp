#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include <allot/dispatcher/view/weighing.hpp>

namespace allot { inline namespace v0 {

/// Answers which groups of waiting tasks, and which cards, have enough free nodes for a start at all. It only counts,
/// before anything is drawn: a group that passes may still get no node, one that does not gets none.
///
/// @complexity unless stated: that of the pool's `count`, which is linear in the classes.
template <class... Ps>
class Openings : public Weighing<Ps...> {
    using Below = Weighing<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::pool, Below::gated, Below::gates, Below::rarest, Below::holds_all, Below::is_candidate;

    /// Those of these classes that have the same card as `like`.
    /// @complexity O(classes).
    [[nodiscard]] auto card_of(ClassId like, std::span<const ClassId> classes) const -> std::vector<ClassId> {
        auto same = std::vector<ClassId>{};
        std::copy_if(classes.begin(), classes.end(), std::back_inserter(same),
                     [&](ClassId c) { return records.fits().same_card(c, like); });
        return same;
    }

    /// Those of a requirement's classes in which a gang can begin: if it wants one card, the cards with enough free
    /// nodes.
    /// @complexity O(classes).
    [[nodiscard]] auto beginnings(RequirementId r) const -> std::vector<ClassId> {
        const auto& fits = records.fits();
        const auto classes = fits.classes_of(r);
        const auto& asked = fits.value(r);
        if (!asked.same_card) { return {classes.begin(), classes.end()}; }
        struct Card {
            ClassId like = no_handle<ClassId>;  // one of its classes
            std::uint32_t free = 0;             // number of its free nodes
        };
        // A hash table, at most half full. Nodes choose the names of their cards, but do not know the key of the hash.
        auto cards = std::vector<Card>(std::bit_ceil(2 * classes.size() + 1));
        const auto card_of_class = [&](ClassId c) -> Card& {
            for (auto at = fits.card_hash(c);; ++at) {
                auto& card = cards[static_cast<std::size_t>(at) & (cards.size() - 1)];
                if (card.like == no_handle<ClassId>) { card.like = c; }
                if (fits.same_card(card.like, c)) { return card; }
            }
        };
        for (const auto& c : classes) { card_of_class(c).free += pool.count(SamplingFrame{{&c, 1}}); }
        auto left = std::vector<ClassId>{};
        std::copy_if(classes.begin(), classes.end(), std::back_inserter(left),
                     [&](ClassId c) { return card_of_class(c).free >= asked.gang_size; });
        return left;
    }

    /// True if enough nodes are free for the tasks of a group. The conditions of single tasks are not checked.
    [[nodiscard]] auto startable(RequirementId group) const -> bool {
        return gates() ? startable(gated.ask(group).requirement, gated.ask(group).models) : startable(group, {});
    }

    /// The requirement of the tasks of a group.
    [[nodiscard]] auto asked_by(RequirementId group) const -> RequirementId {
        return gates() ? gated.ask(group).requirement : group;
    }

    /// The same for the group of a task.
    [[nodiscard]] auto startable(const Task& task) const -> bool {
        return startable(task.requirement, gates() ? span_of(task.models) : std::span<const ModelId>{});
    }

    /// The same for tasks of a requirement that get no node without these models.
    [[nodiscard]] auto startable(RequirementId r, std::span<const ModelId> models) const -> bool {
        const auto& asked = records.fits().value(r);
        const auto classes = records.fits().classes_of(r);
        auto frame = SamplingFrame{classes};
        auto rare = no_handle<ModelId>;
        if (!models.empty()) {
            rare = rarest(models);
            if (records.models().holders(rare) < asked.gang_size) { return false; }
            frame.models = {&rare, 1};
        }
        return pool.count(frame) >= asked.gang_size && (!asked.same_card || !beginnings(r).empty());
    }

    /// Calls `f(group)` for each group of waiting tasks, and for some without tasks.
    template <class F>
    void each_group(F&& f) const {
        if (gates()) {
            gated.each([&](RequirementId group, const GateAsk&) { f(group); });
        } else {
            records.fits().requirements().for_each([&](std::uint32_t r, const Requirement&) { f(RequirementId{r}); });
        }
    }

    /// The groups of tasks that a node, if it were free, could run alone or with other free nodes. `possible` stores
    /// the list if it is a new one.
    /// @complexity O(1) if there are neither gangs nor a gate. With gangs, O(groups) counts of the pool, each linear in
    /// the classes. With a gate, O(m log m) for the m models of the node, and O(models of the group) for each group
    /// that is listed under them.
    [[nodiscard]] auto groups_for(NodeHandle n, std::vector<RequirementId>& possible) const
        -> std::span<const RequirementId> {
        const auto own = records.nodes()[n].node.node_class;
        auto all = records.fits().requirements_of(own);
        const auto gangs = records.fits().gangs() > 0;
        if (!gangs && !gates()) { return std::move(all).kept_in(possible); }
        const auto itself = is_candidate(records.nodes()[n]) ? 0U : 1U;  // which the pool does not count
        const auto free = !gangs ? 0U : itself + pool.count(SamplingFrame{records.fits().all_classes()});
        const auto of_card =
            !gangs ? 0U : itself + pool.count(SamplingFrame{card_of(own, records.fits().all_classes())});
        const auto has_room = [&](RequirementId r, std::span<const ModelId> listed_under = {}) {
            const auto& asked = records.fits().value(r);
            if (asked.gang_size == 1) { return true; }
            if ((asked.same_card ? of_card : free) < asked.gang_size) { return false; }
            const auto classes = records.fits().classes_of(r);
            const auto same = asked.same_card ? card_of(own, classes) : std::vector<ClassId>{};
            return itself + pool.count(SamplingFrame{asked.same_card ? span_of(same) : classes, listed_under}) >=
                   asked.gang_size;
        };
        if (!gates()) {
            std::copy_if(all.begin(), all.end(), std::back_inserter(possible),
                         [&](RequirementId r) { return has_room(r); });
            return possible;
        }
        for (const auto r : all) {
            const auto group = gated.without_models(r);
            if (group && has_room(r)) { possible.push_back(*group); }
        }
        for (const auto& held : records.holdings(n)) {
            if (!held.on_disk()) { continue; }
            for (const auto group : gated.under(held.model)) {
                const auto& ask = gated.ask(group);
                const auto fits = records.fits().fit(own, ask.requirement);
                if (fits && holds_all(n, ask.models) && has_room(ask.requirement, {&held.model, 1})) {
                    possible.push_back(group);
                }
            }
        }
        return possible;
    }
};

}}  // namespace allot::v0
