#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "support/vectors.hpp"

namespace support {

/// The recorded cases of one file; says how many there are, so that nobody takes an empty file for a pass.
inline auto vector_file(const std::string& name) -> nlohmann::json {
    const auto path = vectors() / name;
    auto in = std::ifstream{path};
    if (!in) {
        throw std::runtime_error{"cannot open " + path.string()};
    }
    auto cases = nlohmann::json::parse(in);
    if (!cases.is_array() || cases.empty()) {
        throw std::runtime_error{path.string() + " holds no cases"};
    }
    std::fprintf(stderr, "%s: %zu cases\n", name.c_str(), cases.size());
    return cases;
}

/// An integer; no number with a fraction, which a library would cut off in silence.
inline auto integer(const nlohmann::json& value) -> std::int64_t {
    if (!value.is_number_integer()) {
        throw std::runtime_error{"not an integer: " + value.dump()};
    }
    return value.get<std::int64_t>();
}

}  // namespace support

namespace allot_test {
using support::integer;
using support::vector_file;
}  // namespace allot_test
