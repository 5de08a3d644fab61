// labels: jobs
// timeout: 7200
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "job/support/simulation.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

// Jobs in networks that lose, double, delay and reorder messages, fall apart and lose nodes. A few hundred runs here;
// the full form is
//     ALLOT_JOBS_RUNS=9000 sh tests/run.sh -L jobs --verbose
// A run that breaks a promise says its seed; ALLOT_JOBS_RUN=<seed> repeats it alone.
//
// The promises P1 to P11 of the queue that travels: in every run here hold P1 to P7 and P10, and each has a test that
// says that it was looked at. P8 is here, too; the laws of values behind P1, P7, P9 and P11 are in queue_control.cpp,
// result_set.cpp, job_tracker.cpp, plan.cpp, secret_plan.cpp, verifier.cpp and escrow.cpp, and single replies in
// micro_queue_replica.cpp, under the same numbers.

namespace job_test::properties {

namespace {

auto from_environment(const char* name, std::uint64_t otherwise) -> std::uint64_t {
    const auto* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// A network and what goes wrong in it, as the seed wants.
auto drawn(std::uint64_t seed) -> Options {
    auto random = std::mt19937_64{seed};
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    auto o = Options{};
    o.nodes = 2 + below(6);
    const auto workers = 1 + below(6);
    o.slicing = {1 + below(3), workers, below(8) == 0 ? 0U : 1U, workers + below(5), 1};
    o.arbiter = below(4) == 0 ? Arbiter::store : below(5) == 0 ? Arbiter::quorum : Arbiter::intent;
    o.drop_percent = below(4) * 10;
    o.duplicate_percent = below(3) * 10;
    o.late_percent = below(3) * 3;
    o.delay_max = 1 + below(300);
    o.partition = below(4) == 0;
    o.crashes = below(3);
    o.restarts = below(2) == 0 || o.arbiter == Arbiter::quorum;
    o.crash_until = 3'000 + below(40'000);
    o.clocks = below(2) == 0;
    o.work_max = 100 + below(20'000);
    o.slow_percent = below(3) == 0 ? 10 : 0;
    o.fail_percent = below(3) == 0 ? 5 : 0;
    o.cheaters = below(4) == 0 ? 1 : 0;
    o.told_of_crashes = below(3) == 0;
    o.commit_results = below(4) != 0;
    o.referee_away = below(5) == 0;
    return o;
}

}  // namespace

TEST_CASE("P1 to P7, P10: every job ends once and the same everywhere, whatever the network does") {
    const auto one = from_environment("ALLOT_JOBS_RUN", 0);
    const auto runs = one != 0 ? 1 : from_environment("ALLOT_JOBS_RUNS", 300);
    auto faults = FaultCounts{};
    auto looked = PromiseCounts{};
    auto failed = std::uint64_t{0};
    auto dead_letters = std::uint64_t{0};
    auto takeovers = std::uint64_t{0};
    auto unverified = std::uint64_t{0};
    for (std::uint64_t run = 0; run < runs; ++run) {
        const auto seed = one != 0 ? one : support::seed() * 1'000'003 + run;
        INFO("ALLOT_JOBS_RUN=" << seed);
        const auto options = drawn(seed);
        auto outcome = Outcome{};
        REQUIRE_NOTHROW(outcome = Simulation(options, seed).run());
        for (std::size_t i = 0; i < faults.size(); ++i) { faults[i] += outcome.faults[i]; }
        for (std::size_t i = 0; i < looked.size(); ++i) { looked[i] += outcome.looked[i]; }
        dead_letters += outcome.dead_letters;
        failed += outcome.outcome == allot::JobOutcome::failed ? 1 : 0;
        takeovers += outcome.takeovers;
        CHECK(outcome.named_honest == 0);
        if (options.slicing.verifiers_per_macro > 0) { CHECK(outcome.accepted_lies == 0); }
        unverified += outcome.unverified;
    }
    fmt::print(stderr, "{} runs: {} jobs failed, {} dead letters, {} takeovers, {} parts unverified; {}\n", runs,
               failed, dead_letters, takeovers, unverified, says(faults));
    if (one == 0) {
        INFO(says(faults));
        CHECK(std::find(faults.begin(), faults.end(), 0U) == faults.end());  // what never went wrong was not tried
        CHECK(std::find(looked.begin(), looked.end(), 0U) == looked.end());  // nor kept what was never looked at
        CHECK(failed * 4 < runs);
        CHECK(takeovers > 0);
    }
}

TEST_CASE("P2, P6: in a clean network nobody takes over, nothing runs twice and one node asks for the escrow") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        auto o = Options{};
        o.nodes = 12;
        o.slicing = {1, 10, 1, 10, 1};
        const auto outcome = Simulation(o, seed).run();
        CHECK(outcome.outcome == allot::JobOutcome::complete);
        CHECK(outcome.takeovers == 0);
        CHECK(outcome.executions == 11);
        CHECK(outcome.requests_to_pay == 1);
    }
}

