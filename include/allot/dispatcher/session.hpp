#pragma once

#include <cstddef>
#include <cstdint>

#include <allot/dispatcher/indices.hpp>
#include <allot/store/undo_log.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// How many sessions a dispatcher has open. A copy has none of its own.
class OpenSessions {
public:
    OpenSessions() = default;
    OpenSessions(const OpenSessions&) noexcept {}
    auto operator=(const OpenSessions&) noexcept -> OpenSessions& { return *this; }

    void open() noexcept { ++count_; }
    /// True when the last one closed.
    auto close() noexcept -> bool { return --count_ == 0; }

private:
    std::uint32_t count_ = 0;
};

/// A stretch of commands that stays or is taken back as a whole.
///
/// While it is open the dispatcher keeps each record as it was before it changed; `rollback` plays these backwards.
/// Each command runs in a session of its own, so a policy that throws leaves the state as it was; an outer session
/// makes what-if, a block that is executed twice, and the undo of a fork. Sessions nest: close the inner one first. A
/// session neither committed nor rolled back is rolled back when it ends. The dispatcher must stay where it is
/// meanwhile.
///
/// Taking back may need memory, where a name or a place in a queue comes back that was given up meanwhile. If that
/// cannot be had, the program ends (`std::terminate`), for half a state is none; the journal has the whole one.
///
/// @complexity `rollback` costs what the commands changed; `commit` nothing.
template <class Dispatcher>
class [[nodiscard]] Session {
public:
    explicit Session(Dispatcher& dispatcher)
        : dispatcher_{&dispatcher}, savepoint_{dispatcher.view_.records.savepoint()} {
        dispatcher.open_.open();
    }
    Session(Session&& other) noexcept : dispatcher_{other.dispatcher_}, savepoint_{other.savepoint_} {
        other.dispatcher_ = nullptr;
    }
    Session(const Session&) = delete;
    auto operator=(const Session&) -> Session& = delete;
    auto operator=(Session&&) -> Session& = delete;
    ~Session() { rollback(); }

    /// The entries that changed in this session so far, for a `StateTree` to follow. @complexity linear in the changes.
    [[nodiscard]] auto touched() const -> Touched {
        return dispatcher_ == nullptr ? Touched{} : dispatcher_->view_.records.touched(savepoint_);
    }

    /// What happened stays (as far as outer sessions allow).
    void commit() noexcept {
        if (dispatcher_ != nullptr && dispatcher_->open_.close()) {
            dispatcher_->view_.records.forget_undo_log();
        }
        dispatcher_ = nullptr;
    }

    /// Everything is as it was when the session began; where memory runs out on the way, the program ends.
    void rollback() noexcept {
        if (dispatcher_ == nullptr) {
            return;
        }
        auto indices = Indices{dispatcher_->view_};
        dispatcher_->view_.records.rollback(savepoint_, indices);
        (void)dispatcher_->open_.close();
        dispatcher_ = nullptr;
    }

private:
    Dispatcher* dispatcher_;
    std::size_t savepoint_;
};

}}  // namespace allot::v0
