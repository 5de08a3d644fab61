// SHA-256 by whole blocks, beside the same a byte at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/core/sha256.hpp>

#include "contestant/bytewise_sha256.hpp"
#include "support/figures.hpp"

namespace bench { namespace {

template <class Hasher>
auto contestant(const char* name, const std::vector<std::uint8_t>& message) -> Contestant {
    const auto count = std::max<std::size_t>(8'000'000 / message.size(), 1);
    return {name, count, [&message](std::size_t operations) {
                auto watch = Stopwatch{};
                watch.start();
                for (std::size_t i = 0; i < operations; ++i) { keep(Hasher{}.bytes(message).finish()); }
                watch.stop();
                return watch.nanoseconds();
            }};
}

const auto subject = Subject{
    "9 SHA-256", [](Figures& f) {
        for (const auto size : {std::size_t{65}, std::size_t{150}, std::size_t{1'000}, std::size_t{8'000'000}}) {
            auto message = std::vector<std::uint8_t>(size);
            for (std::size_t i = 0; i < size; ++i) { message[i] = static_cast<std::uint8_t>(i * i); }
            const auto alike = allot::Sha256{}.bytes(message).finish() == BytewiseSha256{}.bytes(message).finish();
            same("SHA-256, both ways alike", alike ? 1 : 0, 1);
            auto turns = std::vector<Contestant>{contestant<allot::Sha256>("by blocks", message),
                                                 contestant<BytewiseSha256>("by bytes", message)};
            const auto title = "SHA-256 of " + std::to_string(size) + " bytes";
            f.measure(title, turns);
            f.at_least(title + ": by bytes / by blocks", ratio(turns[1], turns[0]), 2.7);
        }
    }};

}}  // namespace bench
