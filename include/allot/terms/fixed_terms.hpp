#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `FixedTerms`.
struct FixedTermsParameters {
    std::uint32_t estimates = 2;                          ///< Length of a lease in multiples of the estimate.
    Duration length_min = std::chrono::seconds{60};       ///< Least length of a lease.
    Duration length_max = std::chrono::seconds{7'200};    ///< Greatest length of a lease at its start.
    Duration renewed_max = std::chrono::seconds{28'800};  ///< Greatest length of a lease with its renewals.
    Duration patience = std::chrono::hours{6};            ///< Longest wait in the queue.
    Next after_timeout = Next::end;                       ///< Continuation after a timeout; terminal by default.
    Next after_failure = Next::end;                       ///< Continuation after `fail`; terminal by default.
    std::uint32_t attempts_max = 3;                       ///< After this many starts a failure ends the task.
    std::uint32_t strikes_max = 0xFFFF'FFFFU;             ///< Number of failures that end the task. A refusal is no
                                                          ///< failure.
    std::uint32_t blamed_max = 0xFFFF'FFFFU;              ///< Number of failures blamed on the nodes; later ones are
                                                          ///< blamed on the task.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {estimates >= 1 && estimates <= 1'000, "allot: FixedTerms: estimates must be 1 to 1,000"},
            {length_min > Duration{0}, "allot: FixedTerms: length_min must be positive"},
            {length_max >= length_min, "allot: FixedTerms: length_max must be at least length_min"},
            {renewed_max >= length_max && renewed_max <= duration_max,
             "allot: FixedTerms: renewed_max must be length_max to 2^40 ms"},
            {patience > Duration{0} && patience <= duration_max, "allot: FixedTerms: patience must be 1 to 2^40 ms"},
            {!enumerator_name(after_timeout).empty() && !enumerator_name(after_failure).empty(),
             "allot: FixedTerms: after_timeout and after_failure must be end, retry or retry_elsewhere"},
            {attempts_max >= 1, "allot: FixedTerms: attempts_max must be at least 1"},
            {strikes_max >= 1, "allot: FixedTerms: strikes_max must be at least 1"},
            {blamed_max >= 1, "allot: FixedTerms: blamed_max must be at least 1"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    /// The length of a lease for work of this expected duration.
    [[nodiscard]] constexpr auto length(Duration expected) const noexcept -> Duration {
        return std::clamp(expected * estimates, length_min, length_max);
    }
    friend constexpr auto operator==(const FixedTermsParameters&, const FixedTermsParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(FixedTermsParameters, estimates, length_min, length_max, renewed_max, patience, after_timeout,
             after_failure, attempts_max, strikes_max, blamed_max)

/// Time to load other base models than those in use, initially as the relay sets it (spec: crynux.md 2.5).
inline constexpr auto model_switch_time = Duration{std::chrono::seconds{120}};

/// The relay's execution timeout (spec: crynux.md 2.6), in whole seconds: twice the predicted run time on the chosen
/// card, within [60 s, 7,200 s], rounded up. If the node must first load the task's models, `model_switch_time` is
/// added to the prediction before that.
///
/// `WorkloadEstimate::cautious_on_card` makes the prediction.
/// @pre `predicted` is in (0, 2^32 ms), and `parameters.valid()`.
[[nodiscard]] constexpr auto execution_timeout(Duration predicted, bool switches_models,
                                               const FixedTermsParameters& parameters = {}) noexcept -> Duration {
    return std::chrono::ceil<std::chrono::seconds>(
        parameters.length(switches_models ? predicted + model_switch_time : predicted));
}

/// The default terms: a lease lasts twice the estimate within [60 s, 7,200 s]; a task waits at most six hours; expiry
/// ends the task (rule 6).
class FixedTerms {
public:
    using role = role::terms;
    using Parameters = FixedTermsParameters;

    constexpr FixedTerms() noexcept = default;
    constexpr explicit FixedTerms(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto length(const Node&, const Task& task) const noexcept -> Duration {
        return parameters_.length(task.duration_estimate);
    }
    [[nodiscard]] constexpr auto length_max(const Node&, const Task&) const noexcept -> Duration {
        return parameters_.renewed_max;
    }
    [[nodiscard]] constexpr auto patience(const Task&) const noexcept -> Duration { return parameters_.patience; }

    [[nodiscard]] constexpr auto after(const Task& task, OutcomeKind outcome) const noexcept -> Next {
        if (task.attempt >= parameters_.attempts_max || task.strikes + 1 >= parameters_.strikes_max) {
            return Next::end;
        }
        const auto expired = outcome == OutcomeKind::timeout || outcome == OutcomeKind::timeout_in_group;
        return expired ? parameters_.after_timeout : parameters_.after_failure;
    }

    /// True if the node is blamed. A task that failed elsewhere before is probably at fault itself; a wrong result is
    /// always the node's fault.
    [[nodiscard]] constexpr auto blames(const Task& task, OutcomeKind outcome) const noexcept -> bool {
        return task.strikes < parameters_.blamed_max || outcome == OutcomeKind::incorrect_result;
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0
