#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include <boost/random/discrete_distribution.hpp>

namespace bench {

/// Draws by Boost.Random, which builds an alias table: fast for many draws, but here each draw has weights of its own.
struct BoostSampler {
    auto operator()(const std::vector<double>& weights, std::mt19937_64& engine) const -> std::size_t {
        return boost::random::discrete_distribution<std::size_t>{weights}(engine);
    }
};

}  // namespace bench
