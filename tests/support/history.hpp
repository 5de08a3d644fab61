#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

// Only if the build links rapidcheck (it defines ALLOT_TEST_RAPIDCHECK=1): the packaged library is built for one
// standard library and one architecture. Elsewhere the same properties run over plain random histories, without
// shrinking.
#if defined(ALLOT_TEST_RAPIDCHECK) && ALLOT_TEST_RAPIDCHECK
#    include <rapidcheck.h>
#endif

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace support {

/// One step of a history; each property reads the three numbers in its own way.
struct Step {
    std::uint32_t verb = 0;
    std::uint32_t subject = 0;
    std::uint32_t value = 0;

    friend auto operator<<(std::ostream& out, const Step& step) -> std::ostream& {
        return out << "{" << step.verb << ", " << step.subject << ", " << step.value << "}";
    }
};

using History = std::vector<Step>;

/// Limits of a step's numbers: each is below its limit.
using Limits = Step;

/// Fails the test with a history for which `property(history)` is false, shrunk as far as possible.
template <class Property>
auto check_histories(const Limits& limits, Property property) -> void {
#if defined(ALLOT_TEST_RAPIDCHECK) && ALLOT_TEST_RAPIDCHECK
    const auto step = rc::gen::construct<Step>(rc::gen::inRange(std::uint32_t{0}, limits.verb),
                                               rc::gen::inRange(std::uint32_t{0}, limits.subject),
                                               rc::gen::inRange(std::uint32_t{0}, limits.value));
    // rapidcheck reads this once. A value set by the user, such as a failure to reproduce, is kept.
    ::setenv("RC_PARAMS", ("max_size=300 seed=" + std::to_string(seed())).c_str(), 0);
    const auto result = rc::detail::checkTestable([&] {
        const auto history = *rc::gen::container<History>(step);
        RC_ASSERT(property(history));
    });
    auto message = std::ostringstream{};
    rc::detail::printResultMessage(result, message);
    INFO(message.str());
    CHECK(result.template is<rc::detail::SuccessResult>());
#else
    auto random = std::mt19937_64{seed()};
    const auto below = [&random](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    for (std::size_t length = 0; length < 200; ++length) {
        auto history = History{};
        for (std::size_t i = 0; i < length; ++i) {
            const auto verb = below(limits.verb);
            const auto subject = below(limits.subject);
            history.push_back(Step{verb, subject, below(limits.value)});
        }
        CAPTURE(history);
        REQUIRE(property(history));
    }
#endif
}

}  // namespace support
