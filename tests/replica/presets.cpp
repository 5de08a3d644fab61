#include "support/presets.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <allot/replica.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace replica_presets_test {
namespace {

namespace body = allot::entry;
namespace command = allot::command;
namespace event = allot::event;

// Joins nodes, submits tasks and ticks; returns the replica and the number of tasks that started.
template <class Preset>
auto lived() {
    using R = allot::Replica<allot::Dispatcher<Preset>>;
    using Entry = typename R::Entry;
    const auto links = allot::BeaconChain{allot::Hash256{1}, 10};
    auto replica = R{support::network<Preset>(), 0};
    auto started = 0;
    auto position = std::uint64_t{0};
    const auto apply = [&](std::int64_t ms, typename Entry::Body of) {
        const auto time = allot::TimePoint{allot::Duration{ms}};
        const auto bytes = allot::encode_entry(Entry{0, position, time, std::move(of)});
        const auto entry = allot::decode_entry<typename R::Command>(bytes);
        REQUIRE(entry);
        const auto effects = replica.apply_decoded(++position, *entry);
        for (const auto& e : effects.events) { started += std::holds_alternative<event::TaskStarted>(e) ? 1 : 0; }
        for (const auto& reply : effects.replies) {
            CHECK((reply.verdict == allot::Verdict::applied || reply.verdict == allot::Verdict::registered));
        }
        return effects.index;
    };
    apply(0, body::ChainHead{1, links.head()});
    apply(1'000'000, body::Tick{1, links.link(1)});
    const auto seq = apply(1'000'000, body::Register{"s", "client", {}});
    auto commands = std::vector<typename R::Command>{};
    for (auto i = 1; i <= 6; ++i) { commands.emplace_back(command::Join{support::plain_node(i)}); }
    for (auto i = 1; i <= 4; ++i) { commands.emplace_back(command::Submit{support::paying(i, 10)}); }
    apply(1'000'000, body::Requests<typename R::Command>{{{"s", seq + 1, std::move(commands), {}}}});
    apply(1'000'100, body::Tick{2, links.link(2)});
    return std::pair{std::move(replica), started};
}

template <class Preset>
void holds() {
    auto [replica, started] = lived<Preset>();
    CHECK(started > 0);
    auto [other, started_there] = lived<Preset>();
    CHECK(replica == other);
    CHECK(replica.root() == other.root());
    const auto again = allot::Replica<allot::Dispatcher<Preset>>::restore(replica.dispatcher(), 0, replica.own_bytes());
    REQUIRE(again);
    CHECK(*again == replica);
}

}  // namespace

TEST_CASE("a replica runs the preset crynux_single") { holds<allot::preset::CrynuxSingle>(); }
TEST_CASE("a replica runs the preset crynux_trio") { holds<allot::preset::CrynuxTrio>(); }
TEST_CASE("a replica runs the preset crynux_contracts, first generation") { holds<allot::preset::CrynuxContracts1>(); }
TEST_CASE("a replica runs the preset crynux_contracts, second generation") { holds<allot::preset::CrynuxContracts2>(); }
TEST_CASE("a replica runs the preset crynux_relay_2026") { holds<allot::preset::CrynuxRelay2026>(); }
TEST_CASE("a replica runs the preset hardened") { holds<allot::preset::Hardened>(); }

}  // namespace replica_presets_test
