#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <allot/job/control_check.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>

namespace allot { inline namespace v0 {

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
    if (snapshot.job != plan.job) { return JobError::job_unknown; }
    if (snapshot.macro != plan.macro) { return JobError::macro_unknown; }
    const auto limit = std::size_t{plan.items()} * (std::size_t{parameters.attempts_max} + 4) + 64;
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

}}  // namespace allot::v0
