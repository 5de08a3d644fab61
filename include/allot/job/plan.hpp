#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// The numbers by which a job is sliced. The defaults are the seed's: ten workers and one verifier in each MacroJob.
struct Slicing {
    std::uint32_t macro_count = 1;
    std::uint32_t workers_per_macro = 10;
    std::uint32_t verifiers_per_macro = 1;  ///< 0 posts a job without verification.
    /// Length of a worker's list and of a verifier's, equal so that the length reveals nothing.
    std::uint32_t blocks_per_micro = 10;
    std::uint32_t checked_blocks_per_worker = 1;  ///< A verifier recomputes at least this many blocks of each worker.

    /// Number of MicroJobs in a MacroJob. @pre `fault()` is none.
    [[nodiscard]] constexpr auto items() const noexcept -> std::uint32_t {
        return workers_per_macro + verifiers_per_macro;
    }
    /// Number of data blocks in a MacroJob. @pre `fault()` is none.
    [[nodiscard]] constexpr auto blocks_per_macro() const noexcept -> std::uint64_t {
        return std::uint64_t{workers_per_macro} * blocks_per_micro;
    }

    /// Returns the first fault; none if the numbers are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> std::optional<JobError> {
        if (macro_count == 0) { return JobError::no_macros; }
        if (workers_per_macro == 0) { return JobError::no_workers; }
        if (blocks_per_micro == 0) { return JobError::no_blocks; }
        if (checked_blocks_per_worker == 0 && verifiers_per_macro > 0) { return JobError::no_checks; }
        const auto items = std::uint64_t{workers_per_macro} + verifiers_per_macro;
        if (items > items_per_macro_max || items * macro_count > items_max) { return JobError::too_many_items; }
        if (blocks_per_micro > blocks_per_micro_max || blocks_per_macro() > blocks_max / macro_count) {
            return JobError::too_many_blocks;
        }
        if (verifiers_per_macro > 0 &&
            std::uint64_t{workers_per_macro} * checked_blocks_per_worker > blocks_per_micro) {
            return JobError::checks_do_not_fit;
        }
        return std::nullopt;
    }

    /// Limits of the numbers: MicroJobs in a MacroJob and in a job, blocks in a MicroJob and in a job.
    static constexpr std::uint64_t items_per_macro_max = 4096;
    static constexpr std::uint64_t items_max = std::uint64_t{1} << 20;
    static constexpr std::uint64_t blocks_per_micro_max = std::uint64_t{1} << 16;
    static constexpr std::uint64_t blocks_max = std::uint64_t{1} << 48;

    friend constexpr auto operator==(const Slicing&, const Slicing&) noexcept -> bool = default;
};

/// The members that may give verdicts about a job. All null: each member may give all of them.
struct JobAuthorities {
    /// Signs the plan, holds the seed, and gives the job its id (`job_id_of`). Null: the plan is not signed.
    NodeId poster = NodeId::null();
    NodeId referee = NodeId::null();   ///< Rejects results. Null: the poster does.
    NodeId contract = NodeId::null();  ///< Ends the job, and may reject results. Null: the last queue's owner ends it.

    /// True if a member may reject results. @complexity O(1).
    [[nodiscard]] auto may_reject(const NodeId& author) const noexcept -> bool {
        const auto& judge = referee.is_null() ? poster : referee;
        return (judge.is_null() && contract.is_null()) ||
               (!author.is_null() && (author == judge || author == contract));
    }
    friend auto operator==(const JobAuthorities&, const JobAuthorities&) -> bool = default;
};

/// The poster's description of a job. The seed stays with the poster, because it tells which MicroJobs verify.
struct JobSpec {
    JobId job;  ///< `job_id_of(authorities.poster, number)`; any other id if the poster is null.
    Entropy seed{};
    Slicing slicing{};
    std::string code_uri{};
    std::string data_uri{};
    JobAuthorities authorities{};
};

/// One MacroJob, as public data.
struct MacroPlan {
    JobId job;
    std::uint32_t macro = 0;
    std::uint32_t macro_count = 0;  ///< Number of MacroJobs of the job.
    Hash256 id{};
    std::vector<Hash256> micros{};       ///< The ids of its MicroJobs; they do not reveal which of them verify.
    std::uint32_t blocks_per_micro = 0;  ///< Number of hashes in a result.
    std::uint32_t verifiers = 0;
    std::uint32_t checked_blocks = 0;
    JobAuthorities authorities{};

    /// Number of MicroJobs.
    [[nodiscard]] auto items() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(micros.size()); }
    /// Name of the MacroJob's channel.
    [[nodiscard]] auto channel() const -> std::string { return macro_channel(job, id); }
    friend auto operator==(const MacroPlan&, const MacroPlan&) -> bool = default;
};

/// The public plan of a job: ids and sizes. It reveals neither the verifiers nor the places of the data
/// blocks (rule 31).
class JobPlan {
public:
    /// Slices a job. The ids follow from the seed alone, so that each later holder of the seed can check them:
    /// H("macro" | job | seed | macro) and H("micro" | job | seed | macro | micro).
    /// Errors: `job_invalid`, `job_foreign` unless `may_post` the id, and those of `Slicing::fault`.
    /// @complexity linear in the number of MicroJobs.
    [[nodiscard]] static auto slice(const JobSpec& spec) -> Result<JobPlan, JobError> {
        if (const auto fault = fault_of(spec.job, spec.authorities, spec.slicing)) {
            return FailureOf<JobError>{*fault};
        }
        auto plan = JobPlan{spec};
        const auto derived = [&](std::string_view what, std::uint32_t macro) {
            auto hasher = RecordHasher{what};
            return hasher.id(spec.job).hash(spec.seed.bytes()).word(macro);
        };
        for (std::uint32_t m = 0; m < spec.slicing.macro_count; ++m) {
            plan.macros_.push_back(derived("macro", m).finish());
            for (std::uint32_t k = 0; k < spec.slicing.items(); ++k) {
                plan.micros_.push_back(derived("micro", m).word(k).finish());
            }
        }
        plan.digest_ = plan.digest_of_contents();
        return plan;
    }

