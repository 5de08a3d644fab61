#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <allot/core/time.hpp>
#include <allot/validation/comparison.hpp>
#include <allot/validation/sampling.hpp>

namespace allot { inline namespace v0 {

/// Number of tasks in a validation group.
inline constexpr auto group_size = std::size_t{3};

/// Parameters of a validation group. The defaults are those of the 2026 relay (spec: crynux.md 2.6, 2.9), except for
/// the treatment of error reports, which `relay_2026` includes. The contracts have `.rank_points = {10, 9, 6}`,
/// `.sampling = {1, 10}` and a distance of 24, before that 5.
struct ValidationParameters {
    Comparison comparison{};  ///< Defines when two results count as equal.
    /// The probability that a hidden task has to be in a group.
    SamplingRate sampling{};
    std::array<std::uint32_t, group_size> rank_points{10, 5, 2};  ///< Points by speed: positive and never increasing.
    /// Members must run on nodes of one class, such as one GPU model, because results differ between classes.
    bool same_class = false;
    /// Ranks count right answers only, so that a fast wrong one costs the right ones no points.
    bool rank_right_only = false;
    /// An answer equal to either of the two that agree is right; else it must equal the faster one.
    bool chain_matches = false;
    /// A wrong answer forfeits the stake; else it is a failure, to be reviewed by a person.
    bool slash_wrong = true;
    /// The creator's time for a verdict, in ms; after it results are paid.
    Duration creator_window = std::chrono::seconds{600};
    /// Time to upload the result that counts, in ms; after it the fee is refunded.
    Duration upload_window = std::chrono::seconds{600};
    /// Time of a referee to do the work again when results differ, in ms. Zero: two that agree name the third one
    /// wrong.
    Duration referee_window{0};
    std::uint32_t result_bytes_max = 65'536;  ///< Greatest length of a result in bytes; at least 1.
    /// Two error reports make a result wrong, and two results make an error report slashable.
    bool slash_across_errors = false;
    /// An error report is paid like a result if the creator gives no verdict in time.
    bool pay_unheard_errors = false;

    /// Parameters of the 2026 relay, with its treatment of error reports.
    [[nodiscard]] static constexpr auto relay_2026() noexcept -> ValidationParameters {
        auto parameters = ValidationParameters{};
        parameters.slash_across_errors = true;
        parameters.pay_unheard_errors = true;
        return parameters;
    }

    /// Parameters for a network of untrusted parties: a referee names the members that are wrong, and a fast wrong
    /// answer costs the right ones no points.
    [[nodiscard]] static constexpr auto hardened() noexcept -> ValidationParameters {
        auto parameters = ValidationParameters{};
        parameters.referee_window = std::chrono::seconds{600};
        parameters.rank_right_only = true;
        return parameters;
    }

    /// True if every parameter is in its range: windows above 0 and below 2^32 ms, that of the referee from 0.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        const auto window = [](Duration d) { return d > Duration{0} && d < Duration{std::int64_t{1} << 32}; };
        return comparison.valid() && sampling.valid() && rank_points[2] > 0 && rank_points[1] >= rank_points[2] &&
               rank_points[0] >= rank_points[1] && window(creator_window) && window(upload_window) &&
               (referee_window == Duration{0} || window(referee_window)) && result_bytes_max > 0;
    }
    friend constexpr auto operator==(const ValidationParameters&, const ValidationParameters&) noexcept
        -> bool = default;
};

}}  // namespace allot::v0
