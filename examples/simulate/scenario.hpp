#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "trace.hpp"

namespace simulate {

/// Behaviour of a node; the report compares these kinds.
enum class Kind : std::uint8_t { fast, ordinary, slow, flaky, vanished };
inline constexpr auto kind_names = std::array<std::string_view, 5>{"fast", "ordinary", "slow", "flaky", "vanished"};
inline constexpr auto kind_count = kind_names.size();

/// One GPU of the node list.
struct NodePlan {
    std::string id{};
    std::string operator_id{};
    std::uint32_t model = 0;  ///< Index into `Scenario::cards`.
    std::int64_t stake_milli = 0;
    std::uint32_t speed_milli = 1000;  ///< Work done in a second, in thousandths of the estimate.
    Kind kind = Kind::ordinary;
    std::int64_t vanishes_at_ms = -1;       ///< Negative: never.
    std::vector<std::uint32_t> software{};  ///< Models on its disk when it joins, by index in `Scenario::software`.
};

/// One task to submit.
struct TaskPlan {
    std::int64_t arrival_ms = 0;
    std::uint32_t row = 0;       ///< Index into `Trace::tasks`.
    std::uint32_t vram_min = 0;  ///< GiB.
    std::uint32_t fee_per_second = 0;
    std::uint32_t software = 0;  ///< Index of its base model.
    std::uint32_t adapter = 0;   ///< Index of a second model; equal to `software`: none.
    std::uint32_t group = 0;     ///< Validation group, from 1; 0: none.
    std::uint8_t decile = 0;     ///< Of its value among all tasks; 0 is the cheapest tenth.
    bool endless = false;        ///< No node can finish it.
    std::uint32_t want = 0;   ///< Number in `Scenario::wants`, from 1, if its wants are not those of its row; 0: none.
    std::uint32_t owner = 0;  ///< Index in `Scenario::owners`.
    std::int64_t fee = 0;
    std::int64_t run_ms = 0;       ///< True run time on a node of speed 1,000.
    std::int64_t declared_ms = 0;  ///< The estimate that the network is told.
    std::uint64_t salt = 0;        ///< Of its id.
};

/// Cards and models of a task that is no row of the trace.
struct Want {
    std::vector<std::string> cards{};  ///< Accepted cards; empty: any.
    std::vector<std::string> models{};
};

/// All inputs of a run except the dispatcher's decisions. Equal options and tables give equal scenarios.
struct Scenario {
    std::vector<GpuModel> cards{};        ///< Those of the trace, then others.
    std::vector<std::string> software{};  ///< Models on disks: base models, adapters, then others.
    std::vector<std::string> owners{};
    std::vector<std::vector<std::uint32_t>> row_cards{};  ///< By row of the trace: accepted cards; none: any.
    std::vector<Want> wants{};
    std::vector<NodePlan> nodes{};
    std::vector<TaskPlan> tasks{};  ///< By arrival.
    std::uint32_t groups = 0;
    std::int64_t arrivals_end_ms = 0;
    std::uint64_t copies_milli = 0;       ///< Tasks made of a row, in thousandths, before validation copies.
    std::uint64_t compression_milli = 0;  ///< Seconds of the trace in a second of the run, in thousandths.
    std::int64_t cold_ms = 0;             ///< Time to load a model that is not on a node's disk.
    std::string source{};                 ///< Where it comes from, in words, unless it is the trace.
    std::uint64_t operators = 0;          ///< Of such a source.
    std::uint64_t digest = 0;             ///< Of the tables of such a source: other tables are another run.
};

/// Rules of derivation; `examples/data/README.md` states them in words.
namespace rule {

inline constexpr auto speed_milli_min = std::uint32_t{700};
inline constexpr auto speed_milli_span = std::uint32_t{701};  ///< 700 to 1400.
inline constexpr auto flaky_permille = std::uint32_t{40};
inline constexpr auto vanished_permille = std::uint32_t{10};
inline constexpr auto flaky_stalls_permille = std::uint32_t{350};
inline constexpr auto flaky_fails_permille = std::uint32_t{50};
inline constexpr auto fails_permille = std::uint32_t{3};
inline constexpr auto grouped_permille = std::uint32_t{100};
inline constexpr auto group_size = std::uint32_t{3};
inline constexpr auto adapter_permille = std::uint32_t{300};
inline constexpr auto software_per_node = std::uint32_t{2};
inline constexpr auto arrival_jitter_seconds = std::int64_t{3600};  ///< Of the trace.
inline constexpr auto even_stake_milli = std::int64_t{50'000'000};
inline constexpr auto owners = std::uint32_t{1'000};
inline constexpr auto download_ms_min = std::int64_t{60'000};
inline constexpr auto download_ms_span = std::uint64_t{240'001};  ///< One to five minutes.

}  // namespace rule

/// Models that tasks want, by falling popularity: the k-th in proportion to 1 / k. Base models, then adapters.
inline constexpr auto base_names = std::array<std::string_view, 24>{
    "sdxl",         "llama-3.1-8b", "flux.1-dev",   "sd-1.5",       "qwen2.5-7b",  "mistral-7b",
    "whisper-v3",   "sd-3.5",       "gemma-2-9b",   "flux.1-fill",  "qwen2.5-14b", "phi-3.5",
    "sd-2.1",       "llava-1.6",    "codellama-7b", "kandinsky-3",  "deepseek-7b", "bark",
    "stable-audio", "wan-2.1",      "animatediff",  "cogvideox-5b", "sdxl-turbo",  "yi-1.5-9b"};
inline constexpr auto adapter_names = std::array<std::string_view, 12>{
    "lora:detail", "lora:anime", "lora:pixel",  "lora:sketch",  "lora:film",     "lora:medical",
    "lora:legal",  "lora:code",  "lora:speech", "lora:product", "lora:interior", "lora:game"};

/// One's own network and tasks from CSV files, as they are. `told` gets a sentence for each column that was derived.
[[nodiscard]] auto load_scenario(const std::string& nodes, const std::string& tasks, const Trace& trace,
                                 std::vector<std::string>& told) -> Scenario;

/// Sorts the tasks into tenths by value.
void assign_deciles(Scenario& scenario);

[[nodiscard]] auto make_scenario(const Trace& trace, const Options& options) -> Scenario;

}  // namespace simulate
