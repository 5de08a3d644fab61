#pragma once

#include <cstdint>
#include <utility>

#include <allot/core/id.hpp>
#include <allot/store/due_tree.hpp>
#include <allot/store/prefetch.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// The order of entries that fall due at one moment: by the id of their record, then by kind and handle. A lease has
/// the id of its task.
///
/// `Records` stores the records, and outlives this.
template <class Records>
struct DueOrder {
    const Records& records;

    /// True if `a` comes before `b`.
    [[nodiscard]] auto operator()(const Due& a, const Due& b) const noexcept -> bool {
        const auto& left = id_of(a);
        const auto& right = id_of(b);
        return left != right ? left < right : std::pair{a.kind, a.handle} < std::pair{b.kind, b.handle};
    }
    /// Prefetches the id of an entry. Changes nothing.
    void fetch(const Due& due) const noexcept { prefetch(id_of(due)); }

    /// The first byte of the id of an entry, which does not fall in this order.
    [[nodiscard]] auto hint(const Due& due) const noexcept -> std::uint8_t { return id_of(due).front(); }

private:
    [[nodiscard]] auto id_of(const Due& due) const noexcept -> const NodeId::Bytes& {
        switch (static_cast<DueKind>(due.kind)) {
            case DueKind::node:
            case DueKind::model: return records.nodes()[NodeHandle{due.handle}].node.id.bytes();
            case DueKind::task: return records.tasks()[TaskHandle{due.handle}].id.bytes();
            case DueKind::ended_task: return records.ended_tasks()[EndedHandle{due.handle}].id.bytes();
            case DueKind::group: return records.groups()[GroupHandle{due.handle}].id.bytes();
            case DueKind::lease: break;
        }
        return records.tasks()[records.leases()[LeaseHandle{due.handle}].task].id.bytes();
    }
};

}}  // namespace allot::v0
