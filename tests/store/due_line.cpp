#include <cstdint>
#include <limits>
#include <random>

#include <allot/store/due_line.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::detail::DueLine;
using allot::detail::DueTimes;
using allot::detail::WideTimes;

TEST_CASE("a line has the times that were written, and its offsets have their order") {
    auto random = std::mt19937_64{support::seed()};
    const auto any = [&]() -> std::int64_t {
        const auto near = static_cast<std::int64_t>(random() % 3) - 1;
        switch (random() % 8) {
            case 0: return DueLine::absent;
            case 1: return std::numeric_limits<std::int64_t>::min() + 1 + near;
            case 2: return DueLine::absent - 3 + near;
            case 3: return (std::int64_t{1} << 32) - 1 + near;
            case 4: return -(std::int64_t{1} << 32) + near;
            case 5: return (std::int64_t{1} << 45) + near;
            default: return near;
        }
    };
    auto far = WideTimes{};
    auto line = DueLine{};
    auto times = DueTimes{};
    times.fill(DueLine::absent);
    auto wide = 0;
    for (auto step = 0; step < 20'000; ++step) {
        const auto at = static_cast<std::uint32_t>(random() % times.size());
        times[at] = step / 500 % 2 == 0 ? any() : DueLine::absent;
        line.write(at, times[at], far);
        wide += line.wide != 0 ? 1 : 0;
        for (auto i = 0U; i < times.size(); ++i) {
            REQUIRE(line.time(i, far) == times[i]);
            REQUIRE(line.has(i) == (times[i] != DueLine::absent));
            for (auto j = 0U; j < times.size(); ++j) {
                REQUIRE((line.offsets[i] < line.offsets[j]) == (times[i] < times[j]));
            }
        }
    }
    CHECK(wide > 5'000);
}

TEST_CASE("whether a line is wide follows from its times alone") {
    constexpr auto reach = std::int64_t{DueLine::none};
    auto far = WideTimes{};
    auto line = DueLine{};
    line.write(0, 1'000, far);
    line.write(1, 1'000 + reach - 1, far);
    CHECK(line.wide == 0);
    line.write(1, 1'000 + reach, far);
    CHECK(line.wide == 1);
    line.write(2, 7, far);
    line.write(1, DueLine::absent, far);
    CHECK(line.wide == 0);
    CHECK(line.time(2, far) == 7);
}
