#include <stdexcept>
#include <string>

#include <allot/core/parameters.hpp>

#include "support/catch.hpp"

namespace parameters_test {

namespace {

using allot::detail::first_unmet;
using allot::detail::parameter_fault;
using allot::detail::sound;

struct Saying {
    int a = 1;
    int b = 1;
    constexpr auto fault() const noexcept -> const char* {
        return first_unmet({{a > 0, "a must be positive"}, {b > 0, "b must be positive"}});
    }
};
struct Hinting {
    bool good = true;
    constexpr auto valid() const noexcept -> bool { return good; }
};
struct Silent {};

}  // namespace

TEST_CASE("the first rule that is broken is said, or a general sentence, or nothing", "[A10]") {
    STATIC_REQUIRE(parameter_fault(Saying{}) == nullptr);
    CHECK(std::string{parameter_fault(Saying{0, 0})} == "a must be positive");
    CHECK(std::string{parameter_fault(Saying{1, 0})} == "b must be positive");
    CHECK(std::string{parameter_fault(Hinting{false})} == "allot: a parameter is outside its documented range");
    STATIC_REQUIRE(parameter_fault(Hinting{}) == nullptr);
    STATIC_REQUIRE(parameter_fault(Silent{}) == nullptr);
}

TEST_CASE("sound parameters come back as they are, others are thrown with their sentence", "[A10]") {
    STATIC_REQUIRE(sound(Saying{2, 3}).b == 3);
    CHECK_THROWS_WITH(sound(Saying{1, 0}), "b must be positive");
    CHECK_THROWS_AS(sound(Hinting{false}), std::invalid_argument);
    CHECK_NOTHROW(sound(Silent{}));
}

}  // namespace parameters_test
