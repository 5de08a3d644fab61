#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include <allot/policy/canonical_draw.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Draw;
using allot::NodeHandle;
using allot::NodePlace;
using allot::Random;
using allot::SamplingFrame;
using allot::u128;
using allot::Weight;

/// Places as long as their bounds, in order; counts how often it was asked.
struct Line {
    struct Hit {
        NodeHandle node;
        std::uint32_t model;
        std::uint64_t offset;
        std::uint32_t bound;
    };
    std::vector<std::uint32_t> bounds;
    mutable std::uint32_t located = 0;
    mutable std::uint32_t scans = 0;

    auto total(const SamplingFrame&) const -> std::uint64_t {
        auto sum = std::uint64_t{0};
        for (const auto bound : bounds) { sum += bound; }
        return sum;
    }
    auto locate(const SamplingFrame&, std::uint64_t point) const -> Hit {
        ++located;
        auto node = std::uint32_t{0};
        for (; point >= bounds[node]; ++node) { point -= bounds[node]; }
        return {{node}, 0, point, bounds[node]};
    }
    template <class F>
    void for_each(const SamplingFrame&, F&& f) const {
        ++scans;
        for (std::uint32_t node = 0; node < bounds.size(); ++node) {
            if (bounds[node] > 0) { f(NodeHandle{node}, 0U, bounds[node]); }
        }
    }
    template <class F>
    void each_place(const SamplingFrame&, const NodePlace& node, F&& f) const {
        auto begin = std::uint64_t{0};
        for (std::uint32_t i = 0; i < node.node.value; ++i) { begin += bounds[i]; }
        if (bounds[node.node.value] > 0) { f(begin, bounds[node.node.value]); }
    }
};

auto chance(std::uint32_t index = 0) -> Random {
    return {allot::Entropy{support::seed()}, allot::Purpose::dispatch, Random::Subject{}, 0, index};
}
auto bounded(std::uint32_t bound) -> Weight { return Weight::from_raw(u128{bound} << 64); }

constexpr auto one = std::uint32_t{1} << 28U;

}  // namespace

TEST_CASE("an empty frame draws no one and no word") {
    const auto line = Line{{0, 0}};
    auto random = chance();
    CHECK(!allot::canonical_draw(
        line, {}, [](NodeHandle, std::uint32_t) { return Weight::max(); }, random));
    CHECK(random.words_drawn() == 0);
    CHECK(line.scans == 0);
}

TEST_CASE("a weight that fills its bound is drawn at the first try") {
    const auto line = Line{{one, one, one}};
    for (std::uint32_t i = 0; i < 100; ++i) {
        auto random = chance(i);
        const auto drawn = allot::canonical_draw(
            line, {}, [](NodeHandle, std::uint32_t) { return bounded(one); }, random);
        REQUIRE(drawn.has_value());
        CHECK(drawn->rejections == 0);
        CHECK(drawn->weight == bounded(one));
        CHECK_FALSE(drawn->scanned);
    }
}

TEST_CASE("a frame has thirty-two tries before a rejected place is shortened, and a hundred and sixty in all") {
    CHECK(SamplingFrame{}.rejections_max == 32);
    CHECK(SamplingFrame{}.tries_max == 160);
}

