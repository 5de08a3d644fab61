#include <allot/preset/crynux_contracts.hpp>

#include "../engine_of.hpp"

namespace service {

auto open_crynux_contracts_2(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<allot::preset::CrynuxContracts2>{});
}

}  // namespace service
