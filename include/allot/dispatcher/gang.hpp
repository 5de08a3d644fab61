#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

// Tasks that run on several nodes at once (seed 000; rules 25, 26): who may stand beside whom, and how a whole gang is found.

template <class... Ps>
auto Dispatcher<Ps...>::gang_size(const Task& task) const -> std::uint32_t {
    return state_.fits().value(task.requirement).gang_size;
}

template <class... Ps>
auto Dispatcher<Ps...>::ends_by(LeaseHandle lease) const -> TimePoint {
    auto last = state_.leases()[lease].deadline;
    if (state_.leases()[lease].phase == LeasePhase::completed) {
        last = TimePoint{};
        each_member(state_.leases()[lease].task, [&](LeaseHandle l) {
            if (state_.leases()[l].phase != LeasePhase::completed) {
                last = std::max(last, state_.leases()[l].deadline);
            }
        });
    }
    return last;
}

/// Whether a node may stand beside those chosen before it: it is none of them, nor of their operators in a validation group.
template <class... Ps>
auto Dispatcher<Ps...>::joins(NodeHandle h, const Task& task, const Gang& chosen) const -> bool {
    const auto apart = task.group != no_handle<GroupHandle>;
    return std::none_of(chosen.begin(), chosen.end(), [&](const Draw& other) {
        return other.node == h ||
               (apart && state_.nodes()[other.node].node.operator_id == state_.nodes()[h].node.operator_id);
    });
}

/// Those of a requirement's classes that have one card, that of `like`.
template <class... Ps>
auto Dispatcher<Ps...>::card_of(ClassId like, std::span<const ClassId> classes) const -> std::vector<ClassId> {
    const auto& card = state_.fits().value(like);
    auto same = std::vector<ClassId>{};
    std::copy_if(classes.begin(), classes.end(), std::back_inserter(same), [&](ClassId c) {
        const auto& other = state_.fits().value(c);
        return other.vram == card.vram && other.gpu == card.gpu;
    });
    return same;
}

/// Those of a requirement's classes in which a gang may begin: if it wants one card, the cards of enough free nodes.
template <class... Ps>
auto Dispatcher<Ps...>::beginnings(RequirementId r) const -> std::vector<ClassId> {
    const auto classes = state_.fits().classes_of(r);
    auto left = std::vector<ClassId>{classes.begin(), classes.end()};
    const auto& asked = state_.fits().value(r);
    if (asked.same_card) {
        std::erase_if(left, [&](ClassId c) { return pool_.count(SamplingFrame{card_of(c, classes)}) < asked.gang_size; });
    }
    return left;
}

/// Whether enough nodes are free for a requirement, whatever a single task has against them.
template <class... Ps>
auto Dispatcher<Ps...>::startable(RequirementId r) const -> bool {
    const auto& asked = state_.fits().value(r);
    return pool_.count(SamplingFrame{state_.fits().classes_of(r)}) >= asked.gang_size && (!asked.same_card || !beginnings(r).empty());
}

/// Draws further members, each by weight among those left over, until the gang is whole or nobody is left.
template <class... Ps>
void Dispatcher<Ps...>::fill(Gang& gang, const Task& task, std::span<const ClassId> classes, Random& random) const {
    for (const auto size = gang_size(task); gang.size() < size && left_over(gang, classes);) {
        const auto drawn = draw_one(task, classes, gang, random);
        if (!drawn) {
            return;
        }
        gang.push_back(*drawn);
    }
}

/// Whether anybody is free in these classes but the chosen, of whom the first may be one that is only asked about and not free.
/// To find that out, a draw would look at every place, busy ones too.
template <class... Ps>
auto Dispatcher<Ps...>::left_over(const Gang& chosen, std::span<const ClassId> classes) const -> bool {
    if (chosen.empty()) {
        return true;
    }
    const auto taken = std::count_if(chosen.begin(), chosen.end(), [&](const Draw& member) {
        const auto& record = state_.nodes()[member.node];
        return is_candidate(record) && std::find(classes.begin(), classes.end(), record.node.node_class) != classes.end();
    });
    return pool_.count(SamplingFrame{classes}) > static_cast<std::uint32_t>(taken);
}

