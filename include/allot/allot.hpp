#pragma once

/// The dispatcher: its input and output values, the roles, their models, the class that composes them, and the default
/// preset.
///
/// Not included are `explain/`, `journal/` and `preset/`, with one header per subject, and the rooms that need no
/// dispatcher. These are `job.hpp`, `validation.hpp`, `reward.hpp`, `estimate.hpp` and the test kit `laws.hpp`, each a
/// target of its own.

// IWYU pragma: begin_exports
#include <allot/core/command.hpp>
#include <allot/core/error.hpp>
#include <allot/core/event.hpp>
#include <allot/core/events.hpp>
#include <allot/core/id.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/node.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/recipients.hpp>
#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/core/weight.hpp>
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/look.hpp>
#include <allot/dispatcher/rules.hpp>
#include <allot/dispatcher/session.hpp>
#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/collateral.hpp>
#include <allot/eligibility/hardware_fit.hpp>
#include <allot/eligibility/name_whitelist.hpp>
#include <allot/eligibility/probation.hpp>
#include <allot/fwd.hpp>
#include <allot/placement/bounded_requests.hpp>
#include <allot/placement/threshold_placement.hpp>
#include <allot/policy/candidate_pool.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/policy/task_valuation.hpp>
#include <allot/policy/weight_policy.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>
#include <allot/preset/crynux_single.hpp>
#include <allot/qos/contract_qos.hpp>
#include <allot/qos/monthly_qos.hpp>
#include <allot/qos/resting.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/linear_queue.hpp>
#include <allot/queue/share_queue.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/terms/bounded_renewals.hpp>
#include <allot/terms/by_evidence.hpp>
#include <allot/terms/draw_delay.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/terms/priced.hpp>
#include <allot/terms/terms_around.hpp>
#include <allot/valuation/fee_per_reserved_second.hpp>
#include <allot/valuation/fee_per_second.hpp>
#include <allot/valuation/fee_per_size.hpp>
#include <allot/valuation/fee_per_weighted_second.hpp>
#include <allot/version.hpp>
#include <allot/weight/contract_weight.hpp>
#include <allot/weight/harmonic_weight.hpp>
#include <allot/weight/linear_weight.hpp>
// IWYU pragma: end_exports
