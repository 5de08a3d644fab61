#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/store.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/memory_folder.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// A store opens whatever a crash leaves: what was acknowledged is there, and nothing that was not sent.

namespace store_test {
namespace {

using namespace std::chrono_literals;
using D = allot::Dispatcher<>;
using S = allot::Store<D, support::MemoryFolder>;
using allot::IoError;
using allot::StoreError;
using support::MemoryDisk;
using support::MemoryFolder;

constexpr auto small = allot::StoreParameters{.checkpoint_every = 40, .slice_bytes = 700};

struct Step {
    D::Command command;
    allot::Moment moment;
};

/// What was sent, and the state after each step.
struct History {
    std::vector<Step> steps{};
    std::vector<std::uint64_t> digests{D{}.digest()};
    std::uint64_t acknowledged = 0;
    int snapshots = 0;
    int lives = 0;
    int crashes = 0;
    int failures = 0;
    int lost = 0;

    void cut(std::uint64_t position) {
        lost += position < steps.size() ? 1 : 0;
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(position), steps.end());
        digests.resize(steps.size() + 1);
    }
};

auto opened(MemoryDisk& disk, const allot::StoreParameters& parameters = small) {
    return S::open(MemoryFolder{disk}, D{}, parameters);
}
auto fault_of(MemoryDisk& disk) -> std::optional<allot::StoreFault> {
    auto store = opened(disk);
    return store ? std::nullopt : std::optional{store.error()};
}

/// Opens the store, compares it, and works until the machine stops or an operation fails.
void live(MemoryDisk& disk, History& history, support::Chaos<D>& chaos, int commands) {
    auto store = opened(disk);
    if (!store) {
        INFO(message(store.error().error) << " " << store.error().file);
        REQUIRE(store.error().error == StoreError::io_failed);  // the operation that was to fail
        ++history.failures;
        return;
    }
    ++history.lives;
    REQUIRE(store->position() >= history.acknowledged);
    REQUIRE(store->position() <= history.steps.size());
    history.cut(store->position());
    REQUIRE(store->dispatcher().digest() == history.digests.back());
    history.acknowledged = store->position();  // opening synced it
    history.snapshots += static_cast<int>(store->snapshots().size());
    auto events = allot::Events{};
    for (auto i = 0; i < commands; ++i) {
        const auto moment = chaos.moment(store->dispatcher());
        const auto command = chaos.command(store->dispatcher());
        auto next = store->dispatcher();
        (void)next.apply(command, moment);
        history.steps.push_back({command, moment});
        history.digests.push_back(next.digest());
        events.clear();
        if (store->apply(command, moment, events)) {
            REQUIRE(store->apply(command, moment, events) == IoError::broken);
            ++history.failures;
            return;
        }
        REQUIRE(store->dispatcher().digest() == history.digests.back());
        if (chaos.below(3) == 0) {
            if (store->sync()) {
                REQUIRE(store->sync() == IoError::broken);
                ++history.failures;
                return;
            }
            history.acknowledged = store->position();
            REQUIRE(store->synced() == store->position());
        }
    }
}

auto file_of(MemoryDisk& disk, const std::string& begins) -> std::string {
    for (const auto& [name, inode] : disk.names()) {
        if (name.starts_with(begins)) { return name; }
    }
    FAIL("there is no file " << begins);
    return {};
}

/// A store with two snapshots and a few segments.
auto grown(MemoryDisk& disk, History& history) {
    auto chaos = support::Chaos<D>{5};
    live(disk, history, chaos, 300);
    auto names = std::vector<std::string>{};
    for (const auto& [name, inode] : disk.names()) { names.push_back(name); }
    return names;
}

}  // namespace

