#pragma once

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

// The map of the library: its main names, and the default of each role.

template <class... Policies>
class Dispatcher;
template <class Dispatcher>
class Session;

struct HardwareFit;
struct HarmonicWeight;
class GpuGroupPool;
class LinearPool;
class ValueQueue;
class FlatQueue;
class LinearQueue;
class RollingQos;
struct FeePerSecond;
class ThresholdPlacement;
class FixedTerms;
class Rules;

namespace preset {
struct CrynuxSingle;
struct CrynuxTrio;        // to use it, include <allot/preset/crynux_trio.hpp>
class CrynuxRelay2026;    // to use it, include <allot/preset/crynux_relay_2026.hpp>
struct CrynuxContracts1;  // to use it, include <allot/preset/crynux_contracts.hpp>
struct CrynuxContracts2;  // to use it, include <allot/preset/crynux_contracts.hpp>
class Hardened;           // to use it, include <allot/preset/hardened.hpp>
}  // namespace preset

/// The default candidate pool.
using CandidatePool = GpuGroupPool;
/// The default selection weight.
using WeightPolicy = HarmonicWeight;
/// The default task queue.
using TaskQueue = ValueQueue;
/// The default QoS tracker.
using QoSTracker = RollingQos;

}}  // namespace allot::v0
