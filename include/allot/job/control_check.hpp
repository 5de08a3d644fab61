#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/queue_parameters.hpp>

namespace allot { inline namespace v0 {

namespace detail {

[[nodiscard]] inline auto is_time(TimePoint time) -> bool { return time >= TimePoint{} && time <= time_point_max; }

/// A MicroJob without a result that no node is to do any more.
[[nodiscard]] inline auto is_dead(const QueueControl& control, std::uint32_t micro) -> bool {
    return control.items[micro].closed && !control.accepted[micro];
}

/// True if the next lease of a MicroJob with so many leases is its last. It is for a node that had none of them.
[[nodiscard]] constexpr auto is_last_lease(std::uint32_t attempts, const QueueParameters& parameters) -> bool {
    return attempts + 1 >= parameters.attempts_max;
}

/// Returns the first fault of the MicroJobs of a control; none if they are valid.
[[nodiscard]] inline auto fault_of_items(const QueueControl& control, const QueueParameters& parameters)
    -> std::optional<JobError> {
    const auto rest_max = parameters.retry_delay * 64;
    for (std::uint32_t k = 0; k < control.items.size(); ++k) {
        const auto& item = control.items[k];
        if (item.key != k || (item.closed && item.hold) || (control.accepted[k] && !item.closed)) {
            return JobError::message_shape_wrong;
        }
        if (item.attempts > parameters.attempts_max) { return JobError::message_too_large; }
        if (!is_time(item.not_before) || item.not_before > control.clock + rest_max) {
            return JobError::message_time_wrong;
        }
        if (!item.hold) { continue; }
        const auto& hold = *item.hold;
        if (hold.holder.is_null()) { return JobError::node_invalid; }
        if (!is_time(hold.granted) || !is_time(hold.expires) || hold.granted > control.clock ||
            hold.expires <= hold.granted || hold.expires > control.clock + parameters.lock) {
            return JobError::message_time_wrong;
        }
    }
    return std::nullopt;
}

/// Returns the first fault of the leases given: each belongs to a reign of its holder, and each MicroJob has as many as
/// it counts attempts; the last one is for a new holder. Each renewal of a lease had a further block, and a lock
/// (rule 30). Results are disclosed once each MicroJob is dead or committed, so that it had a lease before.
[[nodiscard]] inline auto fault_of_leases(const MacroPlan& plan, const QueueControl& control,
                                          const QueueParameters& parameters) -> std::optional<JobError> {
    auto owners = std::map<std::pair<std::uint64_t, std::uint64_t>, const NodeId*>{};
    auto allowance = std::map<NodeId, std::size_t>{};
    for (const auto& [reign, signature] : control.chain) { owners[{reign.epoch, reign.rank()}] = &reign.owner; }
    auto last = std::vector<const LeaseGiven*>(control.items.size());
    auto count = std::vector<std::uint32_t>(control.items.size());
    auto early = std::vector<bool>(control.items.size());  // it had a lease before the disclosure
    auto held = std::set<std::pair<std::uint32_t, NodeId>>{};
    auto before = FencingToken{};
    for (const auto& lease : control.given) {
        if (lease.micro >= control.items.size() || lease.token <= before || lease.token.seq > control.tokens) {
            return JobError::message_shape_wrong;
        }
        if (lease.holder.is_null()) { return JobError::node_invalid; }
        const auto owner = owners.find({lease.token.epoch, lease.token.rank});
        if (owner == owners.end() || *owner->second != lease.holder) { return JobError::message_shape_wrong; }
        if (lease.progress.blocks > plan.blocks_per_micro ||
            (lease.progress.blocks == 0) != (lease.progress.commitment == Hash256{})) {
            return JobError::message_shape_wrong;
        }
        const auto again = !held.insert({lease.micro, lease.holder}).second;
        if (again && is_last_lease(count[lease.micro], parameters)) { return JobError::message_shape_wrong; }
        before = lease.token;
        last[lease.micro] = &lease;
        early[lease.micro] = early[lease.micro] || lease.token.seq <= control.disclosed;
        ++count[lease.micro];
        ++allowance[lease.holder];
    }
    for (const auto& item : control.items) {
        const auto* given = last[item.key];
        const auto disclosed = control.disclosed != 0 && !is_dead(control, item.key);
        if (item.attempts != count[item.key] || (disclosed && !early[item.key])) {
            return JobError::message_shape_wrong;
        }
        if (!item.hold) { continue; }
        const auto& hold = *item.hold;
        if (given == nullptr || given->token != hold.token || given->holder != hold.holder ||
            hold.renewals > given->progress.blocks) {
            return JobError::message_shape_wrong;
        }
        if (hold.expires - hold.granted > parameters.lock * (1 + std::int64_t{hold.renewals})) {
            return JobError::message_time_wrong;
        }
    }
    auto reigns = std::map<NodeId, std::size_t>{};
    for (const auto& [reign, signature] : control.chain) {
        if (++reigns[reign.owner] > allowance[reign.owner] + QueueControl::reigns_spare) {
            return JobError::message_too_large;
        }
    }
    return std::nullopt;
}

}  // namespace detail

/// Returns the first fault of a control that claims to belong to this MacroJob's queue; none if it is valid.
/// @complexity linear in the control, times a logarithm.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const QueueControl& control,
                                   const QueueParameters& parameters) -> std::optional<JobError> {
    const auto leases_max = std::size_t{plan.items()} * parameters.attempts_max;
    if (control.requests.size() > QueueControl::requests_max || control.given.size() > leases_max ||
        control.revision > QueueControl::count_max) {
        return JobError::message_too_large;
    }
    if (const auto fault = fault_of(control.chain, parameters.owner_timeout)) { return fault; }
    // No reign gives more leases than a queue has, so that no owner can use up the numbers of all later ones.
    if (control.reign().epoch > QueueControl::count_max || control.tokens > control.chain.size() * leases_max) {
        return JobError::message_too_large;
    }
    if (control.items.size() != plan.items() || control.accepted.size() != plan.items() ||
        control.disclosed > control.tokens) {
        return JobError::message_shape_wrong;
    }
    if (!detail::is_time(control.clock) || !detail::is_time(control.progress) || control.progress > control.clock ||
        control.reign().began > control.clock) {
        return JobError::message_time_wrong;
    }
    if (const auto fault = detail::fault_of_items(control, parameters)) { return fault; }
    if (const auto fault = detail::fault_of_leases(plan, control, parameters)) { return fault; }
    for (const auto& request : control.requests) {
        if (request.node.is_null() || request.wallet.is_null()) { return JobError::node_invalid; }
        if (!detail::is_time(request.heard) || request.heard > control.clock + parameters.owner_timeout) {
            return JobError::message_time_wrong;
        }
    }
    return std::nullopt;
}

/// Returns the number of reigns that two chains begin with in common. @complexity linear in the chains.
[[nodiscard]] inline auto shared_of(const ReignChain& a, const ReignChain& b) noexcept -> std::size_t {
    const auto both = std::min(a.size(), b.size());
    auto shared = std::size_t{0};
    while (shared < both && a[shared] == b[shared]) { ++shared; }
    return shared;
}

/// Returns the member that signed both of two chains where they part, so that it contradicts itself: it handed one
/// reign to two members, or began two reigns in one life from one before; null if there is none. (A life hands a reign
/// over once, and takes over from a reign once.) @complexity linear in the chains.
[[nodiscard]] inline auto contradicts(const ReignChain& a, const ReignChain& b) noexcept -> const NodeId* {
    const auto at = shared_of(a, b);
    if (at == std::min(a.size(), b.size()) || a[at].reign.taken != b[at].reign.taken) { return nullptr; }
    const auto one_life = a[at].reign.owner == b[at].reign.owner && a[at].reign.boot == b[at].reign.boot;
    return !a[at].reign.taken || one_life ? &author_of(a, at) : nullptr;
}

/// Returns the member that signed two controls of one queue that contradict each other: as above, or with two states in
/// one revision of one reign; null if there is none. @complexity linear in the controls.
[[nodiscard]] inline auto contradicts(const MacroPlan& plan, const QueueControl& a, const QueueControl& b)
    -> const NodeId* {
    if (const auto* author = contradicts(a.chain, b.chain)) { return author; }
    const auto same = a.reign() == b.reign() && a.revision == b.revision;
    return same && digest_of(plan.job, plan.macro, a) != digest_of(plan.job, plan.macro, b) ? &author_of(a) : nullptr;
}

namespace detail {

/// True if each lease that a control calls withheld is withheld in the next one, too. @complexity linear in the leases.
[[nodiscard]] inline auto keeps_withheld(const QueueControl& known, const QueueControl& next) -> bool {
    auto at = next.given.begin();
    return std::all_of(known.given.begin(), known.given.end(), [&](const LeaseGiven& lease) {
        if (!lease.withheld) { return true; }
        at = std::find_if(at, next.given.end(), [&](const auto& other) { return other.token >= lease.token; });
        return at != next.given.end() && at->token == lease.token && at->withheld;
    });
}

}  // namespace detail

/// The times of a queue by a node's own clock. No owner's clock alone decides.
struct OwnTimes {
    TimePoint clock_max{};  ///< The latest time that the queue's clock may show.
    Duration rested{};      ///< Time since the last progress.
    Duration disclosing{};  ///< Time since results are to be disclosed; 0 if they are not.
};

/// Returns the first fault of a control as the successor of the one that a node knows; none if it may replace that one.
/// A control that is refused for its times may be accepted later, when the node's own time tells the same.
///
/// Errors: `message_time_wrong` if it is the same queue, and its clock is beyond `clock_max`. `history_changed` if it
/// lacks a lease that each of its owners knew, or if MicroJobs die or commitments count no longer before their time.
/// The same if it goes on from the known one, and changes the time of the last progress or of the disclosure. The same
/// if it takes back that a result was withheld, or puts the disclosure before a known lease; but a member that took the
/// queue over may not have heard of these. An owner that keeps a commitment to itself, so that no other member may
/// disclose a result, cannot call theirs withheld.
/// @pre `fault_of` finds no fault in either. @complexity linear in the controls, times a logarithm.
[[nodiscard]] inline auto fault_of_change(const QueueControl& known, const OwnTimes& own, const QueueControl& next,
                                          const QueueParameters& parameters) -> std::optional<JobError> {
    const auto shared = shared_of(known.chain, next.chain);
    if (shared > 0 && next.clock > own.clock_max) { return JobError::message_time_wrong; }
    const auto goes_on = shared == known.chain.size();
    if (goes_on && (next.progress < known.progress || (known.disclosed != 0 && next.disclosed != known.disclosed))) {
        return JobError::history_changed;
    }
    // A member that took the queue over may have missed the last words of the owner before it; no other owner has.
    const auto heard = goes_on && (next.chain.size() == shared || !next.chain[shared].reign.taken);
    const auto discloses = goes_on && known.disclosed == 0 && next.disclosed != 0;
    if (heard && (!detail::keeps_withheld(known, next) || (discloses && next.disclosed < known.tokens))) {
        return JobError::history_changed;
    }
    // Members' clocks run at different rates.
    const auto rest = std::min(next.clock - known.progress, own.rested / 4 * 5);
    const auto disclosing = std::min(rest, own.disclosing / 4 * 5);
    // The last owner that both share may have given leases that its successor never heard of. All earlier ones are
    // known.
    const auto settled = shared < 2 ? 0 : next.chain[shared - 1].reign.epoch;
    auto at = next.given.begin();
    for (const auto& lease : known.given) {
        if (lease.token.epoch >= settled) { break; }
        at = std::find_if(at, next.given.end(), [&](const auto& other) { return other.token >= lease.token; });
        if (at == next.given.end() || at->token != lease.token || at->micro != lease.micro ||
            (discloses && next.disclosed < lease.token.seq)) {
            return JobError::history_changed;
        }
        if (at->withheld && !lease.withheld && disclosing < parameters.disclose_within) {
            return JobError::history_changed;
        }
    }
    for (std::uint32_t k = 0; k < next.items.size(); ++k) {
        if (!detail::is_dead(next, k) || detail::is_dead(known, k)) { continue; }
        if (next.items[k].attempts < parameters.attempts_max && rest < parameters.abandon_after) {
            return JobError::history_changed;
        }
    }
    return std::nullopt;
}

}}  // namespace allot::v0
