#include <allot/preset/crynux_relay_2026.hpp>

#include "../play.hpp"
#include "../presets.hpp"

namespace replay {

auto run_crynux_relay_2026(const Options& options, Output& output) -> Status {
    return run(options, output, allot::Dispatcher<allot::preset::CrynuxRelay2026>{});
}

}  // namespace replay
