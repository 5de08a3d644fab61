#include <type_traits>

#include <allot/result.hpp>
#include <allot/version.hpp>

#include "support/catch.hpp"

TEST_CASE("the names of the library live in the inline namespace of its major version") {
    STATIC_REQUIRE(std::is_same_v<allot::Error, allot::v0::Error>);
    CHECK(ALLOT_VERSION_MAJOR == 0);
}
