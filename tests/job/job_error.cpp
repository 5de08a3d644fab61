#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

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
    CHECK(known == 53);
    CHECK(sentences.size() == 53);
}

TEST_CASE("each error has the name of its enumerator, for logs and metrics") {
    // The names are those that the header declares, in its order.
    auto file = std::ifstream{ALLOT_TESTS_DIR "/../include/allot/job/job_error.hpp"};
    auto declared = std::vector<std::string>{};
    for (auto line = std::string{}; std::getline(file, line) && line != "};";) {
        const auto end = line.find(" = ");
        if (line.starts_with("    ") && end != std::string::npos) { declared.push_back(line.substr(4, end - 4)); }
    }
    REQUIRE(declared.size() == 53);
    auto named = std::vector<std::string>{};
    for (const auto error : allot::enumerators<allot::JobError>()) {
        named.emplace_back(allot::enumerator_name(error));
        CHECK(message(error) != "unknown error");
    }
    CHECK(named == declared);
    CHECK(allot::enumerator_name(allot::JobError::too_many_jobs) == "too_many_jobs");
    CHECK(allot::enumerator_name(static_cast<allot::JobError>(0)).empty());
}
