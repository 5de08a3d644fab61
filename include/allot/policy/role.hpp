#pragma once

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// The roles that a policy may have. A policy names its own: `using role = allot::role::weight;`.
///
/// A policy with a nested `Parameters`, `parameters()` and `configure(const Parameters&)` can be configured by a
/// command. `Parameters` may have `fault() -> const char*` (null, or one sentence) or `valid() -> bool`. A Dispatcher
/// then rejects invalid ones: its constructor throws std::invalid_argument, and `configure` is refused. The library's
/// policies throw in their own constructors.
namespace role {

struct eligibility {};  ///< Decides whether a node may run a task.
struct weight {};       ///< Weight of a candidate in a draw.
struct pool {};         ///< Index of the candidates, and the draw.
struct queue {};        ///< Order of the waiting tasks, and its bound.
struct qos {};          ///< Measures service, excludes and kicks out.
struct valuation {};    ///< Value of a task.
struct placement {};    ///< Models to be fetched ahead of demand.
struct terms {};        ///< Length of leases, and the continuation after a failure.
struct rules {};        ///< The dispatcher's own parameters.
struct id_key {};       ///< Secret key of the id hashes.
struct preset {};       ///< A bundle of configured policies.

}  // namespace role

}}  // namespace allot::v0
