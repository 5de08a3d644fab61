#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <allot/store/records.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using allot::HeldModel;
using allot::NodeHandle;
using allot::TaskHandle;
using allot::TimePoint;

using State = allot::Records<int, std::variant<int>>;
using Record = State::NodeRecordType;

/// Notes what it hears, and throws when told to.
struct Ears {
    std::vector<std::string> heard{};
    std::vector<std::uint32_t> classes_fell{};  // what was said of their reach
    std::vector<std::uint32_t> models_fell{};
    bool throws = false;
    std::uint32_t active_min = 0;

    auto fits(const allot::NodeClass& c, const allot::Requirement& r) const -> bool { return c.vram >= r.vram_min; }
    auto open(std::uint32_t active) const -> bool { return active >= active_min; }
    void node_changed(NodeHandle h, const Record* before, const Record* after) { note("node", h.value, before, after); }
    void node_edited(NodeHandle h, const allot::NodeStanding&, const Record& after) {
        note("node", h.value, &after, &after);
    }
    void task_changed(TaskHandle h, const allot::Task* before, const allot::Task* after) {
        note("task", h.value, before, after);
    }
    void task_edited(TaskHandle h, const allot::TaskStanding&, const allot::Task& after) {
        note("task", h.value, &after, &after);
    }
    void holders_gone(allot::ModelId, allot::ClassId) {}
    void class_gone(allot::ClassId) {}
    void fell(allot::ClassId, std::uint32_t reach) { classes_fell.push_back(reach); }
    void fell(allot::ModelId, allot::ClassId, std::uint32_t reach) { models_fell.push_back(reach); }
    void models_changed(NodeHandle, const allot::HeldModels& before, const allot::HeldModels& after) {
        if (throws) { throw std::runtime_error{"no memory"}; }
        heard.push_back("models " + std::to_string(before.size()) + std::to_string(after.size()));
    }
    void counters_changed(const allot::Counters&, const allot::Counters&) { heard.emplace_back("counters"); }
    void configured(std::span<const std::variant<int>> was) {
        heard.push_back("configured " + std::to_string(std::get<int>(was.front())));
    }

    void note(const char* what, std::uint32_t handle, const void* before, const void* after) {
        heard.push_back(std::string{what} + ' ' + std::to_string(handle) + (before == nullptr ? " -" : " x") +
                        (after == nullptr ? "-" : "x"));
        if (throws) { throw std::runtime_error{"ears"}; }
    }
};

auto node_in(State& state, Ears& ears, allot::NodeId id, std::uint32_t vram, std::uint64_t stake) -> Record {
    auto record = Record{};
    record.node.id = id;
    record.node.staked(stake);
    record.node.state = allot::NodeState::available;
    record.node.node_class = state.intern(allot::NodeClass{"GPU", {vram}, "", {}}, ears);
    record.node.slot = state.fits().slots(record.node.node_class).lowest_free();
    return record;
}

}  // namespace

TEST_CASE("a network counts those present and knows the largest stake") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 100), ears);
    state.put(NodeHandle{1}, node_in(state, ears, 8, 8, 900), ears);
    CHECK(state.present() == 2);
    CHECK(state.stake_root_max() == allot::StakeRoot::from(900));
    CHECK(state.nodes()[{1}].node.slot == 1);
    auto left = state.nodes()[{1}];
    left.node.state = allot::NodeState::left;
    left.node.node_class = allot::no_handle<allot::ClassId>;
    state.put(NodeHandle{1}, Record{left}, ears);
    CHECK(state.present() == 1);
    CHECK(state.stake_root_max() == allot::StakeRoot::from(100));
    CHECK(state.fits().slots(state.nodes()[{0}].node.node_class).lowest_free() == 1);
    CHECK(state.nodes().find(8) == NodeHandle{1});
}

TEST_CASE("a class opens and closes with the nodes that take part in it, and a rollback takes that back") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    ears.active_min = 2;
    const auto requirement = state.intern(allot::Requirement{{8}}, ears);
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 1), ears);
    const auto c = state.nodes()[{0}].node.node_class;
    const auto fits = [&] { return state.fits().fit(c, requirement); };
    CHECK(state.fits().active(c) == 1);
    CHECK_FALSE(fits());
    const auto savepoint = state.savepoint();
    state.put(NodeHandle{1}, node_in(state, ears, 8, 8, 1), ears);
    CHECK(fits());
    const auto turn = [&](std::uint32_t h, allot::NodeState is) {
        state.edit(
            NodeHandle{h}, [&](Record& record) { record.node.state = is; }, ears);
    };
    turn(0, allot::NodeState::busy);
    turn(1, allot::NodeState::pending_leave);
    CHECK(fits());
    turn(0, allot::NodeState::paused);
    CHECK(state.fits().active(c) == 1);
    CHECK_FALSE(fits());
    turn(0, allot::NodeState::available);
    CHECK(fits());
    state.remove(NodeHandle{0}, ears);
    CHECK_FALSE(fits());
    state.put(NodeHandle{1}, node_in(state, ears, 8, 24, 1), ears);
    state.rollback(savepoint, ears);
    CHECK(state.fits().active(c) == 1);
    CHECK_FALSE(fits());
    state.put(NodeHandle{1}, node_in(state, ears, 8, 8, 1), ears);
    CHECK(fits());
}

