#include <allot/result.hpp>

#include "support/catch.hpp"

namespace {

constexpr auto halved(int number) -> allot::Result<int> {
    if (number % 2 != 0) { return allot::Failure{allot::Error{3}}; }
    return number / 2;
}

}  // namespace

TEST_CASE("a result holds either the value or the error") {
    CHECK(halved(8).value() == 4);
    REQUIRE_FALSE(halved(7).has_value());
    CHECK(halved(7).error() == allot::Error{3});
}

TEST_CASE("a result can be computed by the compiler and handed on") {
    STATIC_REQUIRE(*halved(8) == 4);
    CHECK(halved(8).and_then(halved) == 2);
    CHECK(halved(6).and_then(halved).error() == allot::Error{3});
}
