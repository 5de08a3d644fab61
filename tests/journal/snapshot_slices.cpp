#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/preset/crynux_trio.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

// A snapshot that is written while commands go on is that of the state at its beginning, to the byte.

namespace snapshot_slices_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Sink {
    Bytes bytes{};
    std::size_t left = static_cast<std::size_t>(-1);

    auto append(std::span<const std::uint8_t> values) -> std::optional<allot::IoError> {
        if (values.size() > left) { return allot::IoError::no_space; }
        left -= values.size();
        bytes.insert(bytes.end(), values.begin(), values.end());
        return std::nullopt;
    }
    static auto sync() -> std::optional<allot::IoError> { return std::nullopt; }
};

/// How a run goes; each part is seen at least once in all runs.
struct Seen {
    int rolled_back = 0;
    int nested = 0;
    int changed_later = 0;
};

template <class D>
void run(std::uint64_t seed, Seen& seen) {
    auto d = D{};
    auto random = std::mt19937_64{seed};
    auto chaos = support::Chaos<D>{seed, true};
    const auto act = [&] {
        const auto moment = chaos.moment(d);
        (void)d.apply(chaos.command(d), moment);
    };
    for (auto i = random() % 300; i > 0; --i) { act(); }
    auto tree = allot::StateTree{d};
    const auto embedded = random() % 2 == 0 ? allot::EmbeddedSection{}
                                            : allot::EmbeddedSection{"clients", Bytes(random() % 100, std::uint8_t{7})};
    const auto known = random() % 2 == 0 ? std::optional{tree.root(embedded)} : std::nullopt;
    const auto whole = allot::snapshot(d, 5, embedded);
    auto writer = allot::SnapshotWriter{d, 5, embedded, known};
    auto sink = Sink{};
    const auto pace = random() % 4;
    while (!writer.done()) {
        for (auto commands = random() % 4; commands > 0; --commands) {
            auto session = d.session();
            for (auto i = random() % 3; i > 0; --i) {
                auto inner = d.session();
                act();
                if (random() % 2 == 0) {
                    inner.commit();
                    ++seen.nested;
                }
            }
            act();
            writer.follow(session);
            const auto touched = session.touched();
            if (random() % 4 == 0) {
                session.rollback();
                ++seen.rolled_back;
            } else {
                session.commit();
            }
            tree.follow(d, touched);
        }
        const auto slice = pace == 0   ? 1
                           : pace == 1 ? random() % 600
                           : pace == 2 ? random() % 20'000
                                       : static_cast<std::size_t>(-1);
        REQUIRE_FALSE(writer.write(d, sink, slice));
    }
    REQUIRE(sink.bytes == whole);
    seen.changed_later += allot::snapshot(d, 5, embedded) == whole ? 0 : 1;
    REQUIRE(tree.root(embedded) == allot::state_root(d, embedded));

    auto loaded = allot::load_snapshot(std::span<const std::uint8_t>{whole}, D{});
    REQUIRE(loaded);
    REQUIRE(loaded->embedded == embedded);
    REQUIRE(loaded->tree.root(embedded) == loaded->state_root);
    REQUIRE(loaded->state_root == allot::state_root(loaded->dispatcher, embedded));
}

}  // namespace

TEST_CASE("a snapshot in slices is that of its beginning, whatever changes meanwhile") {
    auto seen = Seen{};
    for (auto seed = support::seed(); seed < support::seed() + 150; ++seed) {
        CAPTURE(seed);
        run<allot::Dispatcher<>>(seed, seen);
        if (seed % 3 == 0) { run<allot::Dispatcher<allot::preset::CrynuxTrio>>(seed, seen); }
    }
    CHECK(seen.rolled_back > 100);
    CHECK(seen.nested > 100);
    CHECK(seen.changed_later > 100);
}

TEST_CASE("a snapshot of which all is asked for at once in the middle ends") {
    auto d = allot::Dispatcher<>{};
    auto chaos = support::Chaos<allot::Dispatcher<>>{3};
    for (auto i = 0; i < 300; ++i) {
        const auto moment = chaos.moment(d);
        (void)d.apply(chaos.command(d), moment);
    }
    auto writer = allot::SnapshotWriter{d, 1};
    auto sink = Sink{};
    REQUIRE_FALSE(writer.write(d, sink, 100));
    CHECK_FALSE(writer.done());
    REQUIRE_FALSE(writer.write(d, sink, static_cast<std::size_t>(-1)));
    CHECK(writer.done());
    CHECK(sink.bytes == allot::snapshot(d, 1));
}

TEST_CASE("a sink without room is told") {
    const auto d = allot::Dispatcher<>{};
    auto writer = allot::SnapshotWriter{d, 1};
    auto sink = Sink{.left = 10};
    CHECK(writer.write(d, sink, 1'000'000) == allot::IoError::no_space);
}

TEST_CASE("the embedder's section is part of the root, its name and its bytes") {
    const auto d = allot::Dispatcher<>{};
    const auto roots = std::vector{allot::state_root(d),
                                   allot::state_root(d, {"a", {}}),
                                   allot::state_root(d, {"b", {}}),
                                   allot::state_root(d, {"a", {1}}),
                                   allot::state_root(d, {"a", {2}}),
                                   allot::state_root(d, {"", {1}})};
    for (auto a = roots.begin(); a != roots.end(); ++a) { CHECK(std::find(a + 1, roots.end(), *a) == roots.end()); }
    auto bytes = allot::snapshot(d, 1, {"a", Bytes(40'000'000, std::uint8_t{9})});  // longer than the loader's window
    const auto loaded = allot::load_snapshot(std::span<const std::uint8_t>{bytes}, allot::Dispatcher<>{});
    REQUIRE(loaded);
    CHECK(loaded->embedded.bytes.size() == 40'000'000);
}

}  // namespace snapshot_slices_test
