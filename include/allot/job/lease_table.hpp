#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/indexed_by.hpp>
#include <boost/multi_index/mem_fun.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/tag.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/assert.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Why a lease table refused a request.
enum class LeaseFault : std::uint8_t {
    none,
    unknown,   ///< There is no item of this key.
    closed,    ///< The item was closed.
    held,      ///< The item has a holder.
    not_yet,   ///< Its `not_before` has not been reached.
    not_held,  ///< The item has no holder.
    stale,     ///< The token is not that of the current lease, or the lease has expired.
    capped,    ///< The lease was renewed as often as allowed.
};

/// A lease on an item of a `LeaseTable`: the holder, the token, and the times.
template <class Holder, class Token>
struct Hold {
    Holder holder;
    Token token{};
    TimePoint granted{};
    TimePoint expires{};  ///< Expired when now >= expires.
    /// Number of renewals so far.
    std::uint32_t renewals = 0;

    friend auto operator==(const Hold&, const Hold&) -> bool = default;
};

/// An item of a `LeaseTable`.
template <class Key, class Holder, class Token>
struct LeaseItem {
    Key key{};
    std::uint32_t attempts = 0;  ///< Number of leases given so far.
    TimePoint not_before{};      ///< No lease before this.
    bool closed = false;         ///< Finished: no further lease until it is reopened.
    /// The current lease; none if there is none. It may have expired.
    std::optional<Hold<Holder, Token>> hold{};

    /// True if it may be leased: not closed, `not_before` reached, and no lease or an expired one.
    [[nodiscard]] auto is_open(TimePoint now) const noexcept -> bool {
        return !closed && now >= not_before && (!hold || now >= hold->expires);
    }
    /// True if it has an unexpired lease.
    [[nodiscard]] auto is_held(TimePoint now) const noexcept -> bool { return !closed && hold && now < hold->expires; }

    friend auto operator==(const LeaseItem&, const LeaseItem&) -> bool = default;
};

/// A table of items that are handed out under leases and are open again when these expire.
///
/// `is_open` and `is_held` follow from the record and `now`, without a stored state; so no answer depends on `expire`
/// having been called. Tokens come from the caller and must grow, so that an old one is recognised. Equal contents give
/// equal answers, however they came about. A leaf: it knows neither jobs nor tasks. A value.
///
/// @complexity O(log n) in the items, unless stated otherwise.
template <class Key, class Holder, class Token = std::uint64_t>
class LeaseTable {
public:
    using Item = LeaseItem<Key, Holder, Token>;
    using Grant = Hold<Holder, Token>;

    /// Makes an empty table.
    LeaseTable() = default;
    /// Makes a table of these items. @pre their keys differ. @complexity O(n log n).
    explicit LeaseTable(const std::vector<Item>& items) {
        for (const auto& item : items) { add(item); }
    }

    /// Adds an item; returns false if its key exists.
    auto add(Item item) -> bool { return items_.insert(std::move(item)).second; }

    /// Returns the item, or null. The pointer is valid until the next change.
    [[nodiscard]] auto find(const Key& key) const -> const Item* {
        const auto found = by_key().find(key);
        return found == by_key().end() ? nullptr : &*found;
    }
    /// Number of items.
    [[nodiscard]] auto size() const noexcept -> std::size_t { return items_.size(); }

    /// Returns the open item with the lowest key for which `may(item)` is true, or null. Items with an expired lease
    /// count as open.
    /// @complexity linear in the open items; `may` is called for each that could be the lowest.
    template <class May>
    [[nodiscard]] auto first_open(TimePoint now, May&& may) const -> const Item* {
        const auto* best = static_cast<const Item*>(nullptr);
        for_each_open(now, [&](const Item& item) {
            if ((best == nullptr || item.key < best->key) && may(item)) { best = &item; }
        });
        return best;
    }
    /// As above, for every open item.
    [[nodiscard]] auto first_open(TimePoint now) const -> const Item* {
        return first_open(now, [](const Item&) { return true; });
    }
    /// Returns the number of open items. @complexity linear in that number.
    [[nodiscard]] auto open_count(TimePoint now) const -> std::uint32_t {
        auto count = std::uint32_t{0};
        for_each_open(now, [&](const Item&) { ++count; });
        return count;
    }

