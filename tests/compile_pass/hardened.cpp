// The hardened preset as a whole; its pool is the default, and its queue orders as the default does.
#include <type_traits>

#include <allot/preset/hardened.hpp>

template class allot::Dispatcher<allot::preset::Hardened>;

using Preset = allot::Dispatcher<allot::preset::Hardened>;
static_assert(std::is_same_v<Preset::CandidatePool, allot::CandidatePool>);
static_assert(std::is_same_v<Preset::TaskQueue, allot::ShareQueue<allot::TaskQueue>>);
static_assert(std::is_same_v<Preset::WeightPolicy, allot::LinearWeight>);