TEST_CASE("what nobody refers to any more leaves the tables") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 1), ears);
    const auto old_class = state.nodes()[{0}].node.node_class;
    const auto model = state.intern(std::string{"sdxl"}, ears);
    state.hold({0}, {{model, allot::Holding::on_disk, 0}}, ears);
    CHECK(state.models().free_place(model, old_class) == 1);
    state.hold({0}, {}, ears);
    CHECK_FALSE(state.models().find("sdxl"));
    auto moved = node_in(state, ears, 7, 24, 1);
    state.put(NodeHandle{0}, Record{moved}, ears);
    CHECK_FALSE(state.fits().contains(old_class));
    CHECK(state.fits().contains(moved.node.node_class));
}

TEST_CASE("a rollback leads back through everything, newest first") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 5), ears);
    const auto saved = state;
    const auto savepoint = state.savepoint();

    state.note_configuration({std::variant<int>{42}});
    auto counters = state.counters();
    counters.now = TimePoint{5s};
    state.set(counters, ears);
    state.put(NodeHandle{1}, node_in(state, ears, 8, 24, 50), ears);
    const auto model = state.intern(std::string{"sdxl"}, ears);
    state.hold({1}, {{model, allot::Holding::in_use, 0}}, ears);
    auto task = allot::Task{};
    task.id = 1;
    task.state = allot::TaskState::queued;
    task.requirement = state.intern(allot::Requirement{{8}}, ears);
    task.due_at = TimePoint{9s};
    state.put(TaskHandle{0}, allot::Task{task}, ears);
    state.hold({0}, {}, ears);
    state.remove(NodeHandle{0}, ears);
    CHECK_FALSE(state == saved);
    REQUIRE(state.due_first() != nullptr);
    CHECK(state.due_first()->time == 9'000);

    ears.heard.clear();
    state.rollback(savepoint, ears);
    CHECK(state == saved);
    CHECK(state.savepoint() == savepoint);
    CHECK(state.present() == 1);
    CHECK(state.stake_root_max() == allot::StakeRoot::from(5));
    CHECK(state.due_first() == nullptr);
    CHECK(state.nodes().find(7) == NodeHandle{0});
    CHECK_FALSE(state.nodes().find(8));
    CHECK_FALSE(state.models().find("sdxl"));
    CHECK(ears.heard.front() == "node 0 -x");
    CHECK(ears.heard.back() == "configured 42");
}

TEST_CASE("a follower that throws is undone with the rest") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 5), ears);
    (void)state.forget_undo_log(ears);
    const auto saved = state;
    auto changed = node_in(state, ears, 7, 24, 6);
    ears.throws = true;
    CHECK_THROWS_AS(state.put(NodeHandle{0}, Record{changed}, ears), std::runtime_error);
    ears.throws = false;
    state.rollback(0, ears);
    CHECK(state == saved);
    CHECK(state.stake_root_max() == allot::StakeRoot::from(5));
    CHECK(ears.heard.back() == "node 0 xx");
}

