#include "scenario.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "derive.hpp"
#include "hash.hpp"
#include "network.hpp"

namespace simulate {
namespace {

void add_nodes(Scenario& scenario, const Trace& trace, const Options& options) {
    auto gpu = std::uint64_t{0};
    for (const auto& machine : trace.machines) {
        for (std::uint32_t slot = 0; slot < machine.gpus; ++slot, ++gpu) {
            const auto copies = copies_of(gpu, options.scale_milli);
            for (std::uint64_t copy = 0; copy < copies; ++copy) {
                auto node = make_node(options.seed, scenario.nodes.size(), scenario.arrivals_end_ms, base_names.size());
                const auto suffix = copy == 0 ? std::string{} : fmt::format("+{}", copy);
                node.operator_id = machine.name + suffix;
                node.id = fmt::format("{}:{}{}", machine.name, slot, suffix);
                node.model = machine.model;
                node.stake_milli = options.even_stakes ? rule::even_stake_milli
                                                       : std::max(machine.stake_milli / machine.gpus, std::int64_t{1});
                scenario.nodes.push_back(std::move(node));
            }
        }
    }
}

/// Returns the least memory: the task's share of the smallest card it accepts, as a nominal size.
auto vram_need(const Trace& trace, const TraceTask& task) -> std::uint32_t {
    auto memory_mib = std::int64_t{0};
    const auto consider = [&](std::uint32_t model) {
        const auto memory = trace.models[model].memory_mib;
        memory_mib = memory_mib == 0 ? memory : std::min(memory_mib, memory);
    };
    for (const auto model : task.models) { consider(model); }
    if (task.models.empty()) {
        for (const auto& machine : trace.machines) { consider(machine.model); }
    }
    return nominal_vram((memory_mib * task.gpu_milli + 999) / 1000);
}

/// Returns the fee for a second: by the trace's priority class and the memory, times a factor from 0.5 to 1.5.
auto fee_per_second(const TraceTask& task, std::uint32_t vram, std::uint64_t number) -> std::uint32_t {
    const auto base = task.priority == Priority::guaranteed ? 4U : task.priority == Priority::burstable ? 2U : 1U;
    return base * vram * (500 + static_cast<std::uint32_t>(number % 1001));
}

void add_tasks(Scenario& scenario, const Trace& trace, const Options& options, std::uint32_t gang_size) {
    const auto trace_ms = (trace.end_seconds - trace.start_seconds + rule::arrival_jitter_seconds) * 1000;
    auto number = std::uint64_t{0};
    for (std::uint32_t row = 0; row < trace.tasks.size(); ++row) {
        const auto& source = trace.tasks[row];
        const auto vram = vram_need(trace, source);
        const auto copies = copies_of(row, scenario.copies_milli);
        for (std::uint64_t copy = 0; copy < copies; ++copy, ++number) {
            auto task = TaskPlan{};
            const auto jitter_ms = static_cast<std::int64_t>(hash(options.seed, Purpose::task_jitter, number) %
                                                             (rule::arrival_jitter_seconds * 1000));
            const auto since_start_ms = (source.arrival_seconds - trace.start_seconds) * 1000 + jitter_ms;
            // Milliseconds of a month times those of a few days pass 2^63; seconds do not.
            task.arrival_ms = since_start_ms / 1000 * scenario.arrivals_end_ms / (trace_ms / 1000) +
                              since_start_ms % 1000 * scenario.arrivals_end_ms / trace_ms;
            task.row = row;
            task.owner = static_cast<std::uint32_t>(hash(options.seed, Purpose::task_owner, number) % rule::owners);
            task.vram_min = vram;
            task.fee_per_second = fee_per_second(source, vram, hash(options.seed, Purpose::task_price, number));
            task.run_ms = source.run_seconds * 1000;
            task.declared_ms = task.run_ms;
            task.fee = std::int64_t{task.fee_per_second} * source.run_seconds;
            choose_software(task, options.seed, number);
            add_task(scenario, task, options.seed, number, gang_size);
        }
    }
    sort_by_arrival(scenario);
}

/// Chooses the number of tasks for each row, so that the work offered is `load_percent` of what the nodes can do.
void choose_copies(Scenario& scenario, const Trace& trace, const Options& options, std::uint32_t gang_size) {
    auto work = std::uint64_t{0};  // estimated seconds of one copy of each row
    for (const auto& task : trace.tasks) { work += static_cast<std::uint64_t>(task.run_seconds); }
    const auto work_with_groups =
        gang_size > 1 ? work * gang_size : work * (1000 + rule::grouped_permille * (rule::group_size - 1)) / 1000;
    scenario.copies_milli = offered_work(scenario, options) / work_with_groups;
    const auto trace_seconds = trace.end_seconds - trace.start_seconds + rule::arrival_jitter_seconds;
    scenario.compression_milli = static_cast<std::uint64_t>(trace_seconds * 1'000'000 / scenario.arrivals_end_ms);
}

}  // namespace

auto zipf(std::uint64_t number, std::size_t ranks) -> std::uint32_t {
    constexpr auto unit = std::uint64_t{1'000'000};
    auto total = std::uint64_t{0};
    for (std::size_t rank = 1; rank <= ranks; ++rank) { total += unit / rank; }
    auto left = number % total;
    auto rank = std::uint32_t{0};
    for (; left >= unit / (rank + 1); ++rank) { left -= unit / (rank + 1); }
    return rank;
}

auto make_node(std::uint64_t seed, std::uint64_t number, std::int64_t run_ms, std::size_t base_models) -> NodePlan {
    auto node = NodePlan{};
    node.speed_milli = rule::speed_milli_min +
                       static_cast<std::uint32_t>(hash(seed, Purpose::node_speed, number) % rule::speed_milli_span);
    const auto kind = hash(seed, Purpose::node_kind, number);
    if (falls_in(kind, rule::vanished_permille)) {
        // Early, so that its effects can be seen: between a fiftieth and a tenth of the run.
        const auto share = 20 + static_cast<std::int64_t>(hash(seed, Purpose::node_vanishes_at, number) % 81);
        node.kind = Kind::vanished;
        node.vanishes_at_ms = run_ms * share / 1000;
    } else if (falls_in(kind, rule::vanished_permille + rule::flaky_permille)) {
        node.kind = Kind::flaky;
    } else if (node.speed_milli >= rule::speed_milli_min + rule::speed_milli_span * 3 / 4) {
        node.kind = Kind::fast;
    } else if (node.speed_milli < rule::speed_milli_min + rule::speed_milli_span / 4) {
        node.kind = Kind::slow;
    }
    for (std::uint32_t i = 0; i < rule::software_per_node; ++i) {
        node.software.push_back(zipf(hash(seed, Purpose::node_model, number, i), base_models));
    }
    std::sort(node.software.begin(), node.software.end());
    node.software.erase(std::unique(node.software.begin(), node.software.end()), node.software.end());
    return node;
}

void choose_software(TaskPlan& task, std::uint64_t seed, std::uint64_t number) {
    task.software = zipf(hash(seed, Purpose::task_model, number), base_names.size());
    task.adapter = task.software;
    const auto adapter = hash(seed, Purpose::task_adapter, number);
    if (falls_in(adapter, rule::adapter_permille)) {
        task.adapter = static_cast<std::uint32_t>(base_names.size()) + zipf(adapter / 1000, adapter_names.size());
    }
}

void add_task(Scenario& scenario, TaskPlan task, std::uint64_t seed, std::uint64_t number, std::uint32_t gang_size) {
    const auto grouped = gang_size == 1 && falls_in(hash(seed, Purpose::task_group, number), rule::grouped_permille);
    task.group = grouped ? ++scenario.groups : 0U;
    scenario.tasks.insert(scenario.tasks.end(), grouped ? rule::group_size : 1U, task);
}

void sort_by_arrival(Scenario& scenario) {
    std::stable_sort(scenario.tasks.begin(), scenario.tasks.end(),
                     [](const TaskPlan& a, const TaskPlan& b) { return a.arrival_ms < b.arrival_ms; });
}

auto offered_work(const Scenario& scenario, const Options& options) -> std::uint64_t {
    auto capacity = std::uint64_t{0};  // thousandths of estimated seconds that all nodes do in a second
    for (const auto& node : scenario.nodes) { capacity += node.speed_milli; }
    return capacity * options.hours * 3600 / 100 * options.load_percent;
}

void assign_deciles(Scenario& scenario) {
    auto order = std::vector<std::uint32_t>(scenario.tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scenario.tasks[a].fee_per_second < scenario.tasks[b].fee_per_second;
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        scenario.tasks[order[i]].decile = static_cast<std::uint8_t>(i * 10 / order.size());
    }
}

auto make_scenario(const Trace& trace, const Options& options) -> Scenario {
    if (options.source != Source::trace) { return draw_scenario(options); }
    auto scenario = Scenario{};
    scenario.cards = trace.models;
    scenario.software.assign(base_names.begin(), base_names.end());
    scenario.software.insert(scenario.software.end(), adapter_names.begin(), adapter_names.end());
    for (const auto& row : trace.tasks) { scenario.row_cards.push_back(row.models); }
    for (std::uint32_t i = 0; i < rule::owners; ++i) { scenario.owners.push_back(fmt::format("owner-{}", i)); }
    scenario.arrivals_end_ms = std::int64_t{options.hours} * 3'600'000;
    add_nodes(scenario, trace, options);
    const auto gang_size = find_preset(options.preset).gang_size;
    choose_copies(scenario, trace, options, gang_size);
    add_tasks(scenario, trace, options, gang_size);
    assign_deciles(scenario);
    return scenario;
}

}  // namespace simulate
