#include <concepts>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

// One by one they stand in compile_pass/archetypes.cpp.

namespace {

namespace archetype = allot::archetype;
using namespace std::chrono_literals;

static_assert(allot::eligibility<archetype::Eligibility>);
static_assert(allot::weight_policy<archetype::Weight> && !allot::monotone_weight<archetype::Weight>);
static_assert(allot::candidate_pool<archetype::Pool> && !allot::stores_bounds<archetype::Pool>);
static_assert(allot::task_queue<archetype::Queue>);
static_assert(allot::qos_tracker<archetype::QoS>);
static_assert(allot::task_valuation<archetype::Valuation>);
static_assert(allot::model_placement<archetype::Placement>);
static_assert(allot::lease_terms<archetype::Terms>);

}  // namespace

template class allot::Dispatcher<archetype::Eligibility, archetype::Weight, archetype::Pool, archetype::Queue,
                                 archetype::QoS, archetype::Valuation, archetype::Placement, archetype::Terms>;

TEST_CASE("a dispatcher of archetypes takes nodes and tasks, and starts none") {
    auto dispatcher =
        allot::Dispatcher{archetype::Eligibility{}, archetype::Weight{},    archetype::Pool{},      archetype::Queue{},
                          archetype::QoS{},         archetype::Valuation{}, archetype::Placement{}, archetype::Terms{}};
    const auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 7};
    REQUIRE(dispatcher.join({.id = 1, .gpu = "RTX 4090", .vram = {24}, .stake = 1}, now).accepted());

    const auto submitted = dispatcher.submit({.id = 1, .vram_min = {8}, .duration_estimate = 1s}, now);

    CHECK(submitted.accepted());
    CHECK(submitted.lease() == nullptr);
    CHECK(submitted.get<allot::event::TaskQueued>() != nullptr);
    const auto expired = dispatcher.advance({.time = now.time + 1s});
    CHECK(expired.get<allot::event::TaskTimedOut>() != nullptr);
}

TEST_CASE("a weight that is not monotone takes a pool without bounds by itself") {
    STATIC_REQUIRE(std::same_as<allot::Dispatcher<archetype::Weight>::CandidatePool, allot::LinearPool>);
    auto dispatcher = allot::Dispatcher{archetype::Weight{}};
    const auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 7};
    REQUIRE(dispatcher.join({.id = 1, .gpu = "RTX 4090", .vram = {24}}, now).accepted());

    const auto submitted = dispatcher.submit({.id = 1, .vram_min = {8}, .duration_estimate = 1s}, now);

    REQUIRE(submitted.lease() != nullptr);
    CHECK(submitted.lease()->node == allot::NodeId{1});
}
