#pragma once

#include <cstdint>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Reasons why a node cannot take a task now; `none` means that it can. The numbers are stable. An explanation asks
/// in their order, but `pinned` first, models and gangs last. Numbers from 64 up belong to the embedder's own policies.
enum class Reason : std::uint8_t {
    none = 0,
    paused = 1,
    pending = 2,
    busy = 3,
    vram_too_small = 4,
    gpu_differs = 5,
    platform_refused = 6,
    version_too_old = 7,
    name_policy = 8,
    excluded = 9,
    zero_weight = 10,
    avoided = 11,
    same_operator = 12,
    models_missing = 13,
    narrowed_out = 14,
    unproven = 15,
    gang_short = 16,
    pinned = 17,
    stake_too_small = 18,
    first_of_embedder = 64,
};

/// The reason as a short phrase.
[[nodiscard]] constexpr auto message(Reason reason) noexcept -> std::string_view {
    switch (reason) {
        case Reason::none: return "eligible";
        case Reason::paused: return "paused";
        case Reason::pending: return "about to pause or leave";
        case Reason::busy: return "busy";
        case Reason::vram_too_small: return "too little VRAM";
        case Reason::gpu_differs: return "another GPU is required";
        case Reason::platform_refused: return "platform not accepted";
        case Reason::version_too_old: return "software version too old or of another major";
        case Reason::name_policy: return "GPU not admitted by the name policy";
        case Reason::excluded: return "excluded for a while";
        case Reason::zero_weight: return "selection weight is zero";
        case Reason::avoided: return "the task avoids this node";
        case Reason::same_operator: return "another member of the validation group has this node or operator";
        case Reason::models_missing: return "lacks the required models";
        case Reason::narrowed_out: return "others hold the models";
        case Reason::unproven: return "on probation, and the task pays too much for that";
        case Reason::gang_short: return "too few others can run it beside this node";
        case Reason::pinned: return "the task is pinned to another node";
        case Reason::stake_too_small: return "too little stake for the fee";
        case Reason::first_of_embedder: break;
    }
    return "refused by the embedder's own rule";
}

}}  // namespace allot::v0
