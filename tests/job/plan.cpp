#include <cstdint>
#include <limits>
#include <set>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::plan {
using allot::JobPlan;
using allot::Slicing;

TEST_CASE("slicing refuses what is empty, what overflows and what cannot be verified") {
    constexpr auto huge = std::numeric_limits<std::uint32_t>::max();
    struct Case {
        Slicing slicing;
        JobError error;
    };
    const auto c = GENERATE(values<Case>({
        {{0, 10, 1, 10, 1}, JobError::no_macros},
        {{1, 0, 1, 10, 1}, JobError::no_workers},
        {{1, 10, 1, 0, 1}, JobError::no_blocks},
        {{1, 10, 1, 10, 0}, JobError::no_checks},
        {{1, 10, 1, 9, 1}, JobError::checks_do_not_fit},
        {{1, 10, 1, 19, 2}, JobError::checks_do_not_fit},
        {{huge, 10, 1, 10, 1}, JobError::too_many_items},
        {{1, huge, huge, 10, 1}, JobError::too_many_items},
        {{1, 4096, 1, 10, 1}, JobError::too_many_items},
        {{huge, huge, huge, huge, huge}, JobError::too_many_items},
        {{1, 10, 1, huge, 1}, JobError::too_many_blocks},
        {{1, 2, 1, 1U << 16U, huge}, JobError::checks_do_not_fit},
    }));
    CHECK(JobPlan::slice(spec_of(c.slicing)).error() == c.error);
}

TEST_CASE("a job without a name is refused") {
    auto spec = spec_of({});
    spec.job = allot::JobId{""};
    CHECK(JobPlan::slice(spec).error() == JobError::job_invalid);
}

TEST_CASE("P9: ids follow from the seed, differ all, and are those of every machine") {
    const auto plan = plan_of({2, 10, 1, 10, 1});
    CHECK(plan == plan_of({2, 10, 1, 10, 1}));
    CHECK(plan.digest() != plan_of({2, 10, 1, 10, 1}, 8).digest());
    auto ids = std::set<allot::Hash256>{plan.macro_ids().begin(), plan.macro_ids().end()};
    ids.insert(plan.micro_ids().begin(), plan.micro_ids().end());
    CHECK(ids.size() == 2 + 22);
    CHECK(plan.id({1, 3}) == plan.macro(1).micros[3]);
    // Anybody who learns the seed can check: SHA-256 of the words and numbers, as names.hpp says.
    CHECK(allot::hex_of(plan.macro_ids()[0]) == "877cedd66c041e2aed1b1ff6c4decf630afec32006a33cf97f27c2f6f24b0269");
    CHECK(allot::hex_of(plan.id({1, 10})) == "079907c16e03a89d0a2697f96323343dd93d4b4897cae91d79283b9a932946c4");
    CHECK(allot::hex_of(plan.digest()) == "bd57a28d090b9e439e50dfd2060025ec052494381960e244f13647a30722fff2");
}

TEST_CASE("a plan says what there is, and nothing beyond") {
    const auto plan = plan_of({2, 10, 1, 10, 1});
    CHECK(plan.contains({1, 10}));
    CHECK_FALSE(plan.contains({1, 11}));
    CHECK_FALSE(plan.contains({2, 0}));
    CHECK(plan.macro(1).items() == 11);
    CHECK(plan.macro(1).channel() == "Job" + plan.job().hex() + "/MacroJob" + allot::hex_of(plan.macro_ids()[1]));
}

TEST_CASE("a plan from a wire is whole or refused") {
    const auto plan = plan_of({2, 3, 1, 4, 1});
    const auto whole = JobPlan::from_parts(plan.job(), plan.slicing(), plan.code_uri(), plan.data_uri(),
                                           plan.macro_ids(), plan.micro_ids());
    CHECK(*whole == plan);
    auto fewer = plan.micro_ids();
    fewer.pop_back();
    CHECK(JobPlan::from_parts(plan.job(), plan.slicing(), "", "", plan.macro_ids(), fewer).error() ==
          JobError::message_shape_wrong);
    CHECK(JobPlan::from_parts(plan.job(), plan.slicing(), "", "", {}, plan.micro_ids()).error() ==
          JobError::message_shape_wrong);
    CHECK(JobPlan::from_parts(plan.job(), {0, 1, 1, 1, 1}, "", "", {}, {}).error() == JobError::no_macros);
    CHECK(JobPlan::from_parts(allot::JobId{""}, plan.slicing(), "", "", plan.macro_ids(), plan.micro_ids()).error() ==
          JobError::job_invalid);
}

}  // namespace job_test::plan
