#include "events.hpp"

#include <algorithm>

#include <allot/json.hpp>

namespace service {

auto sse_text(const LoggedEvent& event) -> std::string {
    auto json = allot::json_of(event.event);
    json["id"] = event.id;
    return "id: " + std::to_string(event.id) + "\ndata: " + allot::json_text(json) + "\n\n";
}

void EventLog::add(allot::EffectId id, const allot::Event& event) {
    const auto to = allot::recipients(event);
    const auto is_for_all = to.others == allot::Recipients::Others::everybody;
    next_ = std::max(next_, number_of(id) + 1);
    if (!to.node && !to.owner && !is_for_all) { return; }
    kept_.push_back({number_of(id), event, to});
    if (kept_.size() > kept_max_) {
        first_ = kept_.front().id + 1;
        kept_.pop_front();
    }
    const auto& logged = kept_.back();
    auto text = SharedText{};
    const auto tell = [&](const std::set<EventListener*>& listeners) {
        for (auto* listener : listeners) {
            if (!text) { text = std::make_shared<const std::string>(sse_text(logged)); }
            listener->hear(logged.id, text);
        }
    };
    tell(all_);
    if (is_for_all) {
        for (const auto& one : by_node_) { tell(one.second); }
        for (const auto& one : by_owner_) { tell(one.second); }
    }
    if (to.node && by_node_.contains(*to.node)) { tell(by_node_.at(*to.node)); }
    if (to.owner && by_owner_.contains(*to.owner)) { tell(by_owner_.at(*to.owner)); }
}

void EventLog::restart(std::uint64_t id) {
    kept_.clear();
    first_ = next_ = id;
    const auto cut = [](const std::set<EventListener*>& listeners) {
        for (auto* listener : listeners) { listener->cut(); }
    };
    cut(all_);
    for (const auto& one : by_node_) { cut(one.second); }
    for (const auto& one : by_owner_) { cut(one.second); }
}

void EventLog::listen(const EventFilter& filter, EventListener& listener) {
    if (filter.node) {
        by_node_[*filter.node].insert(&listener);
    } else if (filter.owner) {
        by_owner_[*filter.owner].insert(&listener);
    } else {
        all_.insert(&listener);
    }
}

void EventLog::leave(const EventFilter& filter, EventListener& listener) {
    const auto leave_in = [&](auto& map, const auto& id) {
        const auto found = map.find(id);
        if (found == map.end()) { return; }
        found->second.erase(&listener);
        if (found->second.empty()) { map.erase(found); }
    };
    all_.erase(&listener);
    if (filter.node) { leave_in(by_node_, *filter.node); }
    if (filter.owner) { leave_in(by_owner_, *filter.owner); }
}

auto EventLog::place_of(std::uint64_t id) const -> std::size_t {
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), id,
                                     [](const LoggedEvent& e, std::uint64_t wanted) { return e.id < wanted; });
    return static_cast<std::size_t>(at - kept_.begin());
}

}  // namespace service
