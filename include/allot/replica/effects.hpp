#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/error.hpp>
#include <allot/core/events.hpp>
#include <allot/core/time.hpp>
#include <allot/replica/attestation.hpp>
#include <allot/replica/client_table.hpp>
#include <allot/replica/entry.hpp>

namespace allot { inline namespace v0 {

/// Name of an event, the same on all replicas. A reader that saw one asks for those after it.
struct EffectId {
    std::uint64_t index = 0;    ///< Of the entry, from 1.
    std::uint32_t ordinal = 0;  ///< Of the event within its entry, from 0.

    friend auto operator==(const EffectId&, const EffectId&) noexcept -> bool = default;
    friend auto operator<=>(const EffectId&, const EffectId&) noexcept -> std::strong_ordering = default;
};

/// The answer to a request, a registration, or an entry of the operator. The latter has the null session.
struct Reply {
    SessionId session = SessionId::null();
    std::uint64_t seq = 0;    ///< Of the request; for a registration that of the session's last request.
    std::uint64_t index = 0;  ///< Of the entry that applied the request; otherwise of the one that held it.
    Verdict verdict = Verdict::applied;
    std::vector<std::optional<Error>> answers{};  ///< If applied, one for each command: its error, or none.

    friend auto operator==(const Reply&, const Reply&) -> bool = default;
};

/// Why a replica stopped. The numbers are stable.
enum class ReplicaError : std::uint8_t {
    entry_unknown = 1,
    diverged = 2,
};

/// The error and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(ReplicaError error) noexcept -> std::string_view {
    switch (error) {
        case ReplicaError::entry_unknown:
            return "the entry is damaged or of a newer release; no entry may be skipped, so start that release";
        case ReplicaError::diverged:
            return "most replicas have other hashes; keep this state aside and load a checkpoint of another replica";
    }
    return "unknown error";
}

/// The fault that stopped a replica.
struct ReplicaFault {
    ReplicaError error = ReplicaError::entry_unknown;
    std::uint64_t position = 0;              ///< Of the entry with which it stopped.
    std::uint64_t index = 0;                 ///< Number of entries applied.
    std::optional<DecodeFault> decode{};     ///< If the entry is unknown.
    std::optional<Divergence> divergence{};  ///< If the replica diverged.

    friend auto operator==(const ReplicaFault&, const ReplicaFault&) noexcept -> bool = default;
};

/// The consequences of one entry.
struct EntryEffects {
    bool is_redelivery = false;  ///< The position was not above the last: nothing happened.
    std::uint64_t index = 0;     ///< Of the entry.
    TimePoint time{};            ///< Log time after the entry.
    Events events{};             ///< Event i has the id `{index, i}`.
    std::vector<Reply> replies{};
    std::optional<Attestation> attestation{};  ///< To be appended to the log by this replica.
    std::vector<Divergence> suspects{};        ///< Replicas that differ from the majority.
    std::optional<ReplicaFault> fault{};       ///< The replica has stopped.
};

/// Takes the effects of entries, in order. Each entry may come again after a restart, with the same effects.
///
///     void reply(const Reply&)
///     void event(EffectId, const Event&)
///     void attest(const Attestation&)       to be appended to the log as an entry::Attest
///     void suspect(const Divergence&)       another replica differs from the majority
template <class S>
concept replica_sink = requires(S& sink, const Reply& reply, EffectId id, const Event& event,
                                const Attestation& attestation, const Divergence& divergence) {
    sink.reply(reply);
    sink.event(id, event);
    sink.attest(attestation);
    sink.suspect(divergence);
};

/// Passes effects to a sink: events, replies, the attestation, suspects. @complexity linear in the effects.
template <replica_sink Sink>
void deliver(const EntryEffects& effects, Sink& sink) {
    for (std::size_t i = 0; i < effects.events.size(); ++i) {
        sink.event(EffectId{effects.index, static_cast<std::uint32_t>(i)}, effects.events[i]);
    }
    for (const auto& reply : effects.replies) { sink.reply(reply); }
    if (effects.attestation) { sink.attest(*effects.attestation); }
    for (const auto& suspect : effects.suspects) { sink.suspect(suspect); }
}

}}  // namespace allot::v0
