#include <cstdint>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/task.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::u128;
using allot::Value;

TEST_CASE("values compare as the rationals they are") {
    CHECK(Value{1, 2} == Value{2, 4});
    CHECK(Value{1, 3} < Value{1, 2});
    CHECK(Value{} == Value{0, 7});
    auto random = std::mt19937_64{support::seed()};
    const auto big = [](u128 v) { return (boost::multiprecision::cpp_int{v.high()} << 64U) + v.low(); };
    for (auto i = 0; i < 10'000; ++i) {
        const auto near = random() % 3;
        const auto num = u128::from_parts(random() >> (32U + random() % 32U), random());
        const auto den = 1 + (random() >> (32U + random() % 32U));
        const auto a = Value{num, den};
        const auto b = Value{u128{num} + u128{near}, den + random() % 2};
        const auto left = big(a.num()) * b.den();
        const auto right = big(b.num()) * a.den();
        REQUIRE((a < b) == (left < right));
        REQUIRE((a == b) == (left == right));
    }
}

TEST_CASE("a task without an owner, models, avoided nodes and labels stores none of them") {
    auto task = allot::Task{};
    CHECK(task.rest.find() == nullptr);
    CHECK(task.owner().is_null());
    CHECK_FALSE(task.notify_to());
    CHECK((task.models().empty() && task.avoided().empty() && task.labels().empty()));

    auto& rest = task.rest.made();
    CHECK(task == allot::Task{});
    rest.owner = 7;
    rest.models.push_back({1});
    rest.avoided.push_back(2);
    rest.labels.push_back("three");
    CHECK((task.owner() == 7 && task.notify_to() == allot::OwnerId{7}));
    CHECK((task.models().size() == 1 && task.models()[0].value == 1));
    CHECK((task.avoided().size() == 1 && task.avoided()[0] == 2));
    CHECK((task.labels().size() == 1 && task.labels()[0] == "three"));
    CHECK(task != allot::Task{});
}

TEST_CASE("a value keeps 96 bits over 32, and is cut beyond") {
    CHECK(sizeof(Value) == 16);
    const auto largest = (u128{1} << 96) - u128{1};
    CHECK(Value{largest, 0xFFFF'FFFFU}.num() == largest);
    CHECK(Value{largest, 0xFFFF'FFFFU}.den() == 0xFFFF'FFFFU);
    CHECK(Value{u128{1} << 96, 1}.num() == largest);
    CHECK(Value{1, 0}.den() == 1);
    CHECK(Value{6, std::uint64_t{1} << 33} == Value{3, std::uint64_t{1} << 32});
    for (const auto den : {0xFFFF'FFFFU + std::uint64_t{1}, (std::uint64_t{1} << 33) - 1, ~std::uint64_t{0}}) {
        CHECK(Value{largest, den} < Value{largest, 0xFFFF'FFFEU});
        CHECK(Value{1, den} < Value{1, 0xFFFF'FFFEU});
        CHECK(Value{largest, den} > Value{});
    }
}
