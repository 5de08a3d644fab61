#include <cstdint>
#include <vector>

#include "determinism/scenarios.hpp"

// The default policies, under every parameter that the random scripts know.
namespace determinism {

void add_defaults(Scenarios& all) {
    using D = support::FastDispatcher;
    struct Case {
        const char* name;
        std::uint32_t setup;  ///< Bits of `support::Setup`.
        Bend bend;
        std::vector<Happening> never;
    };
    const auto crowd = std::uint32_t{250};
    const auto cases = std::vector<Case>{
        {"defaults", 0, {}, {}},
        {"calm", 0, {.calm = true}, {}},
        {"crowd", 0, {.nodes = crowd, .calm = true}, {}},
        {"ties", 0x300, {.tied = true}, {}},
        {"ties in a crowd", 0x100, {.nodes = crowd, .calm = true, .tied = true}, {Happening::evicted}},
        {"extremes", 0, {.calm = true, .extreme = true}, {}},
        {"extremes in a crowd", 0x8, {.nodes = crowd, .calm = true, .extreme = true}, {}},
        {"ids come again", 0x200, {.named_once = false}, {}},
        {"holders of all models", 0x3, {.calm = true}, {}},
        {"holders or nobody", 0x5, {.calm = true}, {}},
        {"two due a command", 0x8, {}, {}},
        {"one surplus a command", 0x110, {.nodes = 40, .calm = true}, {}},
        {"one node avoided", 0xA020, {.calm = true}, {}},
        {"history forgotten soon", 0x40, {}, {}},
        {"tight limits", 0x80, {.calm = true}, {}},
        {"room for two", 0x100, {.calm = true}, {}},
        {"room for one", 0x200, {.calm = true}, {}},
        {"short window", 0x400, {.calm = true}, {}},
        {"timeouts that score nothing", 0x800, {.calm = true}, {}},
        {"few copies", 0x1000, {.calm = true}, {}},
        {"timeouts start over", 0x2000, {.calm = true}, {}},
        {"failures start over", 0x4000, {.calm = true}, {}},
        {"failures start over elsewhere", 0x8000, {.calm = true}, {}},
        {"all other parameters", 0xFFFF, {}, {}},
        {"every second parameter", 0x5555, {.calm = true}, {}},
        {"the others of them", 0xAAAA, {.calm = true}, {}},
        {"gangs", 0x10000, {.calm = true}, {}},
        {"gangs in a crowd", 0x10100, {.nodes = crowd, .calm = true}, {}},
        {"gangs that start over, models only raise weights", 0x1A006, {.nodes = 40, .calm = true}, {}},
    };
    constexpr auto first_seed = std::uint64_t{3001};
    auto seed = first_seed;
    for (const auto& c : cases) {
        const auto setup = support::Setup{c.setup};
        all.push_back(scenario(
            c.name, seed++, c.bend, setup, [=] { return setup.make<D>(); }, c.never));
    }
    // The first again, with another key of the id hashes, which must not show.
    const auto other = scenario("another key", first_seed, {}, {}, [] {
        return support::Setup{}.make<D>({}, {7, 11});
    });
    all.push_back({other.name, [first = all.front(), other](std::uint32_t commands) {
                       auto report = other.run(commands);
                       if (report.digest != first.run(commands).digest) { report.broken = "the key of the ids shows"; }
                       return report;
                   }});
}

}  // namespace determinism
