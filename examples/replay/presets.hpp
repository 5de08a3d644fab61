#pragma once

#include <vector>

#include "options.hpp"

namespace replay {

class Output;

/// A composition of policies for playing a log.
struct Composition {
    const char* name;
    Status (*run)(const Options& options, Output& output);
};

[[nodiscard]] auto compositions() -> const std::vector<Composition>&;

}  // namespace replay
