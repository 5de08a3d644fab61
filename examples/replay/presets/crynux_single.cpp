#include <allot/preset/crynux_single.hpp>

#include "../play.hpp"
#include "../presets.hpp"

namespace replay {

auto run_crynux_single(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<allot::preset::CrynuxSingle>{});
}

}  // namespace replay
