#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/words.hpp>

namespace allot { inline namespace v0 {

/// 256 bits of randomness from outside: a block hash, a VRF output, a beacon round or a seed.
struct Entropy {
    std::array<std::uint64_t, 4> words{};

    /// All zero.
    constexpr Entropy() noexcept = default;

    /// A seed, for tests and for a network of one trusted party: it is the first word, the others are zero.
    template <detail::word_integral I>
    constexpr Entropy(I seed) noexcept  // NOLINT: implicit, `.entropy = 2026`
        : words{static_cast<std::uint64_t>(seed), 0, 0, 0} {}

    /// The four words.
    explicit constexpr Entropy(const std::array<std::uint64_t, 4>& values) noexcept : words{values} {}

    /// The 32 bytes as words, the lowest byte of each word first.
    explicit constexpr Entropy(const std::array<std::uint8_t, 32>& bytes) noexcept : words{words_of(bytes)} {}

    /// The 32 bytes that give this entropy.
    /// @complexity constant: 32 bytes.
    [[nodiscard]] constexpr auto bytes() const noexcept -> std::array<std::uint8_t, 32> {
        auto out = std::array<std::uint8_t, 32>{};
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::uint8_t>((words[i / 8] >> (8U * (i % 8U))) & 0xFFU);
        }
        return out;
    }

    friend constexpr auto operator==(const Entropy&, const Entropy&) noexcept -> bool = default;
    friend constexpr auto operator<=>(const Entropy&, const Entropy&) noexcept -> std::strong_ordering = default;
};

/// Purpose of a draw. Draws of different purpose are independent, even if all else is equal.
///
/// The numbers are part of the rules: a recorded draw is checked with them, so they never change. Numbers from 64 up
/// belong to the embedder.
enum class Purpose : std::uint8_t {
    dispatch = 1,     ///< the node that runs a task; the subject is the task
    placement = 2,    ///< nodes asked to fetch a model; the subject is the task whose start caused it
    validation = 4,   ///< tasks sampled for validation; the subject is the task
    system_test = 5,  ///< the time of a hidden test task; the subject is the node
    job = 6,          ///< the plan of a job; the subject is the job
    match = 7,        ///< the waiting task at which a match goes on; no subject
    make_way = 8,     ///< nodes that may make way in a full table of models; no subject
};

/// A stream of random words that is a function of its key alone: (entropy, purpose, subject, attempt, index).
///
/// A draw therefore never depends on the number of other draws before it, and any party that knows the key can repeat
/// it. Word i is SipHash-1-3 of i under a key of 128 bits; that key is SipHash-2-4 of the other arguments, keyed by the
/// first half of the entropy. The bits that a call consumes are part of the rules.
class Random {
public:
    /// The 32 bytes of an id.
    using Subject = std::array<std::uint8_t, 32>;

    /// The stream of one draw: the `index`-th of the `attempt`-th attempt for the subject.
    constexpr Random(const Entropy& entropy, Purpose purpose, const Subject& subject, std::uint32_t attempt = 0,
                     std::uint32_t index = 0) noexcept
        : key_{derive(entropy, purpose, subject, attempt, index)} {}

    /// The next word of the stream.
    [[nodiscard]] constexpr auto next() noexcept -> std::uint64_t {
        return SipHash13{key_}.word(words_drawn_++).finish();
    }

    /// A uniform number below `n`, without bias: the upper half of word * n, with rejection of the words of the short
    /// first interval (Lemire, 2019).
    /// @pre `n > 0`.
    /// @complexity one word at best, two words expected at worst.
    [[nodiscard]] constexpr auto below(std::uint64_t n) noexcept -> std::uint64_t {
        ALLOT_ASSERT(n != 0, "no number is below zero");
        auto product = multiply_wide(next(), n);
        if (product.low() < n) {
            const auto refused = (0 - n) % n;
            while (product.low() < refused) { product = multiply_wide(next(), n); }
        }
        return product.high();
    }

    /// A uniform number below `n`, without bias. Where `n` fits in one word it is that of the word. Otherwise it has as
    /// many bits as `n - 1`, the upper word drawn first, and is drawn again until it is below `n`.
    /// @pre `n > 0`.
    /// @complexity four words expected at worst.
    [[nodiscard]] constexpr auto below(u128 n) noexcept -> u128 {
        if (n.high() == 0) { return below(n.low()); }
        const auto surplus = 128 - bit_width(n - 1);
        while (true) {
            const auto high = next();
            const auto low = next();
            const auto drawn = u128::from_parts(high, low) >> surplus;
            if (drawn < n) { return drawn; }
        }
    }

    /// Number of words that the stream has given.
    [[nodiscard]] constexpr auto words_drawn() const noexcept -> std::uint64_t { return words_drawn_; }

    friend constexpr auto operator==(const Random&, const Random&) noexcept -> bool = default;

private:
    [[nodiscard]] static constexpr auto derive(const Entropy& entropy, Purpose purpose, const Subject& subject,
                                               std::uint32_t attempt, std::uint32_t index) noexcept -> SipKey {
        const auto& e = entropy.words;
        const auto s = words_of(subject);
        const auto key = SipHash24Wide{SipKey{e[0], e[1]}}
                             .words(std::array{e[2], e[3], static_cast<std::uint64_t>(purpose), s[0], s[1], s[2], s[3],
                                               (std::uint64_t{attempt} << 32U) | index})
                             .finish128();
        return SipKey{key.low(), key.high()};
    }

    SipKey key_;
    std::uint64_t words_drawn_ = 0;
};

}}  // namespace allot::v0
