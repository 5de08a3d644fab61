#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "support/commands.hpp"
#include "support/runs.hpp"  // IWYU pragma: export

// Generates the scripts of commands.hpp and shrinks them, by rapidcheck.
namespace support {

inline auto operator<<(std::ostream& out, const Script& script) -> std::ostream& {
    return out << script.ops.size() << " steps, setup " << script.setup.bits;
}

/// Returns variants of a step, each with one smaller number.
inline auto plainer(const Op& op) -> std::vector<Op> {
    auto all = std::vector<Op>{};
    const auto shrink = [&](auto change, std::uint8_t is) {
        for (const auto less : {0, is / 2, is - 1}) {
            if (less >= 0 && less < is) {
                auto other = op;
                change(other) = static_cast<std::uint8_t>(less);
                all.push_back(other);
            }
        }
    };
    shrink(
        [](Op & o) -> auto& { return o.odd; }, op.odd);
    shrink(
        [](Op & o) -> auto& { return o.time; }, op.time);
    for (std::size_t i = 0; i < op.x.size(); ++i) {
        shrink(
            [i](Op & o) -> auto& { return o.x[i]; }, op.x[i]);
    }
    if (op.chance > 1) {
        shrink(
            [](Op & o) -> auto& { return o.chance; }, op.chance);
    }
    return all;
}

/// Generates scripts of up to `length` steps. A setup shrinks bit by bit to the defaults.
inline auto any_script(int length = 300) -> rc::Gen<Script> {
    const auto op = rc::Gen<Op>{[](const rc::Random& random, int) {
        auto words = random;
        return rc::shrinkable::shrinkRecur(any_op(words),
                                           [](const Op& o) { return rc::seq::fromContainer(plainer(o)); });
    }};
    const auto setup = rc::Gen<Setup>{[](const rc::Random& random, int) {
        auto words = random;
        const auto bits = static_cast<std::uint32_t>(words.next() & words.next() & 0x3'FFFFU);
        const auto always = static_cast<std::uint32_t>(words.next() & 1U);
        return rc::shrinkable::shrinkRecur(Setup{bits | always}, [](const Setup& s) {
            auto fewer = std::vector<Setup>{};
            for (auto bit = 0U; bit < 18U; ++bit) {
                if (s.has(bit)) { fewer.push_back(Setup{s.bits & ~(1U << bit)}); }
            }
            return rc::seq::fromContainer(fewer);
        });
    }};
    return rc::gen::withSize([=](int size) {
        const auto ops =
            rc::gen::resize(std::max(1, size * length / rc::kNominalSize), rc::gen::container<std::vector<Op>>(op));
        return rc::gen::map(rc::gen::pair(setup, ops), [](std::pair<Setup, std::vector<Op>> both) {
            return Script{both.first, std::move(both.second)};
        });
    });
}

}  // namespace support

// Compiled once, in instances.cpp.
extern template class allot::Dispatcher<allot::Rules, allot::GpuGroupPool, allot::ValueQueue, allot::RollingQos,
                                        allot::ThresholdPlacement, allot::FixedTerms, allot::IdKey>;
extern template class allot::Dispatcher<allot::Rules, allot::LinearPool, allot::LinearQueue, allot::RollingQos,
                                        allot::ThresholdPlacement, allot::FixedTerms, allot::IdKey>;
