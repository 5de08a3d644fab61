#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace support {

/// Keccak-256 as on the contracts' chain: SHA-3 except for the first byte of its padding. Recorded draws use it;
/// nothing in include/ needs it. Plain and slow.
inline auto keccak256(std::span<const std::uint8_t> message) -> std::array<std::uint8_t, 32> {
    constexpr auto rate = std::size_t{136};  // bytes of the state that absorb the message
    constexpr auto round_constants = std::array<std::uint64_t, 24>{
        0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
        0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
        0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
        0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
        0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
    const auto rotated = [](std::uint64_t lane, std::size_t by) {
        return by == 0 ? lane : (lane << by) | (lane >> (64 - by));
    };
    auto lanes = std::array<std::uint64_t, 25>{};  // lane (x, y) has index x + 5 y
    const auto permute = [&] {
        for (const auto constant : round_constants) {
            auto parity = std::array<std::uint64_t, 5>{};
            for (std::size_t i = 0; i < 25; ++i) { parity[i % 5] ^= lanes[i]; }
            for (std::size_t i = 0; i < 25; ++i) { lanes[i] ^= parity[(i + 4) % 5] ^ rotated(parity[(i + 1) % 5], 1); }
            // Each lane moves, rotated, to the place of the next along one walk through all but the first.
            auto carried = lanes[1];
            auto x = std::size_t{1};
            auto y = std::size_t{0};
            for (std::size_t step = 1; step <= 24; ++step) {
                const auto next = (2 * x + 3 * y) % 5;
                x = y;
                y = next;
                const auto met = lanes[x + 5 * y];
                lanes[x + 5 * y] = rotated(carried, step * (step + 1) / 2 % 64);
                carried = met;
            }
            for (std::size_t row = 0; row < 25; row += 5) {
                const auto old = std::array{lanes[row], lanes[row + 1], lanes[row + 2], lanes[row + 3], lanes[row + 4]};
                for (std::size_t i = 0; i < 5; ++i) {
                    lanes[row + i] = old[i] ^ (~old[(i + 1) % 5] & old[(i + 2) % 5]);
                }
            }
            lanes[0] ^= constant;
        }
    };
    auto padded = std::vector<std::uint8_t>(message.begin(), message.end());
    padded.resize((message.size() / rate + 1) * rate);
    padded[message.size()] ^= 0x01;
    padded.back() ^= 0x80;
    for (std::size_t i = 0; i < padded.size(); ++i) {
        const auto at = i % rate;
        lanes[at / 8] ^= std::uint64_t{padded[i]} << (8 * (at % 8));
        if (at + 1 == rate) { permute(); }
    }
    auto digest = std::array<std::uint8_t, 32>{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::uint8_t>(lanes[i / 8] >> (8 * (i % 8)));
    }
    return digest;
}

}  // namespace support
