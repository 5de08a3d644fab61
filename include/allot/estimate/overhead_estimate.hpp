#pragma once

#include <cstdint>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `OverheadEstimate`. The first two are those of the tables of seed 003; the seed gives no length for a
/// text.
struct OverheadEstimateParameters {
    Duration overhead = std::chrono::seconds{30};  ///< Time of all work but the images: arguments, models,
                                                   ///< verification, upload.
    Duration image = std::chrono::seconds{20};     ///< Time of one image.
    Duration text = std::chrono::seconds{20};      ///< Time of a GPT task's text, for any number of tokens.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto fits = [](Duration d) { return d >= Duration{0} && d.count() < std::int64_t{1} << 32U; };
        return detail::first_unmet({
            {fits(overhead), "allot: OverheadEstimate: overhead must be 0 or more and below 2^32 ms"},
            {fits(image), "allot: OverheadEstimate: image must be 0 or more and below 2^32 ms"},
            {fits(text), "allot: OverheadEstimate: text must be 0 or more and below 2^32 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const OverheadEstimateParameters&, const OverheadEstimateParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(OverheadEstimateParameters, overhead, image, text)

/// Estimates the run time of a task, for `TaskSpec::duration_estimate`: overhead + images × the time of one image; a
/// GPT task takes a fixed time (seed 003).
///
/// Query it before `submit`; the dispatcher knows nothing of images.
class OverheadEstimate {
public:
    using Parameters = OverheadEstimateParameters;

    constexpr OverheadEstimate() noexcept = default;
    constexpr explicit OverheadEstimate(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Time of a task that makes this number of images. Error: `duration_invalid` for a time of zero or at least 2^32
    /// ms.
    [[nodiscard]] constexpr auto images(std::uint32_t count) const noexcept -> Result<Duration> {
        return total(u128{count} * static_cast<std::uint64_t>(parameters_.image.count()));
    }
    /// Time of a GPT task. Error: as `images`.
    [[nodiscard]] constexpr auto text() const noexcept -> Result<Duration> {
        return total(static_cast<std::uint64_t>(parameters_.text.count()));
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }

private:
    [[nodiscard]] constexpr auto total(u128 work_ms) const noexcept -> Result<Duration> {
        const auto sum = work_ms + static_cast<std::uint64_t>(parameters_.overhead.count());
        if (!sum || sum >> 32) { return Failure{Error::duration_invalid}; }
        return Duration{static_cast<std::int64_t>(sum.low())};
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
