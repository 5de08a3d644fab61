#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Images to be made; the defaults are those of the 2026 relay (spec: crynux.md 2.5). Its unit of work is the
/// pixel-step.
struct ImageWork {
    std::uint32_t images = 6;
    std::uint32_t width = 512;
    std::uint32_t height = 512;
    std::uint32_t steps = 1;

    /// The work in its unit. Never overflows.
    [[nodiscard]] constexpr auto pixel_steps() const noexcept -> u128 { return u128{images} * width * height * steps; }
};

/// A text to be made, from text and images.
struct TextWork {
    std::uint64_t text_bytes = 0;        ///< Length of the prompt in bytes.
    std::uint32_t new_tokens_max = 256;  ///< Greatest number of tokens it may generate.
    std::uint32_t images = 0;            ///< Number of images in the prompt.
    std::uint64_t pixels = 0;            ///< Number of pixels of all images together.
};

/// The work of a task.
using Workload = std::variant<ImageWork, TextWork>;

/// Time per unit of work, as an exact ratio: a duration for a number of units.
struct Rate {
    Duration time{};
    std::uint32_t units = 1;

    friend constexpr auto operator==(const Rate&, const Rate&) noexcept -> bool = default;
};

/// Time per unit of each kind of work on some card; the defaults are the relay's initial ones (spec: crynux.md 2.5).
struct WorkloadCosts {
    Duration overhead = std::chrono::seconds{30};  ///< Time that is the same for any work.
    Rate pixel_step{std::chrono::seconds{10}, 512U * 512U};
    Rate text_byte{std::chrono::milliseconds{1}, 10};
    Rate new_token{std::chrono::milliseconds{100}, 1};
    Rate image{std::chrono::seconds{10}, 1};
    Rate pixel{std::chrono::seconds{5}, 1'000'000};

