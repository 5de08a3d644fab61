#pragma once

#include <allot/core/command.hpp>
#include <allot/core/value_fields.hpp>

namespace allot { inline namespace v0 { namespace command {

/// The fields of the commands.

ALLOT_FIELDS(Join, node)
ALLOT_FIELDS(Update, change)
ALLOT_FIELDS(Pause, node)
ALLOT_FIELDS(Resume, node)
ALLOT_FIELDS(Leave, node)
ALLOT_FIELDS(ReportModel, node, report, models)
ALLOT_FIELDS(Observe, node, outcome)
ALLOT_FIELDS(Slash, node)
ALLOT_FIELDS(Submit, task)
ALLOT_FIELDS(Cancel, task)
ALLOT_FIELDS(Commit, lease)
ALLOT_FIELDS(Disclose, lease)
ALLOT_FIELDS(Complete, lease)
ALLOT_FIELDS(Fail, lease, cause)
ALLOT_FIELDS(Decline, lease)
ALLOT_FIELDS(Renew, lease)
ALLOT_FIELDS(Score, node, points)
ALLOT_FIELDS(Advance)
ALLOT_FIELDS(Match)
ALLOT_FIELDS_OF_TEMPLATE(Configure, parameters, rules_version)
ALLOT_FIELDS(Postpone, by)

ALLOT_ENUMERATORS(Report, add, remove, load, unload, inventory)

}}}  // namespace allot::v0::command
