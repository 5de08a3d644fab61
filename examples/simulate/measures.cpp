#include "measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace simulate {
namespace {

using Parts = std::vector<std::pair<double, double>>;

constexpr auto unknown = std::numeric_limits<double>::infinity();

auto over(double a, double b) -> double { return b != 0 ? a / b : a > 0 ? unknown : 0; }

/// The parts of a loss, and what honest owners paid in the honest run. A change of one task shifts those after it, so
/// each part has as much by chance below zero as above; only their sums over all seeds are cut off at zero.
struct Harm {
    double waits = 0;
    double fees_lost = 0;
    double earned_less = 0;
    double fees = 0;

    /// The fees of tasks that are not done are part of what honest nodes earn less.
    [[nodiscard]] auto loss() const -> double { return waits + std::max({0.0, fees_lost, earned_less}); }
};

/// Adds the parts of one pair of runs.
void add_harm(Harm& harm, const Pair& pair) {
    for (std::size_t i = 0; i < pair.fees.size(); ++i) {
        const auto a = pair.attack.sojourn_ms[i];
        const auto b = pair.honest.sojourn_ms[i];
        const auto fee = static_cast<double>(pair.fees[i]);
        harm.fees += b >= 0 ? fee : 0;
        if ((a < 0) != (b < 0)) {
            harm.fees_lost += a < 0 ? fee : -fee;
        } else if (b >= 0) {
            harm.waits +=
                static_cast<double>(a - b) * fee / static_cast<double>(std::max(pair.run_ms[i], std::int64_t{1}));
        }
    }
    harm.earned_less += static_cast<double>(pair.honest.honest.earned - pair.attack.honest.earned);
}

/// The parts of all pairs, without those of one seed.
auto harm_without(const std::vector<Pair>& pairs, std::size_t skip) -> Harm {
    auto harm = Harm{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i != skip) { add_harm(harm, pairs[i]); }
    }
    return harm;
}

/// The revenue that the attacker gives up counts, and its fees count once: they are no part of that revenue.
auto outlay_of(const Pair& pair) -> double {
    const auto given_up = std::max<std::int64_t>(0, pair.honest.own.earned - pair.attack.own.earned);
    return static_cast<double>(pair.attack.own.to_others + pair.attack.own.forfeited + pair.attack.own.slashed +
                               given_up);
}

/// Sum of the first over sum of the second, without those of one seed.
auto ratio_without(const Parts& parts, std::size_t skip) -> double {
    auto a = 0.0;
    auto b = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != skip) {
            a += parts[i].first;
            b += parts[i].second;
        }
    }
    return over(a, b);
}

/// What an owner paid for a task that was done, and how long a task took in the mean.
struct Service {
    double fee = 0;
    double sojourn = 0;
};
template <class F>
auto service(const std::vector<Pair>& pairs, std::size_t skip, const F& of) -> Service {
    auto paid = Parts{};
    auto took = Parts{};
    for (const auto& pair : pairs) {
        const Outcome& one = of(pair);
        paid.emplace_back(static_cast<double>(one.own.spent + one.own.forfeited), static_cast<double>(one.own_done));
        took.emplace_back(static_cast<double>(one.own_sojourn_ms), static_cast<double>(one.own_orders));
    }
    return {ratio_without(paid, skip), ratio_without(took, skip)};
}

/// What the twin pays where its mean sojourn is the attacker's, over what the attacker pays: from the same price up, or
/// down, to the first step at which that is so; between two steps on a line in logarithms. Beyond the steps the last.
auto price_of_equal_service(const std::vector<Pair>& pairs, std::size_t skip) -> double {
    const auto wanted = service(pairs, skip, [](const Pair& pair) -> const Outcome& { return pair.attack; });
    const auto at = [&](std::size_t step) {
        return service(pairs, skip, [&](const Pair& pair) -> const Outcome& { return pair.at_prices[step]; });
    };
    const auto suffices = [&](std::size_t step) { return at(step).sojourn <= wanted.sojourn; };
    auto step = static_cast<std::size_t>(std::find(std::begin(price_steps), std::end(price_steps), 1.0) -
                                         std::begin(price_steps));
    while (step + 1 < std::size(price_steps) && !suffices(step)) { ++step; }
    while (step > 0 && at(step).sojourn < wanted.sojourn && suffices(step - 1)) { --step; }
    const auto enough = at(step);
    if (step == 0 || enough.sojourn >= wanted.sojourn) { return over(enough.fee, wanted.fee); }
    const auto less = at(step - 1);
    const auto part =
        (std::log(less.sojourn) - std::log(wanted.sojourn)) / (std::log(less.sojourn) - std::log(enough.sojourn));
    return over(less.fee * std::pow(enough.fee / less.fee, part), wanted.fee);
}

template <class F>
auto parts_of(const std::vector<Pair>& pairs, const F& f) -> Parts {
    auto parts = Parts{};
    for (const auto& pair : pairs) { parts.push_back(f(pair)); }
    return parts;
}

