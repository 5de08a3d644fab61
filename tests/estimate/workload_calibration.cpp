#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <allot/estimate/workload_calibration.hpp>
#include <allot/journal/encode.hpp>
#include <allot/terms/fixed_terms.hpp>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
using allot::Duration;
using allot::Error;
using allot::ImageWork;
using allot::Rate;
using allot::Real;
using allot::TextWork;
using allot::Workload;
using allot::WorkloadCalibration;
using allot::WorkloadCosts;
using allot::WorkloadKind;
using allot::WorkloadSeries;
using Parameters = allot::WorkloadCalibrationParameters;

const auto image = Workload{ImageWork{.images = 1}};  // 512 by 512, one step

auto costs(Duration overhead, Duration image_time) -> WorkloadCosts {
    return {.overhead = overhead, .pixel_step = {image_time, 512U * 512U}};
}

// Each part a whole number of milliseconds at any whole number of milliseconds per 512 by 512, ten bytes, token, image
// and ten thousand pixels.
auto images(unsigned i) -> Workload {
    return ImageWork{.images = 1 + i % 7, .width = 512U * (1 + i % 3), .height = 512, .steps = 1 + i % 5};
}
auto text(unsigned i) -> Workload {
    return TextWork{.text_bytes = 10U * (1 + i * 7'919U % 4'000U),
                    .new_tokens_max = 1 + i * 104'729U % 700U,
                    .images = i % 4,
                    .pixels = std::uint64_t{i % 4} * 10'000U * (1 + i * 37U % 89U)};
}
auto is_text(const Workload& work) -> bool { return std::holds_alternative<TextWork>(work); }

auto took(const Workload& work, const WorkloadCosts& truth) -> Duration { return time_of(work, truth).value(); }

// Tells of `count` tasks on "card", 24 GiB, that took exactly what they cost.
template <class Work>
void teach(WorkloadCalibration& calibration, const WorkloadCosts& truth, Work work, unsigned count,
           const std::string& gpu = "card", allot::Gibibytes vram = 24_GiB) {
    for (auto i = 0U; i < count; ++i) {
        REQUIRE_FALSE(calibration.observe("model", gpu, vram, work(i), took(work(i), truth)));
    }
}
auto on_card(const WorkloadCalibration& calibration, const Workload& work) -> std::int64_t {
    return calibration.on_card(work, "model", "card", 24_GiB).value().count();
}
auto near(double found, double truth, double part) -> bool { return std::abs(found - truth) <= part * truth; }
auto close(std::int64_t found, Duration truth, double part) -> bool {
    return near(static_cast<double>(found), static_cast<double>(truth.count()), part);
}
auto per(const Rate& rate, double units) -> double {
    return static_cast<double>(rate.time.count()) * units / rate.units;
}

}  // namespace

