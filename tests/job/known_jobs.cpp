#include <algorithm>
#include <cstdint>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// Posters that lie: they post junk, take the ids of others' jobs, and post again what has ended.

namespace job_test::known_jobs {
using allot::JobParameters;
using allot::JobProcessor;
using allot::KnownJobs;
namespace message = allot::job_message;
namespace event = allot::job_event;

namespace {

/// Few jobs, so that they are soon too many: of all, of one poster, and of ended ones.
auto few(std::uint32_t jobs, std::uint32_t of_poster, std::uint32_t ended) -> JobParameters {
    auto p = JobParameters{};
    p.jobs_max = jobs;
    p.jobs_per_poster = of_poster;
    p.ended_max = ended;
    return p;
}
auto plan_by(std::uint32_t poster, std::uint64_t number) -> allot::JobPlan {
    auto spec = spec_of({1, 1, 0, 1, 0});
    spec.job = allot::job_id_of(node(poster).node, number);
    spec.authorities.poster = node(poster).node;
    return *allot::JobPlan::slice(spec);
}
auto posted(std::uint32_t poster, std::uint64_t number) -> message::JobPosted { return {plan_by(poster, number), {}}; }
auto end_of(const allot::JobPlan& plan) -> message::JobEnded {
    auto record = allot::FinalRecord{plan.job(), 1, node(1).node, allot::JobOutcome::complete, {hash_of(1)}, {}, {}};
    record.digest = digest_of(record);
    return {record};
}
auto knows(const KnownJobs& jobs, std::uint32_t poster, std::uint64_t number) -> bool {
    return jobs.find(allot::job_id_of(node(poster).node, number)) != nullptr;
}
auto end(KnownJobs& jobs, std::uint32_t poster, std::uint64_t number) -> bool {
    const auto plan = plan_by(poster, number);
    return jobs.end(*jobs.find(plan.job()), end_of(plan).record);
}

}  // namespace

TEST_CASE("a poster has a share of the jobs without an end, and an ended one makes room") {
    auto jobs = KnownJobs{few(100, 3, 100)};
    for (std::uint64_t n = 1; n <= 3; ++n) { CHECK_FALSE(jobs.add(posted(1, n), {})); }
    CHECK(jobs.add(posted(1, 4), {}) == JobError::too_many_jobs);
    CHECK_FALSE(knows(jobs, 1, 4));
    CHECK_FALSE(jobs.add(posted(1, 3), {}));  // known
    CHECK_FALSE(jobs.add(posted(2, 1), {}));  // another poster's
    CHECK(end(jobs, 1, 2));
    CHECK_FALSE(jobs.add(posted(1, 4), {}));
}

TEST_CASE("a poster that fills the place keeps no other out: its newest jobs give way, down to as many") {
    auto jobs = KnownJobs{few(6, 6, 100)};
    for (std::uint64_t n = 1; n <= 6; ++n) { CHECK_FALSE(jobs.add(posted(9, n), {})); }
    for (std::uint64_t n = 1; n <= 3; ++n) { CHECK_FALSE(jobs.add(posted(1, n), {})); }
    CHECK(jobs.all().size() == 6);
    for (std::uint64_t n = 1; n <= 3; ++n) {
        CHECK(knows(jobs, 1, n));
        CHECK(knows(jobs, 9, n));
    }
    // Each has as many now, and neither takes a place of the other's.
    CHECK(jobs.add(posted(1, 4), {}) == JobError::too_many_jobs);
    CHECK(jobs.add(posted(9, 4), {}) == JobError::too_many_jobs);
    // A third one has a place, and then the two have none to give back.
    CHECK_FALSE(jobs.add(posted(2, 1), {}));
    CHECK(jobs.add(posted(9, 4), {}) == JobError::too_many_jobs);
    CHECK(jobs.add(posted(1, 4), {}) == JobError::too_many_jobs);
    CHECK(jobs.all().size() == 6);
}

TEST_CASE("a job gives way only if its node has no queue of it, and does not look for work in it now") {
    auto p = JobProcessor{node(1), few(3, 3, 3), allot::Intent{}, at(0s)};
    (void)p.start(at(0s));
    for (std::uint64_t n = 1; n <= 3; ++n) { CHECK(received(p, posted(9, n), at(0s)).accepted()); }
    auto now = at(0s);
    while (!p.work()) { (void)p.tick(now = p.next_deadline()); }
    const auto job = p.work()->job;
    CHECK(job == allot::job_id_of(node(9).node, 1));
    CHECK(received(p, posted(2, 1), now).accepted());
    CHECK_FALSE(p.knows(allot::job_id_of(node(9).node, 3)));
    CHECK(p.work()->job == job);
    // The poster has two left; one is this work. A job that it looks at now stays as well.
    auto q = JobProcessor{node(1), few(3, 3, 3), allot::Intent{}, at(0s)};
    (void)q.start(at(0s));
    CHECK(q.post(plan_by(9, 7), at(0s)).accepted());
    for (std::uint64_t n = 1; n <= 2; ++n) { (void)received(q, posted(9, n), at(0s)); }
    CHECK(q.current()->plan().job() == allot::job_id_of(node(9).node, 7));
    CHECK(received(q, posted(2, 1), at(0s)).accepted());
    CHECK(received(q, posted(2, 2), at(0s)).error == JobError::too_many_jobs);
    CHECK(q.current() != nullptr);
    // Jobs in which it takes part are never dropped, though their poster has all the places.
    auto one = JobProcessor{node(1), few(1, 1, 1), allot::Intent{}, at(0s)};
    (void)one.start(at(0s));
    (void)received(one, posted(9, 1), at(0s));
    CHECK(received(one, posted(2, 1), at(0s)).error == JobError::too_many_jobs);
    CHECK(one.post(plan_by(1, 1), at(0s)).error == JobError::too_many_jobs);
    // What it worked on in an earlier life comes back beyond any number.
    CHECK(one.resume(posted(3, 1), {}, at(0s)).accepted());
}

TEST_CASE("a job with a queue here stays, though its poster has the most") {
    auto jobs = KnownJobs{few(3, 3, 3)};
    for (std::uint64_t n = 1; n <= 3; ++n) { CHECK_FALSE(jobs.add(posted(9, n), {})); }
    auto& newest = *jobs.find(allot::job_id_of(node(9).node, 3));
    auto out = JobEffects{};
    newest.part.emplace(newest.posted.plan, node(1), JobParameters{}, at(0s));
    (void)newest.part->join(0, at(0s), out);
    CHECK_FALSE(jobs.add(posted(1, 1), allot::job_id_of(node(9).node, 2)));
    CHECK(knows(jobs, 9, 3));        // it has a queue
    CHECK(knows(jobs, 9, 2));        // it is the current one
    CHECK_FALSE(knows(jobs, 9, 1));  // so this one gave way
}

TEST_CASE("no other member takes the id of a poster's job, whichever plan comes first") {
    const auto honest = plan_by(1, 5);
    auto spec = spec_of({1, 1, 0, 1, 0}, 8);
    spec.job = honest.job();
    CHECK(allot::JobPlan::slice(spec).error() == JobError::job_foreign);  // a plan without a poster
    spec.authorities.poster = node(9).node;
    CHECK(allot::JobPlan::slice(spec).error() == JobError::job_foreign);  // of the thief
    const auto from_wire = [&](const allot::JobAuthorities& by) {
        return allot::JobPlan::from_parts(honest.job(), honest.slicing(), "", "", honest.macro_ids(),
                                          honest.micro_ids(), by);
    };
    CHECK(from_wire(spec.authorities).error() == JobError::job_foreign);
    CHECK(from_wire({}).error() == JobError::job_foreign);
    CHECK(from_wire(honest.authorities()).has_value());
    // In the name of the poster it needs the poster's signature.
    spec.authorities.poster = node(1).node;
    auto p = JobProcessor{node(2), {}, allot::Intent{}, at(0s)};
    const auto by_poster = [&](const allot::NodeId&, const allot::Hash256& digest, const allot::Signature& signature) {
        return digest == honest.digest() && signature == allot::Signature{1};
    };
    const auto says = [&](const allot::JobPlan& plan) {
        return p.on_message(node(9).node, message::JobPosted{plan, {1}}, at(0s), by_poster).error;
    };
    CHECK(says(*allot::JobPlan::slice(spec)) == JobError::author_unproven);
    CHECK(says(honest) == std::nullopt);
}

TEST_CASE("the oldest ends are forgotten first, and what is forgotten does not begin again") {
    auto jobs = KnownJobs{few(10, 10, 2)};
    for (std::uint64_t n = 1; n <= 4; ++n) { CHECK_FALSE(jobs.add(posted(1, n), {})); }
    CHECK(end(jobs, 1, 3));
    CHECK_FALSE(end(jobs, 1, 3));  // it had this end
    CHECK(end(jobs, 1, 1));
    CHECK(knows(jobs, 1, 3));
    CHECK(end(jobs, 1, 2));
    CHECK_FALSE(knows(jobs, 1, 3));
    CHECK(knows(jobs, 1, 1));
    CHECK(jobs.add(posted(1, 3), {}) == JobError::job_forgotten);
    CHECK_FALSE(jobs.add(posted(1, 4), {}));  // it is known, and goes on
    CHECK_FALSE(jobs.add(posted(1, 5), {}));
    CHECK_FALSE(jobs.add(posted(2, 1), {}));  // numbers are each poster's own
    CHECK(jobs.all().size() == 5);
    CHECK(end(jobs, 1, 4));  // and job 1 is forgotten, which has a lower number than job 3
    CHECK_FALSE(knows(jobs, 1, 1));
    CHECK(jobs.add(posted(1, 3), {}) == JobError::job_forgotten);
}

TEST_CASE("a poster that ends many jobs drives no other's end out of memory") {
    auto jobs = KnownJobs{few(100, 100, 4)};
    for (std::uint64_t n = 1; n <= 2; ++n) {
        CHECK_FALSE(jobs.add(posted(1, n), {}));
        CHECK(end(jobs, 1, n));
    }
    for (std::uint64_t n = 1; n <= 50; ++n) {
        CHECK_FALSE(jobs.add(posted(9, n), {}));
        CHECK(end(jobs, 9, n));
        CHECK(jobs.all().size() <= 4);
    }
    CHECK(knows(jobs, 1, 1));
    CHECK(knows(jobs, 1, 2));
    CHECK(knows(jobs, 9, 50));
}

TEST_CASE("a job without a poster that was forgotten is told to have ended by those who remember") {
    const auto plan = plan_of({1, 1, 0, 1, 0});
    auto spec = spec_of({1, 1, 0, 1, 0});
    spec.job = allot::JobId{"second"};
    const auto other = *allot::JobPlan::slice(spec);
    auto forgetful = JobProcessor{node(1), few(10, 10, 1), allot::Intent{}, at(0s)};
    auto remembers = JobProcessor{node(2), {}, allot::Intent{}, at(0s)};
    (void)forgetful.start(at(0s));
    for (const auto& job : {plan, other}) {
        for (auto* p : {&forgetful, &remembers}) {
            (void)received(*p, message::JobPosted{job, {}}, at(0s));
            CHECK(received(*p, end_of(job), at(0s)).get<event::JobEnded>() != nullptr);
        }
    }
    CHECK_FALSE(forgetful.knows(plan.job()));
    const auto again = received(forgetful, message::JobPosted{plan, {}}, at(1s));
    REQUIRE(count_sent<message::MacrosQuery>(again) == 1);
    const auto told = received(remembers, *sent<message::MacrosQuery>(again), at(1s));
    REQUIRE(count_sent<message::JobEnded>(told) == 1);
    CHECK(received(forgetful, *sent<message::JobEnded>(told), at(1s)).get<event::JobEnded>() != nullptr);
    CHECK(*forgetful.final_record(plan.job()) == end_of(plan).record);
}

TEST_CASE("a worker asks the first job of each poster before the second of one") {
    auto jobs = KnownJobs{few(10, 10, 10)};
    for (std::uint64_t n = 1; n <= 5; ++n) { CHECK_FALSE(jobs.add(posted(9, n), {})); }
    CHECK_FALSE(jobs.add(posted(1, 1), {}));
    auto asked = std::vector<allot::JobId>{};
    auto out = JobEffects{};
    while (const auto next = jobs.to_ask(at(0s))) {
        asked.push_back(*next);
        auto& known = *jobs.find(*next);
        known.part.emplace(known.posted.plan, node(1), JobParameters{}, at(0s));
        known.part->ask(at(0s), out);
    }
    REQUIRE(asked.size() == 6);
    CHECK(asked[0] == allot::job_id_of(node(9).node, 1));
    CHECK(asked[1] == allot::job_id_of(node(1).node, 1));
}

}  // namespace job_test::known_jobs
