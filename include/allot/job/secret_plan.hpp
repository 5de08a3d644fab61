#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/random.hpp>
#include <allot/job/plan.hpp>

namespace allot { inline namespace v0 {

/// The block that one place of a verifier's list repeats: the MicroJob, and the place in its list.
struct Pick {
    std::uint32_t micro = 0;
    std::uint32_t place = 0;

    friend auto operator==(const Pick&, const Pick&) noexcept -> bool = default;
};

/// The part of a MacroJob known only to the holder of the seed: the data blocks of each MicroJob, the verifiers and
/// their picks.
struct MacroSecret {
    std::vector<std::uint32_t> verifiers{};            ///< Their numbers among the MicroJobs.
    std::vector<std::vector<std::uint64_t>> blocks{};  ///< By MicroJob: its data blocks, in the order of its hashes.
    std::vector<std::vector<Pick>> picks{};            ///< By verifier: the block that each place of its list repeats.

    friend auto operator==(const MacroSecret&, const MacroSecret&) -> bool = default;
};

/// The secret part of a job's plan (rule 31). It is a function of the spec and of an optional beacon: a random value
/// unknown when the job was posted.
///
/// The stream of MacroJob m is that of the seed + m, as the seed document says. It is `Random` under the seed with m
/// added to its first word and the beacon's words mixed in, purpose `job`, subject the job. The draws are, in order:
/// - the verifiers' numbers;
/// - the order of dealing the MacroJob's data blocks to the workers, so that no worker can tell from its own blocks
///   which number was skipped;
/// - from attempt 1 + `round` of the same key, each verifier's picks;
/// - from the last attempt, the blocks that the referee samples.
class SecretPlan {
public:
    /// Makes the secret of a job. @pre `JobPlan::slice(spec)` gives a plan (asserted).
    explicit SecretPlan(const JobSpec& spec, const std::optional<Entropy>& beacon = std::nullopt)
        : job_{spec.job}, seed_{spec.seed}, slicing_{spec.slicing} {
        ALLOT_ASSERT(!slicing_.fault(), "SecretPlan: the spec must slice without an error");
        if (beacon) { beacon_ = *beacon; }
    }

    /// Returns the secret of one MacroJob. A higher `round` gives fresh picks, after an undecided verdict; the rest is
    /// the same.
    /// @pre `macro < slicing.macro_count` (asserted).
    /// @complexity linear in the MacroJob's blocks.
    [[nodiscard]] auto macro(std::uint32_t macro, std::uint32_t round = 0) const -> MacroSecret {
        ALLOT_ASSERT(macro < slicing_.macro_count, "SecretPlan::macro: there is no such MacroJob");
        auto secret = MacroSecret{};
        auto random = stream(macro, 0);
        auto numbers = drawn_first(slicing_.items(), slicing_.verifiers_per_macro, random);
        secret.verifiers.assign(numbers.begin(), numbers.begin() + slicing_.verifiers_per_macro);
        const auto workers = workers_beside(secret.verifiers);

        const auto count = static_cast<std::uint32_t>(slicing_.blocks_per_macro());
        const auto order = drawn_first(count, count, random);
        secret.blocks.resize(slicing_.items());
        for (std::uint32_t i = 0; i < count; ++i) {
            secret.blocks[workers[i / slicing_.blocks_per_micro]].push_back(slicing_.blocks_per_macro() * macro +
                                                                            order[i]);
        }
        auto fresh = stream(macro, 1 + round);
        for (const auto verifier : secret.verifiers) {
            secret.picks.push_back(picks_among(workers, fresh));
            for (const auto& pick : secret.picks.back()) {
                secret.blocks[verifier].push_back(secret.blocks[pick.micro][pick.place]);
            }
        }
        return secret;
    }

    /// Returns `count` different data blocks of a MacroJob that its referee recomputes in any case, or all if
    /// it has fewer: a share of wrong blocks stays unseen with a probability of at most (1 - share)^count.
    /// @pre `macro < slicing.macro_count` (asserted). @complexity linear in the MacroJob's blocks.
    [[nodiscard]] auto samples(std::uint32_t macro, std::uint32_t count) const -> std::vector<std::uint64_t> {
        ALLOT_ASSERT(macro < slicing_.macro_count, "SecretPlan::samples: there is no such MacroJob");
        const auto all = static_cast<std::uint32_t>(slicing_.blocks_per_macro());
        auto random = stream(macro, sampling);
        const auto numbers = drawn_first(all, std::min(count, all), random);
        auto blocks = std::vector<std::uint64_t>{};
        for (std::uint32_t i = 0; i < std::min(count, all); ++i) {
            blocks.push_back(slicing_.blocks_per_macro() * macro + numbers[i]);
        }
        return blocks;
    }

private:
    static constexpr std::uint32_t sampling = ~std::uint32_t{0};  // the attempt of the stream that draws samples

    [[nodiscard]] auto stream(std::uint32_t macro, std::uint32_t attempt) const -> Random {
        auto key = seed_;
        key.words[0] += macro;
        for (std::size_t i = 0; i < key.words.size(); ++i) { key.words[i] ^= beacon_.words[i]; }
        return {key, Purpose::job, job_.bytes(), attempt, macro};
    }

    /// Returns the numbers below `count`; the first `taken` of them are drawn without replacement.
    [[nodiscard]] static auto drawn_first(std::uint32_t count, std::uint32_t taken, Random& random)
        -> std::vector<std::uint32_t> {
        auto numbers = std::vector<std::uint32_t>(count);
        std::iota(numbers.begin(), numbers.end(), 0U);
        for (std::uint32_t i = 0; i < taken; ++i) {
            std::swap(numbers[i], numbers[i + static_cast<std::uint32_t>(random.below(std::uint64_t{count - i}))]);
        }
        return numbers;
    }

    [[nodiscard]] auto workers_beside(const std::vector<std::uint32_t>& verifiers) const -> std::vector<std::uint32_t> {
        auto workers = std::vector<std::uint32_t>{};
        for (std::uint32_t k = 0; k < slicing_.items(); ++k) {
            if (std::find(verifiers.begin(), verifiers.end(), k) == verifiers.end()) { workers.push_back(k); }
        }
        return workers;
    }

    /// Returns one pick for each place of a verifier's list, dealt evenly: all workers get the same number, some random
    /// ones one more.
    [[nodiscard]] auto picks_among(const std::vector<std::uint32_t>& workers, Random& random) const
        -> std::vector<Pick> {
        const auto length = slicing_.blocks_per_micro;
        const auto count = slicing_.workers_per_macro;
        const auto more = drawn_first(count, count, random);
        auto picks = std::vector<Pick>{};
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto share = length / count + (i < length % count ? 1U : 0U);
            const auto places = drawn_first(length, share, random);
            for (std::uint32_t j = 0; j < share; ++j) { picks.push_back({workers[more[i]], places[j]}); }
        }
        const auto order = drawn_first(length, length, random);
        auto mixed = std::vector<Pick>{};
        for (const auto i : order) { mixed.push_back(picks[i]); }
        return mixed;
    }

    JobId job_;
    Entropy seed_;
    Slicing slicing_;
    Entropy beacon_{};
};

}}  // namespace allot::v0
