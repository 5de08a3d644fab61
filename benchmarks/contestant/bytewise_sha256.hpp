#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/core/sha256.hpp>

namespace bench {

/// SHA-256 as the standard's text reads, a byte at a time: what the library had at first.
class BytewiseSha256 {
public:
    constexpr auto bytes(std::span<const std::uint8_t> values) noexcept -> BytewiseSha256& {
        for (const auto value : values) {
            block_[length_ % block_.size()] = value;
            if (++length_ % block_.size() == 0) { compress(); }
        }
        return *this;
    }

    [[nodiscard]] constexpr auto finish() const noexcept -> allot::Hash256 {
        auto last = *this;
        const auto bits = length_ * 8U;
        constexpr auto mark = std::array<std::uint8_t, 1>{0x80};
        constexpr auto zero = std::array<std::uint8_t, 1>{};
        last.bytes(mark);
        while (last.length_ % block_.size() != block_.size() - 8) { last.bytes(zero); }
        auto tail = std::array<std::uint8_t, 8>{};
        for (std::size_t i = 0; i < tail.size(); ++i) {
            tail[i] = static_cast<std::uint8_t>((bits >> (8U * (7U - i))) & 0xFFU);
        }
        last.bytes(tail);
        auto out = allot::Hash256{};
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::uint8_t>((last.state_[i / 4] >> (8U * (3U - i % 4U))) & 0xFFU);
        }
        return out;
    }

private:
    using Words = std::array<std::uint32_t, 64>;

    static constexpr auto round_constants =
        Words{0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
              0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
              0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
              0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
              0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
              0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
              0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
              0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

    constexpr auto compress() noexcept -> void {
        auto w = Words{};
        for (std::size_t i = 0; i < 16; ++i) {
            for (std::size_t j = 0; j < 4; ++j) { w[i] = (w[i] << 8U) | block_[4 * i + j]; }
        }
        for (std::size_t i = 16; i < w.size(); ++i) {
            const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
            const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto v = state_;
        auto& [a, b, c, d, e, f, g, h] = v;
        for (std::size_t i = 0; i < w.size(); ++i) {
            const auto t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                            round_constants[i] + w[i];
            const auto t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            std::copy_backward(v.begin(), v.end() - 1, v.end());
            e += t1;
            a = t1 + t2;
        }
        for (std::size_t i = 0; i < v.size(); ++i) { state_[i] += v[i]; }
    }

    std::array<std::uint32_t, 8> state_{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    std::array<std::uint8_t, 64> block_{};
    std::uint64_t length_ = 0;
};

}  // namespace bench
