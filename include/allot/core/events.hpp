#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/container/small_vector.hpp>

#include <allot/core/event.hpp>

namespace allot { inline namespace v0 {

namespace detail {

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

template <class Handler, class... Es>
[[nodiscard]] constexpr auto takes_some(std::type_identity<std::variant<Es...>>) -> bool {
    return (std::is_invocable_v<Handler&, const Es&> || ...);
}

}  // namespace detail

/// The exception that `or_throw` throws for a refused command.
class RefusedError : public std::runtime_error {
public:
    explicit RefusedError(Error error) : std::runtime_error{std::string{message(error)}}, error_{error} {}
    [[nodiscard]] auto error() const noexcept -> Error { return error_; }

private:
    Error error_;
};

/// Owned list of the events of one command: first the events that were due, then the direct answer, then its
/// consequences.
///
/// A few events are stored inside the object, so that an ordinary command allocates nothing.
class [[nodiscard]] Events {  // NOLINT(bugprone-exception-escape): trivial elements move without an exception
public:
    using Container = boost::container::small_vector<Event, 4>;
    using value_type = Event;
    using const_iterator = Container::const_iterator;

    [[nodiscard]] auto begin() const noexcept -> const_iterator { return events_.begin(); }
    [[nodiscard]] auto end() const noexcept -> const_iterator { return events_.end(); }
    [[nodiscard]] auto size() const noexcept -> std::size_t { return events_.size(); }
    [[nodiscard]] auto empty() const noexcept -> bool { return events_.empty(); }
    [[nodiscard]] auto operator[](std::size_t i) const noexcept -> const Event& { return events_[i]; }

    void push(const Event& event) { events_.push_back(event); }
    void insert(std::size_t place, const Event& event) {
        events_.insert(events_.begin() + static_cast<std::ptrdiff_t>(place), event);
    }
    /// Erases all events from the index `size` on.
    void truncate(std::size_t size) noexcept {
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(size), events_.end());
    }
    void clear() noexcept {
        events_.clear();
        answer_ = 0;
    }
    /// Marks the next event as the start of the command's direct answer. The dispatcher calls it.
    void begin_answer() noexcept { answer_ = events_.size(); }

    /// The first event of type `E`, or null.
    /// @complexity linear in the number of events.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events_) {
            if (const auto* found = std::get_if<E>(&event)) { return found; }
        }
        return nullptr;
    }

    /// True unless the command was refused.
    [[nodiscard]] auto accepted() const noexcept -> bool { return get<event::Refused>() == nullptr; }

    /// The error of a refused command.
    /// @pre `!accepted()`.
    [[nodiscard]] auto error() const noexcept -> Error {
        const auto* refused = get<event::Refused>();
        return refused == nullptr ? Error{} : refused->error;
    }

    /// The first lease that began with the direct answer or followed from it; null when none began. For `submit` it is
    /// the submitted task's, for `complete` that of the node's next task. Leases that were due before the command do
    /// not count.
    /// @complexity linear in the number of events.
    [[nodiscard]] auto lease() const noexcept -> const Lease* {
        for (auto i = answer_; i < events_.size(); ++i) {
            if (const auto* started = std::get_if<event::TaskStarted>(&events_[i])) { return &started->lease; }
        }
        return nullptr;
    }

    /// Index of the first event of the direct answer; the events before it were due.
    [[nodiscard]] auto answer() const noexcept -> std::size_t { return answer_; }

    /// Calls, for each event in order, the handler that takes its type; events without a handler are skipped.
    /// @complexity linear in the number of events.
    template <class... Handlers>
    void each(Handlers&&... handlers) const {
        static_assert((detail::takes_some<Handlers>(std::type_identity<Event::Alternatives>{}) && ...),
                      "allot: Events::each got a handler that takes no event, so it would never be called; let it take "
                      "one, such as "
                      "`[](const allot::event::TaskStarted& started) { ... }`");
        const auto all = detail::Overloaded{std::forward<Handlers>(handlers)..., [](const auto&, auto...) {}};
        for (const auto& event : events_) {
            std::visit([&](const auto& e) { all(e); }, event);
        }
    }

    /// The events themselves. If the command was refused, throws `RefusedError` with its error; a program without
    /// exceptions terminates instead.
    auto or_throw() const& -> const Events& {  // NOLINT(modernize-use-nodiscard): a caller may want the exception alone
        throw_if_refused();
        return *this;
    }
    auto or_throw() && -> Events {
        throw_if_refused();
        return std::move(*this);
    }

private:
    void throw_if_refused() const {
        if (!accepted()) {
#ifdef __cpp_exceptions
            throw RefusedError{error()};
#else
            std::terminate();  // as an uncaught one would
#endif
        }
    }

    Container events_;
    std::size_t answer_ = 0;
};

/// The events of one command of a batch: a range of the batch's events.
struct Answer {
    std::size_t first = 0;         ///< Index of the first event that was due before the command.
    std::size_t direct = 0;        ///< Index of the first event of the direct answer.
    std::size_t end = 0;           ///< Index behind the last event; the next command's events begin here.
    std::optional<Error> error{};  ///< The error, if the command was refused.
};

namespace detail {

/// Removes the events of a command that did not complete.
class RollbackGuard {
public:
    RollbackGuard(Events& events, std::size_t size) noexcept : events_{&events}, size_{size} {}
    RollbackGuard(const RollbackGuard&) = delete;
    auto operator=(const RollbackGuard&) -> RollbackGuard& = delete;
    ~RollbackGuard() {
        if (events_ != nullptr) { events_->truncate(size_); }
    }
    void keep() noexcept { events_ = nullptr; }

private:
    Events* events_;
    std::size_t size_;
};

}  // namespace detail

}}  // namespace allot::v0
