#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include <allot/core/command.hpp>
#include <allot/core/task.hpp>

#include "clients.hpp"

namespace service {

namespace detail {

/// The node that a command speaks for, if a node may give it.
template <class C>
auto node_of(const C& c) -> std::optional<allot::NodeId> {
    namespace command = allot::command;
    if constexpr (std::is_same_v<C, command::Join>) {
        return c.node.id;
    } else if constexpr (std::is_same_v<C, command::Update>) {
        return c.change.id;
    } else if constexpr (std::is_same_v<C, command::Pause> || std::is_same_v<C, command::Resume> ||
                         std::is_same_v<C, command::Leave> || std::is_same_v<C, command::ReportModel>) {
        return c.node;
    } else if constexpr (requires { c.lease; }) {
        return c.lease.node;
    } else {
        return std::nullopt;
    }
}

/// The stake that a command declares.
template <class C>
auto stake_of(const C& c) -> std::optional<allot::Amount> {
    if constexpr (std::is_same_v<C, allot::command::Join>) {
        return c.node.stake;
    } else if constexpr (std::is_same_v<C, allot::command::Update>) {
        return c.change.stake;
    } else {
        return std::nullopt;
    }
}

}  // namespace detail

/// True if the client may give the command: an operator all, a node those of its own node with a stake that the
/// operator has seen, an owner those of its own tasks.
template <class Command, class Dispatcher>
[[nodiscard]] auto is_permitted(const Client& client, const Command& command, const Dispatcher& dispatcher) -> bool {
    if (client.is_operator()) { return true; }
    const auto& line = client.line;
    return std::visit(
        [&]<class C>(const C& c) -> bool {
            if (line.role == Role::node) {
                const auto stake = detail::stake_of(c);
                return detail::node_of(c) == line.node &&
                       (!stake || stake->units <= line.stake_max.value_or(allot::Amount{}).units);
            }
            if constexpr (std::is_same_v<C, allot::command::Submit>) {
                return c.task.owner == line.owner && !c.task.node;
            } else if constexpr (std::is_same_v<C, allot::command::Cancel>) {
                // Whose task it was is forgotten with its end; the dispatcher refuses to cancel it.
                const auto* task = dispatcher.task(c.task);
                return task != nullptr ? task->notify_to() == line.owner : dispatcher.ended(c.task).has_value();
            } else {
                return false;
            }
        },
        static_cast<const typename Command::Alternatives&>(command));
}

}  // namespace service
