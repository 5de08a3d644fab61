#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/bytes.hpp>
#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/merkle_tree.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/parameters.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// The answer to a request, a registration or an operator's entry as a whole. The numbers are stable.
enum class Verdict : std::uint8_t {
    applied = 1,
    duplicate = 2,
    registered = 3,
    stale = 10,
    gap = 11,
    session_unknown = 12,
    operators_only = 13,
    too_many_commands = 14,
    not_begun = 15,
    id_invalid = 20,
    session_taken = 21,
    sessions_full = 22,
    parameter_invalid = 30,
};
ALLOT_ENUMERATORS(Verdict, applied, duplicate, registered, stale, gap, session_unknown, operators_only,
                  too_many_commands, not_begun, id_invalid, session_taken, sessions_full, parameter_invalid)

/// The verdict and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(Verdict verdict) noexcept -> std::string_view {
    switch (verdict) {
        case Verdict::applied: return "the commands were applied; each has an answer of its own";
        case Verdict::duplicate: return "the request had been applied before; the answers are those of then";
        case Verdict::registered: return "the session is open; the next request has the seq of this reply plus 1";
        case Verdict::stale: return "a later request of the session was applied; its answer alone is kept";
        case Verdict::gap: return "the request before this one was not applied; send that one first";
        case Verdict::session_unknown: return "the session is not open, or it expired; register a new one";
        case Verdict::operators_only: return "only an entry of the operator may configure or postpone";
        case Verdict::too_many_commands: return "the request has more commands than the parameters allow; split it";
        case Verdict::not_begun: return "log time begins with the first tick; send the request again after it";
        case Verdict::id_invalid: return "the id of the session or of the client is null";
        case Verdict::session_taken: return "another client has a session of this id; draw another id";
        case Verdict::sessions_full: return "there are as many sessions as the parameters allow; try again later";
        case Verdict::parameter_invalid: return "a parameter is outside its documented range";
    }
    return "unknown verdict";
}

/// The last request that was applied.
struct LastRequest {
    std::uint64_t seq = 0;
    std::uint64_t index = 0;                      ///< Of the entry that applied it.
    std::vector<std::optional<Error>> answers{};  ///< One for each command: its error, or none if it was accepted.

    friend auto operator==(const LastRequest&, const LastRequest&) -> bool = default;
};
ALLOT_FIELDS(LastRequest, seq, index, answers)

/// The verdict that `seq` gets after the last request: `applied` if it is the next.
[[nodiscard]] inline auto verdict_on(const LastRequest& last, std::uint64_t seq) noexcept -> Verdict {
    return seq == last.seq + 1 ? Verdict::applied
           : seq > last.seq    ? Verdict::gap
           : seq < last.seq    ? Verdict::stale
           : last.index != 0   ? Verdict::duplicate
                               : Verdict::stale;
}

/// One open session. Times are on the table's clock, which is log time without the outages. So an outage lengthens
/// `ends` in log time, and as `expiry` is meant in log time it comes earlier on this clock.
struct ClientSession {
    SessionId session = SessionId::null();
    ClientId client = ClientId::null();
    std::uint64_t used = 0;             ///< Index of the entry that used it last.
    TimePoint ends{};                   ///< It is closed then, unless it is used before.
    std::optional<TimePoint> expiry{};  ///< It is closed then in any case; `postpone` moves it.
    LastRequest last{};
    std::uint32_t slot = 0;  ///< Its place among all sessions: the lowest that was free.

    friend auto operator==(const ClientSession&, const ClientSession&) -> bool = default;
};
ALLOT_FIELDS(ClientSession, session, client, used, ends, expiry, last, slot)

/// The open sessions of clients, with the last answer of each. With it a request that is sent twice is applied once.
///
/// A session's numbers begin with the index of the entry that opened it: its first request has that index plus 1. So a
/// late copy of an earlier life of the session is `stale` and never applied again.
///
/// Every bound counts for one client alone as long as the table has room: a client that opens too many sessions closes
/// its own oldest. The order of time is that of the log, so all replicas close the same sessions.
///
/// Changes since the last `begin` can be taken back as a whole.
class ClientTable {
public:
    /// Number of open sessions.
    [[nodiscard]] auto size() const noexcept -> std::size_t { return sessions_.size(); }

    /// The session, or null. @complexity O(log n).
    [[nodiscard]] auto find(const SessionId& session) const -> const ClientSession* {
        const auto at = sessions_.find(session);
        return at == sessions_.end() ? nullptr : &at->second;
    }

    /// The verdict on a request's number; `applied` if it is the next of its session. @complexity O(log n).
    [[nodiscard]] auto admit(const SessionId& session, std::uint64_t seq) const -> Verdict {
        const auto* known = find(session);
        return known == nullptr ? Verdict::session_unknown : verdict_on(known->last, seq);
    }

