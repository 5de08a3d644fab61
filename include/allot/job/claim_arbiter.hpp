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

/// A claim that was decided for this node's bid.
struct ClaimDecision {
    Hash256 claim{};
    bool won = false;

    friend auto operator==(const ClaimDecision&, const ClaimDecision&) -> bool = default;
};

/// What follows from an input to an arbiter.
struct ClaimStep {
    std::optional<JobError> error{};
    std::vector<JobMessage> messages{};     ///< For all who may claim the same.
    std::vector<JobClaim> stores{};  ///< To be put by compare-and-set, if nothing is there; the answer goes to `on_store`.
    std::vector<ClaimDecision> decided{};
};

/// Orders bids for a claim, the same everywhere and anew for each claim: the lowest wins.
[[nodiscard]] inline auto bid_rank(const Hash256& claim, const ClaimBid& bid) noexcept -> std::uint64_t {
    return SipHash24{SipKey{}}.bytes(std::span{claim}).bytes(std::span{bid.node.bytes()}).word(bid.mark).finish();
}

namespace detail {

/// The longest time of an arbiter.
inline constexpr auto claim_time_max = Duration{std::chrono::hours{24 * 40}};

/// The earliest of what `time_of(entry)` gives for the entries of a map; nothing when it gives nothing.
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

/// Who wants a claim says so, waits a moment, and has it unless a bid of lower rank was heard.
///
/// Cheap, and needs no store. Over a network that loses messages, or one slower than the window, two can win: then the
/// order of reigns decides later, and a MicroJob may have run twice. The best bid keeps others off for `forget_after`
/// from when it was last heard; then the claim is free again, should its winner have vanished.
class Intent {
public:
    struct Parameters {
        Duration window = std::chrono::seconds{1};
        Duration forget_after = std::chrono::seconds{10};

