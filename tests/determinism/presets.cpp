#include <cstdint>
#include <utility>
#include <vector>

#include <allot/preset/crynux_contracts.hpp>
#include <allot/preset/crynux_relay_2026.hpp>
#include <allot/preset/crynux_trio.hpp>
#include <allot/preset/hardened.hpp>

#include "determinism/scenarios.hpp"

// The presets but the default one, which models.cpp has.
namespace determinism {

void add_presets(Scenarios& all) {
    const auto add = [&](const char* name, std::uint64_t seed, auto preset, std::uint32_t setup,
                         std::vector<Happening> never) {
        const auto make = [=] { return allot::Dispatcher{preset}; };
        all.push_back(scenario(name, seed, {.nodes = 60, .calm = true}, support::Setup{setup}, make, std::move(never)));
    };
    add("crynux trio", 501, allot::preset::CrynuxTrio{}, 0x10000, {Happening::excluded});
    add("crynux relay 2026", 502, allot::preset::CrynuxRelay2026{2}, 0, {});
    add("crynux contracts, the second", 503, allot::preset::CrynuxContracts2{}, 0, {Happening::excluded});
    add("hardened", 504, allot::preset::Hardened{1'000'000}, 0x10000, {});
}

}  // namespace determinism
