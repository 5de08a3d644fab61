#pragma once

#include <string_view>
#include <type_traits>

#include <allot/core/bytes.hpp>
#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/random.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/task.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// The fields of the values inside commands and events. An order never changes: it is the order of the bytes.

ALLOT_FIELDS(Gibibytes, count)
ALLOT_FIELDS(Amount, units)
ALLOT_FIELDS(Ratio, num, den)
ALLOT_FIELDS(Entropy, words)
ALLOT_FIELDS(Moment, time, entropy, round)
ALLOT_FIELDS(SoftwareVersion, major, minor, patch)
ALLOT_FIELDS(GpuChoice, name, vram)
ALLOT_FIELDS(NodeClass, gpu, vram, platform, software)
ALLOT_FIELDS(NodeSpec, id, gpu, vram, stake, models, platform, software, operator_id, labels)
ALLOT_FIELDS(NodeUpdate, id, gpu, vram, stake, platform, software, operator_id, labels)
ALLOT_FIELDS(TaskSpec, id, vram_min, gpus, platforms, platforms_refused, software, models, fee, duration_estimate,
             owner, group, labels, gang_size, same_card, node)
ALLOT_FIELDS(Outcome, kind, points)

/// As `ALLOT_FIELDS`, but for the hint, which is no part of the value.
[[nodiscard]] constexpr auto allot_type_name(std::type_identity<Lease>) noexcept -> std::string_view { return "Lease"; }
template <class V, class Visit>
constexpr void allot_fields(std::type_identity<Lease>, V& lease, Visit&& visit) {
    [[maybe_unused]] const auto& [task, node, token, member, of, deadline, hint] = lease;  // that is all of them
    visit(std::string_view{"task"}, lease.task);
    visit(std::string_view{"node"}, lease.node);
    visit(std::string_view{"token"}, lease.token);
    visit(std::string_view{"member"}, lease.member);
    visit(std::string_view{"of"}, lease.of);
    visit(std::string_view{"deadline"}, lease.deadline);
}

ALLOT_ENUMERATORS(NodeState, available, busy, pending_pause, pending_leave, paused, left, departing, departing_free)
ALLOT_ENUMERATORS(Holding, wanted, on_disk, in_use)
ALLOT_ENUMERATORS(TaskState, queued, held, running, ended)
ALLOT_ENUMERATORS(Ending, done, failed, cancelled, evicted, timed_out)
ALLOT_ENUMERATORS(EndCause, none, out_of_memory, model_download, execution_error, incorrect_result, queue_full,
                  queue_shrunk, table_full, queue_deadline, lease_deadline)
ALLOT_ENUMERATORS(LeasePhase, started, committed, disclosed, completed)
ALLOT_ENUMERATORS(OutcomeKind, success, timeout, timeout_in_group, out_of_memory, model_download, execution_error,
                  incorrect_result, declined, cancelled, scored)
ALLOT_ENUMERATORS(Standing, good, excluded, kicked_out)
ALLOT_ENUMERATORS(FailCause, out_of_memory, model_download, execution_error, incorrect_result)
ALLOT_ENUMERATORS(Purpose, dispatch, placement, validation, system_test, job, match, make_way)
ALLOT_ENUMERATORS(DecodeError, truncated, trailing_bytes, version_unknown, kind_unknown, flag_invalid,
                  enumerator_unknown, out_of_range, count_too_large, parameters_unknown)
ALLOT_ENUMERATORS(Reason, none, paused, pending, busy, vram_too_small, gpu_differs, platform_refused, version_too_old,
                  name_policy, excluded, zero_weight, avoided, same_operator, models_missing, narrowed_out, unproven,
                  gang_short, pinned, stake_too_small, first_of_embedder)
ALLOT_ENUMERATORS(Error, time_went_back, time_too_late, advance_first, id_invalid, node_unknown, node_duplicate,
                  task_unknown, task_duplicate, task_ended, task_not_leased, lease_stale, lease_not_committed,
                  lease_already_committed, lease_already_disclosed, lease_renewal_capped, lease_completed, vram_zero,
                  gpu_empty, duration_invalid, amount_overflow, name_empty, name_too_long, too_many_names,
                  too_many_nodes, too_many_tasks, too_many_requirements, too_many_models, points_out_of_range,
                  parameter_invalid, update_empty, too_many_classes, group_full, gang_size_invalid, already_paused,
                  already_leaving, not_paused, model_unknown, model_not_on_disk, entropy_missing, round_unpublished,
                  task_unrunnable, owner_quota_reached, pinned_shared, node_holds_task, fee_too_low, requirement_full,
                  fee_too_high)

}}  // namespace allot::v0