TEST_CASE("the costs of images are found from exact times, to the millisecond") {
    const auto truth = costs(12'345ms, 3s);
    auto calibration = WorkloadCalibration{};
    teach(calibration, truth, images, 10);
    const auto found = calibration.costs(WorkloadKind::images, "model", "card", 24_GiB).value();
    CHECK(found.overhead == truth.overhead);
    CHECK(near(per(found.pixel_step, 512.0 * 512), 3'000, 1e-6));
    CHECK(found.new_token == WorkloadCosts{}.new_token);
    for (auto i = 100U; i < 120U; ++i) {
        CHECK(std::abs(on_card(calibration, images(i)) - took(images(i), truth).count()) <= 1);
    }
}

TEST_CASE("the five costs of a text are found from exact times") {
    const auto truth = WorkloadCosts{
        .overhead = 2'345ms, .text_byte = {3ms, 10}, .new_token = {25ms, 1}, .image = {1s, 1}, .pixel = {20ms, 10'000}};
    auto calibration = WorkloadCalibration{};
    teach(calibration, truth, text, 30);
    const auto found = calibration.costs(WorkloadKind::text, "model", "card", 24_GiB).value();
    CHECK(found.overhead == truth.overhead);
    CHECK(near(per(found.text_byte, 10), 3, 1e-4));
    CHECK(near(per(found.new_token, 1), 25, 1e-4));
    CHECK(near(per(found.image, 1), 1'000, 1e-4));
    CHECK(near(per(found.pixel, 10'000), 20, 1e-4));
    CHECK(found.pixel_step == WorkloadCosts{}.pixel_step);
    for (auto i = 100U; i < 120U; ++i) {
        CHECK(std::abs(on_card(calibration, text(i)) - took(text(i), truth).count()) <= 5);
    }
}

TEST_CASE("under noise the fit is that of the same sum in floating point, and near the truth") {
    auto random = std::mt19937_64{allot_test::seed()};
    const auto truth = costs(20s, 5s);
    auto calibration = WorkloadCalibration{};
    auto a = std::array<double, 3>{};  // of overhead², overhead × images, images²
    auto b = std::array<double, 2>{};
    for (auto i = 0; i < 300; ++i) {
        const auto work = images(static_cast<unsigned>(random() % 1'000U));
        const auto time = took(work, truth) * (900 + random() % 201U) / 1'000;
        REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, work, time));
        const auto z = std::array<double, 2>{30'000, static_cast<double>(took(work, {}).count() - 30'000)};
        const auto y = static_cast<double>(time.count());
        for (auto& sum : a) { sum *= 0.9; }
        a[0] += 0.1 * z[0] * z[0];
        a[1] += 0.1 * z[0] * z[1];
        a[2] += 0.1 * z[1] * z[1];
        b[0] = 0.9 * b[0] + 0.1 * z[0] * y;
        b[1] = 0.9 * b[1] + 0.1 * z[1] * y;
        if (i >= 10) {
            const auto lift = (a[0] + a[2]) * 1e-9;
            const auto determinant = (a[0] + lift) * (a[2] + lift) - a[1] * a[1];
            const auto f0 = ((b[0] + lift) * (a[2] + lift) - (b[1] + lift) * a[1]) / determinant;
            const auto f1 = ((b[1] + lift) * (a[0] + lift) - (b[0] + lift) * a[1]) / determinant;
            const auto found = calibration.costs(WorkloadKind::images, "model", "card", 24_GiB).value();
            CAPTURE(i, f0, f1);
            REQUIRE(std::abs(static_cast<double>(found.overhead.count()) - f0 * 30'000) < 0.6);  // whole milliseconds
            REQUIRE(near(per(found.pixel_step, 512.0 * 512), f1 * 10'000, 1e-6));
            REQUIRE(close(on_card(calibration, images(4)), took(images(4), truth), 0.25));
        }
    }
}

TEST_CASE("costs that change are followed: half, twice or ten times as long, within 5 % after 40 samples") {
    for (const auto factor : {1, 4, 20}) {
        CAPTURE(factor);
        auto calibration = WorkloadCalibration{};
        teach(calibration, costs(20s, 6s), images, 50);
        const auto changed = costs(10s * factor, 3s * factor);
        CHECK_FALSE(close(on_card(calibration, images(3)), took(images(3), changed), 0.4));
        teach(calibration, changed, images, 40);
        for (auto i = 0U; i < 20; ++i) {
            CHECK(close(on_card(calibration, images(i)), took(images(i), changed), 0.05));
        }
    }
}

TEST_CASE("where samples leave a choice the estimate is right for their like and sane for others") {
    SECTION("images of one size: overhead and rate grow as they would expect it") {
        auto calibration = WorkloadCalibration{};
        teach(
            calibration, costs(60s, 20s), [](unsigned) { return image; }, 50);
        CHECK(std::abs(on_card(calibration, image) - 80'000) <= 1);
        const auto found = calibration.costs(WorkloadKind::images, "model", "card", 24_GiB).value();
        CHECK(found.overhead == 66s);  // 40 s more than expected of 30 s + 10 s; they share it as 9 to 1
        CHECK(near(per(found.pixel_step, 512.0 * 512), 14'000, 1e-6));
    }
    SECTION("and shrink to nothing, but not below") {
        auto calibration = WorkloadCalibration{};
        teach(
            calibration, costs(500ms, 500ms), [](unsigned) { return image; }, 50);
        CHECK(std::abs(on_card(calibration, image) - 1'000) <= 1);
        const auto found = calibration.costs(WorkloadKind::images, "model", "card", 24_GiB).value();
        CHECK(found.overhead == 0s);
        CHECK(near(per(found.pixel_step, 512.0 * 512), 1'000, 1e-6));
    }
    SECTION("texts whose images are all of one size") {
        const auto truth =
            WorkloadCosts{.overhead = 5s, .new_token = {50ms, 1}, .image = {4s, 1}, .pixel = {1s, 1'000'000}};
        const auto one_size = [](unsigned i) {
            auto work = std::get<TextWork>(text(i));
            work.text_bytes = 0;
            work.pixels = work.images * 1'000'000U;
            return Workload{work};
        };
        auto calibration = WorkloadCalibration{};
        teach(calibration, truth, one_size, 40);
        for (auto i = 100U; i < 120U; ++i) {
            CHECK(std::abs(on_card(calibration, one_size(i)) - took(one_size(i), truth).count()) <= 5);
        }
        const auto found = calibration.costs(WorkloadKind::text, "model", "card", 24_GiB).value();
        CHECK(near(per(found.text_byte, 10), 1, 1e-6));  // never seen, so as at first
        CHECK(near(per(found.image, 1) + per(found.pixel, 1e6), 5'000, 1e-3));
    }
}

TEST_CASE("a stuck task counts as four times the prediction, however long it was") {
    auto calibration = WorkloadCalibration{};
    teach(calibration, {}, images, 30);
    auto stuck = calibration;
    auto slow = calibration;
    auto slower = calibration;
    REQUIRE_FALSE(stuck.observe("model", "card", 24_GiB, image, Duration{0xFFFF'FFFF}));
    REQUIRE_FALSE(slower.observe("model", "card", 24_GiB, image, 161s));
    REQUIRE_FALSE(slow.observe("model", "card", 24_GiB, image, 159s));
    CHECK(stuck == slower);
    CHECK(stuck != slow);
    CHECK(on_card(stuck, image) > 40'000);
    CHECK(on_card(stuck, image) < 40'000 + 120'000 / 2);
    CHECK(close(on_card(stuck, images(20)), took(images(20), {}), 0.1));

    auto limit = Parameters{};
    limit.residual_max = 1;
    auto strict = WorkloadCalibration::restore(calibration.series(), {}, limit).value();
    auto strict_too = strict;
    REQUIRE_FALSE(strict.observe("model", "card", 24_GiB, image, 81s));
    REQUIRE_FALSE(strict_too.observe("model", "card", 24_GiB, image, 1h));
    CHECK(strict == strict_too);
}

TEST_CASE("the first sample, too, counts as four times the initial prediction at most") {
    auto parameters = Parameters{};
    parameters.warmup = 1;
    auto calibration = WorkloadCalibration{{}, parameters};
    REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, image, 10h));
    CHECK(std::abs(on_card(calibration, image) - 160'000) <= 1);
}

TEST_CASE("a cost once fitted to nothing rises again") {
    auto calibration = WorkloadCalibration{};
    for (auto i = 0; i < 50; ++i) { REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, image, 1ms)); }
    CHECK(on_card(calibration, image) <= 2);
    for (auto i = 0; i < 100; ++i) { REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, image, 40s)); }
    CHECK(close(on_card(calibration, image), 40s, 0.01));
}

TEST_CASE("work that was predicted to take no time at all is learnt, too") {
    auto initial = WorkloadCosts{};
    initial.overhead = 0s;
    auto calibration = WorkloadCalibration{initial};
    const auto bytes = TextWork{.text_bytes = 10'000, .new_tokens_max = 0};
    for (auto i = 0; i < 30; ++i) {  // with bytes it takes less than without
        REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, TextWork{.new_tokens_max = 100}, 10s));
        REQUIRE_FALSE(
            calibration.observe("model", "card", 24_GiB, TextWork{.text_bytes = 10'000, .new_tokens_max = 100}, 5s));
    }
    REQUIRE(calibration.costs(WorkloadKind::text, "model", "card", 24_GiB)->text_byte.time == 0s);
    for (auto i = 0; i < 200; ++i) { REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, bytes, 40s)); }
    CHECK(close(on_card(calibration, bytes), 40s, 0.01));
}

TEST_CASE("a series counts from its tenth sample on, and for its own kind of work") {
    auto calibration = WorkloadCalibration{};
    teach(calibration, costs(1s, 1s), images, 9);
    CHECK(on_card(calibration, image) == 40'000);
    CHECK_FALSE(calibration.costs(WorkloadKind::images, "model", "card", 24_GiB));
    CHECK(calibration.series().at(0).samples == 9);
    teach(calibration, costs(1s, 1s), images, 1);
    CHECK(std::abs(on_card(calibration, image) - 2'000) <= 1);
    CHECK(calibration.on_any(image, "model", 8_GiB).value().count() == on_card(calibration, image));
    CHECK(on_card(calibration, TextWork{}) == 55'600);
    CHECK_FALSE(calibration.costs(WorkloadKind::text, "model", "card", 24_GiB));
    CHECK_FALSE(calibration.costs(WorkloadKind::images, "other", "card", 24_GiB));
    CHECK_FALSE(calibration.costs(WorkloadKind::images, "model", "card", 16_GiB));
    CHECK_FALSE(calibration.costs(WorkloadKind::images, "model", "zard", 24_GiB));
}

TEST_CASE("what is wrong with a sample has a name, and changes nothing") {
    auto parameters = Parameters{};
    parameters.series_max = 2;
    parameters.name_bytes_max = 5;
    auto initial = WorkloadCosts{};
    initial.text_byte.time = 0s;
    auto calibration = WorkloadCalibration{initial, parameters};
    teach(calibration, {}, images, 3);
    const auto before = calibration;
    const auto wrong = [&](const std::string& configuration, const std::string& gpu, allot::Gibibytes vram,
                           const Workload& work, Duration duration) {
        const auto error = calibration.observe(configuration, gpu, vram, work, duration);
        CHECK(calibration == before);
        return error;
    };
    constexpr auto most = ~std::uint32_t{0};
    CHECK(wrong("model", "", 24_GiB, image, 40s) == Error::gpu_empty);
    CHECK(wrong("model", "card", 0_GiB, image, 40s) == Error::vram_zero);
    CHECK(wrong("model", "card++", 24_GiB, image, 40s) == Error::name_too_long);
    CHECK(wrong("model+", "card", 24_GiB, image, 40s) == Error::name_too_long);
    CHECK(wrong("model", "card", 24_GiB, image, 0s) == Error::duration_invalid);
    CHECK(wrong("model", "card", 24_GiB, image, -1ms) == Error::duration_invalid);
    CHECK(wrong("model", "card", 24_GiB, image, Duration{INT64_MIN}) == Error::duration_invalid);
    CHECK(wrong("model", "card", 24_GiB, image, Duration{std::int64_t{1} << 32U}) == Error::duration_invalid);
    CHECK(wrong("model", "card", 24_GiB, ImageWork{.images = 0}, 40s) == Error::parameter_invalid);
    CHECK(wrong("model", "card", 24_GiB, ImageWork{.steps = 0}, 40s) == Error::parameter_invalid);
    CHECK(wrong("model", "card", 24_GiB, TextWork{.new_tokens_max = 0}, 40s) == Error::parameter_invalid);
    CHECK(wrong("model", "card", 24_GiB, TextWork{.text_bytes = 9, .new_tokens_max = 0}, 40s) ==
          Error::parameter_invalid);
    CHECK(wrong("model", "card", 24_GiB, ImageWork{most, most, most, most}, 40s) == Error::duration_invalid);
    CHECK(wrong("model", "card", 24_GiB, TextWork{.pixels = ~std::uint64_t{0}}, 40s) == Error::duration_invalid);

    REQUIRE_FALSE(
        calibration.observe("", "card", 24_GiB, image, 40s));  // a network of one configuration needs no name for it
    const auto full = calibration;
    CHECK(calibration.observe("model", "card", 25_GiB, image, 40s) == Error::too_many_classes);
    CHECK(calibration.observe("model", "card", 24_GiB, TextWork{}, 40s) == Error::too_many_classes);
    CHECK(calibration == full);
    REQUIRE_FALSE(calibration.observe("model", "card", 24_GiB, image, 40s));  // what is known goes on
    CHECK(calibration != full);
}

TEST_CASE("a sample for which there is no memory changes nothing") {
    auto parameters = Parameters{};
    parameters.warmup = 1;
    auto calibration = WorkloadCalibration{{}, parameters};
    auto failures = 0;
    for (const auto* gpu :
         {"a name too long to stand in the text itself", "another name too long to stand in the text itself",
          "a name too long to stand in the text itself"}) {
        const auto before = calibration;
        auto done = false;
        for (auto call = 1U; !done; ++call) {
            support::fails_at = support::calls + call;
            try {
                done = !calibration.observe("model", gpu, 24_GiB, image, 41s);
            } catch (const std::bad_alloc&) {
                support::fails_at = 0;
                ++failures;
                CHECK(calibration == before);
            }
        }
        support::fails_at = 0;
        CHECK(calibration != before);
    }
    CHECK(failures >= 6);
}

TEST_CASE("a card learns nothing from others, and the order in which they come does not matter") {
    const auto one_by_one = [](const std::vector<std::string>& order) {
        auto calibration = WorkloadCalibration{};
        for (const auto& gpu : order) {
            teach(calibration, costs(gpu == "A" ? 10s : 20s, 1s), images, 15, gpu);
            teach(calibration, costs(gpu == "A" ? 10s : 20s, 1s), text, 12, gpu);
        }
        return calibration;
    };
    const auto apart = one_by_one({"A", "B", "C"});
    CHECK(apart == one_by_one({"C", "B", "A"}));
    auto in_turn = WorkloadCalibration{};
    for (auto i = 0U; i < 15; ++i) {
        for (const auto* gpu : {"B", "A", "C"}) {
            const auto truth = costs(gpu[0] == 'A' ? 10s : 20s, 1s);
            if (i < 12) { REQUIRE_FALSE(in_turn.observe("model", gpu, 24_GiB, text(i), took(text(i), truth))); }
            REQUIRE_FALSE(in_turn.observe("model", gpu, 24_GiB, images(i), took(images(i), truth)));
        }
    }
    CHECK(apart == in_turn);
    auto alone = WorkloadCalibration{};
    teach(alone, costs(20s, 1s), images, 15, "B");
    CHECK(alone.costs(WorkloadKind::images, "model", "B", 24_GiB) ==
          apart.costs(WorkloadKind::images, "model", "B", 24_GiB));
}

TEST_CASE("before a card is chosen, the mean of those with enough VRAM counts, as at the relay") {
    auto calibration = WorkloadCalibration{};
    teach(calibration, costs(30s, 10s), images, 20, "A", 40_GiB);
    teach(calibration, costs(30s, 30s), images, 20, "B", 80_GiB);
    teach(calibration, costs(30s, 90s), images, 20, "C", 24_GiB);
    teach(calibration, costs(30s, 90s), images, 9, "D", 80_GiB);  // not ready
    CHECK(std::abs(calibration.on_any(image, "model", 32_GiB).value().count() - 50'000) <= 1);
}

TEST_CASE("a card not measured has the timeout of the slowest like it, as at the relay") {
    auto calibration = WorkloadCalibration{};
    const auto timeout = [&](const std::string& gpu, bool switches = false) {
        return allot::execution_timeout(calibration.cautious_on_card(image, "model", gpu, 24_GiB).value(), switches);
    };
    CHECK(timeout("new") == 80s);
    teach(calibration, costs(30s, 100s), images, 20, "slow");
    teach(calibration, costs(30s, 50s), images, 20, "middling");
    teach(calibration, costs(30s, 300s), images, 20, "other", 25_GiB);
    teach(calibration, costs(30s, 300s), images, 9, "nearly");
    CHECK(timeout("new") == 260s);
    CHECK(timeout("nearly") == 260s);
    CHECK(timeout("new", true) == 500s);
    CHECK(timeout("slow") == 260s);
    CHECK(timeout("middling") == 160s);
    CHECK(timeout("middling", true) == 400s);
}

TEST_CASE("a fixed series gives these very numbers") {
    auto calibration = WorkloadCalibration{};
    for (auto i = 0U; i < 25; ++i) {
        const auto noise = Duration{i * 7'919U % 2'000U};
        REQUIRE_FALSE(calibration.observe("m", "A", 24_GiB, images(i), took(images(i), costs(20s, 4s)) + noise));
        REQUIRE_FALSE(calibration.observe("m", "A", 24_GiB, text(i), took(text(i), costs(9s, 0s)) + noise));
    }
    const auto of_images = calibration.costs(WorkloadKind::images, "m", "A", 24_GiB).value();
    CHECK(of_images.overhead == 20'629ms);
    CHECK(of_images.pixel_step == Rate{32'761'419ms, 1U << 31U});
    const auto of_text = calibration.costs(WorkloadKind::text, "m", "A", 24_GiB).value();
    CHECK(of_text.overhead == 7'475ms);
    CHECK(of_text.text_byte == Rate{398'860'578ms, 1U << 31U});
    CHECK(of_text.new_token == Rate{3'349'979'994ms, 1U << 25U});
    CHECK(of_text.image == Rate{2'612'305'193ms, 1U << 18U});
    CHECK(of_text.pixel == Rate{10'791'249ms, 1U << 31U});
    const auto& sums = calibration.series().at(1).fit;
    CHECK(sums.squares[14] == Real{3'268'901'055'941'378'334, -37});
    CHECK(sums.products[1] == Real{2'690'794'185'877'554'261, -34});
}

TEST_CASE("the largest work and the longest time are taken, and give valid costs") {
    constexpr auto longest = Duration{0xFFFF'FFFF};
    constexpr auto most = ~std::uint32_t{0};
    const auto slowest = Rate{1ms, most};
    const auto initial = WorkloadCosts{.overhead = 1ms,
                                       .pixel_step = slowest,
                                       .text_byte = slowest,
                                       .new_token = {longest, 1},
                                       .image = slowest,
                                       .pixel = slowest};
    auto calibration = WorkloadCalibration{initial};
    const auto works =
        std::array<Workload, 5>{ImageWork{1U << 31U, 1U << 31U, 1, 1}, ImageWork{1, 1, 1, 1},
                                TextWork{.text_bytes = std::uint64_t{1} << 63U, .new_tokens_max = 0},
                                TextWork{.new_tokens_max = 0, .images = most, .pixels = std::uint64_t{1} << 63U},
                                TextWork{.text_bytes = 1, .new_tokens_max = 0, .images = 1, .pixels = 1}};
    for (auto i = 0U; i < 400; ++i) {
        const auto& work = works[i % 5 < 2 ? i % 2 : 2 + i % 3];
        REQUIRE_FALSE(
            calibration.observe("model", "card", 24_GiB, work, i % 7 < 3 || i > 200 ? longest : Duration{1ms}));
        for (const auto kind : {WorkloadKind::images, WorkloadKind::text}) {
            if (const auto found = calibration.costs(kind, "model", "card", 24_GiB)) { REQUIRE(found->valid()); }
        }
    }
    CHECK(calibration.series().size() == 2);
}

TEST_CASE("whatever is observed, costs are valid and samples are refused for what is said") {
    auto random = std::mt19937_64{allot_test::seed()};
    const auto any = [&random] { return random() >> (random() % 64U); };
    const auto any_time = [&any] { return Duration{static_cast<std::int64_t>(any() & 0xFFFF'FFFFU)}; };
    const auto any_rate = [&] { return Rate{any_time(), static_cast<std::uint32_t>(any()) | 1U}; };
    const auto word = [&any] { return static_cast<std::uint32_t>(any()); };
    auto taken = 0;
    for (auto run = 0; run < 100; ++run) {
        auto initial = WorkloadCosts{};
        if (run % 2 == 1) { initial = {any_time(), any_rate(), any_rate(), any_rate(), any_rate(), any_rate()}; }
        const auto parameters = Parameters{.alpha = {1 + static_cast<std::uint32_t>(random() % 99U), 100},
                                           .regularization = 1 + static_cast<std::uint32_t>(random() % 1'000U),
                                           .residual_max = 1 + static_cast<std::uint32_t>(random() % 5U),
                                           .warmup = 1};
        REQUIRE(initial.valid());
        REQUIRE(parameters.valid());
        auto calibration = WorkloadCalibration{initial, parameters};
        for (auto i = 0; i < 60; ++i) {
            auto work = Workload{ImageWork{word() % 64U, word() % 4'096U, word() % 4'096U, word() % 99U}};
            if (random() % 2U == 0) { work = TextWork{any() >> 32U, word() % 9'999U, word() % 9U, any() >> 32U}; }
            const auto error = calibration.observe("model", "card", 24_GiB, work, any_time());
            CAPTURE(run, i);
            REQUIRE((!error || error == Error::parameter_invalid || error == Error::duration_invalid));
            if (!error) {
                ++taken;
                const auto kind = is_text(work) ? WorkloadKind::text : WorkloadKind::images;
                REQUIRE(calibration.costs(kind, "model", "card", 24_GiB).value().valid());
            }
        }
        REQUIRE(WorkloadCalibration::restore(calibration.series(), initial, parameters).value() == calibration);
    }
    CHECK(taken > 500);
}

TEST_CASE("a cost that is initially zero stays zero") {
    auto initial = WorkloadCosts{};
    initial.overhead = 0s;
    auto calibration = WorkloadCalibration{initial};
    teach(calibration, costs(0s, 20s), images, 20);
    CHECK(on_card(calibration, image) == 20'000);
    CHECK(calibration.costs(WorkloadKind::images, "model", "card", 24_GiB)->overhead == 0s);
}

TEST_CASE("what was learnt can be kept as bytes and taken up again") {
    auto calibration = WorkloadCalibration{};
    teach(calibration, costs(1s, 2s), images, 20);
    teach(calibration, costs(1s, 2s), text, 20, "card", 16_GiB);
    teach(calibration, costs(1s, 2s), text, 5);
    const auto bytes = allot::encode(calibration.series());
    const auto series = allot::decode<std::vector<WorkloadSeries>>(bytes).value();
    CHECK(WorkloadCalibration::restore(series).value() == calibration);

    const auto refused = [](std::vector<WorkloadSeries> wrong, const Parameters& parameters = {}) {
        return WorkloadCalibration::restore(std::move(wrong), {}, parameters).error();
    };
    auto few = Parameters{};
    few.series_max = 2;
    CHECK(refused(series, few) == Error::too_many_classes);
    const auto with = [&series](auto change) {
        auto wrong = series;
        change(wrong);
        return wrong;
    };
    CHECK(refused(with([](auto& wrong) { std::swap(wrong[0], wrong[1]); })) == Error::parameter_invalid);
    CHECK(refused(with([](auto& wrong) { wrong[1] = wrong[0]; })) == Error::parameter_invalid);
    CHECK(refused(with([](auto& wrong) { wrong[2].kind = WorkloadKind{2}; })) == Error::parameter_invalid);
    CHECK(refused(with([](auto& wrong) { wrong[0].samples = 0; })) == Error::parameter_invalid);
    CHECK(refused(with([](auto& wrong) { wrong[0].fit.products[0].mantissa = 1; })) == Error::parameter_invalid);
    CHECK(refused(with([](auto& wrong) { wrong[0].gpu.clear(); })) == Error::gpu_empty);
    CHECK(refused(with([](auto& wrong) { wrong[0].vram = 0_GiB; })) == Error::vram_zero);
    CHECK(refused(with([](auto& wrong) { wrong[0].gpu = std::string(129, 'x'); })) == Error::name_too_long);
    // Sums that no samples gave cannot be told from others, but give valid costs all the same.
    const auto absurd = with([](auto& wrong) { wrong[0].fit.products.fill(Real{std::int64_t{1} << 61, 1'000}); });
    const auto restored = WorkloadCalibration::restore(absurd).value();
    CHECK(restored.costs(WorkloadKind::images, "model", "card", 24_GiB).value().valid());
}

TEST_CASE("parameters that make no sense are told") {
    CHECK(Parameters{}.valid());
    const auto wrong = [](auto change) {
        auto parameters = Parameters{};
        change(parameters);
        return !parameters.valid();
    };
    CHECK(wrong([](auto& p) { p.alpha = {0, 10}; }));
    CHECK(wrong([](auto& p) { p.alpha = {10, 10}; }));
    CHECK(wrong([](auto& p) { p.alpha = {0, 0}; }));
    CHECK(wrong([](auto& p) { p.regularization = 0; }));
    CHECK(wrong([](auto& p) { p.regularization = 1'000'000'001; }));
    CHECK(wrong([](auto& p) { p.residual_max = 0; }));
    CHECK(wrong([](auto& p) { p.residual_max = 1'001; }));
    CHECK(wrong([](auto& p) { p.warmup = 0; }));
    CHECK(wrong([](auto& p) { p.series_max = 0; }));
    CHECK(wrong([](auto& p) { p.name_bytes_max = 0; }));
}
