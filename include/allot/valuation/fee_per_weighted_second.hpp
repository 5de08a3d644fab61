#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/task_valuation.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `FeePerWeightedSecond`; the defaults are those of the 2026 relay (spec: crynux.md 2.5).
struct FeePerWeightedSecondParameters {
    Gibibytes vram_base{8};                                    ///< VRAM of weight one; less VRAM has weight one, too.
    Duration estimate_min = std::chrono::milliseconds{1'000};  ///< A shorter estimate counts as this.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {vram_base.count >= 1 && vram_base.count <= 4'096,
             "allot: FeePerWeightedSecond: vram_base must be 1 to 4,096 GiB"},
            {estimate_min > Duration{0} && estimate_min.count() < std::int64_t{1} << 32U,
             "allot: FeePerWeightedSecond: estimate_min must be positive and below 2^32 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const FeePerWeightedSecondParameters&,
                                     const FeePerWeightedSecondParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(FeePerWeightedSecondParameters, vram_base, estimate_min)

/// The priority of 2026: ⌊fee / (estimated seconds × VRAM weight)⌋, where the weight is max(VRAM asked, 8) / 8 (spec:
/// crynux.md 2.5). So an hour of a large card costs more than an hour of a small one.
///
/// It is exact where the relay rounds to 64 bits. The VRAM asked is that of the exact card, and the least one where
/// several are listed. Where no card is exact it is the least VRAM of the task.
class FeePerWeightedSecond {
public:
    using role = role::valuation;
    using Parameters = FeePerWeightedSecondParameters;

    constexpr FeePerWeightedSecond() noexcept = default;
    constexpr explicit FeePerWeightedSecond(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] auto value(const Task& task, const Requirement& requirement) const noexcept -> Value {
        const auto base = parameters_.vram_base.count;
        const auto vram = std::max(vram_asked(requirement), base);
        const auto time =
            static_cast<std::uint64_t>(std::max(Duration{task.duration_estimate}, parameters_.estimate_min).count());
        // Below 2^96 · 2^10 · 2^12, over less than 2^64: nothing overflows.
        return {task.fee.units * u128{1'000U * std::uint64_t{base}} / (u128{time} * u128{vram}), 1};
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    [[nodiscard]] static auto vram_asked(const Requirement& requirement) noexcept -> std::uint32_t {
        if (requirement.gpus.empty()) { return requirement.vram_min.count; }
        auto least = std::numeric_limits<std::uint32_t>::max();
        for (const auto& choice : requirement.gpus) {
            least = std::min(least, choice.vram.count > 0 ? choice.vram.count : requirement.vram_min.count);
        }
        return least;
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0
