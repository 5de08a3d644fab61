#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/bytes.hpp>
#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/journal/encode.hpp>
#include <allot/replica/parameters.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

// An entry is one message of the replicated log. Its bytes are in canonical form (journal/encode.hpp):
//
//     version u8 | proposer u32 | nonce u64 | time i64 | kind u8 | body
//
// An entry decides nothing by itself. `Replica::apply` decides, so late, lost, doubled and reordered proposals are
// harmless.

/// Version of the entries' form; it is raised with `encoding_version` too.
inline constexpr auto entry_version = std::uint8_t{1};

/// Name of a client session, chosen at random by the client.
using SessionId = Id<struct SessionIdTag>;
/// Name of an authenticated client, such as a hash of its key; it owns sessions.
using ClientId = Id<struct ClientIdTag>;
/// Number of a replica. A number of `ReplicaParameters::replicas` and above is an observer, which has no vote.
using ReplicaId = std::uint32_t;

/// Commands of one client. `seq` is that of the reply to `Register` plus 1 at first, and grows by 1. A client has one
/// request in flight, and sends the same bytes again until it has the answer.
template <class Command>
struct Request {
    SessionId session;
    std::uint64_t seq = 0;
    std::vector<Command> commands{};
    std::vector<std::uint8_t> signature{};  ///< The client's, if any: kept for audits and not read here.
};
ALLOT_FIELDS_OF_TEMPLATE(Request, session, seq, commands, signature)

/// A replica's hashes after the entry of an index.
struct Attestation {
    ReplicaId replica = 0;
    std::uint64_t index = 0;
    Hash256 events{};                ///< The rolling hash of all events.
    std::optional<Hash256> state{};  ///< The state root, every `ReplicaParameters::state_every` entries.

    friend auto operator==(const Attestation&, const Attestation&) noexcept -> bool = default;
};
ALLOT_FIELDS(Attestation, replica, index, events, state)

/// The bodies of entries.
namespace entry {

/// Requests of clients, which a front has batched.
template <class Command>
struct Requests {
    std::vector<Request<Command>> requests{};
};
ALLOT_FIELDS_OF_TEMPLATE(Requests, requests)

/// The leader's tick. It moves time and brings the entropy with which waiting tasks are drawn.
struct Tick {
    std::uint64_t round = 0;  ///< Number of the link in the proposer's chain, from 1; or round of the public beacon.
    Hash256 beacon{};         ///< The link, or the value of that round.
};
ALLOT_FIELDS(Tick, round, beacon)

/// The attestation of the proposer.
struct Attest {
    Attestation attestation{};
};
ALLOT_FIELDS(Attest, attestation)

/// New parameters, by the operator. The first entry of a log should be one. `seq` is as in `Operator`.
struct Parameters {
    std::uint64_t seq = 0;
    ReplicaParameters parameters{};
};
ALLOT_FIELDS(Parameters, seq, parameters)

/// Opens a session for an authenticated client. Until log time reaches `expiry` at most, which no outage moves; none:
/// as long as it is used.
struct Register {
    SessionId session = SessionId::null();
    ClientId client = ClientId::null();
    std::optional<TimePoint> expiry{};
};
ALLOT_FIELDS(Register, session, client, expiry)

/// The operator's own commands. `seq` counts the operator's entries of this kind and of `Parameters` together, from 1.
/// Only these may configure and postpone.
template <class Command>
struct Operator {
    std::uint64_t seq = 0;
    std::vector<Command> commands{};
};
ALLOT_FIELDS_OF_TEMPLATE(Operator, seq, commands)

/// The head of the proposer's hash chain: SHA-256 of its first link. Each new chain of a leader has a greater number,
/// so that a late copy of an old head does not bring back links that are known.
struct ChainHead {
    std::uint64_t number = 0;
    Hash256 head{};
};
ALLOT_FIELDS(ChainHead, number, head)

}  // namespace entry

