#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <allot/placement/bounded_requests.hpp>

#define ALLOT_MODEL allot::BoundedRequests<>
#include "conformance/pure.ipp"
#include "support/network.hpp"

// What a task makes others fetch does not grow with the number of models that it names.

namespace bounded_requests_test {
namespace {

using namespace support;
using allot::BoundedRequests;
using allot::RequestBound;
using allot::RequestBoundParameters;
using allot::ThresholdPlacement;

/// Nodes of a plain network that the start of a task of so many unheard-of models asks for copies. The node that runs
/// it is told to fetch each model, too.
template <class Placement>
auto copies_of(std::uint32_t models, Placement placement) -> std::size_t {
    auto d = allot::Dispatcher{placement};
    join_plain(d, 100);
    auto task = plain_task(1);
    for (std::uint32_t i = 0; i < models; ++i) { task.models.push_back("unheard-" + std::to_string(i)); }
    const auto events = d.submit(task, at(0s));
    REQUIRE(count<event::TaskStarted>(events) == 1);
    return count<event::ModelWanted>(events) - models;
}

}  // namespace

TEST_CASE("a start asks for what is left of its bound") {
    CHECK(RequestBound{}.left({0, 0}) == 32);
    CHECK(RequestBound{}.left({0, 31}) == 1);
    CHECK(RequestBound{}.left({0, 32}) == 0);
    CHECK(RequestBound{}.left({0, 4'000'000'000}) == 0);
    CHECK(RequestBound{{.copies_max = 0}}.left({}) == 0);
    const auto placement = BoundedRequests{ThresholdPlacement{}};
    CHECK(placement.wanted({0, 0}).copies == 10);
    CHECK(placement.wanted({0, 26}).copies == 6);
    CHECK(placement.wanted({3, 0}).copies == 0);
    CHECK(placement.asked_for() == 30min);
}

TEST_CASE("bounds of requests without sense are not valid") {
    CHECK(RequestBoundParameters{}.valid());
    CHECK(RequestBoundParameters{.copies_max = 65'536}.valid());
    CHECK_FALSE(RequestBoundParameters{.copies_max = 65'537}.valid());
    CHECK_THROWS_AS(RequestBound{{.copies_max = 70'000}}, std::invalid_argument);
    auto bound = RequestBound{};
    CHECK_THROWS_AS(bound.configure({.copies_max = 70'000}), std::invalid_argument);
    bound.configure({.copies_max = 2});
    CHECK(bound.left({0, 1}) == 1);
}

TEST_CASE("a task of many models asks no more nodes than one of four does") {
    CHECK(copies_of(64, ThresholdPlacement{}) == 640);
    for (const auto models : {4U, 5U, 20U, 64U}) {
        CHECK(copies_of(models, BoundedRequests{ThresholdPlacement{}}) == 32);
    }
    CHECK(copies_of(3, BoundedRequests{ThresholdPlacement{}}) == 30);
    CHECK(copies_of(64, BoundedRequests{ThresholdPlacement{}, RequestBound{{.copies_max = 0}}}) == 0);
}

}  // namespace bounded_requests_test
