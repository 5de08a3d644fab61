#pragma once

#include <chrono>
#include <cstdint>

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
    /// Number of jobs without an end that a node knows. Beyond it one of the poster with the most gives way
    /// (`KnownJobs`).
    std::uint32_t jobs_max = 4096;
    std::uint32_t jobs_per_poster = 64;  ///< How many of these may name the same poster.
    std::uint32_t ended_max = 1024;  ///< Number of ended jobs that a node knows, so that it can answer with the end.

    /// Returns the first fault of the parameters as one sentence; null if they are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto count = [](std::uint32_t n) { return n > 0 && n <= (std::uint32_t{1} << 20U); };
        constexpr auto length = [](Duration d) { return d > Duration{0} && d <= std::chrono::hours{24 * 40}; };
        return detail::first_unmet({
            {queue.valid(), queue.fault()},
            {length(answer_wait), "allot: JobParameters: answer_wait must be positive and at most 40 days"},
            {length(ask_retry), "allot: JobParameters: ask_retry must be positive and at most 40 days"},
            {length(claim) && claim > queue.owner_timeout,
             "allot: JobParameters: claim must be longer than queue.owner_timeout and at most 40 days"},
            {length(settle_patience), "allot: JobParameters: settle_patience must be positive and at most 40 days"},
            {count(jobs_max), "allot: JobParameters: jobs_max must be positive and at most 2^20"},
            {count(jobs_per_poster) && jobs_per_poster <= jobs_max,
             "allot: JobParameters: jobs_per_poster must be positive and at most jobs_max"},
            {count(ended_max), "allot: JobParameters: ended_max must be positive and at most 2^20"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
};

}}  // namespace allot::v0
