#include <allot/preset/crynux_trio.hpp>

#include "../play.hpp"
#include "../presets.hpp"

namespace replay {

auto run_crynux_trio(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<allot::preset::CrynuxTrio>{});
}

}  // namespace replay
