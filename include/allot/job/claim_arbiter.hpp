#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/parameters.hpp>
#include <allot/job/job_effects.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>

namespace allot { inline namespace v0 {

/// A decided claim for which this node had bid.
struct ClaimDecision {
    Hash256 claim{};
    bool won = false;

    friend auto operator==(const ClaimDecision&, const ClaimDecision&) -> bool = default;
};

/// Effects of an input to an arbiter. If `error` is set, nothing else is.
struct ClaimStep {
    std::optional<JobError> error{};
    std::vector<JobMessage> messages{};  ///< To be sent to all nodes that may claim the same.
    /// To be stored by compare-and-set if the place is empty; pass the answer to `on_store`.
    std::vector<JobClaim> stores{};
    std::vector<ClaimDecision> decided{};
};

/// Orders bids for a claim: the lowest wins. The order is the same on every node and differs from claim to claim.
/// @complexity O(1).
[[nodiscard]] inline auto bid_rank(const Hash256& claim, const ClaimBid& bid) noexcept -> std::uint64_t {
    return SipHash24{SipKey{}}.bytes(std::span{claim}).bytes(std::span{bid.node.bytes()}).word(bid.mark).finish();
}

namespace detail {

/// Greatest duration in an arbiter's parameters.
inline constexpr auto claim_time_max = Duration{std::chrono::hours{24 * 40}};

/// Returns the earliest time that `time_of(entry)` gives for a map's entries; none if it gives none.
/// @complexity linear in the map.
template <class Map, class TimeOf>
[[nodiscard]] auto earliest(const Map& map, TimeOf&& time_of) -> std::optional<TimePoint> {
    auto first = std::optional<TimePoint>{};
    for (const auto& [key, entry] : map) {
        const std::optional<TimePoint> time = time_of(entry);
        if (time && (!first || *time < *first)) { first = time; }
    }
    return first;
}

}  // namespace detail

/// Decides a claim by announcement: the bidder announces it, waits for a window, and wins unless it received a bid of
/// lower rank.
///
/// Cheap, and needs no store. Over a network that loses messages, or one slower than the window, two nodes can win.
/// Then the order of reigns decides later, and a MicroJob may have run twice. The best bid keeps others off for
/// `forget_after` since its last receipt; then the claim is free again, in case its winner has vanished. Each node has
/// a share of claims of its own, so a node that makes up claims keeps no other's bid out.
///
/// @complexity `begin` and `on_message` are O(log n) in the claims known; `tick` and `next_deadline` are linear.
class Intent {
public:
    /// Parameters of `Intent`; durations are in ms.
    struct Parameters {
        /// Time between announcing a bid and winning.
        Duration window = std::chrono::seconds{1};
        /// The best bid is forgotten if it was not received for this long.
        Duration forget_after = std::chrono::seconds{10};

