#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "determinism/scenarios.hpp"

// determinism <commands a scenario> [why]
//
// One line a scenario, its digest and its name, and one over all. With `why` also how often what happened, on stderr.

namespace {

void print(const allot::Hash256& digest, const char* name) {
    for (const auto byte : digest) { std::printf("%02x", static_cast<unsigned>(byte)); }
    std::printf(" %s\n", name);
}

/// Says what did not happen though it should have; true when there is such a thing. What is rare needs many commands.
auto dull(const determinism::Scenario& scenario, const determinism::Report& report, std::uint32_t commands) -> bool {
    using determinism::Happening;
    const auto end = commands >= 10'000 ? Happening::count : Happening::expired;
    auto found = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(end); ++i) {
        const auto what = static_cast<Happening>(i);
        const auto excused = std::find(scenario.never.begin(), scenario.never.end(), what) != scenario.never.end();
        if (report.happened[i] == 0 && !excused) {
            std::fprintf(stderr, "%s: never %s\n", scenario.name.c_str(), determinism::happening_names[i]);
            found = true;
        }
    }
    return found;
}

}  // namespace

auto main(int argc, char** argv) -> int {
    const auto commands = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000);
    auto scenarios = determinism::Scenarios{};
    determinism::add_defaults(scenarios);
#ifndef DETERMINISM_SHORT
    determinism::add_models(scenarios);
    determinism::add_presets(scenarios);
#endif
    determinism::add_own(scenarios);
    determinism::add_jobs(scenarios);

    auto all = allot::Sha256{};
    auto bad = false;
    for (const auto& scenario : scenarios) {
        const auto report = scenario.run(commands);
        print(report.digest, scenario.name.c_str());
        all.bytes(report.digest);
        if (!report.broken.empty()) {
            std::fprintf(stderr, "%s: %s\n", scenario.name.c_str(), report.broken.c_str());
            bad = true;
        }
        bad = dull(scenario, report, commands) || bad;
        if (argc > 2) {
            for (std::size_t i = 0; i < determinism::happenings; ++i) {
                const auto times = static_cast<unsigned long long>(report.happened[i]);
                std::fprintf(stderr, " %llu %s", times, determinism::happening_names[i]);
            }
            std::fprintf(stderr, "  <- %s\n", scenario.name.c_str());
        }
    }
    print(all.finish(), "all");
    return bad ? 1 : 0;
}
