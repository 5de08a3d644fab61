#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <allot/job/block_progress.hpp>
#include <allot/job/lease_table.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/queue_reign.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// The leases of a MacroJob's MicroJobs, by number. Times are those of the queue's clock.
using MicroLeases = LeaseTable<std::uint32_t, NodeId, FencingToken>;

/// A node's request to own a queue.
struct QueueRequest {
    NodeId node;
    WalletId wallet;
    std::uint64_t boot = 0;
    TimePoint heard{};      ///< Time of its last receipt, by the queue's clock.
    Signature signature{};  ///< Its node's, over `digest_of` the fields above `heard`: no owner invents a request.

    friend auto operator==(const QueueRequest&, const QueueRequest&) -> bool = default;
};

/// Returns the hash of a request to own a queue, or of the message that brings it (`job_message::OwnershipRequest`).
/// @complexity O(1).
template <class Request>
    requires requires(const Request& r) { r.boot, r.wallet; }
[[nodiscard]] auto digest_of(const JobId& job, std::uint32_t macro, const Request& request) -> Hash256 {
    auto hasher = RecordHasher{"request"};
    return hasher.id(job).word(macro).id(request.node).id(request.wallet).word(request.boot).finish();
}

/// A lease that was given, whether it lives or not.
struct LeaseGiven {
    std::uint32_t micro = 0;
    NodeId holder;
    FencingToken token{};
    bool withheld = false;     ///< Its result was committed and not disclosed in time. It counts no longer.
    BlockProgress progress{};  ///< That of its last renewal.

    friend auto operator==(const LeaseGiven&, const LeaseGiven&) -> bool = default;
};

/// The part of a queue that its owner decides alone: everything about a MacroJob except the results.
struct QueueControl {
    ReignChain chain{};          ///< All reigns, the current one last.
    std::uint64_t revision = 0;  ///< Grows with each message of the owner.
    TimePoint clock{};           ///< The queue's own time, advanced by its owners; no common clock is needed.
    TimePoint progress{};        ///< Time of the last lease, acceptance or retraction, by that clock.
    std::uint64_t tokens = 0;    ///< Number of leases given so far.
    /// Number of leases given when results were disclosed first; 0 before. Results of later leases may be copies.
    std::uint64_t disclosed = 0;
    std::vector<MicroLeases::Item> items{};          ///< By MicroJob.
    std::vector<std::optional<Hash256>> accepted{};  ///< By MicroJob: the accepted result, if any.
    std::vector<QueueRequest> requests{};            ///< In order of arrival.
    std::vector<LeaseGiven> given{};                 ///< All leases so far, by token. Only their results count.
    Signature signature{};                           ///< Of `author_of(control)`, over `digest_of` the other fields.

    /// Limits of a control's lists and numbers; a larger one is refused.
    static constexpr std::size_t requests_max = 1024;
    static constexpr std::size_t owners_max = 8;
    static constexpr std::size_t reigns_spare = 32;  ///< Reigns of a node beyond one for each lease that it was given.
    static constexpr std::uint64_t count_max = std::uint64_t{1} << 48;

    /// The current reign. @pre the chain is not empty.
    [[nodiscard]] auto reign() const noexcept -> const QueueReign& { return chain.back().reign; }
    /// The previous owners, the newest first, each once, at most `owners_max`. @complexity linear in the chain.
    [[nodiscard]] auto owners_before() const -> std::vector<NodeId> {
        auto owners = std::vector<NodeId>{};
        for (auto at = chain.rbegin(); at != chain.rend() && owners.size() < owners_max; ++at) {
            const auto& owner = at->reign.owner;
            if (at != chain.rbegin() && std::find(owners.begin(), owners.end(), owner) == owners.end()) {
                owners.push_back(owner);
            }
        }
        return owners;
    }
    /// True if a node may own the queue once more: it was given leases, or has not used up its `reigns_spare`.
    /// @complexity linear in the chain and the leases.
    [[nodiscard]] auto has_reign_left(const NodeId& node) const -> bool {
        const auto is = [&](const auto& reign) { return reign.reign.owner == node; };
        const auto has = [&](const auto& lease) { return lease.holder == node; };
        const auto leases = std::count_if(given.begin(), given.end(), has);
        return std::count_if(chain.begin(), chain.end(), is) < leases + static_cast<std::ptrdiff_t>(reigns_spare);
    }
    /// True if this control replaces `other`. More members signed its chain; else, of two queues created for one
    /// MacroJob, every node prefers the same; else it has a higher reign, or the same and a higher revision. So a few
    /// members cannot replace a queue that many have owned, by a queue of their own or from an old reign.
    /// @pre neither chain is empty. @complexity O(n log n) in the chains.
    [[nodiscard]] auto newer_than(const QueueControl& other) const -> bool {
        const auto order = [](const QueueControl& c) { return std::tuple{authors_of(c.chain), c.chain.front().reign}; };
        if (const auto mine = order(*this), theirs = order(other); mine != theirs) { return mine > theirs; }
        return reign() != other.reign() ? reign() > other.reign() : revision > other.revision;
    }
    friend auto operator==(const QueueControl&, const QueueControl&) -> bool = default;
};

/// Returns the hash of a control's fields except the signature, with the queue that it belongs to.
/// @complexity linear in the control.
[[nodiscard]] inline auto digest_of(const JobId& job, std::uint32_t macro, const QueueControl& control) -> Hash256 {
    auto hasher = RecordHasher{"control"};
    const auto time = [&](TimePoint t) { hasher.word(static_cast<std::uint64_t>(t.time_since_epoch().count())); };
    hasher.id(job).word(macro).word(control.chain.size()).word(control.revision);
    for (const auto& r : control.chain) { hasher.hash(digest_of(job, macro, r.reign)); }
    hasher.word(control.tokens).word(control.disclosed);
    time(control.clock);
    time(control.progress);
    hasher.word(control.items.size());
    for (const auto& item : control.items) {
        hasher.word(item.key).word(item.attempts).word(item.closed ? 1U : 0U).word(item.hold ? 1U : 0U);
        time(item.not_before);
        if (!item.hold) { continue; }
        hasher.id(item.hold->holder).token(item.hold->token).word(item.hold->renewals);
        time(item.hold->granted);
        time(item.hold->expires);
    }
    hasher.word(control.accepted.size());
    for (const auto& accepted : control.accepted) {
        hasher.word(accepted ? 1U : 0U).hash(accepted.value_or(Hash256{}));
    }
    hasher.word(control.requests.size());
    for (const auto& request : control.requests) {
        hasher.id(request.node).id(request.wallet).word(request.boot);
        time(request.heard);
    }
    for (const auto& lease : control.given) {
        hasher.word(lease.micro).id(lease.holder).token(lease.token).word(lease.withheld ? 1U : 0U);
        hasher.word(lease.progress.blocks).hash(lease.progress.commitment);
    }
    return hasher.finish();
}

/// Returns the author of a control: its queue's owner; but the message that hands a queue over is that of the owner
/// before. @pre the chain is not empty. @complexity O(1).
[[nodiscard]] inline auto author_of(const QueueControl& control) noexcept -> const NodeId& {
    return control.revision == 0 ? author_of(control.chain, control.chain.size() - 1) : control.reign().owner;
}

}}  // namespace allot::v0
