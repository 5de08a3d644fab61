#include <cstdint>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::verifier {
using allot::RejectReason;

namespace {

/// A MacroJob with all its results, of which some can be falsified.
struct Case {
    explicit Case(const allot::Slicing& slicing, std::uint64_t seed = 7)
        : plan{plan_of(slicing, seed).macro(0)}, secret{allot::SecretPlan{spec_of(slicing, seed)}.macro(0)} {
        for (std::uint32_t k = 0; k < plan.items(); ++k) {
            results.push_back(result_of(plan, k, node(k), honest(secret, k)));
        }
    }
    auto lie(std::uint32_t micro) -> void {
        auto& hashes = results[micro].block_hashes;
        for (auto& hash : hashes) { hash = allot::RecordHasher{"lie"}.hash(hash).word(micro).finish(); }
        results[micro].digest = digest_of(plan.job, results[micro]);
    }
    [[nodiscard]] auto verdict() const -> allot::MacroVerdict {
        auto pointers = std::vector<const allot::ResultRecord*>{};
        for (const auto& result : results) { pointers.push_back(&result); }
        return *allot::judge(plan, secret, pointers);
    }
    [[nodiscard]] auto found() const -> std::vector<std::uint32_t> {
        auto lists = std::vector<const std::vector<allot::Hash256>*>{};
        for (const auto& result : results) { lists.push_back(&result.block_hashes); }
        return find_verifiers(plan, lists);
    }
    [[nodiscard]] auto verifier() const -> std::uint32_t { return secret.verifiers[0]; }
    [[nodiscard]] auto worker(std::uint32_t n) const -> std::uint32_t { return n < verifier() ? n : n + 1; }

    allot::MacroPlan plan;
    allot::MacroSecret secret;
    std::vector<allot::ResultRecord> results{};
};

const auto seeds_slicing = allot::Slicing{1, 10, 1, 10, 1};

}  // namespace

TEST_CASE("P9: honest runs are verified, name nobody, and the hashes alone show who verified") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto c = Case{seeds_slicing, seed};
        CHECK(c.verdict().verified());
        CHECK_FALSE(c.verdict().self_verified);
        CHECK(c.verdict().wallets.size() == 11);
        CHECK(c.found() == std::vector{c.verifier()});
    }
}

TEST_CASE("P9: one cheater of eleven is named, whichever it is, the verifier too") {
    for (std::uint32_t liar = 0; liar < 11; ++liar) {
        auto c = Case{seeds_slicing};
        c.lie(liar);
        const auto verdict = c.verdict();
        REQUIRE(verdict.rejected.size() == 1);
        CHECK(verdict.rejected[0].key.micro == liar);
        CHECK(verdict.rejected[0].node == node(liar).node);
        CHECK(verdict.rejected[0].reason == RejectReason::culprit);
        CHECK(c.found().empty());
    }
}

TEST_CASE(
    "fewer than half of the wallets that differ are the culprits, more than half blame the verifier, half nobody") {
    for (std::uint32_t liars = 1; liars <= 10; ++liars) {
        auto c = Case{seeds_slicing};
        for (std::uint32_t n = 0; n < liars; ++n) { c.lie(c.worker(n)); }
        const auto rejected = c.verdict().rejected;
        if (liars < 5) {
            CHECK(rejected.size() == liars);
        } else {
            REQUIRE(rejected.size() == 1);
            CHECK(rejected[0].key.micro == c.verifier());
            CHECK(rejected[0].reason == (liars == 5 ? RejectReason::tie_break : RejectReason::culprit));
        }
    }
}

TEST_CASE("a single worker against its verifier: nobody can tell") {
    auto c = Case{{1, 1, 1, 4, 1}};
    c.lie(c.worker(0));
    REQUIRE(c.verdict().rejected.size() == 1);
    CHECK(c.verdict().rejected[0].reason == RejectReason::tie_break);
    CHECK(c.verdict().rejected[0].key.micro == c.verifier());
}

TEST_CASE("wallets vote, not MicroJobs: three MicroJobs of one liar are one voice") {
    auto c = Case{{1, 4, 1, 8, 1}};
    for (const auto n : {0U, 1U, 2U}) {
        c.results[c.worker(n)].wallet = allot::WalletId{"the same"};
        c.lie(c.worker(n));
    }
    // Two wallets, one of which differs: half.
    REQUIRE(c.verdict().rejected.size() == 1);
    CHECK(c.verdict().rejected[0].reason == RejectReason::tie_break);
}

TEST_CASE("who verifies its own work proves nothing, and the verdict says so") {
    auto c = Case{seeds_slicing};
    c.results[c.worker(3)].wallet = c.results[c.verifier()].wallet;
    c.lie(c.worker(3));
    CHECK(c.verdict().verified());
    CHECK(c.verdict().self_verified);
}

TEST_CASE("a list of the wrong length is its author's fault, and a missing one is no verdict") {
    auto c = Case{seeds_slicing};
    c.results[c.worker(2)].block_hashes.pop_back();
    REQUIRE(c.verdict().rejected.size() == 1);
    CHECK(c.verdict().rejected[0].key.micro == c.worker(2));
    auto pointers = std::vector<const allot::ResultRecord*>(11, &c.results[0]);
    pointers[4] = nullptr;
    CHECK(allot::judge(c.plan, c.secret, pointers).error() == JobError::not_covered);
    CHECK(allot::judge(c.plan, {}, pointers).error() == JobError::macro_unknown);
    pointers.pop_back();
    CHECK(allot::judge(c.plan, c.secret, pointers).error() == JobError::macro_unknown);
}

TEST_CASE("outputs may differ as much as the embedder says") {
    auto c = Case{seeds_slicing};
    for (auto& hash : c.results[c.worker(1)].block_hashes) { hash[31] ^= 1U; }
    auto pointers = std::vector<const allot::ResultRecord*>{};
    for (const auto& result : c.results) { pointers.push_back(&result); }
    CHECK_FALSE(allot::judge(c.plan, c.secret, pointers)->verified());
    const auto close = [](const allot::Hash256& a, const allot::Hash256& b) {
        return std::equal(a.begin(), a.end() - 1, b.begin());
    };
    CHECK(allot::judge(c.plan, c.secret, pointers, close)->verified());
}

TEST_CASE("hashes alone do not decide when another list copies from all, or when blocks are equal") {
    auto copy = Case{seeds_slicing};
    const auto thief = copy.worker(0);
    for (std::uint32_t n = 0; n < 10; ++n) {
        copy.results[thief].block_hashes[n] = copy.results[copy.worker(n == 0 ? 1 : n)].block_hashes[0];
    }
    CHECK(copy.found().empty());
    auto equal = Case{seeds_slicing};
    equal.results[equal.worker(0)].block_hashes[0] = equal.results[equal.worker(1)].block_hashes[0];
    CHECK(equal.found().empty());
}

TEST_CASE("several verifiers each find their liar") {
    auto c = Case{{1, 6, 2, 12, 1}};
    CHECK(c.verdict().verified());
    auto liar = std::uint32_t{0};
    while (liar == c.secret.verifiers[0] || liar == c.secret.verifiers[1]) { ++liar; }
    c.lie(liar);
    REQUIRE(c.verdict().rejected.size() == 1);
    CHECK(c.verdict().rejected[0].key.micro == liar);
}

}  // namespace job_test::verifier
