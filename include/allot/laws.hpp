#pragma once

/// Checks of the laws that policies keep, to be called from the tests of a policy's author:
///
/// | role | check |
/// |---|---|
/// | weight | `laws::pure`; `laws::monotone` if it claims to be monotone |
/// | pool | `laws::reversible` |
/// | queue | `laws::ordered` |
/// | qos | `laws::bounded`, `laws::drawable`, `laws::faithful` |
/// | eligibility, placement | `laws::pure` |
/// | valuation | `laws::rational` |
/// | terms | `laws::positive`; with an eligibility policy that has `fee_max`, `laws::payable` |

#include <allot/laws/bounded.hpp>     // IWYU pragma: export
#include <allot/laws/drawable.hpp>    // IWYU pragma: export
#include <allot/laws/faithful.hpp>    // IWYU pragma: export
#include <allot/laws/monotone.hpp>    // IWYU pragma: export
#include <allot/laws/ordered.hpp>     // IWYU pragma: export
#include <allot/laws/pure.hpp>        // IWYU pragma: export
#include <allot/laws/reversible.hpp>  // IWYU pragma: export
#include <allot/laws/sample.hpp>      // IWYU pragma: export
