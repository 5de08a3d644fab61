#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/dispatcher/view/candidates.hpp>

namespace allot { inline namespace v0 {

/// Maximum of nodes at work that a search for one that makes way skips.
inline constexpr std::uint32_t make_way_tries_max = 256;
/// Number of classes above which as many are drawn for one that makes way.
inline constexpr std::uint32_t make_way_classes_max = 128;
/// Where nodes hold more models than this, those that may make way in the table of models are drawn, until they hold
/// more than this.
inline constexpr std::uint32_t make_way_models_max = 512;
/// Maximum of nodes that are drawn so for one that makes way, and of those that make way in one command.
inline constexpr std::uint32_t make_way_draws_max = 32;
inline constexpr std::uint32_t make_way_holders_max = 4;

/// Answers every question about a dispatcher's state, each rule written once. No function changes anything.
///
/// `check`, `explain/`, receipts and `Turn` use it; `dispatcher.view()` gives it to an embedder. It consists of layers,
/// one per header: `Facts`, `Weighing`, `Openings`, `Draws`, `Candidates`, and here the entries that make way if a
/// table is full.
template <class... Ps>
class View : public Candidates<Ps...> {
    using Below = Candidates<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::rules, Below::queue, Below::entry_of, Below::outbids, Below::eliminates;
    using typename Below::Record;

    /// The requirement whose best waiting task has the least value, if a newcomer outbids that task. Requirements with
    /// a running or pinned task are skipped, because these tasks cannot make way.
    /// @complexity O(requirements).
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

    /// The class whose greatest stake is least, if `stake` exceeds it. It skips `but`, classes with a node at work, and
    /// classes with more nodes than one command may remove.
    ///
    /// From rules version 2 on it skips those whose nodes hold more models than one node may, too; and of more than
    /// `make_way_classes_max` classes it is the least of as many that are drawn, as in `poorest_holder`.
    /// @complexity O(`evictions_max`) for each of the classes, or of those drawn. O(1) without stake.
    [[nodiscard]] auto poorest_class(Amount stake, ClassId but) const -> std::optional<ClassId> {
        auto poorest = std::optional<ClassId>{};
        if (stake == Amount{0}) { return poorest; }
        const auto compare = [&](ClassId c) {
            if (c == but || records.fits().count(c) > rules->evictions_max) { return; }
            auto greatest = Amount{0};
            auto idle = true;
            auto models = std::size_t{0};
            records.fits().each_node(c, [&](NodeHandle n) {
                const auto& node = records.nodes()[n].node;
                greatest = std::max(greatest, node.stake);
                idle = idle && !node.leased();
                models += records.holdings(n).size();
            });
            if (idle && greatest < stake && (!eliminates() || models <= rules->models_per_node_max)) {
                poorest = c;
                stake = greatest;
            }
        };
        const auto all = records.fits().all_classes();
        if (!eliminates() || all.size() <= make_way_classes_max) {
            for (const auto c : all) { compare(c); }
            return poorest;
        }
        auto random = make_way_random();
        for (auto left = make_way_classes_max; left > 0; --left) { compare(all[random.below(all.size())]); }
        return poorest;
    }

