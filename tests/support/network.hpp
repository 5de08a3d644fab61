#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>

#include "support/instances.hpp"

// A small network for claims: nodes and tasks that differ from a plain one only in the subject of the claim. Also
// moments with and without entropy, and short queries about the events.
namespace support {

using namespace std::chrono_literals;
using namespace allot::literals;
namespace event = allot::event;
namespace command = allot::command;
using allot::Duration;
using allot::Error;
using allot::Events;
using allot::Lease;
using allot::Moment;
using allot::NodeSpec;
using allot::NodeState;
using allot::TaskSpec;
using allot::TimePoint;

/// A moment with entropy; the entropy may differ from the usual one.
inline auto at(Duration time, allot::Entropy entropy = 2026) -> Moment { return {TimePoint{time}, entropy}; }

/// A moment without entropy: no random draw takes place.
inline auto dark(Duration time) -> Moment { return {TimePoint{time}, std::nullopt}; }

/// A plain node: one of the commonest cards, some stake, no models.
inline auto plain_node(allot::NodeId id) -> NodeSpec {
    auto node = NodeSpec{.id = id};
    node.gpu = "RTX 4090";
    node.vram = 24_GiB;
    node.stake = 400;
    return node;
}

/// A plain task, for every plain node: worth one token a second.
inline auto plain_task(allot::TaskId id) -> TaskSpec {
    auto task = TaskSpec{.id = id};
    task.vram_min = 8_GiB;
    task.fee = 100;
    task.duration_estimate = 100s;
    task.owner = allot::OwnerId{"owner"};
    return task;
}

/// A plain node or task with changes: `with(plain_node(1), [](auto& n) { n.stake = 0; })`.
template <class Spec, class Change>
auto with(Spec spec, Change change) -> Spec {
    change(spec);
    return spec;
}

/// A plain task with a given fee, and so with a given value.
inline auto paying(allot::TaskId id, allot::Amount fee) -> TaskSpec {
    return with(plain_task(id), [&](TaskSpec& task) { task.fee = fee; });
}

/// For commands that only set the scene: throws if they are refused.
inline void ok(const Events& events) { (void)events.or_throw(); }

/// Joins plain nodes 1 to n.
template <class Dispatcher>
void join_plain(Dispatcher& dispatcher, int n, const Moment& moment = at(0s)) {
    for (auto id = 1; id <= n; ++id) { ok(dispatcher.join(plain_node(id), moment)); }
}

/// Returns all events of one type, in order.
template <class E>
auto all(const Events& events) -> std::vector<E> {
    auto found = std::vector<E>{};
    for (const auto& event : events) {
        if (const auto* one = std::get_if<E>(&event)) { found.push_back(*one); }
    }
    return found;
}

template <class E>
auto count(const Events& events) -> std::size_t {
    return all<E>(events).size();
}

/// Returns the reason for refusing a command; none if it was accepted.
inline auto refusal(const Events& events) -> std::optional<Error> {
    return events.accepted() ? std::nullopt : std::optional{events.error()};
}

/// Returns the started tasks, in order, with their ids as written.
inline auto started(const Events& events) -> std::vector<std::string> {
    auto ids = std::vector<std::string>{};
    for (const auto& start : all<event::TaskStarted>(events)) { ids.push_back(start.lease.task.text()); }
    return ids;
}

/// Returns the evicted tasks, in order.
inline auto evicted(const Events& events) -> std::vector<std::string> {
    auto ids = std::vector<std::string>{};
    for (const auto& eviction : all<event::TaskEvicted>(events)) { ids.push_back(eviction.task.text()); }
    return ids;
}

/// Returns the node on which the first task started, or "" if none did.
inline auto where(const Events& events) -> std::string {
    const auto* start = events.get<event::TaskStarted>();
    return start == nullptr ? std::string{} : start->lease.node.text();
}

/// Returns the lease that a command began. Throws if there is none, so that a broken claim is reported.
inline auto leased(const Events& events) -> Lease {
    if (!events.accepted()) { throw allot::RefusedError{events.error()}; }
    const auto* lease = events.lease();
    if (lease == nullptr) { throw std::runtime_error{"no task started"}; }
    return *lease;
}

template <class Dispatcher>
auto state_of(const Dispatcher& dispatcher, allot::NodeId id) -> NodeState {
    const auto* record = dispatcher.node(id);
    return record == nullptr ? NodeState::left : record->node.state;
}

template <class Dispatcher>
auto is_queued(const Dispatcher& dispatcher, allot::TaskId id) -> bool {
    const auto* task = dispatcher.task(id);
    return task != nullptr && task->state == allot::TaskState::queued;
}

/// Returns the state of one model on one node; none if the node has no entry for it.
template <class Dispatcher>
auto holding(const Dispatcher& dispatcher, allot::NodeId id, const std::string& name) -> std::optional<allot::Holding> {
    const auto& state = dispatcher.state();
    const auto model = state.models().find(name);
    const auto node = state.nodes().find(id);
    if (model && node) {
        for (const auto& held : merged(state.holdings(*node), state.wishes(*node))) {
            if (held.model == *model) { return held.holding; }
        }
    }
    return std::nullopt;
}

}  // namespace support
