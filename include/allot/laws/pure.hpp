#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/policy/task_valuation.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// The laws of the functions that lease terms may have. They are pure; a task pays and forfeits its fee at most, and a
/// fee of at least `fee_min` can be given.
template <class P>
[[nodiscard]] auto hook_breaks(const P& policy, const Task& task, OutcomeKind outcome, Sampler& sampler) -> Finding {
    const auto impure = [](const char* name) {
        return sentence("the terms are not pure: equal arguments of ", name, " gave different answers");
    };
    if constexpr (has_blames<P>) {
        if (policy.blames(task, outcome) != policy.blames(task, outcome)) { return impure("blames"); }
    }
    if constexpr (has_evidence<P>) {
        if (policy.waits_for_evidence(outcome) != policy.waits_for_evidence(outcome)) {
            return impure("waits_for_evidence");
        }
    }
    if constexpr (has_paid<P>) {
        const auto paid = policy.paid(task);
        if (paid != policy.paid(task)) { return impure("paid"); }
        if (paid > task.fee) {
            return sentence("a task pays ", paid.units, ", which is more than its fee of ", task.fee.units);
        }
    }
    if constexpr (has_forfeit<P>) {
        constexpr Ending endings[] = {Ending::cancelled, Ending::failed, Ending::timed_out};
        const auto ending = endings[sampler.below(3)];
        const auto held = sampler.once_in(3) ? Duration{0} : sampler.duration(32);
        const auto whole = 1 + sampler.small(100);
        const auto crowding = Ratio{sampler.small(whole + 1), whole};
        const auto forfeited = policy.forfeit(task, ending, held, crowding);
        if (forfeited != policy.forfeit(task, ending, held, crowding)) { return impure("forfeit"); }
        if (forfeited > task.fee) {
            return sentence("a task forfeits ", forfeited.units, ", which is more than its fee of ", task.fee.units);
        }
    }
    if constexpr (has_fee_min<P>) {
        const auto reserved = sampler.duration(40);
        const auto least = policy.fee_min(reserved);
        if (least != policy.fee_min(reserved)) { return impure("fee_min"); }
        if (!least.admitted()) {
            return sentence("no fee is enough for ", reserved, ": fee_min is ", least.units, ", and 2^96 is refused");
        }
    }
    return {};
}

}  // namespace detail

/// Checks that an eligibility policy is pure: equal arguments give equal reasons, also from a copy. One that says
/// `listed_cards_only` fits no other card, and one with `stake_min` admits no node of less stake.
/// @complexity linear in `tries`.
template <eligibility P>
[[nodiscard]] auto pure(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    const auto number = [](Reason reason) { return static_cast<std::uint32_t>(reason); };
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto node_class = sampler.node_class();
        const auto requirement = sampler.requirement();
        const auto fits = policy.fits(node_class, requirement);
        if (policy.fits(node_class, requirement) != fits || P{policy}.fits(node_class, requirement) != fits) {
            return sentence("fits is not pure: first it gave reason ", number(fits), " (GPU ", node_class.gpu, " with ",
                            node_class.vram.count, " GiB for a task of ", requirement.vram_min.count, " GiB, try ", i,
                            " of seed ", seed, ")");
        }
        const auto listed = std::any_of(requirement.gpus.begin(), requirement.gpus.end(),
                                        [&](const GpuChoice& choice) { return choice.name == node_class.gpu; });
        if (listed_cards_only<P> && !requirement.gpus.empty() && !listed && fits == Reason::none) {
            return sentence("listed_cards_only is set, and a card fits that the task does not list: GPU ",
                            node_class.gpu, " (try ", i, " of seed ", seed, ")");
        }
        const auto node = sampler.node();
        const auto task = sampler.task();
        const auto situation =
            Situation{TimePoint{sampler.duration(40)}, node_class, requirement, sampler.once_in(4), sampler.once_in(4)};
        const auto admits = policy.admits(node, task, situation);
        if (policy.admits(node, task, situation) != admits || P{policy}.admits(node, task, situation) != admits) {
            return sentence("admits is not pure: first it gave reason ", number(admits), " (node ", node.id.text(),
                            ", task ", task.id.text(), ", try ", i, " of seed ", seed, ")");
        }
        if constexpr (has_fee_max<P>) {
            if (const auto most = policy.fee_max(); most != policy.fee_max()) {
                return sentence("fee_max is not pure: first it gave ", most.units);
            }
        }
        if constexpr (has_stake_min<P>) {
            const auto least = policy.stake_min(task.fee);
            if (least != policy.stake_min(task.fee)) {
                return sentence("stake_min is not pure: equal fees gave different stakes");
            }
            if (admits == Reason::none && node.stake < least) {
                return sentence("a node is admitted with less stake than stake_min asks for the fee of the task: node ",
                                node.id.text(), ", task ", task.id.text(), " (try ", i, " of seed ", seed, ")");
            }
        }
    }
    return {};
}

