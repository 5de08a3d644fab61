#include <allot/preset/crynux_contracts.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_crynux_contracts_1(allot::Amount) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::CrynuxContracts1>>>(
        allot::Dispatcher<allot::preset::CrynuxContracts1>{});
}

}  // namespace simulate
