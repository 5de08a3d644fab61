#include "attacker.hpp"

#include <algorithm>
#include <numeric>

#include "hash.hpp"

namespace simulate {
namespace {

constexpr auto disks_told = std::size_t{100};

}  // namespace

auto id_of(std::uint32_t task, std::uint64_t salt) -> allot::TaskId {
    auto bytes = allot::TaskId{task}.bytes();
    for (std::size_t i = 8; i-- > 0; salt >>= 8U) { bytes[i] = static_cast<std::uint8_t>(salt & 0xFFU); }
    return allot::TaskId{bytes};
}

auto index_of(const allot::TaskId& id) -> std::uint32_t {
    auto number = std::uint32_t{0};
    for (auto i = id.bytes().size() - 4; i < id.bytes().size(); ++i) { number = (number << 8U) | id.bytes()[i]; }
    return number;
}

auto cards_of(const Scenario& scenario, const TaskPlan& task) -> std::vector<std::string> {
    if (task.want != 0) { return scenario.wants[task.want - 1].cards; }
    auto names = std::vector<std::string>{};
    for (const auto card : scenario.row_cards[task.row]) { names.push_back(scenario.cards[card].name); }
    return names;
}

auto models_of(const Scenario& scenario, const TaskPlan& task) -> std::vector<std::string> {
    if (task.want != 0) { return scenario.wants[task.want - 1].models; }
    auto names = std::vector{scenario.software[task.software]};
    if (task.adapter != task.software) { names.push_back(scenario.software[task.adapter]); }
    return names;
}

auto make_scene(const Scenario& scenario, const Options& options) -> Scene {
    auto scene = Scene{};
    scene.seed = options.seed;
    scene.honest_nodes = static_cast<std::uint32_t>(scenario.nodes.size());
    scene.arrivals_end_ms = scenario.arrivals_end_ms;
    scene.models = scenario.software;
    const auto median = [](std::vector<std::int64_t> values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return values.empty() ? std::int64_t{0} : *middle;
    };
    auto stakes = std::vector<std::int64_t>{};
    auto counts = std::vector<std::uint32_t>(scenario.cards.size());
    for (const auto& node : scenario.nodes) {
        stakes.push_back(node.stake_milli);
        ++counts[node.model];
        if (scene.disks.size() < disks_told) {
            scene.disks.emplace_back();
            for (const auto model : node.software) { scene.disks.back().push_back(scenario.software[model]); }
        }
    }
    scene.stake_milli = median(std::move(stakes));
    auto order = std::vector<std::size_t>(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
    for (const auto i : order) {
        if (counts[i] == 0) { continue; }
        scene.rarest_first.push_back({scenario.cards[i].name, scenario.cards[i].vram, 1'000});
        scene.counts.push_back(counts[i]);
    }
    scene.card = scene.rarest_first.back();
    auto prices = std::vector<std::int64_t>{};
    auto run_ms = std::int64_t{0};
    for (const auto& task : scenario.tasks) {
        prices.push_back(task.fee * 1'000 / std::max(task.run_ms, std::int64_t{1}));
        run_ms += task.run_ms;
    }
    scene.fee_per_second = median(std::move(prices));
    scene.run_ms = run_ms / std::max(static_cast<std::int64_t>(scenario.tasks.size()), std::int64_t{1});
    return scene;
}

void Attacker::enter(const Scenario& scenario, std::int64_t* now_ms, Foresight foresight) {
    foresight_ = std::move(foresight);
    scenario_ = &scenario;
    now_ms_ = now_ms;
    honest_nodes_ = static_cast<std::uint32_t>(scenario.nodes.size());
    honest_tasks_ = static_cast<std::uint32_t>(scenario.tasks.size());
    tasks_ = honest_tasks_;
    adversary_->join(*this);
}

auto Attacker::next_act() -> std::optional<Act> {
    if (acts_.empty()) { return std::nullopt; }
    auto first = std::move(acts_.front());
    acts_.pop_front();
    return first;
}

auto Attacker::next_order_ms() const -> std::optional<std::int64_t> {
    return next_order_ < means_.orders.size() ? std::optional{means_.orders[next_order_].arrival_ms} : std::nullopt;
}

void Attacker::submit_next_order() {
    auto order = means_.orders[next_order_++];
    if (adversary_->submit(*this, order)) { (void)submit(std::move(order)); }
}

void Attacker::placed(const allot::NodeId& id, std::uint32_t card) {
    const auto [place, is_new] = own_.emplace(id, static_cast<std::uint32_t>(own_.size()));
    if (is_new) {
        cards_.push_back(card);
        works_.emplace_back();
    }
    cards_[place->second] = card;
}

void Attacker::leased(const allot::Lease& lease, std::uint32_t node, std::uint32_t task, std::int64_t run_ms,
                      std::int64_t cold_ms) {
    const auto own = node - honest_nodes_;
    const auto& plan = scenario_->tasks[task];
    works_[own] = Work{.lease = lease,
                       .node = own,
                       .card = cards_[own],
                       .run_ms = run_ms,
                       .cold_ms = cold_ms,
                       .fee = plan.fee,
                       .declared_ms = plan.declared_ms,
                       .own_task = is_own_task(task),
                       .endless = plan.endless};
    act(lease, adversary_->lease(*this, *works_[own]));
}

void Attacker::lease_ended(const allot::Lease& lease, allot::event::LeaseEnd how) {
    adversary_->ended(*this, *works_[own_.at(lease.node)], how);
}

auto Attacker::random(std::uint64_t subject) const -> std::uint64_t {
    return hash(scene_.seed, Purpose::adversary, subject);
}

auto Attacker::own(const allot::NodeId& node) const -> std::optional<std::uint32_t> {
    const auto found = own_.find(node);
    return found == own_.end() ? std::nullopt : std::optional{found->second};
}

auto Attacker::facts(const allot::TaskId& task) const -> TaskFacts {
    const auto index = index_of(task);
    const auto& plan = scenario_->tasks.at(index);
    return {.fee = plan.fee,
            .declared_ms = plan.declared_ms,
            .vram_min = plan.vram_min,
            .gpus = cards_of(*scenario_, plan),
            .models = models_of(*scenario_, plan),
            .group = plan.group,
            .own = is_own_task(index)};
}

auto Attacker::foresee(const std::vector<std::uint32_t>& tasks) const -> std::vector<allot::Lease> {
    return foresight_.of_tasks(tasks);
}
auto Attacker::foresee(const Order& order) const -> std::vector<allot::Lease> {
    return foresight_.of_order(order, id_of(tasks_, order.salt));
}

void Attacker::join(allot::NodeSpec node, std::uint32_t card, std::uint32_t verdicts) {
    acts_.emplace_back(act::Join{std::move(node), card, verdicts});
}
void Attacker::update(allot::NodeUpdate change) {
    acts_.emplace_back(act::Give{allot::command::Update{std::move(change)}});
}
void Attacker::pause(const allot::NodeId& node) { acts_.emplace_back(act::Give{allot::command::Pause{node}}); }
void Attacker::resume(const allot::NodeId& node) { acts_.emplace_back(act::Give{allot::command::Resume{node}}); }
void Attacker::leave(const allot::NodeId& node) { acts_.emplace_back(act::Give{allot::command::Leave{node}}); }
void Attacker::report_model(const allot::NodeId& node, allot::command::Report report, std::vector<std::string> models) {
    acts_.emplace_back(act::Give{allot::command::ReportModel{node, report, std::move(models)}});
}
void Attacker::act(const allot::Lease& lease, Deed deed) { acts_.emplace_back(act::Do{lease, deed}); }
void Attacker::renew(const allot::Lease& lease) { acts_.emplace_back(act::Give{allot::command::Renew{lease}}); }

auto Attacker::submit(Order order) -> allot::TaskId {
    const auto id = id_of(tasks_, order.salt);
    acts_.emplace_back(act::Submit{tasks_++, std::move(order)});
    return id;
}
void Attacker::cancel(const allot::TaskId& task) { acts_.emplace_back(act::Give{allot::command::Cancel{task}}); }
void Attacker::rate(const allot::NodeId& node, std::uint32_t points) {
    acts_.emplace_back(act::Give{allot::command::Score{node, points}});
}
void Attacker::convict(const allot::NodeId& node) { acts_.emplace_back(act::Give{allot::command::Slash{node}}); }
void Attacker::wake(std::int64_t after_ms, std::uint64_t number) { acts_.emplace_back(act::Wake{after_ms, number}); }
void Attacker::note(std::string_view what) { ++notes_.try_emplace(std::string{what}).first->second; }

}  // namespace simulate
