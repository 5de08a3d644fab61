#pragma once

#include <chrono>
#include <cstdint>

#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Parameters of a `MicroQueueReplica`. All replicas of one queue need the same.
struct QueueParameters {
    Duration lock = std::chrono::seconds{15};               ///< Length of a MicroJob's lease; renew it at half.
    std::uint32_t renewals_max = 480;                       ///< So often a lease may be renewed: an hour by default.
    Duration owner_timeout = std::chrono::seconds{5};       ///< An owner that was not heard for so long is replaced ...
    Duration stagger = std::chrono::seconds{1};             ///< ... by the first in line, this later by the next, and so on.
    Duration heartbeat = std::chrono::milliseconds{1600};   ///< An owner says at least this often that it lives.
    Duration request_retry = std::chrono::milliseconds{500};    ///< A request or result is said again after this ...
    Duration request_retry_max = std::chrono::seconds{5};       ///< ... and after twice that, up to this.
    Duration request_ttl = std::chrono::seconds{15};        ///< A request not said again for so long is dropped.
    Duration reply_every = std::chrono::seconds{1};         ///< Replies to those who lag behind are not sent more often.
    Duration retry_delay = std::chrono::seconds{1};         ///< A failed or rejected MicroJob is open again after this, doubled
                                                            ///< with each attempt up to 64 times.
    Duration abandon_after = std::chrono::minutes{10};      ///< MicroJobs that nobody may or wants to take die after this.
    std::uint32_t quota = 1;           ///< MicroJobs an owner takes before it serves a request; 0 serves at once.
    std::uint32_t attempts_max = 5;    ///< Leases of a MicroJob before it is dead.
    bool fence_completions = false;    ///< Refuse a result whose lease is not the current one; else the first valid counts.
    bool arbitrate_epochs = false;     ///< Every change of owner needs a claim to be won first (`StoreCas`, `Quorum`).

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto length = [](Duration d) { return d > Duration{0} && d <= std::chrono::hours{24 * 40}; };
        return detail::first_unmet({
            {length(lock), "allot: QueueParameters: lock must be positive and at most 40 days"},
            {length(owner_timeout), "allot: QueueParameters: owner_timeout must be positive and at most 40 days"},
            {length(stagger), "allot: QueueParameters: stagger must be positive and at most 40 days"},
            {length(heartbeat), "allot: QueueParameters: heartbeat must be positive and at most 40 days"},
            {length(request_retry), "allot: QueueParameters: request_retry must be positive and at most 40 days"},
            {length(request_retry_max), "allot: QueueParameters: request_retry_max must be positive and at most 40 days"},
            {length(request_ttl), "allot: QueueParameters: request_ttl must be positive and at most 40 days"},
            {length(reply_every), "allot: QueueParameters: reply_every must be positive and at most 40 days"},
            {length(retry_delay), "allot: QueueParameters: retry_delay must be positive and at most 40 days"},
            {length(abandon_after), "allot: QueueParameters: abandon_after must be positive and at most 40 days"},
            {heartbeat <= owner_timeout / 2, "allot: QueueParameters: heartbeat must be at most half of owner_timeout"},
            {request_retry <= request_retry_max, "allot: QueueParameters: request_retry must be at most request_retry_max"},
            {attempts_max >= 1 && attempts_max <= 1'000, "allot: QueueParameters: attempts_max must be 1 to 1,000"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const QueueParameters&, const QueueParameters&) noexcept -> bool = default;
};

}}  // namespace allot::v0
