#pragma once

#include <string>

namespace service::etcd {

/// How a connection to etcd is encrypted and signed, in PEM form. Without roots it is neither.
struct Tls {
    std::string roots{};        ///< Certificates that sign those of etcd's members.
    std::string certificate{};  ///< The replica's chain, its own first; empty: etcd asks for none.
    std::string key{};
};

}  // namespace service::etcd
