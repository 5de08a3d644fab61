#pragma once

/// Jobs that are cut, leased, verified and settled: first the values, then the machines from the inside out.
/// Apart from `allot.hpp`, because most programs that place tasks on nodes need none of it.

// IWYU pragma: begin_exports
#include <allot/job/block_progress.hpp>
#include <allot/job/claim_arbiter.hpp>
#include <allot/job/conclusion.hpp>
#include <allot/job/control_check.hpp>
#include <allot/job/escrow.hpp>
#include <allot/job/finaliser.hpp>
#include <allot/job/job_effects.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>
#include <allot/job/job_parameters.hpp>
#include <allot/job/job_participation.hpp>
#include <allot/job/job_processor.hpp>
#include <allot/job/job_tracker.hpp>
#include <allot/job/known_jobs.hpp>
#include <allot/job/macro_record.hpp>
#include <allot/job/message_check.hpp>
#include <allot/job/micro_queue_replica.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/queue_parameters.hpp>
#include <allot/job/queue_reign.hpp>
#include <allot/job/queue_state.hpp>
#include <allot/job/queue_succession.hpp>
#include <allot/job/queue_view.hpp>
#include <allot/job/recomputed_block.hpp>
#include <allot/job/result_delivery.hpp>
#include <allot/job/result_record.hpp>
#include <allot/job/result_set.hpp>
#include <allot/job/secret_plan.hpp>
#include <allot/job/signature.hpp>
#include <allot/job/statement.hpp>
#include <allot/job/verifier.hpp>
// IWYU pragma: end_exports
