#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace job_test::result_set {
using allot::RejectReason;
using allot::ResultSet;

namespace {

const auto plan = plan_of({1, 3, 1, 4, 1}).macro(0);

auto result(std::uint32_t micro, std::uint32_t by, std::uint64_t first = 0) -> allot::ResultRecord {
    return result_of(plan, micro, node(by), hashes_of(plan, first));
}

auto record(std::uint64_t epoch, const std::vector<allot::ResultRecord>& results) -> allot::MacroRecord {
    auto r =
        allot::MacroRecord{plan.job, 0, epoch, node(1).node, allot::JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
    for (const auto& x : results) { r.accepted.push_back({x.digest, x.node, x.wallet}); }
    r.digest = digest_of(r);
    return r;
}

}  // namespace

TEST_CASE("P7: a result counts once, and one that was rejected never again, not even after it was kept and loaded") {
    auto set = ResultSet{};
    const auto r = result(0, 1);
    CHECK(set.add(r) == std::nullopt);
    CHECK(set.add(r) == JobError::result_duplicate);
    CHECK(*set.find(r.digest) == r);
    CHECK(set.kept(commitment_of(r)) == set.find(r.digest));
    auto other = r;
    other.output_uri = "another";
    other.digest = digest_of(plan.job, other);
    CHECK(set.differs(commitment_of(other)));
    CHECK_FALSE(set.differs(commitment_of(r)));
    CHECK(set.reject(rejection_of(r)));
    CHECK_FALSE(set.reject(rejection_of(r)));
    CHECK(set.find(r.digest) == nullptr);
    auto loaded = set;
    CHECK(loaded.add(r) == JobError::result_rejected);
    CHECK(loaded.results().empty());
}

TEST_CASE("a culprit is barred, by node and by wallet; who only tied is not") {
    auto set = ResultSet{};
    set.reject(rejection_of(result(0, 1)));
    set.reject(rejection_of(result(1, 2), RejectReason::tie_break));
    CHECK(set.is_barred(node(1).node, node(9).wallet));
    CHECK(set.is_barred(node(9).node, node(1).wallet));
    CHECK_FALSE(set.is_barred(node(2).node, node(2).wallet));
}

TEST_CASE("of two records the same one counts everywhere, and none that holds a rejected result") {
    const auto all = std::vector{result(0, 1), result(1, 2), result(2, 3), result(3, 4)};
    auto other = all;
    other[3] = result(3, 5);
    auto set = ResultSet{};
    CHECK(set.record() == nullptr);
    CHECK(set.add(record(7, other)));
    CHECK_FALSE(set.add(record(7, other)));
    CHECK(set.add(record(8, all)));
    CHECK(set.record()->epoch == 7);
    set.reject(rejection_of(other[3]));
    CHECK(set.record()->epoch == 8);
    set.reject(rejection_of(all[0]));
    CHECK(set.record() == nullptr);
}

TEST_CASE("P1: whoever heard the same holds the same, in whatever order and how often") {
    auto random = std::mt19937_64{support::seed()};
    auto steps = std::vector<int>{};
    for (auto i = 0; i < 40; ++i) { steps.push_back(i); }
    const auto apply = [](ResultSet& set, int i) {
        const auto r = result(static_cast<std::uint32_t>(i) % 4, static_cast<std::uint32_t>(i) % 7,
                              static_cast<std::uint64_t>(i) % 3);
        if (i % 5 == 0) {
            set.reject(rejection_of(r, i % 2 == 0 ? RejectReason::culprit : RejectReason::tie_break));
        } else if (i % 7 == 0) {
            set.add(record(static_cast<std::uint64_t>(i), {r, r, r, r}));
        } else {
            (void)set.add(r);
        }
    };
    auto first = ResultSet{};
    for (const auto i : steps) { apply(first, i); }
    for (auto turn = 0; turn < 50; ++turn) {
        for (std::size_t i = 0; i < steps.size(); ++i) { std::swap(steps[i], steps[random() % steps.size()]); }
        steps.push_back(steps[random() % steps.size()]);
        auto set = ResultSet{};
        for (const auto i : steps) { apply(set, i); }
        REQUIRE(set == first);
    }
}

TEST_CASE("K4: no author fills the set, and which of its entries stay does not depend on their order") {
    auto random = std::mt19937_64{support::seed()};
    auto flood = std::vector<allot::ResultRecord>{};
    for (std::uint64_t i = 0; i < 100; ++i) { flood.push_back(result(1, 2, 10 + 4 * i)); }
    const auto honest = result(1, 3);
    auto first = std::optional<ResultSet>{};
    for (auto turn = 0; turn < 20; ++turn) {
        auto set = ResultSet{};
        for (std::size_t i = 0; i < flood.size(); ++i) { std::swap(flood[i], flood[random() % flood.size()]); }
        auto refused = 0;
        for (const auto& r : flood) {
            if (r.digest[0] % 8 == 0) { set.reject(rejection_of(r, RejectReason::tie_break)); }
            refused += set.add(commitment_of(r)) == JobError::message_too_large ? 1 : 0;
            if (r.digest[1] % 2 == 0) { (void)set.add(r); }
            set.add(record(r.token.seq + r.digest[0] + 256U * r.digest[1], {r, r, r, r}));
        }
        CHECK(refused > 0);
        CHECK(set.add(honest) == std::nullopt);
        CHECK(set.commitments().size() <= ResultSet::each_max + 1);
        CHECK(set.results().size() <= ResultSet::each_max + 1);
        CHECK(set.records().size() == ResultSet::each_max);
        if (!first) { first = set; }
        REQUIRE(set == *first);
    }
}

TEST_CASE("what a set costs grows with what is told, not with its square") {
    const auto began = std::chrono::steady_clock::now();
    auto set = ResultSet{};
    auto twice = 0;
    for (std::uint32_t i = 0; i < 50'000; ++i) {
        const auto promise = allot::Commitment{hash_of(i), {0, i / 10}, node(i % 2).node, {1, 1, 1 + i % 8}, {}};
        twice += set.differs(promise) ? 1 : 0;
        CHECK_FALSE(set.add(promise));
        if (i % 2 == 0) {
            set.reject({promise.digest, promise.key, promise.node, node(1).wallet, RejectReason::tie_break});
        }
    }
    CHECK(set.commitments().size() == 25'000);
    CHECK(twice == 5'000);                                  // of five numbers of a node for a MicroJob one comes twice
    CHECK(std::chrono::steady_clock::now() - began < 10s);  // 0.3 s; it took minutes
}

}  // namespace job_test::result_set
