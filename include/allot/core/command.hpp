#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <allot/core/lease.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/task.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Commands as values. The verbs of `Dispatcher` are sugar over these; a log of (Moment, command) replays a network.
namespace command {

struct Join {
    NodeSpec node;
};
struct Update {
    NodeUpdate change;
};
struct Pause {
    NodeId node;
};
struct Resume {
    NodeId node;
};
struct Leave {
    NodeId node;
};

/// The effect of a model report on the listed models.
enum class Report : std::uint8_t {
    add,        ///< They are on disk now.
    remove,     ///< They are gone.
    load,       ///< They are loaded in GPU memory; they must be on disk.
    unload,     ///< They stay on disk only.
    inventory,  ///< These and no others are on disk; a listed model that was loaded stays loaded.
};
struct ReportModel {
    NodeId node;
    Report report = Report::add;
    std::vector<std::string> models{};
};

/// An outcome of a node that the embedder observed after the release, such as a job event. It is not a score.
struct Observe {
    NodeId node;
    OutcomeKind outcome = OutcomeKind::success;
};
struct Slash {
    NodeId node;
};

struct Submit {
    TaskSpec task;
};
struct Cancel {
    TaskId task;
};
struct Commit {
    Lease lease;
};
struct Disclose {
    Lease lease;
};
struct Complete {
    Lease lease;
};
struct Fail {
    Lease lease;
    FailCause cause = FailCause::execution_error;
};
struct Decline {
    Lease lease;
};
struct Renew {
    Lease lease;
};

/// Points for a node, such as its rank in a validation group: 10, 5, 2 or 0.
struct Score {
    NodeId node;
    std::uint32_t points = 0;
};

struct Advance {};
struct Match {};

/// New parameters for one policy or for the rules, with the rules version that starts here.
template <class Parameters>
struct Configure {
    Parameters parameters;
    std::uint32_t rules_version = rules_version_newest;
};

/// The operator's answer to an outage: running leases end later by this, and tasks wait longer by it.
struct Postpone {
    Duration by{};
};

}  // namespace command

namespace detail {

template <class Parameters>
using AnyCommand =
    std::variant<command::Join, command::Update, command::Pause, command::Resume, command::Leave, command::ReportModel,
                 command::Observe, command::Slash, command::Submit, command::Cancel, command::Commit, command::Disclose,
                 command::Complete, command::Fail, command::Decline, command::Renew, command::Score, command::Advance,
                 command::Match, command::Configure<Parameters>, command::Postpone>;

}  // namespace detail

/// One command: a variant of the types above, in their order. `Parameters` is a variant of the parameters of all
/// policies.
template <class Parameters>
struct basic_command : detail::AnyCommand<Parameters> {
    using Alternatives = detail::AnyCommand<Parameters>;
    using Alternatives::Alternatives;
    using Alternatives::operator=;
};

}}  // namespace allot::v0
