// A replica that decides otherwise: leases are a second longer than those of the preset plain, whose name it uses. With
// it check_cluster.py sees that a replica which differs from the others is found.
#include "engine_of.hpp"

namespace service {

auto open_plain(const Engine::Options& options) -> std::unique_ptr<Engine> {
    return open_engine(options,
                       allot::Dispatcher{allot::FixedTerms{{.estimates = 2, .length_min = std::chrono::seconds{61}}}});
}

}  // namespace service
