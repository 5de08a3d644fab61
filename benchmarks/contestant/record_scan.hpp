#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "workload/population.hpp"

namespace bench {

/// Draws by the standard library.
struct StdSampler {
    auto operator()(const std::vector<double>& weights, std::mt19937_64& engine) const -> std::size_t {
        return std::discrete_distribution<std::size_t>{weights.begin(), weights.end()}(engine);
    }
};

/// What anybody would write first: look at every record, compute the weight of each node that fits, hand them to a
/// discrete sampler. `Sampler` is the standard library's, Boost's or GSL's.
template <class Sampler>
class RecordScan {
public:
    RecordScan(std::size_t count, bool with_models) {
        auto chance = Chance{4};
        const auto sets = model_sets(with_models ? count : 0);
        for (const auto& node : population(count)) {
            stake_max_ = std::max(stake_max_, static_cast<double>(node.stake));
            auto record = Record{chance.bytes(),
                                 card_name(node.card),
                                 vram_of(node.row).count,
                                 static_cast<double>(node.stake),
                                 node.points / 10.0,
                                 1.0,
                                 true,
                                 {}};
            if (with_models) { record.models.assign(sets[records_.size()].begin(), sets[records_.size()].end()); }
            records_.push_back(std::move(record));
        }
    }

    auto draw(std::uint32_t row, std::optional<std::uint32_t> model) -> std::optional<std::uint32_t> {
        const auto vram_min = vram_of(row).count;
        if (model) {
            gather(
                [&](const Record& record) {
                    return record.vram >= vram_min &&
                           std::find(record.models.begin(), record.models.end(), *model) != record.models.end();
                },
                1.7);
        }
        if (!model || found_.empty()) {
            gather([&](const Record& record) { return record.vram >= vram_min; }, 1.0);
        }
        return found_.empty() ? std::nullopt : std::optional{found_[sampler_(weights_, engine_)]};
    }
    void busy(std::uint32_t i) { records_[i].available = false; }
    void available(std::uint32_t i) { records_[i].available = true; }

private:
    struct Record {
        std::array<std::uint8_t, 32> id;
        std::string card;
        std::uint32_t vram;
        double stake;
        double long_term;
        double health;
        bool available;
        std::vector<std::uint32_t> models;
    };

    template <class Fits>
    void gather(Fits fits, double boost) {
        found_.clear();
        weights_.clear();
        for (std::uint32_t i = 0; i < records_.size(); ++i) {
            const auto& record = records_[i];
            if (record.available && fits(record)) {
                const auto s = std::sqrt(record.stake) / std::sqrt(stake_max_);
                const auto q = record.long_term * record.health;
                found_.push_back(i);
                weights_.push_back(boost * s * q / (s + q));
            }
        }
    }

    std::vector<Record> records_;
    double stake_max_ = 0;
    std::vector<std::uint32_t> found_;
    std::vector<double> weights_;
    Sampler sampler_{};
    std::mt19937_64 engine_{7};
};

}  // namespace bench
