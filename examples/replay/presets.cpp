#include "presets.hpp"

#include <allot/compiled/crynux_contracts.hpp>
#include <allot/compiled/crynux_relay_2026.hpp>
#include <allot/compiled/crynux_single.hpp>
#include <allot/compiled/crynux_trio.hpp>
#include <allot/compiled/hardened.hpp>

#include "play.hpp"

// All in one file, which compiles in a third of the time of a file each: they share most of what is instantiated.

namespace replay {
namespace {

template <class P>
auto run_with(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<P>{});
}

auto run_hardened(const Options& options, Output& output) -> Status {
    using allot::preset::Hardened;
    const auto stake_cap = allot::parse_decimal(options.stake_cap);
    if (!stake_cap || *stake_cap == allot::u128{}) {
        throw InputError{
            "--policies hardened needs --stake-cap, the stake of a large honest node, a whole number from 1"};
    }
    return run(options, output, allot::Dispatcher<Hardened>{Hardened{allot::Amount{*stake_cap}}});
}

}  // namespace

auto compositions() -> const std::vector<Composition>& {
    static const auto all = std::vector<Composition>{
        {"crynux_single", &run_with<allot::preset::CrynuxSingle>},
        {"crynux_trio", &run_with<allot::preset::CrynuxTrio>},
        {"crynux_contracts_1", &run_with<allot::preset::CrynuxContracts1>},
        {"crynux_contracts_2", &run_with<allot::preset::CrynuxContracts2>},
        {"crynux_relay_2026", &run_with<allot::preset::CrynuxRelay2026>},
        {"hardened", &run_hardened},
    };
    return all;
}

}  // namespace replay
