#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/log.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/faulty_file.hpp"
#include "support/seed.hpp"

namespace recovery_test {

// A dispatcher that is rebuilt from a journal which failed somewhere is in a state that it once was in, at or after the
// last command that was acknowledged; or the journal says that it is corrupt.

namespace {

using D = allot::Dispatcher<>;
using Entry = allot::LogEntry<D::Command>;
using support::Fault;

// Commands at random, and the state root before each of them and after the last.
struct Life {
    std::vector<Entry> log{};
    std::vector<allot::Hash256> roots{};

    explicit Life(std::uint64_t seed) {
        auto d = D{};
        auto chaos = support::Chaos<D>{seed};
        roots.push_back(allot::state_root(d));
        for (auto i = 0; i < 60; ++i) {
            auto moment = chaos.moment(d);
            log.push_back({moment, chaos.command(d)});
            (void)d.apply(log.back().command, log.back().moment);
            roots.push_back(allot::state_root(d));
        }
    }
};

// Writes the log to the file until something fails; gives how many commands were acknowledged.
auto acknowledged(support::FaultyFile& file, const std::vector<Entry>& log) -> std::size_t {
    auto acknowledged = std::size_t{0};
    try {
        auto writer = allot::LogWriter{file};
        for (std::size_t i = 0; i < log.size(); ++i) {
            if (!writer.append(allot::encode(log[i]))) { return acknowledged; }
            if (i % 4 == 3 || i + 1 == log.size()) {
                if (writer.sync()) { return acknowledged; }
                acknowledged = i + 1;
            }
        }
    } catch (const support::FaultyFile::Crash&) {}
    return acknowledged;
}

}  // namespace

TEST_CASE("a dispatcher recovered from a failing journal is in a state at or after the last acknowledged command") {
    constexpr auto faults = std::array{Fault::error, Fault::short_write, Fault::crash, Fault::bit_flip};
    auto corrupt = 0;
    auto cut_short = 0;
    for (const auto fault : faults) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            const auto life = Life{support::seed() + seed};
            for (auto at = 1;; ++at) {
                CAPTURE(static_cast<int>(fault), seed, at);
                auto file = support::FaultyFile{fault, at, support::seed() + seed};
                const auto least = acknowledged(file, life.log);
                if (!file.fired()) {  // every write and sync had its turn; what reading may suffer is log.cpp's
                    REQUIRE(least == life.log.size());
                    REQUIRE(at > 74);  // 60 writes and the 14 syncs between them; a bit flips in no sync
                    break;
                }
                if (fault == Fault::bit_flip) {
                    file.reopen();  // a device that both flips bits and loses the last mark cannot be told from a torn
                                    // tail
                } else {
                    file.restart();
                }
                auto d = D{};
                auto replayed = std::size_t{0};
                const auto mark = allot::recover(file, [&](const allot::LogRecord& record) {
                    const auto entry = allot::decode<Entry>(record.body);
                    REQUIRE(entry);
                    (void)d.apply(entry->command, entry->moment);
                    ++replayed;
                });
                REQUIRE(replayed < life.roots.size());
                REQUIRE(allot::state_root(d) == life.roots[replayed]);
                if (mark) {
                    REQUIRE(replayed >= least);
                    cut_short += replayed < life.log.size() ? 1 : 0;
                } else {
                    REQUIRE(fault == Fault::bit_flip);
                    ++corrupt;
                }
            }
        }
    }
    CHECK(corrupt > 0);
    CHECK(cut_short > 0);
}

}  // namespace recovery_test
