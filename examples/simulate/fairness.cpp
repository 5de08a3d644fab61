#include "fairness.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "world.hpp"

namespace simulate {
namespace {

constexpr auto lorenz_points = std::size_t{100};

auto seconds(std::int64_t ms) -> double { return static_cast<double>(ms) / 1'000.0; }

/// The sojourn below which `percent` of all tasks lie, of which only those done have one.
auto quantile(const std::vector<std::int64_t>& done_sorted, std::uint64_t all, std::uint64_t percent)
    -> std::optional<double> {
    if (all == 0) { return std::nullopt; }
    const auto place = (all - 1) * percent / 100;
    return place < done_sorted.size() ? std::optional{seconds(done_sorted[place])} : std::nullopt;
}

auto service_of(const TaskPlan& plan, const TaskEntry& task) -> Service {
    auto service = Service{};
    service.fate = task.end == End::done      ? Service::Fate::done
                   : task.end == End::refused ? Service::Fate::refused
                   : task.end == End::evicted ? Service::Fate::evicted
                                              : Service::Fate::lost;
    service.started = task.started_ms >= 0;
    service.tenth = plan.decile;
    service.value = plan.fee_per_second;
    service.sojourn_ms = task.ended_ms - plan.arrival_ms;
    service.wait_ms = (service.started ? task.started_ms : task.ended_ms) - plan.arrival_ms;
    return service;
}

/// By card: whether it could run some task.
auto able_cards(const Scenario& scenario, std::uint32_t honest_tasks) -> std::vector<bool> {
    auto able = std::vector<bool>{};
    for (const auto& card : scenario.cards) {
        const auto fits = [&](const TaskPlan& task) {
            if (task.vram_min > card.vram) { return false; }
            const auto named = cards_of(scenario, task);
            return named.empty() || std::find(named.begin(), named.end(), card.name) != named.end();
        };
        const auto end = scenario.tasks.begin() + honest_tasks;
        able.push_back(std::any_of(scenario.tasks.begin(), end, fits));
    }
    return able;
}

}  // namespace

auto spread_of(std::vector<Earner> earners) -> Spread {
    std::erase_if(earners, [](const Earner& one) { return one.means <= 0 && one.earned <= 0; });  // it has no place
    // By what each earns for its means, compared without a division, for means may be zero.
    std::stable_sort(earners.begin(), earners.end(),
                     [](const Earner& a, const Earner& b) { return a.earned * b.means < b.earned * a.means; });
    auto means = 0.0;
    auto earned = 0.0;
    auto squares = 0.0;
    for (const auto& one : earners) {
        means += one.means;
        earned += one.earned;
        if (one.earned > 0) { squares += one.earned * one.earned / one.means; }
    }
    auto spread = Spread{};
    if (earned <= 0 || means <= 0) { return spread; }
    spread.jain = earned * earned / (means * squares);
    spread.gini = 1;
    auto at = LorenzPoint{};
    auto sum = Earner{};
    spread.lorenz.push_back(at);
    for (std::size_t i = 0; i < earners.size(); ++i) {
        sum.means += earners[i].means;
        sum.earned += earners[i].earned;
        const auto next = LorenzPoint{sum.means / means, sum.earned / earned};
        spread.gini -= (next.means_share - at.means_share) * (next.earned_share + at.earned_share);
        at = next;
        const auto points = std::min(earners.size(), lorenz_points);
        if ((i + 1) * points / earners.size() != i * points / earners.size()) { spread.lorenz.push_back(at); }
    }
    return spread;
}

void summarise(Fairness& fairness, const std::vector<Service>& services) {
    auto sojourns = std::array<std::vector<std::int64_t>, 10>{};
    for (const auto& one : services) {
        auto& tenth = fairness.tenths.at(one.tenth);
        ++tenth.submitted;
        tenth.value_max = std::max(tenth.value_max, one.value);
        switch (one.fate) {
            case Service::Fate::done:
                ++tenth.done;
                sojourns.at(one.tenth).push_back(one.sojourn_ms);
                break;
            case Service::Fate::refused: ++tenth.refused; break;
            case Service::Fate::evicted: ++tenth.evicted; break;
            case Service::Fate::lost: ++tenth.lost; break;
        }
        tenth.never_started += one.started ? 0U : 1U;
        auto& longest = one.started ? fairness.wait_max_s : fairness.wait_in_vain_max_s;
        longest = std::max(longest, seconds(one.wait_ms));
    }
    for (std::size_t i = 0; i < sojourns.size(); ++i) {
        std::sort(sojourns.at(i).begin(), sojourns.at(i).end());
        auto& tenth = fairness.tenths.at(i);
        tenth.sojourn_p50_s = quantile(sojourns.at(i), tenth.submitted, 50);
        tenth.sojourn_p90_s = quantile(sojourns.at(i), tenth.submitted, 90);
        tenth.sojourn_p99_s = quantile(sojourns.at(i), tenth.submitted, 99);
    }
}

auto fairness_of(const Run& run) -> Fairness {
    auto fairness = Fairness{};
    const auto able = able_cards(run.scenario, run.honest_tasks);
    auto by_stake = std::vector<Earner>{};
    auto by_card = std::vector<Earner>{};
    for (std::uint32_t i = 0; i < run.honest_nodes; ++i) {
        const auto& plan = run.scenario.nodes[i];
        const auto earned = static_cast<double>(run.money.node(i).earned);
        by_stake.push_back({static_cast<double>(plan.stake_milli), earned});
        by_card.push_back({1.0, earned});
        if (plan.kind != Kind::vanished && able[plan.model]) {
            ++fairness.able_nodes;
            fairness.unpaid_nodes += earned > 0 ? 0U : 1U;
        }
    }
    fairness.by_stake = spread_of(std::move(by_stake));
    fairness.by_card = spread_of(std::move(by_card));
    auto services = std::vector<Service>{};
    for (std::uint32_t i = 0; i < run.honest_tasks; ++i) {
        services.push_back(service_of(run.scenario.tasks[i], run.tasks[i]));
    }
    summarise(fairness, services);
    return fairness;
}

auto fairness_csv(const Fairness& fairness) -> std::string {
    auto text = std::string{"figure,place,value\n"};
    const auto line = [&](const std::string& figure, const std::string& place, std::optional<double> value) {
        const auto shown = value ? fmt::format("{:.6g}", *value) : std::string{};
        fmt::format_to(std::back_inserter(text), "{},{},{}\n", figure, place, shown);
    };
    const auto spread = [&](const std::string& name, const Spread& one) {
        line("gini_by_" + name, "", one.gini);
        line("jain_by_" + name, "", one.jain);
        for (const auto& point : one.lorenz) {
            line("lorenz_by_" + name, fmt::format("{:.6g}", point.means_share), point.earned_share);
        }
    };
    spread("stake", fairness.by_stake);
    spread("card", fairness.by_card);
    line("wait_max_s", "", fairness.wait_max_s);
    line("wait_in_vain_max_s", "", fairness.wait_in_vain_max_s);
    line("able_nodes", "", static_cast<double>(fairness.able_nodes));
    line("unpaid_nodes", "", static_cast<double>(fairness.unpaid_nodes));
    for (std::size_t i = 0; i < fairness.tenths.size(); ++i) {
        const auto& tenth = fairness.tenths.at(i);
        const auto of = [&](const char* figure, std::optional<double> value) {
            line(figure, fmt::format("{}", i + 1), value);
        };
        const auto count = [&](const char* figure, std::uint64_t number) { of(figure, static_cast<double>(number)); };
        of("value_max", tenth.value_max);
        count("submitted", tenth.submitted);
        count("done", tenth.done);
        count("refused", tenth.refused);
        count("evicted", tenth.evicted);
        count("lost", tenth.lost);
        count("never_started", tenth.never_started);
        of("sojourn_p50_s", tenth.sojourn_p50_s);
        of("sojourn_p90_s", tenth.sojourn_p90_s);
        of("sojourn_p99_s", tenth.sojourn_p99_s);
    }
    return text;
}

}  // namespace simulate
