#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/lease.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Number of commands whose records are prefetched together.
inline constexpr auto stretch = std::size_t{32};

/// The record that a command names, if any, and the hash of its name.
struct Subject {
    const TaskId* task = nullptr;
    const NodeId* node = nullptr;
    const LeaseHint* hint = nullptr;
    std::uint64_t hash = 0;
    bool known = false;        ///< If prefetched: true if there is a record.
    std::uint32_t handle = 0;  ///< If `known`: its handle.
};

/// The one record that a command names, with the hash of its name.
template <class State, class Command>
[[nodiscard]] auto subject_of(const State& records, const Command& command) -> Subject {
    auto subject = Subject{};
    std::visit(
        [&](const auto& c) {
            if constexpr (requires { c.lease.task; }) {
                subject.task = &c.lease.task;
                subject.hint = &c.lease.hint;
            } else if constexpr (requires { c.task.id; }) {
                subject.task = &c.task.id;
            } else if constexpr (requires { TaskId{c.task}; }) {
                subject.task = &c.task;
            } else if constexpr (requires { c.node.id; }) {
                subject.node = &c.node.id;
            } else if constexpr (requires { NodeId{c.node}; }) {
                subject.node = &c.node;
            } else if constexpr (requires { c.change.id; }) {
                subject.node = &c.change.id;
            }
        },
        command);
    if (subject.task != nullptr) {
        subject.hash = records.tasks().hash(*subject.task);
    } else if (subject.node != nullptr) {
        subject.hash = records.nodes().hash(*subject.node);
    }
    return subject;
}

/// Prefetches the reads of a command that wait for no other read: the place in the id maps, and all records of a lease
/// with a hint. One by one, that halves the time that a pair of commands waits for memory.
template <class State>
void look_ahead(const State& records, const Subject& subject) {
    if (subject.hint != nullptr) { records.prefetch(*subject.hint); }
    if (subject.task != nullptr) {
        records.tasks().prefetch(subject.hash);
        records.ended_tasks().prefetch(subject.hash);
    } else if (subject.node != nullptr) {
        records.nodes().prefetch(subject.hash);
    }
}

/// Prefetches the records that commands on these subjects will read. It takes all places in the id maps, then all
/// tasks, then their leases, then their nodes, so that within a step no read waits for another. It guesses handles by
/// hash: a wrong guess costs one read and changes no result. Where a lease has a hint, all of this is there already.
template <class State>
void look_ahead(const State& records, std::span<Subject> seen) {
    for (const auto& s : seen) { look_ahead(records, s); }
    for (auto& s : seen) {
        const auto guess = s.task != nullptr   ? records.tasks().guess(s.hash)
                           : s.node != nullptr ? records.nodes().guess(s.hash)
                                               : std::nullopt;
        s.known = guess.has_value();
        s.handle = guess.value_or(0);
    }
    for (auto& s : seen) {
        if (s.known && s.task != nullptr) { prefetch(records.tasks()[TaskHandle{s.handle}]); }
    }
    for (auto& s : seen) {
        if (!s.known || s.task == nullptr) { continue; }
        const auto l = records.tasks()[TaskHandle{s.handle}].lease;
        s.known = l != no_handle<LeaseHandle>;
        s.handle = l.value;
        if (s.known) { prefetch(records.leases()[l]); }
    }
    for (auto& s : seen) {
        if (s.known && s.task != nullptr) { s.handle = records.leases()[LeaseHandle{s.handle}].node.value; }
        if (s.known) {
            prefetch(records.nodes()[NodeHandle{s.handle}]);
            prefetch(records.holdings(NodeHandle{s.handle}));
        }
    }
}

}}}  // namespace allot::v0::detail