auto number(std::int64_t n) -> double { return static_cast<double>(n); }

}  // namespace

auto jackknife(std::size_t count, const std::function<double(std::size_t)>& of) -> Measure {
    const auto all = of(count);
    if (count < 2) { return {all, unknown}; }
    auto without = std::vector<double>{};
    for (std::size_t skip = 0; skip < count; ++skip) { without.push_back(of(skip)); }
    const auto n = static_cast<double>(count);
    const auto mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
    auto squares = 0.0;
    for (const auto one : without) { squares += (one - mean) * (one - mean); }
    const auto error = std::sqrt(squares * (n - 1) / n);
    // Without one of the seeds the measure may be infinite; then a finite one has no error that could be told.
    return {all, std::isfinite(error) ? error : std::isfinite(all) ? unknown : 0};
}

auto ratio(const Parts& parts) -> Measure {
    return jackknife(parts.size(), [&](std::size_t skip) { return ratio_without(parts, skip); });
}

auto verdict(const Measure& measure, double most, double sigmas) -> Verdict {
    if (std::isinf(measure.value)) { return measure.value > most ? Verdict::failed : Verdict::passed; }
    if (measure.value + sigmas * measure.error <= most) { return Verdict::passed; }
    return measure.value - sigmas * measure.error > most ? Verdict::failed : Verdict::undecided;
}

