// error: (non-constant condition|constant expression|not constant|static assertion expression)
#undef NDEBUG
#include <allot/assert.hpp>

constexpr auto half(int number) -> int {
    ALLOT_ASSERT(number % 2 == 0, "only an even number has a half");
    return number / 2;
}

static_assert(half(7) == 3);
