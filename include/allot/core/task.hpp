#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/list.hpp>
#include <allot/core/software_version.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
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
    std::vector<std::string> platforms_refused{};  ///< Platforms it does not run on, whatever `platforms` says.
    std::optional<SoftwareVersion> software{};  ///< Needed version of the node software.
    std::vector<std::string> models{};          ///< Models it needs; duplicates collapse.
    Amount fee{};                               ///< What its owner pays for all of it.
    Duration duration_estimate{};               ///< Expected run time, positive.
    std::optional<OwnerId> owner{};             ///< Who pays and is told.
    std::optional<GroupId> group{};             ///< Validation group; members never share a node or an operator.
    std::vector<std::string> labels{};          ///< Free words for the embedder's own policies.
    std::uint32_t gang_size = 1;                ///< So many nodes run it at once, each under its own lease; all or none.
    bool same_card = false;                     ///< The nodes of a gang have one card: the same GPU and VRAM.
    std::optional<NodeId> node{};               ///< Pinned: only this node runs it; then no owner, no group and no gang. It
                                                ///< goes before all others there, so accept it from the system alone.
};

/// What a task asks of a node's class, and of how many nodes. Interned, it is the task queue's group: VRAM × GPU, or "any" GPU.
struct Requirement {
    Gibibytes vram_min{};
    std::vector<GpuChoice> gpus{};           ///< Sorted, without duplicates.
    std::vector<std::string> platforms{};    ///< Sorted, without duplicates.
    std::vector<std::string> platforms_refused{};  ///< Sorted, without duplicates; empty where `platforms` is not.
    std::optional<SoftwareVersion> software{};
    std::uint32_t gang_size = 1;
    bool same_card = false;                  ///< Never for a single node.

    friend auto operator==(const Requirement&, const Requirement&) -> bool = default;
};

/// A requirement as it stands in a spec, to be looked up without a copy.
struct RequirementView {
    Gibibytes vram_min{};
    std::span<const GpuChoice> gpus{};
    std::span<const std::string> platforms{};
    std::span<const std::string> platforms_refused{};
    std::optional<SoftwareVersion> software{};
    std::uint32_t gang_size = 1;
    bool same_card = false;

    friend auto operator==(const Requirement& a, const RequirementView& b) -> bool {
        return a.vram_min == b.vram_min && a.software == b.software && a.gang_size == b.gang_size && a.same_card == b.same_card &&
               std::ranges::equal(a.gpus, b.gpus) && std::ranges::equal(a.platforms, b.platforms) &&
               std::ranges::equal(a.platforms_refused, b.platforms_refused);
    }
};

/// Worth of a task per unit of its time, as an exact rational.
///
/// Packed into 16 bytes, for a queue holds and moves millions: the numerator is below 2^96, the denominator positive and below
/// 2^32, and what is not is cut to that.
class Value {
public:
    /// Worth nothing.
    constexpr Value() noexcept = default;
    constexpr Value(u128 num, std::uint64_t den = 1) noexcept  // NOLINT: implicit, a policy may `return fee;`
        : den_{static_cast<std::uint32_t>(std::clamp<std::uint64_t>(den, 1, 0xFFFF'FFFFU))} {
        const auto cut = std::min(num, (u128{1} << 96) - u128{1});
        num_low_ = cut.low();
        num_high_ = static_cast<std::uint32_t>(cut.high());
    }

    [[nodiscard]] constexpr auto num() const noexcept -> u128 { return u128::from_parts(num_high_, num_low_); }
    [[nodiscard]] constexpr auto den() const noexcept -> std::uint32_t { return den_; }

    friend constexpr auto operator==(const Value& a, const Value& b) noexcept -> bool {
        return a.num() * u128{b.den_} == b.num() * u128{a.den_};
    }
    friend constexpr auto operator<=>(const Value& a, const Value& b) noexcept -> std::strong_ordering {
        const auto left = a.num() * u128{b.den_};
        const auto right = b.num() * u128{a.den_};
        return left < right   ? std::strong_ordering::less
               : right < left ? std::strong_ordering::greater
                              : std::strong_ordering::equal;
    }

private:
    std::uint64_t num_low_ = 0;
    std::uint32_t num_high_ = 0;
    std::uint32_t den_ = 1;
};

/// Life of a task.
enum class TaskState : std::uint8_t {
    queued,   ///< It waits.
    held,     ///< It waits at the one node that may run it, beside the queue.
    running,  ///< Its nodes hold leases.
    ended,    ///< Its id is not used again until it is forgotten. No record says so: what is left then is a `TaskEnd`.
};

/// How a task ended.
enum class Ending : std::uint8_t { done, failed, cancelled, evicted, timed_out };

/// Why a task failed, was evicted or timed out.
enum class EndCause : std::uint8_t {
    none,              ///< It is done, or was cancelled.
    out_of_memory,     ///< As in `FailCause`, like the next three.
    model_download,
    execution_error,
    incorrect_result,
    queue_full,        ///< As in `event::Eviction`, like the next two.
    queue_shrunk,
    table_full,
    queue_deadline,    ///< It waited too long.
    lease_deadline,    ///< Its node worked too long.
};

/// What is remembered of a task that has ended, and told by `find_task`.
struct TaskEnd {
    Ending ending = Ending::done;
    EndCause cause = EndCause::none;
    std::optional<NodeId> node{};  ///< Who did it: the first that completed it, or the last that failed it or was late.

    friend auto operator==(const TaskEnd&, const TaskEnd&) noexcept -> bool = default;
};

/// Record of a task, as policies see it.
struct Task {
    TaskId id = TaskId::null();
    OwnerId owner = OwnerId::null();                       ///< Null when the spec named none.
    Amount fee{};
    Value value{};
    std::uint64_t sequence = 0;                          ///< Order of submission; decides among equal values.
    Duration duration_estimate{};
    TimePoint submitted_at{};
    TimePoint due_at{};                                  ///< When it leaves the queue.
    RequirementId requirement = no_handle<RequirementId>;
    LeaseHandle lease = no_handle<LeaseHandle>;          ///< Of its first node; `LeaseRecord::next` leads to the others.
    GroupHandle group = no_handle<GroupHandle>;
    std::uint32_t attempt = 0;                           ///< How often it was started; part of the key of its draws.
    List<ModelId> models{};                              ///< In canonical order: by name.
    List<NodeId> avoided{};                              ///< Nodes that declined or failed it, oldest first.
    List<std::string> labels{};
    std::uint32_t strikes = 0;                           ///< How often a node failed it and it started over.
    TaskState state = TaskState::queued;
    NodeHandle pinned_to = no_handle<NodeHandle>;        ///< The one node that may run it.

    /// True while one node alone may run it.
    [[nodiscard]] auto pinned() const noexcept -> bool { return pinned_to != no_handle<NodeHandle>; }

    /// Who is told, if anybody.
    [[nodiscard]] auto notify_to() const -> std::optional<OwnerId> {
        return owner.is_null() ? std::nullopt : std::optional{owner};
    }

    friend auto operator==(const Task&, const Task&) -> bool = default;
};

}}  // namespace allot::v0
