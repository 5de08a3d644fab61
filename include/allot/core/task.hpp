#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/list.hpp>
#include <allot/core/rare.hpp>
#include <allot/core/software_version.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// One card that a task accepts: the exact name, and the exact VRAM unless that is zero.
///
/// With zero VRAM the name is accepted with any VRAM of at least the task's `vram_min` (rule 10).
struct GpuChoice {
    std::string name{};
    Gibibytes vram{};

    friend auto operator==(const GpuChoice&, const GpuChoice&) -> bool = default;
    friend auto operator<=>(const GpuChoice&, const GpuChoice&) -> std::strong_ordering = default;
};

/// The embedder's description of a task.
struct TaskSpec {
    TaskId id;                                     ///< Name of the task.
    Gibibytes vram_min{};                          ///< Least VRAM; ignored by an exact GPU choice. Zero asks for a GPU
                                                   ///< choice.
    std::vector<GpuChoice> gpus{};                 ///< Accepted cards; empty accepts any with enough VRAM.
    std::vector<std::string> platforms{};          ///< Accepted platforms; empty accepts any.
    std::vector<std::string> platforms_refused{};  ///< Platforms it does not run on, even if `platforms` lists them.
    std::optional<SoftwareVersion> software{};     ///< Needed version of the node software.
    std::vector<std::string> models{};             ///< Models it needs; duplicates collapse.
    Amount fee{};                                  ///< The fee that its owner pays for the whole task.
    Duration duration_estimate{};                  ///< Expected run time, positive.
    std::optional<OwnerId> owner{};                ///< The owner that pays and is notified.
    std::optional<GroupId> group{};                ///< Validation group; members never share a node or an operator.
    std::vector<std::string> labels{};             ///< Free words for the embedder's own policies.
    std::uint32_t gang_size = 1;   ///< Number of nodes that run it at once, each under its own lease; all
                                   ///< or none.
    bool same_card = false;        ///< The nodes of a gang have one card: the same GPU and VRAM.
    std::optional<NodeId> node{};  ///< Pinned: only this node runs it; then no owner, no group and no
                                   ///< gang. It precedes all other tasks there, so accept it only from the
                                   ///< network itself.
};

/// A task's requirements on a node's class, and its number of nodes. Interned, it is the task queue's group: VRAM ×
/// GPU, or "any" GPU.
struct Requirement {
    Gibibytes vram_min{};
    std::vector<GpuChoice> gpus{};                 ///< Sorted, without duplicates.
    std::vector<std::string> platforms{};          ///< Sorted, without duplicates.
    std::vector<std::string> platforms_refused{};  ///< Sorted, without duplicates; empty where `platforms` is not.
    std::optional<SoftwareVersion> software{};
    std::uint32_t gang_size = 1;
    bool same_card = false;  ///< Never for a single node.

    friend auto operator==(const Requirement&, const Requirement&) -> bool = default;
};

/// A requirement as a spec holds it, for a lookup without a copy.
struct RequirementView {
    Gibibytes vram_min{};
    std::span<const GpuChoice> gpus{};
    std::span<const std::string> platforms{};
    std::span<const std::string> platforms_refused{};
    std::optional<SoftwareVersion> software{};
    std::uint32_t gang_size = 1;
    bool same_card = false;

    friend auto operator==(const Requirement& a, const RequirementView& b) -> bool {
        return a.vram_min == b.vram_min && a.software == b.software && a.gang_size == b.gang_size &&
               a.same_card == b.same_card && std::ranges::equal(a.gpus, b.gpus) &&
               std::ranges::equal(a.platforms, b.platforms) &&
               std::ranges::equal(a.platforms_refused, b.platforms_refused);
    }
};

