// labels: jobs
// timeout: 7200
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "job/support/liars.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

// Jobs in networks in which up to a third of the admitted members lie, and the network fails for the first minute. The
// poster, the referee and the contract are honest, and the contract pays only what it has proven. The full form is
//     ALLOT_JOBS_RUNS=9000 sh tests/run.sh -L jobs --verbose
// A run that breaks a promise says its seed; ALLOT_JOBS_RUN=<seed> repeats it alone. ALLOT_JOBS_LIES=<bits of `Lie`>
// tries only these lies, in all runs: 0x2 is the second one alone.

namespace job_test::byzantine {

namespace {

auto from_environment(const char* name, std::uint64_t otherwise) -> std::uint64_t {
    const auto* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// The time in ms by which a job has to end: what each liar may cost a MacroJob, once for itself and once more for each
/// liar whose results are rejected after it; and what each liar may cost the end as the owner of the last queue.
auto bound_of(const Options& o) -> std::int64_t {
    const auto p = allot::QueueParameters{};
    const auto blocks = std::int64_t{o.slicing.blocks_per_micro};
    const auto work = Duration{o.work_min + o.work_max} * std::int64_t{o.slicing.items()};
    const auto each = p.lock * (1 + blocks) + p.request_ttl + p.owner_timeout + p.stagger * 16 + p.disclose_within +
                      allot::JobParameters{}.ask_retry * 2 + work;
    const auto end = allot::JobParameters{}.settle_patience * 2 + p.owner_timeout * 16;
    return o.faults_until + (each * (1 + std::int64_t{o.liars}) * std::int64_t{o.slicing.macro_count}).count() +
           (end * (1 + std::int64_t{o.liars})).count();
}

/// A network and those who lie in it, as the seed wants. Half of the runs have one of the lies, the others several.
auto drawn(std::uint64_t seed, std::uint64_t lies) -> Options {
    auto random = std::mt19937_64{seed};
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    auto o = Options{};
    o.nodes = 4 + below(7);
    o.liars = 1 + below(o.nodes / 3);
    const auto workers = 1 + below(5);
    o.slicing = {1 + below(3), workers, below(5) == 0 ? 0U : 1U, workers + below(5), 1};
    o.arbiter = below(4) == 0 ? Arbiter::store : below(4) == 0 ? Arbiter::quorum : Arbiter::intent;
    o.drop_percent = below(3) * 10;
    o.duplicate_percent = below(3) * 10;
    o.late_percent = below(3) == 0 ? 3 : 0;
    o.delay_max = 1 + below(300);
    o.faults_until = 60'000;
    o.clocks = below(2) == 0;
    o.work_max = 100 + below(8'000);
    o.sampled = below(4);
    const auto lie = [&] { return bit_of(static_cast<Lie>(below(lie_count))); };
    const auto how = below(4);
    while (o.lies == 0) { o.lies = lies & (how < 2 ? lie() : how == 2 ? lie() | lie() | lie() : random()); }
    if ((o.lies & bit_of(Lie::two_votes)) != 0 && below(2) == 0) { o.arbiter = Arbiter::quorum; }
    o.give_up_at = bound_of(o);
    o.trace = from_environment("ALLOT_JOBS_TRACE", 0) != 0;
    return o;
}

auto names_of(std::uint64_t lies) -> std::string {
    auto text = std::string{};
    for (std::size_t i = 0; i < lie_count; ++i) {
        if ((lies & bit_of(static_cast<Lie>(i))) != 0) { text += fmt::format(" [{}]", lie_names[i]); }
    }
    return text;
}

/// All runs together.
struct Sum {
    LieCounts told{};
    LieCounts looked_into{};
    LieCounts taken{};
    WrongWork wrong{};
    std::uint64_t broken = 0;
    std::uint64_t named = 0;
    std::uint64_t takeovers = 0;
    std::int64_t time = 0;
    std::int64_t latest = 0;
    double nearest = 0;  ///< Greatest share of its bound that a run took.

    void run(std::uint64_t seed, std::uint64_t lies, bool alone) {
        const auto options = drawn(seed, lies);
        auto simulation = AmongLiars(options, seed);
        try {
            const auto outcome = simulation.run();
            named += outcome.named_cheaters;
            takeovers += outcome.takeovers;
            time += outcome.ended_at;
            latest = std::max(latest, outcome.ended_at);
            nearest = std::max(nearest, static_cast<double>(outcome.ended_at) / static_cast<double>(bound_of(options)));
        } catch (const Broken& fault) {
            const auto text = std::string{fault.what()};
            fmt::print(stderr, "ALLOT_JOBS_RUN={} ALLOT_JOBS_LIES={:#x} {}:{}\n", seed, lies,
                       alone ? text : text.substr(0, text.find('\n')), names_of(options.lies));
            ++broken;
        }
        for (std::size_t i = 0; i < lie_count; ++i) {
            told[i] += simulation.told()[i];
            looked_into[i] += simulation.looked_into()[i];
            taken[i] += simulation.taken()[i];
        }
        wrong += simulation.wrong();
    }
};

}  // namespace

TEST_CASE("every job ends once, rightly and in time, and pays honest members, though up to a third of them lie") {
    const auto one = from_environment("ALLOT_JOBS_RUN", 0);
    const auto runs = one != 0 ? 1 : from_environment("ALLOT_JOBS_RUNS", 200);
    const auto lies = from_environment("ALLOT_JOBS_LIES", all_lies) & all_lies;
    auto sum = Sum{};
    for (std::uint64_t run = 0; run < runs; ++run) {
        sum.run(one != 0 ? one : support::seed() * 1'000'003 + run, lies, one != 0);
    }
    const auto& wrong = sum.wrong;
    fmt::print(stderr,
               "{} runs, {} broken: ends after {} ms in the mean, {} ms at the latest, {:.2f} of the bound at most; {} "
               "takeovers, {} culprits; MacroJobs with wrong blocks {}, of which {} escaped and {:.1f} may; {} of {} "
               "blocks wrong and paid; {}\nletters past the outer checks of honest members: {}\nletters taken: {}\n",
               runs, sum.broken, sum.time / static_cast<std::int64_t>(runs), sum.latest, sum.nearest, sum.takeovers,
               sum.named, wrong.judged, wrong.escaped, wrong.expected, wrong.paid, wrong.blocks, says(sum.told),
               says(sum.looked_into), says(sum.taken));
    CHECK(sum.broken == 0);
    // Three standard errors; honest verifiers find more.
    CHECK(static_cast<double>(wrong.escaped) <= wrong.expected + 3 * std::sqrt(wrong.variance));
    if (one != 0) { return; }
    for (std::size_t i = 0; i < lie_count; ++i) {
        INFO(lie_names[i]);
        const auto is = [&](Lie lie) { return lie == static_cast<Lie>(i); };
        const auto forges = std::any_of(forgeries.begin(), forgeries.end(), is);
        if (forges) { CHECK(sum.taken[i] == 0); }
        if ((lies & bit_of(static_cast<Lie>(i))) == 0) { continue; }
        CHECK(sum.told[i] > 0);  // what was never told was not tried,
        if (forges || std::any_of(deeds.begin(), deeds.end(), is)) { continue; }
        const auto is_rare = sum.told[i] < 30;       // with another seed all few may be lost
        CHECK((is_rare || sum.looked_into[i] > 0));  // and neither was what no honest member looked into
    }
}

}  // namespace job_test::byzantine
