#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/handle.hpp>
#include <allot/core/siphash.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/store/column.hpp>
#include <allot/store/interner.hpp>

namespace allot { inline namespace v0 {

/// The requirement and the models, in canonical order, that a hard gate asks of a node.
struct GateAsk {
    RequirementId requirement{};
    std::vector<ModelId> models{};

    friend auto operator==(const GateAsk&, const GateAsk&) -> bool = default;
};

/// Keyed hash of a `GateAsk`.
struct GateAskHash {
    SipKey key{};
    [[nodiscard]] auto operator()(const GateAsk& ask) const -> std::uint64_t {
        auto hasher = SipHash13{key};
        hasher.word(ask.requirement.value);
        for (const auto model : ask.models) { hasher.word(model.value); }
        return hasher.finish();
    }
};

/// The waiting tasks by all that a hard gate asks of a node (`Narrowing::gate`), so that a node is asked about those
/// tasks alone whose models it holds.
///
/// It is a second queue with a group for each `GateAsk`. A group without models is listed under its requirement. Any
/// other one is listed under that of its models with the highest id, mostly the newest and so a rare one. A node that
/// goes through the groups of its own models then meets few whose other models it lacks. How many groups are listed
/// under a model follows from the waiting tasks alone; their order there decides nothing.
template <class Queue>
class GatedTasks {
public:
    /// Without tasks. `empty` is a queue without tasks; the key is that of the records.
    GatedTasks(Queue empty, SipKey key) : queue_{std::move(empty)}, asks_{GateAskHash{key}} {}

    /// Inserts a task. If it throws, `erase` of the same task brings back the state before.
    /// @complexity that of the queue, and O(models).
    void push(const QueueEntry& entry, std::span<const ModelId> models) {
        auto& group = group_of_.made(entry.task.value).group;
        if (group == nothing) {
            const auto id = asks_.intern({entry.group, {models.begin(), models.end()}});
            if (listed_.made(id) == not_listed) {
                list(RequirementId{id},
                     models.empty() ? no_handle<ModelId> : *std::max_element(models.begin(), models.end()));
            }
            asks_.acquire(id);
            group = RequirementId{id};
        }
        queue_.push({entry.task, group, entry.value, entry.sequence});
    }

    /// Erases a task; an absent one changes nothing.
    /// @complexity that of the queue.
    void erase(const QueueEntry& entry) {
        if (group_of_[entry.task.value].group == nothing) { return; }
        auto& group = group_of_.at(entry.task.value).group;
        queue_.erase({entry.task, group, entry.value, entry.sequence});
        asks_.release(group.value);
        if (asks_.count(group.value) == 0) {
            unlist(group);
            (void)asks_.erase_if_unused(group.value);
        }
        group = nothing;
    }

    /// The queue, whose groups are those of this index.
    [[nodiscard]] auto queue() const noexcept -> const Queue& { return queue_; }
    [[nodiscard]] auto queue() noexcept -> Queue& { return queue_; }

    /// The requirement and the models of a group's tasks.
    [[nodiscard]] auto ask(RequirementId group) const -> const GateAsk& { return asks_.value(group.value); }

    /// Calls `f(group, ask)` for each group.
    template <class F>
    void each(F&& f) const {
        asks_.for_each([&](std::uint32_t id, const GateAsk& ask) { f(RequirementId{id}, ask); });
    }
    /// The group of the tasks of a requirement that need no model.
    [[nodiscard]] auto without_models(RequirementId requirement) const -> std::optional<RequirementId> {
        const auto r = std::size_t{requirement.value};
        return r < plain_.size() && plain_[r] != nothing ? std::optional{plain_[r]} : std::nullopt;
    }
    /// The groups that are listed under a model, in no order.
    [[nodiscard]] auto under(ModelId model) const -> std::span<const RequirementId> {
        const auto* groups = under_.find(model.value);
        return groups != nullptr ? std::span<const RequirementId>{*groups} : std::span<const RequirementId>{};
    }

    /// Gives back the room of the tasks from `reach` on, none of which waits, and of groups that are gone. Changes no
    /// result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept {
        group_of_.trim(reach);
        (void)asks_.trim();
        listed_.trim(asks_.reach());
        if constexpr (has_trim<Queue>) { queue_.trim(asks_.reach(), reach); }
    }
    /// True if `trim` has more to give back.
    [[nodiscard]] auto falls() const noexcept -> bool {
        if constexpr (has_falls<Queue>) {
            if (queue_.falls()) { return true; }
        }
        return asks_.falls();
    }

private:
    static constexpr auto nothing = no_handle<RequirementId>;
    /// Where a group is listed: at this place under this model, or under its requirement.
    struct Listing {
        ModelId under = no_handle<ModelId>;
        std::uint32_t at = 0xFFFF'FFFFU;

        friend auto operator==(const Listing&, const Listing&) -> bool = default;
    };
    static constexpr auto not_listed = Listing{};
    struct Member {
        RequirementId group = nothing;
    };

    void list(RequirementId group, ModelId model) {
        if (model == no_handle<ModelId>) {
            const auto requirement = std::size_t{ask(group).requirement.value};
            detail::grow_to(plain_, requirement + 1, nothing);
            plain_[requirement] = group;
            listed_.at(group.value).at = 0;
            return;
        }
        auto& others = under_.made(model.value);
        others.push_back(group);
        listed_.at(group.value) = {model, static_cast<std::uint32_t>(others.size() - 1)};
    }

    void unlist(RequirementId group) {
        const auto where = std::exchange(listed_.at(group.value), not_listed);
        if (where.under == no_handle<ModelId>) {
            plain_[ask(group).requirement.value] = nothing;
            return;
        }
        auto& others = under_.at(where.under.value);
        const auto last = others.back();
        others[where.at] = last;
        if (last != group) { listed_.at(last.value).at = where.at; }
        others.pop_back();
        if (others.empty()) {
            others = std::vector<RequirementId>{};  // `{}` alone would keep its memory
            under_.give_back(where.under.value, [](const auto& groups) { return groups.empty(); });
        }
    }

    Queue queue_;
    Interner<GateAsk, GateAskHash> asks_;
    Column<Member, 4'096> group_of_;                // by task
    Column<Listing> listed_;                        // by group
    std::vector<RequirementId> plain_;              // by requirement
    Column<std::vector<RequirementId>, 64> under_;  // by model
};

}}  // namespace allot::v0