/// The nodes that a task's draw falls on: all it needs, or none.
///
/// Any card: one draw after the other without replacement. One card: the first node by weight among cards of enough free nodes,
/// the others among that card (rule 25). Where not enough of its nodes may run this very task, that card is left out and the draw
/// begins anew with the same stream, so that shares are those among the cards that can.
template <class... Ps>
auto Dispatcher<Ps...>::draw(const Task& task, const Entropy& entropy) const -> Gang {
    auto random = Random{entropy, Purpose::dispatch, task.id.bytes(), task.attempt};
    const auto classes = state_.fits().classes_of(task.requirement);
    const auto& asked = state_.fits().value(task.requirement);
    auto gang = Gang{};
    if (asked.gang_size == 1) {
        if (const auto drawn = draw_one(task, classes, gang, random)) {
            gang.push_back(*drawn);
        }
        return gang;
    }
    if (!asked.same_card) {
        fill(gang, task, classes, random);
        if (gang.size() < asked.gang_size) {
            gang.clear();
        }
        return gang;
    }
    for (auto left = beginnings(task.requirement); !left.empty();) {
        const auto first = draw_one(task, left, gang, random);
        if (!first) {
            return gang;
        }
        gang.push_back(*first);
        const auto card = card_of(state_.nodes()[first->node].node.node_class, classes);
        fill(gang, task, card, random);
        if (gang.size() == asked.gang_size) {
            return gang;
        }
        std::erase_if(left, [&](ClassId c) { return std::binary_search(card.begin(), card.end(), c); });
        gang.clear();
    }
    return gang;
}

/// The gang of a node that became free, itself first: with others of its card, or with those of the largest VRAM, so that the
/// smallest VRAM in the gang is as large as can be (seed 000, "Find the best combination of 3 nodes"; rule 26). Among nodes of
/// equal VRAM lots decide. Empty when there are too few. @pre it can run the task itself.
template <class... Ps>
auto Dispatcher<Ps...>::gang_of(NodeHandle n, const Task& task, const Entropy& entropy) const -> Gang {
    const auto& asked = state_.fits().value(task.requirement);
    auto gang = Gang{Draw{n}};
    if (asked.gang_size == 1) {
        return gang;
    }
    auto random = Random{entropy, Purpose::dispatch, task.id.bytes(), task.attempt};
    const auto classes = state_.fits().classes_of(task.requirement);
    each_tier(state_.nodes()[n].node.node_class, asked, classes, [&](std::span<const ClassId> tier) {
        fill(gang, task, tier, random);
        return gang.size() < asked.gang_size;
    });
    if (gang.size() < asked.gang_size) {
        gang.clear();
    }
    return gang;
}

/// Calls `f(classes)` for the classes from which companions of a node come, in the order of preference, as long as it says so.
template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_tier(ClassId own, const Requirement& asked, std::span<const ClassId> classes, F&& f) const {
    if (asked.same_card) {
        f(card_of(own, classes));
        return;
    }
    auto sorted = std::vector<ClassId>{classes.begin(), classes.end()};
    const auto vram = [&](ClassId c) { return state_.fits().value(c).vram; };
    std::stable_sort(sorted.begin(), sorted.end(), [&](ClassId a, ClassId b) { return vram(b) < vram(a); });
    for (auto tier = sorted.begin(); tier != sorted.end();) {
        const auto end = std::find_if(tier, sorted.end(), [&](ClassId c) { return vram(c) != vram(*tier); });
        if (!f(std::span<const ClassId>{tier, end})) {
            return;
        }
        tier = end;
    }
}

/// The groups of tasks that a node, were it free, can run alone or with others that are; `possible` keeps the list if it is a new
/// one.
template <class... Ps>
auto Dispatcher<Ps...>::groups_for(NodeHandle n, std::vector<RequirementId>& possible) const -> std::span<const RequirementId> {
    const auto own = state_.nodes()[n].node.node_class;
    const auto all = state_.fits().requirements_of(own);
    if (state_.fits().gangs() == 0) {
        return all;
    }
    const auto itself = is_candidate(state_.nodes()[n]) ? 0U : 1U;  // which the pool does not count
    const auto free = itself + pool_.count(SamplingFrame{state_.fits().all_classes()});
    const auto of_card = itself + pool_.count(SamplingFrame{card_of(own, state_.fits().all_classes())});
    std::copy_if(all.begin(), all.end(), std::back_inserter(possible), [&](RequirementId r) {
        const auto& asked = state_.fits().value(r);
        return (asked.same_card ? of_card : free) >= asked.gang_size &&
               (asked.gang_size == 1 || itself + pool_.count(SamplingFrame{state_.fits().classes_of(r)}) >= asked.gang_size);
    });
    return possible;
}

/// Shows a trace the draws of a gang from one member on.
template <class... Ps>
void Dispatcher<Ps...>::traced_gang(const Task& task, const Gang& gang, std::size_t first, const Step& step) const {
    if (step.trace.sees == nullptr) {
        return;
    }
    for (auto i = first; i < gang.size(); ++i) {
        traced({DecisionKind::draw, task, gang[i], &*step.moment.entropy, no_handle<ModelId>, span_of(gang).first(i), first > 0},
                  step);
    }
}

}}  // namespace allot::v0
