#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <allot/core/siphash.hpp>
#include <allot/core/time.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// One reign over a queue: its owner and its origin.
///
/// Exactly one life of one node writes under a reign. A reign passes its queue on at most once, and a node takes over
/// from a reign at most once. The hash of the previous reign is part of their order.
struct QueueReign {
    std::uint64_t epoch = 0;  ///< Grows with each change of owner.
    NodeId owner;
    std::uint64_t boot = 0;    ///< Identifies the life of the owner.
    std::uint64_t parent = 0;  ///< Rank of the previous reign.
    bool taken = false;        ///< True if the owner created the queue or took it over itself; else it was handed over.
    TimePoint began{};         ///< By the queue's clock.

    /// Orders two reigns of one epoch, which are a fork. No node can prefer itself, because all are hashed alike. The
    /// hash covers all fields, so that no author changes a reign in the middle of a chain.
    [[nodiscard]] auto rank() const noexcept -> std::uint64_t {
        auto hasher = SipHash24{SipKey{epoch, parent}};
        hasher.bytes(std::span{owner.bytes()}).word(boot).word(taken ? 1U : 0U);
        return hasher.word(static_cast<std::uint64_t>(began.time_since_epoch().count())).finish();
    }
    friend auto operator==(const QueueReign&, const QueueReign&) -> bool = default;
    friend auto operator<=>(const QueueReign& a, const QueueReign& b) -> std::strong_ordering {
        if (a.epoch != b.epoch) { return a.epoch <=> b.epoch; }
        if (const auto order = a.rank() <=> b.rank(); order != 0) { return order; }
        return detail::order_of(std::tie(a.owner, a.boot, a.parent, a.taken, a.began),
                                std::tie(b.owner, b.boot, b.parent, b.taken, b.began));
    }
};

/// A reign with the signature of its author: of the owner before if it was handed over, else of its own owner.
struct SignedReign {
    QueueReign reign;
    Signature signature{};

    friend auto operator==(const SignedReign& a, const SignedReign& b) -> bool { return a.reign == b.reign; }
};

/// All reigns over a queue, from the one that created it to the current one.
using ReignChain = std::vector<SignedReign>;

/// Returns the hash of a reign, with the queue that it belongs to. @complexity O(1).
[[nodiscard]] inline auto digest_of(const JobId& job, std::uint32_t macro, const QueueReign& reign) -> Hash256 {
    auto hasher = RecordHasher{"reign"};
    hasher.id(job).word(macro).word(reign.epoch).id(reign.owner).word(reign.boot).word(reign.parent);
    hasher.word(reign.taken ? 1U : 0U);
    return hasher.word(static_cast<std::uint64_t>(reign.began.time_since_epoch().count())).finish();
}

/// Returns the author of a reign of a chain. @pre `at` is below the chain's size. @complexity O(1).
[[nodiscard]] inline auto author_of(const ReignChain& chain, std::size_t at) noexcept -> const NodeId& {
    return at == 0 || chain[at].reign.taken ? chain[at].reign.owner : chain[at - 1].reign.owner;
}

/// Returns the number of members that signed a chain: each created the queue, handed it over or took it over.
/// @complexity O(n log n) in the chain.
[[nodiscard]] inline auto authors_of(const ReignChain& chain) -> std::size_t {
    auto authors = std::set<NodeId>{};
    for (std::size_t i = 0; i < chain.size(); ++i) { authors.insert(author_of(chain, i)); }
    return authors.size();
}

/// The times from which nodes may own a queue again, or take it over again, by its clock (rule 33).
///
/// An owner that was taken over may not own the queue for `owner_timeout`, doubled with each time that it was taken
/// over; a node that took over may not take over again for as long. So a liar that holds the queue back, or takes it
/// from honest owners, costs a delay that grows with the logarithm of the queue's time only. (A node that takes over
/// from its own earlier life is not restricted.)
class ReignRests {
public:
    /// Follows a chain of reigns. @complexity O(n log n) in the chain.
    ReignRests(const ReignChain& chain, Duration owner_timeout) : timeout_{owner_timeout} {
        for (std::size_t i = 1; i < chain.size(); ++i) { follow(chain[i - 1].reign, chain[i].reign); }
    }

