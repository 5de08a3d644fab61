#pragma once

#include <chrono>

#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/job/queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// Parameters of a `JobProcessor`. All nodes of one network need the same `queue`.
struct JobParameters {
    QueueParameters queue{};                               ///< `arbitrate_epochs` follows from the arbiter.
    Duration answer_wait = std::chrono::seconds{1};        ///< Answers to a question are awaited for so long.
    Duration ask_retry = std::chrono::seconds{5};          ///< A question without a useful answer is asked again.
    Duration claim = std::chrono::seconds{30};             ///< A MacroJob's queue nobody speaks of is open again after this.
    Duration settle_patience = std::chrono::seconds{60};   ///< Who lost the claim to settle tries again after this.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
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
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
};

}}  // namespace allot::v0
