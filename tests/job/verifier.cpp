#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
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
    [[nodiscard]] auto pointers() const -> std::vector<const allot::ResultRecord*> {
        auto all = std::vector<const allot::ResultRecord*>{};
        for (const auto& result : results) { all.push_back(&result); }
        return all;
    }
    [[nodiscard]] auto verdict(const allot::Evidence& evidence = {}) const -> allot::MacroVerdict {
        return *allot::judge(plan, secret, pointers(), evidence);
    }
    /// The verdict once the referee has computed what is disputed.
    [[nodiscard]] auto settled() const -> allot::MacroVerdict {
        auto evidence = allot::Evidence{};
        for (const auto block : verdict().disputed) { evidence.recomputed[block] = hash_of(block); }
        return verdict(evidence);
    }
    [[nodiscard]] auto found() const -> std::vector<std::uint32_t> { return find_verifiers(plan, pointers()); }
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
        CHECK(c.verdict().verifier_hash == verifier_hash_of(c.plan, c.found(), c.pointers()));
        CHECK(c.verdict().wallets.size() == 11);
        CHECK(c.found() == std::vector{c.verifier()});
    }
}

TEST_CASE("P9: one cheater of eleven is named by a recomputed block, whichever it is, the verifier too") {
    for (std::uint32_t liar = 0; liar < 11; ++liar) {
        auto c = Case{seeds_slicing};
        c.lie(liar);
        CHECK(c.verdict().rejected.empty());  // until the referee has spoken, nobody is named
        CHECK(c.verdict().disputed.size() == (liar == c.verifier() ? 10 : 1));
        CHECK_FALSE(c.verdict().verified());
        const auto verdict = c.settled();
        REQUIRE(verdict.rejected.size() == 1);
        CHECK(verdict.rejected[0].key.micro == liar);
        CHECK(verdict.rejected[0].node == node(liar).node);
        CHECK(verdict.rejected[0].reason == RejectReason::culprit);
        CHECK(verdict.disputed.empty());
        CHECK(c.found().empty());
    }
}

TEST_CASE("K3: however many collude, a recomputed block names the liars that were checked, and no honest one") {
    for (std::uint32_t liars = 1; liars <= 10; ++liars) {
        for (const auto verifier_lies : {false, true}) {
            auto c = Case{seeds_slicing};
            auto lied = std::set<std::uint32_t>{};
            for (std::uint32_t n = 0; n < liars; ++n) { lied.insert(c.worker(n)); }
            if (verifier_lies) { lied.insert(c.verifier()); }
            // All liars tell the same.
            for (const auto micro : lied) {
                for (auto& hash : c.results[micro].block_hashes) {
                    hash = allot::RecordHasher{"our lie"}.hash(hash).finish();
                }
                c.results[micro].digest = digest_of(c.plan.job, c.results[micro]);
            }
            const auto verdict = c.settled();
            auto named = std::set<std::uint32_t>{};
            for (const auto& rejection : verdict.rejected) {
                CHECK(rejection.reason == RejectReason::culprit);
                CHECK(lied.contains(rejection.key.micro));
                named.insert(rejection.key.micro);
            }
            // If the verifier lies with them, only a sampled block finds them; with ten of ten nobody is left to
            // differ.
            CHECK(named.size() == (!verifier_lies ? liars : liars < 10 ? 1U : 0U));
        }
    }
}

TEST_CASE("what the referee samples names colluding liars whom no verifier accuses") {
    auto c = Case{seeds_slicing};
    for (std::uint32_t k = 0; k < c.plan.items(); ++k) {
        for (auto& hash : c.results[k].block_hashes) { hash = allot::RecordHasher{"our lie"}.hash(hash).finish(); }
        c.results[k].digest = digest_of(c.plan.job, c.results[k]);
    }
    CHECK(c.verdict().verified());  // all collude, and nothing was recomputed
    auto evidence = allot::Evidence{};
    evidence.recomputed[c.secret.blocks[c.worker(4)][2]] = hash_of(c.secret.blocks[c.worker(4)][2]);
    const auto verdict = c.verdict(evidence);
    REQUIRE_FALSE(verdict.rejected.empty());
    CHECK(verdict.rejected.size() <= 2);  // the verifier, too, if it repeated that block
    for (const auto& rejection : verdict.rejected) {
        CHECK((rejection.key.micro == c.worker(4) || rejection.key.micro == c.verifier()));
    }
}

TEST_CASE("if the referee is away wallets vote: the losers lose their part, and nobody is named") {
    auto away = allot::Evidence{};
    away.referee_away = true;
    for (std::uint32_t liars = 1; liars <= 10; ++liars) {
        auto c = Case{seeds_slicing};
        for (std::uint32_t n = 0; n < liars; ++n) { c.lie(c.worker(n)); }
        const auto rejected = c.verdict(away).rejected;
        if (liars < 5) {
            CHECK(rejected.size() == liars);
            CHECK(rejected[0].reason == RejectReason::outvoted);
        } else {
            REQUIRE(rejected.size() == 1);
            CHECK(rejected[0].key.micro == c.verifier());
            CHECK(rejected[0].reason == (liars == 5 ? RejectReason::tie_break : RejectReason::outvoted));
        }
        // Once picks were repeated often enough, what is disputed ends unverified.
        auto last = away;
        last.may_repeat = false;
        CHECK(c.verdict(last).rejected.empty());
        CHECK(c.verdict(last).unverified.size() == (liars < 5 ? liars : liars + 1));
        CHECK_FALSE(c.verdict(last).verified());
    }
}