    /// The time from which a node may own the queue. @complexity O(log n).
    [[nodiscard]] auto may_own_from(const NodeId& node) const -> TimePoint { return time_of(owns_, node); }
    /// The time from which a node may take the queue over. @complexity O(log n).
    [[nodiscard]] auto may_take_from(const NodeId& node) const -> TimePoint {
        return std::max(time_of(owns_, node), time_of(takes_, node));
    }
    /// True if a reign may follow the last one. @complexity O(log n).
    [[nodiscard]] auto allows(const QueueReign& last, const QueueReign& next) const -> bool {
        if (last.owner == next.owner) { return next.taken; }
        return next.began >= (next.taken ? may_take_from(next.owner) : may_own_from(next.owner));
    }
    /// Takes the next reign into account. @complexity O(log n).
    auto follow(const QueueReign& last, const QueueReign& next) -> void {
        if (!next.taken || last.owner == next.owner) { return; }
        rest(owns_[last.owner], next.began);
        rest(takes_[next.owner], next.began);
    }

private:
    struct Rest {
        std::uint32_t times = 0;
        TimePoint until{};
    };
    [[nodiscard]] static auto time_of(const std::map<NodeId, Rest>& rests, const NodeId& node) -> TimePoint {
        const auto at = rests.find(node);
        return at == rests.end() ? TimePoint{} : at->second.until;
    }
    auto rest(Rest& rest, TimePoint time) const -> void {
        rest.until = time + timeout_ * (std::int64_t{1} << std::min(rest.times++, doublings_max));
    }
    static constexpr std::uint32_t doublings_max = 10;

    Duration timeout_;
    std::map<NodeId, Rest> owns_;
    std::map<NodeId, Rest> takes_;
};

/// Greatest step between the epochs of two reigns that follow each other. Nodes skip epochs whose claim they lost.
inline constexpr std::uint64_t epoch_step_max = std::uint64_t{1} << 20;

/// Returns the first fault of a chain of reigns; none if each follows from the one before: `message_shape_wrong`,
/// `node_invalid`, `message_time_wrong`, and `reign_too_early` for an owner that had to rest.
/// @complexity O(n log n) in the chain.
[[nodiscard]] inline auto fault_of(const ReignChain& chain, Duration owner_timeout) -> std::optional<JobError> {
    if (chain.empty()) { return JobError::message_shape_wrong; }
    const auto nobody = [](const SignedReign& r) { return r.reign.owner.is_null(); };
    if (std::any_of(chain.begin(), chain.end(), nobody)) { return JobError::node_invalid; }
    const auto& first = chain.front().reign;
    if (!first.taken || first.parent != 0 || first.epoch == 0 || first.epoch > epoch_step_max) {
        return JobError::message_shape_wrong;
    }
    // The queue's clock begins with it. Any other time would order two queues as their creator likes.
    if (first.began != TimePoint{}) { return JobError::message_time_wrong; }
    auto rests = ReignRests{{}, owner_timeout};
    for (std::size_t i = 1; i < chain.size(); ++i) {
        const auto& last = chain[i - 1].reign;
        const auto& next = chain[i].reign;
        if (next.parent != last.rank() || next.epoch <= last.epoch || next.epoch - last.epoch > epoch_step_max) {
            return JobError::message_shape_wrong;
        }
        if (next.began < last.began) { return JobError::message_time_wrong; }
        if (!rests.allows(last, next)) { return JobError::reign_too_early; }
        rests.follow(last, next);
    }
    return std::nullopt;
}

}}  // namespace allot::v0
