#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<valgrind/callgrind.h>)
#    include <valgrind/callgrind.h>
#else
#    define CALLGRIND_TOGGLE_COLLECT static_cast<void>(0)
#endif

namespace bench {

/// Adds up the time of the stretches between `start` and `stop`; under callgrind only these are counted.
class Stopwatch {
public:
    void start() {
        began_ = std::chrono::steady_clock::now();
        CALLGRIND_TOGGLE_COLLECT;
    }
    void stop() {
        CALLGRIND_TOGGLE_COLLECT;
        const auto length = std::chrono::steady_clock::now() - began_;
        nanoseconds_ += static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(length).count());
    }
    [[nodiscard]] auto nanoseconds() const -> double { return nanoseconds_; }

private:
    std::chrono::steady_clock::time_point began_;
    double nanoseconds_ = 0;
};

/// Keeps the compiler from dropping what computes `value`.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}

/// Nanoseconds an operation, of several turns.
struct Measured {
    std::vector<double> turns;

    [[nodiscard]] auto min() const -> double { return *std::min_element(turns.begin(), turns.end()); }
    [[nodiscard]] auto median() const -> double {
        auto sorted = turns;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

/// One that takes part: `turn` does so many operations and answers the nanoseconds all of them took.
struct Contestant {
    std::string name;
    std::size_t operations;
    std::function<double(std::size_t operations)> turn;
    Measured measured{};
};

/// Lets the contestants take turns, A B C A B C ..., so that a noisy moment hits all of them alike. The first round
/// warms up.
inline void take_turns(std::vector<Contestant>& contestants, std::size_t rounds) {
    for (std::size_t round = 0; round <= rounds; ++round) {
        for (auto& contestant : contestants) {
            const auto spent = contestant.turn(contestant.operations) / static_cast<double>(contestant.operations);
            if (round > 0) { contestant.measured.turns.push_back(spent); }
        }
    }
}

}  // namespace bench
