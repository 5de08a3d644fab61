#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <allot/compiled/crynux_contracts.hpp>
#include <allot/compiled/crynux_relay_2026.hpp>
#include <allot/compiled/crynux_single.hpp>
#include <allot/compiled/crynux_trio.hpp>
#include <allot/compiled/hardened.hpp>

#include "network_of.hpp"

// All in one file, which compiles in a fifth of the time of a file each: they share most of what is instantiated.

namespace simulate {
namespace {

template <class P>
auto open(const Scale&) -> std::unique_ptr<Network> {
    return std::make_unique<NetworkOf<allot::Dispatcher<P>>>(allot::Dispatcher<P>{});
}

auto open_hardened(const Scale& scale) -> std::unique_ptr<Network> {
    using allot::preset::Hardened;
    auto network = std::make_unique<NetworkOf<allot::Dispatcher<Hardened>>>(
        allot::Dispatcher<Hardened>{Hardened{scale.stake_cap}});
    // As settings, so that a log has them, too: `replay` is told the stake cap alone.
    network->set({"terms.fee_per_second_min=" + allot::to_decimal(scale.fee_per_second_min.units),
                  fmt::format("eligibility.stake_per_fee={}/{}", scale.stake_per_fee.num, scale.stake_per_fee.den),
                  "eligibility.stake_max=" + allot::to_decimal(scale.stake_typical.units)});
    return network;
}

/// A ratio over a number: the last convergent of its continued fraction that fits, which is exact where there is room.
auto over(allot::Ratio ratio, std::uint32_t parts) -> allot::Ratio {
    auto rest = std::pair{std::uint64_t{ratio.num}, std::uint64_t{ratio.den} * parts};
    auto before = std::pair{std::uint64_t{0}, std::uint64_t{1}};
    auto nearest = std::pair{std::uint64_t{1}, std::uint64_t{0}};
    while (rest.second != 0) {
        const auto whole = rest.first / rest.second;
        const auto next = std::pair{whole * nearest.first + before.first, whole * nearest.second + before.second};
        if ((next.first | next.second) >> 32U != 0) { break; }
        before = std::exchange(nearest, next);
        rest = {rest.second, rest.first % rest.second};
    }
    return {static_cast<std::uint32_t>(nearest.first), static_cast<std::uint32_t>(nearest.second)};
}

}  // namespace

auto presets() -> const std::vector<Preset>& {
    namespace preset = allot::preset;
    constexpr auto hour_ms = std::int64_t{3'600'000};
    const auto rejoins = std::string{"an honest node that is kicked out joins again after an hour"};
    const auto three_nodes =
        std::string{"each task runs on three nodes, so there are a third as many tasks and no validation groups"};
    const auto contract_lease = std::string{"a lease is twice the estimate where that is longer than the contracts'"};
    const auto lease_max = std::string{"terms.length_max=7200000"};
    static const auto all = std::vector<Preset>{
        {.name = "crynux_single", .open = &open<preset::CrynuxSingle>},
        {.name = "crynux_trio",
         .open = &open<preset::CrynuxTrio>,
         .gang_size = 3,
         .rejoin_ms = hour_ms,
         .notes = {three_nodes, rejoins}},
        {.name = "crynux_contracts_1",
         .open = &open<preset::CrynuxContracts1>,
         .gang_size = 3,
         .settings = {lease_max},
         .rejoin_ms = hour_ms,
         .notes = {three_nodes, contract_lease, rejoins}},
        {.name = "crynux_contracts_2",
         .open = &open<preset::CrynuxContracts2>,
         .settings = {lease_max},
         .rejoin_ms = hour_ms,
         .notes = {contract_lease, rejoins}},
        {.name = "crynux_relay_2026",
         .open = &open<preset::CrynuxRelay2026>,
         .round_ms = 2'000,
         .relay = true,
         .rejoin_ms = hour_ms,
         .notes = {"tasks list their base models alone; nodes are asked for models once a minute, by DemandControl",
                   "no task starts when it arrives, but in the next round: the draws of free nodes are not compared",
                   rejoins, "estimates are the trace's, not WorkloadCalibration's; there are no download tests"}},
        {.name = "hardened",
         .open = &open_hardened,
         .round_ms = 1'000,
         .settings = {"terms.round_period=1000", "terms.paid=1/18"},
         .validation = allot::ValidationParameters::hardened(),
         .notes = {"tasks are drawn once a second, with entropy that comes after their submission",
                   "a fee is 18 times the price: 17 parts come back with success, and pay for leases in vain"}},
    };
    return all;
}

auto fees_per_price(const Preset& preset, const std::vector<std::string>& settings) -> std::uint32_t {
    constexpr auto name = std::string_view{"terms.paid="};
    auto fees = std::uint32_t{1};
    for (const auto* part : {&preset.settings, &settings}) {
        for (const auto& setting : *part) {
            if (!setting.starts_with(name)) { continue; }
            const auto value = std::string_view{setting}.substr(name.size());
            const auto digits = value.starts_with("1/") ? value.substr(2) : value;
            const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), fees);
            if (fault != std::errc{} || end != digits.data() + digits.size() || fees == 0 || fees > 64 ||
                (fees > 1 && digits.size() == value.size())) {
                throw std::invalid_argument{"--set " + setting + ": expected 1, or 1/2 to 1/64"};
            }
        }
    }
    return fees;
}

auto open_network(const Preset& preset, const Scale& scale, const std::vector<std::string>& settings)
    -> std::unique_ptr<Network> {
    const auto fees = fees_per_price(preset, settings);
    auto network = preset.open({scale.stake_cap, scale.fee_per_second_min.units * allot::u128{fees},
                                over(scale.stake_per_fee, fees), scale.stake_typical});
    network->set(preset.settings);
    network->set(settings);
    return network;
}

auto preset_names() -> std::vector<std::string> {
    auto names = std::vector<std::string>{};
    for (const auto& preset : presets()) { names.emplace_back(preset.name); }
    return names;
}

auto find_preset(std::string_view name) -> const Preset& {
    const auto& all = presets();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == name; });
    if (found == all.end()) { throw std::invalid_argument{"no preset is called " + std::string{name}}; }
    return *found;
}

}  // namespace simulate
