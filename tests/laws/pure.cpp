#include <cstdint>
#include <string>

#include <allot/eligibility/collateral.hpp>
#include <allot/laws/pure.hpp>
#include <allot/policy/archetype.hpp>
#include <allot/terms/by_evidence.hpp>
#include <allot/terms/priced.hpp>

#include "support/catch.hpp"

namespace {

namespace archetype = allot::archetype;
namespace laws = allot::laws;

auto says(const laws::Finding& finding, const std::string& part) -> bool {
    UNSCOPED_INFO(finding.value_or("nothing"));
    return finding.value_or("nothing").find(part) != std::string::npos;
}

struct Alternates {
    mutable std::uint32_t calls = 0;
    auto turn() const -> bool { return ++calls % 3 == 0; }
};
struct MoodyFit : archetype::Eligibility, Alternates {
    auto fits(const allot::NodeClass&, const allot::Requirement&) const -> allot::Reason {
        return turn() ? allot::Reason::gpu_differs : allot::Reason::none;
    }
};
struct FitsOtherCards : archetype::Eligibility {
    static constexpr bool listed_cards_only = true;
    auto fits(const allot::NodeClass&, const allot::Requirement&) const -> allot::Reason { return allot::Reason::none; }
};
struct MoodyAdmission : archetype::Eligibility, Alternates {
    auto admits(const allot::Node&, const allot::Task&, const allot::Situation&) const -> allot::Reason {
        return turn() ? allot::Reason::avoided : allot::Reason::none;
    }
};
struct AdmitsTooPoor : archetype::Eligibility {
    auto stake_min(allot::Amount fee) const -> allot::Amount { return fee; }
};
struct MoodyPlacement : archetype::Placement, Alternates {
    auto wanted(const allot::ModelDemand&) const -> allot::Wanted { return {turn() ? 1U : 0U}; }
};
struct MoodyWeight : archetype::Weight, Alternates {
    auto weight(const allot::Node&, const allot::Task&, allot::Factors) const -> allot::Weight {
        return allot::Weight::from_ratio(turn() ? 1 : 2, 3);
    }
};
/// Gets tired: what it weighs depends on how often it was asked, over all its copies.
struct TiredWeight : archetype::Weight {
    auto weight(const allot::Node&, const allot::Task&, allot::Factors f) const -> allot::Weight {
        static auto calls = std::uint32_t{0};
        return allot::Weight::from_ratio(++calls > 35'000 ? 1 : 2, f.boost_den);
    }
};
/// Remembers whom it weighed before, so that the next call for another node differs.
struct JealousWeight : archetype::Weight {
    mutable allot::NodeId last = allot::NodeId::null();
    auto weight(const allot::Node& node, const allot::Task&, allot::Factors) const -> allot::Weight {
        const auto again = last == node.id || last.is_null() || last < node.id;
        last = node.id;
        return allot::Weight::from_ratio(again ? 2 : 1, 3);
    }
};
/// As the first extension point says: the node and the task decide, and nothing else.
struct OwnWeight : archetype::Weight {
    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const -> allot::Weight {
        return allot::Weight::from_ratio(f.qos.raw(), 1 + node.slot + task.attempt);
    }
};
struct AsksAtOnce : archetype::Placement {
    auto asked_for() const -> allot::Duration { return {}; }
};
struct MoodyValue : archetype::Valuation, Alternates {
    auto value(const allot::Task&, const allot::Requirement&) const -> allot::Value { return {turn() ? 1U : 0U}; }
};
struct NoTime : archetype::Terms {
    auto length(const allot::Node&, const allot::Task& task) const -> allot::Duration {
        return task.duration_estimate / 2;
    }
    auto length_max(const allot::Node&, const allot::Task& task) const -> allot::Duration {
        return task.duration_estimate;
    }
};
struct NoPatience : archetype::Terms {
    auto patience(const allot::Task&) const -> allot::Duration { return {}; }
};
struct TooLong : archetype::Terms {
    auto length(const allot::Node&, const allot::Task&) const -> allot::Duration { return std::chrono::seconds{2}; }
};
struct MoodyTerms : archetype::Terms, Alternates {
    auto after(const allot::Task&, allot::OutcomeKind) const -> allot::Next {
        return turn() ? allot::Next::retry : allot::Next::end;
    }
};
/// Draws tasks that are submitted later than the entropy is known.
struct DrawsAhead : archetype::Terms {
    [[nodiscard]] static auto draws_in_rounds() -> bool { return true; }
    [[nodiscard]] static auto drawn_until(const allot::Moment& moment) -> std::optional<allot::TimePoint> {
        return moment.time + allot::Duration{1};
    }
};
struct MoodyRounds : archetype::Terms, Alternates {
    [[nodiscard]] static auto draws_in_rounds() -> bool { return true; }
    [[nodiscard]] auto drawn_until(const allot::Moment& moment) const -> std::optional<allot::TimePoint> {
        return turn() ? std::optional{moment.time - allot::Duration{1}} : std::nullopt;
    }
};

struct MoodyFeeMax : archetype::Eligibility, Alternates {
    auto fee_max() const -> allot::Amount { return turn() ? 1 : 2; }
};
struct MostFee : archetype::Eligibility {
    allot::Amount most;
    explicit MostFee(allot::Amount fee) : most{fee} {}
    auto fee_max() const -> allot::Amount { return most; }
};
struct MoodyStakeMin : archetype::Eligibility, Alternates {
    auto stake_min(allot::Amount) const -> allot::Amount { return turn() ? 1 : 0; }
};
struct MoodyHolding : archetype::Placement, Alternates {
    auto held_for() const -> allot::Duration { return allot::Duration{turn() ? 1 : 2}; }
};
struct HoldsForLess : archetype::Placement {
    auto held_for() const -> allot::Duration { return allot::Duration{-1}; }
};
struct MoodyBlame : archetype::Terms, Alternates {
    auto blames(const allot::Task&, allot::OutcomeKind) const -> bool { return turn(); }
};
struct MoodyEvidence : archetype::Terms, Alternates {
    auto waits_for_evidence(allot::OutcomeKind) const -> bool { return turn(); }
};
struct MoodyPay : archetype::Terms, Alternates {
    auto paid(const allot::Task&) const -> allot::Amount { return turn() ? 1 : 0; }
};
struct PaysTooMuch : archetype::Terms {
    auto paid(const allot::Task& task) const -> allot::Amount { return {task.fee.units + allot::u128{1}}; }
};
struct MoodyForfeit : archetype::Terms, Alternates {
    auto forfeit(const allot::Task&, allot::Ending, allot::Duration, allot::Ratio) const -> allot::Amount {
        return turn() ? 1 : 0;
    }
};
/// More than the fee in a full queue alone.
struct ForfeitsTooMuch : archetype::Terms {
    auto forfeit(const allot::Task& task, allot::Ending, allot::Duration, allot::Ratio crowding) const
        -> allot::Amount {
        return crowding.num == crowding.den ? allot::Amount{task.fee.units + allot::u128{1}} : task.fee;
    }
};
struct MoodyFee : archetype::Terms, Alternates {
    auto fee_min(allot::Duration) const -> allot::Amount { return turn() ? 1 : 2; }
};
/// Its price of a long reservation is no fee that a command admits.
struct Unaffordable : archetype::Terms {
    auto fee_min(allot::Duration reserved) const -> allot::Amount {
        return {allot::u128{static_cast<std::uint64_t>(reserved.count())} << 60};
    }
};

}  // namespace

TEST_CASE("what is pure yields no finding") {
    CHECK(!laws::pure(archetype::Eligibility{}));
    CHECK(!laws::pure(archetype::Placement{}));
    CHECK(!laws::rational(archetype::Valuation{}));
    CHECK(!laws::positive(archetype::Terms{}));
}

TEST_CASE("a policy that answers differently the next time is found") {
    CHECK(says(laws::pure(MoodyFit{}), "fits is not pure"));
    CHECK(says(laws::pure(MoodyAdmission{}), "admits is not pure"));
    CHECK(says(laws::pure(AdmitsTooPoor{}), "admitted with less stake than stake_min asks"));
    CHECK_FALSE(laws::pure(allot::Collateral{{.stake_per_fee = 10}}));
    CHECK(says(laws::pure(MoodyPlacement{}), "wanted is not pure"));
    CHECK(says(laws::rational(MoodyValue{}), "value is not pure"));
    CHECK(says(laws::positive(MoodyTerms{}), "terms are not pure"));
}

TEST_CASE("a policy that says it fits listed cards only, and fits others, is found") {
    CHECK(says(laws::pure(FitsOtherCards{}), "listed_cards_only is set"));
}

TEST_CASE("a weight that depends on more than its arguments is found, monotone or not", "[N2]") {
    CHECK(says(laws::pure(MoodyWeight{}), "the weight is not pure"));
    CHECK(says(laws::pure(TiredWeight{}), "after others"));
    CHECK(says(laws::pure(JealousWeight{}), "the weight is not pure"));
    CHECK(!laws::pure(OwnWeight{}));
    CHECK(!laws::pure(archetype::Weight{}));
}

TEST_CASE("a request that lapses at once is found") { CHECK(says(laws::pure(AsksAtOnce{}), "lapses as soon")); }

TEST_CASE("terms without time are found") {
    CHECK(says(laws::positive(NoTime{}), "a lease of 0 ms"));
    CHECK(says(laws::positive(NoPatience{}), "a wait of 0 ms"));
    CHECK(says(laws::positive(TooLong{}), "may last 1000 ms"));
}

TEST_CASE("functions that a policy may have are pure, too") {
    CHECK(says(laws::pure(MoodyFeeMax{}), "fee_max is not pure"));
    CHECK(says(laws::pure(MoodyStakeMin{}), "stake_min is not pure"));
    CHECK(says(laws::pure(MoodyHolding{}), "held_for is not pure"));
    CHECK(says(laws::pure(HoldsForLess{}), "less than no time"));
    CHECK(says(laws::positive(MoodyBlame{}), "equal arguments of blames"));
    CHECK(says(laws::positive(MoodyEvidence{}), "equal arguments of waits_for_evidence"));
    CHECK(says(laws::positive(MoodyPay{}), "equal arguments of paid"));
    CHECK(says(laws::positive(MoodyForfeit{}), "equal arguments of forfeit"));
    CHECK(says(laws::positive(MoodyFee{}), "equal arguments of fee_min"));
}

TEST_CASE("terms that take more than the fee are found, and those for which no fee is enough") {
    CHECK(says(laws::positive(PaysTooMuch{}), "more than its fee"));
    CHECK(says(laws::positive(ForfeitsTooMuch{}), "more than its fee"));
    CHECK(says(laws::positive(Unaffordable{}), "no fee is enough"));
    CHECK_FALSE(laws::positive(allot::Priced{allot::ByEvidence<>{}, allot::Price{{.fee_per_second_min = 3}}}));
}

TEST_CASE("a least fee above the greatest one is found") {
    const auto priced = allot::Priced{allot::FixedTerms{}, allot::Price{{.fee_per_second_min = 3}}};
    CHECK_FALSE(laws::payable(priced, MostFee{1'000'000}));
    CHECK(says(laws::payable(priced, MostFee{2}), "no task can pay"));
}

TEST_CASE("rounds that draw what comes later are found, and moody ones") {
    CHECK(says(laws::positive(DrawsAhead{}), "draws a task submitted at"));
    CHECK(says(laws::positive(MoodyRounds{}), "equal moments gave different times"));
}
