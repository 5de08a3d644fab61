#include <array>
#include <cstdint>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/explain/what_if.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace {

using namespace support;

using Trying = allot::Dispatcher<allot::ValueQueue>;
using Commands = std::vector<Trying::Command>;

}  // namespace

TEST_CASE("what is tried leaves no trace, and tells what the commands then do") {
    auto d = Trying{};
    auto chaos = support::Chaos<Trying>{support::seed()};
    for (auto step = 0; step < 300; ++step) {
        auto commands = Commands{};
        for (auto i = chaos.below(8); i > 0; --i) { commands.push_back(chaos.command(d)); }
        const auto moment = chaos.moment(d);
        const auto root = allot::state_root(d);
        const auto before = d;
        INFO("ALLOT_SEED " << support::seed() << ", step " << step);
        auto looked = allot::Hash256{};
        const auto tried =
            allot::what_if(d, commands, moment, [&](const Trying& then) { looked = allot::state_root(then); });
        REQUIRE(allot::state_root(d) == root);
        REQUIRE(d == before);
        auto events = Events{};
        d.apply(commands, moment, events);
        CHECK(looked == allot::state_root(d));
        REQUIRE(events.size() == tried.events.size());
        for (std::size_t i = 0; i < events.size(); ++i) { CHECK(events[i].index() == tried.events[i].index()); }
        CHECK(tried.queued == d.queued());
        CHECK(tried.nodes == d.state().present());
        CHECK(tried.refused == count<event::Refused>(events));
        for (const auto& fate : tried.fates) {
            const auto* task = d.task(fate.task);
            const auto waits = task != nullptr && task->state == allot::TaskState::queued;
            const auto runs = task != nullptr && task->state == allot::TaskState::running;
            CHECK(waits == (fate.kind == allot::FateKind::queued));
            CHECK(runs == (fate.kind == allot::FateKind::running));
            CHECK(fate.node.is_null() == (!runs && fate.kind != allot::FateKind::done));
        }
    }
}

TEST_CASE("two ways to go on are told apart by the tasks that fare differently") {
    auto d = Trying{};
    join_plain(d, 1);
    const auto a = allot::what_if(d, Commands{command::Submit{plain_task(1)}, command::Submit{plain_task(2)}}, at(0s));
    const auto b = allot::what_if(d, Commands{command::Submit{plain_task(2)}, command::Submit{plain_task(3)}}, at(0s));
    const auto apart = allot::differences(a, b);
    REQUIRE(apart.size() == 3);
    using allot::FateKind;
    CHECK(apart[0] == allot::Difference{allot::Fate{1, FateKind::running, 1}, std::nullopt});
    CHECK(apart[1] == allot::Difference{allot::Fate{2, FateKind::queued}, allot::Fate{2, FateKind::running, 1}});
    CHECK(apart[2] == allot::Difference{std::nullopt, allot::Fate{3, FateKind::queued}});
    CHECK(allot::differences(a, a).empty());
    CHECK(allot::differences({}, {}).empty());
    CHECK(d.queued() == 0);
}

TEST_CASE("what a trial changes and takes back does not grow with the network") {
    auto changed = std::array<std::size_t, 2>{};
    for (const auto large : {0U, 1U}) {
        auto d = Trying{};
        join_plain(d, large == 1U ? 2'000 : 20);
        changed[large] = allot::what_if(d, Commands{command::Submit{plain_task(1)}}, at(0s)).changed;
    }
    CHECK(changed[0] > 0);
    CHECK(changed[0] == changed[1]);
}