    /// Opens a session, or renews the one that the same client has. Closes the client's oldest if there are too many.
    ///
    /// Returns `registered`, or `id_invalid`, `session_taken` or `sessions_full`, which change nothing.
    /// @complexity O(log n + the client's sessions).
    auto open(const entry::Register& wish, const ReplicaParameters& parameters, TimePoint now, std::uint64_t index)
        -> Verdict {
        if (wish.session.is_null() || wish.client.is_null()) { return Verdict::id_invalid; }
        const auto at = sessions_.find(wish.session);
        if (at != sessions_.end() && at->second.client != wish.client) { return Verdict::session_taken; }
        auto session = ClientSession{wish.session, wish.client, index, {}, {}, {index, 0, {}}, 0};
        if (at != sessions_.end()) {
            session.last = at->second.last;
            session.slot = at->second.slot;
        } else {
            const auto own = sessions_of(wish.client);
            const auto is_full = sessions_.size() >= parameters.sessions_max;
            if (own == 0 && is_full) { return Verdict::sessions_full; }
            if (own >= parameters.sessions_per_client_max || is_full) {
                close(std::get<SessionId>(*by_client_.lower_bound({wish.client, 0, SessionId::null()})));
            }
            session.slot = slots_.lowest_free();
        }
        if (wish.expiry) { session.expiry = std::clamp(*wish.expiry, TimePoint{}, time_point_max) - postponed_; }
        use(session, parameters, now);
        replace(std::move(session));
        return Verdict::registered;
    }

    /// Keeps the answers of the session's next request, and the session open.
    /// @pre `admit(session, last.seq) == Verdict::applied`. This is asserted.
    /// @complexity O(log n).
    void answer(const SessionId& session, LastRequest last, const ReplicaParameters& parameters, TimePoint now) {
        const auto at = sessions_.find(session);
        ALLOT_ASSERT(at != sessions_.end() && verdict_on(at->second.last, last.seq) == Verdict::applied,
                     "only the next request of an open session is answered");
        const auto& old = at->second;
        auto next = ClientSession{old.session, old.client, last.index, {}, old.expiry, std::move(last), old.slot};
        use(next, parameters, now);
        replace(std::move(next));
    }

    /// Closes the sessions that have ended. @complexity O(log n) for each.
    void expire(TimePoint now) {
        while (!by_end_.empty() && by_end_.begin()->first <= now - postponed_) {
            close(SessionId{by_end_.begin()->second});
        }
    }

    /// Moves the end of every session by the length of an outage, but not the expiry that it was opened with.
    /// @complexity linear in the table, and O(log n) for each session with an expiry; O(1) if `by` is zero.
    void postpone(Duration by) {
        if (by == Duration{0}) { return; }
        auto expiring = std::vector<ClientSession>{};
        for (const auto& [id, session] : sessions_) {
            if (session.expiry) { expiring.push_back(session); }
        }
        postponed_ += by;
        for (auto& session : expiring) {
            session.expiry = *session.expiry - by;
            session.ends = std::min(session.ends, *session.expiry);
            replace(std::move(session));
        }
    }

    /// Begins a step that `rollback` takes back. @complexity linear in the changes of the step before.
    void begin() {
        if (tree_) {
            note_touched();
            if (touched_.size() > touched_max) { hash_touched(); }
        }
        undo_.clear();
        postponed_before_ = postponed_;
    }

    /// Takes back every change since `begin`. If memory runs out, `std::terminate` is called.
    /// @complexity O(log n) for each change.
    void rollback() noexcept {
        for (; !undo_.empty(); undo_.pop_back()) {
            erase(undo_.back().first);
            if (undo_.back().second) { insert(std::move(*undo_.back().second)); }
        }
        postponed_ = postponed_before_;
        tree_.reset();  // it may have followed the step
    }

    /// Appends the canonical bytes. @complexity linear in the table.
    void put(Encoder& out) const {
        out.put(postponed_);
        out.put(static_cast<std::uint32_t>(sessions_.size()));
        for (const auto& [id, session] : sessions_) { out.put(session); }
    }

    /// The table of bytes that `put` wrote. Other bytes leave a fault in the reader.
    /// @complexity O(n log n).
    [[nodiscard]] static auto get(ByteReader& reader) -> ClientTable {
        auto table = ClientTable{};
        auto in = Decoder{reader};
        constexpr auto longest = time_point_max.time_since_epoch();
        const auto in_range = [&](TimePoint t) {
            return t.time_since_epoch() >= -longest && t.time_since_epoch() <= 2 * longest;
        };
        in.get(table.postponed_);
        if (table.postponed_ < Duration{0} || table.postponed_ > longest) { reader.fail(DecodeError::out_of_range); }
        for (auto left = reader.count(); left > 0 && !reader.fault(); --left) {
            auto session = ClientSession{};
            in.get(session);
            const auto& all = table.sessions_;
            const auto is_next = all.empty() ? !session.session.is_null() : all.rbegin()->first < session.session;
            if (!is_next || !in_range(session.ends) || (session.expiry && !in_range(*session.expiry)) ||
                session.slot >= ReplicaParameters::sessions_limit || table.slots_.taken(session.slot)) {
                reader.fail(DecodeError::out_of_range);
            }
            if (!reader.fault()) { table.insert(std::move(session)); }
        }
        return table;
    }

