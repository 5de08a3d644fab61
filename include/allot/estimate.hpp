#pragma once

/// Estimates that a relay makes before it submits: the run time of a task, the cost of its start, the models to spread,
/// and the nodes to test. They are not part of `allot.hpp`, because the dispatcher takes a duration as given.

// IWYU pragma: begin_exports
#include <allot/estimate/demand_control.hpp>
#include <allot/estimate/overhead_estimate.hpp>
#include <allot/estimate/test_schedule.hpp>
#include <allot/estimate/timeout_bound.hpp>
#include <allot/estimate/workload_calibration.hpp>
#include <allot/estimate/workload_estimate.hpp>
// IWYU pragma: end_exports
