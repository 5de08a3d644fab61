#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include <rapidcheck.h>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace support {

/// Passes our seed to rapidcheck before it starts; a seed in RC_PARAMS, as printed by a failure, takes precedence.
inline const auto property_seeded = [] {
    const auto* given = std::getenv("RC_PARAMS");
    auto parameters = std::string{given == nullptr ? "" : given};
    if (parameters.find("seed=") == std::string::npos) {
        parameters += " seed=" + std::to_string(seed());
        setenv("RC_PARAMS", parameters.c_str(), 1);
    }
    return true;
}();

/// Runs `testable` `runs` times with random arguments; a failure is shrunk before it is reported.
///
/// Inside of it use RC_ASSERT, not REQUIRE: rapidcheck can shrink only the failures that it sees.
template <typename Testable>
auto property(const std::string& claim, Testable&& testable, int runs = 100) -> void {
    auto parameters = rc::detail::configuration().testParams;
    parameters.maxSuccess = runs;
    const auto result =
        rc::detail::checkTestable(std::forward<Testable>(testable), rc::detail::TestMetadata{claim, claim}, parameters);
    auto text = std::ostringstream{};
    rc::detail::printResultMessage(result, text);
    INFO(claim << "\n" << text.str());
    CHECK(result.template is<rc::detail::SuccessResult>());
}

}  // namespace support

namespace allot_test {
using support::property;
}  // namespace allot_test
