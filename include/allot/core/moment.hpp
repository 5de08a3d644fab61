#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/random.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// The external input of a command: the time, and optionally 256 bits of entropy.
///
/// Without entropy nothing is drawn and tasks wait; `match` with entropy places them. Entropy is a block hash, a VRF
/// output, a beacon value or a seed; the party that submits a command must not know it in advance.
struct Moment {
    TimePoint time{};
    std::optional<Entropy> entropy{};
    std::optional<std::uint64_t> round{};  ///< Round of the beacon that the entropy is from, so that any party can look
                                           ///< it up.
};

}}  // namespace allot::v0
