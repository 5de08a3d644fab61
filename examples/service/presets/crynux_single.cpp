#include <allot/preset/crynux_single.hpp>

#include "../engine_of.hpp"

namespace service {

auto open_crynux_single(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<allot::preset::CrynuxSingle>{});
}

}  // namespace service