    /// Makes a plan from its parts, as received over a wire. Errors: those of `slice`, and `message_shape_wrong` for a
    /// wrong number of ids. @complexity linear in the number of MicroJobs.
    [[nodiscard]] static auto from_parts(const JobId& job, const Slicing& slicing, std::string code_uri,
                                         std::string data_uri, std::vector<Hash256> macros, std::vector<Hash256> micros,
                                         const JobAuthorities& authorities = {}) -> Result<JobPlan, JobError> {
        if (const auto fault = fault_of(job, authorities, slicing)) { return FailureOf<JobError>{*fault}; }
        if (macros.size() != slicing.macro_count ||
            micros.size() != std::size_t{slicing.macro_count} * slicing.items()) {
            return FailureOf<JobError>{JobError::message_shape_wrong};
        }
        auto plan = JobPlan{{job, {}, slicing, std::move(code_uri), std::move(data_uri), authorities}};
        plan.macros_ = std::move(macros);
        plan.micros_ = std::move(micros);
        plan.digest_ = plan.digest_of_contents();
        return plan;
    }

    /// The job's id.
    [[nodiscard]] auto job() const noexcept -> const JobId& { return job_; }
    /// The numbers by which the job is sliced.
    [[nodiscard]] auto slicing() const noexcept -> const Slicing& { return slicing_; }
    /// Location of the code.
    [[nodiscard]] auto code_uri() const noexcept -> const std::string& { return code_uri_; }
    /// Location of the data.
    [[nodiscard]] auto data_uri() const noexcept -> const std::string& { return data_uri_; }
    /// The members that may give verdicts.
    [[nodiscard]] auto authorities() const noexcept -> const JobAuthorities& { return authorities_; }
    /// The ids of the MacroJobs.
    [[nodiscard]] auto macro_ids() const noexcept -> const std::vector<Hash256>& { return macros_; }
    /// The ids of the MicroJobs, MacroJob by MacroJob.
    [[nodiscard]] auto micro_ids() const noexcept -> const std::vector<Hash256>& { return micros_; }
    /// Two plans are equal if their digests are.
    [[nodiscard]] auto digest() const noexcept -> const Hash256& { return digest_; }
    /// True if the plan has this MicroJob.
    [[nodiscard]] auto contains(MicroKey key) const noexcept -> bool {
        return key.macro < slicing_.macro_count && key.micro < slicing_.items();
    }
    /// The id of a MicroJob. @pre `contains(key)`.
    [[nodiscard]] auto id(MicroKey key) const noexcept -> const Hash256& {
        return micros_[std::size_t{key.macro} * slicing_.items() + key.micro];
    }
    /// Returns one MacroJob. @pre `macro < slicing().macro_count`. @complexity linear in its MicroJobs.
    [[nodiscard]] auto macro(std::uint32_t macro) const -> MacroPlan {
        const auto first = micros_.begin() + static_cast<std::ptrdiff_t>(std::size_t{macro} * slicing_.items());
        return {job_,
                macro,
                slicing_.macro_count,
                macros_[macro],
                {first, first + static_cast<std::ptrdiff_t>(slicing_.items())},
                slicing_.blocks_per_micro,
                slicing_.verifiers_per_macro,
                slicing_.checked_blocks_per_worker,
                authorities_};
    }

    friend auto operator==(const JobPlan&, const JobPlan&) -> bool = default;

private:
    explicit JobPlan(const JobSpec& spec)
        : job_{spec.job}, slicing_{spec.slicing}, code_uri_{spec.code_uri}, data_uri_{spec.data_uri},
          authorities_{spec.authorities} {}

    [[nodiscard]] static auto fault_of(const JobId& job, const JobAuthorities& authorities, const Slicing& slicing)
        -> std::optional<JobError> {
        if (job.is_null()) { return JobError::job_invalid; }
        return may_post(authorities.poster, job) ? slicing.fault() : std::optional{JobError::job_foreign};
    }
    [[nodiscard]] auto digest_of_contents() const -> Hash256 {
        auto hasher = RecordHasher{"plan"};
        hasher.id(job_).text(code_uri_).text(data_uri_);
        hasher.word(slicing_.macro_count).word(slicing_.workers_per_macro).word(slicing_.verifiers_per_macro);
        hasher.word(slicing_.blocks_per_micro).word(slicing_.checked_blocks_per_worker);
        hasher.id(authorities_.poster).id(authorities_.referee).id(authorities_.contract);
        for (const auto& id : macros_) { hasher.hash(id); }
        for (const auto& id : micros_) { hasher.hash(id); }
        return hasher.finish();
    }

    JobId job_;
    Slicing slicing_;
    std::string code_uri_;
    std::string data_uri_;
    JobAuthorities authorities_;
    std::vector<Hash256> macros_;
    std::vector<Hash256> micros_;
    Hash256 digest_{};
};

}}  // namespace allot::v0
