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

#include <allot/core/siphash.hpp>
#include <allot/job/block_progress.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/lease_table.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// The leases of a MacroJob's MicroJobs, by number. Times are those of the queue's clock.
using MicroLeases = LeaseTable<std::uint32_t, NodeId, FencingToken>;

/// A node's request to own a queue.
struct QueueRequest {
    NodeId node;
    WalletId wallet;
    std::uint64_t boot = 0;
    TimePoint heard{};  ///< Time of its last receipt, by the queue's clock.

    friend auto operator==(const QueueRequest&, const QueueRequest&) -> bool = default;
};

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

    /// Orders two reigns of one epoch, which are a fork. No node can prefer itself, because all are hashed alike.
    [[nodiscard]] auto rank() const noexcept -> std::uint64_t {
        auto hasher = SipHash24{SipKey{epoch, parent}};
        return hasher.bytes(std::span{owner.bytes()}).word(boot).word(taken ? 1U : 0U).finish();
    }
    friend auto operator==(const QueueReign&, const QueueReign&) -> bool = default;
    friend auto operator<=>(const QueueReign& a, const QueueReign& b) -> std::strong_ordering {
        if (a.epoch != b.epoch) { return a.epoch <=> b.epoch; }
        if (const auto order = a.rank() <=> b.rank(); order != 0) { return order; }
        return std::tie(a.owner, a.boot, a.parent, a.taken) <=> std::tie(b.owner, b.boot, b.parent, b.taken);
    }
};

/// A lease that was given, whether it lives or not.
struct LeaseGiven {
    std::uint32_t micro = 0;
    NodeId holder;
    FencingToken token{};
    BlockProgress progress{};  ///< That of its last renewal.

    friend auto operator==(const LeaseGiven&, const LeaseGiven&) -> bool = default;
};

/// The part of a queue that its owner decides alone: everything about a MacroJob except the results.
struct QueueControl {
    QueueReign reign;
    std::uint64_t revision = 0;  ///< Grows with each message of the owner.
    TimePoint clock{};           ///< The queue's own time, advanced by its owners; no common clock is needed.
    TimePoint progress{};        ///< Time of the last lease or retraction, by that clock.
    std::uint64_t tokens = 0;    ///< Number of leases given so far.
    std::vector<MicroLeases::Item> items{};          ///< By MicroJob.
    std::vector<std::optional<Hash256>> accepted{};  ///< By MicroJob: the accepted result, if any.
    std::vector<QueueRequest> requests{};            ///< In order of arrival.
    std::vector<NodeId> owners_before{};             ///< The newest first, each once.
    std::vector<LeaseGiven> given{};                 ///< All leases so far, by token. Only their results count.
    Signature signature{};                           ///< Of `author_of(control)`, over `digest_of` the other fields.

    /// Limits of a control's lists and numbers; a larger one is refused.
    static constexpr std::size_t requests_max = 1024;
    static constexpr std::size_t owners_max = 8;
    static constexpr std::uint64_t count_max = std::uint64_t{1} << 48;

    /// True if this control replaces `other`: it has a higher reign, or the same and a higher revision.
    [[nodiscard]] auto newer_than(const QueueControl& other) const -> bool {
        return reign != other.reign ? reign > other.reign : revision > other.revision;
    }
    friend auto operator==(const QueueControl&, const QueueControl&) -> bool = default;
};

/// Returns the hash of a control's fields except the signature, with the queue that it belongs to.
/// @complexity linear in the control.
[[nodiscard]] inline auto digest_of(const JobId& job, std::uint32_t macro, const QueueControl& control) -> Hash256 {
    auto hasher = RecordHasher{"control"};
    const auto time = [&](TimePoint t) { hasher.word(static_cast<std::uint64_t>(t.time_since_epoch().count())); };
    const auto& reign = control.reign;
    hasher.id(job).word(macro).word(reign.epoch).id(reign.owner).word(reign.boot).word(reign.parent);
    hasher.word(reign.taken ? 1U : 0U).word(control.revision).word(control.tokens);
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
    for (const auto& accepted : control.accepted) { hasher.hash(accepted.value_or(Hash256{})); }
    hasher.word(control.requests.size());
    for (const auto& request : control.requests) {
        hasher.id(request.node).id(request.wallet).word(request.boot);
        time(request.heard);
    }
    hasher.word(control.owners_before.size());
    for (const auto& owner : control.owners_before) { hasher.id(owner); }
    for (const auto& lease : control.given) {
        hasher.word(lease.micro).id(lease.holder).token(lease.token);
        hasher.word(lease.progress.blocks).hash(lease.progress.commitment);
    }
    return hasher.finish();
}

/// Returns the first fault of a control that claims to belong to this MacroJob's queue; none if it is valid.
/// @complexity linear in the control.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const QueueControl& control) -> std::optional<JobError> {
    const auto is_time = [](TimePoint time) { return time >= TimePoint{} && time <= time_point_max; };
    if (control.reign.owner.is_null()) { return JobError::node_invalid; }
    if (control.requests.size() > QueueControl::requests_max ||
        control.owners_before.size() > QueueControl::owners_max || control.reign.epoch > QueueControl::count_max ||
        control.revision > QueueControl::count_max || control.tokens > QueueControl::count_max) {
        return JobError::message_too_large;
    }
    if (control.items.size() != plan.items() || control.accepted.size() != plan.items()) {
        return JobError::message_shape_wrong;
    }
    if (!is_time(control.clock) || !is_time(control.progress) || control.progress > control.clock) {
        return JobError::message_time_wrong;
    }
    for (std::uint32_t k = 0; k < plan.items(); ++k) {
        const auto& item = control.items[k];
        if (item.key != k || (item.closed && item.hold) || (control.accepted[k] && !item.closed)) {
            return JobError::message_shape_wrong;
        }
        if (item.hold && item.hold->holder.is_null()) { return JobError::node_invalid; }
        if (!is_time(item.not_before) ||
            (item.hold && (!is_time(item.hold->granted) || !is_time(item.hold->expires) ||
                           item.hold->granted > control.clock || item.hold->expires <= item.hold->granted))) {
            return JobError::message_time_wrong;
        }
    }
    auto last = std::vector<const LeaseGiven*>(plan.items());
    auto count = std::vector<std::uint32_t>(plan.items());
    auto before = FencingToken{};
    for (const auto& lease : control.given) {
        if (lease.micro >= plan.items() || lease.token <= before || lease.token.seq > control.tokens) {
            return JobError::message_shape_wrong;
        }
        if (lease.holder.is_null()) { return JobError::node_invalid; }
        if (lease.progress.blocks > plan.blocks_per_micro ||
            (lease.progress.blocks == 0) != (lease.progress.commitment == Hash256{})) {
            return JobError::message_shape_wrong;
        }
        before = lease.token;
        last[lease.micro] = &lease;
        ++count[lease.micro];
    }
    for (const auto& item : control.items) {
        const auto* given = last[item.key];
        if (item.attempts != count[item.key]) { return JobError::message_shape_wrong; }
        if (item.hold && (given == nullptr || given->token != item.hold->token || given->holder != item.hold->holder ||
                          item.hold->renewals > given->progress.blocks)) {
            return JobError::message_shape_wrong;
        }
    }
    const auto nobody = [](const QueueRequest& request) { return request.node.is_null() || request.wallet.is_null(); };
    if (std::any_of(control.requests.begin(), control.requests.end(), nobody)) { return JobError::node_invalid; }
    return std::nullopt;
}

}}  // namespace allot::v0
