// Runs where no test framework does, such as with another standard library; says nothing and returns 0 if all is well.
#include <cstdint>
#include <cstdio>

#include <allot/assert.hpp>
#include <allot/result.hpp>
#include <allot/version.hpp>

namespace {

auto failures = 0;

auto check(bool holds, const char* claim) -> void {
    if (!holds) {
        std::fprintf(stderr, "smoke: not true: %s\n", claim);
        ++failures;
    }
}

}  // namespace

auto main() -> int {
    const auto value = allot::Result<int>{7};
    check(value.has_value() && *value == 7, "a result holds its value");
    const auto failure = allot::Result<int>{allot::Failure{allot::Error{5}}};
    check(!failure.has_value() && failure.error() == allot::Error{5}, "a failed result holds its error");
    ALLOT_ASSERT(failures >= 0, "failures are counted upwards");
    return failures == 0 ? 0 : 1;
}
