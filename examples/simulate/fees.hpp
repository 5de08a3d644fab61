#pragma once

#include "page.hpp"
#include "world.hpp"

namespace simulate {

/// Where the fees of a run went. Sums of fees are exact; the three tables agree on them.
///
///     paid      what nodes earned, all together
///     cards     by class of card, the dearest first: nodes, leases, done, earned
///     models    by the first model of a task: tasks, done, fees of tasks done
///     nodes     [id, card, kind, stake, leases, done, timed out, exclusions, earned], those first that earned most
///     nodes_all how many nodes there are; the table has 10,000 at most
[[nodiscard]] auto fees_of(const Run& run) -> Json;

}  // namespace simulate
