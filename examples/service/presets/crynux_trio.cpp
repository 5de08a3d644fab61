#include <allot/preset/crynux_trio.hpp>

#include "../engine_of.hpp"

namespace service {

auto open_crynux_trio(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<allot::preset::CrynuxTrio>{});
}

}  // namespace service