TEST_CASE("from the last rejection that the frame admits, each further one takes a refused place off the line") {
    const auto line = Line{std::vector<std::uint32_t>(50, one)};
    const auto rejections_max = GENERATE(1U, 5U, 32U, 100U);
    for (std::uint32_t i = 0; i < 20; ++i) {
        auto random = chance(i);
        auto asked = std::uint32_t{0};
        const auto last_one = [&](NodeHandle node, std::uint32_t) {
            ++asked;
            return node.value == 49 ? bounded(one) : Weight::zero();
        };
        const auto drawn = allot::canonical_draw(line, {{}, {}, rejections_max, 1'000}, last_one, random);
        REQUIRE(drawn.has_value());
        CHECK(drawn->node == NodeHandle{49});
        CHECK(drawn->rejections < rejections_max + 49);
        CHECK(asked == drawn->rejections + 1);
        CHECK(line.scans == 0);
    }
}

TEST_CASE("a line that lost all its length has no candidate") {
    const auto line = Line{{one, one, one}};
    auto random = chance();
    const auto nobody = allot::canonical_draw(
        line, {}, [](NodeHandle, std::uint32_t) { return Weight::zero(); }, random);
    CHECK(!nobody.has_value());
    CHECK(line.located >= 32 + 2);
    CHECK(line.scans == 0);
}

TEST_CASE("nodes left out take no try, and cost no word where nobody else is there") {
    const auto line = Line{{one, 1'000 * one, 0, one}};
    const auto left_out = std::vector<NodePlace>{{NodeHandle{1}}, {NodeHandle{2}}};
    auto frame = SamplingFrame{};
    frame.without = left_out;
    auto counts = std::map<std::uint32_t, int>{};
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        auto random = chance(i);
        const auto drawn = allot::canonical_draw(
            line, frame, [](NodeHandle node, std::uint32_t) { return node.value == 1 ? Weight::zero() : bounded(one); },
            random);
        REQUIRE(drawn.has_value());
        CHECK(drawn->rejections == 0);
        ++counts[drawn->node.value];
    }
    CHECK(counts.size() == 2);
    CHECK(std::abs(counts[0] - counts[3]) < 200);

    auto random = chance();
    CHECK_FALSE(allot::canonical_draw(
                    Line{{0, one}}, frame, [](NodeHandle, std::uint32_t) { return Weight::zero(); }, random)
                    .has_value());
    CHECK(random.words_drawn() == 0);
}

TEST_CASE("in rules version 1 one scan decides after the rejections") {
    const auto line = Line{{one, one, one}};
    const auto last_unit = [](NodeHandle node, std::uint32_t) {
        return node.value == 2 ? Weight::from_raw(1) : Weight::zero();
    };
    const auto rejections = GENERATE(5U, 32U, 100U);
    auto random = chance();
    const auto drawn = allot::canonical_draw(line, {{}, {}, rejections, 0}, last_unit, random);
    REQUIRE(drawn.has_value());
    CHECK(drawn->node == NodeHandle{2});
    CHECK(drawn->rejections == rejections);
    CHECK(drawn->scanned);
    CHECK(line.located == rejections);
    CHECK(line.scans == 2);  // once for the sum, once for the choice
}

TEST_CASE("after as many tries as the frame admits a draw is undecided, and says nothing of a candidate") {
    const auto line = Line{std::vector<std::uint32_t>(500, one)};
    const auto tries_max = GENERATE(1U, 32U, 33U, 160U);
    auto random = chance();
    const auto undecided = allot::canonical_draw(
        line, {{}, {}, 32, tries_max}, [](NodeHandle, std::uint32_t) { return Weight::zero(); }, random);
    REQUIRE(undecided.has_value());
    CHECK(undecided->undecided());
    CHECK(undecided->node == allot::no_handle<NodeHandle>);
    CHECK(undecided->rejections == tries_max);
    CHECK(line.located == tries_max);
    CHECK_FALSE(Draw{NodeHandle{0}}.undecided());
}

TEST_CASE("a frame without tries is scanned at once") {
    const auto line = Line{{1, 1}};
    auto random = chance();
    const auto drawn = allot::canonical_draw(
        line, {{}, {}, 0}, [](NodeHandle, std::uint32_t) { return Weight::max(); }, random);
    REQUIRE(drawn.has_value());
    CHECK(drawn->rejections == 0);
    CHECK(drawn->scanned);
    CHECK(line.located == 0);
    CHECK(line.scans == 2);  // once for the sum, once for the choice
}

TEST_CASE("the bits below a unit of the bound decide on the edge") {
    // Half a unit in a bound of one: offset and whole part are both zero, so each try hits with probability 1/2.
    const auto line = Line{{1}};
    auto tries = std::map<std::uint32_t, std::uint32_t>{};
    for (std::uint32_t i = 0; i < 4'000; ++i) {
        auto random = chance(i);
        const auto half = [](NodeHandle, std::uint32_t) { return Weight::from_raw(u128{1} << 63); };
        ++tries[allot::canonical_draw(line, {}, half, random)->rejections];
    }
    CHECK(tries[0] > 1'800);  // 2000 expected, six standard deviations are 190
    CHECK(tries[0] < 2'200);
    CHECK(tries[1] > 830);  // 1000 expected
    CHECK(tries[1] < 1'170);
}

TEST_CASE("loose bounds, shortened places and a scan leave the same shares") {
    const auto bounds =
        GENERATE(std::vector<std::uint32_t>{one, 2 * one, one}, std::vector<std::uint32_t>{one, 15 * one, 3 * one});
    const auto rejections_max = GENERATE(32U, 1U, 0U);
    const auto line = Line{bounds};
    auto counts = std::map<std::uint32_t, std::uint64_t>{};
    const auto weigh = [](NodeHandle node, std::uint32_t) { return bounded((node.value + 1) * (one / 4)); };
    for (std::uint32_t i = 0; i < 6'000; ++i) {
        auto random = chance(i);
        ++counts[allot::canonical_draw(line, {{}, {}, rejections_max}, weigh, random)->node.value];
    }
    CAPTURE(counts[0], counts[1], counts[2]);
    auto surplus = std::uint64_t{0};  // chi-square times 1000
    for (std::uint32_t node = 0; node < 3; ++node) {
        const auto expected = std::uint64_t{1'000} * (node + 1);
        const auto difference = counts[node] > expected ? counts[node] - expected : expected - counts[node];
        surplus += difference * difference / (node + 1);
    }
    CHECK(surplus < 28'000);  // two degrees of freedom: p = 1e-6
}

TEST_CASE("a draw tells of each weight it meets above its bound, also after it shortened others", "[N2]") {
    const auto line = Line{{one, one}};
    const auto twice = [](NodeHandle, std::uint32_t) { return bounded(2 * one); };
    auto random = chance();
    const auto tried = allot::canonical_draw(line, {}, twice, random);
    CHECK(tried->above_bound == 1);
    CHECK_FALSE(tried->scanned);

    // The tries hit the long place, whose weight is zero, until it is shortened; then only the liar is left.
    const auto one_lies = [](NodeHandle node, std::uint32_t) {
        return node.value == 0 ? bounded(2 * one) : Weight::zero();
    };
    const auto short_line = Line{{1, one}};
    for (std::uint32_t i = 0; i < 100; ++i) {
        auto words = chance(i);
        const auto drawn = allot::canonical_draw(short_line, {{}, {}, 2}, one_lies, words);
        CHECK(drawn->rejections == 2);
        CHECK(drawn->above_bound == 1);
    }

    // A weight as long as its bound is no lie; and without bounds, as for weights that are not monotone, nothing is
    // one.
    auto full = chance(1);
    CHECK(allot::canonical_draw(
              line, {}, [](NodeHandle, std::uint32_t) { return bounded(one); }, full)
              ->above_bound == 0);
    auto unbounded = chance(2);
    CHECK(allot::canonical_draw(line, {{}, {}, 0}, twice, unbounded)->above_bound == 0);
}
