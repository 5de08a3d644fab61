#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/score.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

namespace detail {

// 2^(-i/32) and 2^(-i/1024) for i in 0..31, times 2^62, rounded to nearest. Made by Python's decimal module with 80
// digits as
//     int((Decimal(2) ** 62 * Decimal(2) ** (-Decimal(i) / 32)).to_integral_value(ROUND_HALF_EVEN))
// They are literals because the library must not compute with floating point; the test makes them again.
inline constexpr auto exp2_coarse = std::array<std::uint64_t, 32>{
    0x4000'0000'0000'0000U, 0x3EA0'ECB6'DC8A'80CFU, 0x3D49'5F45'4921'B30BU, 0x3BF9'2E66'F736'BD73U,
    0x3AB0'31B9'F749'0E4CU, 0x396E'41B9'DF20'D22AU, 0x3833'37BB'0AA5'3844U, 0x36FE'EDE5'F6BC'8DD5U,
    0x35D1'3F32'B5A7'5ABDU, 0x34AA'0764'7C4A'B917U, 0x3389'2305'47E1'2039U, 0x326E'6F61'9B8B'C9E9U,
    0x3159'CA84'5541'B6B7U, 0x304B'1332'999C'2516U, 0x2F42'28E7'D603'0DB0U, 0x2E3E'EBD1'D8BE'E7BAU,
    0x2D41'3CCC'FE77'9921U, 0x2C48'FD60'74AB'0964U, 0x2B56'0FBA'90A8'52B2U, 0x2A68'56AD'3A9F'03BEU,
    0x297F'B5AA'6C54'4E3BU, 0x289C'10C0'C312'5A06U, 0x27BD'4C98'2468'446BU, 0x26E3'4E6E'7553'954EU,
    0x260D'FC14'636E'2A5CU, 0x253D'3BEA'3FBD'C258U, 0x2470'F4DC'EAC4'70CEU, 0x23A9'0E62'D173'54F0U,
    0x22E5'7078'FAA2'F5BAU, 0x2226'03A0'24B6'A14AU, 0x216A'B0D9'F312'1EC5U, 0x20B3'61A6'2B0A'E876U,
};
inline constexpr auto exp2_fine = std::array<std::uint64_t, 32>{
    0x4000'0000'0000'0000U, 0x3FF4'E9D4'703D'F843U, 0x3FE9'D594'8723'6BB4U, 0x3FDE'C33F'EF85'659DU,
    0x3FD3'B2D6'5447'B229U, 0x3FC8'A457'605C'DBD9U, 0x3FBD'97C2'BEC6'28F3U, 0x3FB2'8D18'1A93'98F7U,
    0x3FA7'8457'1EE3'E213U, 0x3F9C'7D7F'76E4'6E93U, 0x3F91'7890'CDD1'5A57U, 0x3F86'758A'CEF5'7049U,
    0x3F7B'746D'25AA'27CDU, 0x3F70'7537'7D57'A23DU, 0x3F65'77E9'8174'A858U, 0x3F5A'7C82'DD86'A7BCU,
    0x3F4F'8303'3D21'B05DU, 0x3F44'8B6A'4BE8'71FAU, 0x3F39'95B7'B58C'3995U, 0x3F2E'A1EB'25CC'EEECU,
    0x3F23'B004'4879'11EFU, 0x3F18'C002'C96D'B83CU, 0x3F0D'D1E6'5496'8A96U, 0x3F02'E5AE'95ED'C25FU,
    0x3EF7'FB5B'397C'2712U, 0x3EED'12EB'EB59'0BBFU, 0x3EE2'2C60'57AA'4C84U, 0x3ED7'47B8'2AA4'4C09U,
    0x3ECC'64F3'1089'F0FDU, 0x3EC1'8410'B5AC'A390U, 0x3EB6'A510'C66C'4AF2U, 0x3EAB'C7F2'EF37'4AD0U,
};

inline constexpr auto log2_e = std::uint64_t{0x0171'5476'52B8'2FE1U};  // 1 / ln 2, times 2^56
inline constexpr auto ln_2 = std::uint64_t{0xB172'17F7'D1CF'79ACU};    // times 2^64

}  // namespace detail

/// exp(-elapsed / tau) in units of 2^-30, with an absolute error below 2^-30. Both times are in milliseconds.
///
/// Exactly one at 0, never rising with `elapsed_ms`, and zero from 64 `tau_ms` on.
/// @pre `tau_ms > 0`.
/// @complexity constant: one division and five multiplications.
[[nodiscard]] constexpr auto exp_decay(std::uint64_t elapsed_ms, std::uint64_t tau_ms) noexcept -> Score {
    ALLOT_ASSERT(tau_ms != 0, "a decay takes time");
    if (elapsed_ms / 64 >= tau_ms) { return Score::zero(); }
    // exp(-elapsed / tau) = 2^-y = 2^-whole * 2^-(coarse / 32) * 2^-(fine / 1024) * exp(-x), x = rest * ln 2 < 2^-10.
    const auto y = multiply_wide(elapsed_ms, detail::log2_e) / tau_ms;  // 56 fraction bits, below 93
    const auto whole = static_cast<unsigned>((y >> 56).low());
    if (whole > 31) { return Score::zero(); }
    const auto coarse = static_cast<std::size_t>((y.low() >> 51U) & 31U);
    const auto fine = static_cast<std::size_t>((y.low() >> 46U) & 31U);
    const auto rest = (y.low() & ((std::uint64_t{1} << 46U) - 1U)) << 8U;  // 64 fraction bits
    // exp(-x) as 1 - x + x^2 / 2 is above the truth by less than 2^-33: by more than all roundings below, of 2^-58
    // each. So the step from the end of one table interval to the start of the next goes down, and within an interval
    // nothing rises either.
    const auto x = multiply_high(rest, detail::ln_2);
    const auto exp_x = (std::uint64_t{1} << 62U) - ((x - (multiply_high(x, x) >> 1U)) >> 2U);
    const auto table = multiply_high(detail::exp2_coarse[coarse], detail::exp2_fine[fine]);  // 60 fraction bits
    const auto fraction = multiply_high(table, exp_x);                                       // 58 fraction bits
    const auto shift = 58U - static_cast<unsigned>(Score::fraction_bits) + whole;
    return Score::from_raw(static_cast<std::uint32_t>(((fraction >> (shift - 1U)) + 1U) >> 1U));
}

/// A score that recovers towards one: H(t) = 1 - (1 - H0) * exp(-elapsed / tau), with an absolute error below 2^-28.
/// Both times are in milliseconds.
///
/// Exactly `base` at 0 and never falling with `elapsed_ms`; it reaches one when less than half a unit of 2^-30 is
/// missing.
/// @pre `tau_ms > 0`.
/// @complexity constant: one `exp_decay`.
[[nodiscard]] constexpr auto recover(Score base, std::uint64_t elapsed_ms, std::uint64_t tau_ms) noexcept -> Score {
    if (base == Score::one()) {
        return base;  // nearly always: nothing is missing
    }
    const auto one = Score::one().raw();
    const auto missing = std::uint64_t{one - base.raw()} * exp_decay(elapsed_ms, tau_ms).raw();
    const auto half = std::uint64_t{one / 2};
    return Score::from_raw(one - static_cast<std::uint32_t>((missing + half) >> Score::fraction_bits));
}

/// The least whole number of milliseconds after which `recover(base, ..., tau_ms)` is at least `target`; 0 when it
/// already is.
///
/// The result is exact because it evaluates `recover` itself: a deadline set with it is never one millisecond early.
/// When no time of 64 bits is long enough, which takes a `tau_ms` above 2^58, the result is 2^64 - 1.
/// @pre `tau_ms > 0`.
/// @complexity at most 64 evaluations of `recover`.
[[nodiscard]] constexpr auto recovery_time(Score base, Score target, std::uint64_t tau_ms) noexcept -> std::uint64_t {
    if (base >= target) { return 0; }
    constexpr auto time_max = ~std::uint64_t{0};
    auto early = std::uint64_t{0};  // below the target here, and at the target at `late`
    auto late = tau_ms > time_max / 64 ? time_max : 64 * tau_ms;
    while (late - early > 1) {
        const auto middle = early + (late - early) / 2;
        (recover(base, middle, tau_ms) >= target ? late : early) = middle;
    }
    return late;
}

}}  // namespace allot::v0
