#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::names {

TEST_CASE("channels and paths are the seed's names, unambiguous for any id") {
    const auto job = allot::JobId{7};
    CHECK(allot::jobs_channel() == "Jobs");
    CHECK(allot::job_channel(job) == "Job" + job.hex() + "/MacroJob");
    const auto macro = hash_of(1);
    const auto micro = hash_of(2);
    CHECK(allot::macro_channel(job, macro) == "Job" + job.hex() + "/MacroJob" + allot::hex_of(macro));
    CHECK(allot::result_path(job, macro, micro) ==
          allot::macro_channel(job, macro) + "/MicroJob" + allot::hex_of(micro));
    CHECK(allot::job_channel(allot::JobId{"7"}) != allot::job_channel(job));
}

TEST_CASE("hashes of records tell kinds and borders apart") {
    using allot::RecordHasher;
    CHECK(RecordHasher{"a"}.text("bc").finish() != RecordHasher{"ab"}.text("c").finish());
    CHECK(RecordHasher{"a"}.text("b").text("").finish() != RecordHasher{"a"}.text("").text("b").finish());
    CHECK(RecordHasher{"a"}.word(1).finish() != RecordHasher{"b"}.word(1).finish());
    CHECK(allot::hex_of(RecordHasher{"test"}.word(1).finish()) ==
          "7f42c99d9478194a3a56f070c684c07ee315232f5302713797988bfb4ed4d1d2");
}

TEST_CASE("ranks order nodes anew in each epoch and for each life") {
    auto changes = 0;
    for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
        const auto lower = [](std::uint64_t e) {
            return allot::rank_of(allot::NodeId{1}, e, 0) < allot::rank_of(allot::NodeId{2}, e, 0);
        };
        changes += lower(epoch) != lower(epoch + 1) ? 1 : 0;
    }
    CHECK(changes > 20);
    CHECK(allot::rank_of(allot::NodeId{1}, 1, 1) != allot::rank_of(allot::NodeId{1}, 1, 2));
}

TEST_CASE("tokens are ordered by epoch, then by rank, then by number") {
    using T = allot::FencingToken;
    CHECK(T{1, 9, 9} < T{2, 0, 0});
    CHECK(T{1, 1, 9} < T{1, 2, 0});
    CHECK(T{1, 1, 1} < T{1, 1, 2});
}

}  // namespace job_test::names