/// Checks that a weight, monotone or not, is pure. Equal arguments give equal weights: twice in a row, from a copy, and
/// again after many others, in another order. That reveals a hidden counter or cache.
/// @complexity four times `tries` weights, which are stored.
template <weight_policy P>
[[nodiscard]] auto pure(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    struct Try {
        Node node;
        Task task;
        Factors factors;
        NodeClass node_class;
        Requirement requirement;
        Weight weight;
    };
    auto all = std::vector<Try>{};
    const auto weigh = [](const P& by, const Try& one) {
        return weight_of(by, one.node, one.task, one.factors,
                         Situation{TimePoint{}, one.node_class, one.requirement, false, false});
    };
    const auto differs = [&](const Try& one, Weight again, const char* when) {
        return sentence("the weight is not pure: first it gave ", one.weight, " and ", when, " ", again, " (node ",
                        one.node.id.text(), ", task ", one.task.id.text(), ", ", one.factors, ", seed ", seed, ")");
    };
    for (std::uint32_t i = 0; i < tries; ++i) {
        auto one = Try{sampler.node(), sampler.task(), sampler.factors(), {}, {}, {}};
        if constexpr (has_weight_in_situation<P>) {
            one.node_class = sampler.node_class();
            one.requirement = sampler.requirement();
        }
        one.weight = weigh(policy, one);
        if (const auto again = weigh(policy, one); again != one.weight) { return differs(one, again, "at once"); }
        if (const auto copy = weigh(P{policy}, one); copy != one.weight) { return differs(one, copy, "from a copy"); }
        all.push_back(std::move(one));
    }
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
        if (const auto later = weigh(policy, *one); later != one->weight) {
            return differs(*one, later, "after others");
        }
    }
    return {};
}

/// Checks that a model placement is pure, and keeps a node it asked from being asked again at once.
/// @complexity linear in `tries`.
template <model_placement P>
[[nodiscard]] auto pure(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 1'000) -> Finding {
    auto sampler = Sampler{seed};
    if (policy.asked_for() <= Duration{0}) {
        return sentence("a request lapses as soon as it is made: asked_for is ", policy.asked_for());
    }
    for (std::uint32_t i = 0; i < tries; ++i) {
        if constexpr (has_held_for<P>) {
            const auto held = policy.held_for();
            if (held != policy.held_for()) { return sentence("held_for is not pure: first it gave ", held); }
            if (held < Duration{0}) { return sentence("a model counts for ", held, ", which is less than no time"); }
        }
        const auto demand = ModelDemand{static_cast<std::uint32_t>(sampler.magnitude(24).low()),
                                        static_cast<std::uint32_t>(sampler.magnitude(24).low())};
        const auto wanted = policy.wanted(demand).copies;
        if (policy.wanted(demand).copies != wanted || P{policy}.wanted(demand).copies != wanted) {
            return sentence("wanted is not pure: first it gave ", wanted, " copies for ", demand.holders_available,
                            " holders");
        }
    }
    return {};
}

