#pragma once

/// Checks of the laws that policies keep, to be called from the tests of whoever writes one:
///
/// | role | check |
/// |---|---|
/// | weight | `laws::pure`; `laws::monotone` where it says that it is |
/// | pool | `laws::reversible` |
/// | queue | `laws::ordered` |
/// | qos | `laws::bounded`, `laws::drawable`, `laws::faithful` |
/// | eligibility, placement | `laws::pure` |
/// | valuation | `laws::rational` |
/// | terms | `laws::positive` |

#include <allot/policy/laws/bounded.hpp>     // IWYU pragma: export
#include <allot/policy/laws/drawable.hpp>    // IWYU pragma: export
#include <allot/policy/laws/faithful.hpp>    // IWYU pragma: export
#include <allot/policy/laws/monotone.hpp>    // IWYU pragma: export
#include <allot/policy/laws/ordered.hpp>     // IWYU pragma: export
#include <allot/policy/laws/pure.hpp>        // IWYU pragma: export
#include <allot/policy/laws/reversible.hpp>  // IWYU pragma: export
#include <allot/policy/laws/sample.hpp>      // IWYU pragma: export
