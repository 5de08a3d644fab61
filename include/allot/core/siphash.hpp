#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/assert.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// Key of 128 bits. The bytes of a key are read with the lowest first, as everywhere in SipHash.
struct SipKey {
    std::uint64_t k0 = 0;
    std::uint64_t k1 = 0;

    friend constexpr auto operator==(const SipKey&, const SipKey&) noexcept -> bool = default;
};

/// SipHash (Aumasson and Bernstein, 2012): a keyed hash of short messages, fed piece by piece.
///
/// A party without the key can neither predict a value nor make two messages collide; a plain hash of names that an
/// untrusted party chose does not prevent that. Each eight bytes take `C` rounds, and the end takes `D`. `Bits` is the
/// length of the result, 64 or 128; results of different length are unrelated.
/// @complexity linear in the number of bytes fed; `finish` and `finish128` take constant time.
template <int C, int D, int Bits = 64>
class SipHasher {
    static_assert(C > 0 && D > 0, "SipHash needs rounds");
    static_assert(Bits == 64 || Bits == 128, "SipHash gives 64 or 128 bits");

public:
    /// A hasher before its first byte.
    explicit constexpr SipHasher(const SipKey& key) noexcept
        : v0_{key.k0 ^ 0x736F'6D65'7073'6575U}, v1_{key.k1 ^ 0x646F'7261'6E64'6F6DU ^ (Bits == 128 ? 0xEEU : 0U)},
          v2_{key.k0 ^ 0x6C79'6765'6E65'7261U}, v3_{key.k1 ^ 0x7465'6462'7974'6573U} {}

    /// Feeds eight bytes, the lowest of the word first.
    constexpr auto word(std::uint64_t value) noexcept -> SipHasher& {
        length_ += 8;
        const auto used = pending_bits();
        if (used == 0) {
            compress(value);
        } else {
            compress(pending_ | (value << used));
            pending_ = value >> (64U - used);
        }
        return *this;
    }

    /// Feeds words.
    /// @pre The number of bytes fed before is a multiple of eight.
    template <std::size_t n>
    constexpr auto words(const std::array<std::uint64_t, n>& values) noexcept -> SipHasher& {
        ALLOT_ASSERT(pending_bits() == 0, "SipHasher::words: feed single bytes after whole words");
        length_ = static_cast<std::uint8_t>(length_ + 8 * n);
        for (const auto value : values) { compress(value); }
        return *this;
    }

    /// Feeds bytes.
    constexpr auto bytes(std::span<const std::uint8_t> values) noexcept -> SipHasher& { return feed(values); }
    constexpr auto bytes(std::span<const std::byte> values) noexcept -> SipHasher& { return feed(values); }

    /// The hash of all bytes fed. It uses the hasher up: a copy can go on.
    [[nodiscard]] constexpr auto finish() noexcept -> std::uint64_t requires(Bits == 64) {
        end();
        v2_ ^= 0xFFU;
        return result();
    }

    /// The hash of all bytes fed, in 128 bits. Its first byte in print is the lowest. It uses the hasher up, too.
    [[nodiscard]] constexpr auto finish128() noexcept -> u128 requires(Bits == 128) {
        end();
        v2_ ^= 0xEEU;
        const auto low = result();
        v1_ ^= 0xDDU;
        return u128::from_parts(result(), low);
    }

private:
    [[nodiscard]] constexpr auto pending_bits() const noexcept -> unsigned { return (length_ % 8U) * 8U; }

    /// Feeds whole words first: compilers turn the eight shifts into one load, which halves the time of hashing text.
    template <class Byte>
    constexpr auto feed(std::span<const Byte> values) noexcept -> SipHasher& {
        for (; values.size() >= 8; values = values.subspan(8)) {
            const auto at = [&](unsigned i) { return static_cast<std::uint64_t>(values[i]) << (8U * i); };
            word(at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7));
        }
        for (const auto value : values) { byte(static_cast<std::uint8_t>(value)); }
        return *this;
    }

    constexpr auto byte(std::uint8_t value) noexcept -> void {
        pending_ |= std::uint64_t{value} << pending_bits();
        ++length_;
        if (length_ % 8U == 0) {
            compress(pending_);
            pending_ = 0;
        }
    }

    constexpr auto end() noexcept -> void { compress(pending_ | (std::uint64_t{length_} << 56U)); }

    constexpr auto result() noexcept -> std::uint64_t {
        for (auto i = 0; i < D; ++i) { round(); }
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

    /// The first rounds stand without a loop, which g++ 12 at -O2 keeps: 70 instructions a pair of commands less.
    constexpr auto compress(std::uint64_t value) noexcept -> void {
        v3_ ^= value;
        round();
        if constexpr (C > 1) { round(); }
        for (auto i = 2; i < C; ++i) { round(); }
        v0_ ^= value;
    }

    constexpr auto round() noexcept -> void {
        v0_ += v1_;
        v2_ += v3_;
        v1_ = std::rotl(v1_, 13) ^ v0_;
        v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ = std::rotl(v0_, 32) + v3_;
        v2_ += v1_;
        v3_ = std::rotl(v3_, 21) ^ v0_;
        v1_ = std::rotl(v1_, 17) ^ v2_;
        v2_ = std::rotl(v2_, 32);
    }

    std::uint64_t v0_;
    std::uint64_t v1_;
    std::uint64_t v2_;
    std::uint64_t v3_;
    std::uint64_t pending_ = 0;  // bytes fed since the last whole word
    std::uint8_t length_ = 0;    // modulo 256, as SipHash's last block has it
};

/// SipHash-1-3: fast, for hash tables and counter streams.
using SipHash13 = SipHasher<1, 3>;
/// SipHash-2-4: as published.
using SipHash24 = SipHasher<2, 4>;
/// SipHash-2-4 with 128 bits.
using SipHash24Wide = SipHasher<2, 4, 128>;

}}  // namespace allot::v0
