#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace support {

/// The seed of every random test in this process. It is printed once on stderr, so that a failure can be repeated.
///
/// `ALLOT_SEED=17` sets it and `ALLOT_SEED=random` draws one. Otherwise it is always the same, because a change must
/// not be blamed for a failure that another seed would have found before it.
inline auto seed() -> std::uint64_t {
    static const auto value = [] {
        auto result = std::uint64_t{2026};
        if (const auto* text = std::getenv("ALLOT_SEED"); text != nullptr && *text != '\0') {
            if (std::strcmp(text, "random") == 0) {
                auto device = std::random_device{};
                result = (std::uint64_t{device()} << 32U) | device();
            } else {
                auto* end = static_cast<char*>(nullptr);
                errno = 0;
                result = std::strtoull(text, &end, 0);
                if (*end != '\0' || errno != 0 || *text == '-') {
                    std::fprintf(stderr, "ALLOT_SEED is \"%s\"; write a number below 2^64 or random\n", text);
                    std::exit(2);
                }
            }
        }
        std::fprintf(stderr, "ALLOT_SEED=%llu\n", static_cast<unsigned long long>(result));
        return result;
    }();
    return value;
}

}  // namespace support

namespace allot_test {
using support::seed;
}  // namespace allot_test
