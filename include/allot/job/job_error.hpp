#pragma once

#include <cstdint>
#include <string_view>

#include <allot/core/fields.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why an input to a job's state machines was refused. The numbers are stable. A refused input changes nothing, but
/// a refused clock is noted. `enumerator_name` tells the name of an error, for logs and metrics.
enum class JobError : std::uint16_t {
    time_went_back = 1,
    parameter_invalid = 2,
    node_invalid = 3,
    wallet_invalid = 4,

    no_macros = 10,
    no_workers = 11,
    no_blocks = 12,
    no_checks = 13,
    checks_do_not_fit = 14,
    too_many_items = 15,
    too_many_blocks = 16,
    job_invalid = 17,
    job_foreign = 18,

    job_unknown = 20,
    job_duplicate = 21,
    macro_unknown = 22,
    micro_unknown = 23,
    queue_missing = 24,
    queue_exists = 25,
    job_forgotten = 26,
    too_many_jobs = 27,

    lease_missing = 30,
    lease_stale = 31,
    lease_held = 32,
    lease_capped = 33,
    item_ended = 34,
    item_barred = 35,
    lease_foreign = 36,
    renewal_without_progress = 37,

    result_of_another_micro = 40,
    result_length_wrong = 41,
    result_hash_missing = 42,
    result_digest_wrong = 43,
    result_duplicate = 44,
    result_rejected = 45,
    result_late = 46,
    result_contradicts_renewal = 47,
    result_twice = 48,
    result_unleased = 49,

    message_shape_wrong = 50,
    message_too_large = 51,
    message_time_wrong = 52,
    record_invalid = 53,
    author_wrong = 54,
    author_unproven = 55,
    author_without_right = 56,
    reign_too_early = 57,
    history_changed = 58,

    not_covered = 60,
    settlement_unasked = 61,
    claim_unknown = 62,
    amount_overflow = 63,
    no_shares = 64,
};
ALLOT_ENUMERATORS(JobError, time_went_back, parameter_invalid, node_invalid, wallet_invalid, no_macros, no_workers,
                  no_blocks, no_checks, checks_do_not_fit, too_many_items, too_many_blocks, job_invalid, job_foreign,
                  job_unknown, job_duplicate, macro_unknown, micro_unknown, queue_missing, queue_exists, job_forgotten,
                  too_many_jobs, lease_missing, lease_stale, lease_held, lease_capped, item_ended, item_barred,
                  lease_foreign, renewal_without_progress, result_of_another_micro, result_length_wrong,
                  result_hash_missing, result_digest_wrong, result_duplicate, result_rejected, result_late,
                  result_contradicts_renewal, result_twice, result_unleased, message_shape_wrong, message_too_large,
                  message_time_wrong, record_invalid, author_wrong, author_unproven, author_without_right,
                  reign_too_early, history_changed, not_covered, settlement_unasked, claim_unknown, amount_overflow,
                  no_shares)

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(JobError error) noexcept -> std::string_view {
    switch (error) {
        case JobError::time_went_back: return "the time is earlier than the last one; pass a time that never goes back";
        case JobError::parameter_invalid: return "a parameter is outside its documented range";
        case JobError::node_invalid: return "the node's id is null; every node needs one";
        case JobError::wallet_invalid: return "the wallet's id is null; a result is paid to one";
        case JobError::no_macros: return "the job has no MacroJobs; slice it into at least one";
        case JobError::no_workers: return "a MacroJob has no worker MicroJobs; give it at least one";
        case JobError::no_blocks: return "a MicroJob has no blocks; give it at least one";
        case JobError::no_checks:
            return "a verifier that checks no block verifies nothing; check at least one of each worker";
        case JobError::checks_do_not_fit:
            return "a verifier's list is as long as a worker's; raise blocks_per_micro or lower the checks or the "
                   "workers";
        case JobError::too_many_items: return "the job has more MicroJobs than 2^20, or a MacroJob more than 4096";
        case JobError::too_many_blocks: return "the job has more than 2^48 blocks, or a MicroJob more than 65536";
        case JobError::job_invalid: return "the job's id is null; every job needs one";
        case JobError::job_foreign: return "the job's id is not one of its plan's poster; make it by job_id_of";
        case JobError::job_unknown: return "no job of this id is known here";
        case JobError::job_duplicate: return "a job of this id is known, with another plan";
        case JobError::macro_unknown: return "the job has no MacroJob of this number";
        case JobError::micro_unknown: return "the MacroJob has no MicroJob of this number";
        case JobError::queue_missing: return "no queue is known here yet; create one, or wait for a snapshot";
        case JobError::queue_exists: return "a queue is known here already";
        case JobError::job_forgotten:
            return "a later job of the poster has ended and was forgotten; give each job a higher number";
        case JobError::too_many_jobs:
            return "this node knows as many jobs without an end as it may; see JobParameters::jobs_max";
        case JobError::lease_missing: return "nobody holds the item; there is no lease";
        case JobError::lease_stale:
            return "the lease is not the current one; its token was overtaken, or it has expired";
        case JobError::lease_held: return "somebody holds the item until its lease ends";
        case JobError::lease_capped: return "the lease is as long as it may ever be";
        case JobError::item_ended: return "the item is done or dead";
        case JobError::item_barred: return "the item may not be had now: not before its time, or not by this node";
        case JobError::lease_foreign:
            return "this node works on another MicroJob by now; the lease it had before is over";
        case JobError::renewal_without_progress:
            return "the renewal commits to no further block of the plan; renew once another block is finished";
        case JobError::result_of_another_micro: return "the result's id is not that of the MicroJob it names";
        case JobError::result_length_wrong: return "the result needs exactly one hash for each block of the MicroJob";
        case JobError::result_hash_missing: return "a hash of the result is null";
        case JobError::result_digest_wrong: return "the record's digest is not that of its contents";
        case JobError::result_duplicate: return "this very result is known already";
        case JobError::result_rejected: return "this very result was rejected";
        case JobError::result_late: return "the MacroJob's results are settled; a later one changes nothing";
        case JobError::result_contradicts_renewal:
            return "the result lacks the block to which a renewal of its lease committed; submit that one";
        case JobError::result_twice: return "this node has another result for the same MicroJob";
        case JobError::result_unleased:
            return "the queue's owner gave this node no such lease, so the result counts nothing";
        case JobError::message_shape_wrong: return "the message does not have the shape of this MacroJob";
        case JobError::message_too_large: return "a list of the message is longer than its limit";
        case JobError::message_time_wrong: return "a time of the message lies outside [0, 2^48] ms or out of order";
        case JobError::record_invalid:
            return "the record does not fit the plan, or its digest is not that of its contents";
        case JobError::author_wrong: return "the message speaks for another node than its sender";
        case JobError::author_unproven:
            return "a statement's signature is not its author's; sign what you send by sign_own";
        case JobError::author_without_right:
            return "the plan gives the verdict's author no right to it; see JobAuthorities";
        case JobError::reign_too_early:
            return "the queue's owner has to rest: it was taken over, or took the queue over, a short while ago";
        case JobError::history_changed:
            return "the queue's owner changed what was decided before it, or ends work before its time";
        case JobError::not_covered: return "the plan is not covered yet";
        case JobError::settlement_unasked: return "no escrow release is under way";
        case JobError::claim_unknown: return "no such claim is under way";
        case JobError::amount_overflow: return "the amount is 2^96 or more; token amounts must be below";
        case JobError::no_shares: return "there is nothing to divide by; pass how much there was to do";
    }
    return "unknown error";
}

}}  // namespace allot::v0
