#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include <allot/core/score.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/weight.hpp>

#include "support/catch.hpp"
#include "support/vectors.hpp"

namespace support {

/// Reads values as the library does, but no integer from a number with a fraction, which it would cut off in silence.
template <class T, class = void>
struct Strict : nlohmann::adl_serializer<T> {
    template <class Value>
    static auto from_json(const Value& value, T& to) -> decltype(nlohmann::from_json(value, to), void()) {
        if (std::is_integral_v<T> && !std::is_same_v<T, bool> && !value.is_number_integer()) {
            throw std::runtime_error{"not an integer: " + value.dump()};
        }
        nlohmann::from_json(value, to);
    }
};
using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, double,
                                  std::allocator, Strict>;

/// The recorded cases of one file; says how many there are, and that there are none is a failure. None when the file is
/// not where others are (`vector_file`).
inline auto cases(const std::string& file) -> Json {
    const auto path = vector_file(file + ".json");
    if (!path) { return Json::array(); }
    INFO(*path);
    auto stream = std::ifstream{*path};
    REQUIRE(stream);
    auto all = Json::parse(stream);
    REQUIRE(all.is_array());
    REQUIRE(!all.empty());
    std::fprintf(stderr, "%s: %zu cases\n", file.c_str(), all.size());
    return all;
}

/// Differences that are on purpose, by name; said once, so that one may see that they occur and how often.
class Differences {
public:
    explicit Differences(std::string file) : file_{std::move(file)} {}
    Differences(const Differences&) = delete;
    auto operator=(const Differences&) -> Differences& = delete;
    ~Differences() {
        for (const auto& [why, count] : counts_) {
            std::fprintf(stderr, "%s: %zu times %s\n", file_.c_str(), count, why.c_str());
        }
    }
    void note(const std::string& why) { ++counts_[why]; }

private:
    std::string file_;
    std::map<std::string, std::size_t> counts_;
};

/// A whole number of up to 38 digits, written as text or as a number.
inline auto whole(const Json& value) -> allot::u128 {
    const auto text = value.is_string() ? value.get<std::string>() : std::to_string(value.get<std::uint64_t>());
    auto number = allot::u128{};
    for (const auto digit : text) {
        REQUIRE(digit >= '0');
        REQUIRE(digit <= '9');
        number = number * allot::u128{10} + allot::u128{static_cast<unsigned>(digit - '0')};
    }
    return number;
}

inline auto as_double(allot::u128 value) -> double {
    return std::ldexp(static_cast<double>(value.high()), 64) + static_cast<double>(value.low());
}
inline auto as_double(allot::Score score) -> double { return std::ldexp(score.raw(), -allot::Score::fraction_bits); }
inline auto as_double(allot::Weight weight) -> double {
    return std::ldexp(as_double(weight.raw()), -allot::Weight::fraction_bits);
}
/// The largest score that is no larger.
inline auto score_of(double value) -> allot::Score {
    return allot::Score::from_raw(
        static_cast<std::uint32_t>(std::ldexp(std::min(value, 1.0), allot::Score::fraction_bits)));
}
/// Within 1e-6 of it, relatively (rule 34).
inline auto agree(double a, double b) -> bool { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)); }

/// Whether counts may come from these weights: chi-square below its quantile at p = 1e-6 (by Wilson and Hilferty),
/// cells of few expected counts taken together. No counts come from no weights.
inline auto may_come_from(const std::vector<double>& weights, const std::vector<double>& counts) -> bool {
    auto total_weight = 0.0;
    auto total_count = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        total_weight += weights[i];
        total_count += counts[i];
        if (weights[i] <= 0 && counts[i] > 0) { return false; }
    }
    if (total_count <= 0 || total_weight <= 0) { return false; }
    auto surplus = 0.0;
    auto cells = 0;
    auto rest_expected = 0.0;
    auto rest_count = 0.0;
    const auto cell = [&](double expected, double count) {
        surplus += (count - expected) * (count - expected) / expected;
        ++cells;
    };
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto expected = weights[i] / total_weight * total_count;
        if (expected >= 5) {
            cell(expected, counts[i]);
        } else {
            rest_expected += expected;
            rest_count += counts[i];
        }
    }
    if (rest_expected >= 1) {
        cell(rest_expected, rest_count);
    } else if (rest_count > 10) {
        return false;  // a Poisson variable below 1 exceeds 10 with p < 1e-8
    }
    if (cells < 2) { return true; }
    const auto freedom = cells - 1.0;
    const auto part = 2.0 / (9.0 * freedom);
    const auto quantile = freedom * std::pow(1.0 - part + 4.7534 * std::sqrt(part), 3);
    return surplus <= quantile;
}

}  // namespace support
