#include <allot/preset/crynux_single.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_crynux_single(allot::Amount) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::CrynuxSingle>>>(
        allot::Dispatcher<allot::preset::CrynuxSingle>{});
}

}  // namespace simulate
