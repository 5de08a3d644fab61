#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/receipt.hpp>
#include <allot/journal/state_root.hpp>

namespace allot { inline namespace v0 {

/// The hashes that stand for a state and for the history that led to it, as a block's header has them.
struct HistoryHashes {
    Hash256 state_root{};  ///< `StateTree::root`.
    Hash256 event_hash{};  ///< `EventHash::value`.

    friend auto operator==(const HistoryHashes&, const HistoryHashes&) noexcept -> bool = default;
};
ALLOT_FIELDS(HistoryHashes, state_root, event_hash)

/// A receipt with the hashes before and after its command. They are of the dispatcher alone, without an embedder's
/// section.
struct RootedReceipt {
    HistoryHashes before{};
    HistoryHashes after{};
    Receipt choice{};

    friend auto operator==(const RootedReceipt&, const RootedReceipt&) -> bool = default;
};
ALLOT_FIELDS(RootedReceipt, before, after, choice)

/// Applies commands and writes the rooted receipts of their choices.
///
///     auto writer = allot::ReceiptWriter{dispatcher};
///     for (const auto& receipt : writer.apply(dispatcher, command, moment, events)) { send(allot::encode(receipt)); }
///
/// @complexity the constructor: linear in the records, 64 bytes of memory for each.
template <class Dispatcher>
class ReceiptWriter {
public:
    /// Continues at the position of the next command, from the hash of all events before it.
    explicit ReceiptWriter(const Dispatcher& dispatcher, std::uint64_t position = 0, const Hash256& event_hash = {})
        : tree_{dispatcher}, events_{event_hash}, position_{position} {
        hashes_ = {tree_.root(), event_hash};
    }

    /// Applies one command, appends its events, and returns the receipts of its choices in their order.
    ///
    /// If something is thrown, the dispatcher may be ahead of the writer. Then make another writer.
    /// @pre the dispatcher changed only by this function since the writer was made.
    /// @complexity that of the command and of `Receipts`, and O(log n) hashes for each entry touched.
    [[nodiscard]] auto apply(Dispatcher& dispatcher, const typename Dispatcher::Command& command, const Moment& moment,
                             Events& events) -> std::vector<RootedReceipt> {
        const auto before = hashes_;
        const auto known = events.size();
        auto receipts = Receipts<Dispatcher>{position_};
        auto session = dispatcher.session();
        dispatcher.apply(command, moment, events, receipts.trace());
        tree_.follow(dispatcher, session.touched());
        session.commit();
        for (auto i = known; i < events.size(); ++i) { events_.add(events[i]); }
        hashes_ = {tree_.root(), events_.value()};
        ++position_;
        auto rooted = std::vector<RootedReceipt>{};
        for (const auto& choice : receipts.all()) { rooted.push_back({before, hashes_, choice}); }
        return rooted;
    }

    /// The hashes after the last command.
    [[nodiscard]] auto hashes() const noexcept -> const HistoryHashes& { return hashes_; }

private:
    StateTree tree_;
    EventHash events_;
    std::uint64_t position_;
    HistoryHashes hashes_{};
};

/// Repeats a rooted receipt's choice from hashes that one trusts, such as those of a block's header. Null if the
/// receipt is true, else the error.
///
/// `receipt` is `encode` of a RootedReceipt. `trusted` belongs to the state of the snapshot, with the embedder's
/// section if it has one, and `position` is the number of commands before that state. A root does not cover it, so a
/// header must state it, or one counts the commands of the blocks. So receipt and snapshot may come from any party, and
/// a snapshot that states another position is refused. The commands of `log` are the ones that one takes as given, such
/// as those of the block. Compare `after` with a later header that one trusts to confirm them.
///
/// @complexity that of `verify` without hashes, and linear in the records.
template <class Dispatcher>
[[nodiscard]] auto verify(std::span<const std::uint8_t> receipt, const HistoryHashes& trusted, std::uint64_t position,
                          std::span<const std::uint8_t> snapshot,
                          std::span<const LogEntry<typename Dispatcher::Command>> log, Dispatcher composed)
    -> std::optional<ReceiptFault> {
    const auto stated = decode<RootedReceipt>(receipt);
    if (!stated) { return ReceiptFault{ReceiptError::malformed}; }
    const auto chosen_at = stated->choice.position;
    auto hash = EventHash{trusted.event_hash};
    auto events = Events{};
    auto before =
        detail::state_before(chosen_at, snapshot, log, std::move(composed), std::pair{trusted.state_root, position},
                             [&](const Events& followed) { hash.add(followed); });
    if (!before) { return before.error(); }
    auto writer = ReceiptWriter{before->dispatcher, chosen_at, hash.value()};
    const auto& entry = log[static_cast<std::size_t>(chosen_at - position)];
    const auto made = writer.apply(before->dispatcher, entry.command, entry.moment, events);
    if (stated->choice.ordinal >= made.size()) { return ReceiptFault{ReceiptError::no_such_choice}; }
    const auto& ours = made[stated->choice.ordinal];
    if (const auto fault = detail::difference(ours.choice, stated->choice)) { return fault; }
    return detail::difference(ours, *stated);
}

}}  // namespace allot::v0
