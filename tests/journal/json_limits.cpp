#include <string>

#include <allot/core/event.hpp>
#include <allot/json.hpp>

#include "support/catch.hpp"

// A line of JSON from a stranger costs what its length does, whatever stands in it.
namespace json_limits_test {

namespace {

auto complaint_about(const std::string& line) -> std::string {
    const auto event = allot::read_json<allot::Event>(line);
    REQUIRE_FALSE(event);
    return event.error().message();
}

auto fields(int count) -> std::string {
    auto object = std::string{"{\"event\": \"NodeJoined\", \"node\": 1"};
    for (auto i = 2; i < count; ++i) { object += ", \"" + std::to_string(i) + "\": 0"; }
    return object + "}";
}
auto nested(std::size_t depth) -> std::string {
    return "{\"event\": " + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

}  // namespace

// Each field is looked for among those before it: a line of 64 MiB would have taken a day.
TEST_CASE("an object of very many fields is refused before they are compared with each other", "[F1]") {
    CHECK(complaint_about(fields(256)).starts_with("2: there is no such field"));
    CHECK(complaint_about(fields(257)) == "an object has more than 256 fields");
    CHECK(complaint_about("{\"node\": " + fields(257) + "}") == "an object has more than 256 fields");
}

// Each bracket takes 76 bytes of memory: a line of 64 MiB would have taken 5 GB.
TEST_CASE("a line that is nested deeply is refused where it becomes so", "[F2]") {
    CHECK(complaint_about(nested(32)) == "event: a text is expected, \"...\"");
    CHECK(complaint_about(nested(33)) == "lists and objects are nested more than 32 deep");
    CHECK(complaint_about("{\"event\": " + std::string(999, '[')) == "lists and objects are nested more than 32 deep");
    auto objects = std::string{};
    for (auto i = 0; i < 33; ++i) { objects += "{\"a\": "; }
    CHECK(complaint_about(objects) == "lists and objects are nested more than 32 deep");
}

}  // namespace json_limits_test
