#include <utility>

#include <allot/store/spare_rests.hpp>

#include "support/catch.hpp"

TEST_CASE("the rest of a task that is gone serves another one, and says nothing of the first") {
    auto spare = allot::SpareRests{};
    CHECK(spare.take().find() == nullptr);
    auto rest = allot::Rare<allot::TaskRest>{};
    rest.made().owner = 7;
    rest.made().labels.push_back("had");
    const auto* const place = rest.find();
    spare.keep(std::move(rest));
    const auto again = spare.take();
    REQUIRE(again.find() == place);
    CHECK(*again.find() == allot::TaskRest{});
    CHECK(spare.take().find() == nullptr);
}

TEST_CASE("a bounded number of rests is kept, and none of a task without one") {
    auto spare = allot::SpareRests{};
    CHECK(spare.take().find() == nullptr);
    spare.keep({});
    CHECK(spare.take().find() == nullptr);
    for (auto i = 0; i < 1'000; ++i) {
        auto rest = allot::Rare<allot::TaskRest>{};
        rest.made();
        spare.keep(std::move(rest));
    }
    auto kept = 0;
    while (spare.take().find() != nullptr) { ++kept; }
    CHECK((kept > 8 && kept < 100));
}
