#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/encode.hpp>
#include <allot/replica/entry.hpp>

namespace allot { inline namespace v0 {

/// The hashes that a divergence shows in.
enum class DivergenceKind : std::uint8_t {
    events,  ///< The event hash: a decision differs.
    state,   ///< The state root alone: the decisions were equal, and the records or the sessions are not.
};
ALLOT_ENUMERATORS(DivergenceKind, events, state)

namespace detail {

/// One replica's vote on an index.
struct AttestedVote {
    ReplicaId replica = 0;
    Hash256 events{};
    std::optional<Hash256> state{};

    friend auto operator==(const AttestedVote&, const AttestedVote&) noexcept -> bool = default;
};
ALLOT_FIELDS(AttestedVote, replica, events, state)

/// Own hashes at an index, and the votes on it.
struct AttestedHashes {
    std::uint64_t index = 0;
    Hash256 events{};
    std::optional<Hash256> state{};
    std::vector<AttestedVote> votes{};
    std::uint64_t named = 0;  ///< Bit r: replica r was named as a suspect.

    friend auto operator==(const AttestedHashes&, const AttestedHashes&) -> bool = default;
};
ALLOT_FIELDS(AttestedHashes, index, events, state, votes, named)

}  // namespace detail

/// Two replicas with different hashes at one index.
struct Divergence {
    std::uint64_t index = 0;
    ReplicaId replica = 0;  ///< The other replica.
    DivergenceKind kind = DivergenceKind::events;
    Hash256 mine{};    ///< Own hash.
    Hash256 theirs{};  ///< The other's hash.

    friend auto operator==(const Divergence&, const Divergence&) noexcept -> bool = default;
};

/// The consequences of one vote.
struct TallyResult {
    std::optional<Divergence> diverged{};  ///< The majority differs from this replica, which must stop.
    std::vector<Divergence> suspects{};    ///< Each replica that differs from the majority; named once for an index.
};

/// Counts the votes of all replicas on the hashes of an index.
///
/// The tally remembers its own last attestations. It compares votes on these alone, so a vote on the future, on an
/// index that was not attested or on a forgotten one has no effect. Of two votes of one replica the first counts. A
/// value that more than half of the replicas voted for is the majority's. When the operator lowers the number of
/// replicas, the votes of those that went count no more.
class AttestationTally {
public:
    /// Notes its own hashes, whose votes are counted from now on, and forgets the oldest beyond `attested_max`.
    /// @pre `own.index` is above that of every earlier call. @complexity linear in the forgotten ones.
    void note(const Attestation& own, std::uint32_t attested_max) {
        noted_.push_back({own.index, own.events, own.state, {}, 0});
        while (noted_.size() > attested_max) { noted_.pop_front(); }
    }

    /// Counts the vote of one of `replicas` replicas. If an exception is thrown, nothing has changed.
    /// @complexity O(replicas^2 + log n) for n attestations that are remembered.
    [[nodiscard]] auto vote(const Attestation& theirs, std::uint32_t replicas) -> TallyResult {
        auto result = TallyResult{};
        const auto at = std::lower_bound(noted_.begin(), noted_.end(), theirs.index,
                                         [](const Noted& n, std::uint64_t index) { return n.index < index; });
        if (at == noted_.end() || at->index != theirs.index || theirs.replica >= std::min(replicas, voters_max)) {
            return result;
        }
        const auto has_voted = [&](const Vote& v) { return v.replica == theirs.replica; };
        if (std::any_of(at->votes.begin(), at->votes.end(), has_voted)) { return result; }
        result.suspects.reserve(at->votes.size() + 1);
        at->votes.push_back({theirs.replica, theirs.events, theirs.state});
        const auto mine = Vote{0, at->events, at->state};
        const auto* majority = majority_of(at->votes, replicas);
        if (majority == nullptr) { return result; }
        if (!same(*majority, mine)) {
            result.diverged = differ(at->index, mine, *majority);
            return result;
        }
        for (const auto& v : at->votes) {
            const auto mask = std::uint64_t{1} << v.replica;
            if (v.replica < replicas && !same(v, mine) && (at->named & mask) == 0) {
                at->named |= mask;
                result.suspects.push_back(differ(at->index, mine, v));
            }
        }
        return result;
    }

