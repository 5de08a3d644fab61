#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// 256 bits that identify a content.
using Hash256 = std::array<std::uint8_t, 32>;

namespace detail {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
inline constexpr auto sha256_constants = std::array<std::uint32_t, 64>{
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

/// Four bytes as a word, the highest first.
[[nodiscard]] constexpr auto sha256_word(const std::uint8_t* bytes) noexcept -> std::uint32_t {
    return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U | bytes[3];
}

template <class Word>
[[nodiscard]] constexpr auto sha256_rotated(const Word& word, int by) noexcept -> Word {
    return word >> by | word << (32 - by);
}

/// One round. The eight words stay in place; instead, the next round shifts their names by one.
template <class Word>
constexpr void sha256_round(const Word& a, const Word& b, const Word& c, Word& d, const Word& e, const Word& f,
                            const Word& g, Word& h, const Word& added) noexcept {
    h += (sha256_rotated(e, 6) ^ sha256_rotated(e, 11) ^ sha256_rotated(e, 25)) + (g ^ (e & (f ^ g))) + added;
    d += h;
    h += (sha256_rotated(a, 2) ^ sha256_rotated(a, 13) ^ sha256_rotated(a, 22)) + ((a & b) | (c & (a | b)));
}

/// Hashes a block, the first 16 words of `w`, into the state. A word has 32 bits, or those of several messages.
template <class Word>
constexpr void sha256_compress(std::array<Word, 8>& state, std::array<Word, 64>& w) noexcept {
    for (std::size_t i = 16; i < w.size(); ++i) {
        const Word s0 = sha256_rotated(w[i - 15], 7) ^ sha256_rotated(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const Word s1 = sha256_rotated(w[i - 2], 17) ^ sha256_rotated(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < w.size(); i += 8) {
        const auto added = [&](std::size_t j) -> Word { return w[i + j] + sha256_constants[i + j]; };
        sha256_round<Word>(a, b, c, d, e, f, g, h, added(0));
        sha256_round<Word>(h, a, b, c, d, e, f, g, added(1));
        sha256_round<Word>(g, h, a, b, c, d, e, f, added(2));
        sha256_round<Word>(f, g, h, a, b, c, d, e, added(3));
        sha256_round<Word>(e, f, g, h, a, b, c, d, added(4));
        sha256_round<Word>(d, e, f, g, h, a, b, c, added(5));
        sha256_round<Word>(c, d, e, f, g, h, a, b, added(6));
        sha256_round<Word>(b, c, d, e, f, g, h, a, added(7));
    }
    const auto after = std::array<Word, 8>{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) { state[i] += after[i]; }
}

}  // namespace detail

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

    /// The words after whole blocks from a start, without padding.
    /// @pre the bytes fill whole blocks of 64.
    /// @complexity linear in the blocks.
    [[nodiscard]] static constexpr auto compressed(State start, std::span<const std::uint8_t> blocks) noexcept
        -> State {
        for (; !blocks.empty(); blocks = blocks.subspan(block_size)) { compress(start, blocks.data()); }
        return start;
    }

    /// The words as a hash. @complexity constant.
    [[nodiscard]] static constexpr auto bytes_of(const State& state) noexcept -> Hash256 {
        auto out = Hash256{};
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::uint8_t>(state[i / 4] >> (8U * (3U - i % 4U)));
        }
        return out;
    }

    /// One compression of two hashes from a start, without padding: a cheap hash of exactly 64 bytes.
    /// @complexity constant: one block.
    [[nodiscard]] static constexpr auto joined(State start, const Hash256& left, const Hash256& right) noexcept
        -> Hash256 {
        auto block = Block{};
        std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), block.begin()));
        return bytes_of(compressed(start, block));
    }

    /// The end of a message: the bytes behind its whole blocks, a bit, zeros, and its length.
    struct Tail {
        std::array<std::uint8_t, 128> bytes{};
        std::size_t size = 64;  ///< One block or two.
    };

    /// The tail of a message of `length` bytes that ends with `rest`.
    /// @pre `rest` has `length % 64` bytes.
    /// @complexity constant.
    [[nodiscard]] static constexpr auto tail(std::span<const std::uint8_t> rest, std::uint64_t length) noexcept
        -> Tail {
        auto tail = Tail{};
        *std::copy(rest.begin(), rest.end(), tail.bytes.begin()) = 0x80;
        if (rest.size() + 1 + sizeof(length) > block_size) { tail.size = 2 * block_size; }
        for (std::size_t i = 0; i < sizeof(length); ++i) {
            tail.bytes[tail.size - 1 - i] = static_cast<std::uint8_t>((8U * length) >> (8U * i));
        }
        return tail;
    }

    /// The hash of all bytes fed so far. More can be fed afterwards.
    /// @complexity constant: at most two blocks.
    [[nodiscard]] constexpr auto finish() const noexcept -> Hash256 {
        const auto end = tail(std::span{block_}.first(used_bytes()), length_);
        return bytes_of(compressed(state_, std::span{end.bytes}.first(end.size)));
    }

private:
    static constexpr std::size_t block_size = 64;
    using Block = std::array<std::uint8_t, block_size>;

    [[nodiscard]] constexpr auto used_bytes() const noexcept -> std::size_t {
        return static_cast<std::size_t>(length_ % block_size);
    }

    /// Hashes the 64 bytes from `block` on into the state.
    static constexpr auto compress(State& state, const std::uint8_t* block) noexcept -> void {
        auto w = std::array<std::uint32_t, 64>{};
        for (std::size_t i = 0; i < 16; ++i, block += 4) { w[i] = detail::sha256_word(block); }
        detail::sha256_compress(state, w);
    }

    State state_{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    Block block_{};  ///< Bytes that do not yet fill a block.
    std::uint64_t length_ = 0;
};

}}  // namespace allot::v0
