#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include <allot/core/parameters.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/time.hpp>
#include <allot/job/names.hpp>
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
    /// The delay of an answer to a question about a job, or about all (null): up to a quarter of `answer_wait`. It
    /// differs from node to node and from asker to asker, so that one answer is the first. @complexity O(1).
    [[nodiscard]] auto answer_delay(const JobId& about, const NodeId& asker, const NodeId& self) const -> Duration {
        auto hasher = SipHash24{SipKey{}};
        hasher.bytes(std::span{about.bytes()}).bytes(std::span{asker.bytes()}).bytes(std::span{self.bytes()});
        const auto delays = static_cast<std::uint64_t>(answer_wait.count() / 4 + 1);
        return Duration{static_cast<Duration::rep>(hasher.finish() % delays)};
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
};

}}  // namespace allot::v0
