#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <allot/journal/snapshot_chunks.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

// Content in chunks is read as it was written, from a source that gives what it likes, or refused.

namespace snapshot_chunks_test {
namespace {

using allot::SnapshotError;
using Bytes = std::vector<std::uint8_t>;

/// Gives at most `most` bytes at a time, and fails after `good` of them.
struct Dribble {
    std::span<const std::uint8_t> left;
    std::size_t most;
    std::size_t good = static_cast<std::size_t>(-1);

    auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        if (good == 0) { return allot::FailureOf<allot::IoError>{allot::IoError::read_failed}; }
        const auto size = std::min({into.size(), left.size(), most, good});
        std::copy_n(left.begin(), size, into.begin());
        left = left.subspan(size);
        good -= size;
        return size;
    }
};

auto written(const Bytes& content, std::size_t step) -> Bytes {
    auto writer = allot::detail::ChunkWriter{77};
    for (auto rest = std::span{content}; !rest.empty(); rest = rest.subspan(std::min(step, rest.size()))) {
        writer.bytes(rest.first(std::min(step, rest.size())));
    }
    writer.end();
    return writer.out;
}

template <class Source>
auto read(Source source, Bytes& content) -> std::optional<SnapshotError> {
    auto reader = allot::detail::ChunkReader<Source>{source};
    const auto position = reader.head();
    if (!position) { return position.error().error; }
    CHECK(*position == 77);
    while (true) {
        const auto chunk = reader.next(content);
        if (!chunk) { return chunk.error().error; }
        if (*chunk == 0) { return std::nullopt; }
    }
}

auto any_content(std::size_t size) -> Bytes {
    auto random = std::mt19937_64{support::seed()};
    auto content = Bytes(size);
    for (auto& byte : content) { byte = static_cast<std::uint8_t>(random()); }
    return content;
}

}  // namespace

TEST_CASE("content comes back, whatever its length and the pieces it comes in") {
    constexpr auto chunk = allot::snapshot_chunk;
    for (const auto size : {std::size_t{1}, chunk - 33, chunk - 32, chunk - 31, chunk - 1, chunk, chunk + 1,
                            2 * chunk - 64, 2 * chunk, 2 * chunk + 31, 3 * chunk}) {
        const auto content = any_content(size);
        const auto bytes = written(content, 100'003);
        CHECK(bytes == written(content, size));
        for (const auto most : {std::size_t{4'093}, chunk, chunk + 64, 8 * chunk}) {
            auto again = Bytes{};
            CAPTURE(size, most);
            CHECK_FALSE(read(Dribble{bytes, most}, again));
            CHECK(again == content);
        }
    }
}

TEST_CASE("chunks that were cut, flipped, swapped or prolonged are refused") {
    constexpr auto chunk = allot::snapshot_chunk;
    const auto content = any_content(2 * chunk + 1'000);
    const auto bytes = written(content, chunk);
    auto random = std::mt19937_64{support::seed() + 1};
    auto got = Bytes{};
    for (const auto cut : {std::size_t{0}, std::size_t{19}, std::size_t{20}, chunk, chunk + 20, chunk + 52, chunk + 53,
                           bytes.size() - 33, bytes.size() - 32, bytes.size() - 1}) {
        CAPTURE(cut);
        CHECK(read(Dribble{std::span{bytes}.first(cut), chunk}, got));
    }
    for (auto i = 0; i < 60; ++i) {
        auto flipped = bytes;
        const auto bit = random() % (bytes.size() * 8);
        flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        if (bit / 8 >= 12 && bit / 8 < 20) { continue; }  // another position, told by the hash at the end
        CHECK(read(Dribble{flipped, chunk}, got));
    }
    auto first = bytes;
    first[1'000] ^= 1U;
    got.clear();
    CHECK(read(Dribble{first, chunk}, got) == SnapshotError::damaged);
    CHECK(got.empty());  // no chunk is handed over before its hash was compared
    auto swapped = bytes;
    std::swap_ranges(swapped.begin() + 20, swapped.begin() + 20 + chunk + 32, swapped.begin() + 20 + chunk + 32);
    CHECK(read(Dribble{swapped, chunk}, got) == SnapshotError::damaged);
    auto longer = bytes;
    longer.push_back(0);
    CHECK(read(Dribble{longer, chunk}, got) == SnapshotError::damaged);
}

TEST_CASE("a source that fails is told from bytes that are wrong") {
    const auto bytes = written(any_content(3'000'000), 1'000);
    auto got = Bytes{};
    for (const auto good : {std::size_t{0}, std::size_t{10}, std::size_t{1'500'000}, bytes.size() - 1}) {
        CHECK(read(Dribble{bytes, 65'536, good}, got) == SnapshotError::read_failed);
    }
}

}  // namespace snapshot_chunks_test
