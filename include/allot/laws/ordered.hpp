#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/linear_queue.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

[[nodiscard]] inline auto show(std::optional<TaskHandle> task) -> std::string {
    return task ? "task " + text(task->value) : "none";
}

/// Compares a queue with a linear one that holds the same tasks.
template <class Q>
[[nodiscard]] auto queue_differs(const Q& queue, const std::vector<QueueEntry>& queued, Sampler& sampler) -> Finding {
    auto linear = LinearQueue{};
    for (const auto& entry : queued) { linear.push(entry); }
    if (queue.size() != queued.size()) {
        return sentence("size is ", queue.size(), " with ", queued.size(), " tasks queued");
    }
    if (queue.worst() != linear.worst()) {
        return sentence("worst is ", show(queue.worst()), " where the last in order is ", show(linear.worst()));
    }
    const auto one = RequirementId{sampler.small(8)};
    if (const auto last = linear.worst_of(one); queue.worst_of(one) != last) {
        return sentence("worst_of is ", show(queue.worst_of(one)), " where the last of its group is ", show(last));
    }
    auto groups = std::vector<RequirementId>{};
    for (std::uint32_t group = 0; group < 8; ++group) {
        if (sampler.once_in(2)) { groups.push_back(RequirementId{group}); }
    }
    const auto among = [&](const QueueEntry& entry) {
        return std::find(groups.begin(), groups.end(), entry.group) != groups.end();
    };
    const auto salt = sampler.below(1'000);
    const auto refused_of = sampler.below(5);  // out of 4: none to all
    auto stranger = std::optional<TaskHandle>{};
    auto asked = std::vector<TaskHandle>{};
    const auto fits = [&](TaskHandle task) {
        const auto known =
            std::find_if(queued.begin(), queued.end(), [&](const auto& entry) { return entry.task == task; });
        if (known == queued.end() || !among(*known)) { stranger = task; }
        asked.push_back(task);
        return (task.value * std::uint64_t{2'654'435'761U} + salt) / 1'000 % 4 >= refused_of;
    };
    const auto best = linear.best(groups, fits);
    const auto in_order = std::exchange(asked, {});
    const auto found = queue.best(groups, fits);
    if (stranger) {
        return sentence("best asks about task ", stranger->value, ", which is not queued in the groups asked for");
    }
    if (found != best) {
        return sentence("best of ", groups.size(), " groups is ", show(found), " where the first that fits is ",
                        show(best));
    }
    if (asked != in_order) {
        return sentence("best asks about ", asked.size(), " tasks, where it has to ask about ", in_order.size(),
                        " in order, each once");
    }
    return {};
}

}  // namespace detail

/// Checks the contract of a queue. Tasks are ordered by highest value, then earlier submission, over all groups asked
/// for; `best` asks about them in this order, once each, until one fits. `worst` is the very last task, `worst_of` that
/// of a group; `push` and `erase` undo each other; `trim`, if there is one, changes no result. It does no harm to erase
/// an absent task or to push a present one, as the dispatcher does when a policy threw.
///
/// @param empty A queue without tasks.
/// @complexity `steps` changes and as many searches among some fifty tasks.
template <task_queue Q>
[[nodiscard]] auto ordered(const Q& empty, std::uint64_t seed = 1, std::uint32_t steps = 3'000) -> Finding {
    auto sampler = Sampler{seed};
    auto queue = empty;
    auto queued = std::vector<QueueEntry>{};
    auto gone = std::vector<QueueEntry>{};
    auto what = std::string_view{};
    for (std::uint32_t step = 0; step < steps; ++step) {
        const auto act = sampler.below(queued.size() > 50 ? 20 : 10);
        if (act == 0 && !gone.empty()) {
            what = "erasing a task that is not there";
            queue.erase(gone[sampler.below(gone.size())]);
        } else if (act == 1 && !queued.empty()) {
            what = "pushing a task that is there already";
            queue.push(queued[sampler.below(queued.size())]);
        } else if (act < 6) {
            what = "a push";
            const auto again = !gone.empty() && sampler.once_in(3);
            auto entry = QueueEntry{TaskHandle{step}, RequirementId{sampler.small(8)}, {}, step};
            entry.value = {sampler.once_in(4) ? sampler.magnitude(96) : u128{sampler.below(5)}, 1 + sampler.below(3)};
            if (again) {  // an erased entry comes back: an undo
                const auto at = gone.begin() + static_cast<std::ptrdiff_t>(sampler.below(gone.size()));
                entry = *at;
                gone.erase(at);
            }
            queue.push(entry);
            queued.push_back(entry);
        } else if (!queued.empty()) {
            what = "an erase";
            const auto at = queued.begin() + static_cast<std::ptrdiff_t>(sampler.below(queued.size()));
            queue.erase(*at);
            gone.push_back(*at);
            queued.erase(at);
        }
        if constexpr (has_trim<Q>) {
            if (sampler.once_in(8)) {
                what = "giving back room";
                auto groups = std::uint32_t{0};
                auto tasks = std::uint32_t{0};
                for (const auto& entry : queued) {
                    groups = std::max(groups, entry.group.value + 1);
                    tasks = std::max(tasks, entry.task.value + 1);
                }
                queue.trim(groups, tasks);
            }
        }
        if (const auto differs = detail::queue_differs(queue, queued, sampler)) {
            return sentence("after ", what, " (step ", step, " of seed ", seed, "): ", *differs);
        }
        if (const auto nodes = static_cast<std::uint32_t>(sampler.magnitude(24).low());
            queue.capacity(nodes) != empty.capacity(nodes)) {
            return sentence("capacity for ", nodes, " nodes depends on what is queued");
        }
    }
    if (empty.size() != 0) {
        return sentence("a copy of the queue is no copy: the first one holds ", empty.size(), " tasks");
    }
    return {};
}

}}}  // namespace allot::v0::laws
