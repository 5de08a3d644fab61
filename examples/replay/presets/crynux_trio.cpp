#include <allot/preset/crynux_trio.hpp>

#include "../presets.hpp"

#include "../play.hpp"

namespace replay {

auto run_crynux_trio(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<allot::preset::CrynuxTrio>{});
}

}  // namespace replay