    /// Leases an open item for `length`, in ms. Errors: `unknown`, `closed`, `held`, `not_yet`, `stale` for a token
    /// that is not higher than that of the item's last lease.
    /// @pre `length > 0`, and `token` is higher than all tokens given for the item before.
    auto acquire(const Key& key, Holder holder, Token token, TimePoint now, Duration length) -> LeaseFault {
        const auto at = by_key().find(key);
        if (at == by_key().end()) { return LeaseFault::unknown; }
        if (at->closed) { return LeaseFault::closed; }
        if (at->is_held(now)) { return LeaseFault::held; }
        if (now < at->not_before) { return LeaseFault::not_yet; }
        if (at->hold && !(at->hold->token < token)) { return LeaseFault::stale; }
        change(at, [&](Item& item) {
            item.hold = Grant{std::move(holder), std::move(token), now, now + length, 0};
            ++item.attempts;
        });
        return LeaseFault::none;
    }

    /// Extends a lease to `now + length`, in ms; never shortens it. An expired lease cannot be renewed.
    /// Errors: `unknown`, `closed`, `not_held`, `stale`, `capped` after `renewals_max` renewals.
    auto renew(const Key& key, const Token& token, TimePoint now, Duration length,
               std::uint32_t renewals_max = std::numeric_limits<std::uint32_t>::max()) -> LeaseFault {
        const auto [at, fault] = held(key, token);
        if (fault != LeaseFault::none) { return fault; }
        if (now >= at->hold->expires) { return LeaseFault::stale; }
        if (at->hold->renewals >= renewals_max) { return LeaseFault::capped; }
        change(at, [&](Item& item) {
            item.hold->expires = std::max(item.hold->expires, now + length);
            ++item.hold->renewals;
        });
        return LeaseFault::none;
    }

    /// Ends a lease early; the item is open from `not_before` on. Errors: `unknown`, `closed`, `not_held`, `stale`.
    auto release(const Key& key, const Token& token, TimePoint not_before) -> LeaseFault {
        const auto [at, fault] = held(key, token);
        if (fault != LeaseFault::none) { return fault; }
        change(at, [&](Item& item) {
            item.hold.reset();
            item.not_before = not_before;
        });
        return LeaseFault::none;
    }

    /// Ends the unexpired leases of a vanished holder and returns their number. Calls `f(item)` for each, by key, with
    /// the item as it was. The items are open at once. Expired leases are left to `expire`, so that each lease ends in
    /// one way.
    /// @complexity linear, because a holder rarely vanishes, and an index by holder would cost time for each lease.
    template <class F>
    auto drop_holder(const Holder& holder, TimePoint now, F&& f) -> std::uint32_t {
        auto count = std::uint32_t{0};
        for (auto at = by_key().begin(); at != by_key().end(); ++at) {
            if (!at->is_held(now) || !(at->hold->holder == holder)) { continue; }
            const Item before = *at;
            change(at, [](Item& item) { item.hold.reset(); });
            f(before);
            ++count;
        }
        return count;
    }

    /// Closes an item: it is done, dead or withdrawn. Its lease ends. Errors: `unknown`, `closed`.
    auto close(const Key& key) -> LeaseFault { return set_closed(key, true, TimePoint::min()); }
    /// Reopens an item from `not_before` on. Error: `unknown`.
    auto reopen(const Key& key, TimePoint not_before) -> LeaseFault { return set_closed(key, false, not_before); }

    /// Ends the expired leases and returns their number; their items' `not_before` is the expiry. Calls `f(item)` for
    /// each as it was, by expiry, then by key.
    /// @complexity O(log n) for each expired lease.
    template <class F>
    auto expire(TimePoint now, F&& f) -> std::uint32_t {
        auto count = std::uint32_t{0};
        auto& index = items_.template get<ByExpiry>();
        while (!index.empty() && index.begin()->expiry() <= now) {
            const auto before = *index.begin();
            index.modify(index.begin(), [](Item& item) {
                item.not_before = std::max(item.not_before, item.hold->expires);
                item.hold.reset();
            });
            f(before);
            ++count;
        }
        return count;
    }

