#include <allot/preset/crynux_contracts.hpp>

#include "../play.hpp"
#include "../presets.hpp"

namespace replay {

auto run_crynux_contracts_2(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<allot::preset::CrynuxContracts2>{});
}

}  // namespace replay
