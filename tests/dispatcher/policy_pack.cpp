#include <concepts>
#include <cstdint>
#include <tuple>

#include <allot/dispatcher/policy_pack.hpp>

#include "support/catch.hpp"

namespace {

namespace role = allot::role;
using allot::detail::PolicyPack;

template <class Role, int number = 0>
struct Policy {
    using role = Role;
    int value = number;
};
using Weight = Policy<role::weight, 1>;
using Pool = Policy<role::pool, 2>;
using Queue = Policy<role::queue, 3>;
using OtherPool = Policy<role::pool, 4>;

struct Bundle {
    using role = allot::role::preset;
    int pool = 7;
    auto policies() const { return std::tuple{OtherPool{pool}, Queue{8}}; }
};

struct Sized {
    using role = allot::role::queue;
    struct Parameters {
        int size = 0;
    };
    auto parameters() const -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = parameters; }
    Parameters parameters_{};
};

template <class... Ps>
constexpr auto passes = PolicyPack<Ps...>::passed;

}  // namespace

TEST_CASE("a policy is found by its role, in any order") {
    using Pack = PolicyPack<Queue, Weight, Pool>;
    STATIC_REQUIRE(std::same_as<Pack::find<role::weight, void*>, Weight>);
    STATIC_REQUIRE(std::same_as<Pack::find<role::queue, void*>, Queue>);
    STATIC_REQUIRE(std::same_as<PolicyPack<Pool, Queue, Weight>::find<role::queue, void*>, Queue>);
    STATIC_REQUIRE(passes<Queue, Weight, Pool>);
}

TEST_CASE("a role left out takes the default") {
    STATIC_REQUIRE(std::same_as<PolicyPack<>::find<role::pool, Pool>, Pool>);
    STATIC_REQUIRE(std::same_as<PolicyPack<Weight>::find<role::pool, Pool>, Pool>);
    const auto all = PolicyPack<Weight>::unpack(Weight{9});
    CHECK(PolicyPack<Weight>::take<role::pool, Pool>(all).value == 2);
    CHECK(PolicyPack<Weight>::take<role::weight, Weight>(all).value == 9);
}

TEST_CASE("a preset gives its policies, and those beside it win") {
    using Pack = PolicyPack<Bundle>;
    STATIC_REQUIRE(std::same_as<Pack::find<role::pool, Pool>, OtherPool>);
    const auto all = Pack::unpack(Bundle{});
    CHECK(Pack::take<role::pool, Pool>(all).value == 7);
    CHECK(Pack::take<role::queue, Queue>(all).value == 8);

    using Both = PolicyPack<Bundle, Pool>;
    STATIC_REQUIRE(std::same_as<Both::find<role::pool, OtherPool>, Pool>);
    const auto both = Both::unpack(Bundle{}, Pool{5});
    CHECK(Both::take<role::pool, Pool>(both).value == 5);
    CHECK(Both::take<role::queue, Queue>(both).value == 8);
    STATIC_REQUIRE(passes<Bundle, Pool>);
}

TEST_CASE("parameters of all policies that have some make one variant") {
    STATIC_REQUIRE(allot::detail::configurable<Sized>);
    STATIC_REQUIRE_FALSE(allot::detail::configurable<Pool>);
    STATIC_REQUIRE(allot::detail::configured_by<Sized, Sized::Parameters>);
    STATIC_REQUIRE_FALSE(allot::detail::configured_by<Sized, int>);
    STATIC_REQUIRE(
        std::same_as<allot::detail::configuration<Pool, Sized, Weight, Sized>, std::variant<Sized::Parameters>>);
}