/// One entry of the replicated log.
template <class Command>
struct Entry {
    using Body = std::variant<entry::Requests<Command>, entry::Tick, entry::Attest, entry::Parameters, entry::Register,
                              entry::Operator<Command>, entry::ChainHead>;

    ReplicaId proposer = 0;   ///< The replica that appended the entry.
    std::uint64_t nonce = 0;  ///< With the proposer, the id of the proposal; an append is idempotent by it.
    TimePoint time{};         ///< The proposer's clock.
    Body body{};
};
ALLOT_FIELDS_OF_TEMPLATE(Entry, proposer, nonce, time, body)

/// Appends the bytes of an entry to `out`. @complexity linear in the entry.
template <class Command>
void encode_entry_to(std::vector<std::uint8_t>& out, const Entry<Command>& entry) {
    auto encoder = Encoder{out};
    encoder.put(entry_version);
    encoder.put(entry);
}

/// The bytes of an entry. @complexity linear in the entry.
template <class Command>
[[nodiscard]] auto encode_entry(const Entry<Command>& entry) -> std::vector<std::uint8_t> {
    auto out = std::vector<std::uint8_t>{};
    encode_entry_to(out, entry);
    return out;
}

/// The entry of bytes that any party may have sent; only the form of `encode_entry` is accepted.
///
/// Error: a `DecodeFault`, which is `version_unknown` or `kind_unknown` for an entry of a newer release.
/// @complexity linear in the bytes, in time and in memory.
template <class Command>
[[nodiscard]] auto decode_entry(std::span<const std::uint8_t> bytes) -> Result<Entry<Command>, DecodeFault> {
    auto in = ByteReader{bytes};
    auto value = Entry<Command>{};
    if (in.integer<std::uint8_t>() != entry_version) { in.fail(DecodeError::version_unknown); }
    Decoder{in}.get(value);
    in.end();
    if (in.fault()) { return FailureOf<DecodeFault>{*in.fault()}; }
    return value;
}

/// True for a command that only the operator may give.
template <class Command>
[[nodiscard]] auto is_operators(const Command& command) -> bool {
    return std::visit(
        []<class C>(const C&) {
            return requires(const C& c) { c.rules_version; }
            || requires(const C& c) { c.by; };
        },
        command);
}

/// Builds entries of requests from the requests' own bytes, so that a front decodes each request once and encodes none.
class EntryBuilder {
public:
    /// Builds for `proposer`.
    explicit EntryBuilder(ReplicaId proposer) : proposer_{proposer} {}

    /// Adds a request, given as `encode(request)`.
    /// @pre `decode<Request<Command>>(message)` succeeds.
    /// @complexity linear in the message.
    void add(std::span<const std::uint8_t> message) {
        ALLOT_ASSERT(!message.empty() && message.front() == encoding_version, "an entry is built of encoded requests");
        const auto request = message.subspan(1);
        requests_.insert(requests_.end(), request.begin(), request.end());
        ++count_;
    }

    /// Number of requests added.
    [[nodiscard]] auto count() const noexcept -> std::uint32_t { return count_; }
    /// Number of their bytes.
    [[nodiscard]] auto bytes() const noexcept -> std::size_t { return requests_.size(); }

    /// The entry of the requests added, as `encode_entry` writes it. The builder is then empty.
    /// @complexity linear in the entry.
    [[nodiscard]] auto finish(std::uint64_t nonce, TimePoint time) -> std::vector<std::uint8_t> {
        auto out = std::vector<std::uint8_t>{};
        auto encoder = Encoder{out};
        encoder.put(entry_version);
        encoder.put(proposer_);
        encoder.put(nonce);
        encoder.put(time);
        encoder.put(std::uint8_t{0});  // the kind of entry::Requests
        encoder.put(count_);
        out.insert(out.end(), requests_.begin(), requests_.end());
        requests_.clear();
        count_ = 0;
        return out;
    }

private:
    ReplicaId proposer_;
    std::uint32_t count_ = 0;
    std::vector<std::uint8_t> requests_{};
};

}}  // namespace allot::v0
