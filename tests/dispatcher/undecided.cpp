#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/journal/receipt.hpp>

#include "support/catch.hpp"

// A draw that found no node within its tries (rule 12): four hundred nodes of one operator, and a validation group that
// has that operator already.

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
namespace event = allot::event;
using D = allot::Dispatcher<>;

auto when(allot::Duration time, std::uint64_t entropy = 2026) -> allot::Moment {
    return {allot::TimePoint{time}, allot::Entropy{entropy}};
}
auto node(std::uint64_t id, std::uint64_t of_operator) -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = "RTX 4090";
    spec.vram = 24_GiB;
    spec.stake = 400;
    spec.operator_id = allot::OperatorId{of_operator};
    return spec;
}
auto task(std::uint64_t id, std::optional<std::uint64_t> group = 1) -> allot::TaskSpec {
    auto spec = allot::TaskSpec{.id = id};
    spec.vram_min = 8_GiB;
    spec.fee = 100;
    spec.duration_estimate = 100s;
    if (group) { spec.group = allot::GroupId{*group}; }
    return spec;
}
/// The large operator, one of whose nodes runs the first task of the group.
auto crowded() -> D {
    auto d = D{};
    for (std::uint64_t i = 1; i <= 400; ++i) { REQUIRE(d.join(node(i, 1'000), when(0s)).accepted()); }
    REQUIRE(d.submit(task(1), when(0s)).lease() != nullptr);
    return d;
}

}  // namespace

TEST_CASE("a task whose draw stays undecided waits, and the next node that may run it takes it", "[A5]") {
    auto d = crowded();
    const auto events = d.submit(task(2), when(0s));
    CHECK(events.accepted());
    CHECK(events.get<event::TaskQueued>() != nullptr);
    CHECK(d.match(when(1s, 7)).get<event::Matched>()->started == 0);
    const auto joined = d.join(node(401, 2'000), when(2s));
    REQUIRE(joined.lease() != nullptr);
    CHECK(joined.lease()->node == allot::NodeId{401});
    CHECK(joined.lease()->task == allot::TaskId{2});
}

TEST_CASE("a task without that group is drawn beside them, and one node of another operator is found among them") {
    auto d = crowded();
    CHECK(d.submit(task(3, std::nullopt), when(0s)).lease() != nullptr);
    REQUIRE(d.join(node(401, 2'000), when(0s)).accepted());
    REQUIRE(d.update({.id = 401, .stake = 1'000'000}, when(0s)).accepted());
    const auto events = d.submit(task(2), when(0s));
    REQUIRE(events.lease() != nullptr);
    CHECK(events.lease()->node == allot::NodeId{401});
}

TEST_CASE("a trace, a receipt and the metrics tell of an undecided draw") {
    auto d = crowded();
    auto receipts = allot::Receipts<D>{0};
    auto events = allot::Events{};
    const auto submit = D::Command{allot::command::Submit{task(2)}};
    auto copy = d;
    copy.apply(submit, when(0s), events, receipts.trace());
    REQUIRE(receipts.all().size() == 1);
    CHECK(receipts.all()[0].node == allot::NodeId::null());
    CHECK(receipts.all()[0].rejections == allot::draw_tries_max);
    CHECK(receipts.all()[0].candidates == 0);

    auto metrics = allot::MetricsRecorder{};
    d.apply(submit, when(0s), events, metrics.trace<D>());
    CHECK(metrics.metrics(d).undecided == 1);
    CHECK(metrics.metrics(d).choices[static_cast<std::size_t>(allot::DecisionKind::draw)] == 0);
}

TEST_CASE("below rules version 2 the same draw is decided by a scan") {
    auto d = crowded();
    REQUIRE(d.join(node(401, 2'000), when(0s)).accepted());
    REQUIRE(d.configure(allot::RulesParameters{}, 1, when(0s)).accepted());
    auto receipts = allot::Receipts<D>{0};
    auto events = allot::Events{};
    d.apply(D::Command{allot::command::Submit{task(2)}}, when(0s), events, receipts.trace());
    REQUIRE(receipts.all().size() == 1);
    CHECK(receipts.all()[0].node == allot::NodeId{401});
    CHECK(receipts.all()[0].scanned);
    CHECK(receipts.all()[0].rules_version == 1);
}

TEST_CASE("a gang whose draws stay undecided waits, and starts nobody alone") {
    auto d = crowded();
    auto gang = task(2);
    gang.gang_size = 2;
    gang.fee = 1'000;
    CHECK(d.submit(gang, when(0s)).get<event::TaskQueued>() != nullptr);
    // A node of another operator could be one of the two; the crowd gives no second.
    const auto joined = d.join(node(401, 2'000), when(1s));
    CHECK(joined.lease() == nullptr);
    const auto both = d.join(node(402, 3'000), when(2s));
    CHECK(d.match(when(3s)).get<event::Matched>()->started <= 1);
    for (std::uint64_t i = 0; i < 50; ++i) {
        auto copy = d;
        auto other = gang;
        other.id = allot::TaskId{100 + i};
        const auto started = copy.submit(other, when(4s, i));
        auto leases = 0;
        started.each([&](const event::TaskStarted&) { ++leases; }, [](const auto&) {});
        CHECK((leases == 0 || leases == 2));
    }
}

TEST_CASE("a node that declines a group's task is no member of the group", "[A5]") {
    auto d = crowded();
    auto lease = *d.lease(1, 0);
    REQUIRE(d.join(node(401, 2'000), when(0s)).accepted());
    const auto again = d.decline(lease, when(1s));
    REQUIRE(again.lease() != nullptr);
    CHECK(again.lease()->node != lease.node);
    const auto group = d.state().groups().find(allot::GroupId{1});
    REQUIRE(group.has_value());
    REQUIRE(d.state().groups()[*group].members.size() == 1);
    CHECK(d.state().groups()[*group].members[0].node == again.lease()->node);
}
