#include "trace.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "csv.hpp"

namespace simulate {
namespace {

constexpr auto seconds_max = (std::int64_t{1} << 31) - 1;  // times the longest run, it still fits 63 bits
constexpr auto memory_mib_max = std::int64_t{1} << 20;

auto find_model(const Trace& trace, std::string_view name) -> std::uint32_t {
    const auto found = std::find_if(trace.models.begin(), trace.models.end(),
                                    [&](const GpuModel& model) { return model.name == name; });
    return static_cast<std::uint32_t>(found - trace.models.begin());
}

void load_models(Trace& trace, const std::string& path) {
    const auto table = Table{path, {"model", "memory_mib"}};
    for (const auto& row : table.rows()) {
        if (row.empty(0) || find_model(trace, row.text(0)) != trace.models.size()) {
            row.refuse(0, row.empty(0) ? "a GPU model needs a name" : "this GPU model was already listed");
        }
        const auto memory_mib = row.integer(1, 1, memory_mib_max);
        if (nominal_vram(memory_mib) == 0) { row.refuse(1, "no nominal size is that large"); }
        trace.models.push_back({row.text(0), memory_mib, nominal_vram(memory_mib)});
    }
}

void load_machines(Trace& trace, const std::string& path) {
    const auto table = Table{path, {"sn", "gpu", "model"}};
    for (const auto& row : table.rows()) {
        const auto gpus = static_cast<std::uint32_t>(row.integer(1, 1, 64));
        const auto model = find_model(trace, row.text(2));
        if (row.empty(0) || row.text(0).size() > 20) { row.refuse(0, "a machine needs a name of 1 to 20 bytes"); }
        if (model == trace.models.size()) { row.refuse(2, fmt::format("unknown GPU model \"{}\"", row.text(2))); }
        trace.machines.push_back({row.text(0), gpus, model, 0});
    }
}

/// Gives each machine the stake of one validator: the list, ordered by public key, is thinned evenly to the machines. A
/// public key says nothing about a stake, so the order is as good as a shuffle, and repeatable.
void load_stakes(Trace& trace, const std::string& path) {
    const auto table = Table{path, {"vote_address", "avg_active_stake"}};
    auto validators = std::vector<std::pair<std::string, std::int64_t>>{};
    for (const auto& row : table.rows()) {
        validators.emplace_back(row.text(0), std::max(row.thousandths(1), std::int64_t{1}));
    }
    std::sort(validators.begin(), validators.end());
    for (std::size_t i = 0; i < trace.machines.size(); ++i) {
        trace.machines[i].stake_milli = validators[i * validators.size() / trace.machines.size()].second;
    }
}

auto read_models(const Trace& trace, const Row& row, std::size_t index) -> std::vector<std::uint32_t> {
    auto models = std::vector<std::uint32_t>{};
    const auto text = std::string_view{row.text(index)};
    for (auto at = std::size_t{0}; !text.empty();) {
        const auto end = std::min(text.find('|', at), text.size());
        const auto name = text.substr(at, end - at);
        models.push_back(find_model(trace, name));
        if (models.back() == trace.models.size()) {
            row.refuse(index, fmt::format("unknown GPU model \"{}\"", name), at);
        }
        if (end == text.size()) { break; }
        at = end + 1;
    }
    std::sort(models.begin(), models.end());
    models.erase(std::unique(models.begin(), models.end()), models.end());
    return models;
}

auto read_priority(const Row& row, std::size_t index) -> Priority {
    const auto& text = row.text(index);
    if (text == "BE") { return Priority::best_effort; }
    if (text == "Burstable") { return Priority::burstable; }
    if (text == "LS" || text == "Guaranteed") { return Priority::guaranteed; }
    row.refuse(index, fmt::format("expected BE, Burstable, LS or Guaranteed, found \"{}\"", text));
}

void load_tasks(Trace& trace, const std::string& path) {
    enum Column : std::size_t { num_gpu, gpu_milli, gpu_spec, qos, creation, deletion, scheduled };
    const auto table =
        Table{path, {"num_gpu", "gpu_milli", "gpu_spec", "qos", "creation_time", "deletion_time", "scheduled_time"}};
    auto run_seconds = std::int64_t{60};  // only for a trace whose first rows never ran
    for (const auto& row : table.rows()) {
        ++trace.rows.read;
        const auto gpus = row.integer(num_gpu, 0, 1024);
        const auto share = row.integer(gpu_milli, 0, 1000);
        auto models = read_models(trace, row, gpu_spec);
        const auto priority = read_priority(row, qos);
        const auto created = row.integer(creation, 0, seconds_max);
        const auto deleted = row.integer(deletion, created, seconds_max);
        const auto started = row.empty(scheduled) ? deleted : row.integer(scheduled, created, deleted);
        trace.rows.several_models += models.size() > 1 ? 1U : 0U;
        if (gpus != 1) {
            ++(gpus == 0 ? trace.rows.dropped_no_gpu : trace.rows.dropped_several_gpus);
            continue;
        }
        if (share == 0) { row.refuse(gpu_milli, "a row with a GPU uses some of it"); }
        if (row.empty(scheduled)) {
            ++trace.rows.run_time_unknown;
        } else {
            run_seconds = std::clamp(deleted - started, run_seconds_min, run_seconds_max);
            trace.rows.run_time_clamped += run_seconds != deleted - started ? 1U : 0U;
        }
        trace.tasks.push_back({created, run_seconds, static_cast<std::uint32_t>(share), std::move(models), priority});
    }
    trace.rows.kept = trace.tasks.size();
    if (trace.tasks.empty()) { throw InputError{path, 0, 0, "no row asks for exactly one GPU"}; }
}

/// Cuts the long quiet time at the start: rows before the first percentile arrive at it.
void find_dense_part(Trace& trace) {
    auto& tasks = trace.tasks;
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const TraceTask& a, const TraceTask& b) { return a.arrival_seconds < b.arrival_seconds; });
    trace.start_seconds = tasks[tasks.size() / 100].arrival_seconds;
    trace.end_seconds = std::max(tasks.back().arrival_seconds, trace.start_seconds + 1);
    for (auto& task : tasks) {
        if (task.arrival_seconds < trace.start_seconds) {
            task.arrival_seconds = trace.start_seconds;
            ++trace.rows.arrival_moved;
        }
    }
}

}  // namespace

auto nominal_vram(std::int64_t memory_mib) -> std::uint32_t {
    constexpr auto sizes =
        std::array<std::uint32_t, 18>{1, 2, 4, 6, 8, 10, 11, 12, 16, 20, 24, 30, 32, 40, 48, 80, 96, 141};
    for (const auto size : sizes) {
        if (std::int64_t{size} * 1024 >= memory_mib) { return size; }
    }
    return 0;
}

auto load_trace(const std::string& data_folder, const std::string& pod_list) -> Trace {
    auto trace = Trace{};
    const auto tasks = pod_list.empty() ? data_folder + "/openb_pod_list_gpuspec33.csv" : pod_list;
    trace.name = tasks.substr(tasks.find_last_of('/') + 1);
    load_models(trace, data_folder + "/gpu_type_memory.csv");
    load_machines(trace, data_folder + "/openb_node_list_gpu_node.csv");
    load_stakes(trace, data_folder + "/epoch_427.csv");
    load_tasks(trace, tasks);
    find_dense_part(trace);
    return trace;
}

}  // namespace simulate
