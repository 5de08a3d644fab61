#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

namespace bench {

/// Draws by the GNU Scientific Library: Walker's alias table, built anew for each draw.
class GslSampler {
public:
    auto operator()(const std::vector<double>& weights, std::mt19937_64&) const -> std::size_t {
        const auto table = std::unique_ptr<gsl_ran_discrete_t, decltype(&gsl_ran_discrete_free)>{
            gsl_ran_discrete_preproc(weights.size(), weights.data()), &gsl_ran_discrete_free};
        return gsl_ran_discrete(engine_.get(), table.get());
    }

private:
    std::unique_ptr<gsl_rng, decltype(&gsl_rng_free)> engine_{gsl_rng_alloc(gsl_rng_mt19937), &gsl_rng_free};
};

}  // namespace bench
