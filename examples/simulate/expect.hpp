#pragma once

#include <cstdio>
#include <string>

namespace simulate {

/// Number of expectations that were not met, for the exit of a check.
inline auto faults = 0;

/// Says that something is not so, and counts it.
inline void expect(bool met, const std::string& what) {
    if (met) { return; }
    std::fprintf(stderr, "not so: %s\n", what.c_str());
    ++faults;
}

}  // namespace simulate
