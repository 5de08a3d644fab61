#include <allot/preset/hardened.hpp>

#include "../network_of.hpp"

namespace simulate {

auto open_hardened(allot::Amount stake_cap) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<allot::preset::Hardened>>>(
        allot::Dispatcher<allot::preset::Hardened>{allot::preset::Hardened{stake_cap}});
}

}  // namespace simulate