    /// The own hashes of an index, if they are remembered. @complexity O(log n).
    [[nodiscard]] auto own(std::uint64_t index) const -> std::optional<Attestation> {
        const auto at = std::lower_bound(noted_.begin(), noted_.end(), index,
                                         [](const Noted& n, std::uint64_t i) { return n.index < i; });
        if (at == noted_.end() || at->index != index) { return std::nullopt; }
        return Attestation{0, at->index, at->events, at->state};
    }

    /// The latest index at which a majority voted for the own hashes; 0: none is remembered. Up to there most replicas
    /// made the same decisions, because the event hash covers all before it. @complexity as `undecided`.
    [[nodiscard]] auto agreed(std::uint32_t replicas) const -> std::uint64_t {
        const auto at = std::find_if(noted_.rbegin(), noted_.rend(), [&](const Noted& n) {
            const auto* majority = majority_of(n.votes, replicas);
            return majority != nullptr && same(*majority, {0, n.events, n.state});
        });
        return at == noted_.rend() ? 0 : at->index;
    }

    /// Number of remembered attestations without a majority so far. @complexity quadratic in the votes on each.
    [[nodiscard]] auto undecided(std::uint32_t replicas) const -> std::size_t {
        return static_cast<std::size_t>(std::count_if(
            noted_.begin(), noted_.end(), [&](const Noted& n) { return majority_of(n.votes, replicas) == nullptr; }));
    }

    /// Appends the canonical bytes. @complexity linear in the votes.
    void put(Encoder& out) const { out.put(std::vector<Noted>{noted_.begin(), noted_.end()}); }

    /// The tally of bytes that `put` wrote. Other bytes leave a fault in the reader. @complexity linear in the bytes.
    [[nodiscard]] static auto get(ByteReader& reader) -> AttestationTally {
        auto noted = std::vector<Noted>{};
        Decoder{reader}.get(noted);
        for (std::size_t i = 0; i < noted.size(); ++i) {
            if (i > 0 && noted[i - 1].index >= noted[i].index) { reader.fail(DecodeError::out_of_range); }
            auto seen = std::uint64_t{0};
            for (const auto& v : noted[i].votes) {
                const auto mask = v.replica < voters_max ? std::uint64_t{1} << v.replica : seen;
                if (mask == 0 || (seen & mask) != 0) { reader.fail(DecodeError::out_of_range); }
                seen |= mask;
            }
        }
        auto tally = AttestationTally{};
        if (!reader.fault()) { tally.noted_.assign(noted.begin(), noted.end()); }
        return tally;
    }

    friend auto operator==(const AttestationTally& a, const AttestationTally& b) -> bool {
        return a.noted_ == b.noted_;
    }

private:
    using Vote = detail::AttestedVote;
    using Noted = detail::AttestedHashes;

    [[nodiscard]] static auto same(const Vote& a, const Vote& b) noexcept -> bool {
        return a.events == b.events && a.state == b.state;
    }

    /// The value that more than half of the replicas voted for, or null. A vote from the time when there were more
    /// replicas counts only if its replica still has one.
    [[nodiscard]] static auto majority_of(const std::vector<Vote>& votes, std::uint32_t replicas) -> const Vote* {
        for (const auto& candidate : votes) {
            const auto count = std::count_if(votes.begin(), votes.end(),
                                             [&](const Vote& v) { return v.replica < replicas && same(v, candidate); });
            if (static_cast<std::size_t>(count) > replicas / 2) { return &candidate; }
        }
        return nullptr;
    }

    [[nodiscard]] static auto differ(std::uint64_t index, const Vote& mine, const Vote& theirs) -> Divergence {
        if (mine.events != theirs.events) {
            return {index, theirs.replica, DivergenceKind::events, mine.events, theirs.events};
        }
        return {index, theirs.replica, DivergenceKind::state, mine.state.value_or(Hash256{}),
                theirs.state.value_or(Hash256{})};
    }

    static constexpr auto voters_max = std::uint32_t{64};

    std::deque<Noted> noted_{};
};

}}  // namespace allot::v0
