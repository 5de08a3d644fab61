#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/journal/event_hash.hpp>

#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

namespace event = allot::event;
using allot::EventHash;
using allot::Hash256;

auto hash(std::string_view hex) -> Hash256 { return allot::NodeId::from_hex(hex).value().bytes(); }

auto hashes_of(const std::vector<allot::Event>& events) -> std::vector<Hash256> {
    auto rolling = EventHash{};
    auto hashes = std::vector<Hash256>{};
    for (const auto& one : events) {
        rolling.add(one);
        hashes.push_back(rolling.value());
    }
    return hashes;
}

auto any_events(std::size_t count) -> std::vector<allot::Event> {
    auto any = support::AnyValue{support::seed()};
    auto events = std::vector<allot::Event>{};
    for (std::size_t i = 0; i < count; ++i) { events.push_back(any.of<allot::Event>()); }
    return events;
}

}  // namespace

// sha256sum of 32 zero bytes and 01 1d 03000000; then of that hash and 01 02, 23 zero bytes, 01 and 0000000000000007.
TEST_CASE("the rolling hash is SHA-256 of the hash before and the encoded event") {
    auto rolling = EventHash{};
    CHECK(rolling.value() == Hash256{});
    rolling.add(event::Matched{3});
    CHECK(rolling.value() == hash("49ef2e675880238cbb81c1ab5f7c48da2932b851479cd209eeeb03f2b649b147"));
    rolling.add(event::NodePaused{7});
    CHECK(rolling.value() == hash("505c2989b845a7ac43d37530b066248d163f7a2fe23af8bb4972155a9c0db530"));
}

TEST_CASE("the rolling hash does not depend on how the events are parted, and goes on from a value that was kept") {
    const auto events = any_events(40);
    for (std::size_t cut = 0; cut <= events.size(); ++cut) {
        auto lists = std::vector<allot::Events>(2);
        for (std::size_t i = 0; i < events.size(); ++i) { lists[i < cut ? 0 : 1].push(events[i]); }
        auto before = EventHash{};
        before.add(lists[0]);
        auto rolling = EventHash{before.value()};
        CHECK(rolling == before);
        rolling.add(lists[1]);
        REQUIRE(rolling.value() == hashes_of(events).back());
    }
}

TEST_CASE("two histories part at the first event that another has not, wherever that is") {
    const auto events = any_events(17);
    const auto hashes = hashes_of(events);
    for (std::size_t at = 0; at < events.size(); ++at) {
        auto others = events;
        others[at] = event::Matched{4'242};
        REQUIRE(allot::first_divergence(hashes, hashes_of(others)) == at);
        others = events;
        others.insert(others.begin() + static_cast<std::ptrdiff_t>(at), event::Matched{4'242});
        REQUIRE(allot::first_divergence(hashes_of(others), hashes) == at);
        const auto ended = std::span{hashes}.first(at);
        REQUIRE(allot::first_divergence(hashes, ended) == at);
        REQUIRE(allot::first_divergence(ended, hashes) == at);
        REQUIRE(allot::first_divergence(ended, ended) == std::nullopt);
    }
    CHECK(allot::first_divergence(hashes, hashes) == std::nullopt);
}

TEST_CASE("the rolling hash tells events apart by order, kind and every field") {
    const auto of = [](const std::vector<allot::Event>& events) { return hashes_of(events).back(); };
    CHECK(of({event::NodePaused{1}, event::NodeResumed{1}}) != of({event::NodeResumed{1}, event::NodePaused{1}}));
    CHECK(of({event::NodePaused{1}}) != of({event::NodeResumed{1}}));
    CHECK(of({event::NodePaused{1}}) != of({event::NodePaused{2}}));
    CHECK(of({event::NodePaused{1}, event::NodePaused{1}}) != of({event::NodePaused{1}}));
}
