#include <allot/preset/hardened.hpp>

#include "../play.hpp"
#include "../presets.hpp"

namespace replay {

auto run_hardened(const Options& options, Output& output) -> Status {
    const auto stake_cap = allot::parse_decimal(options.stake_cap);
    if (!stake_cap || *stake_cap == allot::u128{}) {
        throw InputError{
            "--policies hardened needs --stake-cap, the stake of a large honest node, a whole number from 1"};
    }
    return run(options, output,
               allot::Dispatcher<allot::preset::Hardened>{allot::preset::Hardened{allot::Amount{*stake_cap}}});
}

}  // namespace replay
