#include <cstdint>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/queue/linear_queue.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

namespace {

constexpr auto as_configured = allot::SnapshotLimits{.parameters = allot::SnapshotParameters::taken_over};

/// The linear model of a queue.
auto linear_of(const allot::ValueQueue& queue) { return allot::LinearQueue{queue.parameters()}; }
auto linear_of(const allot::ShareQueue<>& queue) {
    return allot::ShareQueue{linear_of(queue.queue()), std::get<allot::QueueShare>(queue.parts())};
}
template <class Policy>
auto linear_if_queue(const Policy& policy) {
    if constexpr (requires { linear_of(policy); }) {
        return std::tuple{linear_of(policy)};
    } else {
        return std::tuple{};
    }
}
template <class Preset>
auto linear_queue(const Preset& preset) {
    return std::apply([](const auto&... all) { return std::get<0>(std::tuple_cat(linear_if_queue(all)...)); },
                      preset.policies());
}

// Replicas of a preset agree: one that starts from a snapshot in between, and one of linear models. In the second half
// failed tasks are retried whatever the preset says: one command changes that for all.
template <class Preset>
void replicas_agree(const Preset& preset) {
    using D = allot::Dispatcher<Preset>;
    using Linear = allot::Dispatcher<allot::LinearPool, decltype(linear_queue(preset)), Preset>;
    INFO("ALLOT_SEED " << support::seed());
    auto d = D{preset};
    auto linear = Linear{allot::LinearPool{}, linear_queue(preset), preset};
    auto late = D{preset};
    auto chaos = support::Chaos<D>{support::seed(), true};
    const auto retry = allot::FixedTermsParameters{.after_timeout = allot::Next::retry_elsewhere,
                                                   .after_failure = allot::Next::retry_elsewhere,
                                                   .strikes_max = 3,
                                                   .blamed_max = 1};
    auto gangs = 0;
    auto grouped = 0;
    auto models = 0;
    auto retries = 0;
    const auto seen_all = [&] { return gangs > 0 && grouped > 0 && models > 0 && retries > 0; };
    for (auto step = 0; step < 1'500 || (step < 15'000 && !seen_all()); ++step) {
        if (step % 300 == 0) {
            auto loaded = allot::load_snapshot(allot::snapshot(d, 0), D{preset}, as_configured);
            REQUIRE(loaded);
            late = std::move(loaded->dispatcher);
            REQUIRE(late == d);
        }
        const auto moment = chaos.moment(d);
        const auto command = step == 750
                                 ? typename D::Command{allot::command::Configure<typename D::Configuration>{retry, 2}}
                                 : chaos.command(d);
        const auto events = d.apply(command, moment);
        const auto bytes_of = [](const allot::Events& all) {
            auto bytes = std::vector<std::uint8_t>{};
            for (const auto& event : all) { allot::encode_to(bytes, event); }
            return bytes;
        };
        events.each(
            [&](const allot::event::TaskStarted& e) {
                gangs += e.lease.member == 1 ? 1 : 0;
                const auto* task = d.task(e.lease.task);
                grouped += task != nullptr && task->group != allot::no_handle<allot::GroupHandle> ? 1 : 0;
            },
            [&](const allot::event::ModelsReported&) { ++models; },
            [&](const allot::event::TaskRetried&) { ++retries; });
        const auto bytes = bytes_of(events);
        REQUIRE(bytes_of(late.apply(command, moment)) == bytes);
        REQUIRE(bytes_of(linear.apply(command, moment)) == bytes);
        REQUIRE(linear.digest() == d.digest());
    }
    CHECK(late == d);
    CAPTURE(gangs, grouped, models, retries);
    CHECK(seen_all());
}

}  // namespace

TEST_CASE("replicas of crynux_single agree") { replicas_agree(allot::preset::CrynuxSingle{}); }
TEST_CASE("replicas of crynux_trio agree") { replicas_agree(allot::preset::CrynuxTrio{}); }
TEST_CASE("replicas of crynux_relay_2026 agree") { replicas_agree(allot::preset::CrynuxRelay2026{1}); }
TEST_CASE("replicas of crynux_relay_2026 agree on which cards are rare") {
    replicas_agree(allot::preset::CrynuxRelay2026{2});
}
TEST_CASE("replicas of the first contracts agree") { replicas_agree(allot::preset::CrynuxContracts1{}); }
TEST_CASE("replicas of the second contracts agree") { replicas_agree(allot::preset::CrynuxContracts2{}); }
TEST_CASE("replicas of the hardened preset agree") { replicas_agree(allot::preset::Hardened{1'000, 10}); }
