#include <string>
#include <string_view>
#include <type_traits>

#include <allot/core/name.hpp>

#include "support/catch.hpp"

TEST_CASE("a name holds 128 bytes and is copied as bytes") {
    static_assert(std::is_trivially_copyable_v<allot::Name>);
    CHECK(allot::Name{}.view().empty());
    CHECK(allot::Name{"sdxl"}.view() == "sdxl");
    CHECK(allot::Name{"sdxl"} == allot::Name{std::string{"sdxl"}});
    CHECK_FALSE(allot::Name{"sdxl"} == allot::Name{"sdx"});
    const auto longest = std::string(allot::Name::size_max, 'x');
    CHECK(std::string_view{allot::Name{longest}} == longest);
}
