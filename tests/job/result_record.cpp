#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::result_record {

namespace {

const auto plan = plan_of({2, 3, 1, 4, 1}).macro(1);

auto good() -> allot::ResultRecord { return result_of(plan, 2, node(1), hashes_of(plan, 0)); }

/// The same with a change, under the digest that belongs to it.
template <class F>
auto changed(F&& change) -> allot::ResultRecord {
    auto result = good();
    change(result);
    result.digest = digest_of(plan.job, result);
    return result;
}

}  // namespace

TEST_CASE("a result of the plan is fine, and two blocks may well have the same content") {
    CHECK(fault_of(plan, good()) == std::nullopt);
    CHECK(fault_of(plan, changed([](auto& r) { r.block_hashes[1] = r.block_hashes[0]; })) == std::nullopt);
}

TEST_CASE("each wrong field of a result has its own error") {
    using R = allot::ResultRecord;
    CHECK(fault_of(plan, changed([](R& r) { r.key.macro = 0; })) == JobError::macro_unknown);
    CHECK(fault_of(plan, changed([](R& r) { r.key.micro = 4; })) == JobError::micro_unknown);
    CHECK(fault_of(plan, changed([](R& r) { r.micro = hash_of(1); })) == JobError::result_of_another_micro);
    CHECK(fault_of(plan, changed([](R& r) { r.node = allot::NodeId{""}; })) == JobError::node_invalid);
    CHECK(fault_of(plan, changed([](R& r) { r.wallet = allot::WalletId{""}; })) == JobError::wallet_invalid);
    CHECK(fault_of(plan, changed([](R& r) { r.block_hashes.pop_back(); })) == JobError::result_length_wrong);
    CHECK(fault_of(plan, changed([](R& r) { r.block_hashes.push_back(hash_of(9)); })) == JobError::result_length_wrong);
    CHECK(fault_of(plan, changed([](R& r) { r.block_hashes[3] = {}; })) == JobError::result_hash_missing);
    CHECK(fault_of(plan, changed([](R& r) { r.output_uri = std::string(5'000, 'x'); })) == JobError::message_too_large);
}

TEST_CASE("a result under another digest than its own is refused") {
    auto result = good();
    result.digest = hash_of(1);
    CHECK(fault_of(plan, result) == JobError::result_digest_wrong);
    result.digest = {};
    CHECK(fault_of(plan, result) == JobError::result_digest_wrong);
}

TEST_CASE("the digest covers every field") {
    using R = allot::ResultRecord;
    const auto differs = [](auto change) {
        auto result = good();
        change(result);
        return digest_of(plan.job, result) != good().digest && (fault_of(plan, result).has_value());
    };
    CHECK(differs([](R& r) { r.key.micro = 1; }));
    CHECK(differs([](R& r) { r.micro[0] ^= 1U; }));
    CHECK(differs([](R& r) { r.node = allot::NodeId{"other"}; }));
    CHECK(differs([](R& r) { r.wallet = allot::WalletId{"other"}; }));
    CHECK(differs([](R& r) { r.block_hashes[0][31] ^= 1U; }));
    CHECK(differs([](R& r) { std::swap(r.block_hashes[0], r.block_hashes[1]); }));
    CHECK(differs([](R& r) { r.output_uri = "elsewhere"; }));
    CHECK(differs([](R& r) { r.token.seq = 2; }));
    CHECK(differs([](R& r) { r.token.rank = 2; }));
    CHECK(differs([](R& r) { r.token.epoch = 2; }));
    CHECK(digest_of(allot::JobId{"another"}, good()) != good().digest);
}

}  // namespace job_test::result_record
