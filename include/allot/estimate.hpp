#pragma once

/// Estimates that a relay makes before it submits: how long a task runs, what a start costs, which models to spread, which nodes to
/// test. Apart from `allot.hpp`, because the dispatcher takes a duration as it is given.

// IWYU pragma: begin_exports
#include <allot/estimate/demand_control.hpp>
#include <allot/estimate/overhead_estimate.hpp>
#include <allot/estimate/test_schedule.hpp>
#include <allot/estimate/timeout_bound.hpp>
#include <allot/estimate/workload_calibration.hpp>
#include <allot/estimate/workload_estimate.hpp>
// IWYU pragma: end_exports
