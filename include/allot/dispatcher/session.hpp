#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <allot/dispatcher/indices.hpp>
#include <allot/store/undo_log.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Number of open sessions of a dispatcher. A copy starts with none.
class OpenSessions {
public:
    OpenSessions() = default;
    /// Starts with no open session.
    OpenSessions(const OpenSessions&) noexcept {}
    auto operator=(const OpenSessions&) noexcept -> OpenSessions& { return *this; }

    /// Counts one more open session.
    void open() noexcept { ++count_; }
    /// Counts one less; true if that was the last one.
    auto close() noexcept -> bool { return --count_ == 0; }

private:
    std::uint32_t count_ = 0;
};

/// A sequence of commands that is kept or rolled back as a whole.
///
/// While a session is open, the dispatcher keeps each record as it was before its change, and `rollback` restores them
/// in reverse order. Each command runs in a session of its own, so a policy that throws leaves the state unchanged. An
/// outer session serves hypothetical runs, a block that is executed twice, and the reversal of a fork.
///
/// Sessions nest: close the inner one first. A session that is neither committed nor rolled back is rolled back by its
/// destructor. The dispatcher must not be moved while a session is open.
///
/// Rollback may allocate, to restore a name or a place in a queue that was given up. If that fails, `std::terminate` is
/// called, because a half restored state is of no use; the journal has the whole one.
///
/// @complexity `rollback` is linear in the changes of the commands, and so is the outermost `commit`; others are O(1).
template <class Dispatcher>
class [[nodiscard]] Session {
public:
    /// Opens a session.
    explicit Session(Dispatcher& dispatcher)
        : dispatcher_{&dispatcher}, savepoint_{dispatcher.view_.records.savepoint()} {
        dispatcher.open_.open();
    }
    /// Takes over the session; `other` is closed.
    Session(Session&& other) noexcept : dispatcher_{other.dispatcher_}, savepoint_{other.savepoint_} {
        other.dispatcher_ = nullptr;
    }
    Session(const Session&) = delete;
    auto operator=(const Session&) -> Session& = delete;
    auto operator=(Session&&) -> Session& = delete;
    /// Rolls back, unless the session is committed or rolled back already.
    ~Session() { rollback(); }

    /// The entries that changed in this session so far, for a `StateTree` to follow.
    /// @complexity linear in the changes.
    [[nodiscard]] auto touched() const -> Touched {
        return dispatcher_ == nullptr ? Touched{} : dispatcher_->view_.records.touched(savepoint_);
    }

    /// The dispatcher, with the changes so far.
    /// @pre the session is open.
    [[nodiscard]] auto dispatcher() const noexcept -> const Dispatcher& { return *dispatcher_; }

    /// Calls `f(note)` for each former content that this session noted, oldest first (store/undo_log.hpp).
    /// @complexity linear in the changes.
    template <class F>
    void each_note(F&& f) const {
        if (dispatcher_ != nullptr) { dispatcher_->view_.records.each_note(savepoint_, std::forward<F>(f)); }
    }

    /// Keeps the changes; an open outer session can still roll them back.
    void commit() noexcept {
        if (dispatcher_ != nullptr && dispatcher_->open_.close()) {
            auto indices = Indices{dispatcher_->view_};
            const auto gone = dispatcher_->view_.records.forget_undo_log(indices);
            if (gone || dispatcher_->view_.queue_fell) { dispatcher_->view_.trim(gone); }
        }
        dispatcher_ = nullptr;
    }

    /// Restores the state at the start of the session. If memory runs out, `std::terminate` is called.
    void rollback() noexcept {
        if (dispatcher_ == nullptr) { return; }
        auto indices = Indices{dispatcher_->view_};
        dispatcher_->view_.records.rollback(savepoint_, indices);
        dispatcher_->view_.settle();
        (void)dispatcher_->open_.close();
        dispatcher_ = nullptr;
    }

private:
    Dispatcher* dispatcher_;
    std::size_t savepoint_;
};

}}  // namespace allot::v0
