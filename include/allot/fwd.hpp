#pragma once

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

// The map of the library: its main names, and each role's default in one place.

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
}

/// The default candidate pool.
using CandidatePool = GpuGroupPool;
/// The default selection weight.
using WeightPolicy = HarmonicWeight;
/// The default task queue.
using TaskQueue = ValueQueue;
/// The default QoS tracker.
using QoSTracker = RollingQos;

}}  // namespace allot::v0
