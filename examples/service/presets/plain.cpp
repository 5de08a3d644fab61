#include "../engine_of.hpp"

namespace service {

auto open_plain(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options, allot::Dispatcher<>{});
}

}  // namespace service
