#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

using namespace support;

// The preset of seed 001 is the library's defaults under a name.

TEST_CASE("the preset and the defaults give the same events for the same commands") {
    using Plain = allot::Dispatcher<>;
    auto plain = Plain{};
    auto named = allot::Dispatcher{allot::preset::CrynuxSingle{}};
    auto chaos = Chaos<Plain>{seed()};
    for (auto i = 0; i < 500; ++i) {
        const auto command = chaos.command(plain);
        const auto moment = chaos.moment(plain);
        const auto x = plain.apply(command, moment);
        const auto y = named.apply(command, moment);
        REQUIRE(x.size() == y.size());
        REQUIRE(where(x) == where(y));
    }
    CHECK(plain.digest() == named.digest());
    CHECK(plain.rules().parameters() == named.rules().parameters());
    CHECK(plain.queue().parameters() == named.queue().parameters());
    CHECK(plain.qos().parameters() == named.qos().parameters());
}

TEST_CASE("a policy given beside the preset wins, wherever it stands") {
    const auto queue = allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = 3}};
    CHECK(allot::Dispatcher{allot::preset::CrynuxSingle{}, queue}.queue_capacity() == 3);
    CHECK(allot::Dispatcher{queue, allot::preset::CrynuxSingle{}}.queue_capacity() == 3);
}

TEST_CASE("a day of a small network") {
    auto d = allot::Dispatcher{allot::preset::CrynuxSingle{}};
    ok(d.join(with(plain_node("4090"), [](auto& n) { n.models = {"sdxl"}; }), at(0s)));
    ok(d.join(with(plain_node("3080"),
                   [](auto& n) {
                       n.gpu = "RTX 3080";
                       n.vram = 10_GiB;
                   }),
              at(0s)));

    // Narrowed to the holder of the model, though the other card would do; the other is asked to fetch it.
    auto events = d.submit(with(plain_task("image"), [](auto& t) { t.models = {"sdxl"}; }), at(1s));
    CHECK(where(events) == "4090");
    CHECK(events.get<event::ModelWanted>()->node == allot::NodeId{"3080"});
    const auto image = leased(events);

    // Two that only the busy card can run wait; the one worth more goes first, though it came later and pays less in
    // all.
    const auto large = [](const char* id, int fee, Duration time) {
        return with(paying(id, fee), [&](TaskSpec& t) {
            t.vram_min = 16_GiB;
            t.duration_estimate = time;
        });
    };
    ok(d.submit(large("slow", 100, 100s), at(2s)));
    ok(d.submit(large("quick", 60, 30s), at(3s)));
    CHECK(d.queued() == 2);
    events = d.complete(image, at(20s));
    CHECK(std::get<event::LeaseEnded>(events[0]).how == event::LeaseEnd::done);
    CHECK(std::holds_alternative<event::TaskDone>(events[1]));
    CHECK(started(events) == std::vector<std::string>{"quick"});
    CHECK(d.qos_score(*d.node("4090")) == allot::Score::from_ratio(1, 2));

    // The node falls silent: its task times out, and its owner gets the fee back.
    events = d.advance(at(3s + 20s + 60s));
    const auto* expired = events.get<event::TaskTimedOut>();
    REQUIRE(expired != nullptr);
    CHECK(expired->refunded == allot::Amount{60});
}

TEST_CASE("the defaults are those of the documents") {
    const auto rules = allot::RulesParameters{};
    CHECK(rules.narrowing == allot::Narrowing::any);
    CHECK(rules.boost_on_disk * 10 == rules.boost_unit * 7);
    CHECK(rules.boost_in_use * 10 == rules.boost_unit * 3);
    CHECK(rules.evictions_max == 16);
    CHECK(rules.forget_nodes_after == std::chrono::hours{24 * 30});
    const auto queue = allot::ValueQueueParameters{};
    CHECK(queue.tasks_per_node == allot::Ratio{1});
    CHECK(queue.capacity_min == 50);
    const auto qos = allot::RollingQosParameters{};
    CHECK(qos.window == 50);
    CHECK(qos.points_max == 10);
    CHECK(qos.timeout_scores_zero);
    CHECK_FALSE(qos.rejoin_clears_health);
    const auto terms = allot::FixedTermsParameters{};
    CHECK(terms.patience == 6h);
    CHECK(terms.after_timeout == allot::Next::end);
    const auto placement = allot::ThresholdPlacementParameters{};
    CHECK(placement.holders_min == 3);
    CHECK(placement.holders_target == 10);
}
