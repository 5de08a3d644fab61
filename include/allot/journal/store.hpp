#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/time.hpp>
#include <allot/journal/basic_store.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/folder.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/store_fault.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// A dispatcher as the machine of a store: a record is a `LogEntry`.
template <class D>
class DispatcherMachine {
public:
    using Dispatcher = D;

    /// Starts from a dispatcher without records.
    explicit DispatcherMachine(D composed) : composed_{composed}, dispatcher_{std::move(composed)} {}

    [[nodiscard]] auto dispatcher() const noexcept -> const D& { return dispatcher_; }
    [[nodiscard]] auto dispatcher() noexcept -> D& { return dispatcher_; }
    [[nodiscard]] static auto embedded() -> EmbeddedSection { return {}; }
    [[nodiscard]] auto composed() const -> D { return composed_; }
    [[nodiscard]] auto load(Loaded<D> loaded) -> bool {
        if (loaded.embedded != EmbeddedSection{}) { return false; }
        dispatcher_ = std::move(loaded.dispatcher);
        return true;
    }
    [[nodiscard]] auto replay(std::uint64_t, std::span<const std::uint8_t> record) -> bool {
        const auto entry = decode<LogEntry<typename D::Command>>(record);
        if (!entry) { return false; }
        events_.clear();
        dispatcher_.apply(entry->command, entry->moment, events_);
        return true;
    }

private:
    D composed_;
    D dispatcher_;
    Events events_{};
};

}  // namespace detail

/// A dispatcher that outlasts crashes: each command is in a log before it is applied.
///
///     auto folder = allot::PosixFolder::open("/var/lib/relay");
///     auto store = allot::Store<allot::Dispatcher<>, allot::PosixFolder>::open(*std::move(folder), {});
///     store->resume(now, events);
///     store->apply(command, moment, events);
///     store->sync();                                 // only now tell the events
///
/// @complexity of a command: that of the dispatcher, and of one write of the folder.
template <class Dispatcher, folder Folder>
class Store {
    using Machine = detail::DispatcherMachine<Dispatcher>;
    using Command = typename Dispatcher::Command;

public:
    /// Opens the folder as `BasicStore::open` does. `composed` is a dispatcher without records. Parameters that
    /// `configure` changed are taken from the snapshot.
    ///
    /// Error: a `StoreFault`, which names the file.
    /// @complexity linear in the snapshot and in the log behind it.
    [[nodiscard]] static auto open(Folder folder, Dispatcher composed, const StoreParameters& parameters = {})
        -> Result<Store, StoreFault> {
        auto opened = BasicStore<Machine, Folder>::open(std::move(folder), Machine{std::move(composed)}, parameters);
        if (!opened) { return FailureOf<StoreFault>{std::move(opened.error())}; }
        return Store{*std::move(opened)};
    }

    /// Appends a command to the log and applies it. Pass the events on only after `sync`.
    ///
    /// Error: that of the log; then the command was not applied, and the store has to be opened again. Only a command
    /// that is `too_long` leaves the store as it was, unless others of the same call come before it.
    auto apply(const Command& command, const Moment& moment, Events& events) -> std::optional<IoError> {
        return apply(std::span{&command, 1}, moment, events);
    }
    /// The same for commands in order at one Moment.
    auto apply(std::span<const Command> commands, const Moment& moment, Events& events) -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        for (const auto& command : commands) {
            record_.clear();
            encode_to(record_, LogEntry<Command>{moment, command});
            if (const auto position = store_.append(record_); !position) {
                broken_ = position.error() != IoError::too_long || &command != commands.data();
                return position.error();
            }
        }
        broken_ = true;  // until the commands are applied: a policy may throw, and the log has them already
        auto& dispatcher = store_.machine().dispatcher();
        if (store_.is_writing()) {
            auto session = dispatcher.session();
            dispatcher.apply(commands, moment, events);
            store_.follow(session);
            session.commit();
        } else {
            dispatcher.apply(commands, moment, events);
        }
        broken_ = false;
        return std::nullopt;
    }

    /// After opening: gives leases and waiting tasks back the time since the last command beyond `gap_max`, at most
    /// `outage_max`, by one `postpone` in the log. Does nothing for a shorter gap, and before the first command.
    ///
    /// Error: as `apply`.
    auto resume(TimePoint time, Events& events, Duration gap_max = std::chrono::seconds{10},
                Duration outage_max = std::chrono::hours{24}) -> std::optional<IoError> {
        if (position() == 0) { return std::nullopt; }
        const auto outage = outage_between(dispatcher().now(), time, gap_max, outage_max);
        return outage > Duration{0} ? apply(command::Postpone{outage}, Moment{time, {}, {}}, events) : std::nullopt;
    }

    /// Returns once all applied commands outlast a crash; also writes a slice of a snapshot. Error: as
    /// `BasicStore::sync`.
    auto sync() -> std::optional<IoError> { return broken_ ? IoError::broken : store_.sync(); }
    /// Begins a snapshot now. Error: as `BasicStore::checkpoint`.
    auto checkpoint() -> std::optional<IoError> { return broken_ ? IoError::broken : store_.checkpoint(); }
    /// Writes the rest of the snapshot in progress at once.
    void finish_checkpoint() {
        if (!broken_) { store_.finish_checkpoint(); }
    }

    /// The dispatcher, read-only.
    [[nodiscard]] auto dispatcher() const noexcept -> const Dispatcher& { return store_.machine().dispatcher(); }
    /// Position of the next command.
    [[nodiscard]] auto position() const noexcept -> std::uint64_t { return store_.position(); }
    /// Position behind the last command that outlasts a crash.
    [[nodiscard]] auto synced() const noexcept -> std::uint64_t { return store_.synced(); }
    /// True while a snapshot is being written.
    [[nodiscard]] auto is_writing() const noexcept -> bool { return store_.is_writing(); }
    /// The error that ended the last snapshot; none if it is in progress or stands.
    [[nodiscard]] auto snapshot_error() const noexcept -> const std::optional<IoError>& {
        return store_.snapshot_error();
    }
    /// Positions of the snapshots that stand, ascending.
    [[nodiscard]] auto snapshots() const noexcept -> const std::vector<std::uint64_t>& { return store_.snapshots(); }

private:
    explicit Store(BasicStore<Machine, Folder> store) : store_{std::move(store)} {}

    BasicStore<Machine, Folder> store_;
    std::vector<std::uint8_t> record_{};
    bool broken_ = false;  // the log may hold commands that were not applied, so no snapshot may say it holds them
};

}}  // namespace allot::v0
