#pragma once

#include <chrono>

#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/job/queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// Parameters of a `JobProcessor`; durations are in ms. All nodes of one network need the same `queue`.
struct JobParameters {
    /// Parameters of each queue; the arbiter determines `arbitrate_epochs`.
    QueueParameters queue{};
    Duration answer_wait = std::chrono::seconds{1};  ///< Time to wait for answers to a question.
    /// Time after which a question without a useful answer is repeated.
    Duration ask_retry = std::chrono::seconds{5};
    /// A MacroJob's queue that no node mentioned for this long is open again.
    Duration claim = std::chrono::seconds{30};
    /// Time after which a node that lost the claim to settle tries again.
    Duration settle_patience = std::chrono::seconds{60};

    /// Returns the first fault of the parameters as one sentence; null if they are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto length = [](Duration d) { return d > Duration{0} && d <= std::chrono::hours{24 * 40}; };
        return detail::first_unmet({
            {queue.valid(), queue.fault()},
            {length(answer_wait), "allot: JobParameters: answer_wait must be positive and at most 40 days"},
            {length(ask_retry), "allot: JobParameters: ask_retry must be positive and at most 40 days"},
            {length(claim) && claim > queue.owner_timeout,
             "allot: JobParameters: claim must be longer than queue.owner_timeout and at most 40 days"},
            {length(settle_patience), "allot: JobParameters: settle_patience must be positive and at most 40 days"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
};

}}  // namespace allot::v0
