#pragma once

/// Three tasks that check each other, and the nodes that ran them.
/// Apart from `allot.hpp`, because most programs that place tasks on nodes validate elsewhere or not at all.

// IWYU pragma: begin_exports
#include <allot/validation/adaptive_replication.hpp>
#include <allot/validation/commitment.hpp>
#include <allot/validation/comparison.hpp>
#include <allot/validation/judgement.hpp>
#include <allot/validation/sampling.hpp>
#include <allot/validation/validation_error.hpp>
#include <allot/validation/validation_event.hpp>
#include <allot/validation/validation_group.hpp>
#include <allot/validation/validation_member.hpp>
#include <allot/validation/validation_parameters.hpp>
// IWYU pragma: end_exports
