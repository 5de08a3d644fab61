#include <string>

#include <allot/laws/monotone.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

namespace {

using allot::Factors;
using allot::harmonic;
using allot::Node;
using allot::Task;
using allot::Weight;

/// A weight made of one function of the factors.
template <auto formula>
struct Formula {
    auto weight(const Node&, const Task&, Factors f) const -> Weight { return formula(f); }
};

auto finding(const auto& policy) -> std::string { return allot::laws::monotone(policy, 3).value_or("nothing"); }
auto says(const std::string& text, const std::string& part) -> bool {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a lawful weight yields no finding") {
    CHECK(finding(Formula<[](Factors f) { return harmonic(f); }>{}) == "nothing");
    CHECK(finding(allot::archetype::Weight{}) == "nothing");
    CHECK(finding(Formula<[](Factors f) {
              f.boost_num *= f.boost_num;
              f.boost_den *= f.boost_den;
              return harmonic(f);
          }>{}) == "nothing");
    CHECK(finding(Formula<[](Factors f) { return Weight::from_ratio(f.qos.raw(), 1U << 30U); }>{}) == "nothing");
    CHECK(finding(Formula<[](Factors) { return Weight::zero(); }>{}) == "nothing");
}

TEST_CASE("a weight that falls is found, with the factor that rose") {
    CHECK(says(finding(Formula<[](Factors f) { return Weight::from_ratio((1U << 30U) - f.qos.raw(), 1U << 30U); }>{}),
               "falls when the QoS score rises"));
    CHECK(says(finding(Formula<[](Factors f) { return Weight::from_ratio(f.boost_den, f.boost_num); }>{}),
               "falls when the boost rises"));
    CHECK(says(finding(Formula<[](Factors f) { return Weight::from_ratio(1, 1 + f.stake_root.packed() % 1'000); }>{}),
               "falls when the stake rises"));
}

TEST_CASE("a weight that falls a little, and seldom, is found") {
    CHECK(says(finding(Formula<[](Factors f) {
                   const auto raw = harmonic(f).raw();
                   return Weight::from_raw(f.qos.raw() % 2 == 0 ? raw : raw - raw / 1'000'000);
               }>{}),
               "falls"));
}

TEST_CASE("a weight that grows faster than the staking score is found") {
    const auto text = finding(Formula<[](Factors f) {
        const auto whole = harmonic(f);  // squared: twice the score is four times the weight
        return Weight::from_raw((whole.raw() >> 46) * (whole.raw() >> 46));
    }>{});
    CHECK(says(text, "faster than the staking score"));
    CHECK(says(text, "stake root "));
}

TEST_CASE("a weight that jumps with the largest stake outgrows its bound") {
    CHECK(says(finding(Formula<[](Factors f) {
                   return f.stake_root_max.is_zero() || f.stake_root_max.mantissa() == 1U << 31U
                              ? Weight::from_ratio(1, 1'000'000)
                              : Weight::from_ratio(1, 1);
               }>{}),
               "does not cover"));
}

TEST_CASE("a weight that rises with the largest stake outgrows the bound made before") {
    CHECK(says(finding(Formula<[](Factors f) {
                   const auto exponent = f.stake_root_max.exponent() + 40;
                   return f.stake_root_max.is_zero() ? Weight::zero()
                                                     : Weight::from_ratio(static_cast<std::uint64_t>(exponent), 100);
               }>{}),
               "does not cover"));
}

TEST_CASE("a weight that looks at the task is found") {
    struct Nosy {
        auto weight(const Node&, const Task& task, Factors f) const -> Weight {
            return task.attempt == 0 ? harmonic(f) : Weight::zero();
        }
    };
    CHECK(says(finding(Nosy{}), "depends on the task"));
}

TEST_CASE("a weight with a memory is found") {
    struct Moody {
        mutable int calls = 0;
        auto weight(const Node&, const Task&, Factors f) const -> Weight {
            return ++calls % 50 == 0 ? Weight::from_ratio(7, 1) : harmonic(f);
        }
    };
    CHECK(says(finding(Moody{}), "weight"));
}

TEST_CASE("equal seeds find equal breaches") {
    const auto wrong = Formula<[](Factors f) { return Weight::from_ratio(f.boost_den, f.boost_num); }>{};
    CHECK(allot::laws::monotone(wrong, 5) == allot::laws::monotone(wrong, 5));
    CHECK(allot::laws::monotone(wrong, 5) != allot::laws::monotone(wrong, 6));
}