/// Value of a task per unit of its time, as an exact rational.
///
/// It is packed into 16 bytes, because a queue holds and moves millions. The numerator is below 2^96 and the
/// denominator positive and below 2^32. A larger denominator is halved until it fits, and the numerator with it, so
/// that the value is never more than it was. A larger numerator and a denominator of zero are clamped.
class Value {
public:
    /// The value zero.
    constexpr Value() noexcept = default;
    constexpr Value(u128 num, std::uint64_t den = 1) noexcept  // NOLINT: implicit, a policy may `return fee;`
    {
        const auto halvings = std::max(0, static_cast<int>(std::bit_width(den)) - 32);
        const auto up = (den >> halvings) + ((den >> halvings) << halvings != den ? 1U : 0U);
        den_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(up, 1, 0xFFFF'FFFFU));
        const auto cut = std::min(num >> halvings, (u128{1} << 96) - u128{1});
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

/// State of a task.
enum class TaskState : std::uint8_t {
    queued,   ///< It waits.
    held,     ///< It waits, outside the queue, for the one node that may run it.
    running,  ///< Its nodes hold leases.
    ended,    ///< Its id is not used again until it is forgotten. No task record has this state: only a `TaskEnd`
              ///< remains then.
};

/// How a task ended.
enum class Ending : std::uint8_t { done, failed, cancelled, evicted, timed_out };

/// Reasons why a task failed, was evicted or timed out.
enum class EndCause : std::uint8_t {
    none,           ///< It is done, or was cancelled.
    out_of_memory,  ///< As in `FailCause`, like the next three.
    model_download,
    execution_error,
    incorrect_result,
    queue_full,  ///< As in `event::Eviction`, like the next two.
    queue_shrunk,
    table_full,
    queue_deadline,  ///< Its waiting time ran out.
    lease_deadline,  ///< The time of its lease ran out.
};

/// The remaining facts of an ended task, which `find_task` returns.
struct TaskEnd {
    Ending ending = Ending::done;
    EndCause cause = EndCause::none;
    std::optional<NodeId> node{};  ///< The first node that completed it, or the last one that failed it or was late.

    friend auto operator==(const TaskEnd&, const TaskEnd&) noexcept -> bool = default;
};

/// The part of a task's record that most tasks leave empty. `Task` has functions that read it.
struct TaskRest {
    OwnerId owner = OwnerId::null();  ///< Null when the spec named none.
    List<ModelId> models{};           ///< In canonical order: by name.
    List<NodeId> avoided{};           ///< Nodes that declined or failed it; those that wait for evidence last.
    List<std::string> labels{};

    friend auto operator==(const TaskRest&, const TaskRest&) -> bool = default;
};

/// Record of a task, as policies see it.
///
/// It fills two lines of the cache. The first has the facts that decide whether a node may run it. The owner and the
/// lists, which most tasks lack, lie elsewhere: `owner()`, `models()`, `avoided()` and `labels()` read them.
struct Task {
    TaskId id = TaskId::null();
    Rare<TaskRest> rest{};  ///< Owner, models, avoided nodes and labels. Null if it has none of these.
    RequirementId requirement = no_handle<RequirementId>;
    GroupHandle group = no_handle<GroupHandle>;
    LeaseHandle lease = no_handle<LeaseHandle>;    ///< Lease of its first node; `LeaseRecord::next` leads to the
                                                   ///< others.
    NodeHandle pinned_to = no_handle<NodeHandle>;  ///< The one node that may run it.
    std::uint32_t attempt = 0;                     ///< Number of times it was started; part of the key of its draws.
    TaskState state = TaskState::queued;

    Amount fee{};
    Value value{};
    std::uint64_t sequence = 0;  ///< Order of submission; decides among equal values.
    TimePoint submitted_at{};
    TimePoint due_at{};  ///< Time at which it leaves the queue.
    ShortDuration duration_estimate{};
    std::uint32_t strikes = 0;  ///< Number of times that a node failed it and it started over.

    /// The owner that pays, or the null id when the spec named none.
    [[nodiscard]] auto owner() const noexcept -> OwnerId { return has_rest() ? rest.find()->owner : OwnerId::null(); }
    /// The models that it needs, in canonical order: by name. Valid while the record stays as it is, as the next two.
    [[nodiscard]] auto models() const noexcept -> std::span<const ModelId> {
        return has_rest() ? span_of(rest.find()->models) : std::span<const ModelId>{};
    }
    /// The nodes that declined or failed it: oldest first, but those that wait for evidence (`View::suspects`) last.
    [[nodiscard]] auto avoided() const noexcept -> std::span<const NodeId> {
        return has_rest() ? span_of(rest.find()->avoided) : std::span<const NodeId>{};
    }
    /// Free words for the embedder's own policies.
    [[nodiscard]] auto labels() const noexcept -> std::span<const std::string> {
        return has_rest() ? span_of(rest.find()->labels) : std::span<const std::string>{};
    }

    /// True if only one node may run it.
    [[nodiscard]] auto pinned() const noexcept -> bool { return pinned_to != no_handle<NodeHandle>; }

    /// The owner to notify, if any.
    [[nodiscard]] auto notify_to() const -> std::optional<OwnerId> {
        const auto named = owner();
        return named.is_null() ? std::nullopt : std::optional{named};
    }

    friend auto operator==(const Task&, const Task&) -> bool = default;

private:
    [[nodiscard]] auto has_rest() const noexcept -> bool { return rest.find() != nullptr; }
};
static_assert(sizeof(void*) > 8 || sizeof(Task) <= 128, "millions of these are kept, in two lines of the cache each");

}}  // namespace allot::v0
