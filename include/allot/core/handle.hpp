#pragma once

#include <compare>
#include <cstdint>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Index of a record inside one dispatcher: small, dense, stable while the record lives.
///
/// The outside names records by id, the inside by handle; an embedder may keep its own arrays indexed by handle.
template <class Tag>
struct Handle {
    std::uint32_t value = 0;

    friend constexpr auto operator<=>(Handle, Handle) noexcept -> std::strong_ordering = default;
};

/// Handle of a node record.
using NodeHandle = Handle<struct NodeHandleTag>;
/// Handle of a task record.
using TaskHandle = Handle<struct TaskHandleTag>;
/// Handle of the remaining record of an ended task.
using EndedHandle = Handle<struct EndedHandleTag>;
/// Handle of a lease record.
using LeaseHandle = Handle<struct LeaseHandleTag>;
/// Handle of a validation group.
using GroupHandle = Handle<struct GroupHandleTag>;
/// Number of an interned node class: one (GPU, VRAM, platform, version).
using ClassId = Handle<struct ClassIdTag>;
/// Number of an interned requirement, which is the task queue's group.
using RequirementId = Handle<struct RequirementIdTag>;
/// Number of an interned model name.
using ModelId = Handle<struct ModelIdTag>;
/// Number of an interned node id, which names a node whose record may be forgotten before its effects are.
using NodeNameId = Handle<struct NodeNameIdTag>;

/// The handle that names no record.
template <class H>
inline constexpr auto no_handle = H{0xFFFF'FFFFU};

}}  // namespace allot::v0
