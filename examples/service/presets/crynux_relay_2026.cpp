#include <allot/preset/crynux_relay_2026.hpp>

#include "../engine_of.hpp"

namespace service {

auto open_crynux_relay_2026(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<allot::preset::CrynuxRelay2026>{});
}

}  // namespace service
