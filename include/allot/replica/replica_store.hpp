#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/dispatcher/session.hpp>
#include <allot/journal/basic_store.hpp>
#include <allot/journal/folder.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/store_fault.hpp>
#include <allot/replica/effects.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/replica.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// A replica as the machine of a store. A record is the bytes of an entry, whose position is that of the record + 1.
template <class D>
class ReplicaMachine {
public:
    using Dispatcher = D;

    /// Starts from a dispatcher without records.
    ReplicaMachine(D composed, ReplicaId id) : composed_{composed}, replica_{std::move(composed), id} {}

    [[nodiscard]] auto replica() const noexcept -> const Replica<D>& { return replica_; }
    [[nodiscard]] auto replica() noexcept -> Replica<D>& { return replica_; }
    /// The effects of the entry that was replayed last.
    [[nodiscard]] auto effects() const noexcept -> const EntryEffects& { return effects_; }

    [[nodiscard]] auto dispatcher() const noexcept -> const D& { return replica_.dispatcher(); }
    [[nodiscard]] auto embedded() const -> EmbeddedSection { return replica_.embedded(); }
    [[nodiscard]] auto composed() const -> D { return composed_; }
    [[nodiscard]] auto load(Loaded<D> loaded) -> bool {
        const auto position = loaded.position;
        auto restored = Replica<D>::restore(std::move(loaded), replica_.id());
        if (!restored || restored->position() != position) { return false; }
        replica_ = *std::move(restored);
        return true;
    }
    [[nodiscard]] auto replay(std::uint64_t position, std::span<const std::uint8_t> record) -> bool {
        const auto entry = decode_entry<typename D::Command>(record);
        if (!entry) { return false; }
        effects_ = replica_.apply_decoded(position + 1, *entry);
        return !effects_.fault;
    }

private:
    D composed_;
    Replica<D> replica_;
    EntryEffects effects_{};
};

}  // namespace detail

/// A replica of one machine, whose log is a folder: each entry is in the log before it is applied, and its effects are
/// given only once it outlasts a crash.
///
/// So clients have the same sessions, duplicates and event ids as with a replicated log, and nothing they were told is
/// lost.
template <class Dispatcher, folder Folder>
class ReplicaStore {
    using Machine = detail::ReplicaMachine<Dispatcher>;

public:
    using Entry = allot::Entry<typename Dispatcher::Command>;

    /// Opens the folder as `BasicStore::open` does, and gives the effects of the entries behind the snapshot to the
    /// sink once more. `composed` is a dispatcher without records.
    ///
    /// Error: a `StoreFault`, which names the file.
    /// @complexity linear in the snapshot and in the log behind it.
    template <replica_sink Sink>
    [[nodiscard]] static auto open(Folder folder, Dispatcher composed, ReplicaId id, Sink& sink,
                                   const StoreParameters& parameters = {}) -> Result<ReplicaStore, StoreFault> {
        auto opened =
            BasicStore<Machine, Folder>::open(std::move(folder), Machine{std::move(composed), id}, parameters,
                                              [&](const Machine& machine) { deliver(machine.effects(), sink); });
        if (!opened) { return FailureOf<StoreFault>{std::move(opened.error())}; }
        return ReplicaStore{*std::move(opened)};
    }

    /// Appends an entry and applies it; `sync` gives its effects.
    ///
    /// Error: that of the log; then the entry was not applied, and the store has to be opened again.
    /// @complexity that of the entry.
    auto apply(const Entry& entry) -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        record_.clear();
        encode_entry_to(record_, entry);
        const auto position = store_.append(record_);
        if (!position) {
            broken_ = position.error() != IoError::too_long;  // which changed nothing
            return position.error();
        }
        broken_ = true;  // until the entry is applied: a policy may throw, and the log has it already
        effects_.push_back(store_.machine().replica().apply_decoded(
            *position + 1, entry, [&](const Session<Dispatcher>& session) { store_.follow(session); }));
        broken_ = false;
        return std::nullopt;
    }

    /// Returns once all applied entries outlast a crash, and gives their effects to the sink. Also writes a slice of a
    /// snapshot.
    ///
    /// Error: as `BasicStore::sync`; then no effect was given.
    /// @complexity linear in the entries since the last call and their effects, and in the slice.
    template <replica_sink Sink>
    auto sync(Sink& sink) -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        if (const auto error = store_.sync()) { return error; }
        for (; !effects_.empty(); effects_.pop_front()) { deliver(effects_.front(), sink); }
        return std::nullopt;
    }

    /// Begins a snapshot now. Error: as `BasicStore::checkpoint`.
    auto checkpoint() -> std::optional<IoError> {
        return broken_ ? std::optional{IoError::broken} : store_.checkpoint();
    }
    /// Writes the rest of the snapshot in progress at once.
    void finish_checkpoint() {
        if (!broken_) { store_.finish_checkpoint(); }
    }

    /// The replica. It may be ahead of the effects that were given.
    [[nodiscard]] auto replica() const noexcept -> const Replica<Dispatcher>& { return store_.machine().replica(); }
    /// The state root, as `Replica::root`.
    [[nodiscard]] auto root() -> Hash256 { return store_.machine().replica().root(); }
    /// The log and its snapshots.
    [[nodiscard]] auto store() const noexcept -> const BasicStore<Machine, Folder>& { return store_; }

private:
    explicit ReplicaStore(BasicStore<Machine, Folder> store) : store_{std::move(store)} {}

    BasicStore<Machine, Folder> store_;
    std::deque<EntryEffects> effects_{};  // of the entries since the last sync
    std::vector<std::uint8_t> record_{};
    bool broken_ = false;
};

}}  // namespace allot::v0
