#pragma once

/// What work earns: fees divided by score, and the weights by which incentives are. Apart from `allot.hpp`, because who
/// places tasks need not be who pays for them.

// IWYU pragma: begin_exports
#include <allot/reward/fee_split.hpp>
#include <allot/reward/incentive.hpp>
#include <allot/reward/reward_error.hpp>
#include <allot/reward/service_scores.hpp>
#include <allot/reward/submission_rounds.hpp>
// IWYU pragma: end_exports
