#pragma once

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// The roles a policy may play. A policy names its own: `using role = allot::role::weight;`.
///
/// One that has a nested `Parameters`, `parameters()` and `configure(const Parameters&)` can be configured by a command. Where
/// `Parameters` has `fault() -> const char*` (null, or one sentence) or `valid() -> bool`, a Dispatcher takes no bad ones: its
/// constructor throws std::invalid_argument, and `configure` is refused. The library's policies throw in their own constructors.
namespace role {

struct eligibility {};  ///< May this node run this task?
struct weight {};       ///< How likely is a candidate to be drawn?
struct pool {};         ///< Index of the candidates, and the draw.
struct queue {};        ///< Order of the waiting tasks, and its bound.
struct qos {};          ///< Measures service, excludes and kicks out.
struct valuation {};    ///< Worth of a task.
struct placement {};    ///< Which models should be fetched ahead.
struct terms {};        ///< How long leases last, and what follows a failure.
struct rules {};        ///< The hub's own parameters.
struct id_key {};       ///< Secret key of the id hashes.
struct preset {};       ///< A bundle of configured policies.

}  // namespace role

}}  // namespace allot::v0
