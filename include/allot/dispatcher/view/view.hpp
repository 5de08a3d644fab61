#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/dispatcher/view/candidates.hpp>

namespace allot { inline namespace v0 {

/// What is true now: every question about a dispatcher, each rule written once, and no function that changes anything.
///
/// `check`, `explain/`, receipts and `Turn` ask it; `dispatcher.view()` gives it to an embedder. It stands in layers,
/// one a header: `Facts`, `Weighing`, `Draws`, `Candidates`, and here what gives way where a table is full.
template <class... Ps>
class View : public Candidates<Ps...> {
    using Below = Candidates<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::rules, Below::queue, Below::entry_of, Below::outbids;
    using typename Below::Record;

    /// The requirement whose dearest waiting task is worth least, if a newcomer outbids that. None of its tasks runs,
    /// for these cannot make way. @complexity O(requirements).
    [[nodiscard]] auto poorest_requirement(const Task& newcomer) const -> std::optional<RequirementId> {
        const auto beats = [&](TaskHandle t) {
            const auto& task = records.tasks()[t];
            return goes_before(entry_of(no_handle<TaskHandle>, newcomer), entry_of(t, task)) && outbids(newcomer, task);
        };
        const auto worst = queue.worst();
        if (!worst || !beats(*worst)) { return std::nullopt; }
        auto poorest = std::optional<QueueEntry>{};
        records.fits().requirements().for_each([&](std::uint32_t r, const Requirement&) {
            const auto group = RequirementId{r};
            const auto idle = records.fits().staying(group) == 0;
            if (const auto best = queue.best({&group, idle ? 1U : 0U}, [](TaskHandle) { return true; })) {
                const auto entry = entry_of(*best, records.tasks()[*best]);
                poorest = poorest && goes_before(entry, *poorest) ? poorest : entry;
            }
        });
        return poorest && beats(poorest->task) ? std::optional{poorest->group} : std::nullopt;
    }

    /// The class whose greatest stake is least, if a stake is greater; but not one of a node at work, or of more nodes
    /// than a command may send away. @complexity O(classes).
    [[nodiscard]] auto poorest_class(Amount stake, ClassId but) const -> std::optional<ClassId> {
        auto poorest = std::optional<ClassId>{};
        if (stake == Amount{0}) { return poorest; }
        for (const auto c : records.fits().all_classes()) {
            if (c == but || records.fits().count(c) > rules->evictions_max) { continue; }
            auto greatest = Amount{0};
            auto idle = true;
            records.fits().each_node(c, [&](NodeHandle n) {
                const auto& node = records.nodes()[n].node;
                greatest = std::max(greatest, node.stake);
                idle = idle && !node.leased();
            });
            if (idle && greatest < stake) {
                poorest = c;
                stake = greatest;
            }
        }
        return poorest;
    }

    /// The node of least stake, one that left before one that is there, if a stake is greater, or as great as that of
    /// one that left; but not one at work. @complexity O(nodes).
    [[nodiscard]] auto poorest_node(Amount stake) const -> std::optional<NodeHandle> {
        auto poorest = std::optional<NodeHandle>{};
        auto least = std::pair{stake, true};
        records.nodes().for_each([&](NodeHandle h, const Record& record) {
            const auto worth = std::pair{record.node.stake, record.node.present()};
            if (!record.node.leased() && worth < least) {
                poorest = h;
                least = worth;
            }
        });
        return poorest;
    }

    /// The node of least stake for what it takes of the table of models, if a stake for such a part is more; but not
    /// one at work. Of nodes without stake the one that takes most. @complexity O(nodes x models a node).
    [[nodiscard]] auto poorest_holder(Amount stake, std::uint64_t part, std::optional<NodeHandle> but) const
        -> std::optional<NodeHandle> {
        auto poorest = std::optional<NodeHandle>{};
        records.nodes().for_each([&](NodeHandle h, const Record& record) {
            if (h == but || record.node.leased()) { return; }
            const auto its = models_part(records.holdings(h));
            // Both products fit: stakes are below 2^96, and a node takes at most 2^16 whole parts of 2^14.
            const auto left = record.node.stake.units * u128{part};
            const auto right = stake.units * u128{its};
            if (left < right || (poorest && left == right && part < its)) {
                poorest = h;
                stake = record.node.stake;
                part = its;
            }
        });
        return poorest;
    }

    /// What a node takes of the table of models: a part of each model on its disk.
    [[nodiscard]] auto models_part(const HeldModels& held) const -> std::uint64_t {
        return std::accumulate(
            held.begin(), held.end(), std::uint64_t{0}, [&](std::uint64_t sum, const HeldModel& one) {
                return sum + (one.on_disk() ? ModelTable::part(records.models().holders(one.model)) : 0U);
            });
    }

    /// How many more models there is room for on the disks, beside those that some node has; negative where there are
    /// too many. A node that reports its inventory gives up what it does not list, and so makes room for what it lists.
    /// Who lists nothing new needs none.
    [[nodiscard]] auto room_beside(const std::vector<std::string>& models, NodeHandle inventory) const -> std::int64_t {
        const auto& known = records.models();
        auto room = std::int64_t{rules->models_max} - std::int64_t{known.held()};
        auto fresh = std::int64_t{0};
        auto listed = std::vector<ModelId>{};
        for (const auto& name : models) {
            const auto id = known.find(name);
            fresh += id && known.held(*id) ? 0 : 1;
            listed.push_back(id.value_or(no_handle<ModelId>));
        }
        if (inventory != no_handle<NodeHandle>) {
            std::sort(listed.begin(), listed.end());
            for (const auto& held : records.holdings(inventory)) {
                const auto alone = held.on_disk() && known.holders(held.model) == 1;
                room += alone && !std::binary_search(listed.begin(), listed.end(), held.model) ? 1 : 0;
            }
        }
        return fresh == 0 ? 0 : room - fresh;
    }
};

}}  // namespace allot::v0
