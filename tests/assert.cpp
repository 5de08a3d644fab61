// The hook is replaced here, which is the promise under test.
namespace {

auto broken = static_cast<const char*>(nullptr);

}  // namespace

#define ALLOT_ASSERT(condition, text) ((condition) ? static_cast<void>(0) : static_cast<void>(broken = (text)))
#include <string>

#include <allot/assert.hpp>

#include "support/catch.hpp"

TEST_CASE("an embedder's own assertion is told the sentence of what was broken") {
    broken = nullptr;
    ALLOT_ASSERT(1 < 2, "one is less than two");
    CHECK(broken == nullptr);

    ALLOT_ASSERT(2 < 1, "two is less than one");
    REQUIRE(broken != nullptr);
    CHECK(std::string{broken} == "two is less than one");
}