    /// The hash of the table: of a Merkle tree of the sessions by slot.
    /// @complexity linear in the table the first time and after a rollback; then O(log n) hashes for each session
    /// touched since the last call.
    [[nodiscard]] auto root() -> Hash256 {
        if (!tree_) {
            tree_.emplace();
            touched_.clear();
            for (const auto& [id, session] : sessions_) { put_leaf(session); }
        }
        note_touched();
        hash_touched();
        auto bytes = std::vector<std::uint8_t>{};
        auto out = Encoder{bytes};
        out.put(std::string{"allot clients"});
        out.put(postponed_);
        out.put(tree_->root());
        return Sha256{}.bytes(bytes).finish();
    }

    friend auto operator==(const ClientTable& a, const ClientTable& b) -> bool {
        return a.postponed_ == b.postponed_ && a.sessions_ == b.sessions_;
    }

private:
    using ByClient = std::tuple<ClientId, std::uint64_t, SessionId>;
    using ByEnd = std::pair<TimePoint, SessionId>;

    [[nodiscard]] static auto by_client(const ClientSession& s) -> ByClient { return {s.client, s.used, s.session}; }
    [[nodiscard]] static auto by_end(const ClientSession& s) -> ByEnd { return {s.ends, s.session}; }

    [[nodiscard]] auto sessions_of(const ClientId& client) const -> std::size_t {
        auto count = std::size_t{0};
        for (auto at = by_client_.lower_bound({client, 0, SessionId::null()});
             at != by_client_.end() && std::get<ClientId>(*at) == client; ++at) {
            ++count;
        }
        return count;
    }

    void use(ClientSession& session, const ReplicaParameters& parameters, TimePoint now) const {
        session.ends = now - postponed_ + parameters.session_ttl;
        if (session.expiry) { session.ends = std::min(session.ends, *session.expiry); }
    }

    /// Notes the slots that the changes of this step have or had.
    void note_touched() {
        for (const auto& [id, before] : undo_) {
            if (before) { touched_.emplace_back(before->slot, id); }
            if (const auto* now = find(id)) { touched_.emplace_back(now->slot, id); }
        }
    }

    /// Brings the tree up to date. First the slots that sessions left, because others may have taken them.
    void hash_touched() {
        const auto is_in = [&](std::uint32_t slot, const ClientSession* session) {
            return session != nullptr && session->slot == slot;
        };
        for (const auto& [slot, id] : touched_) {
            if (!is_in(slot, find(id))) { tree_->set(slot, MerkleTree::absent); }
        }
        for (const auto& [slot, id] : touched_) {
            if (const auto* session = find(id); is_in(slot, session)) { put_leaf(*session); }
        }
        touched_.clear();
    }

    void put_leaf(const ClientSession& session) {
        leaf_.clear();
        Encoder{leaf_}.put(session);
        tree_->put(session.slot, leaf_);
    }

    /// Writes a session and notes the one before.
    void replace(ClientSession session) {
        const auto id = session.session;
        auto& noted = undo_.emplace_back(id, std::nullopt).second;
        if (const auto at = sessions_.find(id); at != sessions_.end()) {
            noted = std::move(at->second);
            erase(id);
        }
        insert(std::move(session));
    }

    void close(const SessionId& id) {
        undo_.emplace_back(id, sessions_.at(id));
        erase(id);
    }

    /// Writes the session before its places, so that `erase` finds all that was written if memory runs out.
    void insert(ClientSession&& moved) {
        const auto id = moved.session;
        slots_.reserve(moved.slot);
        const auto& session = sessions_.insert_or_assign(id, std::move(moved)).first->second;
        slots_.take(session.slot);
        by_client_.insert(by_client(session));
        by_end_.insert(by_end(session));
    }

    void erase(const SessionId& id) noexcept {
        const auto at = sessions_.find(id);
        if (at == sessions_.end()) { return; }
        by_client_.erase(by_client(at->second));
        by_end_.erase(by_end(at->second));
        slots_.free(at->second.slot);
        sessions_.erase(at);
    }

    static constexpr auto touched_max = std::size_t{1} << 16U;

    std::map<SessionId, ClientSession> sessions_{};
    SlotSet slots_{};
    std::set<ByClient> by_client_{};  // the sessions of one client, the one used least recently first
    std::set<ByEnd> by_end_{};
    Duration postponed_{};
    Duration postponed_before_{};
    std::vector<std::pair<SessionId, std::optional<ClientSession>>> undo_{};
    std::optional<MerkleTree> tree_{};                            // from the first call of `root` on
    std::vector<std::pair<std::uint32_t, SessionId>> touched_{};  // slots since the tree followed last
    std::vector<std::uint8_t> leaf_{};
};

}}  // namespace allot::v0
