#include <allot/preset/crynux_trio.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_crynux_trio(allot::Amount) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::CrynuxTrio>>>(
        allot::Dispatcher<allot::preset::CrynuxTrio>{});
}

}  // namespace simulate
