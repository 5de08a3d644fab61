// Linked into every test program, so that each header stands in two translation units of it; and all rooms stand here together.
#include <allot/allot.hpp>
#include <allot/explain/expected_wait.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/qos_journal.hpp>
#include <allot/explain/task.hpp>
#include <allot/explain/what_if.hpp>
#include <allot/format.hpp>
#include <allot/format/explain.hpp>
#include <allot/job.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/log.hpp>
#include <allot/journal/receipt.hpp>
#include <allot/estimate.hpp>
#include <allot/reward.hpp>
#include <allot/validation.hpp>
