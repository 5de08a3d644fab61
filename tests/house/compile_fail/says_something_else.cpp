// error: a second sentence
#include <allot/version.hpp>

static_assert(ALLOT_VERSION_MAJOR < 0, "a first sentence");
static_assert(ALLOT_VERSION_MAJOR < 0, "a second sentence");
