#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include <allot/job/control_check.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>
#include <allot/job/statement.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// Messages with controls, whose shape is checked before their signatures.
template <class Message>
concept has_controls = requires(const Message& m) {
    m.control;
}
|| requires(const Message& m) { m.one.chain; };

}  // namespace detail

/// Returns the fault of a message that claims to belong to this MacroJob's queue; none if it does. @complexity O(1).
[[nodiscard]] inline auto foreign(const MacroPlan& plan, const JobId& job, std::uint32_t macro)
    -> std::optional<JobError> {
    if (job != plan.job) { return JobError::job_unknown; }
    return macro == plan.macro ? std::nullopt : std::optional{JobError::macro_unknown};
}
/// Returns the error that tells why a lease table refused an input; none if it did not. @complexity O(1).
[[nodiscard]] constexpr auto error_of(LeaseFault fault) noexcept -> std::optional<JobError> {
    switch (fault) {
        case LeaseFault::none: return std::nullopt;
        case LeaseFault::unknown: return JobError::micro_unknown;
        case LeaseFault::closed: return JobError::item_ended;
        case LeaseFault::held: return JobError::lease_held;
        case LeaseFault::not_yet: return JobError::item_barred;
        case LeaseFault::not_held: return JobError::lease_missing;
        case LeaseFault::stale: return JobError::lease_stale;
        case LeaseFault::capped: break;
    }
    return JobError::lease_capped;
}

/// Returns the fault of a rejection that claims to belong to this MacroJob; none if it is valid.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const Rejection& rejection) -> std::optional<JobError> {
    if (rejection.key.macro != plan.macro) { return JobError::macro_unknown; }
    if (rejection.key.micro >= plan.items()) { return JobError::micro_unknown; }
    if (rejection.node.is_null()) { return JobError::node_invalid; }
    if (rejection.wallet.is_null()) { return JobError::wallet_invalid; }
    return plan.authorities.may_reject(rejection.author) ? std::nullopt : std::optional{JobError::author_without_right};
}

/// Returns the first fault of a snapshot that claims to belong to this MacroJob's queue; none if it is valid.
/// `parameters` bound the number of leases, results and rejections. @complexity as for the parts, in sum linear except
/// for the queue's control.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const job_message::QueueSnapshot& snapshot,
                                   const QueueParameters& parameters) -> std::optional<JobError> {
    if (const auto fault = foreign(plan, snapshot.job, snapshot.macro)) { return fault; }
    const auto limit = std::size_t{plan.items()} * (2 * std::size_t{parameters.attempts_max} + 4) + 64;
    if (std::max({snapshot.commitments.size(), snapshot.results.size(), snapshot.rejected.size(),
                  snapshot.records.size()}) > limit) {
        return JobError::message_too_large;
    }
    auto fault = snapshot.control ? fault_of(plan, *snapshot.control, parameters) : std::nullopt;
    const auto check_all = [&](const auto& parts) {
        for (const auto& part : parts) {
            if (!fault) { fault = fault_of(plan, part); }
        }
    };
    check_all(snapshot.commitments);
    check_all(snapshot.results);
    check_all(snapshot.rejected);
    check_all(snapshot.records);
    if (!fault && snapshot.final) { fault = fault_of(plan.job, plan.macro_count, *snapshot.final); }
    return fault;
}

/// Returns the first fault of a contradiction that claims to belong to this MacroJob's queue; none if it is one.
/// @complexity as for both controls.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const job_message::ContradictionFound& found,
                                   const QueueParameters& parameters) -> std::optional<JobError> {
    if (const auto fault = foreign(plan, found.job, found.macro)) { return fault; }
    for (const auto* control : {&found.one, &found.other}) {
        if (const auto fault = fault_of(plan, *control, parameters)) { return fault; }
    }
    const auto contrary = contradicts(plan, found.one, found.other) != nullptr;
    return contrary ? std::nullopt : std::optional{JobError::message_shape_wrong};
}

/// Returns the first fault of a message from `sender` to a queue of this MacroJob: in the shape of one with controls,
/// and then in its authors (`fault_of_authors`), because a check costs the most, and a long message could cost many.
/// @complexity as for both.
template <AuthorCheck Check>
[[nodiscard]] auto fault_of_message(const MacroPlan& plan, const QueueParameters& parameters, const NodeId& sender,
                                    const JobMessage& message, const Check& check) -> std::optional<JobError> {
    const auto fault = std::visit(
        [&](const auto& m) -> std::optional<JobError> {
            if constexpr (detail::has_controls<decltype(m)>) { return fault_of(plan, m, parameters); }
            return std::nullopt;
        },
        message);
    return fault ? fault : fault_of_authors(plan.authorities, sender, message, check);
}

/// As above, for a message about a job. Error for one with controls of a MacroJob that the plan does not have:
/// `macro_unknown`. @complexity as above.
template <AuthorCheck Check>
[[nodiscard]] auto fault_of_message(const JobPlan& plan, const QueueParameters& parameters, const NodeId& sender,
                                    const JobMessage& message, const Check& check) -> std::optional<JobError> {
    return std::visit(
        [&](const auto& m) {
            if constexpr (detail::has_controls<decltype(m)>) {
                if (!plan.contains({m.macro, 0})) { return std::optional{JobError::macro_unknown}; }
                return fault_of_message(plan.macro(m.macro), parameters, sender, message, check);
            } else {
                return fault_of_authors(plan.authorities(), sender, message, check);
            }
        },
        message);
}

}}  // namespace allot::v0
