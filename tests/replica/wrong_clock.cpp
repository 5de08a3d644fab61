#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <variant>

#include <allot/core/lease.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

// The clock of the replica that ticks leaps by minutes, hours and days, stays wrong for a while, and is put right. What
// a lease loses is compared with what docs/operating.md promises.
namespace wrong_clock_test {
namespace {

using namespace std::chrono_literals;
using namespace replica_support;
namespace event = allot::event;

constexpr auto gap_max = allot::ReplicaParameters{}.gap_max;
constexpr auto step = Duration{5s};  // between two ticks

// How far leaps may have moved a deadline: `lost` at once, and `outage` by what outages give back.
struct Leaps {
    Duration lost{};
    Duration outage{};
};

struct Running {
    TimePoint ends{};  // by the true clock, as granted
    Leaps before{};
};

class Network {
public:
    Network(std::uint64_t seed, Duration longest) : random_{seed}, longest_{longest} {}

    void run() {
        for (auto i = 0; i < 600; ++i) {
            true_ += step;
            if (below(15) == 0) { leap(); }
            if (below(150) == 0) { wrong_ = Duration{0}; }  // it is put right: log time stands
            log_.tick(true_ + wrong_);
            note();
            if (below(2) == 0) { start(i); }
        }
    }

    int ended = 0;
    Duration earliest{};     // the most by which a lease ended early
    Duration beyond_most{};  // the same, beyond what is promised

private:
    auto below(std::uint64_t n) -> std::uint64_t { return random_() % n; }

    void leap() {
        constexpr auto lengths = std::array<Duration, 6>{7s, 1min, 20min, 3h, 20h, 72h};
        const auto by = std::min(lengths[below(lengths.size())], longest_);
        wrong_ += by;
        leaps_.lost += std::min(by, gap_max);
        leaps_.outage += by;
    }

    void start(int id) {
        auto task = support::plain_task(id + 1);
        task.duration_estimate = Duration{static_cast<std::int64_t>(30'000 + below(300'000))};
        (void)log_.next({join(id + 1), allot::command::Submit{task}}, true_);  // its front has the true clock
        note();
    }

    void note() {
        for (const auto& [id, e] : log_.sink.events) {
            if (const auto* started = std::get_if<event::TaskStarted>(&e)) {
                const auto granted = started->lease.deadline - log_.replica.now();
                running_[started->lease.token] = {true_ + granted, leaps_};
            } else if (const auto* end = std::get_if<event::LeaseEnded>(&e)) {
                const auto& known = running_.at(end->lease.token);
                const auto outage = leaps_.outage - known.before.outage;
                const auto promised =
                    leaps_.lost - known.before.lost + std::max(Duration{0}, outage - allot::postponed_max);
                earliest = std::max(earliest, known.ends - true_);
                beyond_most = std::max(beyond_most, known.ends - true_ - promised);
                ++ended;
            }
        }
    }

    std::mt19937_64 random_;
    Duration longest_;
    BegunLog log_{};
    TimePoint true_{at(1'000'000)};
    Duration wrong_{};
    Leaps leaps_{};
    std::map<std::uint64_t, Running> running_{};  // by token
};

}  // namespace

TEST_CASE("each leap of the ticking replica's clock ends a lease by at most gap_max early, up to a day of leaps") {
    for (auto i = 0U; i < 2; ++i) {
        INFO("run " << i << " of seed " << support::seed());
        auto network = Network{support::seed() * 1'009 + i, 20min};  // a lease lives for less than a day of these
        network.run();
        CHECK(network.ended > 10);
        CHECK(network.earliest > 0s);
        CHECK(network.beyond_most == 0s);
    }
}

TEST_CASE("leaps of more than a day end a lease early by what they have beyond postponed_max") {
    for (auto i = 0U; i < 2; ++i) {
        INFO("run " << i << " of seed " << support::seed());
        auto network = Network{support::seed() * 1'013 + i, 72h};
        network.run();
        CHECK(network.earliest > 60s);
        CHECK(network.beyond_most == 0s);
    }
}

}  // namespace wrong_clock_test
