#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/store/digest.hpp>

#include "support/catch.hpp"

namespace {

template <class... Ts>
auto digest(const Ts&... values) -> std::uint64_t {
    auto digest = allot::Digest{};
    digest.all(values...);
    return digest.finish();
}

struct Remembered {
    int value = 0;
};
ALLOT_FIELDS(Remembered, value)

}  // namespace

TEST_CASE("equal values have equal digests, and where one ends counts") {
    CHECK(digest(std::string{"ab"}, std::string{"c"}) == digest(std::string{"ab"}, std::string{"c"}));
    CHECK(digest(std::string{"ab"}, std::string{"c"}) != digest(std::string{"a"}, std::string{"bc"}));
    using List = std::vector<std::uint32_t>;
    CHECK(digest(List{1}, List{2, 3}) != digest(List{1, 2}, List{3}));
    CHECK(digest(std::optional<int>{}, 0) != digest(std::optional{0}));
    CHECK(digest(1, 2) != digest(2, 1));
    CHECK(digest() != digest(0));
}

TEST_CASE("each field of a node and of a task counts") {
    const auto node = allot::laws::Sampler{1}.node();
    const auto without = digest(node);
    const auto differs = [&](auto change) {
        auto other = node;
        change(other);
        return digest(other) != without;
    };
    CHECK(differs([](auto& n) { n.id = 12'345; }));
    CHECK(differs([](auto& n) { n.belongs_to(12'345, n.labels()); }));
    CHECK(differs([](auto& n) { n.staked(12'345); }));
    CHECK(differs([](auto& n) { n.state = allot::NodeState::busy; }));
    CHECK(differs([](auto& n) { n.excluded = true; }));
    CHECK(differs([](auto& n) { n.kicked_out = true; }));
    CHECK(differs([](auto& n) { n.node_class = {99}; }));
    CHECK(differs([](auto& n) { n.slot = 99'999; }));
    CHECK(differs([](auto& n) { n.lease = {1}; }));
    CHECK(differs([](auto& n) { n.due_at = allot::TimePoint{}; }));
    CHECK(differs([](auto& n) { n.rest.made().labels.push_back("new"); }));
    CHECK(differs([](auto& n) { n.held = {1}; }));

    const auto task = allot::laws::Sampler{1}.task();
    const auto task_without = digest(task);
    const auto task_differs = [&](auto change) {
        auto other = task;
        change(other);
        return digest(other) != task_without;
    };
    CHECK(task_differs([](auto& t) { t.id = 12'345; }));
    CHECK(task_differs([](auto& t) { t.rest.made().owner = 12'345; }));
    CHECK(task_differs([](auto& t) { t.fee = 12'345; }));
    CHECK(task_differs([](auto& t) { t.duration_estimate = t.duration_estimate + allot::Duration{1}; }));
    CHECK(task_differs([](auto& t) { t.value = allot::Value{t.value.num() + allot::u128{1}, t.value.den()}; }));
    CHECK(task_differs([](auto& t) { t.value = allot::Value{t.value.num(), t.value.den() + 1U}; }));
    CHECK(task_differs([](auto& t) { t.sequence = 99'999; }));
    CHECK(task_differs([](auto& t) { t.attempt = 99; }));
    CHECK(task_differs([](auto& t) { t.state = allot::TaskState::running; }));
    CHECK(task_differs([](auto& t) { t.requirement = {99}; }));
    CHECK(task_differs([](auto& t) { t.lease = {1}; }));
    CHECK(task_differs([](auto& t) { t.group = {1}; }));
    CHECK(task_differs([](auto& t) { t.submitted_at += allot::Duration{1}; }));
    CHECK(task_differs([](auto& t) { t.due_at += allot::Duration{1}; }));
    CHECK(task_differs([](auto& t) { t.rest.made().models.push_back({99}); }));
    CHECK(task_differs([](auto& t) { t.rest.made().avoided.push_back(99); }));
    CHECK(task_differs([](auto& t) { t.rest.made().labels.push_back("new"); }));
    CHECK(task_differs([](auto& t) { ++t.strikes; }));
    CHECK(task_differs([](auto& t) { t.pinned_to = {1}; }));
    CHECK_FALSE(task_differs([](auto& t) { t.rest.made(); }));
}

TEST_CASE("what a tracker remembers counts when it says how") {
    CHECK(digest(allot::NodeRecord<Remembered>{{}, {1}}) != digest(allot::NodeRecord<Remembered>{{}, {2}}));
    CHECK(digest(allot::NodeRecord<Remembered>{{}, {1}}) == digest(allot::NodeRecord<Remembered>{{}, {1}}));
}

TEST_CASE("the key of the hashes is no part of a network's digest") {
    using State = allot::Records<Remembered, std::variant<int>>;
    CHECK(allot::digest_of(State{{1, 2}}) == allot::digest_of(State{{3, 4}}));
}
