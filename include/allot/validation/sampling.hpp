#pragma once

#include <cstdint>

#include <allot/core/id.hpp>
#include <allot/core/random.hpp>

namespace allot { inline namespace v0 {

/// The probability num / den, exactly, that a group validates a task. Certain if num = den, never if num = 0.
struct SamplingRate {
    std::uint64_t num = 1;
    /// Not zero, and at least `num`. The relays sample one task in 100, the contracts one in 10.
    std::uint64_t den = 100;

    /// True if `den` is not 0 and `num` is at most `den`.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return den != 0 && num <= den; }
    friend constexpr auto operator==(const SamplingRate&, const SamplingRate&) noexcept -> bool = default;
};

/// True if a task is sampled. Each holder of the entropy can check this.
///
/// The entropy is a random value that its maker can prove and could not choose, such as a VRF output over a seed given
/// out after submission. The embedder checks the proof. Nodes must not know the entropy while they work.
/// @pre `rate.valid()`.
[[nodiscard]] constexpr auto sampled(const Entropy& entropy, const TaskId& task, SamplingRate rate) noexcept -> bool {
    return Random{entropy, Purpose::validation, task.bytes()}.below(rate.den) < rate.num;
}

/// True if a task is sampled by the rule of the relays and contracts. The VRF output's 32 bytes, as a number with the
/// highest byte first, are then a multiple of `one_in`. Task ids play no part, so the output must belong to the task.
/// @pre `one_in > 0`.
/// @complexity O(1).
[[nodiscard]] constexpr auto sampled_as_contracts(const Entropy& vrf_output, std::uint64_t one_in) noexcept -> bool {
    auto rest = u128{0};
    for (const auto byte : vrf_output.bytes()) { rest = ((rest << 8U) + byte) % one_in; }
    return rest == 0;
}

}}  // namespace allot::v0
