#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/core/random.hpp>

#include "workload/population.hpp"

namespace bench {

/// The strongest simple rival: 32-bit weights packed by size of VRAM, the largest first, so that those which fit stand
/// in front; their totals are kept, so that a draw walks only as far as the node it falls on, 64 weights at a step. An
/// index is the node: no id, no record, no models.
class PackedScan {
public:
    PackedScan(std::size_t count, bool /*with_models*/) {
        auto nodes = population(count);
        const auto weights = Weights{nodes};
        std::stable_sort(nodes.begin(), nodes.end(), [](const Profile& a, const Profile& b) { return a.row > b.row; });
        for (const auto& node : nodes) {
            full_.push_back({static_cast<std::uint32_t>(weights.now(node).raw().high()), node.row});
        }
        weights_.resize((count + step - 1) / step * step);
        for (std::uint32_t i = 0; i < count; ++i) { available(i); }
    }

    auto draw(std::uint32_t row, std::optional<std::uint32_t>) -> std::optional<std::uint32_t> {
        auto total = std::uint64_t{0};
        for (auto r = row; r < rows; ++r) { total += totals_[r]; }
        if (total == 0) { return std::nullopt; }
        auto point = random_.below(total);
        auto at = std::size_t{0};
        for (auto sum = sum_of(&weights_[at]); point >= sum; sum = sum_of(&weights_[at])) {
            point -= sum;
            at += step;
        }
        for (; point >= weights_[at]; ++at) { point -= weights_[at]; }
        return static_cast<std::uint32_t>(at);
    }
    void busy(std::uint32_t i) {
        totals_[full_[i].row] -= weights_[i];
        weights_[i] = 0;
    }
    void available(std::uint32_t i) {
        weights_[i] = full_[i].weight;
        totals_[full_[i].row] += weights_[i];
    }

private:
    static constexpr std::size_t step = 64;
    struct Full {
        std::uint32_t weight;
        std::uint32_t row;
    };

    /// A loop of known length, which compilers turn into vector code at -O2.
    static auto sum_of(const std::uint32_t* weights) -> std::uint64_t {
        auto sum = std::uint64_t{0};
        for (std::size_t i = 0; i < step; ++i) { sum += weights[i]; }
        return sum;
    }

    std::vector<std::uint32_t> weights_;
    std::vector<Full> full_;
    std::array<std::uint64_t, rows> totals_{};
    allot::Random random_{7, allot::Purpose::dispatch, {}};
};

}  // namespace bench
