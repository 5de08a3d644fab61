// error: allot: a weight policy with `holder_weight_min` needs a candidate pool with `auto total.const SamplingFrame&. const -> std::uint64_t`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>
#include <allot/weight/linear_weight.hpp>

auto dispatcher = allot::Dispatcher{allot::LinearWeight{}, allot::archetype::Pool{}};
