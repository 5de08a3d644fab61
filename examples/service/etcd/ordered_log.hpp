#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/replica/ordered_log.hpp>

#include "client.hpp"

namespace service::etcd {

/// A replicated log in etcd. An entry, `packed`, is the value of a key that is created once:
///
///     <cluster>/log/<lane, 16 hex digits>/<nonce, 16 hex digits>   an entry; its position is its revision
///     <cluster>/compacted                                          the position up to which entries were dropped
///
/// A lane is a random number with the proposer in its lower half. Each object has lanes of its own, so objects append
/// at the same time; the order of all entries is that of etcd's revisions. A proposal whose answer was lost is tried
/// again: its key is then there already, and the value tells that it is the same one.
///
/// @pre the nonces of a proposer grow, except for a proposal that is tried again. One thread uses the object.
class OrderedLog {
public:
    /// `page_entries` is the number of a lane's entries that one call of etcd gives.
    OrderedLog(Client& client, const std::string& cluster, std::int64_t page_entries = 200)
        : client_{client}, cluster_{cluster}, page_entries_{page_entries} {}

    auto append(allot::ReplicaId proposer, std::uint64_t nonce, std::span<const std::uint8_t> bytes)
        -> allot::Result<std::uint64_t, allot::OrderedLogError>;
    auto read(std::uint64_t after, std::size_t count_max)
        -> allot::Result<std::vector<allot::LoggedEntry>, allot::OrderedLogError>;
    auto compact(std::uint64_t through) -> std::optional<allot::OrderedLogError>;

    /// The revision of which the last `read` told.
    [[nodiscard]] auto revision() const -> std::int64_t { return revision_; }
    /// True if the last `read` gave all entries up to that revision. A watch goes on behind it; further calls of `read`
    /// might never overtake the proposers.
    [[nodiscard]] auto is_at_end() const -> bool { return is_at_end_; }
    /// The prefix of all entries.
    [[nodiscard]] auto prefix() const -> std::string { return cluster_ + "/log/"; }

private:
    /// One lane while it is read: the next keys of it, at the pinned revision.
    struct Lane {
        std::string next{};
        std::string end{};
        std::deque<allot::LoggedEntry> page{};
    };
    enum class Pinned { ok, compacted, failed };

    auto range(const std::string& from, const std::string& end, std::int64_t limit, bool keys_only)
        -> std::optional<pb::RangeResponse>;
    auto pin(std::uint64_t after) -> Pinned;
    auto lanes() -> std::optional<std::vector<std::string>>;
    auto first_above(const std::string& lane, std::uint64_t after) -> std::optional<std::uint64_t>;
    auto fill(Lane& lane) -> bool;

    Client& client_;
    std::string cluster_;
    std::int64_t page_entries_;
    std::map<allot::ReplicaId, std::uint64_t> own_lanes_{};
    std::deque<std::pair<std::string, std::uint64_t>> appended_{};  // the last keys and their positions
    std::vector<Lane> lanes_{};
    std::int64_t revision_ = 0;
    std::uint64_t read_to_ = 0;
    bool is_pinned_ = false;
    bool is_at_end_ = false;
};

static_assert(allot::ordered_log<OrderedLog>);

/// A number as 16 hex digits, so that the order of text is that of numbers.
[[nodiscard]] auto hex_of(std::uint64_t number) -> std::string;

}  // namespace service::etcd
