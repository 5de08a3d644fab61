#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <allot/core/time.hpp>
#include <allot/validation/comparison.hpp>
#include <allot/validation/sampling.hpp>

namespace allot { inline namespace v0 {

/// How many tasks a validation group has.
inline constexpr auto group_size = std::size_t{3};

/// Parameters of a validation group; the defaults are those of the 2026 relay (spec: crynux.md 2.6, 2.9) but for what it makes
/// of error reports: `relay_2026` has that too. The contracts have `.rank_points = {10, 9, 6}`, `.sampling = {1, 10}` and a
/// distance of 24, before that 5.
struct ValidationParameters {
    Comparison comparison{};                                      ///< When two results are the same.
    SamplingRate sampling{};                                      ///< How often a hidden task has to be in a group.
    std::array<std::uint32_t, group_size> rank_points{10, 5, 2};  ///< Points by speed: positive, none above the one before.
    bool same_class = false;       ///< Members run on nodes of one class, such as one GPU model, for else results differ.
    bool rank_right_only = false;  ///< Ranks count right answers only, so that a fast wrong one costs the right ones nothing.
    bool chain_matches = false;    ///< Who matches either of the two that agree is right; else it has to match the faster.
    bool slash_wrong = true;       ///< A wrong answer forfeits the stake; else it is a failure, for somebody to review.
    Duration creator_window = std::chrono::seconds{600};  ///< The creator's time for a verdict; then results are paid.
    Duration upload_window = std::chrono::seconds{600};   ///< Time to upload the result that counts; then the fee is refunded.
    std::uint32_t result_bytes_max = 65'536;              ///< Longer results are refused; at least 1.
    bool slash_across_errors = false;  ///< Two error reports make a result wrong, and two results an error report slashable.
    bool pay_unheard_errors = false;   ///< An error report is paid like a result when the creator gives no verdict in time.

    /// Those of the 2026 relay, with all it makes of error reports.
    [[nodiscard]] static constexpr auto relay_2026() noexcept -> ValidationParameters {
        auto parameters = ValidationParameters{};
        parameters.slash_across_errors = true;
        parameters.pay_unheard_errors = true;
        return parameters;
    }

    /// True when the parameters make sense together.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        const auto window = [](Duration d) { return d > Duration{0} && d < Duration{std::int64_t{1} << 32}; };
        return comparison.valid() && sampling.valid() && rank_points[2] > 0 && rank_points[1] >= rank_points[2] &&
               rank_points[0] >= rank_points[1] && window(creator_window) && window(upload_window) && result_bytes_max > 0;
    }
    friend constexpr auto operator==(const ValidationParameters&, const ValidationParameters&) noexcept -> bool = default;
};

}}  // namespace allot::v0