    /// The earliest expiry of a lease; none if no item has one. @complexity O(1).
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> {
        const auto& index = items_.template get<ByExpiry>();
        if (index.empty() || index.begin()->expiry() == TimePoint::max()) { return std::nullopt; }
        return index.begin()->expiry();
    }

    /// Calls `f(item)` for each item, by key. @complexity linear.
    template <class F>
    void for_each(F&& f) const {
        for (const auto& item : by_key()) { f(item); }
    }
    /// Returns all items, by key: the table as a plain value. @complexity linear.
    [[nodiscard]] auto items() const -> std::vector<Item> { return {by_key().begin(), by_key().end()}; }

    friend auto operator==(const LeaseTable& a, const LeaseTable& b) -> bool { return a.by_key() == b.by_key(); }

private:
    struct ByKey {};
    struct ByTurn {};
    struct ByExpiry {};

    /// An item with the two times by which its indices sort.
    struct Stored : Item {
        Stored(Item item) : Item{std::move(item)} {}  // NOLINT: implicit
        /// Time from which it may be leased, unless its lease is renewed.
        [[nodiscard]] auto turn() const noexcept -> TimePoint {
            return this->hold ? std::max(this->not_before, this->hold->expires) : this->not_before;
        }
        [[nodiscard]] auto expiry() const noexcept -> TimePoint {
            return this->hold && !this->closed ? this->hold->expires : TimePoint::max();
        }
        friend auto operator==(const Stored& a, const Stored& b) -> bool {
            return static_cast<const Item&>(a) == static_cast<const Item&>(b);
        }
    };

    using Items = boost::multi_index_container<
        Stored,
        boost::multi_index::indexed_by<
            boost::multi_index::ordered_unique<boost::multi_index::tag<ByKey>,
                                               boost::multi_index::member<Item, Key, &Item::key>>,
            boost::multi_index::ordered_unique<
                boost::multi_index::tag<ByTurn>,
                boost::multi_index::composite_key<Stored, boost::multi_index::member<Item, bool, &Item::closed>,
                                                  boost::multi_index::const_mem_fun<Stored, TimePoint, &Stored::turn>,
                                                  boost::multi_index::member<Item, Key, &Item::key>>>,
            boost::multi_index::ordered_unique<
                boost::multi_index::tag<ByExpiry>,
                boost::multi_index::composite_key<Stored,
                                                  boost::multi_index::const_mem_fun<Stored, TimePoint, &Stored::expiry>,
                                                  boost::multi_index::member<Item, Key, &Item::key>>>>>;
    using Place = typename Items::template index<ByKey>::type::iterator;

    [[nodiscard]] auto by_key() const noexcept -> const auto& { return items_.template get<ByKey>(); }

    template <class F>
    void for_each_open(TimePoint now, F&& f) const {
        const auto& index = items_.template get<ByTurn>();
        for (auto at = index.begin(); at != index.end() && !at->closed && at->turn() <= now; ++at) { f(*at); }
    }

    template <class F>
    void change(Place at, F&& f) {
        items_.template get<ByKey>().modify(at, [&](Stored& item) { f(item); });
    }

    [[nodiscard]] auto held(const Key& key, const Token& token) const -> std::pair<Place, LeaseFault> {
        const auto at = by_key().find(key);
        if (at == by_key().end()) { return {at, LeaseFault::unknown}; }
        if (at->closed) { return {at, LeaseFault::closed}; }
        if (!at->hold) { return {at, LeaseFault::not_held}; }
        return {at, at->hold->token == token ? LeaseFault::none : LeaseFault::stale};
    }

    auto set_closed(const Key& key, bool closed, TimePoint not_before) -> LeaseFault {
        const auto at = by_key().find(key);
        if (at == by_key().end()) { return LeaseFault::unknown; }
        if (at->closed && closed) { return LeaseFault::closed; }
        change(at, [&](Item& item) {
            item.closed = closed;
            item.hold.reset();
            if (!closed) { item.not_before = not_before; }
        });
        return LeaseFault::none;
    }

    Items items_;
};

}}  // namespace allot::v0
