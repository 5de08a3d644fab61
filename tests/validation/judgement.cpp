#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/validation/judgement.hpp>

#include "support/catch.hpp"
#include "validation/support/against_relay.hpp"

using namespace validation_test;

namespace {

/// With a distance of 5, 0x00 and 0x0F are the same, so are 0x0F and 0x1F, but not 0x00 and 0x1F; 0xFF is like none of
/// them.
auto image(std::uint8_t last) -> std::vector<std::uint8_t> {
    const auto rest = static_cast<std::uint8_t>(last == 0xFF ? last : 0);
    return {rest, rest, rest, rest, rest, rest, rest, last};
}

/// All that one member can come to, at three speeds.
auto members(std::uint64_t id) -> std::vector<relay::Task> {
    auto out = std::vector<relay::Task>{};
    for (std::int64_t seconds = 1; seconds <= 3; ++seconds) {
        for (const auto last : {0x00, 0x0F, 0x1F, 0xFF}) {
            out.push_back({id, relay::score_ready, seconds, image(static_cast<std::uint8_t>(last))});
        }
        out.push_back({id, relay::error_reported, seconds, {}});
    }
    out.push_back({id, relay::aborted, 2, {}, true});
    out.push_back({id, relay::aborted, 2, {}, false});
    return out;
}

template <class F>
auto every_group(F&& f) -> void {
    for (const auto& a : members(2)) {  // the order in which they are given means nothing
        for (const auto& b : members(3)) {
            for (const auto& c : members(1)) { f(std::array{a, b, c}); }
        }
    }
}

using Points = std::array<std::optional<std::uint32_t>, 3>;
using Verdicts = std::array<MemberVerdict, 3>;

auto judged(const std::array<relay::Task, 3>& tasks, const allot::ValidationParameters& parameters) {
    return judge(answers_of(tasks), parameters);
}

auto slow_to_fast(std::uint8_t a, std::uint8_t b, std::uint8_t c) -> std::array<relay::Task, 3> {
    return {relay::Task{1, relay::score_ready, 3, image(a)}, relay::Task{2, relay::score_ready, 2, image(b)},
            relay::Task{3, relay::score_ready, 1, image(c)}};
}

constexpr auto images = allot::ValidationParameters{.comparison = allot::Comparison::hamming(5)};

}  // namespace

TEST_CASE("every group of three comes to what the table of the relays says, but for D34 and D35") {
    auto groups = 0;
    every_group([&](const auto& tasks) {
        for (const auto threshold : {std::optional<int>{}, std::optional{5}}) {
            CAPTURE(tasks[0].status, tasks[0].seconds, tasks[0].score, tasks[1].status, tasks[1].seconds,
                    tasks[1].score, tasks[2].status, tasks[2].seconds, tasks[2].score);
            auto parameters = allot::ValidationParameters::relay_2026();
            parameters.comparison = threshold ? allot::Comparison::hamming(5) : allot::Comparison::exact();
            check_against(judged(tasks, parameters), relay::table(tasks, threshold), tasks);
        }
        ++groups;
    });
    CHECK(groups == 17 * 17 * 17);
}

TEST_CASE("what a group comes to is told by its verdicts, whatever the options") {
    every_group([&](const auto& tasks) {
        for (auto options = 0; options < 8; ++options) {
            auto parameters = images;
            parameters.rank_right_only = options % 2 != 0;
            parameters.chain_matches = options / 2 % 2 != 0;
            parameters.slash_across_errors = options / 4 != 0;
            const auto judgement = judged(tasks, parameters);
            auto passed = 0;
            auto matched = 0;
            auto wrong = 0;
            auto answers = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                passed += judgement.verdicts[i] == MemberVerdict::passed ? 1 : 0;
                matched += judgement.verdicts[i] == MemberVerdict::matched ? 1 : 0;
                wrong += judgement.verdicts[i] == MemberVerdict::wrong ? 1 : 0;
                answers += judgement.ranks[i].has_value() ? 1 : 0;
            }
            REQUIRE(passed == (judgement.agreement == Agreement::result ? 1 : 0));
            REQUIRE((matched > 0) == (passed == 1));
            REQUIRE((judgement.agreement == Agreement::too_few) == (answers < 2));
            REQUIRE((wrong == 0 || (wrong == 1 && answers == 3)));
            REQUIRE((wrong == 0 || judgement.agreement != Agreement::error || parameters.slash_across_errors));
        }
    });
}

