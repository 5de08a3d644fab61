#pragma once

/// The reward of work: fees divided by score, and the weights of incentives.
/// Apart from `allot.hpp`, because the program that places tasks need not be the one that pays for them.

// IWYU pragma: begin_exports
#include <allot/reward/fee_split.hpp>
#include <allot/reward/incentive.hpp>
#include <allot/reward/reward_error.hpp>
#include <allot/reward/service_scores.hpp>
#include <allot/reward/submission_rounds.hpp>
// IWYU pragma: end_exports
