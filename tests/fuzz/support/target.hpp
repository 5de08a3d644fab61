#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifndef ALLOT_FUZZ_ALONE
#    include "support/catch.hpp"
#    include "support/instances.hpp"
#endif

// A target of `tests/fuzz.sh` is a file with two functions and, last, the line `ALLOT_FUZZ(file name, claim)`:
//
//     auto target(std::span<const std::uint8_t> input) -> bool    throws when a claim fails; true when it took the
//     bytes auto seeds() -> std::vector<Bytes>                          what the library's own writers make: all are
//     taken
//
// With ALLOT_FUZZ_ALONE it is a program of libFuzzer. Otherwise it is a test of the seeds and of each file in
// corpus/<target> and crashes/<target>, so what once failed is tried in every run of the tests.
namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

/// States what holds of all bytes. libFuzzer takes what leaves a target for a crash, Catch2 for a failure.
inline void ensure(bool holds, const char* claim) {
    if (!holds) { throw std::logic_error{claim}; }
}

/// Numbers out of bytes; zero when none are left.
class Numbers {
public:
    explicit Numbers(std::span<const std::uint8_t> bytes) noexcept : left_{bytes} {}

    auto byte() noexcept -> std::uint8_t {
        const auto taken = bytes(1);
        return taken.empty() ? std::uint8_t{0} : taken[0];
    }
    auto below(std::size_t n) noexcept -> std::size_t {
        const auto high = std::size_t{byte()} << 8U;
        return (high | byte()) % n;
    }
    auto bytes(std::size_t count) noexcept -> std::span<const std::uint8_t> {
        const auto taken = left_.first(std::min(count, left_.size()));
        left_ = left_.subspan(taken.size());
        return taken;
    }
    [[nodiscard]] auto left() const noexcept -> std::size_t { return left_.size(); }

private:
    std::span<const std::uint8_t> left_;
};

/// Random words for the seeds, the same everywhere.
class Words {
public:
    explicit Words(std::uint64_t seed) noexcept : state_{seed} {}
    auto next() noexcept -> std::uint64_t {  // splitmix64
        auto z = state_ += 0x9E37'79B9'7F4A'7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
        return z ^ (z >> 31U);
    }

private:
    std::uint64_t state_;
};

inline auto as_text(std::span<const std::uint8_t> bytes) -> std::string { return {bytes.begin(), bytes.end()}; }
inline auto as_bytes(std::string_view text) -> Bytes { return {text.begin(), text.end()}; }

#ifdef ALLOT_FUZZ_ALONE

/// Writes the seeds into the folder that ALLOT_FUZZ_SEEDS names, and ends.
inline void write_seeds(const std::vector<Bytes>& seeds) {
    const auto* folder = std::getenv("ALLOT_FUZZ_SEEDS");
    if (folder == nullptr) { return; }
    std::filesystem::create_directories(folder);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        std::ofstream{std::filesystem::path{folder} / std::to_string(i), std::ios::binary} << as_text(seeds[i]);
    }
    std::exit(0);
}

#    define ALLOT_FUZZ(name, claim)                                                                                    \
        extern "C" auto LLVMFuzzerInitialize(int*, char***)->int {                                                     \
            fuzz::write_seeds(seeds());                                                                                \
            return 0;                                                                                                  \
        }                                                                                                              \
        extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)->int {                      \
            (void)target({data, size});                                                                                \
            return 0;                                                                                                  \
        }

#else

template <class Target>
void try_all(const char* name, const std::vector<Bytes>& seeds, Target&& target) {
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        INFO("seed " << i);
        CHECK(target(seeds[i]));
    }
    auto files = std::vector<std::filesystem::path>{};
    for (const auto* kind : {"corpus", "crashes"}) {
        const auto folder = std::filesystem::path{ALLOT_TESTS_DIR} / "fuzz" / kind / name;
        if (std::filesystem::exists(folder)) {
            std::copy(std::filesystem::directory_iterator{folder}, std::filesystem::directory_iterator{},
                      std::back_inserter(files));
        }
    }
    std::sort(files.begin(), files.end());
    CHECK_FALSE(files.empty());
    for (const auto& file : files) {
        INFO(file.filename().string());
        auto stream = std::ifstream{file, std::ios::binary};
        const auto text = std::string{std::istreambuf_iterator<char>{stream}, {}};
        CHECK_NOTHROW((void)target(as_bytes(text)));
    }
}

#    define ALLOT_FUZZ(name, claim)                                                                                    \
        TEST_CASE(claim) { fuzz::try_all(#name, seeds(), target); }

#endif

}  // namespace fuzz
