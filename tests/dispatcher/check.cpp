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

TEST_CASE("a batch says which of its events answer which command, and which were refused", "[S2]") {
    using Command = allot::Dispatcher<>::Command;
    auto batch = allot::Dispatcher<>{};
    ok(batch.submit(with(plain_task(1), [](auto& t) { t.duration_estimate = 1s; }), at(0s)));
    auto single = batch;
    const auto later = at(24h);  // the first command of the batch finds the task out of time
    const auto commands =
        std::vector<Command>{command::Join{plain_node(1)}, command::Join{plain_node(1)}, command::Submit{plain_task(2)},
                             command::Cancel{99},          command::Pause{99},           command::Advance{}};
    auto events = Events{};
    ok(batch.advance(at(0s)));
    events.push(event::Advanced{});  // what stood there before is nobody's answer
    auto answers = std::vector<allot::Answer>(1);
    batch.apply(commands, later, events, answers);
    REQUIRE(answers.size() == 1 + commands.size());
    auto end = std::size_t{1};
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const auto& answer = answers[1 + i];
        const auto alone = single.apply(commands[i], later);
        CHECK(answer.first == end);
        CHECK(answer.direct - answer.first == alone.answer());
        CHECK(answer.end - answer.first == alone.size());
        CHECK(answer.error == refusal(alone));
        end = answer.end;
    }
    CHECK(end == events.size());
    CHECK(answers[1].direct > answers[1].first);
    CHECK(answers[2].error == Error::node_duplicate);
    CHECK(answers[4].error == Error::task_unknown);
}

TEST_CASE("a batch gives the events of its commands one by one") {
    using Dispatcher = allot::Dispatcher<>;
    auto chaos = Chaos<Dispatcher>{seed() + 9, true};
    auto batch = Dispatcher{};
    auto single = Dispatcher{};
    for (auto round = 0; round < 50; ++round) {
        const auto moment = chaos.moment(batch);
        auto commands = std::vector<Dispatcher::Command>{};
        for (auto i = 0; i < 10; ++i) { commands.push_back(chaos.command(batch)); }
        auto together = Events{};
        batch.apply(commands, moment, together);
        auto apart = Events{};
        for (const auto& command : commands) { single.apply(command, moment, apart); }
        REQUIRE(together.size() == apart.size());
        REQUIRE(started(together) == started(apart));
        REQUIRE(batch == single);
    }
}
