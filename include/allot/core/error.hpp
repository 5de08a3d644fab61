#pragma once

#include <cstdint>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Reasons why a command was refused. The numbers are stable; a refused command changes nothing but time.
enum class Error : std::uint16_t {
    time_went_back = 1,
    time_too_late = 2,
    advance_first = 3,

    id_invalid = 10,
    node_unknown = 11,
    node_duplicate = 12,
    task_unknown = 13,
    task_duplicate = 14,
    task_ended = 15,
    task_not_leased = 16,

    lease_stale = 20,
    lease_not_committed = 21,
    lease_already_committed = 22,
    lease_already_disclosed = 23,
    lease_renewal_capped = 24,
    lease_completed = 25,

    vram_zero = 30,
    gpu_empty = 31,
    duration_invalid = 32,
    amount_overflow = 33,
    name_empty = 34,
    name_too_long = 35,
    too_many_names = 36,
    too_many_nodes = 37,
    too_many_tasks = 38,
    too_many_requirements = 39,
    too_many_models = 40,
    points_out_of_range = 41,
    parameter_invalid = 42,
    update_empty = 43,
    too_many_classes = 44,
    group_full = 45,
    gang_size_invalid = 46,

    already_paused = 50,
    already_leaving = 51,
    not_paused = 52,
    model_unknown = 53,
    model_not_on_disk = 54,
    entropy_missing = 55,
    round_unpublished = 56,

    task_unrunnable = 60,
    owner_quota_reached = 61,
    pinned_shared = 62,
    node_holds_task = 63,
    fee_too_low = 64,
    requirement_full = 65,
    fee_too_high = 66,
};

/// The cause of the error and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(Error error) noexcept -> std::string_view {
    switch (error) {
        case Error::time_went_back: return "the moment is earlier than the last one; pass a time that never goes back";
        case Error::time_too_late: return "the moment lies beyond 2^48 ms; pass milliseconds since your origin";
        case Error::advance_first:
            return "more is due than one command may settle; call advance until next_deadline() lies ahead";
        case Error::id_invalid:
            return "the id is null; use an integer, 1 to 32 bytes of text, 32 bytes or 64 hex digits";
        case Error::node_unknown: return "no node of this id has joined";
        case Error::node_duplicate: return "a node of this id has already joined; use update to change it";
        case Error::task_unknown: return "no task of this id was submitted, or it was forgotten";
        case Error::task_duplicate: return "a task of this id exists or ended a short time ago; choose another id";
        case Error::task_ended: return "the task has already ended";
        case Error::task_not_leased: return "the task is not running";
        case Error::lease_stale: return "the lease is not the current one; its token was overtaken or never given";
        case Error::lease_not_committed: return "the lease has no commitment yet; call commit before disclose";
        case Error::lease_already_committed: return "the lease has already been committed";
        case Error::lease_already_disclosed: return "the lease has already been disclosed";
        case Error::lease_renewal_capped:
            return "renewing would not lengthen the lease: it is as long as it may be now";
        case Error::lease_completed: return "the node has completed its part of the gang's task already";
        case Error::vram_zero: return "the VRAM is zero; give the card's nominal size in GiB";
        case Error::gpu_empty: return "the GPU has no name; give the model, such as \"RTX 4090\"";
        case Error::duration_invalid: return "the duration must be positive and below 2^32 ms (49 days)";
        case Error::amount_overflow: return "the amount is 2^96 or more; token amounts must be below";
        case Error::name_empty: return "a name is empty";
        case Error::name_too_long: return "a name is longer than the limit of the rules";
        case Error::too_many_names: return "a list of names is longer than the limit of the rules";
        case Error::too_many_nodes:
            return "the network is full, and no idle node has less stake; raise Rules::nodes_max";
        case Error::too_many_tasks:
            return "too many tasks are remembered; raise Rules::tasks_max or lower forget_tasks_after";
        case Error::too_many_requirements: return "too many different requirements are in use; round VRAM needs up";
        case Error::too_many_models:
            return "nodes hold too many different models, and none has less stake for its part of them; raise "
                   "Rules::models_max";
        case Error::points_out_of_range: return "points lie outside the range of the QoS tracker";
        case Error::parameter_invalid: return "a parameter is outside its documented range";
        case Error::update_empty: return "the update changes nothing; set at least one field";
        case Error::too_many_classes: return "too many different (GPU, VRAM, platform, version) are in use";
        case Error::group_full: return "the validation group has as many members as the rules allow";
        case Error::gang_size_invalid:
            return "a task runs on 1 to Rules::gang_max nodes, and one node alone has no same_card";
        case Error::already_paused: return "the node is paused, or will be when its lease ends";
        case Error::already_leaving: return "the node leaves when its lease ends";
        case Error::not_paused: return "the node is neither paused nor about to pause";
        case Error::model_unknown: return "the node does not hold this model";
        case Error::model_not_on_disk: return "a model must be on disk before it can be loaded";
        case Error::entropy_missing: return "match draws, so its moment needs entropy";
        case Error::round_unpublished:
            return "match draws in rounds of the beacon, so its moment names the newest that is published by its time";
        case Error::task_unrunnable: return "no node could ever run this; ask for other hardware, platforms or version";
        case Error::pinned_shared: return "a task pinned to a node has no owner, no group and no gang";
        case Error::node_holds_task: return "a pinned task waits for this node already; cancel it or let it end";
        case Error::fee_too_low: return "the fee is below the price of the time that the task reserves; offer more";
        case Error::fee_too_high: return "the fee is more than the stakes of most nodes cover; split the task";
        case Error::requirement_full:
            return "as many tasks of this requirement wait as its nodes allow; offer more, or let one end";
        case Error::owner_quota_reached:
            return "the owner has as many unfinished tasks as the rules allow; let one end";
    }
    return "unknown error";
}

}}  // namespace allot::v0
