#include <allot/preset/crynux_contracts.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_crynux_contracts_2(allot::Amount) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::CrynuxContracts2>>>(
        allot::Dispatcher<allot::preset::CrynuxContracts2>{});
}

}  // namespace simulate
