#include <chrono>
#include <string_view>

#include <allot/estimate/workload_estimate.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
using allot::Duration;
using allot::Error;
using allot::ImageWork;
using allot::TextWork;
using allot::WorkloadCosts;
using allot::WorkloadEstimate;

auto costs(Duration overhead) -> WorkloadCosts { return {.overhead = overhead}; }
const auto image = allot::Workload{ImageWork{.images = 1}};

}  // namespace

TEST_CASE("images cost ten seconds per 512 by 512 pixels and step, beside thirty") {
    CHECK(time_of(image, {}) == Duration{40s});
    CHECK(time_of(ImageWork{}, {}) == Duration{90s});
    CHECK(time_of(ImageWork{.images = 1, .width = 1'024, .height = 1'024, .steps = 25}, {}) == Duration{1'030s});
    CHECK(time_of(ImageWork{.images = 1, .width = 1, .height = 1}, {}) == Duration{30'001ms});  // 0.038 ms, rounded up
}

TEST_CASE("texts cost by bytes, tokens, images and their pixels") {
    CHECK(time_of(TextWork{}, {}) == Duration{55'600ms});
    const auto work = TextWork{.text_bytes = 20'000, .new_tokens_max = 100, .images = 2, .pixels = 2'500'000};
    CHECK(time_of(work, {}) == Duration{30s + 2s + 10s + 20s + 12'500ms});
    CHECK(time_of(TextWork{.text_bytes = 11, .new_tokens_max = 0}, {}) == Duration{30'002ms});
}

TEST_CASE("work beyond what a task may last is refused, however far beyond") {
    constexpr auto most = ~std::uint32_t{0};
    CHECK(time_of(ImageWork{most, most, most, most}, {}).error() == Error::duration_invalid);
    CHECK(time_of(ImageWork{most, most, 1, 1}, {}).error() == Error::duration_invalid);
    CHECK(time_of(TextWork{.text_bytes = ~std::uint64_t{0}}, {}).error() == Error::duration_invalid);
    CHECK(time_of(TextWork{.new_tokens_max = 0, .pixels = ~std::uint64_t{0}}, {}).error() == Error::duration_invalid);
    auto free = costs(0s);
    free.pixel_step.time = 0s;
    CHECK(time_of(ImageWork{most, most, most, most}, free).error() == Error::duration_invalid);  // takes no time at all
    free.overhead = 1ms;
    CHECK(time_of(ImageWork{most, most, most, most}, free) == Duration{1ms});
}

TEST_CASE("a card's own costs go first, then those of the nearest VRAM, then the initial ones") {
    auto estimate = WorkloadEstimate{};
    CHECK(estimate.on_card(image, "sdxl", "RTX 4090", 24_GiB) == Duration{40s});
    CHECK_FALSE(estimate.calibrate("sdxl", "RTX 4090", 24_GiB, costs(1s)));
    CHECK_FALSE(estimate.calibrate("sdxl", "RTX 3080", 10_GiB, costs(5s)));
    CHECK_FALSE(estimate.calibrate("sdxl", "RTX 3060", 12_GiB, costs(3s)));
    CHECK(estimate.on_card(image, "sdxl", "RTX 4090", 24_GiB) == Duration{11s});
    CHECK(estimate.on_card(image, "sdxl", "A100", 80_GiB) == Duration{11s});
    CHECK(estimate.on_card(image, "sdxl", "RTX 4090", 12_GiB) == Duration{13s});
    CHECK(estimate.on_card(image, "sdxl", "RTX 4060", 8_GiB) == Duration{15s});
    CHECK(estimate.on_card(image, "sdxl", "odd", 11_GiB) == Duration{15s});  // 10 and 12 are as near
    CHECK(estimate.on_card(image, "sd15", "RTX 4090", 24_GiB) == Duration{40s});
    CHECK_FALSE(estimate.calibrate("sdxl", "RTX 4090", 24_GiB, costs(2s)));
    CHECK(estimate.on_card(image, "sdxl", "RTX 4090", 24_GiB) == Duration{12s});
}

TEST_CASE("the first name decides between cards of equal VRAM, whatever came first") {
    auto estimate = WorkloadEstimate{};
    CHECK_FALSE(estimate.calibrate("m", "B", 24_GiB, costs(2s)));
    CHECK_FALSE(estimate.calibrate("m", "A", 24_GiB, costs(1s)));
    CHECK(estimate.on_card(image, "m", "C", 24_GiB) == Duration{11s});
}

TEST_CASE("before a card is chosen, the mean over those with enough VRAM counts") {
    auto estimate = WorkloadEstimate{};
    CHECK(estimate.on_any(image, "m", 8_GiB) == Duration{40s});
    CHECK_FALSE(estimate.calibrate("m", "A", 8_GiB, costs(4s)));
    CHECK_FALSE(estimate.calibrate("m", "B", 16_GiB, costs(3s)));
    CHECK_FALSE(estimate.calibrate("m", "C", 24_GiB, costs(1s)));
    CHECK_FALSE(estimate.calibrate("n", "C", 24_GiB, costs(9s)));
    CHECK(estimate.on_any(image, "m", 9_GiB) == Duration{12s});
    CHECK(estimate.on_any(image, "m", 8_GiB) == Duration{12'667ms});
    CHECK(estimate.on_any(image, "m", 48_GiB) == Duration{11s});  // none has it; the nearest
}

TEST_CASE("for a timeout, a card not measured is as slow as the slowest of its VRAM, and no faster than at first") {
    auto estimate = WorkloadEstimate{};
    const auto cautious = [&](std::string_view gpu, allot::Gibibytes vram = 24_GiB) {
        return estimate.cautious_on_card(image, "m", gpu, vram);
    };
    CHECK(cautious("A") == Duration{40s});
    CHECK_FALSE(estimate.calibrate("m", "B", 24_GiB, costs(1s)));
    CHECK_FALSE(estimate.calibrate("m", "Z", 16_GiB, costs(99s)));
    CHECK_FALSE(estimate.calibrate("n", "Z", 24_GiB, costs(99s)));
    CHECK(cautious("A") == Duration{40s});
    CHECK(cautious("B") == Duration{11s});
    CHECK_FALSE(estimate.calibrate("m", "C", 24_GiB, costs(50s)));
    CHECK_FALSE(estimate.calibrate("m", "D", 24_GiB, costs(45s)));
    CHECK(cautious("A") == Duration{60s});
    CHECK(cautious("E") == Duration{60s});
    CHECK(cautious("B") == Duration{11s});
    CHECK(cautious("D") == Duration{55s});
    CHECK(cautious("Z", 16_GiB) == Duration{109s});
    CHECK_FALSE(estimate.calibrate("m", "A0", 24_GiB, costs(Duration{0xFFFF'FFFF})));
    CHECK(cautious("A").error() == Error::duration_invalid);
    CHECK(cautious("D") == Duration{55s});
}

TEST_CASE("estimates are equal when they were told the same") {
    auto a = WorkloadEstimate{};
    auto b = WorkloadEstimate{};
    CHECK(a == b);
    CHECK_FALSE(a.calibrate("m", "A", 8_GiB, costs(1s)));
    CHECK(a != b);
    CHECK_FALSE(b.calibrate("m", "A", 8_GiB, costs(2s)));
    CHECK(a != b);
    CHECK_FALSE(b.calibrate("m", "A", 8_GiB, costs(1s)));
    CHECK(a == b);
    CHECK(a != WorkloadEstimate{costs(1s)});
}

TEST_CASE("a calibration without card or VRAM or with impossible costs changes nothing") {
    auto estimate = WorkloadEstimate{costs(7s)};
    CHECK(estimate.calibrate("m", "", 8_GiB, {}) == Error::gpu_empty);
    CHECK(estimate.calibrate("m", "A", 0_GiB, {}) == Error::vram_zero);
    auto wrong = WorkloadCosts{};
    wrong.new_token.units = 0;
    CHECK(estimate.calibrate("m", "A", 8_GiB, wrong) == Error::parameter_invalid);
    CHECK(estimate.calibrate("m", "A", 8_GiB, costs(-1ms)) == Error::parameter_invalid);
    CHECK(estimate.on_card(image, "m", "A", 8_GiB) == Duration{17s});
    CHECK_FALSE(estimate.calibrate("m", "A", 8_GiB, costs(Duration{0xFFFF'FFFF})));
    CHECK(estimate.on_card(image, "m", "A", 8_GiB).error() == Error::duration_invalid);
    CHECK(estimate.on_any(image, "m", 8_GiB).error() == Error::duration_invalid);
}