        /// What is wrong with the parameters, as one sentence; null when they make sense together.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {window > Duration{0} && window < forget_after, "allot: Intent: window must be positive and below forget_after"},
                {forget_after <= detail::claim_time_max, "allot: Intent: forget_after must be at most 40 days"},
            });
        }
    };

    Intent() = default;
    explicit Intent(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

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
    [[nodiscard]] auto on_message(const JobMessage& message, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        const auto* intent = std::get_if<job_message::ClaimIntent>(&message);
        if (intent == nullptr) {
            step.error = JobError::message_shape_wrong;
        } else if (intent->bid.node.is_null()) {
            step.error = JobError::node_invalid;
        } else if (heard_.size() >= claims_max && !heard_.contains(intent->claim)) {
            step.error = JobError::message_too_large;
        } else {
            auto& heard = heard_[intent->claim];
            // Whoever bids late did not hear this bid. Once is enough: replies to replies would never end.
            if (heard.own && !heard.repeated && bid_rank(intent->claim, *heard.own) < bid_rank(intent->claim, intent->bid)) {
                step.messages.push_back(job_message::ClaimIntent{intent->claim, *heard.own});
                heard.repeated = true;
            }
            listen(heard, intent->claim, intent->bid, now);
        }
        return step;
    }
    [[nodiscard]] auto on_store(const Hash256& /*claim*/, const ClaimBid& /*holder*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::claim_unknown;
        return step;
    }
    /// Decides the claims whose window is over.
    [[nodiscard]] auto tick(TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        for (auto at = heard_.begin(); at != heard_.end();) {
            auto& [claim, heard] = *at;
            if (heard.own && now >= heard.decide_at) {
                step.decided.push_back({claim, heard.best && *heard.best == *heard.own});
                heard.own.reset();
            }
            at = !heard.own && now >= heard.best_at + parameters_.forget_after ? heard_.erase(at) : std::next(at);
        }
        return step;
    }
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        return detail::earliest(heard_, [](const Heard& h) { return h.own ? std::optional{h.decide_at} : std::nullopt; });
    }

    static constexpr std::size_t claims_max = 4096;

private:
    struct Heard {
        std::optional<ClaimBid> own{};
        std::optional<ClaimBid> best{};
        TimePoint best_at{};  // when the best bid was last heard
        TimePoint decide_at{};
        bool repeated = false;
    };

    /// The best bid is forgotten when it was not heard for long, however many others are: its node may have vanished.
    auto listen(Heard& heard, const Hash256& claim, const ClaimBid& bid, TimePoint now) const -> void {
        const auto forgotten = now >= heard.best_at + parameters_.forget_after;
        if (!heard.best || forgotten || bid_rank(claim, bid) <= bid_rank(claim, *heard.best)) {
            heard.best = bid;
            heard.best_at = now;
        }
    }

    Parameters parameters_{};
    std::map<Hash256, Heard> heard_;
};

/// A store that can put a value where none is, and say what stands there: the first bid has the claim, for ever. No forks.
class StoreCas {
public:
    struct Parameters {
        Duration retry = std::chrono::seconds{2};  ///< The store is asked again after this.

        /// What is wrong with the parameters, as one sentence; null when they make sense together.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {retry > Duration{0} && retry <= detail::claim_time_max,
                 "allot: StoreCas: retry must be positive and at most 40 days"},
            });
        }
    };

    StoreCas() = default;
    explicit StoreCas(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] auto begin(const Hash256& claim, const ClaimBid& bid, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        ask(claim, asked_.insert_or_assign(claim, Asked{bid, now}).first->second, now, step);
        return step;
    }
    [[nodiscard]] auto on_message(const JobMessage& /*message*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::message_shape_wrong;
        return step;
    }
    /// The store says whose bid stands there.
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
    [[nodiscard]] auto tick(TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        for (auto& [claim, asked] : asked_) {
            if (now >= asked.again_at) { ask(claim, asked, now, step); }
        }
        return step;
    }
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

/// A fixed set of voters, each of whom votes once a claim, for ever; more than half of them give it. No forks, and no
/// store; but nobody wins while half of the voters are away. Without a majority in time the claim counts as lost.
/// A voter has to keep this value before it sends what follows: whoever forgets a vote could vote twice.
class Quorum {
public:
    struct Parameters {
        Duration patience = std::chrono::seconds{4};
        Duration retry = std::chrono::seconds{1};  ///< Voters are asked again after this.

        /// What is wrong with the parameters, as one sentence; null when they make sense together.
        [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
            return detail::first_unmet({
                {retry > Duration{0} && retry < patience, "allot: Quorum: retry must be positive and below patience"},
                {patience <= detail::claim_time_max, "allot: Quorum: patience must be at most 40 days"},
            });
        }
    };

    /// @pre `voters` is not empty.
    Quorum(const NodeId& self, const std::vector<NodeId>& voters) : Quorum{self, voters, Parameters{}} {}
    Quorum(NodeId self, const std::vector<NodeId>& voters, const Parameters& parameters)
        : self_{std::move(self)}, voters_{voters.begin(), voters.end()}, parameters_{detail::sound(parameters)} {
        ALLOT_ASSERT(!voters_.empty(), "Quorum: it needs voters");
    }

    [[nodiscard]] auto begin(const Hash256& claim, const ClaimBid& bid, TimePoint now) -> ClaimStep {
        auto step = ClaimStep{};
        const auto [at, fresh] =
            asked_.insert_or_assign(claim, Asked{bid, {}, now + parameters_.retry, now + parameters_.patience});
        step.messages.push_back(job_message::VoteRequest{claim, bid});
        if (voters_.contains(self_) && vote(claim, bid)) { count(at, self_, step); }
        return step;
    }
    [[nodiscard]] auto on_message(const JobMessage& message, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        if (const auto* request = std::get_if<job_message::VoteRequest>(&message)) {
            if (request->bid.node.is_null()) {
                step.error = JobError::node_invalid;
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
    [[nodiscard]] auto on_store(const Hash256& /*claim*/, const ClaimBid& /*holder*/, TimePoint /*now*/) -> ClaimStep {
        auto step = ClaimStep{};
        step.error = JobError::claim_unknown;
        return step;
    }
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
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        return detail::earliest(asked_, [](const Asked& asked) { return std::min(asked.again_at, asked.give_up_at); });
    }

    /// So many votes are kept; then no more are given.
    static constexpr std::size_t votes_max = std::size_t{1} << 20;

private:
    struct Asked {
        ClaimBid bid;
        std::set<NodeId> votes{};
        TimePoint again_at{};
        TimePoint give_up_at{};
    };
    using Asking = std::map<Hash256, Asked>;

    [[nodiscard]] auto vote(const Hash256& claim, const ClaimBid& bid) -> bool {
        if (votes_.size() >= votes_max && !votes_.contains(claim)) { return false; }
        return votes_.try_emplace(claim, bid).first->second == bid;
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
};

/// How it is decided who may create a queue, and with `StoreCas` and `Quorum` also who owns it next and who settles.
using ClaimArbiter = std::variant<Intent, StoreCas, Quorum>;

}}  // namespace allot::v0
