#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The benchmarks' own stream of numbers, the same on every machine up to the last bit of a double. Seeds are fixed.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : state_{seed} {}

    auto next() -> std::uint64_t {  // SplitMix64
        auto z = state_ += 0x9E37'79B9'7F4A'7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
        return z ^ (z >> 31U);
    }
    /// Below `n`, which is small against 2^32.
    auto below(std::size_t n) -> std::uint32_t { return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U); }
    /// In [0, 1).
    auto unit() -> double { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    /// 0, 1, 2 ... below `limit` with chances 1/2, 1/4, 1/8 ...
    auto geometric(std::uint32_t limit) -> std::uint32_t {
        auto drawn = std::uint32_t{0};
        while (drawn + 1 < limit && (next() >> 63U) != 0) { ++drawn; }
        return drawn;
    }
    auto log_normal(double sigma) -> double {
        const auto radius = std::sqrt(-2 * std::log(1 - unit()));
        return std::exp(sigma * radius * std::cos(2 * 3.14159265358979 * unit()));
    }
    auto bytes() -> std::array<std::uint8_t, 32> {
        auto out = std::array<std::uint8_t, 32>{};
        for (std::size_t i = 0; i < out.size(); i += 8) {
            const auto word = next();
            for (std::size_t j = 0; j < 8; ++j) { out[i + j] = static_cast<std::uint8_t>(word >> (8U * j)); }
        }
        return out;
    }

private:
    std::uint64_t state_;
};

/// Numbers below `count` by Zipf's law with exponent 1: the most popular is 0.
class Zipf {
public:
    explicit Zipf(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            sums_.push_back((sums_.empty() ? 0.0 : sums_.back()) + 1.0 / (i + 1));
        }
    }
    auto operator()(Chance& chance) const -> std::uint32_t {
        const auto point = chance.unit() * sums_.back();
        auto first = std::size_t{0};
        auto last = sums_.size() - 1;
        while (first < last) {
            const auto middle = (first + last) / 2;
            if (sums_[middle] > point) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return static_cast<std::uint32_t>(first);
    }

private:
    std::vector<double> sums_;
};

/// Folds what contestants decided into one number, so that equal decisions can be checked.
class Checksum {
public:
    void add(std::uint64_t value) { value_ = (value_ ^ value) * 0x1000'0000'01B3U + (value_ >> 47U); }
    [[nodiscard]] auto value() const -> std::uint64_t { return value_; }

private:
    std::uint64_t value_ = 0xCBF2'9CE4'8422'2325U;
};

}  // namespace bench
