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

/// What `or_throw` throws for a refused command.
class RefusedError : public std::runtime_error {
public:
    explicit RefusedError(Error error) : std::runtime_error{std::string{message(error)}}, error_{error} {}
    [[nodiscard]] auto error() const noexcept -> Error { return error_; }

private:
    Error error_;
};

/// Owned list of what followed from one command: first what was due, then the direct answer, then what followed.
///
/// A few events live inside the object, so that an ordinary command allocates nothing.
class [[nodiscard]] Events {
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
    /// Drops everything from a place on.
    void truncate(std::size_t size) noexcept { events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(size), events_.end()); }
    void clear() noexcept {
        events_.clear();
        answer_ = 0;
    }
    /// Called by the dispatcher: what comes from here on answers the command.
    void begin_answer() noexcept { answer_ = events_.size(); }

    /// The first event of type `E`, or null. @complexity linear.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events_) {
            if (const auto* found = std::get_if<E>(&event)) {
                return found;
            }
        }
        return nullptr;
    }

    /// True unless the command was refused.
    [[nodiscard]] auto accepted() const noexcept -> bool { return get<event::Refused>() == nullptr; }

    /// Why the command was refused. @pre `!accepted()`.
    [[nodiscard]] auto error() const noexcept -> Error {
        const auto* refused = get<event::Refused>();
        return refused == nullptr ? Error{} : refused->error;
    }

    /// The first lease that began with the direct answer or followed from it: for `submit` the submitted task's, for
    /// `complete` the next task of the node; null when none began. What was due before the command does not count.
    [[nodiscard]] auto lease() const noexcept -> const Lease* {
        for (auto i = answer_; i < events_.size(); ++i) {
            if (const auto* started = std::get_if<event::TaskStarted>(&events_[i])) {
                return &started->lease;
            }
        }
        return nullptr;
    }

    /// Where the direct answer begins; before it stands what was due.
    [[nodiscard]] auto answer() const noexcept -> std::size_t { return answer_; }

    /// Calls, for each event in order, the handler that takes its type; events without a handler are passed over.
    template <class... Handlers>
    void each(Handlers&&... handlers) const {
        static_assert((detail::takes_some<Handlers>(std::type_identity<Event::Alternatives>{}) && ...),
                      "allot: Events::each got a handler that takes no event, so it would never be called; let it take one, such as "
                      "`[](const allot::event::TaskStarted& started) { ... }`");
        const auto all = detail::Overloaded{std::forward<Handlers>(handlers)..., [](const auto&, auto...) {}};
        for (const auto& event : events_) {
            std::visit([&](const auto& e) { all(e); }, event);
        }
    }

    /// The events themselves, or `RefusedError` when the command was refused; a program without exceptions ends instead.
    auto or_throw() const& -> const Events& {
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

/// What one command of a batch brought: a stretch of the batch's events.
struct Answer {
    std::size_t first = 0;             ///< What was due before the command begins here.
    std::size_t direct = 0;            ///< The answer begins here.
    std::size_t end = 0;               ///< The next command's begin here.
    std::optional<Error> error{};      ///< Why it was refused, if it was.
};

namespace detail {

/// Takes back the events of a command that did not come to its end.
class RollbackGuard {
public:
    RollbackGuard(Events& events, std::size_t size) noexcept : events_{&events}, size_{size} {}
    RollbackGuard(const RollbackGuard&) = delete;
    auto operator=(const RollbackGuard&) -> RollbackGuard& = delete;
    ~RollbackGuard() {
        if (events_ != nullptr) {
            events_->truncate(size_);
        }
    }
    void keep() noexcept { events_ = nullptr; }

private:
    Events* events_;
    std::size_t size_;
};

}  // namespace detail

}}  // namespace allot::v0
