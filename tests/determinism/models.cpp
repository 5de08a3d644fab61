#include <allot/preset/crynux_single.hpp>
#include <allot/queue/flat_queue.hpp>

#include "determinism/scenarios.hpp"

// The other models of the library, and its presets.
namespace determinism {

namespace {

using Linear = support::LinearDispatcher;
using Flat = support::DispatcherOf<allot::GpuGroupPool, allot::FlatQueue>;

/// Half of the commands by other models, to which the records are handed.
auto moved(std::uint32_t commands) -> Report {
    const auto setup = support::Setup{0x100};
    const auto bend = Bend{.nodes = 60, .calm = true};
    auto stream = Stream{301, bend, setup};
    auto flat = setup.make<Flat>();
    stream.join(flat, bend.nodes);
    stream.steps(flat, commands / 2);
    auto linear = Linear{std::move(flat),
                         allot::Rules{setup.rules()},
                         allot::LinearPool{},
                         allot::LinearQueue{setup.queue()},
                         allot::RollingQos{setup.qos()},
                         allot::ThresholdPlacement{setup.placement()},
                         allot::FixedTerms{setup.terms()},
                         allot::IdKey{3, 4}};
    stream.steps(linear, commands - commands / 2);
    return stream.end(linear);
}

}  // namespace

void add_models(Scenarios& all) {
    const auto small = support::Setup{0x100};
    const auto crowd = Bend{.nodes = 120, .calm = true};
    all.push_back(scenario("linear", 201, {.calm = true}, small, [=] { return small.make<Linear>(); }));
    all.push_back(scenario("linear crowd", 202, crowd, small, [=] { return small.make<Linear>(); }));
    all.push_back(scenario("flat", 203, {.calm = true}, small, [=] { return small.make<Flat>(); }));
    all.push_back(scenario("flat ties", 204, {.calm = true, .tied = true}, small, [=] { return small.make<Flat>(); }));
    all.push_back(scenario("flat crowd", 205, crowd, {}, [=] { return support::Setup{}.make<Flat>(); }));
    all.push_back({"moved", moved});

    const auto preset = [] { return allot::Dispatcher{allot::preset::CrynuxSingle{}}; };
    all.push_back(scenario("crynux single", 206, {}, {}, preset));
    all.push_back(scenario("crynux single crowd", 207, {.nodes = 250, .calm = true}, {}, preset));
}

}  // namespace determinism
