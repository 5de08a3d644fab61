#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <allot/job.hpp>

#include "keys.hpp"

namespace jobs {

/// All that the contract decided by, published after a job's end with the seed, so that anybody can repeat it.
struct Proof {
    /// A record that was judged, and its results.
    struct Judged {
        allot::MacroRecord record;
        std::vector<allot::ResultRecord> results;
    };
    allot::job_message::JobPosted posted;
    std::vector<std::uint64_t> seed;             ///< The words of the job's seed.
    std::vector<allot::RecomputedBlock> blocks;  ///< Those computed again, signed by the referee.
    std::vector<Judged> judged;
    std::vector<allot::Rejection> rejected;
    allot::FinalRecord final;
};

/// Returns a data block as the referee computes it, unsigned.
[[nodiscard]] auto recomputed(const std::string& file, std::uint64_t block, std::uint64_t count,
                              const allot::NodeId& author) -> allot::RecomputedBlock;

/// Repeats all of a proof, with the file of the job. Returns the first fault as a sentence; none if all is right: the
/// seed is that of the plan, each block is what the referee signed, so many samples of each MacroJob are among them,
/// each member that is named contradicts one of them, and no result that was paid does. A job that is complete was paid
/// by records that the proof brings. How many samples are enough is what the reader was promised, and not the proof's
/// word.
[[nodiscard]] auto fault_of(const Proof& proof, const std::string& file, std::uint32_t samples, const Keyring& ring)
    -> std::optional<std::string>;

}  // namespace jobs
