#pragma once

#include <cstdint>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `OverheadEstimate`. The first two are those of the tables of seed 003; the seed gives no length for a text.
struct OverheadEstimateParameters {
    Duration overhead = std::chrono::seconds{30};  ///< Everything but the images: arguments, models, verification, upload.
    Duration image = std::chrono::seconds{20};     ///< One image.
    Duration text = std::chrono::seconds{20};      ///< The text of a GPT task, however many tokens it has.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto fits = [](Duration d) { return d >= Duration{0} && d.count() < std::int64_t{1} << 32U; };
        return detail::first_unmet({
            {fits(overhead), "allot: OverheadEstimate: overhead must be 0 or more and below 2^32 ms"},
            {fits(image), "allot: OverheadEstimate: image must be 0 or more and below 2^32 ms"},
            {fits(text), "allot: OverheadEstimate: text must be 0 or more and below 2^32 ms"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const OverheadEstimateParameters&, const OverheadEstimateParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(OverheadEstimateParameters, overhead, image, text)

/// Estimates how long a task takes, for `TaskSpec::duration_estimate`: overhead + images × the time of one image; a GPT task
/// takes a fixed time (seed 003).
///
/// A value to be asked before `submit`; the dispatcher knows nothing of images.
class OverheadEstimate {
public:
    using Parameters = OverheadEstimateParameters;

    constexpr OverheadEstimate() noexcept = default;
    constexpr explicit OverheadEstimate(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Time of a task that makes so many images. Fails with `duration_invalid` when it is zero or 2^32 ms and more.
    [[nodiscard]] constexpr auto images(std::uint32_t count) const noexcept -> Result<Duration> {
        return total(u128{count} * static_cast<std::uint64_t>(parameters_.image.count()));
    }
    /// Time of a GPT task. Fails as `images`.
    [[nodiscard]] constexpr auto text() const noexcept -> Result<Duration> {
        return total(static_cast<std::uint64_t>(parameters_.text.count()));
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }

private:
    [[nodiscard]] constexpr auto total(u128 work_ms) const noexcept -> Result<Duration> {
        const auto sum = work_ms + static_cast<std::uint64_t>(parameters_.overhead.count());
        if (!sum || sum >> 32) {
            return Failure{Error::duration_invalid};
        }
        return Duration{static_cast<std::int64_t>(sum.low())};
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
