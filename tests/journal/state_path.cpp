#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/state_path.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/refused_bytes.hpp"
#include "support/seed.hpp"

namespace state_path_test {

// Who trusts a state root believes of an entry what is true of it, and nothing else.

namespace {

using allot::Section;
using allot::StatePath;
using D = allot::Dispatcher<allot::ValueQueue>;
using Bytes = std::vector<std::uint8_t>;

constexpr auto numbers = std::uint32_t{12};

// A state after some commands at random, and the tree that followed them.
struct State {
    D dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 3}}};
    support::Chaos<D> chaos;
    allot::StateTree tree{dispatcher};
    allot::EmbeddedSection embedded{};

    State(std::uint64_t seed, int commands) : chaos{seed} {
        for (auto i = 0; i < commands; ++i) { step(); }
    }

    void step() {
        const auto moment = chaos.moment(dispatcher);
        auto session = dispatcher.session();
        (void)dispatcher.apply(chaos.command(dispatcher), moment);
        tree.follow(dispatcher, session.touched());
        session.commit();
    }
    auto root() { return tree.root(embedded); }
    auto path(Section section, std::uint32_t number) {
        return allot::path_of(tree, dispatcher, section, number, embedded);
    }
    auto entry(Section section, std::uint32_t number) const { return allot::entry_bytes(dispatcher, section, number); }
    // True if the path shows what the entry is.
    auto told(const StatePath& path, Section section, std::uint32_t number) {
        const auto bytes = entry(section, number);
        return bytes.empty() ? allot::shows_absence(path, root(), section, number)
                             : allot::shows(path, root(), section, number, bytes);
    }
};

template <class F>
void each_entry(F&& f) {
    for (std::size_t section = 0; section < allot::section_count; ++section) {
        for (auto number = std::uint32_t{0}; number < numbers; ++number) { f(static_cast<Section>(section), number); }
    }
}

auto any_state(int round) -> State {
    auto state = State{support::seed() + static_cast<std::uint64_t>(round), round * 3};
    if (round % 2 == 1) { state.embedded = {"accounts", {1, 2, 3}}; }
    return state;
}

}  // namespace

TEST_CASE("a path shows its entry, present or absent, to the owner of the state root") {
    auto present = std::array<int, allot::section_count>{};
    auto absent = 0;
    for (auto round = 0; round < 40; ++round) {
        auto state = any_state(round);
        REQUIRE(state.root() == allot::state_root(state.dispatcher, state.embedded));
        each_entry([&](Section section, std::uint32_t number) {
            INFO("round " << round << ", " << allot::section_name(section) << " " << number);
            const auto path = state.path(section, number);
            const auto bytes = state.entry(section, number);
            REQUIRE(state.told(path, section, number));
            REQUIRE(allot::shows_absence(path, state.root(), section, number) == bytes.empty());
            REQUIRE(path.counters == state.dispatcher.state().counters());
            REQUIRE(allot::decode<StatePath>(allot::encode(path)) == path);
            (bytes.empty() ? absent : present[static_cast<std::size_t>(section)]) += 1;
        });
    }
    for (std::size_t section = 0; section < allot::section_count; ++section) {
        INFO(allot::section_name(static_cast<Section>(section)));
        CHECK(present[section] > 0);
    }
    CHECK(absent > 1'000);
}

TEST_CASE("a path of a state proves nothing false of another entry, and nothing of another state") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 10; round < 20; ++round) {
        auto state = any_state(round);
        const auto root = state.root();
        each_entry([&](Section section, std::uint32_t number) {
            const auto path = state.path(section, number);
            each_entry([&](Section asked, std::uint32_t other) {
                if (allot::shows_absence(path, root, asked, other)) { REQUIRE(state.entry(asked, other).empty()); }
                if (asked == section && other == number) { return; }
                const auto bytes = state.entry(asked, other);
                if (!bytes.empty()) { REQUIRE_FALSE(allot::shows(path, root, section, number, bytes)); }
            });
        });
        const auto section = static_cast<Section>(random() % allot::section_count);
        const auto number = static_cast<std::uint32_t>(random() % numbers);
        const auto path = state.path(section, number);
        const auto bytes = state.entry(section, number);
        const auto believed = [&](const allot::Hash256& trusted) {
            return bytes.empty() ? allot::shows_absence(path, trusted, section, number)
                                 : allot::shows(path, trusted, section, number, bytes);
        };
        REQUIRE(believed(root));
        CHECK_FALSE(believed(state.tree.root({"accounts", {1, 2, 4}})));
        CHECK_FALSE(believed(path.sections[static_cast<std::size_t>(section)]));
        while (state.root() == root) { state.step(); }
        CHECK_FALSE(believed(state.root()));
    }
}

TEST_CASE("a path with any bit flipped, or with fewer or more bytes, proves nothing") {
    for (auto round = 0; round < 12; ++round) {
        auto state = any_state(round);
        const auto section = static_cast<Section>(round % static_cast<int>(allot::section_count));
        const auto number = static_cast<std::uint32_t>(round % 5);
        const auto refused = [&](std::span<const std::uint8_t> bytes) {
            const auto path = allot::decode<StatePath>(bytes);
            return !path || !state.told(*path, section, number);
        };
        INFO("round " << round);
        support::require_every_bit(allot::encode(state.path(section, number)), refused);
    }
}

TEST_CASE("what is shown can be read: a node's stake, and that a handle is free") {
    auto d = D{};
    REQUIRE(
        d.join({.id = 7, .gpu = "RTX 4090", .vram = {24}, .stake = 400, .models = {"sdxl"}}, {.time = {}}).accepted());
    auto tree = allot::StateTree{d};
    const auto root = tree.root();
    const auto handle = d.state().nodes().find(7)->value;
    const auto path = allot::path_of(tree, d, Section::nodes, handle);
    const auto entry = allot::entry_bytes(d, Section::nodes, handle);
    REQUIRE(allot::shows(path, root, Section::nodes, handle, entry));
    auto bytes = allot::ByteReader{entry};
    auto in = allot::Decoder{bytes};
    auto number = std::uint32_t{1};
    auto record = D::Record{};
    in.get(number);
    in.get(record);
    CHECK(number == handle);
    CHECK(record.node.id == allot::NodeId{7});
    CHECK(record.node.stake == allot::Amount{400});
    // The only entry is entry 0, which an absent one has to open.
    const auto free = allot::path_of(tree, d, Section::nodes, 1);
    CHECK(free.path.opened == entry);
    CHECK(allot::shows_absence(free, root, Section::nodes, 1));
    CHECK(allot::shows_absence(allot::path_of(tree, d, Section::tasks, 0), root, Section::tasks, 0));
}

}  // namespace state_path_test