    /// The fault of the costs as one sentence; null when they are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto length = [](Duration d) { return d >= Duration{0} && d.count() < std::int64_t{1} << 32U; };
        constexpr auto rate = [length](const Rate& r) { return length(r.time) && r.units >= 1; };
        return detail::first_unmet({
            {length(overhead), "allot: WorkloadCosts: overhead must be 0 or more and below 2^32 ms"},
            {rate(pixel_step),
             "allot: WorkloadCosts: pixel_step must take 0 or more and below 2^32 ms for at least 1 unit"},
            {rate(text_byte),
             "allot: WorkloadCosts: text_byte must take 0 or more and below 2^32 ms for at least 1 unit"},
            {rate(new_token),
             "allot: WorkloadCosts: new_token must take 0 or more and below 2^32 ms for at least 1 unit"},
            {rate(image), "allot: WorkloadCosts: image must take 0 or more and below 2^32 ms for at least 1 unit"},
            {rate(pixel), "allot: WorkloadCosts: pixel must take 0 or more and below 2^32 ms for at least 1 unit"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const WorkloadCosts&, const WorkloadCosts&) noexcept -> bool = default;
};
ALLOT_FIELDS(Rate, time, units)
ALLOT_FIELDS(WorkloadCosts, overhead, pixel_step, text_byte, new_token, image, pixel)

/// The time of some work at given costs: overhead and each kind of work, each rounded up to a millisecond.
///
/// Error: `duration_invalid` when the sum is zero or at least 2^32 ms.
/// @pre `costs.valid()`.
/// @complexity constant.
[[nodiscard]] constexpr auto time_of(const Workload& work, const WorkloadCosts& costs) noexcept -> Result<Duration> {
    constexpr auto limit = std::uint64_t{1} << 32U;
    auto total = static_cast<std::uint64_t>(costs.overhead.count());
    const auto add = [&](u128 units, const Rate& rate) {  // a sum at the limit stays there, and is refused at the end
        const auto time = static_cast<std::uint64_t>(rate.time.count());
        if (time == 0 || !units) { return; }
        if (units.high() != 0) {  // at least 2^64 / 2^32 milliseconds
            total = limit;
            return;
        }
        const auto sum = (u128{units.low()} * time + (rate.units - 1U)) / rate.units + total;
        total = sum >> 32 ? limit : sum.low();
    };
    if (const auto* images = std::get_if<ImageWork>(&work)) {
        add(images->pixel_steps(), costs.pixel_step);
    } else if (const auto* text = std::get_if<TextWork>(&work)) {
        add(text->text_bytes, costs.text_byte);
        add(text->new_tokens_max, costs.new_token);
        add(text->images, costs.image);
        add(text->pixels, costs.pixel);
    }
    if (total == 0 || total >= limit) { return Failure{Error::duration_invalid}; }
    return Duration{static_cast<std::int64_t>(total)};
}

/// Estimates of run times from the work, with costs measured per card and model configuration (spec: crynux.md 2.5).
///
/// Query it before `submit`. It learns nothing by itself: a measuring party reports costs with `calibrate`. The fitting
/// method is that party's choice and needs no determinism, but the estimates do. `WorkloadCalibration` fits as the
/// relay does.
class WorkloadEstimate {
public:
    WorkloadEstimate() = default;
    /// Sets other costs for combinations that were never measured. Throws std::invalid_argument where
    /// `initial.fault()`.
    explicit WorkloadEstimate(const WorkloadCosts& initial) : initial_{detail::sound(initial)} {}

    /// Sets the costs of a model configuration on a card; replaces earlier ones. Error: `gpu_empty`, `vram_zero` or,
    /// for costs that are not valid, `parameter_invalid`; then nothing changes.
    /// @complexity logarithmic to find, linear to insert.
    auto calibrate(std::string_view configuration, std::string_view gpu, Gibibytes vram, const WorkloadCosts& costs)
        -> std::optional<Error> {
        if (gpu.empty()) { return Error::gpu_empty; }
        if (vram == Gibibytes{}) { return Error::vram_zero; }
        if (!costs.valid()) { return Error::parameter_invalid; }
        auto entry = Entry{std::string{configuration}, vram, std::string{gpu}, costs};
        const auto place = std::lower_bound(entries_.begin(), entries_.end(), entry, Entry::before);
        if (place != entries_.end() && !Entry::before(entry, *place)) {
            place->costs = costs;
        } else {
            entries_.insert(place, std::move(entry));
        }
        return std::nullopt;
    }

    /// The time on one card. It uses the card's own costs. Without these it uses those of the card nearest in VRAM, the
    /// smaller of two equally near, then the first by name. Without any it uses the initial costs. Error: as `time_of`.
    /// @complexity linear in the cards measured with this configuration.
    [[nodiscard]] auto on_card(const Workload& work, std::string_view configuration, std::string_view gpu,
                               Gibibytes vram) const -> Result<Duration> {
        const auto distance = [&](const Entry& entry) { return gap(entry.vram, vram); };
        const Entry* found = nullptr;
        for (const auto& entry : entries_) {
            if (entry.configuration != configuration) { continue; }
            if (entry.gpu == gpu && entry.vram == vram) { return time_of(work, entry.costs); }
            if (found == nullptr || distance(entry) < distance(*found)) {  // entries ascend by VRAM, then name
                found = &entry;
            }
        }
        return time_of(work, found == nullptr ? initial_ : found->costs);
    }

    /// The time on an unknown card: the mean, rounded up, over the cards measured with this configuration that have the
    /// VRAM asked for. Where there is none, as `on_card` for that VRAM. Error: as `time_of`.
    /// @complexity linear in the cards measured with this configuration.
    [[nodiscard]] auto on_any(const Workload& work, std::string_view configuration, Gibibytes vram_asked) const
        -> Result<Duration> {
        auto sum = u128{};
        auto count = std::uint64_t{0};
        for (const auto& entry : entries_) {
            if (entry.configuration == configuration && entry.vram >= vram_asked) {
                const auto time = time_of(work, entry.costs);
                if (!time) { return time; }
                sum += u128{static_cast<std::uint64_t>(time->count())};
                ++count;
            }
        }
        if (count == 0) { return on_card(work, configuration, {}, vram_asked); }
        return Duration{static_cast<std::int64_t>(((sum + u128{count - 1}) / count).low())};
    }

    /// The time on one card for setting a timeout. It uses the card's own costs. Without these it is the longest of the
    /// times by the initial costs and by those of each card of the same VRAM. A timeout that is too short does more
    /// harm (spec: crynux.md 2.6, 4.3). Error: as `time_of` for any of these.
    /// @complexity linear in the cards measured.
    [[nodiscard]] auto cautious_on_card(const Workload& work, std::string_view configuration, std::string_view gpu,
                                        Gibibytes vram) const -> Result<Duration> {
        auto longest = time_of(work, initial_);
        for (const auto& entry : entries_) {
            if (entry.configuration != configuration || entry.vram != vram) { continue; }
            const auto time = time_of(work, entry.costs);
            if (entry.gpu == gpu) { return time; }
            if (longest && (!time || *time > *longest)) { longest = time; }
        }
        return longest;
    }

    friend auto operator==(const WorkloadEstimate&, const WorkloadEstimate&) -> bool = default;

private:
    struct Entry {
        std::string configuration;
        Gibibytes vram{};
        std::string gpu;
        WorkloadCosts costs{};

        [[nodiscard]] static auto before(const Entry& a, const Entry& b) -> bool {
            if (const auto order = a.configuration <=> b.configuration; order != 0) { return order < 0; }
            return a.vram == b.vram ? a.gpu < b.gpu : a.vram < b.vram;
        }
        friend auto operator==(const Entry&, const Entry&) -> bool = default;
    };

    [[nodiscard]] static constexpr auto gap(Gibibytes a, Gibibytes b) noexcept -> std::uint32_t {
        return a > b ? a.count - b.count : b.count - a.count;
    }

    WorkloadCosts initial_{};
    std::vector<Entry> entries_;
};

}}  // namespace allot::v0