auto measure(const std::vector<Pair>& pairs) -> std::map<std::string, Measure> {
    auto all = std::map<std::string, Measure>{};
    if (pairs.empty()) { return all; }
    const auto add = [&](const std::string& name, const auto& f) { all[name] = ratio(parts_of(pairs, f)); };
    const auto honest_tasks = [](const Pair& pair) { return static_cast<double>(pair.fees.size()); };
    const auto not_done = [](const Outcome& outcome) {
        return static_cast<double>(std::count(outcome.sojourn_ms.begin(), outcome.sojourn_ms.end(), -1));
    };
    using Both = std::pair<double, double>;
    const auto own_cards = pairs.front().attack.own_cards;
    if (own_cards > 0) {
        add("gain", [](const Pair& p) { return Both{number(p.attack.own.profit()), number(p.honest.own.profit())}; });
        add("card_revenue", [](const Pair& p) {
            return Both{number(p.attack.own.earned) * number(p.attack.honest_nodes),
                        number(p.attack.honest.earned) * number(p.attack.own_cards)};
        });
        // The ratio of two ratios of sums is no ratio of sums, but these cards are the same for all seeds.
        add("swallowed", [](const Pair& p) { return Both{number(p.attack.own_starts), number(p.attack.starts)}; });
        const auto share = number(own_cards) / number(own_cards + pairs.front().attack.honest_nodes);
        all["harm_share"] = jackknife(pairs.size(), [&](std::size_t skip) {
            const auto harm = harm_without(pairs, skip);
            return over(harm.loss() / share, harm.fees);
        });
        if (pairs.front().reference.own_cards > 0) {
            add("told_gain", [](const Pair& p) {
                return Both{number(p.attack.own.profit()), number(p.reference.own.profit())};
            });
        }
    }
    const auto outlays = parts_of(pairs, [](const Pair& p) { return Both{outlay_of(p), 0}; });
    const auto outlay_without = [&](std::size_t skip) {
        auto sum = 0.0;
        for (std::size_t i = 0; i < outlays.size(); ++i) { sum += i == skip ? 0 : outlays[i].first; }
        return sum;
    };
    all["harm"] = jackknife(pairs.size(), [&](std::size_t skip) {
        const auto harm = harm_without(pairs, skip);
        return over(harm.loss(), harm.fees);
    });
    all["outlay"] = jackknife(
        pairs.size(), [&](std::size_t skip) { return over(outlay_without(skip), harm_without(pairs, skip).fees); });
    all["phi"] = jackknife(
        pairs.size(), [&](std::size_t skip) { return over(harm_without(pairs, skip).loss(), outlay_without(skip)); });
    if (const auto& harm = all["harm"]; all["outlay"].value == 0 && harm.value - 2 * harm.error <= 0) {
        all["phi"] = {0, harm.error};  // no outlay, but no loss either that could be told from noise
    }
    if (pairs.front().attack.target_nodes > 0) {
        add("target", [](const Pair& p) {
            return Both{number(p.attack.target_earned), number(p.honest.target_earned)};
        });
    }
    if (!pairs.front().at_prices.empty()) {
        all["price_gain"] =
            jackknife(pairs.size(), [&](std::size_t skip) { return price_of_equal_service(pairs, skip); });
        add("own_sojourn_s", [](const Pair& p) {
            return Both{number(p.attack.own_sojourn_ms) / 1'000, number(p.attack.own_orders)};
        });
        add("twin_sojourn_s", [](const Pair& p) {
            return Both{number(p.honest.own_sojourn_ms) / 1'000, number(p.honest.own_orders)};
        });
    }
    if (std::any_of(pairs.begin(), pairs.end(), [](const Pair& p) { return p.attack.own_done > 0; }) && own_cards > 0) {
        const auto at_home = [](const Outcome& one) {
            return Both{number(one.own_done_at_home), number(one.own_done)};
        };
        add("own_node", [&](const Pair& p) { return at_home(p.attack); });
        const auto in_attack = parts_of(pairs, [&](const Pair& p) { return at_home(p.attack); });
        const auto in_twin = parts_of(pairs, [&](const Pair& p) { return at_home(p.honest); });
        all["added_own_node"] = jackknife(pairs.size(), [&](std::size_t skip) {
            return ratio_without(in_attack, skip) - ratio_without(in_twin, skip);
        });
    }
    for (const auto& pair : pairs) {
        for (const auto& [what, times] : pair.attack.notes) {
            auto name = what;
            std::replace(name.begin(), name.end(), ' ', '_');
            if (all.contains(name)) { continue; }
            add(name, [&](const Pair& p) {
                const auto found = p.attack.notes.find(what);
                return Both{found == p.attack.notes.end() ? 0 : static_cast<double>(found->second), 1};
            });
        }
    }
    add("state_bytes", [](const Pair& p) { return Both{number(p.attack.state_bytes), number(p.honest.state_bytes)}; });
    add("slashed_honest", [](const Pair& p) {
        return Both{number(p.attack.honest.slashed), harm_without({p}, 1).fees};
    });
    add("failed", [&](const Pair& p) { return Both{number(p.attack.failed), honest_tasks(p)}; });
    add("not_done", [&](const Pair& p) { return Both{not_done(p.attack), honest_tasks(p)}; });
    add("added_not_done", [&](const Pair& p) {
        return Both{not_done(p.attack) - not_done(p.honest), honest_tasks(p)};
    });
    add("exclusions", [](const Pair& p) { return Both{number(p.attack.honest_exclusions), 1}; });
    add("framed", [](const Pair& p) { return Both{number(p.attack.framed), 1}; });
    add("added_exclusions", [](const Pair& p) {
        return Both{number(p.attack.honest_exclusions - p.honest.honest_exclusions), 1};
    });
    return all;
}

auto honest_cost(const std::vector<std::pair<Outcome, Outcome>>& rule_and_base,
                 const std::vector<HonestNetwork>& fields) -> std::map<std::string, Measure> {
    struct Tasks {
        Parts sojourn{};
        Parts done{};
    };
    const auto every = [](const Minorities&) -> const std::vector<bool>* { return nullptr; };
    const auto of_tasks = [&](const auto& which) {
        auto tasks = Tasks{};
        for (std::size_t seed = 0; seed < rule_and_base.size(); ++seed) {
            const auto& [rule, base] = rule_and_base[seed];
            const auto& fees = fields[seed].fees;
            const auto* const counts = which(fields[seed].minorities);
            auto both = std::pair{0.0, 0.0};
            auto paid = std::pair{0.0, 0.0};
            for (std::size_t i = 0; i < fees.size(); ++i) {
                if (counts != nullptr && !(*counts)[i]) { continue; }
                const auto a = rule.sojourn_ms[i];
                const auto b = base.sojourn_ms[i];
                if (a >= 0 && b >= 0) {
                    both.first += number(a);
                    both.second += number(b);
                }
                paid.first += a >= 0 ? number(fees[i]) : 0;
                paid.second += b >= 0 ? number(fees[i]) : 0;
            }
            tasks.sojourn.push_back(both);
            tasks.done.push_back(paid);
        }
        return tasks;
    };
    const auto all = of_tasks(every);
    const auto rare_cards = of_tasks([](const Minorities& those) { return &those.rare_card; });
    const auto rare_models = of_tasks([](const Minorities& those) { return &those.rare_model; });
    auto card_seconds = Parts{};
    auto of_all = Parts{};
    auto small_stakes = Parts{};
    for (std::size_t seed = 0; seed < rule_and_base.size(); ++seed) {
        const auto& [rule, base] = rule_and_base[seed];
        const auto& fees = fields[seed].fees;
        card_seconds.emplace_back(number(rule.leased_ms), number(base.leased_ms));
        of_all.emplace_back(all.done[seed].first, number(std::accumulate(fees.begin(), fees.end(), std::int64_t{0})));
        small_stakes.emplace_back(number(rule.small_stakes_earned), number(base.small_stakes_earned));
    }
    const auto by_card_second = [&](std::size_t skip) {
        return over(ratio_without(all.done, skip), ratio_without(card_seconds, skip));
    };
    return {{"sojourn", ratio(all.sojourn)},
            {"fees", ratio(all.done)},
            {"fees_card_second", jackknife(all.done.size(), by_card_second)},
            {"fees_done", ratio(of_all)},
            {"sojourn_rare_cards", ratio(rare_cards.sojourn)},
            {"fees_rare_cards", ratio(rare_cards.done)},
            {"sojourn_rare_models", ratio(rare_models.sojourn)},
            {"fees_rare_models", ratio(rare_models.done)},
            {"small_stakes", ratio(small_stakes)}};
}

}  // namespace simulate
