#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/replica/client_table.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/parameters.hpp>

namespace allot { inline namespace v0 {

/// Name of the section of a checkpoint that holds `Replica::own_bytes`.
inline constexpr auto replica_section_name = std::string_view{"allot replica"};

/// The hash chain of one leader.
struct LeaderChain {
    ReplicaId leader = 0;
    std::uint64_t number = 0;            ///< Of the chain; each later head of the leader has a greater one.
    std::uint64_t round = 0;             ///< Number of links revealed.
    Hash256 last{};                      ///< The last link revealed, or the head: SHA-256 of the next link.
    std::uint64_t next_number = 0;       ///< Of the head that follows, if any.
    std::optional<Hash256> next_head{};  ///< Takes effect at `next_from`.
    TimePoint next_from{};

    friend auto operator==(const LeaderChain&, const LeaderChain&) noexcept -> bool = default;
};
ALLOT_FIELDS(LeaderChain, leader, number, round, last, next_number, next_head, next_from)

namespace detail {

/// Version of the form of a replica's own state, and of the content of its root.
inline constexpr auto replica_state_version = std::uint32_t{2};

/// The part of a replica's state that has no table of its own.
struct ReplicaState {
    std::uint64_t position = 0;
    std::uint64_t index = 0;
    std::uint64_t counted = 0;  ///< Entries that are no attestations: these do not call for more of them.
    TimePoint now{};
    std::optional<TimePoint> last_tick{};
    Hash256 events{};
    ReplicaParameters parameters{};
    LastRequest operators{};
    std::uint64_t round = 0;  ///< Last round of the public beacon.
    std::vector<LeaderChain> chains{};

    /// The chain of a leader, or null. @complexity linear in the leaders.
    [[nodiscard]] auto chain(ReplicaId leader) const -> const LeaderChain* {
        const auto at =
            std::find_if(chains.begin(), chains.end(), [&](const LeaderChain& c) { return c.leader == leader; });
        return at == chains.end() ? nullptr : &*at;
    }

    /// Notes the head of a leader's chain. The first head counts at once. A later one needs a greater number and waits
    /// for `head_delay`, so that a leader cannot choose a head for the tasks that wait now.
    /// @complexity linear in the leaders.
    void note(const entry::ChainHead& body, ReplicaId leader) {
        auto at = std::find_if(chains.begin(), chains.end(), [&](const LeaderChain& c) { return c.leader == leader; });
        if (at == chains.end()) {
            if (chains.size() < parameters.leaders_max) {
                chains.push_back({leader, body.number, 0, body.head, 0, {}, {}});
            }
        } else if (body.number > std::max(at->number, at->next_number)) {
            at->next_number = body.number;
            at->next_head = body.head;
            at->next_from = now + parameters.head_delay;
        }
    }

    /// True if the tick's beacon is the next one, which is then used up. @complexity linear in the leaders.
    [[nodiscard]] auto takes(const entry::Tick& tick, ReplicaId leader) -> bool {
        if (parameters.beacon == BeaconKind::given) {
            const auto is_new = tick.round > round;
            round = std::max(round, tick.round);
            return is_new;
        }
        auto at = std::find_if(chains.begin(), chains.end(), [&](const LeaderChain& c) { return c.leader == leader; });
        if (at == chains.end()) { return false; }
        if (at->next_head && now >= at->next_from) { *at = {leader, at->next_number, 0, *at->next_head, 0, {}, {}}; }
        if (tick.round != at->round + 1 || Sha256{}.bytes(tick.beacon).finish() != at->last) { return false; }
        at->round = tick.round;
        at->last = tick.beacon;
        return true;
    }

    /// True if decoded values can be those of a replica. @complexity quadratic in the leaders, 1,024 at most.
    [[nodiscard]] auto is_sound() const -> bool {
        if (chains.size() > ReplicaParameters::leaders_most) { return false; }
        // A head may wait for `head_delay` beyond the latest log time. Log time itself ends there.
        const auto in_time = [](TimePoint t) { return t >= TimePoint{} && t <= time_point_max; };
        for (auto at = chains.begin(); at != chains.end(); ++at) {
            const auto twin = std::find_if(at + 1, chains.end(), [&](const auto& c) { return c.leader == at->leader; });
            const auto from = at->next_from;
            if (twin != chains.end() || from < TimePoint{} || from > time_point_max + duration_max) { return false; }
        }
        return parameters.fault() == nullptr && counted <= index && index <= position && in_time(now) &&
               (!last_tick || (*last_tick <= now && in_time(*last_tick)));
    }

    friend auto operator==(const ReplicaState&, const ReplicaState&) -> bool = default;
};
ALLOT_FIELDS(ReplicaState, position, index, counted, now, last_tick, events, parameters, operators, round, chains)

}  // namespace detail

}}  // namespace allot::v0
