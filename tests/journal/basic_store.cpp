#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/basic_store.hpp>
#include <allot/journal/store.hpp>

#include "support/catch.hpp"
#include "support/memory_folder.hpp"
#include "support/network.hpp"

// What a store refuses, and what an error or an exception at the wrong moment leaves in its folder.

namespace basic_store_test {
namespace {

using D = allot::Dispatcher<>;
using S = allot::Store<D, support::MemoryFolder>;
using allot::IoError;
using allot::StoreError;
using support::MemoryDisk;
using support::MemoryFolder;

constexpr auto asked_only = allot::StoreParameters{.checkpoint_every = 0, .slice_bytes = 200};

auto opened(MemoryDisk& disk, const allot::StoreParameters& parameters = asked_only) {
    return S::open(MemoryFolder{disk}, D{}, parameters);
}

auto join(int id) -> D::Command { return allot::command::Join{support::plain_node(id)}; }

/// A command that fits into no record.
auto long_join(int id) -> D::Command {
    auto node = support::plain_node(id);
    node.models = {std::string(allot::log_body_max, 'm')};
    return allot::command::Join{std::move(node)};
}

/// Lets `count` nodes join, with ids from `from` on.
void join_nodes(S& store, int from, int count) {
    auto events = allot::Events{};
    for (auto id = from; id < from + count; ++id) { REQUIRE_FALSE(store.apply(join(id), support::at({}), events)); }
    REQUIRE_FALSE(store.sync());
}

/// Makes a snapshot that stands.
void make_snapshot(S& store) {
    REQUIRE_FALSE(store.checkpoint());
    store.finish_checkpoint();
    REQUIRE_FALSE(store.snapshot_error());
}

auto log_name(std::size_t position) -> std::string {
    const auto digits = std::to_string(position);
    return "log-" + std::string(20 - digits.size(), '0') + digits + ".allot";
}

}  // namespace

TEST_CASE("a command that fits into no record is refused, and the store goes on") {
    auto disk = MemoryDisk{1};
    auto store = opened(disk);
    REQUIRE(store);
    auto events = allot::Events{};
    CHECK(store->apply(long_join(1), support::at({}), events) == IoError::too_long);
    CHECK(store->position() == 0);
    join_nodes(*store, 1, 3);
    CHECK(opened(disk)->dispatcher() == store->dispatcher());
}

TEST_CASE("commands that are in the log but were not applied get into no snapshot") {
    auto disk = MemoryDisk{1};
    {
        auto store = opened(disk);
        REQUIRE(store);
        join_nodes(*store, 1, 3);
        auto events = allot::Events{};
        const auto commands = std::vector{join(4), long_join(5)};
        REQUIRE(store->apply(commands, support::at({}), events) == IoError::too_long);
        CHECK(store->sync() == IoError::broken);
        CHECK(store->checkpoint() == IoError::broken);
        store->finish_checkpoint();
        CHECK(store->snapshots().empty());
    }
    auto store = opened(disk);
    REQUIRE(store);
    CHECK(store->dispatcher().state().nodes().size() == store->position());
}

TEST_CASE("a snapshot that could not begin does not keep the next from it") {
    auto failures = 0;
    for (auto good = 0; good < 12; ++good) {
        auto disk = MemoryDisk{1};
        disk.locks = true;
        auto store = opened(disk);
        REQUIRE(store);
        join_nodes(*store, 1, 3);
        disk.fail_after(good);
        if (store->checkpoint()) { continue; }  // of the log: the store has to be opened again
        store->finish_checkpoint();
        disk.fail_after(-1);
        failures += store->snapshot_error() ? 1 : 0;
        CAPTURE(good);
        make_snapshot(*store);
        CHECK(store->snapshots() == std::vector<std::uint64_t>{3});
    }
    CHECK(failures > 3);
}

TEST_CASE("an exception while a snapshot begins or is written leaves a folder that opens with all acknowledged") {
    auto thrown = 0;
    auto written = 0;
    for (auto good = 0; good < 40; ++good) {
        CAPTURE(good);
        auto disk = MemoryDisk{1};
        {
            auto store = opened(disk, {.checkpoint_every = 0, .slice_bytes = 200, .snapshots_kept = 1});
            REQUIRE(store);
            join_nodes(*store, 1, 10);
            make_snapshot(*store);
            join_nodes(*store, 11, 10);
            disk.crash_after(good);
            try {
                (void)store->checkpoint();
                store->finish_checkpoint();
            } catch (const MemoryDisk::Crash&) { ++thrown; }
            disk.crash_after(-1);
            // The program catches the exception and goes on, as long as the store takes commands.
            auto events = allot::Events{};
            for (auto id = 21; !store->apply(join(id), support::at({}), events) && id < 40; ++id) {
                if (store->sync()) { break; }
                written += 1;
            }
            REQUIRE(store->synced() >= 20);
        }
        auto store = opened(disk);
        REQUIRE(store);
        CHECK(store->position() >= 20);
        CHECK(store->dispatcher().state().nodes().size() == store->position());
        for (const auto& [name, inode] : disk.names()) { CHECK_FALSE(name.ends_with(".bad")); }
    }
    CHECK(thrown > 10);
    CHECK(written > 100);
}

namespace {

/// A disk on which a store wrote so many snapshots, five nodes before each and five behind the last.
auto disk_with_snapshots(int count) -> MemoryDisk {
    auto disk = MemoryDisk{1};
    {
        auto store = opened(disk);
        REQUIRE(store);
        for (auto i = 0; i < count; ++i) {
            join_nodes(*store, 1 + 5 * i, 5);
            make_snapshot(*store);
        }
        join_nodes(*store, 1 + 5 * count, 5);
    }
    return disk;
}

}  // namespace

TEST_CASE("the segment that began with the newest snapshot is missed, whether or not the snapshot is good") {
    const auto is_damaged = GENERATE(false, true);
    auto disk = disk_with_snapshots(2);
    if (is_damaged) { disk.names().at("snapshot-00000000000000000010.allot")->seen[40] ^= 1U; }
    REQUIRE(disk.names().erase(log_name(10)) == 1);
    const auto store = opened(disk);
    REQUIRE_FALSE(store);
    CHECK(store.error().error == StoreError::log_gap);
    CHECK(store.error().file == log_name(10));
    CHECK_FALSE(disk.names().contains("snapshot-00000000000000000010.allot.bad"));
}

TEST_CASE("a snapshot without a log behind it is half of a copy, whether or not the snapshot is good") {
    const auto is_damaged = GENERATE(false, true);
    auto disk = disk_with_snapshots(1);
    if (is_damaged) { disk.names().at("snapshot-00000000000000000005.allot")->seen[40] ^= 1U; }
    SECTION("no segment is there") {
        std::erase_if(disk.names(), [](const auto& file) { return file.first.starts_with("log-"); });
        const auto files = disk.names().size();
        const auto store = opened(disk);
        REQUIRE_FALSE(store);
        CHECK(store.error().error == StoreError::log_gap);
        CHECK(store.error().file == log_name(5));
        CHECK(disk.names().size() == files);
    }
    SECTION("the last segment is empty") {
        disk.names().at(log_name(5))->seen.clear();
        disk.names().at(log_name(5))->kept.clear();
        const auto store = opened(disk);
        REQUIRE_FALSE(store);
        CHECK(store.error().error == StoreError::log_damaged);
        CHECK(store.error().file == log_name(5));
    }
}

}  // namespace basic_store_test
