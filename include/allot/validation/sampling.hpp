#pragma once

#include <cstdint>

#include <allot/core/id.hpp>
#include <allot/core/random.hpp>

namespace allot { inline namespace v0 {

/// How often a task is validated by a group: num / den, exactly. Certain when num = den, never when num = 0.
struct SamplingRate {
    std::uint64_t num = 1;
    std::uint64_t den = 100;  ///< Not zero, and not below `num`. The relays sample one task in 100, the contracts one in 10.

    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return den != 0 && num <= den; }
    friend constexpr auto operator==(const SamplingRate&, const SamplingRate&) noexcept -> bool = default;
};

/// Whether a task is sampled, a fact that whoever knows the entropy can check.
///
/// The entropy is a random value its maker can prove and could not choose, such as a VRF output over a seed given out after
/// submission; proving it is the embedder's. Nodes must not know it while they work.
/// @pre `rate.valid()`.
[[nodiscard]] constexpr auto sampled(const Entropy& entropy, const TaskId& task, SamplingRate rate) noexcept -> bool {
    return Random{entropy, Purpose::validation, task.bytes()}.below(rate.den) < rate.num;
}

/// The decision as the relays and contracts take it: the 32 bytes of the VRF output as a number, the highest byte first, is a
/// multiple of `one_in`. So task ids play no part, and the output must be of the task.
/// @pre `one_in > 0`.
[[nodiscard]] constexpr auto sampled_as_contracts(const Entropy& vrf_output, std::uint64_t one_in) noexcept -> bool {
    auto rest = u128{0};
    for (const auto byte : vrf_output.bytes()) { rest = ((rest << 8U) + byte) % one_in; }
    return rest == 0;
}

}}  // namespace allot::v0
