#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// `check` foretells what `apply` will say, and asks without touching anything.

TEST_CASE("check agrees with apply for every command on random states") {
    using Dispatcher = allot::Dispatcher<>;
    auto chaos = Chaos<Dispatcher>{seed(), true};
    auto refused = 0;
    for (auto round = 0; round < 5; ++round) {
        auto d = Dispatcher{};
        for (auto i = 0; i < 800; ++i) {
            const auto moment = chaos.moment(d);
            ok(d.advance({moment.time, std::nullopt}));  // what is due is settled first, so that it is not in question
            auto command = chaos.command(d);
            if (chaos.below(30) == 0) {
                auto rules = d.rules().parameters();
                rules.due_max = static_cast<std::uint32_t>(1'000 * chaos.below(2));
                command = command::Configure<Dispatcher::Configuration>{rules, 1};
            }
            const auto before = d;
            const auto& asked = d;
            const auto expected = asked.check(command);
            REQUIRE(d == before);
            const auto events = d.apply(command, {moment.time, allot::Entropy{std::uint64_t(i)}});
            CAPTURE(round, i, command.index(), expected ? std::string{message(*expected)} : "",
                    events.accepted() ? "" : std::string{message(events.error())});
            REQUIRE(refusal(events) == expected);
            REQUIRE((events.accepted() || d == before));
            refused += events.accepted() ? 0 : 1;
        }
    }
    CHECK(refused > 400);
    CHECK(refused < 3'500);
}

TEST_CASE("check says nothing of the moment, which it is not given") {
    auto d = allot::Dispatcher<>{};
    CHECK_FALSE(d.check(command::Match{}));
    CHECK_FALSE(d.check(command::Advance{}));
    CHECK(refusal(d.match(dark(0s))) == Error::entropy_missing);
}

TEST_CASE("a batch gives the events of its commands one by one") {
    using Dispatcher = allot::Dispatcher<>;
    auto chaos = Chaos<Dispatcher>{seed() + 9, true};
    auto batch = Dispatcher{};
    auto single = Dispatcher{};
    for (auto round = 0; round < 50; ++round) {
        const auto moment = chaos.moment(batch);
        auto commands = std::vector<Dispatcher::Command>{};
        for (auto i = 0; i < 10; ++i) {
            commands.push_back(chaos.command(batch));
        }
        auto together = Events{};
        batch.apply(commands, moment, together);
        auto apart = Events{};
        for (const auto& command : commands) {
            single.apply(command, moment, apart);
        }
        REQUIRE(together.size() == apart.size());
        REQUIRE(started(together) == started(apart));
        REQUIRE(batch == single);
    }
}
