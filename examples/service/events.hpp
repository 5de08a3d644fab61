#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <allot/core/event.hpp>
#include <allot/core/recipients.hpp>
#include <allot/replica/effects.hpp>

namespace service {

/// An event under the name that it has on every replica and after every restart.
struct LoggedEvent {
    std::uint64_t id = 0;
    allot::Event event;
    allot::Recipients to{};
};

/// A text that all who send it share.
using SharedText = std::shared_ptr<const std::string>;
/// An event as a stream sends it.
[[nodiscard]] auto sse_text(const LoggedEvent& event) -> std::string;

/// The id of an event as one number, which grows.
[[nodiscard]] constexpr auto number_of(allot::EffectId id) noexcept -> std::uint64_t {
    return (id.index << 20U) + id.ordinal;
}

/// Whose events to tell. Both none: all.
struct EventFilter {
    std::optional<allot::NodeId> node{};
    std::optional<allot::OwnerId> owner{};

    [[nodiscard]] auto admits(const allot::Recipients& to) const -> bool {
        return (!node && !owner) || to.others == allot::Recipients::Others::everybody || (node && to.node == node) ||
               (owner && to.owner == owner);
    }
};

/// Hears events as they come.
class EventListener {
public:
    virtual ~EventListener() = default;
    /// `text` is that of `sse_text`, made once for all who listen.
    virtual void hear(std::uint64_t id, const SharedText& text) = 0;
    /// Events were passed over: read the state again.
    virtual void cut() = 0;
};

/// The latest events, and those who listen. Events that concern neither a node, an owner nor everybody are left out.
class EventLog {
public:
    explicit EventLog(std::size_t kept_max) : kept_max_{kept_max} {}

    void add(allot::EffectId id, const allot::Event& event);
    /// Events below this id are not kept any more.
    [[nodiscard]] auto first() const noexcept -> std::uint64_t { return first_; }
    /// An id above all events so far.
    [[nodiscard]] auto next() const noexcept -> std::uint64_t { return next_; }
    void forget_before(std::uint64_t id) noexcept { first_ = id > first_ ? id : first_; }
    /// Goes on at an id, where events before it were passed over. All listeners are cut.
    void restart(std::uint64_t id);

    /// Calls `f(event)` for each event from `start` on that the filter admits, while it returns true.
    template <class F>
    void each(std::uint64_t start, const EventFilter& filter, F&& f) const {
        for (auto i = place_of(start); i < kept_.size(); ++i) {
            if (filter.admits(kept_[i].to) && !f(kept_[i])) { return; }
        }
    }

    void listen(const EventFilter& filter, EventListener& listener);
    void leave(const EventFilter& filter, EventListener& listener);

private:
    [[nodiscard]] auto place_of(std::uint64_t id) const -> std::size_t;

    std::size_t kept_max_;
    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0;
    std::deque<LoggedEvent> kept_{};
    std::set<EventListener*> all_{};
    std::map<allot::NodeId, std::set<EventListener*>> by_node_{};
    std::map<allot::OwnerId, std::set<EventListener*>> by_owner_{};
};

}  // namespace service
