#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "support/chance.hpp"
#include "support/turns.hpp"

namespace bench {

/// A walk along one cycle through all lines of 256 MiB, in random order: each load waits for the one before it. It is
/// the yardstick of what a cold line costs on the machine at hand.
class DependentLoad {
public:
    DependentLoad() : lines_(std::size_t{256} << 14U) {
        auto chance = Chance{4};
        auto order = std::vector<std::uint32_t>(lines_.size());
        std::iota(order.begin(), order.end(), 0U);
        for (auto i = static_cast<std::uint32_t>(order.size()) - 1; i > 0; --i) {
            std::swap(order[i], order[chance.below(i)]);  // never itself, so that there is one cycle (Sattolo)
        }
        for (std::size_t i = 0; i < order.size(); ++i) { lines_[i].next = order[i]; }
    }

    auto turn(std::size_t operations) -> double {
        auto watch = Stopwatch{};
        watch.start();
        for (std::size_t i = 0; i < operations; ++i) { at_ = lines_[at_].next; }
        keep(at_);
        watch.stop();
        return watch.nanoseconds();
    }

private:
    struct alignas(64) Line {
        std::uint32_t next = 0;
    };
    std::vector<Line> lines_;
    std::uint32_t at_ = 0;
};

}  // namespace bench
