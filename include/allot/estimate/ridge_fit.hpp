#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/units.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/estimate/real.hpp>

namespace allot { inline namespace v0 {

/// Weighted least squares with exponential forgetting. It estimates for each of five parts of a sum the factor between
/// its expected and its true value, although only sums are observed.
///
/// From expected parts z_k and observed sums y_k, for k = 1 to n, it computes the factors f >= 0 that minimise
///
///     Σ_k α (1 - α)^(n-k) (y_k - f · z_k)²  +  ρ T Σ_j (f_j - 1)²,     T = Σ_k α (1 - α)^(n-k) z_k · z_k.
///
/// The second term, the ridge, decides where samples leave freedom. A part never seen has the factor 1, and the factors
/// of parts that always occur in the same proportion differ from 1 no more than they must. T makes the ridge
/// independent of the unit of time. Its cost to the fit is small: the root of the mean squared error grows by at most
/// √ρ |f* - 1| √T over that of any other factors f*.
///
/// The sums are stored as `Real`, and so are the equations whose solution is the minimum: (A + ρ T) f = b + ρ T. Their
/// eigenvalues are between ρ T and (1 + ρ) T, so elimination loses at most the digits of 1 / ρ, of 2^-61 in each step.
/// With ρ = 10^-9 the factors are accurate to 2^-24 of the largest in the worst case, and to 2^-50 when the samples
/// determine them.
struct RidgeFit {
    static constexpr std::size_t parts = 5;
    using Parts = std::array<Real, parts>;

    std::array<Real, parts*(parts + 1) / 2> squares{};  ///< A, the weighted sums of z_i z_j, i >= j, row by row.
    Parts products{};                                   ///< b, the weighted sums of z_j y.

    /// Adds a sample.
    /// @pre no argument is negative, and `alpha` is in (0, 1).
    /// @complexity constant, 20 sums.
    constexpr void add(const Parts& expected, const Real& seen, const Ratio& alpha) noexcept {
        const auto gain = Real::ratio(alpha.num, alpha.den);
        const auto rest = Real::ratio(alpha.den - alpha.num, alpha.den);
        for (std::size_t i = 0; i < parts; ++i) {
            const auto share = gain * expected[i];
            for (std::size_t j = 0; j <= i; ++j) {
                auto& square = squares[index(i, j)];
                square = rest * square + share * expected[j];
            }
            products[i] = rest * products[i] + share * seen;
        }
    }

    /// The factors f; all 1 before the first sample. `ridge` is ρ, in units of 10^-9.
    /// @pre `ridge > 0`.
    /// @complexity constant: one elimination, or 31 when one without bounds would be negative.
    [[nodiscard]] constexpr auto factors(std::uint32_t ridge) const noexcept -> Parts {
        auto trace = Real{};
        for (std::size_t i = 0; i < parts; ++i) { trace += squares[index(i, i)]; }
        const auto lift = trace * Real::ratio(ridge, 1'000'000'000);
        auto best = Parts{};
        if (lift == Real{}) {
            best.fill(Real::from(1));
            return best;
        }
        // Those factors are held at zero that would be negative at the minimum: such that no free one is negative, and
        // the sum does not fall when one at zero rises. With truncation it is the choice where the sum falls least.
        auto least = steepest_fall(0, best, lift);
        for (auto free = (1U << parts) - 1U; free > 0 && least > Real{}; --free) {
            const auto found = solve(free, lift);
            const auto fall = steepest_fall(free, found, lift);
            const auto sound =
                std::none_of(found.begin(), found.end(), [](const Real& factor) { return factor.negative(); });
            if (sound && fall < least) {
                least = fall;
                best = found;
            }
        }
        return best;
    }

    /// True for sums that samples can give, as far as each sum alone shows. Other sums would still give factors, but
    /// without meaning.
    /// @complexity constant.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        constexpr auto sound = [](const Real& sum) { return sum.valid() && !sum.negative(); };
        return std::all_of(squares.begin(), squares.end(), sound) &&
               std::all_of(products.begin(), products.end(), sound);
    }
    friend constexpr auto operator==(const RidgeFit&, const RidgeFit&) noexcept -> bool = default;

private:
    [[nodiscard]] static constexpr auto index(std::size_t i, std::size_t j) noexcept -> std::size_t {
        return i >= j ? i * (i + 1) / 2 + j : index(j, i);
    }

    [[nodiscard]] static constexpr auto is_free(unsigned free, std::size_t i) noexcept -> bool {
        return (free >> i & 1U) != 0;
    }

    /// Half of the steepest slope at which the sum falls when a factor held at zero rises.
    [[nodiscard]] constexpr auto steepest_fall(unsigned free, const Parts& factors, const Real& lift) const noexcept
        -> Real {
        auto steepest = Real{};
        for (std::size_t i = 0; i < parts; ++i) {
            if (is_free(free, i)) { continue; }
            auto fall = products[i] + lift;
            for (std::size_t j = 0; j < parts; ++j) { fall -= squares[index(i, j)] * factors[j]; }
            steepest = std::max(steepest, fall);
        }
        return steepest;
    }

    /// Solves the equations by elimination, with the factors not in `free` held at zero.
    [[nodiscard]] constexpr auto solve(unsigned free, const Real& lift) const noexcept -> Parts {
        auto rows = std::array<Parts, parts>{};
        auto right = Parts{};
        for (std::size_t i = 0; i < parts; ++i) {
            for (std::size_t j = 0; j < parts; ++j) {
                rows[i][j] = is_free(free, i) && is_free(free, j) ? squares[index(i, j)] : Real{};
            }
            rows[i][i] += lift;
            right[i] = is_free(free, i) ? products[i] + lift : Real{};
        }
        for (std::size_t k = 0; k < parts; ++k) {
            rows[k][k] = std::max(rows[k][k], lift);  // a pivot is never less, except by truncation
            for (std::size_t i = k + 1; i < parts; ++i) {
                const auto times = rows[i][k] / rows[k][k];
                for (std::size_t j = k + 1; j < parts; ++j) { rows[i][j] -= times * rows[k][j]; }
                right[i] -= times * right[k];
            }
        }
        for (auto k = parts; k-- > 0;) {
            for (auto j = k + 1; j < parts; ++j) { right[k] -= rows[k][j] * right[j]; }
            right[k] = right[k] / rows[k][k];
        }
        return right;
    }
};
ALLOT_FIELDS(RidgeFit, squares, products)

}}  // namespace allot::v0