TEST_CASE("P8: two always hungry nodes do five of ten MicroJobs each, and more nodes share as evenly") {
    for (const auto nodes : {2U, 3U, 5U}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            auto o = Options{};
            o.nodes = nodes;
            o.boots_together = true;
            o.slicing = {1, 10, 0, 1, 0};
            o.work_max = 0;
            o.work_min = 5'000;
            const auto outcome = Simulation(o, seed).run();
            CHECK(outcome.executions == 10);
            auto least = std::uint64_t{10};
            auto most = std::uint64_t{0};
            for (std::uint32_t i = 0; i < nodes; ++i) {
                const auto at = outcome.done_by.find(node_id(i));
                const auto done = at == outcome.done_by.end() ? 0 : at->second;
                least = std::min(least, done);
                most = std::max(most, done);
            }
            CHECK(most - least <= 1);
        }
    }
}

namespace {

/// How often runs of a kind looked at a promise; whichever breaks it throws.
template <class Change>
auto looks(Promise promise, std::uint64_t seeds, Change&& change) -> std::uint64_t {
    auto sum = std::uint64_t{0};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        auto o = Options{};
        o.slicing = {1, 4, 1, 6, 1};
        change(o);
        sum += Simulation(o, seed).run().looks(promise);
    }
    return sum;
}

}  // namespace

TEST_CASE("P1: replicas that heard the same, in any order and any number of times, hold the same") {
    const auto lossy = [](Options& o) {
        o.drop_percent = 20;
        o.partition = true;
    };
    CHECK(looks(Promise::p1_merge, 20, lossy) >= 40);
}

TEST_CASE("P2: nobody leases a MicroJob while the queue it goes by knows of a lease that lives") {
    CHECK(looks(Promise::p2_one_holder, 20,
                [](Options& o) { o.crashes = 2, o.drop_percent = 20, o.slow_percent = 40; }) > 100);
}

