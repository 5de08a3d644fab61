#include <allot/preset/hardened.hpp>

#include "../engine_of.hpp"

namespace service {

auto open_hardened(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<allot::preset::Hardened>{allot::preset::Hardened{options.stake_cap}});
}

}  // namespace service
