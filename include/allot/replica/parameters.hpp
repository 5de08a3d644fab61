#pragma once

#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// The source of the entropy that ticks bring.
enum class BeaconKind : std::uint8_t {
    chain,  ///< Each leader reveals the links of a hash chain whose head it logged before.
    given,  ///< A public beacon; the leader's program verifies each value before it proposes it.
};
ALLOT_ENUMERATORS(BeaconKind, chain, given)

/// Parameters of all replicas of one log. They stand in the log, because replicas with different parameters diverge.
struct ReplicaParameters {
    /// The largest `sessions_max`. It bounds the memory that the sessions of a hostile checkpoint take.
    static constexpr auto sessions_limit = std::uint32_t{1} << 20U;

    std::uint32_t replicas = 3;          ///< Number of replicas that vote; their ids are 0 to `replicas - 1`.
    std::uint32_t attest_every = 64;     ///< Entries between attestations of the event hash; 0: none.
    std::uint32_t state_every = 65'536;  ///< Entries between attestations of the state root; 0: none.
    std::uint32_t attested_max = 64;     ///< Number of past attestations whose votes are counted.
    std::uint32_t commands_max = 1'024;  ///< Commands in one request.
    std::uint32_t sessions_max = 65'536;
    std::uint32_t sessions_per_client_max = 64;
    Duration session_ttl{std::int64_t{7} * 24 * 3'600 * 1'000};  ///< Life of an unused session, in log time.
    Duration ahead_max{5'000};  ///< Time by which an entry that is no tick may lead the last tick.
    Duration gap_max{10'000};   ///< A longer gap between two ticks is an outage.
    Duration outage_max{std::int64_t{24} * 3'600 * 1'000};  ///< Time by which one outage postpones at most.
    BeaconKind beacon = BeaconKind::chain;
    std::uint32_t leaders_max = 16;                       ///< Number of hash chains; a further leader draws nothing.
    static constexpr std::uint32_t leaders_most = 1'024;  ///< The greatest `leaders_max`.
    Duration head_delay{10'000};  ///< Log time until the second head of a leader, or a later one, counts.

    /// The sentence of the first fault; null if there is none. @complexity constant.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        const auto long_enough = [&](Duration d) { return d >= Duration{0} && d <= duration_max; };
        return detail::first_unmet({
            {replicas >= 1 && replicas <= 64, "allot: ReplicaParameters: replicas must be 1 to 64"},
            {attested_max >= 1 && attested_max <= 1'024, "allot: ReplicaParameters: attested_max must be 1 to 1,024"},
            {commands_max >= 1 && commands_max <= 1U << 16U,
             "allot: ReplicaParameters: commands_max must be 1 to 2^16"},
            {sessions_max >= 1 && sessions_max <= sessions_limit,
             "allot: ReplicaParameters: sessions_max must be 1 to 2^20"},
            {sessions_per_client_max >= 1 && sessions_per_client_max <= sessions_max,
             "allot: ReplicaParameters: sessions_per_client_max must be 1 to sessions_max"},
            {session_ttl > Duration{0} && session_ttl <= duration_max,
             "allot: ReplicaParameters: session_ttl must be 1 ms to 2^40 ms"},
            {long_enough(ahead_max), "allot: ReplicaParameters: ahead_max must be 0 to 2^40 ms"},
            {long_enough(gap_max), "allot: ReplicaParameters: gap_max must be 0 to 2^40 ms"},
            {outage_max >= Duration{0} && outage_max < Duration{std::int64_t{1} << 32},
             "allot: ReplicaParameters: outage_max must be 0 to less than 2^32 ms"},
            {leaders_max >= 1 && leaders_max <= leaders_most,
             "allot: ReplicaParameters: leaders_max must be 1 to 1,024"},
            {long_enough(head_delay), "allot: ReplicaParameters: head_delay must be 0 to 2^40 ms"},
        });
    }
    friend constexpr auto operator==(const ReplicaParameters&, const ReplicaParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(ReplicaParameters, replicas, attest_every, state_every, attested_max, commands_max, sessions_max,
             sessions_per_client_max, session_ttl, ahead_max, gap_max, outage_max, beacon, leaders_max, head_delay)

}}  // namespace allot::v0