        /// Returns the first fault of the parameters as one sentence; null if they are valid.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {window > Duration{0} && window < forget_after,
                 "allot: Intent: window must be positive and below forget_after"},
                {forget_after <= detail::claim_time_max, "allot: Intent: forget_after must be at most 40 days"},
            });
        }
    };

    /// Uses the default parameters.
    Intent() = default;
    /// Throws `std::invalid_argument` if `parameters.fault()` is not null.
    explicit Intent(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Announces a bid for a claim. The decision comes from `tick`, `window` later.
    [[nodiscard]] auto begin(const Hash256& claim, const ClaimBid& bid, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        auto& heard = heard_[claim];
        heard.own = bid;
        heard.repeated = false;
        heard.decide_at = now + parameters_.window;
        listen(heard, claim, bid, now);
        step.messages.push_back(job_message::ClaimIntent{claim, bid});
        return step;
    }
    /// Receives another node's bid. @pre the bid names the message's sender (`fault_of_authors`). Errors:
    /// `message_shape_wrong`, `node_invalid`, `message_too_large` if the bidder has the best bid for `claims_max`
    /// others.
    [[nodiscard]] auto on_message(const JobMessage& message, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        const auto* intent = std::get_if<job_message::ClaimIntent>(&message);
        if (intent == nullptr) {
            step.error = JobError::message_shape_wrong;
        } else if (intent->bid.node.is_null()) {
            step.error = JobError::node_invalid;
        } else if (!has_best(intent->bid.node, intent->claim) && best_of(intent->bid.node) >= claims_max) {
            step.error = JobError::message_too_large;
        } else {
            auto& heard = heard_[intent->claim];
            // A late bidder has not received this bid. Repeat it once only: replies to replies would never end.
            if (heard.own && !heard.repeated &&
                bid_rank(intent->claim, *heard.own) < bid_rank(intent->claim, intent->bid)) {
                step.messages.push_back(job_message::ClaimIntent{intent->claim, *heard.own});
                heard.repeated = true;
            }
            listen(heard, intent->claim, intent->bid, now);
        }
        return step;
    }
    /// Always refuses with `claim_unknown`, because this arbiter uses no store.
    [[nodiscard]] auto on_store(const Hash256& /*claim*/, const ClaimBid& /*holder*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::claim_unknown;
        return step;
    }
    /// Decides the claims with an expired window, and forgets old bids.
    [[nodiscard]] auto tick(TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        for (auto at = heard_.begin(); at != heard_.end();) {
            auto& [claim, heard] = *at;
            if (heard.own && now >= heard.decide_at) {
                step.decided.push_back({claim, heard.best && *heard.best == *heard.own});
                heard.own.reset();
            }
            if (heard.own || now < heard.best_at + parameters_.forget_after) {
                ++at;
                continue;
            }
            count(heard, -1);
            at = heard_.erase(at);
        }
        return step;
    }
    /// The earliest decision; none if none is pending.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        return detail::earliest(heard_,
                                [](const Heard& h) { return h.own ? std::optional{h.decide_at} : std::nullopt; });
    }

    /// Greatest number of claims for which a node may have the best bid; its bids for further claims are refused.
    static constexpr std::size_t claims_max = 256;

private:
    struct Heard {
        std::optional<ClaimBid> own{};
        std::optional<ClaimBid> best{};
        TimePoint best_at{};  // last receipt of the best bid
        TimePoint decide_at{};
        bool repeated = false;
    };

    /// Keeps the better bid. The best bid is forgotten after a silence, however many others arrive: its node may have
    /// vanished.
    auto listen(Heard& heard, const Hash256& claim, const ClaimBid& bid, TimePoint now) -> void {
        const auto forgotten = now >= heard.best_at + parameters_.forget_after;
        if (!heard.best || forgotten || bid_rank(claim, bid) <= bid_rank(claim, *heard.best)) {
            count(heard, -1);
            heard.best = bid;
            heard.best_at = now;
            count(heard, 1);
        }
    }
    [[nodiscard]] auto has_best(const NodeId& bidder, const Hash256& claim) const -> bool {
        const auto at = heard_.find(claim);
        return at != heard_.end() && at->second.best && at->second.best->node == bidder;
    }
    [[nodiscard]] auto best_of(const NodeId& bidder) const -> std::size_t {
        const auto at = best_of_.find(bidder);
        return at == best_of_.end() ? 0 : at->second;
    }
    /// Adds to the number of claims for which the best bidder has the best bid.
    auto count(const Heard& heard, int step) -> void {
        if (!heard.best) { return; }
        const auto at = best_of_.try_emplace(heard.best->node, 0).first;
        at->second = step > 0 ? at->second + 1 : at->second - 1;
        if (at->second == 0) { best_of_.erase(at); }
    }

    Parameters parameters_{};
    std::map<Hash256, Heard> heard_;
    std::map<NodeId, std::size_t> best_of_;  // number of claims by the node that has the best bid
};

/// Decides a claim by a store with compare-and-set: the first bid stored has the claim for ever. No forks.
///
/// @complexity O(log n) in the pending claims; `tick` and `next_deadline` are linear.
class StoreCas {
public:
    /// Parameters of `StoreCas`.
    struct Parameters {
        Duration retry = std::chrono::seconds{2};  ///< Time after which the store is asked again, in ms.

        /// Returns the first fault of the parameters as one sentence; null if they are valid.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {retry > Duration{0} && retry <= detail::claim_time_max,
                 "allot: StoreCas: retry must be positive and at most 40 days"},
            });
        }
    };

    /// Uses the default parameters.
    StoreCas() = default;
    /// Throws `std::invalid_argument` if `parameters.fault()` is not null.
    explicit StoreCas(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Asks the store for a claim; the decision comes from `on_store`.
    [[nodiscard]] auto begin(const Hash256& claim, const ClaimBid& bid, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        ask(claim, asked_.insert_or_assign(claim, Asked{bid, now}).first->second, now, step);
        return step;
    }
    /// Always refuses with `message_shape_wrong`, because this arbiter uses no messages.
    [[nodiscard]] auto on_message(const JobMessage& /*message*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::message_shape_wrong;
        return step;
    }
    /// Decides a claim by the bid that the store holds. Error: `claim_unknown`.
    [[nodiscard]] auto on_store(const Hash256& claim, const ClaimBid& holder, TimePoint /*now*/) -> ClaimStep {
        const auto at = asked_.find(claim);
        auto step = ClaimStep{};
        if (at == asked_.end()) {
            step.error = JobError::claim_unknown;
        } else {
            step.decided.push_back({claim, at->second.bid == holder});
            asked_.erase(at);
        }
        return step;
    }
    /// Asks the store again for the claims without an answer.
    [[nodiscard]] auto tick(TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        for (auto& [claim, asked] : asked_) {
            if (now >= asked.again_at) { ask(claim, asked, now, step); }
        }
        return step;
    }
    /// The earliest repetition; none if no claim is pending.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        return detail::earliest(asked_, [](const Asked& asked) { return asked.again_at; });
    }

