#include "demands.hpp"

#include <algorithm>
#include <stdexcept>

#include "hash.hpp"

namespace simulate {
namespace {

auto time_of(std::int64_t ms) -> allot::TimePoint { return allot::TimePoint{allot::Duration{ms}}; }

}  // namespace

void Demands::note(std::uint32_t node, allot::command::Report report, const std::vector<std::string>& models) {
    using allot::command::Report;
    if (report == Report::load || report == Report::unload) { return; }
    if (report == Report::inventory) {
        for (auto& [model, nodes] : holders_) { nodes.erase(node); }
    }
    for (const auto& model : models) {
        if (report == Report::remove) {
            holders_[model].erase(node);
            continue;
        }
        holders_[model].insert(node);
        for (auto& [key, demand] : demands_) {
            // The answer says only whether this demand had asked the node.
            if (std::get<0>(key) == model) { (void)demand.settled(allot::NodeId{scenario_.nodes[node].id}); }
        }
    }
}

void Demands::arrived(const allot::TaskSpec& task, std::int64_t now_ms) {
    auto cards = std::vector<std::string>{};
    for (const auto& choice : task.gpus) { cards.push_back(choice.name); }
    for (const auto& model : task.models) {
        const auto refused =
            demands_[Key{model, task.vram_min.count, cards}].arrived(time_of(now_ms), task.duration_estimate);
        if (refused) { throw std::logic_error{"a demand refuses a task that the network has taken"}; }
    }
}

auto Demands::due(std::int64_t now_ms) -> std::vector<std::pair<std::uint32_t, std::string>> {
    auto asked = std::vector<std::pair<std::uint32_t, std::string>>{};
    for (auto& [key, demand] : demands_) {
        const auto now = time_of(now_ms);
        auto wanted = demand.wanted(now, holders(key, demand.parameters().holders_max)).value();
        auto candidates = std::vector<std::uint32_t>{};
        for (std::uint32_t node = 0; wanted > 0 && node < scenario_.nodes.size(); ++node) {
            const auto holds = holders_[std::get<0>(key)].contains(node);
            if (!holds && fits(node, key) && demand.may_ask(allot::NodeId{scenario_.nodes[node].id})) {
                candidates.push_back(node);
            }
        }
        for (; wanted > 0 && !candidates.empty(); --wanted) {
            std::swap(candidates[hash(seed_, Purpose::demand, draws_++) % candidates.size()], candidates.back());
            asked.emplace_back(candidates.back(), std::get<0>(key));
            (void)demand.asked(allot::NodeId{scenario_.nodes[candidates.back()].id}, now);
            candidates.pop_back();
        }
    }
    return asked;
}

auto Demands::fits(std::uint32_t node, const Key& key) const -> bool {
    const auto& [model, vram, cards] = key;
    const auto& card = scenario_.cards[scenario_.nodes[node].model];
    return ledger_.node(node).present && card.vram >= vram &&
           (cards.empty() || std::find(cards.begin(), cards.end(), card.name) != cards.end());
}

auto Demands::holders(const Key& key, std::uint32_t enough) const -> std::uint32_t {
    auto count = std::uint32_t{0};
    const auto found = holders_.find(std::get<0>(key));
    if (found == holders_.end()) { return 0; }
    for (const auto node : found->second) {
        if (count == enough) { break; }
        count += fits(node, key) ? 1 : 0;
    }
    return count;
}

}  // namespace simulate
