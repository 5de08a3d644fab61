#pragma once

#include <span>
#include <string_view>

#include "measures.hpp"

namespace simulate {

/// What a measure of a row must keep to. Bounds of `--check` are figures of today; these are what the rules aim at.
struct Limit {
    enum class Kind : std::uint8_t {
        most,
        least,
        none,  ///< No more than `bound` that could be told from noise: what is undecided has passed.
    };
    std::string_view measure{};
    double bound = 0;
    Kind kind = Kind::most;
};

/// Limits of a row and of its sub-rows ("3b1" is one of "3b"); none where its figures are only told. The row "-"
/// is the honest cost of a rule.
[[nodiscard]] auto limits_of(std::string_view row) -> std::span<const Limit>;

/// A measure without a limit that a page tells beside those with one, and what it is called there.
struct Told {
    std::string_view measure{};
    std::string_view name{};
    std::string_view row{};  ///< The row alone that it says something about; empty: all.
};
[[nodiscard]] auto told_measures() -> std::span<const Told>;

/// Judges at two standard errors.
[[nodiscard]] auto verdict(const Measure& measure, const Limit& limit) -> Verdict;

}  // namespace simulate
