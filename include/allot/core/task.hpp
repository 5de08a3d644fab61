#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/software_version.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// One card a task accepts: the exact name, and the exact VRAM unless that is zero.
///
/// With zero VRAM the name is accepted at any VRAM of at least the task's `vram_min` (rule 10).
struct GpuChoice {
    std::string name{};
    Gibibytes vram{};

    friend auto operator==(const GpuChoice&, const GpuChoice&) -> bool = default;
    friend auto operator<=>(const GpuChoice&, const GpuChoice&) -> std::strong_ordering = default;
};

/// What the embedder says of a task.
struct TaskSpec {
    TaskId id;                                  ///< Name of the task.
    Gibibytes vram_min{};                       ///< Least VRAM; ignored by an exact GPU choice. Zero asks for a GPU choice.
    std::vector<GpuChoice> gpus{};              ///< Accepted cards; empty accepts any with enough VRAM.
    std::vector<std::string> platforms{};       ///< Accepted platforms; empty accepts any.
    std::optional<SoftwareVersion> software{};  ///< Needed version of the node software.
    std::vector<std::string> models{};          ///< Models it needs; duplicates collapse.
    Amount fee{};                               ///< What its owner pays for all of it.
    Duration duration_estimate{};               ///< Expected run time, positive.
    std::optional<OwnerId> owner{};             ///< Who pays and is told.
    std::optional<GroupId> group{};             ///< Validation group; members never share a node or an operator.
    std::vector<std::string> labels{};          ///< Free words for the embedder's own policies.
};

/// What a task asks of a node's class. Interned, it is the task queue's group: VRAM × GPU, or "any" GPU.
struct Requirement {
    Gibibytes vram_min{};
    std::vector<GpuChoice> gpus{};           ///< Sorted, without duplicates.
    std::vector<std::string> platforms{};    ///< Sorted, without duplicates.
    std::optional<SoftwareVersion> software{};

    friend auto operator==(const Requirement&, const Requirement&) -> bool = default;
};

/// Worth of a task per unit of its time, as an exact rational.
struct Value {
    u128 num = 0;            ///< Below 2^96.
    std::uint64_t den = 1;   ///< Positive, below 2^32.

    friend constexpr auto operator==(const Value& a, const Value& b) noexcept -> bool {
        return a.num * u128{b.den} == b.num * u128{a.den};
    }
    friend constexpr auto operator<=>(const Value& a, const Value& b) noexcept -> std::strong_ordering {
        return a.num * u128{b.den} <=> b.num * u128{a.den};
    }
};

/// Life of a task. `ended` keeps its id from being used again until it is forgotten.
enum class TaskState : std::uint8_t { queued, running, ended };

/// Record of a task, as policies see it.
struct Task {
    TaskId id = TaskId{0};
    std::optional<OwnerId> owner{};
    std::optional<GroupId> group_id{};
    Amount fee{};
    Duration duration_estimate{};
    Value value{};
    std::uint64_t sequence = 0;                          ///< Order of submission; decides among equal values.
    std::uint32_t attempt = 0;                           ///< How often it was started; part of the key of its draws.
    TaskState state = TaskState::ended;
    RequirementId requirement = no_handle<RequirementId>;
    LeaseHandle lease = no_handle<LeaseHandle>;
    GroupHandle group = no_handle<GroupHandle>;
    TimePoint submitted_at{};
    TimePoint due_at{};                                  ///< When it leaves the queue or, if ended, is forgotten.
    std::vector<ModelId> models{};                       ///< In canonical order: by name.
    std::vector<NodeId> avoided{};                       ///< Nodes that declined or failed it, oldest first.
    std::vector<std::string> labels{};

    friend auto operator==(const Task&, const Task&) -> bool = default;
};

}}  // namespace allot::v0