TEST_CASE("P3: along a chain of controls tokens grow and the queue's clock never goes back") {
    CHECK(looks(Promise::p3_growing, 20, [](Options& o) { o.clocks = true, o.partition = true, o.late_percent = 10; }) >
          1'000);
}

TEST_CASE("P4: handing the queue over never shortens a lease, however clocks stand and run") {
    CHECK(looks(Promise::p4_full_length, 40, [](Options& o) { o.clocks = true, o.slow_percent = 60; }) > 40);
}

TEST_CASE("P5: while work remains every node knows when to wake, and every MicroJob ends done or dead") {
    auto o = Options{};
    o.slicing = {1, 3, 1, 6, 1};
    o.fail_percent = 100;  // nobody ever does anything
    o.faults_until = o.give_up_at;
    const auto outcome = Simulation(o, support::seed()).run();
    CHECK(outcome.outcome == allot::JobOutcome::failed);
    CHECK(outcome.dead_letters >= 4);
    CHECK(outcome.requests_to_pay == 1);  // a refund
    CHECK(outcome.looks(Promise::p5_awake) > 100);
    CHECK(outcome.looks(Promise::p7_coverage) == 4);
}

TEST_CASE("P7: what ends a job names a result of the plan for each MicroJob, whatever else was said") {
    CHECK(looks(Promise::p7_coverage, 20, [](Options& o) { o.duplicate_percent = 50, o.cheaters = 1, o.nodes = 7; }) >=
          20 * 5);
}

TEST_CASE("P10: a message heard twice brings no more answers than it did at first") {
    CHECK(looks(Promise::p10_few_replies, 20, [](Options& o) { o.duplicate_percent = 50; }) > 100);
}

TEST_CASE("while enough nodes take part, nobody gets a second MicroJob of a MacroJob") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto o = Options{};
        o.nodes = 14;
        o.boots_together = true;
        o.slicing = {1, 10, 1, 10, 1};
        o.work_min = 9'000;
        const auto outcome = Simulation(o, seed).run();
        for (const auto& [node, done] : outcome.done_by) { CHECK(done == 1); }
    }
}

TEST_CASE("P9: a cheater among enough nodes is named, is paid nothing, and the job goes on without it") {
    auto named = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        auto o = Options{};
        o.nodes = 13;
        o.cheaters = 1;
        o.boots_together = true;
        o.slicing = {1, 10, 1, 10, 1};
        o.work_min = 9'000;
        const auto outcome = Simulation(o, seed).run();
        CHECK(outcome.outcome == allot::JobOutcome::complete);
        CHECK(outcome.accepted_lies == 0);
        CHECK(outcome.named_honest == 0);
        CHECK(outcome.named_cheaters == outcome.faults[static_cast<std::size_t>(Fault::cheat)]);
        named += outcome.named_cheaters > 0 ? 1 : 0;
    }
    CHECK(named > 12);
}

TEST_CASE("P6: a store with compare-and-set makes the request to pay unique, however badly messages travel") {
    auto repeated = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        auto o = Options{};
        o.slicing = {2, 4, 1, 6, 1};
        o.arbiter = Arbiter::store;
        o.drop_percent = 30;
        o.duplicate_percent = 10;
        o.late_percent = 5;
        o.partition = true;
        o.clocks = true;
        const auto outcome = Simulation(o, seed).run();
        // Who lost the claim asks again after `settle_patience`, if nobody tells it the end in the meantime.
        CHECK(outcome.requests_to_pay >= 1);
        CHECK(static_cast<std::int64_t>(outcome.requests_to_pay) <= 1 + outcome.ended_at / 60'000);
        repeated += outcome.requests_to_pay > 1 ? 1 : 0;
    }
    CHECK(repeated <= 2);
}

TEST_CASE("P5: a crash costs seconds: whoever falls silent is replaced, and its work is done by others") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        auto o = Options{};
        o.slicing = {1, 4, 1, 6, 1};
        o.crashes = 2;
        const auto outcome = Simulation(o, seed).run();
        CHECK(outcome.outcome == allot::JobOutcome::complete);
        CHECK(outcome.ended_at < 60'000);
    }
}

TEST_CASE("P5: one node alone does a whole job") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto o = Options{};
        o.nodes = 1;
        o.slicing = {2, 4, 1, 6, 1};
        const auto outcome = Simulation(o, seed).run();
        CHECK(outcome.outcome == allot::JobOutcome::complete);
        CHECK(outcome.executions == 10);
    }
}

TEST_CASE("a run is a function of its seed") {
    const auto options = drawn(support::seed());
    const auto first = Simulation(options, support::seed()).run();
    const auto second = Simulation(options, support::seed()).run();
    CHECK(first.messages == second.messages);
    CHECK(first.ended_at == second.ended_at);
    CHECK(first.done_by == second.done_by);
}

}  // namespace job_test::properties