TEST_CASE("what was acknowledged outlasts a loss of power at any write, sync or rename") {
    auto all = History{};
    const auto* more = std::getenv("ALLOT_STORE_RUNS");
    const auto runs = more == nullptr ? 300 : std::atoi(more);
    for (auto run = 0; run < runs; ++run) {
        const auto seed = support::seed() + static_cast<std::uint64_t>(run);
        CAPTURE(seed);
        auto disk = MemoryDisk{seed};
        auto chaos = support::Chaos<D>{seed};
        auto history = History{};
        for (auto life = 0; life < 6; ++life) {
            if (chaos.below(3) == 0) {
                disk.fail_after(static_cast<int>(chaos.below(300)));
            } else {
                disk.crash_after(static_cast<int>(chaos.below(300)));
            }
            try {
                live(disk, history, chaos, 150);
            } catch (const MemoryDisk::Crash&) { ++all.crashes; }
            if (chaos.below(4) != 0) { disk.lose_power(); }
            disk.crash_after(-1);
            disk.fail_after(-1);
        }
        live(disk, history, chaos, 10);
        all.lives += history.lives;
        all.snapshots += history.snapshots;
        all.failures += history.failures;
        all.lost += history.lost;
    }
    CHECK(all.crashes > runs);
    CHECK(all.failures > runs / 2);
    CHECK(all.snapshots > runs);
    CHECK(all.lost > runs);
}

TEST_CASE("old snapshots and the segments before them are dropped") {
    auto disk = MemoryDisk{1};
    auto history = History{};
    const auto names = grown(disk, history);
    const auto count = [&](const char* begins) {
        return std::count_if(names.begin(), names.end(), [&](const auto& n) { return n.starts_with(begins); });
    };
    CHECK(count("snapshot-") == 2);
    CHECK(count("log-") <= 4);
    CHECK(file_of(disk, "log-") == "log-" + file_of(disk, "snapshot-").substr(9));
}

TEST_CASE("a flipped bit is told, or passed over where another file says the same") {
    auto disk = MemoryDisk{1};
    auto history = History{};
    const auto names = grown(disk, history);
    auto random = std::mt19937_64{support::seed()};
    auto told = 0;
    auto set_aside = 0;
    for (const auto& name : names) {
        for (auto i = 0; i < 25; ++i) {
            auto other = MemoryDisk{2};
            for (const auto& [n, inode] : disk.names()) {
                other.names()[n] = std::make_shared<MemoryDisk::Inode>(*inode);
            }
            auto& bytes = other.names()[name]->seen;
            const auto bit = random() % (bytes.size() * 8);
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            auto store = opened(other);
            if (!store) {
                REQUIRE(store.error().file.starts_with("log-"));
                REQUIRE_FALSE(message(store.error().error).empty());
                ++told;
                continue;
            }
            CAPTURE(name, bit);
            const auto at = store->position();
            REQUIRE(at <= history.steps.size());
            REQUIRE(store->dispatcher().digest() == history.digests[at]);
            if (at < history.acknowledged) {  // in the last sync before the end, whose mark is broken: cut as torn
                REQUIRE(
                    name ==
                    names[static_cast<std::size_t>(
                        std::count_if(names.begin(), names.end(), [](const auto& n) { return n.starts_with("log-"); }) -
                        1)]);
            }
            for (const auto& [n, inode] : other.names()) { set_aside += n.ends_with(".bad") ? 1 : 0; }
        }
    }
    CHECK(told > 20);
    CHECK(set_aside > 20);
}

TEST_CASE("a file that is missing is named, and nothing is changed") {
    auto disk = MemoryDisk{1};
    auto history = History{};
    const auto names = grown(disk, history);
    for (const auto& name : names) {
        auto other = MemoryDisk{2};
        for (const auto& [n, inode] : disk.names()) { other.names()[n] = std::make_shared<MemoryDisk::Inode>(*inode); }
        other.names().erase(name);
        const auto before = other.names().size();
        auto store = opened(other);
        CAPTURE(name);
        if (store) {
            REQUIRE(store->dispatcher().digest() == history.digests[store->position()]);
        } else {
            CHECK((store.error().error == StoreError::log_gap || store.error().error == StoreError::log_damaged));
            CHECK(other.names().size() == before);
        }
    }
    auto none = MemoryDisk{2};
    for (const auto& [n, inode] : disk.names()) {
        if (n.starts_with("log-")) { none.names()[n] = inode; }
    }
    CHECK(fault_of(none)->error == StoreError::log_gap);  // the log was dropped up to the first snapshot
}