    /// The node of least stake, departed nodes before present ones at equal stake. None unless `stake` exceeds it, or
    /// equals that of a departed node. It skips nodes at work, and those with as much stake that
    /// unbonds; from rules version 2 on, `make_way_tries_max` at most.
    /// @complexity O(log n) for each node skipped.
    [[nodiscard]] auto poorest_node(Amount stake) const -> std::optional<NodeHandle> {
        const auto is_less = [&](NodeHandle h, Amount worth) {
            return std::pair{worth, records.nodes()[h].node.present()} < std::pair{stake, true};
        };
        // Stake that unbonds keeps a record, so that no node is forgotten before it can be slashed.
        const auto worth_less = [&](NodeHandle h) {
            const auto& record = records.nodes()[h];
            const auto unbonds = this->unbonding(record);
            return is_less(h, record.node.present() ? Amount{record.node.stake.units + unbonds.units}
                                                    : std::max(record.node.stake, unbonds));
        };
        const auto poorest = records.find_by_stake(
            [&](NodeHandle h) {
                const auto& node = records.nodes()[h].node;
                return !is_less(h, node.stake) || (!node.leased() && worth_less(h));
            },
            eliminates() ? make_way_tries_max : 0xFFFF'FFFFU);
        return poorest && worth_less(*poorest) ? poorest : std::nullopt;
    }

    /// The node of least stake for its part of the table of models, if `stake` for `part` is more. It skips `but` and
    /// nodes at work. Among nodes without stake it is the one with the largest part.
    ///
    /// From rules version 2 on, where nodes hold more than `make_way_models_max` models, it is the least of some nodes
    /// that are drawn by the number of their models: until these are more than that, `make_way_draws_max` at most. So a
    /// node that fills the table is drawn soon, unless others hold far more models. No entropy is needed, because the
    /// node found has less stake for its part in any case; the draws differ as time and starts do.
    /// @complexity O(nodes x models a node) in version 1; from version 2 on O(log n) for each draw, and O(models) of
    /// the nodes drawn. O(1) without stake.
    [[nodiscard]] auto poorest_holder(Amount stake, std::uint64_t part, std::optional<NodeHandle> but) const
        -> std::optional<NodeHandle> {
        auto poorest = std::optional<NodeHandle>{};
        if (stake == Amount{0}) { return poorest; }
        const auto compare = [&](NodeHandle h) {
            const auto& node = records.nodes()[h].node;
            if (h == but || node.leased()) { return; }
            const auto its = models_part(records.holdings(h));
            // Both products fit: stakes are below 2^96, and a node takes at most 2^16 whole parts of 2^14.
            const auto left = node.stake.units * u128{part};
            const auto right = stake.units * u128{its};
            if (left < right || (poorest && left == right && part < its)) {
                poorest = h;
                stake = node.stake;
                part = its;
            }
        };
        const auto& holdings = records.all_holdings();
        if (!draws_holders()) {
            holdings.each(compare);
            return poorest;
        }
        const auto entries = holdings.entries();
        auto random = make_way_random();
        auto models = std::size_t{0};
        for (auto left = make_way_draws_max; left > 0 && models <= make_way_models_max; --left) {
            const auto drawn = holdings.node_of(random.below(entries));
            models += records.holdings(drawn).size() + records.wishes(drawn).size();
            compare(drawn);
        }
        return poorest;
    }

    /// Draws those that may make way in a full table. The draws differ as time and starts do.
    [[nodiscard]] auto make_way_random() const -> Random {
        const auto& counters = records.counters();
        const auto when = static_cast<std::uint64_t>(counters.now.time_since_epoch().count());
        const auto words = std::array<std::uint64_t, 4>{when, counters.token_next};
        return Random{Entropy{words}, Purpose::make_way, {}};
    }

    /// True if nodes that may make way in the table of models are drawn, because all of them hold too many to look at.
    [[nodiscard]] auto draws_holders() const -> bool {
        return eliminates() && records.all_holdings().entries() > make_way_models_max;
    }

    /// A node's part of the table of models: the sum over the models on its disk.
    /// @complexity O(models of the node).
    [[nodiscard]] auto models_part(const HeldModels& held) const -> std::uint64_t {
        return std::accumulate(held.begin(), held.end(), std::uint64_t{0},
                               [&](std::uint64_t sum, const HeldModel& one) {
                                   return sum + ModelTable::part(records.models().holders(one.model));
                               });
    }

    /// Number of models for which there is room on the disks, in addition to these; negative if there are too many. A
    /// node that reports its inventory gives up the models that it does not list, and so makes room for those that it
    /// lists. Zero if all are on some disk already, because they need no room.
    /// @complexity O((m + h) log m) for m models listed and h held.
    [[nodiscard]] auto room_beside(const std::vector<std::string>& models, NodeHandle inventory) const -> std::int64_t {
        const auto& known = records.models();
        auto room = std::int64_t{rules->models_max} - std::int64_t{known.held()};
        auto fresh = std::int64_t{0};
        auto listed = std::vector<ModelId>{};
        for (const auto name : each_once(models)) {
            const auto id = known.find(name);
            fresh += id && known.held(*id) ? 0 : 1;
            listed.push_back(id.value_or(no_handle<ModelId>));
        }
        if (inventory != no_handle<NodeHandle>) {
            std::sort(listed.begin(), listed.end());
            for (const auto& held : records.holdings(inventory)) {
                const auto alone = known.holders(held.model) == 1;
                room += alone && !std::binary_search(listed.begin(), listed.end(), held.model) ? 1 : 0;
            }
        }
        return fresh == 0 ? 0 : room - fresh;
    }
};

}}  // namespace allot::v0
