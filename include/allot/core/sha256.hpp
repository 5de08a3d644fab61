#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// 256 bits that identify a content.
using Hash256 = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4), fed piece by piece.
///
/// It names contents that an untrusted party chose: no party can make two contents with one name. `SipHasher` is many
/// times faster, and is enough where only a hash table must be safe from such a party.
class Sha256 {
public:
    /// Feeds bytes.
    /// @complexity linear in their number; whole blocks are hashed in place, and only the bytes left over are copied.
    constexpr auto bytes(std::span<const std::uint8_t> values) noexcept -> Sha256& {
        const auto used = used_bytes();
        length_ += values.size();
        if (used + values.size() < block_size) {
            std::copy(values.begin(), values.end(), block_.data() + used);
            return *this;
        }
        if (used > 0) {
            std::copy_n(values.begin(), block_size - used, block_.data() + used);
            compress(state_, block_.data());
            values = values.subspan(block_size - used);
        }
        for (; values.size() >= block_size; values = values.subspan(block_size)) { compress(state_, values.data()); }
        std::copy(values.begin(), values.end(), block_.data());
        return *this;
    }

    /// The eight words between two blocks.
    using State = std::array<std::uint32_t, 8>;

    /// The words after all bytes fed so far: a start for `joined` that depends on these bytes.
    /// @pre the bytes fill whole blocks of 64.
    [[nodiscard]] constexpr auto state() const noexcept -> const State& { return state_; }

    /// One compression of two hashes from a start, without padding: a cheap hash of exactly 64 bytes.
    /// @complexity constant: one block.
    [[nodiscard]] static constexpr auto joined(State start, const Hash256& left, const Hash256& right) noexcept
        -> Hash256 {
        auto block = Block{};
        std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), block.begin()));
        compress(start, block.data());
        return bytes_of(start);
    }

    /// The hash of all bytes fed so far. More can be fed afterwards.
    /// @complexity constant: at most two blocks.
    [[nodiscard]] constexpr auto finish() const noexcept -> Hash256 {
        constexpr auto length_at = block_size - 8;
        auto state = state_;
        auto last = Block{};
        auto* const end = std::copy_n(block_.data(), used_bytes(), last.data());
        *end = 0x80;
        if (used_bytes() >= length_at) {
            compress(state, last.data());
            last = Block{};
        }
        for (std::size_t i = 0; i < 8; ++i) {
            last[length_at + i] = static_cast<std::uint8_t>((8U * length_) >> (8U * (7U - i)));
        }
        compress(state, last.data());
        return bytes_of(state);
    }

private:
    static constexpr std::size_t block_size = 64;
    using Block = std::array<std::uint8_t, block_size>;
    using Words = std::array<std::uint32_t, 64>;

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    static constexpr auto round_constants =
        Words{0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
              0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
              0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
              0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
              0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
              0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
              0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
              0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

    [[nodiscard]] static constexpr auto bytes_of(const State& state) noexcept -> Hash256 {
        auto out = Hash256{};
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::uint8_t>(state[i / 4] >> (8U * (3U - i % 4U)));
        }
        return out;
    }

    [[nodiscard]] constexpr auto used_bytes() const noexcept -> std::size_t {
        return static_cast<std::size_t>(length_ % block_size);
    }

    /// One round. The eight words stay in place; instead, the next round shifts their names by one.
    static constexpr auto round(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t& d, std::uint32_t e,
                                std::uint32_t f, std::uint32_t g, std::uint32_t& h, std::uint32_t added) noexcept
        -> void {
        h += (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + (g ^ (e & (f ^ g))) + added;
        d += h;
        h += (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) | (c & (a | b)));
    }

    /// Hashes the 64 bytes from `block` on into the state.
    static constexpr auto compress(State& state, const std::uint8_t* block) noexcept -> void {
        auto w = Words{};
        for (std::size_t i = 0; i < 16; ++i, block += 4) {
            w[i] = std::uint32_t{block[0]} << 24U | std::uint32_t{block[1]} << 16U | std::uint32_t{block[2]} << 8U |
                   block[3];
        }
        for (std::size_t i = 16; i < w.size(); ++i) {
            const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
            const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto [a, b, c, d, e, f, g, h] = state;
        for (std::size_t i = 0; i < w.size(); i += 8) {
            const auto added = [&](std::size_t j) { return round_constants[i + j] + w[i + j]; };
            round(a, b, c, d, e, f, g, h, added(0));
            round(h, a, b, c, d, e, f, g, added(1));
            round(g, h, a, b, c, d, e, f, added(2));
            round(f, g, h, a, b, c, d, e, added(3));
            round(e, f, g, h, a, b, c, d, added(4));
            round(d, e, f, g, h, a, b, c, added(5));
            round(c, d, e, f, g, h, a, b, added(6));
            round(b, c, d, e, f, g, h, a, added(7));
        }
        const auto after = State{a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < state.size(); ++i) { state[i] += after[i]; }
    }

    State state_{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    Block block_{};  ///< Bytes that do not yet fill a block.
    std::uint64_t length_ = 0;
};

}}  // namespace allot::v0
