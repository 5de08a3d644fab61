#pragma once

#include <memory>
#include <utility>

#include "folder_engine.hpp"
#ifdef ALLOT_SERVICE_ETCD
#    include "cluster_engine.hpp"
#endif

namespace service {

/// Opens the engine of a preset: a replica on etcd if the options name a cluster, else a single one.
template <class Dispatcher>
auto open_engine(const Engine::Options& options, Dispatcher composed) -> std::unique_ptr<Engine> {
#ifdef ALLOT_SERVICE_ETCD
    if (options.cluster) { return std::make_unique<ClusterEngine<Dispatcher>>(options, std::move(composed)); }
#endif
    return std::make_unique<FolderEngine<Dispatcher>>(options, std::move(composed));
}

}  // namespace service
