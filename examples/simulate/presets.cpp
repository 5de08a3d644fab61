#include <algorithm>
#include <stdexcept>

#include "network.hpp"

namespace simulate {

// One file in presets/ for each, because each takes a while to compile.
auto open_crynux_single(allot::Amount) -> std::unique_ptr<Network>;
auto open_crynux_trio(allot::Amount) -> std::unique_ptr<Network>;
auto open_crynux_contracts_1(allot::Amount) -> std::unique_ptr<Network>;
auto open_crynux_contracts_2(allot::Amount) -> std::unique_ptr<Network>;
auto open_crynux_relay_2026(allot::Amount) -> std::unique_ptr<Network>;
auto open_hardened(allot::Amount) -> std::unique_ptr<Network>;

auto presets() -> const std::vector<Preset>& {
    static const auto all = std::vector<Preset>{
        {"crynux_single", &open_crynux_single},
        {"crynux_trio", &open_crynux_trio, 3},
        {"crynux_contracts_1", &open_crynux_contracts_1},
        {"crynux_contracts_2", &open_crynux_contracts_2},
        {"crynux_relay_2026", &open_crynux_relay_2026, 1, 2'000},
        {"hardened", &open_hardened},
    };
    return all;
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