TEST_CASE("wishes end by time, keep the names of their models, and come back with a rollback") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    const auto n = NodeHandle{0};
    state.put(n, node_in(state, ears, 7, 8, 5), ears);
    const auto wish = [&](const std::string& name, TimePoint until) {
        auto list = allot::HeldModels{{state.intern(name, ears), allot::Holding::wanted, 0}};
        list.set_until(0, until);
        return list;
    };
    state.wish(n, merged(wish("a", TimePoint{9s}), wish("b", TimePoint{4s})), ears);
    CHECK(ears.heard.back() == "models 00");  // the first wish: its bound may depend on that
    REQUIRE(state.due_first() != nullptr);
    CHECK(state.due_first()->time == 4'000);
    (void)state.forget_undo_log(ears);
    const auto saved = state;
    const auto a = *state.models().find("a");

    ears.heard.clear();
    state.wish(n, wish("a", TimePoint{9s}), ears);
    CHECK(ears.heard.empty());
    CHECK_FALSE(state.models().find("b"));
    CHECK(state.due_first()->time == 9'000);
    state.hold(n, {{a, allot::Holding::on_disk, 0}}, ears);
    state.wish(n, {}, ears);
    CHECK(state.due_first() == nullptr);
    CHECK(state.models().find("a") == a);
    CHECK_FALSE(state == saved);
    state.rollback(0, ears);
    CHECK(state == saved);
    CHECK(state.due_first()->time == 4'000);

    ears.throws = true;  // the last wish goes, and a follower fails
    CHECK_THROWS_AS(state.wish(n, {}, ears), std::runtime_error);
    ears.throws = false;
    state.rollback(0, ears);
    CHECK(state == saved);
    state.wish(n, {}, ears);
    CHECK_FALSE(state.models().find("a"));
    CHECK(state.models().names().size() == 0);
}

TEST_CASE("due work comes by time, then by id") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    const auto put = [&](std::uint32_t h, int id, TimePoint due) {
        auto task = allot::Task{};
        task.id = id;
        task.requirement = state.intern(allot::Requirement{{8}}, ears);
        task.due_at = due;
        state.put(TaskHandle{h}, allot::Task{task}, ears);
    };
    put(0, 9, TimePoint{5s});
    put(1, 3, TimePoint{5s});
    put(2, 1, TimePoint{6s});
    for (const auto handle : {1U, 0U, 2U}) {
        REQUIRE(state.due_first() != nullptr);
        CHECK(state.due_first()->handle == handle);
        state.remove(TaskHandle{handle}, ears);
    }
    CHECK(state.due_first() == nullptr);
}

TEST_CASE("a record edited where it lies moves its indices, and a rollback moves them back") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    state.put(NodeHandle{0}, node_in(state, ears, 7, 8, 100), ears);
    const auto before = state;
    const auto savepoint = state.savepoint();
    ears.heard.clear();
    state.edit(
        NodeHandle{0}, [](Record& record) { record.node.due_at = TimePoint{7s}; }, ears);
    CHECK(ears.heard == std::vector<std::string>{"node 0 xx"});
    CHECK(state.due_first()->time == 7'000);
    state.rollback(savepoint, ears);
    CHECK(state == before);
    CHECK(state.due_first() == nullptr);
}

TEST_CASE("an edit that throws after it changed a node is counted by no one") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    const auto n = NodeHandle{0};
    state.put(n, node_in(state, ears, 7, 8, 100), ears);
    (void)state.forget_undo_log(ears);
    const auto before = state;
    const auto node_class = state.nodes()[n].node.node_class;
    ears.heard.clear();
    for (const auto with_data : {false, true}) {
        CAPTURE(with_data);
        const auto fails = [](allot::Node& node) {
            node.state = allot::NodeState::paused;
            node.due_at = TimePoint{5s};
            throw std::runtime_error{"no"};
        };
        if (with_data) {
            const auto all = [&](Record& record) {
                record.qos = 9;
                fails(record.node);
            };
            CHECK_THROWS_AS(state.edit(n, all, ears), std::runtime_error);
        } else {
            CHECK_THROWS_AS(state.edit(n, fails, ears), std::runtime_error);
        }
        state.rollback(0, ears);
        CHECK(state == before);
        CHECK(state.fits().active(node_class) == 1);
        CHECK(state.due_first() == nullptr);
    }
}

TEST_CASE("edits of a node's standing and of its tracker's data are undone together, in any mix with whole records") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    const auto n = NodeHandle{0};
    state.put(n, node_in(state, ears, 7, 8, 100), ears);
    (void)state.forget_undo_log(ears);
    const auto before = state;
    const auto standing = [&](auto change) {
        state.edit(
            n, [&](allot::Node& node) { change(node); }, ears);
    };
    standing([](allot::Node& node) {
        node.state = allot::NodeState::busy;
        node.lease = allot::LeaseHandle{3};
    });
    state.edit(
        n,
        [](Record& record) {
            record.qos = 5;
            record.node.due_at = TimePoint{9s};
            record.node.excluded = true;
        },
        ears);
    const auto middle = state.savepoint();
    const auto edited = state;
    auto whole = state.nodes()[n];
    whole.qos = 6;
    whole.node.staked(7);
    state.put(n, Record{whole}, ears);
    standing([](allot::Node& node) { node.held = allot::TaskHandle{4}; });
    standing([](allot::Node& node) { node.state = allot::NodeState::paused; });
    CHECK(state.fits().active(whole.node.node_class) == 0);
    state.remove(n, ears);
    state.rollback(middle, ears);
    CHECK(state == edited);
    CHECK(state.due_first()->time == 9'000);
    state.rollback(0, ears);
    CHECK(state == before);
    CHECK(state.due_first() == nullptr);
    CHECK(state.fits().active(whole.node.node_class) == 1);

    const auto fails = [](Record& record) {
        record.qos = 8;
        record.node.due_at = TimePoint{4s};
        throw std::runtime_error{"a policy"};
    };
    CHECK_THROWS_AS(state.edit(n, fails, ears), std::runtime_error);
    state.rollback(0, ears);
    CHECK(state == before);
    CHECK(state.due_first() == nullptr);
}

