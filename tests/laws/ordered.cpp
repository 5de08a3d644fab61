#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <allot/laws/ordered.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

namespace {

using allot::QueueEntry;
using allot::RequirementId;
using allot::TaskHandle;

auto finding(const auto& queue) -> std::string { return allot::laws::ordered(queue, 3).value_or("nothing"); }
auto says(const std::string& text, const std::string& part) -> bool {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

enum class Fault {
    none,
    first_in_last_out,
    heads_only,
    forgets_groups,
    asks_strangers,
    asks_twice,
    worst_is_newest,
    worst_of_is_worst,
    double_push,
    erases_any,
    capacity_shrinks
};

/// A list kept in order, with one fault.
template <Fault fault>
struct Queue {
    std::vector<QueueEntry> entries{};

    static auto before(const QueueEntry& a, const QueueEntry& b) -> bool {
        const auto order = a.value <=> b.value;
        return fault == Fault::first_in_last_out && order == 0 ? a.sequence > b.sequence : allot::goes_before(a, b);
    }
    void push(const QueueEntry& entry) {
        const auto known = std::find(entries.begin(), entries.end(), entry) != entries.end();
        if (!known || fault == Fault::double_push) {
            entries.insert(std::lower_bound(entries.begin(), entries.end(), entry, before), entry);
        }
    }
    void erase(const QueueEntry& entry) {
        const auto at = std::find(entries.begin(), entries.end(), entry);
        if (at != entries.end()) {
            entries.erase(at);
        } else if (fault == Fault::erases_any && !entries.empty()) {
            entries.pop_back();
        }
    }
    template <class Fits>
    auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        for (const auto& entry : entries) {
            const auto asked = std::find(groups.begin(), groups.end(), entry.group) != groups.end();
            if (fault == Fault::asks_twice && asked) { (void)fits(entry.task); }
            if (fault == Fault::asks_strangers ? fits(entry.task) && asked
                                               : (asked || fault == Fault::forgets_groups) && fits(entry.task)) {
                return entry.task;
            }
            if (asked && fault == Fault::heads_only) { return std::nullopt; }
        }
        return std::nullopt;
    }
    auto worst() const -> std::optional<TaskHandle> {
        if (entries.empty()) { return std::nullopt; }
        return fault == Fault::worst_is_newest
                   ? std::max_element(entries.begin(), entries.end(),
                                      [](const auto& a, const auto& b) { return a.sequence < b.sequence; })
                         ->task
                   : entries.back().task;
    }
    auto worst_of(RequirementId group) const -> std::optional<TaskHandle> {
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            if (entry->group == group || fault == Fault::worst_of_is_worst) { return entry->task; }
        }
        return std::nullopt;
    }
    auto size() const -> std::uint32_t { return static_cast<std::uint32_t>(entries.size()); }
    auto capacity(std::uint32_t nodes) const -> std::uint32_t {
        return fault == Fault::capacity_shrinks ? nodes - std::min(nodes, size()) : nodes;
    }
};

}  // namespace

TEST_CASE("a lawful queue yields no finding") { CHECK(finding(Queue<Fault::none>{}) == "nothing"); }

TEST_CASE("each fault of a queue is found") {
    CHECK(says(finding(Queue<Fault::first_in_last_out>{}), "is task"));
    CHECK(says(finding(Queue<Fault::heads_only>{}), "is none where the first that fits is task"));
    CHECK(says(finding(Queue<Fault::forgets_groups>{}), "not queued in the groups asked for"));
    CHECK(says(finding(Queue<Fault::asks_strangers>{}), "not queued in the groups asked for"));
    CHECK(says(finding(Queue<Fault::asks_twice>{}), "in order, each once"));
    CHECK(says(finding(Queue<Fault::worst_is_newest>{}), "worst is task"));
    CHECK(says(finding(Queue<Fault::worst_of_is_worst>{}), "worst_of is task"));
    CHECK(says(finding(Queue<Fault::double_push>{}), "pushing a task that is there already"));
    CHECK(says(finding(Queue<Fault::erases_any>{}), "erasing a task that is not there"));
    CHECK(says(finding(Queue<Fault::capacity_shrinks>{}), "capacity"));
    CHECK(says(finding(allot::archetype::Queue{}), "size is 0 with 1 tasks queued"));
}
