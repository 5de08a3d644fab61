#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include <allot/core/siphash.hpp>
#include <allot/store/due_tree.hpp>
#include <allot/store/holdings.hpp>
#include <allot/store/interned.hpp>
#include <allot/store/record.hpp>
#include <allot/store/stake_index.hpp>
#include <allot/store/table.hpp>

namespace allot { inline namespace v0 {

/// The tables of `Records`, and the indices that follow from records alone. It reads them; only `Records` writes.
///
/// @complexity of every call O(1), or O(log n); more only where stated.
template <class NodeData>
class RecordTables {
public:
    using NodeRecordType = NodeRecord<NodeData>;

    /// Empty tables.
    explicit RecordTables(SipKey key)
        : key_{key}, nodes_{key}, tasks_{key}, ended_{key}, groups_{key}, interned_{key} {}

    [[nodiscard]] auto nodes() const noexcept -> const auto& { return nodes_; }
    /// Tasks that have not ended.
    [[nodiscard]] auto tasks() const noexcept -> const auto& { return tasks_; }
    /// Tasks that have ended, until they are forgotten.
    [[nodiscard]] auto ended_tasks() const noexcept -> const auto& { return ended_; }
    [[nodiscard]] auto groups() const noexcept -> const auto& { return groups_; }
    [[nodiscard]] auto leases() const noexcept -> const auto& { return leases_; }
    [[nodiscard]] auto fits() const noexcept -> const FitTable& { return interned_.fits; }
    [[nodiscard]] auto models() const noexcept -> const ModelTable& { return interned_.models; }
    /// The nodes that ended tasks name.
    [[nodiscard]] auto node_names() const noexcept -> const auto& { return interned_.node_names; }
    [[nodiscard]] auto counters() const noexcept -> const Counters& { return counters_; }
    /// Number of nodes that have not left: N.
    [[nodiscard]] auto present() const noexcept -> std::uint32_t { return present_; }
    /// The largest stake root among the nodes that have not left.
    [[nodiscard]] auto stake_root_max() const noexcept -> StakeRoot { return stakes_.root_max(); }
    /// As `StakeIndex::find`.
    template <class Accept>
    [[nodiscard]] auto find_by_stake(const Accept& accept, std::uint32_t tries) const -> std::optional<NodeHandle> {
        return stakes_.find(nodes_, accept, tries);
    }
    /// The first due entry, or null.
    [[nodiscard]] auto due_first() const noexcept -> const Due* { return due_.top(); }
    /// The first due entry and some others, of which one is mostly due after it: `DueTree::finalists`.
    [[nodiscard]] auto due_finalists() const noexcept { return due_.finalists(); }
    /// True if there is a first due entry, and another one of its kind.
    [[nodiscard]] auto due_has_second() const noexcept -> bool { return due_.has_second(); }
    /// Models on a node's disk, ascending by model.
    [[nodiscard]] auto holdings(NodeHandle h) const -> const HeldModels& { return holdings_.of(h); }
    /// Models that a node was asked to fetch and does not hold, ascending by model.
    [[nodiscard]] auto wishes(NodeHandle h) const -> const HeldModels& { return holdings_.wishes(h); }
    [[nodiscard]] auto all_holdings() const noexcept -> const Holdings& { return holdings_; }
    /// The key of all id and name hashes. It never affects a decision.
    [[nodiscard]] auto key() const noexcept -> SipKey { return key_; }

    /// Makes room for `more` records of a kind behind those that are there. Changes no result.
    /// @complexity linear in the room.
    template <class H>
    void reserve(std::uint32_t more) {
        if (more == 0) { return; }
        auto& records = table(H{0});
        const auto last = records.reach() + more - 1;
        if constexpr (requires { records.reserve(more); }) { records.reserve(more); }
        if constexpr (std::is_same_v<H, NodeHandle>) {
            stakes_.reserve(last);
        } else {
            due_.reserve(static_cast<std::uint8_t>(due_kind<H>), last, more);
        }
    }

    /// Prefetches the records of a lease, and where it is due, as far as its hint leads to them. Changes no result.
    void prefetch(const LeaseHint& hint) const {
        tasks_.prefetch(hint.task);
        leases_.prefetch(hint.lease);
        nodes_.prefetch(hint.node);
        due_.prefetch(static_cast<std::uint8_t>(DueKind::lease), hint.lease.value);
        tasks_.prefetch_slot(hint.task);
        leases_.prefetch_slot(hint.lease);
    }
    /// Prefetches the place at which a task is or will be due. Changes no result.
    void prefetch_due(TaskHandle task) const { due_.prefetch(static_cast<std::uint8_t>(DueKind::task), task.value); }

    /// Declares that the following changes are about this name, so that it is hashed only once. Changes no result.
    void expect(const NodeId& name, std::uint64_t hash) { nodes_.expect(name, hash); }
    void expect(const TaskId& name, std::uint64_t hash) {
        tasks_.expect(name, hash);
        ended_.expect(name, hash);
    }

    /// True if records, counters and interned values are equal. Indices follow from these. The key is not compared.
    friend auto operator==(const RecordTables& a, const RecordTables& b) -> bool {
        auto equal = a.counters_ == b.counters_ && a.nodes_ == b.nodes_ && a.tasks_ == b.tasks_ &&
                     a.ended_ == b.ended_ && a.leases_ == b.leases_ && a.groups_ == b.groups_ &&
                     a.interned_ == b.interned_;
        a.nodes_.for_each([&](NodeHandle h, const NodeRecordType&) {
            equal = equal && b.nodes_.contains(h) && a.holdings(h) == b.holdings(h) && a.wishes(h) == b.wishes(h);
        });
        return equal;
    }

protected:
    auto table(NodeHandle) -> auto& { return nodes_; }
    auto table(TaskHandle) -> auto& { return tasks_; }
    auto table(EndedHandle) -> auto& { return ended_; }
    auto table(LeaseHandle) -> auto& { return leases_; }
    auto table(GroupHandle) -> auto& { return groups_; }

    SipKey key_;
    Counters counters_;
    NamedTable<NodeHandle, NodeRecordType> nodes_;
    NamedTable<TaskHandle, Task> tasks_;
    NamedTable<EndedHandle, EndedTask> ended_;
    NamedTable<GroupHandle, GroupRecord> groups_;
    Table<LeaseHandle, LeaseRecord, 64> leases_;  // a command that reads one reads all of it
    Holdings holdings_;
    Interned interned_;
    StakeIndex<NamedTable<NodeHandle, NodeRecordType>> stakes_;
    DueTree<6> due_;
    std::uint32_t present_ = 0;
};

}}  // namespace allot::v0
