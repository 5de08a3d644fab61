// How often a try hits, in the workloads the bounds are made for, and what the worst case costs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <allot/core/weight.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::NodeHandle;
using allot::Score;
using allot::StakeRoot;
using allot::Weight;

/// Nodes as the hub would enter them: bounds for the ceiling of the stake roots, the best score and the best locality.
struct Network {
    struct Node {
        StakeRoot root{};
        Score best{};  ///< What the score recovers to.
        Score now{};
    };
    std::mt19937_64 random{support::seed()};
    std::vector<Node> nodes{};
    StakeRoot root_max{};  ///< Of all that have not left.
    StakeRoot ceiling{};
    std::vector<std::uint32_t> models_held{};  ///< By node, as bits.
    std::vector<std::vector<allot::HeldModel>> lists{};
    allot::GpuGroupPool fast{};
    allot::LinearPool slow{};

    static constexpr std::uint32_t classes = 40;

    void join(std::uint64_t stake, Score best, Score now) {
        nodes.push_back({StakeRoot::from(stake), best, now});
        root_max = std::max(root_max, nodes.back().root);
        ceiling = allot::ceil_power_of_two(root_max);
    }
    /// A score from 0.2 to 1, and the same node again when it is ill: at 0.2 to 1 of that.
    auto score() -> Score { return Score::from_ratio(200 + random() % 801, 1'000); }

    void enter() {
        auto slots = std::vector<std::uint32_t>(classes);
        auto holders = std::vector<std::uint32_t>(std::size_t{classes} * 32);
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const auto c = n * 7 % classes;
            auto& list = lists.emplace_back();
            for (std::uint32_t m = 0; m < 32 && n < models_held.size(); ++m) {
                if (((models_held[n] >> m) & 1U) != 0) {
                    list.push_back({allot::ModelId{m}, allot::Holding::on_disk, holders[std::size_t{c} * 32 + m]++});
                }
            }
            const auto bound = [&](std::uint64_t boost) {
                return allot::bound_of(allot::harmonic({nodes[n].root, ceiling, nodes[n].best, boost, 20}));
            };
            auto before = allot::NodePlace{};
            before.node = {n};
            const auto place = allot::NodePlace{{n}, {c}, slots[c]++, bound(20), bound(40), list};
            fast.changed(before, place);
            slow.changed(before, place);
        }
    }
    /// The weight now, locality in twentieths.
    auto weight(NodeHandle n, std::uint64_t boost = 20) const -> Weight {
        const auto& node = nodes[n.value];
        return allot::at_stake_root_ceiling(allot::harmonic({node.root, root_max, node.now, boost, 20}), root_max,
                                            ceiling);
    }

    struct Tries {
        std::uint64_t hits = 0;
        std::uint64_t all = 0;
        auto half_or_more() const -> bool { return hits > 2'000 && hits * 2 >= all; }
    };
    /// Draws from both pools, which agree, and counts.
    template <class Weigh>
    auto tries(const std::vector<allot::ModelId>& models, Weigh weigh) const -> Tries {
        auto tries = Tries{};
        auto all = std::vector<allot::ClassId>{};
        for (std::uint32_t c = 0; c < classes; ++c) { all.push_back({c}); }
        for (std::uint32_t i = 0; i < 3'000; ++i) {
            const auto frame = allot::SamplingFrame{std::span{all}.subspan(i % classes), models};
            auto words = allot::Random{allot::Entropy{support::seed()}, allot::Purpose::dispatch, {}, 0, i};
            auto words_again = words;
            const auto drawn = fast.draw(frame, weigh, words);
            if (i % 50 == 0) {
                const auto same = slow.draw(frame, weigh, words_again);
                REQUIRE(drawn.has_value() == same.has_value());
                REQUIRE((!drawn || (drawn->node == same->node && drawn->rejections == same->rejections)));
                REQUIRE(words == words_again);
            }
            if (drawn) {
                tries.hits += 1;
                tries.all += drawn->rejections + 1;
            }
        }
        return tries;
    }
    auto tries() const -> Tries {
        return tries({}, [this](NodeHandle n, std::uint32_t) { return weight(n); });
    }
};

constexpr std::uint32_t count = 2'000;

/// Stakes as they are in such networks: their logarithms are normal.
auto log_normal(double sigma = 1) -> Network {
    auto network = Network{};
    auto normal = std::normal_distribution<double>{0, sigma};
    for (std::uint32_t n = 0; n < count; ++n) {
        const auto score = network.score();
        network.join(static_cast<std::uint64_t>(1e12 * std::exp(normal(network.random))) + 1, score, score);
    }
    return network;
}

}  // namespace

TEST_CASE("half of the tries hit or more, however unequal the stakes") {
    auto network = log_normal(GENERATE(0.5, 1.0, 2.0));
    network.enter();
    const auto tries = network.tries();
    CAPTURE(tries.hits, tries.all);
    CHECK(tries.half_or_more());
}

TEST_CASE("half of the tries hit or more when all stakes are equal, wherever the ceiling stands") {
    // The hub keeps the ceiling within 1 and 4 times the largest root; 2^42 has the root 2^21.
    const auto stake = std::uint64_t{1} << 42U;
    const auto above = GENERATE(1U, 2U, 4U);
    auto network = Network{};
    for (std::uint32_t n = 0; n < count; ++n) {
        const auto score = network.score();
        network.join(stake, score, score);
    }
    network.ceiling = allot::ceil_power_of_two(StakeRoot::from(stake * above * above));
    network.enter();
    const auto tries = network.tries();
    CAPTURE(tries.hits, tries.all, above);
    CHECK(tries.half_or_more());
}

TEST_CASE("half of the tries hit or more while one node in ten recovers") {
    auto network = log_normal();
    for (std::uint32_t n = 0; n < count; n += 10) {
        auto& node = network.nodes[n];
        node.now =
            Score::from_raw(static_cast<std::uint32_t>(node.best.raw() / 1'000 * (200 + network.random() % 801)));
    }
    network.enter();
    const auto tries = network.tries();
    CAPTURE(tries.hits, tries.all);
    CHECK(tries.half_or_more());
}

TEST_CASE("half of the tries hit or more with a whale, and after it left while bounds still know it") {
    auto network = log_normal();
    network.join(std::uint64_t{1} << 60U, Score::one(), Score::one());
    const auto left = GENERATE(false, true);
    if (left) {
        network.nodes.pop_back();
        network.root_max = {};
        for (const auto& node : network.nodes) { network.root_max = std::max(network.root_max, node.root); }
    }
    network.enter();
    const auto tries = network.tries();
    CAPTURE(tries.hits, tries.all, left);
    CHECK(tries.half_or_more());
}

TEST_CASE("half of the tries hit or more among the holders of a model, or of either of two") {
    auto network = log_normal();
    for (std::uint32_t n = 0; n < count; ++n) {
        network.models_held.push_back((n % 3 == 0 ? 1U : 0U) | (n % 50 == 1 ? 2U : 0U) | (n % 70 == 5 ? 4U : 0U));
    }
    network.enter();
    const auto one = network.tries({{0}}, [&](NodeHandle n, std::uint32_t) { return network.weight(n, 34); });
    CHECK(one.half_or_more());
    const auto either = network.tries({{1}, {2}}, [&](NodeHandle n, std::uint32_t model) {
        const auto first = (network.models_held[n.value] & 2U) != 0;
        return model == 1 && first ? Weight::zero() : network.weight(n, 27);
    });
    CAPTURE(one.hits, one.all, either.hits, either.all);
    CHECK(either.half_or_more());
}

TEST_CASE("at worst a draw makes the frame's tries, and without bounds it looks twice at each of its places") {
    auto network = log_normal();
    for (std::uint32_t n = 0; n < count; ++n) { network.models_held.push_back(n % 20 == 0 ? 1U : 0U); }
    network.enter();
    const auto all = std::vector<allot::ClassId>{{0}, {7}, {14}, {20}};
    const auto holders_of_0 = std::vector<allot::ModelId>{{0}};
    const auto narrowed = GENERATE(false, true);
    const auto rejections_max = GENERATE(0U, 1U, 32U, 100U);
    auto frame = allot::SamplingFrame{all, {}, rejections_max};
    if (narrowed) { frame.models = holders_of_0; }
    const auto places = network.fast.count(frame);
    REQUIRE(places == network.slow.count(frame));
    REQUIRE(places > 0);
    const auto asked_by = [&](const auto& pool, std::uint64_t raw) {
        auto asked = std::uint32_t{0};
        const auto faint = [&](NodeHandle, std::uint32_t) {
            ++asked;
            return Weight::from_raw(raw);
        };
        auto words = allot::Random{allot::Entropy{support::seed()}, allot::Purpose::dispatch, {}};
        const auto drawn = pool.draw(frame, faint, words);
        if (rejections_max == 0) {
            CHECK(drawn.has_value() == (raw > 0));
            CHECK((!drawn || drawn->scanned));
        } else if (drawn && drawn->undecided()) {
            CHECK(asked == frame.tries_max);
        } else {
            CHECK(drawn.has_value() == (raw > 0));
        }
        return asked;
    };
    const auto asked_for_nobody = asked_by(network.fast, 0);
    CHECK(asked_for_nobody == asked_by(network.slow, 0));
    const auto asked = asked_by(network.fast, 1);
    CHECK(asked == asked_by(network.slow, 1));
    if (rejections_max == 0) {
        // Nobody at all: the first look tells. Somebody: the second goes as far as whom it falls on.
        CHECK(asked_for_nobody == places);
        CHECK(asked > places);
        CHECK(asked <= 2 * places);
    } else {
        CHECK(asked_for_nobody <= frame.tries_max);
        CHECK(asked <= frame.tries_max);
    }
}
