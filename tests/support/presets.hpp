#pragma once

#include <type_traits>

// The dispatchers of the presets, compiled once, as an embedder can do it.
#include <allot/compiled/crynux_contracts.hpp>
#include <allot/compiled/crynux_relay_2026.hpp>
#include <allot/compiled/crynux_single.hpp>
#include <allot/compiled/crynux_trio.hpp>
#include <allot/compiled/hardened.hpp>

#include "support/instances.hpp"

namespace support {

/// Makes the dispatcher of a preset, for the plain nodes of support/network.hpp.
template <class Preset>
auto network() -> allot::Dispatcher<Preset> {
    if constexpr (std::is_same_v<Preset, allot::preset::Hardened>) {
        return allot::Dispatcher<Preset>{Preset{1'000, 50}};
    } else if constexpr (std::is_same_v<Preset, allot::preset::CrynuxRelay2026>) {
        return allot::Dispatcher<Preset>{Preset{1}};
    } else {
        return allot::Dispatcher<Preset>{Preset{}};
    }
}

}  // namespace support
