#pragma once

#include <cstdint>
#include <string_view>

namespace simulate {

/// One step of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
[[nodiscard]] constexpr auto mix(std::uint64_t x) noexcept -> std::uint64_t {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

/// A number for a text that goes on after others.
[[nodiscard]] constexpr auto hash_of(std::string_view text, std::uint64_t before = 0) noexcept -> std::uint64_t {
    for (const auto c : text) { before = mix(before ^ static_cast<unsigned char>(c)); }
    return before;
}

/// The use of a hashed number; decisions for different purposes about one subject are independent.
enum class Purpose : std::uint64_t {
    node_speed,
    node_kind,
    node_vanishes_at,
    node_model,
    download_time,
    task_jitter,
    task_price,
    task_model,
    task_adapter,
    task_group,
    run_noise,
    run_stalls,
    run_fails,
    entropy,
    task_owner,
    adversary,
    demand,
    drawn_stake,
    drawn_operator,
    drawn_card,
    drawn_arrival,
    drawn_run,
    drawn_vram,
    drawn_any_card,
    drawn_named_card,
};

/// Returns the number for (seed, purpose, subject). It depends on nothing else, so the order of calls does not matter.
[[nodiscard]] constexpr auto hash(std::uint64_t seed, Purpose purpose, std::uint64_t subject,
                                  std::uint64_t index = 0) noexcept -> std::uint64_t {
    return mix(mix(mix(mix(seed) ^ static_cast<std::uint64_t>(purpose)) ^ subject) ^ index);
}

}  // namespace simulate
