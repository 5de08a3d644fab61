#include <cstdint>

#include <allot/replica/laws/ordered_log.hpp>

#include "support/catch.hpp"
#include "support/memory_ordered_log.hpp"

namespace ordered_log_test {

using Breach = support::MemoryOrderedLog::Breach;

TEST_CASE("an ordered log in memory keeps the laws") {
    for (auto seed = std::uint64_t{1}; seed <= 20; ++seed) {
        auto log = support::MemoryOrderedLog{};
        CHECK(allot::laws::ordered_log(log, seed) == std::nullopt);
    }
}

TEST_CASE("each breach of the laws of an ordered log is found") {
    for (const auto breach :
         {Breach::doubled, Breach::out_of_order, Breach::skips, Breach::resumes_early, Breach::resumes_late,
          Breach::silent, Breach::changed, Breach::stops_short, Breach::page_too_long}) {
        INFO("breach " << static_cast<int>(breach));
        auto log = support::MemoryOrderedLog{breach};
        CHECK(allot::laws::ordered_log(log) != std::nullopt);
    }
}

TEST_CASE("each error of an ordered log has a sentence") {
    for (const auto error : allot::enumerators<allot::OrderedLogError>()) { CHECK(message(error) != "unknown error"); }
    CHECK(message(allot::OrderedLogError{}) == "unknown error");
}

}  // namespace ordered_log_test
