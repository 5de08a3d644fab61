#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/grow.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/estimate/real.hpp>
#include <allot/estimate/ridge_fit.hpp>
#include <allot/estimate/workload_estimate.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Kinds of work; their costs are measured separately.
enum class WorkloadKind : std::uint8_t { images, text };
ALLOT_ENUMERATORS(WorkloadKind, images, text)

/// Parameters of `WorkloadCalibration`; the defaults are those of the relay (spec: crynux.md 7), the limits our own.
struct WorkloadCalibrationParameters {
    Ratio alpha{1, 10};                  ///< Weight of the newest sample among all, in (0, 1).
    std::uint32_t regularization = 1;    ///< Weight of the initial costs, in units of 10^-9; see `RidgeFit`, as its ρ.
    std::uint32_t residual_max = 3;      ///< A sample counts as at most this many predictions above its prediction.
    std::uint32_t warmup = 10;           ///< Number of samples of a series before its costs are used.
    std::uint32_t series_max = 4'096;    ///< Greatest number of series, some 600 bytes each.
    std::uint32_t name_bytes_max = 128;  ///< Greatest length in bytes of the name of a card or configuration.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {alpha.num >= 1 && alpha.num < alpha.den, "allot: WorkloadCalibration: alpha must lie above 0 and below 1"},
            {regularization >= 1 && regularization <= 1'000'000'000,
             "allot: WorkloadCalibration: regularization must be 1 to 10^9"},
            {residual_max >= 1 && residual_max <= 1'000, "allot: WorkloadCalibration: residual_max must be 1 to 1,000"},
            {warmup >= 1, "allot: WorkloadCalibration: warmup must be at least 1"},
            {series_max >= 1, "allot: WorkloadCalibration: series_max must be at least 1"},
            {name_bytes_max >= 1, "allot: WorkloadCalibration: name_bytes_max must be at least 1"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const WorkloadCalibrationParameters&,
                                     const WorkloadCalibrationParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(WorkloadCalibrationParameters, alpha, regularization, residual_max, warmup, series_max, name_bytes_max)

/// Measured times of one kind of work on one card with one model configuration: the complete record of it in
/// `WorkloadCalibration`.
struct WorkloadSeries {
    WorkloadKind kind = WorkloadKind::images;
    std::string configuration;
    Gibibytes vram{};
    std::string gpu;
    std::uint32_t samples = 0;  ///< Number of samples; 2^32 - 1 if there were more.
    RidgeFit fit{};

    /// Its identity and its place in the order of series.
    [[nodiscard]] auto key() const -> std::tuple<WorkloadKind, std::string_view, Gibibytes, std::string_view> {
        return {kind, configuration, vram, gpu};
    }
    friend auto operator==(const WorkloadSeries&, const WorkloadSeries&) -> bool = default;
};
ALLOT_FIELDS(WorkloadSeries, kind, configuration, vram, gpu, samples, fit)

/// Measures the costs of work: fits `WorkloadCosts` to measured run times, per card, model configuration and kind of
/// work (spec: crynux.md 2.5), and estimates with them as `WorkloadEstimate` does.
///
/// It is a value outside the dispatcher: report each good result to it, and query it before each `submit`. All
/// computation is in integers: equal reports in equal order give equal estimates on any machine.
///
/// The overhead and each rate are fitted as multiples of their initial values, by exponentially weighted least squares.
/// These never give a negative multiple, and prefer the initial values where samples leave a choice. `RidgeFit` states
/// the minimised sum and its precision; its parts are units of work × initial rate, in milliseconds. So a cost that is
/// initially zero stays zero.
///
/// Where the spec is incomplete: a sample counts as at most 1 + `residual_max` times the prediction, so that a stuck
/// task does not ruin the fit. The prediction is by the series' own samples so far, by the initial costs for the first,
/// and at least a millisecond. A larger rise is still followed, in several samples. Times that are too short are not
/// bounded. A series counts from its `warmup`-th sample on, and for its own kind of work only. It starts from the
/// initial costs, not from those of similar cards.
class WorkloadCalibration {
public:
    using Parameters = WorkloadCalibrationParameters;

    WorkloadCalibration() = default;
    /// Throws std::invalid_argument where `initial.fault()` or `parameters.fault()`.
    explicit WorkloadCalibration(const WorkloadCosts& initial, const Parameters& parameters = {})
        : parameters_{detail::sound(parameters)}, initial_{detail::sound(initial)}, estimates_{
                                                                                        WorkloadEstimate{initial},
                                                                                        WorkloadEstimate{initial}} {}

    /// The calibration whose `series()` is given. Throws std::invalid_argument as the constructor does.
    ///
    /// Error: `gpu_empty`, `vram_zero` or `name_too_long` as `observe`, `too_many_classes` for more than `series_max`,
    /// and `parameter_invalid` for series that are out of order, repeated or impossible.
    /// @complexity linear in the series.
    [[nodiscard]] static auto restore(std::vector<WorkloadSeries> series, const WorkloadCosts& initial = {},
                                      const Parameters& parameters = {}) -> Result<WorkloadCalibration> {
        auto restored = WorkloadCalibration{initial, parameters};
        if (series.size() > parameters.series_max) { return Failure{Error::too_many_classes}; }
        for (const auto& next : series) {
            if (const auto error = restored.refusal(next.configuration, next.gpu, next.vram)) {
                return Failure{*error};
            }
            const auto ascending = &next == series.data() || (&next)[-1].key() < next.key();
            if (!ascending || enumerator_name(next.kind).empty() || next.samples == 0 || !next.fit.valid()) {
                return Failure{Error::parameter_invalid};
            }
            restored.publish(next);
        }
        restored.series_ = std::move(series);
        return restored;
    }

    /// Records the run time of a task. `work` is the work done: its `new_tokens_max` is the number of tokens made.
    /// Exclude the time to load models.
    ///
    /// Error: `gpu_empty`, `vram_zero` or `name_too_long`; `parameter_invalid` for work whose initial cost is nothing
    /// or the overhead alone; `duration_invalid` for a duration that is not positive or at least 2^32 ms, or for work
    /// of such an initial cost; `too_many_classes` for more series than `series_max`. On error nothing changes, nor if
    /// an allocation throws.
    /// @complexity logarithmic to find, linear to insert, two times `RidgeFit::factors`.
    auto observe(std::string_view configuration, std::string_view gpu, Gibibytes vram, const Workload& work,
                 Duration duration) -> std::optional<Error> {
        if (const auto error = refusal(configuration, gpu, vram)) { return error; }
        const auto parts = initially(work);
        if (std::all_of(parts.begin() + 1, parts.end(), [](const Real& part) { return part == Real{}; })) {
            return Error::parameter_invalid;
        }
        if (duration <= Duration{0} || milliseconds(duration) > time_max || !time_of(work, initial_)) {
            return Error::duration_invalid;
        }
        const auto kind = kind_of(work);
        const auto key = Key{kind, configuration, vram, gpu};
        const auto place = std::lower_bound(series_.begin(), series_.end(), key, before);
        const auto index = place - series_.begin();
        const auto known = place != series_.end() && place->key() == key;
        if (!known && series_.size() >= parameters_.series_max) { return Error::too_many_classes; }
        auto next = known ? *place : WorkloadSeries{kind, std::string{configuration}, vram, std::string{gpu}, 0, {}};
        auto predicted = Real{};
        const auto factors = next.fit.factors(parameters_.regularization);
        for (std::size_t i = 0; i < parts.size(); ++i) { predicted += factors[i] * parts[i]; }
        const auto most = std::max(predicted, Real::from(1)) * Real::from(std::uint64_t{parameters_.residual_max} + 1);
        next.fit.add(parts, std::min(Real::from(milliseconds(duration)), most), parameters_.alpha);
        next.samples += next.samples < 0xFFFF'FFFFU ? 1U : 0U;
        // All calls that may throw for lack of memory come first, so that nothing has changed then.
        detail::make_room(series_, series_.size() + (known ? 0U : 1U));
        publish(next);
        if (known) {
            series_[static_cast<std::size_t>(index)] = std::move(next);
        } else {
            series_.insert(series_.begin() + index, std::move(next));
        }
        return std::nullopt;
    }

    /// As `WorkloadEstimate::on_card`, by the cards measured with this kind of work; the errors are the same.
    [[nodiscard]] auto on_card(const Workload& work, std::string_view configuration, std::string_view gpu,
                               Gibibytes vram) const -> Result<Duration> {
        return estimate(kind_of(work)).on_card(work, configuration, gpu, vram);
    }
    /// As `WorkloadEstimate::on_any`, by the cards measured with this kind of work; the errors are the same.
    [[nodiscard]] auto on_any(const Workload& work, std::string_view configuration, Gibibytes vram_asked) const
        -> Result<Duration> {
        return estimate(kind_of(work)).on_any(work, configuration, vram_asked);
    }
    /// As `WorkloadEstimate::cautious_on_card`, by the cards measured with this kind of work; the errors are the same.
    [[nodiscard]] auto cautious_on_card(const Workload& work, std::string_view configuration, std::string_view gpu,
                                        Gibibytes vram) const -> Result<Duration> {
        return estimate(kind_of(work)).cautious_on_card(work, configuration, gpu, vram);
    }

    /// The fitted costs of a card, valid; the costs of other kinds of work are the initial ones. Empty before the
    /// warm-up.
    /// @complexity logarithmic to find, `RidgeFit::factors`.
    [[nodiscard]] auto costs(WorkloadKind kind, std::string_view configuration, std::string_view gpu,
                             Gibibytes vram) const -> std::optional<WorkloadCosts> {
        const auto key = Key{kind, configuration, vram, gpu};
        const auto place = std::lower_bound(series_.begin(), series_.end(), key, before);
        const auto known = place != series_.end() && place->key() == key;
        return known && ready(*place) ? std::optional{fitted(*place)} : std::nullopt;
    }

    /// All series in order, to be saved or inspected.
    [[nodiscard]] auto series() const noexcept -> const std::vector<WorkloadSeries>& { return series_; }
    [[nodiscard]] auto initial() const noexcept -> const WorkloadCosts& { return initial_; }
    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }

    friend auto operator==(const WorkloadCalibration&, const WorkloadCalibration&) -> bool = default;

private:
    using Key = decltype(WorkloadSeries{}.key());

    static constexpr std::uint64_t time_max = 0xFFFF'FFFF;  ///< Greatest time in milliseconds, of a sample and of each
                                                            ///< cost.

    [[nodiscard]] static auto before(const WorkloadSeries& series, const Key& key) -> bool {
        return series.key() < key;
    }
    [[nodiscard]] static constexpr auto kind_of(const Workload& work) noexcept -> WorkloadKind {
        return std::holds_alternative<ImageWork>(work) ? WorkloadKind::images : WorkloadKind::text;
    }
    [[nodiscard]] static constexpr auto milliseconds(Duration time) noexcept -> std::uint64_t {
        return static_cast<std::uint64_t>(time.count());
    }

    [[nodiscard]] auto refusal(std::string_view configuration, std::string_view gpu, Gibibytes vram) const
        -> std::optional<Error> {
        if (gpu.empty()) { return Error::gpu_empty; }
        if (vram == Gibibytes{}) { return Error::vram_zero; }
        if (std::max(configuration.size(), gpu.size()) > parameters_.name_bytes_max) { return Error::name_too_long; }
        return std::nullopt;
    }

    /// The overhead, then the time of each part of the work, at the initial costs.
    [[nodiscard]] auto initially(const Workload& work) const -> RidgeFit::Parts {
        constexpr auto part = [](u128 units, const Rate& rate) { return Real::from(units) * per_unit(rate); };
        auto parts = RidgeFit::Parts{Real::from(milliseconds(initial_.overhead))};
        if (const auto* images = std::get_if<ImageWork>(&work)) {
            parts[1] = part(images->pixel_steps(), initial_.pixel_step);
        } else if (const auto* text = std::get_if<TextWork>(&work)) {
            parts[1] = part(text->text_bytes, initial_.text_byte);
            parts[2] = part(text->new_tokens_max, initial_.new_token);
            parts[3] = part(text->images, initial_.image);
            parts[4] = part(text->pixels, initial_.pixel);
        }
        return parts;
    }
    [[nodiscard]] static constexpr auto per_unit(const Rate& rate) noexcept -> Real {
        return Real::ratio(milliseconds(rate.time), rate.units);
    }

    /// The costs for the factors of `initially`.
    [[nodiscard]] auto fitted(const WorkloadSeries& series) const -> WorkloadCosts {
        const auto factors = series.fit.factors(parameters_.regularization);
        auto costs = initial_;
        costs.overhead = Duration{
            static_cast<std::int64_t>((factors[0] * Real::from(milliseconds(initial_.overhead))).rounded(0, time_max))};
        if (series.kind == WorkloadKind::images) {
            costs.pixel_step = scaled(factors[1], initial_.pixel_step);
        } else {
            costs.text_byte = scaled(factors[1], initial_.text_byte);
            costs.new_token = scaled(factors[2], initial_.new_token);
            costs.image = scaled(factors[3], initial_.image);
            costs.pixel = scaled(factors[4], initial_.pixel);
        }
        return costs;
    }
    /// The multiple of a rate, with as many units as fit: up to 2^31, so that rounding is small.
    [[nodiscard]] static constexpr auto scaled(const Real& factor, const Rate& initial) noexcept -> Rate {
        const auto unit = factor * per_unit(initial);
        auto shift = 31;
        while (shift > 0 && unit.rounded(shift, time_max) == time_max) { --shift; }
        return {Duration{static_cast<std::int64_t>(unit.rounded(shift, time_max))}, std::uint32_t{1} << shift};
    }

    [[nodiscard]] auto estimate(WorkloadKind kind) const noexcept -> const WorkloadEstimate& {
        return estimates_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] auto ready(const WorkloadSeries& series) const noexcept -> bool {
        return series.samples >= parameters_.warmup;
    }
    /// Gives the costs of the series to the estimates, once it is ready.
    void publish(const WorkloadSeries& series) {
        if (ready(series)) {
            estimates_[static_cast<std::size_t>(series.kind)].calibrate(series.configuration, series.gpu, series.vram,
                                                                        fitted(series));
        }
    }

    Parameters parameters_{};
    WorkloadCosts initial_{};
    std::vector<WorkloadSeries> series_;           // in the order of their keys
    std::array<WorkloadEstimate, 2> estimates_{};  // by kind; their whole content follows from `series_`
};

}}  // namespace allot::v0
