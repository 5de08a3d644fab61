// CMake gives ALLOT_SERVICE_PRESETS, such as X(plain) X(hardened): one for each file in presets/ that is built. And
// ALLOT_SERVICE_RELEASE, such as "0.4.0".
#include <memory>
#include <string_view>
#include <vector>

#include "engine.hpp"

namespace service {

#define X(name) auto open_##name(const Engine::Options&)->std::unique_ptr<Engine>;
ALLOT_SERVICE_PRESETS
#undef X

auto presets() -> const std::vector<Preset>& {
#define X(name) Preset{#name, &open_##name},
    static const auto all = std::vector<Preset>{ALLOT_SERVICE_PRESETS};
#undef X
    return all;
}

auto release() -> std::string_view { return ALLOT_SERVICE_RELEASE; }

}  // namespace service
