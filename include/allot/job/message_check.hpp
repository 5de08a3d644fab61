#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>

namespace allot { inline namespace v0 {

/// What is wrong with a rejection that claims to be of this MacroJob, if anything.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const Rejection& rejection) -> std::optional<JobError> {
    if (rejection.key.macro != plan.macro) { return JobError::macro_unknown; }
    if (rejection.key.micro >= plan.items()) { return JobError::micro_unknown; }
    if (rejection.node.is_null()) { return JobError::node_invalid; }
    return rejection.wallet.is_null() ? std::optional{JobError::wallet_invalid} : std::nullopt;
}

/// What is wrong with a snapshot that claims to be of this MacroJob's queue, if anything: the first fault of its parts.
/// `attempts_max` bounds how many results and rejections there can be.
/// @complexity linear in the snapshot.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const job_message::QueueSnapshot& snapshot,
                                   std::uint32_t attempts_max) -> std::optional<JobError> {
    if (snapshot.job != plan.job) { return JobError::job_unknown; }
    if (snapshot.macro != plan.macro) { return JobError::macro_unknown; }
    const auto limit = std::size_t{plan.items()} * (std::size_t{attempts_max} + 4) + 64;
    if (std::max({snapshot.results.size(), snapshot.rejected.size(), snapshot.records.size()}) > limit) {
        return JobError::message_too_large;
    }
    auto fault = snapshot.control ? fault_of(plan, *snapshot.control) : std::nullopt;
    const auto check_all = [&](const auto& parts) {
        for (const auto& part : parts) {
            if (!fault) { fault = fault_of(plan, part); }
        }
    };
    check_all(snapshot.results);
    check_all(snapshot.rejected);
    check_all(snapshot.records);
    if (!fault && snapshot.final) { fault = fault_of(plan.job, snapshot.final->macros.size(), *snapshot.final); }
    return fault;
}

}}  // namespace allot::v0