TEST_CASE("nodes are in the order in which they make way, and a rollback restores it") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    const auto order = [&] {
        auto handles = std::vector<std::uint32_t>{};
        const auto next = [&](NodeHandle h) { return handles.push_back(h.value), false; };
        CHECK_FALSE(state.find_by_stake(next, 100));
        return handles;
    };
    for (auto h = 0U; h < 40; ++h) { state.put(NodeHandle{h}, node_in(state, ears, h + 1, 8, 100 - h), ears); }
    const auto before = state;
    const auto first = order();
    CHECK(first.front() == 39);
    CHECK(first.size() == 40);
    const auto savepoint = state.savepoint();
    auto rich = state.nodes()[NodeHandle{39}];
    rich.node.staked(1'000);
    state.put(NodeHandle{39}, std::move(rich), ears);
    auto gone = state.nodes()[NodeHandle{0}];
    gone.node.state = allot::NodeState::left;
    gone.node.stake = state.nodes()[NodeHandle{20}].node.stake;
    state.put(NodeHandle{0}, std::move(gone), ears);
    state.remove(NodeHandle{38}, ears);
    CHECK(state.stake_root_max() == allot::StakeRoot::from(1'000));
    const auto now = order();
    CHECK(now.size() == 39);
    CHECK(now.front() == 37);
    CHECK(now.back() == 39);
    CHECK(std::find(now.begin(), now.end(), 0U) + 1 == std::find(now.begin(), now.end(), 20U));
    state.rollback(savepoint, ears);
    CHECK(state == before);
    CHECK(order() == first);
    CHECK(state.stake_root_max() == before.stake_root_max());
}

namespace {

/// A new node of a class that all of them have, whose slot is its handle.
void join(State& state, Ears& ears, std::uint32_t n) {
    auto node = node_in(state, ears, 1 + n, 8, 5);
    node.node.slot = n;
    state.put(NodeHandle{n}, std::move(node), ears);
}

}  // namespace

TEST_CASE("followers hear how far a class and a model's holders reach, when both fell and no undo is possible") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    for (std::uint32_t n = 0; n < 1'000; ++n) {
        join(state, ears, n);
        state.hold(NodeHandle{n}, {{state.intern(std::string{"a"}, ears), allot::Holding::on_disk, n}}, ears);
    }
    (void)state.forget_undo_log(ears);
    CHECK(ears.classes_fell.empty());
    CHECK(ears.models_fell.empty());
    const auto leave = [&](std::uint32_t n) {
        state.hold(NodeHandle{n}, {}, ears);
        state.remove(NodeHandle{n}, ears);
    };
    for (std::uint32_t n = 999; n >= 200; --n) { leave(n); }
    CHECK(ears.classes_fell.empty());
    CHECK(ears.models_fell.empty());
    (void)state.forget_undo_log(ears);
    CHECK(ears.classes_fell == std::vector<std::uint32_t>{200});
    CHECK(ears.models_fell == std::vector<std::uint32_t>{200});
    for (std::uint32_t n = 0; n < 199; ++n) { leave(n); }  // the highest stays
    (void)state.forget_undo_log(ears);
    CHECK(ears.models_fell.size() == 1);
    const auto savepoint = state.savepoint();
    auto other = node_in(state, ears, 5'000, 8, 5);
    other.node.slot = 0;
    state.put(NodeHandle{0}, std::move(other), ears);
    leave(199);
    state.rollback(savepoint, ears);
    (void)state.forget_undo_log(ears);
    CHECK(ears.classes_fell.size() == 1);  // what was undone fell not
}

TEST_CASE("a table whose last record goes gives back its pages with several commands") {
    auto state = State{{1, 2}};
    auto ears = Ears{};
    for (std::uint32_t n = 0; n < 20'000; ++n) { join(state, ears, n); }
    for (std::uint32_t n = 0; n < 19'999; ++n) { state.remove(NodeHandle{n}, ears); }
    while (state.forget_undo_log(ears)) {}
    state.remove(NodeHandle{19'999}, ears);
    auto times = 0;
    while (state.forget_undo_log(ears)) { ++times; }
    CHECK(times == 5);  // 4,096 records at once
}
