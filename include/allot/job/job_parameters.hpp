#pragma once

#include <chrono>

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

    /// True when the parameters make sense together.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        constexpr auto zero = Duration{0};
        return queue.valid() && answer_wait > zero && ask_retry > zero && claim > queue.owner_timeout && settle_patience > zero;
    }
};

}}  // namespace allot::v0
