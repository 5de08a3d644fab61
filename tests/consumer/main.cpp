// What a project that embeds the library compiles first.
#include <allot/result.hpp>
#include <allot/version.hpp>

auto main() -> int {
    const auto result = allot::Result<int>{ALLOT_VERSION_MAJOR};
    return result.has_value() ? 0 : 1;
}