TEST_CASE("a full disk says so, and with room again the store opens with all that was acknowledged") {
    auto disk = MemoryDisk{1};
    auto history = History{};
    auto chaos = support::Chaos<D>{9};
    live(disk, history, chaos, 30);
    disk.room = 5'000;
    live(disk, history, chaos, 1'000);
    CHECK(history.failures == 1);
    disk.room = static_cast<std::size_t>(-1);
    live(disk, history, chaos, 30);
    CHECK(history.failures == 1);
}

TEST_CASE("a snapshot without room is told, and the log goes on") {
    auto disk = MemoryDisk{1};
    auto store = opened(disk, {.checkpoint_every = 0, .slice_bytes = 100});
    REQUIRE(store);
    auto chaos = support::Chaos<D>{3};
    auto events = allot::Events{};
    for (auto i = 0; i < 200; ++i) {
        const auto moment = chaos.moment(store->dispatcher());
        REQUIRE_FALSE(store->apply(chaos.command(store->dispatcher()), moment, events));
    }
    REQUIRE_FALSE(store->checkpoint());
    disk.room = 50;
    CHECK(store->is_writing());
    store->finish_checkpoint();
    CHECK(store->snapshot_error() == IoError::no_space);
    CHECK(store->snapshots().empty());
    disk.room = static_cast<std::size_t>(-1);
    REQUIRE_FALSE(store->checkpoint());
    store->finish_checkpoint();
    CHECK_FALSE(store->snapshot_error());
    CHECK(store->snapshots().size() == 1);
}

TEST_CASE("other files are left alone, and a snapshot that was not finished goes") {
    auto disk = MemoryDisk{1};
    for (const auto* name : {"README", "log-1.allot", "log-00000000000000000000.allot.old", "snapshot-.allot",
                             "snapshot-99999999999999999999.allot", "snapshot.part"}) {
        disk.names()[name] = std::make_shared<MemoryDisk::Inode>();
    }
    REQUIRE(opened(disk));
    CHECK(disk.names().contains("README"));
    CHECK(disk.names().contains("snapshot-99999999999999999999.allot"));
    CHECK_FALSE(disk.names().contains("snapshot.part"));
    CHECK(disk.names().size() == 6);
}

TEST_CASE("a record that is none of the dispatcher's is told with its position") {
    auto disk = MemoryDisk{1};
    {
        auto folder = MemoryFolder{disk};
        auto file = *folder.to_write("log-00000000000000000000.allot");
        auto log = allot::LogWriter{file};
        REQUIRE(log.append(std::vector<std::uint8_t>{1, 2, 3}));
        REQUIRE_FALSE(log.sync());
    }
    const auto fault = fault_of(disk);
    REQUIRE(fault);
    CHECK(fault->error == StoreError::record_unknown);
    CHECK(fault->position == 0);
    CHECK(fault->file == "log-00000000000000000000.allot");
}

TEST_CASE("after a restart the time in which nobody could answer is given back once") {
    auto disk = MemoryDisk{1};
    auto events = allot::Events{};
    const auto in = [](allot::Duration time) { return allot::TimePoint{time}; };
    {
        auto store = opened(disk);
        REQUIRE_FALSE(store->resume(in(5h), events));
        CHECK(events.size() == 0);  // nothing had begun
        REQUIRE_FALSE(store->apply(allot::command::Join{support::plain_node(1)}, support::at(5h), events));
        REQUIRE_FALSE(store->apply(allot::command::Submit{support::plain_task(1)}, support::at(5h), events));
        REQUIRE_FALSE(store->sync());
    }
    auto store = opened(disk);
    const auto deadline = store->dispatcher().lease(1)->deadline;
    events.clear();
    REQUIRE_FALSE(store->resume(in(8h), events, 10s, 24h));
    CHECK(events.get<allot::event::Postponed>()->by == 3h - 10s);
    CHECK(store->dispatcher().lease(1)->deadline == deadline + 3h - 10s);
    REQUIRE_FALSE(store->resume(in(8h), events, 10s, 24h));
    CHECK(store->dispatcher().lease(1)->deadline == deadline + 3h - 10s);
    REQUIRE_FALSE(store->sync());
    auto again = opened(disk);
    CHECK(again->dispatcher() == store->dispatcher());
}

TEST_CASE("parameters that were configured are those of the snapshot") {
    auto disk = MemoryDisk{1};
    auto events = allot::Events{};
    {
        auto store = opened(disk);
        auto rules = allot::RulesParameters{};
        rules.due_max = 7;
        REQUIRE_FALSE(store->apply(allot::command::Configure<D::Configuration>{rules, 2}, support::at({}), events));
        REQUIRE_FALSE(store->checkpoint());
        store->finish_checkpoint();
    }
    CHECK(opened(disk)->dispatcher().rules()->due_max == 7);
}

}  // namespace store_test
