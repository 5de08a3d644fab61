#include <cstdint>
#include <set>
#include <string>

#include <allot/job/job_error.hpp>

#include "support/catch.hpp"

TEST_CASE("each error says a sentence of its own") {
    auto sentences = std::set<std::string>{};
    auto known = 0;
    for (std::uint16_t number = 0; number < 100; ++number) {
        const auto text = std::string{message(static_cast<allot::JobError>(number))};
        if (text == "unknown error") { continue; }
        ++known;
        sentences.insert(text);
        CHECK(text.size() > 20);
    }
    CHECK(known == 50);
    CHECK(sentences.size() == 50);
}
