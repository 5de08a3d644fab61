#include <allot/preset/crynux_relay_2026.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_crynux_relay_2026(allot::Amount) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::CrynuxRelay2026>>>(
        allot::Dispatcher<allot::preset::CrynuxRelay2026>{});
}

}  // namespace simulate
