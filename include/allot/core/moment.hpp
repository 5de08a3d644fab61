#pragma once

#include <optional>

#include <allot/core/random.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// All that the world supplies with a command: the time, and perhaps 256 bits of entropy.
///
/// Without entropy nothing is drawn and tasks wait; `match` with entropy places them. Entropy is a block hash, a VRF output,
/// a beacon value or a seed; whoever submits a command must not know it in advance.
struct Moment {
    TimePoint time{};
    std::optional<Entropy> entropy{};
};

}}  // namespace allot::v0
