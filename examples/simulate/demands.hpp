#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/estimate/demand_control.hpp>

#include "ledger.hpp"
#include "scenario.hpp"

namespace simulate {

/// What a relay does outside its dispatcher: it asks nodes to fetch the models that tasks want.
class Demands {
public:
    Demands(const Scenario& scenario, const Ledger& ledger, std::uint64_t seed)
        : scenario_{scenario}, ledger_{ledger}, seed_{seed} {}

    /// A node has, or no longer has, models on its disk.
    void note(std::uint32_t node, allot::command::Report report, const std::vector<std::string>& models);
    /// A task arrived that wants the models of its spec on a node that it fits.
    void arrived(const allot::TaskSpec& task, std::int64_t now_ms);
    /// The nodes to be asked now, each with the model.
    [[nodiscard]] auto due(std::int64_t now_ms) -> std::vector<std::pair<std::uint32_t, std::string>>;

private:
    /// A model, with the least VRAM and the cards of the tasks that want it.
    using Key = std::tuple<std::string, std::uint32_t, std::vector<std::string>>;

    [[nodiscard]] auto fits(std::uint32_t node, const Key& key) const -> bool;
    /// The number of present nodes that fit and hold the model; it stops counting at `enough`.
    [[nodiscard]] auto holders(const Key& key, std::uint32_t enough) const -> std::uint32_t;

    const Scenario& scenario_;
    const Ledger& ledger_;
    std::uint64_t seed_;
    std::map<Key, allot::DemandControl> demands_{};
    std::map<std::string, std::set<std::uint32_t>, std::less<>> holders_{};
    std::uint64_t draws_ = 0;
};

}  // namespace simulate
