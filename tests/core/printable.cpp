#include <string>
#include <string_view>

#include <allot/core/printable.hpp>

#include "support/catch.hpp"

using allot::printable;

TEST_CASE("text of strangers cannot steer a terminal", "[J5]") {
    CHECK(printable("") == "");
    CHECK(printable("sdxl 1.0, \"é\" ~ \xE6\xA8\xA1 \xF0\x9F\x8E\xB2") ==
          "sdxl 1.0, \"é\" ~ \xE6\xA8\xA1 \xF0\x9F\x8E\xB2");
    CHECK(printable("\x1B[2J\x7F\n") == "?[2J??");
    CHECK(printable(std::string_view{"a\0b", 3}) == "a?b");
    CHECK(printable("\xC2\x9B"
                    "2J\xC2\x80\xC2\x9F\xC2\xA0") == "?2J??\xC2\xA0");  // C1, and the first that is none
    CHECK(printable("\xE2\x80\xAE"
                    "abc\xE2\x81\xA6\xE2\x81\xA9\xE2\x80\x8F\xD8\x9C") == "?abc????");  // directions
    CHECK(printable("\xE2\x80\xA6\xEF\xBF\xBD") == "\xE2\x80\xA6\xEF\xBF\xBD");
}

TEST_CASE("bytes that are no UTF-8 are shown as question marks, one each", "[J5]") {
    CHECK(printable("\x9B"
                    "2J") == "?2J");
    CHECK(printable("\xFF\xC0\x80") == "???");
    CHECK(printable("\xE2\x80") == "??");
    CHECK(printable("\xED\xA0\x80") == "???");       // half of a pair
    CHECK(printable("\xF4\x90\x80\x80") == "????");  // above the last character
    CHECK(printable("\xE0\x82\x9B") == "???");       // longer than it need be
    CHECK(printable("\xC2"
                    "a") == "?a");
}
