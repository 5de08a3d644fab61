#include <cstdint>
#include <string>

#include <allot/store/card_index.hpp>

#include "support/catch.hpp"

using allot::ClassId;
using allot::RequirementId;

namespace {

auto listing_cards(std::uint32_t count) -> allot::Requirement {
    auto requirement = allot::Requirement{};
    for (std::uint32_t i = 0; i < count; ++i) { requirement.gpus.push_back({"card " + std::to_string(i), {}}); }
    return requirement;
}

}  // namespace

TEST_CASE("a class may fit a requirement that lists its card, or none; of other classes few pass") {
    auto index = allot::CardIndex{{1, 2}};
    const auto few = RequirementId{0};
    const auto any = RequirementId{1};
    for (const auto r : {few, any}) { index.ensure(r); }
    index.set(few, index.cards(listing_cards(64)));
    index.set(any, index.cards(listing_cards(0)));
    auto passed = 0;
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        const auto node_class = ClassId{i % 7};
        index.ensure(node_class);
        index.set(node_class, {.gpu = "card " + std::to_string(i)});
        CHECK(index.may_fit(node_class, any));
        if (i < 64) { CHECK(index.may_fit(node_class, few)); }
        passed += i >= 64 && index.may_fit(node_class, few) ? 1 : 0;
    }
    CHECK(passed < 120);
    index.set(few, {});
    CHECK(index.may_fit(ClassId{0}, few));
}