TEST_CASE("a referee's result decides, whatever the members agree on") {
    auto disputes = 0;
    auto unlike = 0;
    for (const auto last : {0x00, 0x0F, 0x1F, 0xFF}) {
        const auto truth = image(static_cast<std::uint8_t>(last));
        every_group([&](const auto& tasks) {
            const auto by_vote = judged(tasks, images);
            const auto members = answers_of(tasks);
            const auto judgement = judge(members, images, truth);
            const auto submitted = [&](std::size_t i) { return members[i].state == allot::MemberState::submitted; };
            const auto equals = [&](std::size_t i, const auto& other) {
                return submitted(i) && allot::same_result(images.comparison, other, members[i].result);
            };
            auto passed = std::size_t{0};
            auto right = std::size_t{0};
            auto confirmed = std::vector<std::size_t>{};
            for (std::size_t i = 0; i < 3; ++i) {
                if (equals(i, truth)) { confirmed.push_back(i); }
            }
            for (std::size_t i = 0; i < 3; ++i) {
                const auto verdict = judgement.verdicts[i];
                const auto is_right = std::any_of(confirmed.begin(), confirmed.end(),
                                                  [&](std::size_t j) { return equals(i, members[j].result); });
                passed += verdict == MemberVerdict::passed ? 1U : 0U;
                right += is_right ? 1U : 0U;
                REQUIRE(is_right == (verdict == MemberVerdict::passed || verdict == MemberVerdict::matched));
                REQUIRE((submitted(i) && !is_right && !confirmed.empty()) == (verdict == MemberVerdict::wrong));
                REQUIRE(judgement.ranks[i] == by_vote.ranks[i]);
                REQUIRE(
                    judgement.points[i].has_value() ==
                    (is_right || (members[i].state == allot::MemberState::timed_out && by_vote.points[i].has_value())));
                REQUIRE(unnamed(by_vote).verdicts[i] != MemberVerdict::wrong);
            }
            REQUIRE(passed == (right > 0 ? 1U : 0U));
            REQUIRE((judgement.agreement == Agreement::result) == (right > 0));
            disputes += disputed(members, by_vote) ? 1 : 0;
            unlike += confirmed.empty() ? 1 : 0;
        });
    }
    CHECK(disputes > 0);
    CHECK(unlike > 0);
}

TEST_CASE("three errors fail three tasks and blame nobody (D34)") {
    const auto error = [](std::uint64_t id) { return relay::Task{id, relay::error_reported, 4, {}}; };
    const auto judgement = judged({error(1), error(2), error(3)}, images);
    CHECK(judgement.agreement == Agreement::error);
    CHECK(judgement.verdicts == Verdicts{MemberVerdict::undecided, MemberVerdict::undecided, MemberVerdict::undecided});
    CHECK(judgement.points == Points{});  // the relays: 10, 5, 2
}

TEST_CASE("a fast wrong answer earns nothing (D35), and takes no rank where only right ones count") {
    const auto tasks = slow_to_fast(0x00, 0x00, 0xFF);
    CHECK(judged(tasks, images).points == Points{2U, 5U, std::nullopt});
    auto parameters = images;
    parameters.rank_right_only = true;
    CHECK(judged(tasks, parameters).points == Points{5U, 10U, std::nullopt});
    CHECK(judged(slow_to_fast(0x00, 0x0F, 0xFF), parameters).verdicts ==
          Verdicts{MemberVerdict::matched, MemberVerdict::passed, MemberVerdict::wrong});
    CHECK(judged(slow_to_fast(0x00, 0x1F, 0xFF), parameters).points == Points{});  // nobody agrees
}

TEST_CASE("who matches one of two that agree is wrong, or right where matches chain") {
    const auto tasks = slow_to_fast(0x1F, 0x0F, 0x00);  // the fastest matches the second, and that the third
    CHECK(judged(tasks, images).verdicts ==
          Verdicts{MemberVerdict::wrong, MemberVerdict::matched, MemberVerdict::passed});
    auto parameters = images;
    parameters.chain_matches = true;
    CHECK(judged(tasks, parameters).verdicts ==
          Verdicts{MemberVerdict::matched, MemberVerdict::matched, MemberVerdict::passed});
    CHECK(judged(tasks, parameters).points == Points{2U, 5U, 10U});
}

TEST_CASE("zero points for a member that timed out while another answered (D32)") {
    const auto timed_out = relay::Task{1, relay::aborted, 0, {}, true};
    const auto withdrawn = relay::Task{2, relay::aborted, 0, {}, false};
    const auto error = relay::Task{3, relay::error_reported, 1, {}};
    CHECK(judged({timed_out, withdrawn, error}, images).points == Points{0U, std::nullopt, std::nullopt});
    CHECK(judged({timed_out, withdrawn, relay::Task{3, relay::aborted, 0, {}, true}}, images).points == Points{});
}
