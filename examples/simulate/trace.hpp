#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulate {

/// A GPU model of `gpu_type_memory.csv`.
struct GpuModel {
    std::string name{};
    std::int64_t memory_mib = 0;
    std::uint32_t vram = 0;  ///< Nominal GiB.
};

/// A machine of the node list: a number of GPUs of one model, with one operator.
struct Machine {
    std::string name{};
    std::uint32_t gpus = 0;
    std::uint32_t model = 0;       ///< Index into `Trace::models`.
    std::int64_t stake_milli = 0;  ///< Stake of the operator in thousandths of a token.
};

/// Urgency of a row in the trace.
enum class Priority : std::uint8_t { best_effort, burstable, guaranteed };

/// A row of the pod list that asks for one GPU.
struct TraceTask {
    std::int64_t arrival_seconds = 0;
    std::int64_t run_seconds = 0;
    std::uint32_t gpu_milli = 0;
    std::vector<std::uint32_t> models{};  ///< Accepted GPU models, sorted, without duplicates; empty accepts any.
    Priority priority = Priority::best_effort;
};

/// Counts of the rows of the pod list, by treatment.
struct RowCounts {
    std::uint64_t read = 0;
    std::uint64_t kept = 0;
    std::uint64_t dropped_no_gpu = 0;
    std::uint64_t dropped_several_gpus = 0;
    std::uint64_t several_models = 0;    ///< Rows, kept or not, that name several GPU models.
    std::uint64_t run_time_unknown = 0;  ///< Kept rows that never ran; they take the run time of the row before.
    std::uint64_t run_time_clamped = 0;  ///< Kept rows whose run time was outside the admitted range.
    std::uint64_t arrival_moved = 0;     ///< Kept rows from before the dense part; they arrive at its start.
};

/// The bundled tables, read and checked.
struct Trace {
    std::string name{};
    std::vector<GpuModel> models{};
    std::vector<Machine> machines{};
    std::vector<TraceTask> tasks{};  ///< By arrival.
    std::int64_t start_seconds = 0;  ///< Start of the dense part.
    std::int64_t end_seconds = 0;    ///< Last arrival.
    RowCounts rows{};
};

/// Limits of a task's run time, in seconds. The upper one leaves room for a slow node: a lease ends after twice the
/// estimate, but never later than two hours.
inline constexpr auto run_seconds_min = std::int64_t{10};
inline constexpr auto run_seconds_max = std::int64_t{3600};

/// Returns the nominal size of a memory in GiB: the smallest size on sale that holds it.
[[nodiscard]] auto nominal_vram(std::int64_t memory_mib) -> std::uint32_t;

/// Reads the tables in `data_folder` and the pod list `pod_list`; an empty name means the bundled one. Throws
/// `InputError`.
[[nodiscard]] auto load_trace(const std::string& data_folder, const std::string& pod_list) -> Trace;

}  // namespace simulate
