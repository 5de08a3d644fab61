#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/job.hpp>

// Who takes part, and who of them lies.

namespace jobs {

enum class Role : std::uint8_t {
    honest,
    cheat,   ///< Makes up hashes of some of its blocks, the same ones as the other cheats.
    forger,  ///< Does no work, but sends forged messages all the time.
    thief,   ///< Computes nothing, and publishes the hashes that it hears under its own wallet.
};

struct Member {
    std::string name;
    Role role = Role::honest;

    [[nodiscard]] auto node() const -> allot::NodeId { return allot::NodeId{name}; }
    [[nodiscard]] auto wallet() const -> allot::WalletId { return allot::WalletId{"wallet of " + name}; }
};

constexpr auto adversaries_max = 5U;

/// The sixteen members; the first `adversaries` of the five liars lie, the others are honest then.
inline auto sixteen(std::uint32_t adversaries) -> std::vector<Member> {
    constexpr auto names = std::array{"ada", "bob", "cleo", "dan", "eve", "fay", "gus", "ida",
                                      "jon", "kim", "leo",  "mal", "mia", "ned", "ora", "tom"};
    struct Liar {
        std::string name;
        Role role;
    };
    const auto liars = std::array<Liar, adversaries_max>{{{"eve", Role::cheat},
                                                          {"mia", Role::cheat},
                                                          {"ned", Role::cheat},
                                                          {"mal", Role::forger},
                                                          {"tom", Role::thief}}};
    auto all = std::vector<Member>{};
    for (const auto* name : names) {
        auto member = Member{name};
        for (std::uint32_t i = 0; i < std::min(adversaries, adversaries_max); ++i) {
            if (liars[i].name == name) { member.role = liars[i].role; }
        }
        all.push_back(member);
    }
    return all;
}

inline auto name_of(Role role) -> std::string {
    switch (role) {
        case Role::honest: break;
        case Role::cheat: return "cheat";
        case Role::forger: return "forger";
        case Role::thief: return "thief";
    }
    return "honest";
}

}  // namespace jobs
