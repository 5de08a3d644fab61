// Every preset is instantiated once as a whole, and so is the dispatcher that its policies make without it.
#include <type_traits>

#include <allot/preset/crynux_contracts.hpp>
#include <allot/preset/crynux_relay_2026.hpp>
#include <allot/preset/crynux_single.hpp>
#include <allot/preset/crynux_trio.hpp>

template class allot::Dispatcher<allot::preset::CrynuxSingle>;
template class allot::Dispatcher<allot::preset::CrynuxTrio>;
template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;
template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
template class allot::Dispatcher<allot::preset::CrynuxContracts2>;

// The preset's policies are the defaults.
using Preset = allot::Dispatcher<allot::preset::CrynuxSingle>;
using Default = allot::Dispatcher<>;
static_assert(std::is_same_v<Preset::WeightPolicy, Default::WeightPolicy>);
static_assert(std::is_same_v<Preset::CandidatePool, Default::CandidatePool>);
static_assert(std::is_same_v<Preset::TaskQueue, Default::TaskQueue>);
static_assert(std::is_same_v<Preset::QoSTracker, Default::QoSTracker>);
static_assert(std::is_same_v<Preset::State, Default::State>);

// Whoever names a policy beside the preset gets that one.
static_assert(std::is_same_v<allot::Dispatcher<allot::LinearPool, allot::preset::CrynuxSingle>::CandidatePool,
                             allot::LinearPool>);
