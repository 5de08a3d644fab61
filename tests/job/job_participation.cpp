#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// What one node believes of a job, and does for its end, among members that lie. The loop around it is in
// job_processor.cpp.

namespace job_test::job_participation {
using allot::JobProcessor;
namespace message = allot::job_message;
namespace event = allot::job_event;

namespace {

const auto plan = plan_of({2, 1, 0, 1, 0});
const auto liar = node(9).node;

auto processor() -> JobProcessor {
    auto p = JobProcessor{node(1), {}, allot::Intent{}, at(0s)};
    (void)p.start(at(0s));
    (void)p.post(plan, at(0s));
    return p;
}

/// A record of a MacroJob that the liar makes up.
auto forged(std::uint32_t macro) -> allot::MacroRecord {
    auto record = allot::MacroRecord{plan.job(), macro, 1, liar, {}, {}, {}, 0, {}, {}, {}, {}};
    record.accepted.push_back({hash_of(macro), liar, node(9).wallet});
    record.digest = digest_of(record);
    return record;
}

/// Works until the escrow is asked for. `lie(now)` gives what a liar says every five seconds.
template <class Lie>
auto works(JobProcessor& p, Lie&& lie) -> std::optional<std::pair<event::EscrowReleaseRequested, TimePoint>> {
    auto next_lie = at(0s);
    for (auto now = at(0s); now < at(600s); now = std::min(p.next_deadline(), next_lie)) {
        auto effects = JobEffects{};
        if (now >= next_lie) {
            for (const auto& m : lie()) { effects.append(received(p, m, now)); }
            next_lie = now + 5s;
        }
        effects.append(p.tick(now));
        if (p.work()) { effects.append(p.complete(*p.work(), {hash_of(7)}, "out", now)); }
        if (const auto* asked = effects.get<event::EscrowReleaseRequested>()) { return std::pair{*asked, now}; }
    }
    return std::nullopt;
}

auto news(std::uint32_t macro, std::uint64_t epoch, std::vector<allot::MacroRecord> records) -> allot::JobMessage {
    return message::MacroNews{plan.job(), macro, liar, epoch, 0, std::move(records), {}};
}

}  // namespace

TEST_CASE("K6: a record that a member makes up ends no MacroJob, and asks for no escrow") {
    for (const auto& lies : {std::vector{0U}, {1U}, {0U, 1U}}) {
        auto p = processor();
        const auto asked = works(p, [&] {
            auto all = std::vector<allot::JobMessage>{};
            for (const auto m : lies) { all.push_back(news(m, 0, {forged(m)})); }
            return all;
        });
        REQUIRE(asked);
        REQUIRE(asked->first.records.size() == 2);
        for (const auto& record : asked->first.records) { CHECK(record.owner == node(1).node); }
        CHECK(asked->second < at(60s));
    }
}

TEST_CASE("K6: who says of each queue that it is in use delays a job, and does not stop it") {
    auto p = processor();
    const auto asked = works(p, [] { return std::vector{news(0, 1ULL << 40U, {}), news(1, 1ULL << 40U, {})}; });
    REQUIRE(asked);
    // One further queue in each `claim`, and no owner is heard there for `owner_timeout` and the turns.
    CHECK(asked->second > at(30s));
    CHECK(asked->second < at(2 * 45s));
}

TEST_CASE("an owner of the last queue that does not end the job is replaced") {
    const auto one = plan_of({1, 1, 0, 1, 0});
    auto p = JobProcessor{node(1), {}, allot::Intent{}, at(0s)};
    (void)p.start(at(0s));
    (void)received(p, message::JobPosted{one, {}}, at(0s));
    auto owner = allot::MicroQueueReplica{one.macro(0), node(2), {}, at(0s)};
    (void)owner.want_work(true, at(0s));
    auto said = owner.create(at(0s));
    const auto hear = [&](TimePoint now) {
        auto effects = JobEffects{};
        for (const auto& send : said.sends) { effects.append(received(p, send.message, now)); }
        effects.append(p.tick(now));
        return effects;
    };
    (void)p.tick(at(1s));
    (void)received(p, message::MacroNews{one.job(), 0, node(2).node, 1, 1, {}, {}}, at(1s));
    auto asked = std::optional<TimePoint>{};
    for (auto now = at(2s); now < at(700s) && !asked; now += 500ms) {
        said = now == at(4s) ? owner.complete({hash_of(1)}, "out", now) : owner.tick(now);
        const auto effects = hear(now);
        if (effects.get<event::EscrowReleaseRequested>() != nullptr) { asked = now; }
    }
    REQUIRE(asked);
    CHECK(*asked >= at(120s));                 // twice `settle_patience`: the contract may be slow
    CHECK(*asked <= at(120s + 7 * 5s + 10s));  // and the turns
}

}  // namespace job_test::job_participation