/// Checks that a task valuation is pure. Its values compare exactly by their type.
/// @complexity linear in `tries`.
template <task_valuation P>
[[nodiscard]] auto rational(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto task = sampler.task();
        const auto requirement = sampler.requirement();
        const auto reserved = Duration{1} + sampler.duration(32);
        const auto value_now = [&] {
            if constexpr (has_value_of_reserved<P>) {
                return policy.value(task, requirement, reserved);
            } else {
                return policy.value(task, requirement);
            }
        };
        const auto value = value_now();
        const auto of = sentence(" (fee ", task.fee.units, ", estimate ", Duration{task.duration_estimate}, ", ",
                                 requirement.vram_min.count, " GiB)");
        const auto again = value_now();
        if (again.num() != value.num() || again.den() != value.den()) {
            return sentence("the value is not pure: first ", value, " and then ", again, of);
        }
    }
    return {};
}

/// Checks that lease terms are pure and their lengths positive, and that no lease begins longer than `length_max`.
/// A task pays at most its fee, and forfeits at most its fee; and `fee_min` is a fee that commands admit.
/// Terms that draw in rounds draw no task that was submitted at the moment of the draw or later.
/// @complexity linear in `tries`.
template <lease_terms P>
[[nodiscard]] auto positive(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto node = sampler.node();
        const auto task = sampler.task();
        const auto of = sentence(" (estimate ", Duration{task.duration_estimate}, ", attempt ", task.attempt, ")");
        const auto length = policy.length(node, task);
        const auto length_max = policy.length_max(node, task);
        const auto patience = policy.patience(task);
        if (length <= Duration{0} || patience <= Duration{0}) {
            return sentence("a lease of ", length, " or a wait of ", patience, " is not positive", of);
        }
        if (length > length_max) {
            return sentence("a lease begins with ", length, " though it may last ", length_max, of);
        }
        const auto outcome = sampler.outcome(0).kind;
        const auto next = policy.after(task, outcome);
        if (policy.length(node, task) != length || policy.length_max(node, task) != length_max ||
            policy.patience(task) != patience || policy.after(task, outcome) != next) {
            return sentence("the terms are not pure: equal arguments gave different ones", of);
        }
        if (const auto finding = detail::hook_breaks(policy, task, outcome, sampler)) { return *finding + of; }
        if constexpr (has_rounds<P>) {
            const auto time = TimePoint{Duration{static_cast<std::int64_t>(sampler.below(1U << 30U))}};
            const auto moment = Moment{time, Entropy{i}, sampler.below(1U << 10U)};
            const auto until = policy.drawn_until(moment);
            if (policy.draws_in_rounds() && until && *until >= time) {
                return sentence("entropy of ", time.time_since_epoch(), " draws a task submitted at ",
                                until->time_since_epoch(), " (round ", *moment.round, ")");
            }
            if (policy.drawn_until(moment) != until) {
                return sentence("the terms are not pure: equal moments gave different times");
            }
        }
    }
    return {};
}

/// Checks that lease terms and an eligibility policy agree on fees: the cheapest task of those that are tried may give
/// `fee_min` for its lease. Otherwise each submission is refused, for a fee that is too low or too high.
/// @complexity linear in `tries`.
template <lease_terms P, eligibility E>
    requires has_fee_min<P> && has_fee_max<E>
[[nodiscard]] auto payable(const P& terms, const E& eligible, std::uint64_t seed = 1, std::uint32_t tries = 1'000)
    -> Finding {
    auto sampler = Sampler{seed};
    auto least = Amount{~u128{0}};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto node = sampler.node();
        least = std::min(least, terms.fee_min(terms.length(node, sampler.task())));
    }
    if (least <= eligible.fee_max()) { return {}; }
    return sentence("no task can pay: the least fee_min is ", least.units, ", and fee_max is ",
                    eligible.fee_max().units);
}

}}}  // namespace allot::v0::laws
