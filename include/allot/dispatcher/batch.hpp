#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// In a large network most of a command's time goes to waiting for records far away. So before a stretch of commands is applied,
/// one by one, all its records are fetched: first all places in the id maps, then all tasks, then their leases, then their nodes.
/// Within a step no read waits for another.
template <class... Ps>
template <std::invocable<const Answer&> F>
void Dispatcher<Ps...>::apply(std::span<const Command> commands, const Moment& moment, Events& events, const F& answered) {
    auto subjects = std::array<Subject, stretch>{};
    for (; !commands.empty(); commands = commands.subspan(std::min(commands.size(), stretch))) {
        const auto next = commands.first(std::min(commands.size(), stretch));
        std::transform(next.begin(), next.end(), subjects.begin(), [&](const Command& c) { return subject_of(c); });
        look_ahead(std::span{subjects}.first(next.size()));
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto first = events.size();
            apply(next[i], subjects[i], moment, events, {});
            const auto direct = events.answer();
            const auto* refused = direct < events.size() ? std::get_if<event::Refused>(&events[direct]) : nullptr;
            answered(Answer{first, direct, events.size(), refused == nullptr ? std::nullopt : std::optional{refused->error}});
        }
    }
}

/// The one record that a command names, with its hash.
template <class... Ps>
auto Dispatcher<Ps...>::subject_of(const Command& command) const -> Subject {
    auto subject = Subject{};
    std::visit([&](const auto& c) {
        if constexpr (requires { c.lease.task; }) {
            subject.task = &c.lease.task;
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
    }, command);
    if (subject.task != nullptr) {
        subject.hash = state_.tasks().hash(*subject.task);
    } else if (subject.node != nullptr) {
        subject.hash = state_.nodes().hash(*subject.node);
    }
    return subject;
}

/// Touches what commands on these subjects will read. Guesses by hash: a wrong guess costs a read and nothing else.
template <class... Ps>
void Dispatcher<Ps...>::look_ahead(std::span<Subject> seen) const {
    for (auto& s : seen) {
        if (s.task != nullptr) {
            state_.tasks().prefetch(s.hash);
        } else if (s.node != nullptr) {
            state_.nodes().prefetch(s.hash);
        }
    }
    for (auto& s : seen) {
        const auto guess = s.task != nullptr   ? state_.tasks().guess(s.hash)
                           : s.node != nullptr ? state_.nodes().guess(s.hash)
                                               : std::nullopt;
        s.known = guess.has_value();
        s.handle = guess.value_or(0);
    }
    for (auto& s : seen) {
        if (s.known && s.task != nullptr) {
            prefetch(state_.tasks()[TaskHandle{s.handle}]);
        }
    }
    for (auto& s : seen) {
        if (!s.known || s.task == nullptr) {
            continue;
        }
        const auto l = state_.tasks()[TaskHandle{s.handle}].lease;
        s.known = l != no_handle<LeaseHandle>;
        s.handle = l.value;
        if (s.known) {
            prefetch(state_.leases()[l]);
        }
    }
    for (auto& s : seen) {
        if (s.known && s.task != nullptr) {
            s.handle = state_.leases()[LeaseHandle{s.handle}].node.value;
        }
        if (s.known) {
            prefetch(state_.nodes()[NodeHandle{s.handle}]);
            prefetch(state_.holdings(NodeHandle{s.handle}));
        }
    }
}

}}  // namespace allot::v0