private:
    struct Asked {
        ClaimBid bid;
        TimePoint again_at{};
    };
    auto ask(const Hash256& claim, Asked& asked, TimePoint now, ClaimStep& step) const -> void {
        asked.again_at = now + parameters_.retry;
        step.stores.push_back({claim, asked.bid});
    }

    Parameters parameters_{};
    std::map<Hash256, Asked> asked_;
};

/// Decides a claim by a fixed set of voters. Each votes once for each claim, for ever; more than half of them give it.
/// No forks, and no store; but no node wins while half of the voters are away. Without a majority in time the claim
/// counts as lost. Each bidder has a share of votes of its own, so a node that makes up claims uses up no other's.
///
/// A voter must save this value before it sends the resulting messages: a voter that forgot a vote could vote twice.
/// @complexity O(log n) in the claims and votes; `tick` and `next_deadline` are linear in the pending claims.
class Quorum {
public:
    /// Parameters of `Quorum`; durations are in ms.
    struct Parameters {
        /// Time after which a claim without a majority is lost.
        Duration patience = std::chrono::seconds{4};
        Duration retry = std::chrono::seconds{1};  ///< Time after which voters are asked again.

        /// Returns the first fault of the parameters as one sentence; null if they are valid.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {retry > Duration{0} && retry < patience, "allot: Quorum: retry must be positive and below patience"},
                {patience <= detail::claim_time_max, "allot: Quorum: patience must be at most 40 days"},
            });
        }
    };

    /// Uses the default parameters. @pre `voters` is not empty (asserted).
    Quorum(const NodeId& self, const std::vector<NodeId>& voters) : Quorum{self, voters, Parameters{}} {}
    /// As above. Throws `std::invalid_argument` if `parameters.fault()` is not null. @pre `voters` is not empty.
    Quorum(NodeId self, const std::vector<NodeId>& voters, const Parameters& parameters)
        : self_{std::move(self)}, voters_{voters.begin(), voters.end()}, parameters_{detail::sound(parameters)} {
        ALLOT_ASSERT(!voters_.empty(), "Quorum: it needs voters");
    }

    /// Asks all voters for a claim, and votes if this node is one. The decision comes from `on_message` or `tick`.
    [[nodiscard]] auto begin(const Hash256& claim, const ClaimBid& bid, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        const auto [at, fresh] =
            asked_.insert_or_assign(claim, Asked{bid, {}, now + parameters_.retry, now + parameters_.patience});
        step.messages.push_back(job_message::VoteRequest{claim, bid});
        if (voters_.contains(self_) && vote(claim, bid)) { count(at, self_, step); }
        return step;
    }
    /// Receives a request or a vote. @pre it names its sender (`fault_of_authors`). Errors: `node_invalid`,
    /// `message_shape_wrong`, `message_too_large` for a further claim of a bidder that has `votes_max` votes.
    [[nodiscard]] auto on_message(const JobMessage& message, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        if (const auto* request = std::get_if<job_message::VoteRequest>(&message)) {
            if (request->bid.node.is_null()) {
                step.error = JobError::node_invalid;
            } else if (voters_.contains(self_) && !has_room(request->claim, request->bid.node)) {
                step.error = JobError::message_too_large;
            } else if (voters_.contains(self_) && vote(request->claim, request->bid)) {
                step.messages.push_back(job_message::Vote{request->claim, request->bid, self_});
            }
        } else if (const auto* given = std::get_if<job_message::Vote>(&message)) {
            const auto at = asked_.find(given->claim);
            if (!voters_.contains(given->voter)) {
                step.error = JobError::node_invalid;
            } else if (at != asked_.end() && at->second.bid == given->bid) {
                count(at, given->voter, step);
            }
        } else {
            step.error = JobError::message_shape_wrong;
        }
        return step;
    }
    /// Always refuses with `claim_unknown`, because this arbiter uses no store.
    [[nodiscard]] auto on_store(const Hash256& /*claim*/, const ClaimBid& /*holder*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::claim_unknown;
        return step;
    }
    /// Gives up claims without a majority in time, and asks again for the others.
    [[nodiscard]] auto tick(TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        for (auto at = asked_.begin(); at != asked_.end();) {
            auto& [claim, asked] = *at;
            if (now >= asked.give_up_at) {
                step.decided.push_back({claim, false});
                at = asked_.erase(at);
                continue;
            }
            if (now >= asked.again_at) {
                asked.again_at = now + parameters_.retry;
                step.messages.push_back(job_message::VoteRequest{claim, asked.bid});
            }
            ++at;
        }
        return step;
    }
    /// The earliest repetition or end of patience; none if no claim is pending.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        return detail::earliest(asked_, [](const Asked& asked) { return std::min(asked.again_at, asked.give_up_at); });
    }

    /// Greatest number of votes of this node for one bidder, kept for ever; it votes for no further claims of it.
    static constexpr std::size_t votes_max = std::size_t{1} << 16;

private:
    struct Asked {
        ClaimBid bid;
        std::set<NodeId> votes{};
        TimePoint again_at{};
        TimePoint give_up_at{};
    };
    using Asking = std::map<Hash256, Asked>;

    [[nodiscard]] auto vote(const Hash256& claim, const ClaimBid& bid) -> bool {
        if (!has_room(claim, bid.node)) { return false; }
        const auto [at, fresh] = votes_.try_emplace(claim, bid);
        if (fresh) { ++votes_for_[bid.node]; }
        return at->second == bid;
    }
    /// True if a vote for the claim is known, or may be given to the bidder.
    [[nodiscard]] auto has_room(const Hash256& claim, const NodeId& bidder) const -> bool {
        const auto at = votes_for_.find(bidder);
        return at == votes_for_.end() || at->second < votes_max || votes_.contains(claim);
    }
    auto count(typename Asking::iterator at, const NodeId& voter, ClaimStep& step) -> void {
        at->second.votes.insert(voter);
        if (at->second.votes.size() * 2 <= voters_.size()) { return; }
        step.decided.push_back({at->first, true});
        asked_.erase(at);
    }

    NodeId self_;
    std::set<NodeId> voters_;
    Parameters parameters_{};
    Asking asked_;
    std::map<Hash256, ClaimBid> votes_;
    std::map<NodeId, std::size_t> votes_for_;  // number of votes by bidder
};

/// The arbiter of the right to create a queue. `StoreCas` and `Quorum` also decide the next owner and the node that
/// settles.
using ClaimArbiter = std::variant<Intent, StoreCas, Quorum>;

}}  // namespace allot::v0
