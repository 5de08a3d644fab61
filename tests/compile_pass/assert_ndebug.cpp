// Without checks an assertion evaluates nothing, may still stand in a constant expression, and leaves no warning.
#ifndef NDEBUG
#    define NDEBUG
#endif
#include <allot/assert.hpp>

constexpr auto half(int number, [[maybe_unused]] int* touched) -> int {
    ALLOT_ASSERT(++*touched > 0, "never evaluated");
    ALLOT_ASSERT((number % 2 == 0), "only an even number has a half");
    return number / 2;
}

static_assert(half(7, nullptr) == 3);