TEST_CASE("a single worker against its verifier: without the referee nobody can tell") {
    auto c = Case{{1, 1, 1, 4, 1}};
    c.lie(c.worker(0));
    auto away = allot::Evidence{};
    away.referee_away = true;
    REQUIRE(c.verdict(away).rejected.size() == 1);
    CHECK(c.verdict(away).rejected[0].reason == RejectReason::tie_break);
    CHECK(c.verdict(away).rejected[0].key.micro == c.verifier());
    REQUIRE(c.settled().rejected.size() == 1);
    CHECK(c.settled().rejected[0].key.micro == c.worker(0));
}

TEST_CASE("wallets vote, not MicroJobs: three MicroJobs of one liar are one voice") {
    auto c = Case{{1, 4, 1, 8, 1}};
    for (const auto n : {0U, 1U, 2U}) {
        c.results[c.worker(n)].wallet = allot::WalletId{"the same"};
        c.lie(c.worker(n));
    }
    auto away = allot::Evidence{};
    away.referee_away = true;
    // Two wallets, one of which differs: half.
    REQUIRE(c.verdict(away).rejected.size() == 1);
    CHECK(c.verdict(away).rejected[0].reason == RejectReason::tie_break);
    CHECK(c.verdict().disputed.size() == 1);  // one block for each wallet that differs
}

TEST_CASE("K5: nobody verifies its own work: that part is unverified until a block of it is recomputed") {
    auto c = Case{seeds_slicing};
    const auto own = c.worker(3);
    c.results[own].wallet = c.results[c.verifier()].wallet;
    c.lie(own);
    const auto verdict = c.verdict();
    CHECK(verdict.rejected.empty());
    CHECK(verdict.unverified == std::vector{own});
    CHECK_FALSE(verdict.verified());
    auto evidence = allot::Evidence{};
    evidence.recomputed[c.secret.blocks[own][0]] = hash_of(c.secret.blocks[own][0]);
    REQUIRE(c.verdict(evidence).rejected.size() == 1);
    CHECK(c.verdict(evidence).rejected[0].key.micro == own);
    c.results[own].block_hashes = honest(c.secret, own);
    CHECK(c.verdict(evidence).verified());
    // One wallet that did everything verified nothing.
    for (auto& result : c.results) { result.wallet = allot::WalletId{"the same"}; }
    CHECK(c.verdict().unverified.size() == 11);
}

TEST_CASE("what was committed after others disclosed may be a copy, and only a recomputed block verifies it") {
    auto c = Case{seeds_slicing};
    const auto redone = c.worker(6);
    c.results[redone].token.seq = 20;
    auto evidence = allot::Evidence{};
    evidence.disclosed = 11;
    CHECK(c.verdict(evidence).unverified == std::vector{redone});
    evidence.recomputed[c.secret.blocks[redone][1]] = hash_of(c.secret.blocks[redone][1]);
    CHECK(c.verdict(evidence).verified());
    // A verifier that could have copied verifies nobody.
    c.results[redone].token.seq = 1;
    c.results[c.verifier()].token.seq = 20;
    evidence.recomputed.clear();
    CHECK(c.verdict(evidence).unverified.size() == 11);
}

TEST_CASE("K3: workers and verifiers who collude pass with the probability that the page tells") {
    constexpr auto runs = 20'000U;
    for (const auto& [percent, samples] : {std::pair{10U, 4U}, std::pair{20U, 8U}, std::pair{50U, 3U}}) {
        auto passed = std::uint64_t{0};
        const auto spec = [&](std::uint64_t seed) { return spec_of(seeds_slicing, seed); };
        const auto wrong = 100U * percent / 100U;  // of the MacroJob's 100 blocks, whichever those are
        for (std::uint64_t run = 0; run < runs; ++run) {
            auto seen = false;
            for (const auto block : allot::SecretPlan{spec(run)}.samples(0, samples)) { seen = seen || block < wrong; }
            passed += seen ? 0 : 1;
        }
        auto exact = 1.0;
        for (auto i = 0U; i < samples; ++i) { exact *= double(100 - wrong - i) / double(100 - i); }
        const auto error = std::sqrt(exact * (1 - exact) / runs);
        INFO(percent << " % wrong, " << samples << " samples: " << double(passed) / runs << ", computed " << exact);
        CHECK(std::abs(double(passed) / runs - exact) < 3 * error);
        CHECK(double(passed) / runs < std::pow(1 - double(percent) / 100, samples) + 3 * error);
    }
}

TEST_CASE("a list of the wrong length is its author's fault, and a missing one is no verdict") {
    auto c = Case{seeds_slicing};
    c.results[c.worker(2)].block_hashes.pop_back();
    REQUIRE(c.settled().rejected.size() == 1);
    CHECK(c.settled().rejected[0].key.micro == c.worker(2));
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
    CHECK(allot::judge(c.plan, c.secret, pointers, {}, close)->verified());
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
    REQUIRE(c.settled().rejected.size() == 1);
    CHECK(c.settled().rejected[0].key.micro == liar);
}

TEST_CASE("a recomputed block is signed with the job, the number, both hashes and its author") {
    const auto job = allot::JobId{"job"};
    const auto block = allot::RecomputedBlock{5, hash_of(1), hash_of(2), node(1).node, {}};
    const auto changes = [&](auto change) {
        auto other = block;
        change(other);
        return digest_of(job, other) != digest_of(job, block);
    };
    CHECK(digest_of(allot::JobId{"another"}, block) != digest_of(job, block));
    CHECK(changes([](auto& b) { ++b.block; }));
    CHECK(changes([](auto& b) { b.input = hash_of(3); }));
    CHECK(changes([](auto& b) { b.output = hash_of(3); }));
    CHECK(changes([](auto& b) { b.author = node(2).node; }));
    CHECK_FALSE(changes([](auto& b) { b.signature = {1}; }));
}

}  // namespace job_test::verifier
