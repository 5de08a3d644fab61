#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <allot/dispatcher/batch.hpp>
#include <allot/dispatcher/interface.hpp>
#include <allot/dispatcher/turn/turn.hpp>
#include <allot/store/digest.hpp>

// The functions of the class Dispatcher, which <allot/dispatcher/interface.hpp> declares. `extern template class
// Dispatcher<...>` keeps them out of a program's own files.

namespace allot { inline namespace v0 {

template <class... Ps>
Dispatcher<Ps...>::Dispatcher(FromChoices, const typename Pack::All& all) : view_{all} {}
template <class... Ps>
Dispatcher<Ps...>::Dispatcher(const Dispatcher&) = default;
template <class... Ps>
Dispatcher<Ps...>::Dispatcher(Dispatcher&&) noexcept = default;
// An assignment of each member would be a twentieth of all code of a dispatcher.
template <class... Ps>
auto Dispatcher<Ps...>::operator=(const Dispatcher& other) -> Dispatcher& {
    return this == &other ? *this : *this = Dispatcher{other};
}
template <class... Ps>
auto Dispatcher<Ps...>::operator=(Dispatcher&& other) noexcept -> Dispatcher& {
    if (this != &other) {
        std::destroy_at(&view_);
        std::construct_at(&view_, std::move(other.view_));
    }
    return *this;
}
template <class... Ps>
Dispatcher<Ps...>::~Dispatcher() = default;

template <class... Ps>
void Dispatcher<Ps...>::apply(const Command& command, const Moment& moment, Events& events, const Trace<View>& trace) {
    const auto subject = detail::subject_of(view_.records, command);
    detail::look_ahead(view_.records, subject);
    apply(command, subject, moment, events, trace);
}

template <class... Ps>
void Dispatcher<Ps...>::apply(std::span<const Command> commands, const Moment& moment, Events& events) {
    apply(commands, moment, events, [](const Answer&) {});
}

template <class... Ps>
void Dispatcher<Ps...>::apply(std::span<const Command> commands, const Moment& moment, Events& events,
                              std::vector<Answer>& answers) {
    apply(commands, moment, events, [&](const Answer& answer) { answers.push_back(answer); });
}

template <class... Ps>
void Dispatcher<Ps...>::apply(const Command& command, const detail::Subject& subject, const Moment& moment,
                              Events& events, const Trace<View>& trace) {
    const auto reach = events.size();
    if (moment.time < now() || moment.time > time_point_max) {
        events.begin_answer();
        events.push(event::Refused{moment.time > time_point_max ? Error::time_too_late : Error::time_went_back});
        return;
    }
    if (subject.task != nullptr) {
        view_.records.expect(*subject.task, subject.hash);
    } else if (subject.node != nullptr) {
        view_.records.expect(*subject.node, subject.hash);
    }
    auto whole = detail::RollbackGuard{events, reach};
    auto guard = session();
    Turn<Ps...>{view_, moment, events, trace}.run(command);
    view_.settle();
    guard.commit();
    whole.keep();
}

/// In a large network most of a command's time is waiting for records. So the records of a stretch of commands are
/// prefetched before the first of them is applied.
template <class... Ps>
template <std::invocable<const Answer&> F>
void Dispatcher<Ps...>::apply(std::span<const Command> commands, const Moment& moment, Events& events,
                              const F& answered) {
    auto subjects = std::array<detail::Subject, detail::stretch>{};
    for (; !commands.empty(); commands = commands.subspan(std::min(commands.size(), detail::stretch))) {
        const auto next = commands.first(std::min(commands.size(), detail::stretch));
        std::transform(next.begin(), next.end(), subjects.begin(),
                       [&](const Command& c) { return detail::subject_of(view_.records, c); });
        detail::look_ahead(view_.records, std::span{subjects}.first(next.size()));
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto first = events.size();
            apply(next[i], subjects[i], moment, events, {});
            const auto direct = events.answer();
            const auto* refused = direct < events.size() ? std::get_if<event::Refused>(&events[direct]) : nullptr;
            answered(Answer{first, direct, events.size(),
                            refused == nullptr ? std::nullopt : std::optional{refused->error}});
        }
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::check(const Command& command) const -> std::optional<Error> {
    auto found = Found{};
    return std::visit(Check<Ps...>{view_, found}, command);
}

template <class... Ps>
auto Dispatcher<Ps...>::digest() const -> std::uint64_t {
    return digest_of(view_.records);
}

/// Writes the records under the same handles and ids through the ordinary calls of `Records`, so that every index is
/// built as for new records.
template <class... Ps>
void Dispatcher<Ps...>::adopt(State&& from) {
    ALLOT_ASSERT(!has_records(), "a dispatcher that has records was configured or filled past its commands");
    auto& records = view_.records;
    auto indices = Indices<Ps...>{view_};
    std::destroy_at(&records);
    std::construct_at(&records, std::move(from));
    records.refit(indices);
    records.nodes().for_each([&](NodeHandle h, const Record& record) { indices.node_changed(h, nullptr, &record); });
    records.tasks().for_each([&](TaskHandle h, const Task& task) { indices.task_changed(h, nullptr, &task); });
}

template <class... Ps>
auto Dispatcher<Ps...>::equals(const Dispatcher& other) const -> bool {
    return view_.records == other.view_.records && view_.same_parameters(other.view_);
}

}}  // namespace allot::v0
