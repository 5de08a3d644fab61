#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <allot/dispatcher/view/weighing.hpp>

namespace allot { inline namespace v0 {

/// Number of classes, and of requirements of gangs, whose free nodes are counted for a pull at the price of one try.
inline constexpr std::uint32_t classes_per_try = 256;
inline constexpr std::uint32_t gangs_per_try = 32;

/// Answers which groups of waiting tasks, and which cards, have enough free nodes for a start at all. It only counts,
/// before anything is drawn: a group that passes may still get no node, one that does not gets none.
///
/// @complexity unless stated: that of the pool's `count`, which is linear in the classes.
template <class... Ps>
class Openings : public Weighing<Ps...> {
    using Below = Weighing<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::candidates, Below::gated, Below::gates, Below::rarest, Below::holds_all,
        Below::is_candidate;

    /// Calls `f(class, count)` for each of these classes that has free nodes, while it returns true.
    /// @complexity that of the pool's `each_filled`, or one `count` of the pool for each class.
    template <class F>
    void each_filled(std::span<const ClassId> classes, F&& f) const {
        if constexpr (has_each_filled<typename Below::Types::CandidatePool>) {
            candidates().each_filled(classes, f);
        } else {
            for (const auto& c : classes) {
                const auto count = candidates().count(SamplingFrame{{&c, 1}});
                if (count > 0 && !f(c, count)) { return; }
            }
        }
    }

    /// Those of these classes that have a free node.
    [[nodiscard]] auto filled(std::span<const ClassId> classes) const -> std::vector<ClassId> {
        auto some = std::vector<ClassId>{};
        each_filled(classes, [&](ClassId c, std::uint32_t) {
            some.push_back(c);
            return true;
        });
        return some;
    }

    /// True if so many nodes of these classes are free.
    [[nodiscard]] auto are_free(std::span<const ClassId> classes, std::uint32_t number) const -> bool {
        if constexpr (has_each_filled<typename Below::Types::CandidatePool>) {
            auto found = std::uint32_t{0};
            candidates().each_filled(classes, [&](ClassId, std::uint32_t count) { return (found += count) < number; });
            return found >= number;
        } else {
            return candidates().count(SamplingFrame{classes}) >= number;
        }
    }

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
        each_filled(classes, [&](ClassId c, std::uint32_t count) {
            card_of_class(c).free += count;
            return true;
        });
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
        return startable(task.requirement, gates() ? task.models() : std::span<const ModelId>{});
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
        const auto enough =
            models.empty() ? are_free(classes, asked.gang_size) : candidates().count(frame) >= asked.gang_size;
        return enough && (!asked.same_card || !beginnings(r).empty());
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

    /// Result of `groups_for`.
    struct Groups {
        std::span<const RequirementId> list;
        std::uint32_t counted = 0;  ///< Number of tries that looking at gangs is worth (rule 16).
    };

    /// The groups of tasks that a node, if it were free, could run alone or with other free nodes. `possible` stores
    /// the list if it is a new one.
    /// @param with_gangs false not to ask which gangs have enough free nodes. Then all of them are listed.
    /// @complexity O(1) if there are neither gangs nor a gate. With gangs O(groups), and that of `with_room`. With a
    /// gate, O(m log m) for the m models of the node, and O(models of the group) for each group that is listed under
    /// them.
    [[nodiscard]] auto groups_for(NodeHandle n, std::vector<RequirementId>& possible, bool with_gangs) const -> Groups {
        const auto& fits = records.fits();
        const auto own = records.nodes()[n].node.node_class;
        auto all = fits.requirements_of(own);
        if ((fits.gangs() == 0 || !with_gangs) && !gates()) { return {std::move(all).kept_in(possible)}; }
        auto waiting = std::vector<RequirementId>{};  // gangs
        auto groups = Groups{};
        if (with_gangs) {
            std::copy_if(all.begin(), all.end(), std::back_inserter(waiting), [&](RequirementId r) {
                return fits.value(r).gang_size > 1 && fits.count(r) > fits.staying(r);
            });
            const auto classes = waiting.empty() ? 0 : fits.classes().size();
            groups.counted = static_cast<std::uint32_t>(fits.gangs() / gangs_per_try + classes / classes_per_try);
        }
        const auto roomy = with_room(n, waiting);
        const auto has_room = [&](RequirementId r, std::span<const ModelId> listed_under = {}) {
            const auto& asked = records.fits().value(r);
            if (asked.gang_size == 1 || !with_gangs) { return true; }
            if (!std::binary_search(roomy.begin(), roomy.end(), r)) { return false; }
            if (listed_under.empty()) { return true; }
            const auto itself = is_candidate(records.nodes()[n]) ? 0U : 1U;  // which the pool does not count
            const auto classes = records.fits().classes_of(r);
            const auto same = asked.same_card ? card_of(own, classes) : std::vector<ClassId>{};
            return itself +
                       candidates().count(SamplingFrame{asked.same_card ? span_of(same) : classes, listed_under}) >=
                   asked.gang_size;
        };
        if (!gates()) {
            std::copy_if(all.begin(), all.end(), std::back_inserter(possible),
                         [&](RequirementId r) { return has_room(r); });
            groups.list = possible;
            return groups;
        }
        for (const auto r : all) {
            const auto group = gated.without_models(r);
            if (group && has_room(r)) { possible.push_back(*group); }
        }
        for (const auto& held : records.holdings(n)) {
            for (const auto group : gated.under(held.model)) {
                const auto& ask = gated.ask(group);
                const auto fit = fits.fit(own, ask.requirement);
                if (fit && holds_all(n, ask.models) && has_room(ask.requirement, {&held.model, 1})) {
                    possible.push_back(group);
                }
            }
        }
        groups.list = possible;
        return groups;
    }

private:
    /// Those of these requirements of gangs, ascending, that have enough free nodes with this one.
    /// @complexity O(requirements · classes / 64 + classes).
    [[nodiscard]] auto with_room(NodeHandle n, const std::vector<RequirementId>& gangs) const
        -> std::vector<RequirementId> {
        const auto& fits = records.fits();
        const auto own = records.nodes()[n].node.node_class;
        auto room = std::vector<RequirementId>{};
        for (const auto same_card : {false, true}) {
            auto some = std::vector<RequirementId>{};
            std::copy_if(gangs.begin(), gangs.end(), std::back_inserter(some),
                         [&](RequirementId r) { return fits.value(r).same_card == same_card; });
            if (some.empty()) { continue; }
            const auto card = same_card ? card_of(own, fits.all_classes()) : std::vector<ClassId>{};
            auto classes = std::vector<ClassId>{};
            auto counts = std::vector<std::uint32_t>{};  // by class
            each_filled(same_card ? span_of(card) : fits.all_classes(), [&](ClassId c, std::uint32_t count) {
                classes.push_back(c);
                counts.resize(std::size_t{c.value} + 1);
                counts.back() = count;
                return true;
            });
            // The pool does not count the node itself unless it is a candidate.
            auto free = std::vector<std::uint32_t>(some.size(), is_candidate(records.nodes()[n]) ? 0U : 1U);
            fits.each_fit(classes, some, [&](std::size_t i, ClassId c) {
                free[i] += counts[c.value];
                return free[i] < 256;  // no gang is as large
            });
            for (std::size_t i = 0; i < some.size(); ++i) {
                if (free[i] >= fits.value(some[i]).gang_size) { room.push_back(some[i]); }
            }
        }
        std::sort(room.begin(), room.end());
        return room;
    }
};

}}  // namespace allot::v0
