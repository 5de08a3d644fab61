#include <cstddef>
#include <cstdint>

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

TEST_CASE("the id of a poster's job tells its number, and no other poster may use it") {
    const auto poster = node(1).node;
    const auto null = allot::NodeId::null();
    for (const auto number :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x0102030405060708}, ~std::uint64_t{0}}) {
        const auto job = allot::job_id_of(poster, number);
        CHECK(allot::job_number_of(job) == number);
        CHECK(allot::may_post(poster, job));
        CHECK_FALSE(allot::may_post(node(2).node, job));
        CHECK_FALSE(allot::may_post(null, job));
    }
    CHECK(allot::job_id_of(poster, 1) != allot::job_id_of(poster, 2));
    CHECK(allot::job_id_of(poster, 1).hex() == "ff4a4f42"
                                               "634aa721744f521e056ea2c508112a997c0ac0fd"
                                               "0000000000000001");
    // Each byte counts: of the mark, of the poster's hash, and of the number.
    for (std::size_t i = 0; i < allot::JobId::size; ++i) {
        auto bytes = allot::job_id_of(poster, 1).bytes();
        bytes[i] ^= 1U;
        INFO(i);
        CHECK(allot::may_post(poster, allot::JobId{bytes}) == (i >= 24));
        CHECK(allot::may_post(null, allot::JobId{bytes}) == (i < 4));
    }
    for (const auto& other : {allot::JobId{"job"}, allot::JobId{7}}) {
        CHECK_FALSE(allot::job_number_of(other));
        CHECK_FALSE(allot::may_post(poster, other));
        CHECK(allot::may_post(null, other));
    }
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
