#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <allot/queue/share_queue.hpp>
#include <allot/terms/priced.hpp>

#define ALLOT_MODEL allot::Priced<>
#include "conformance/terms.ipp"
#include "support/network.hpp"

// A task costs a least fee, and an owner that withdraws or poisons one does not get all of it back.

namespace priced_test {
namespace {

using namespace support;
using allot::Amount;
using allot::Ending;
using allot::FixedTerms;
using allot::Next;
using allot::Price;
using allot::Priced;
using allot::u128;

/// A dispatcher whose tasks start over elsewhere until three nodes failed them, with so many nodes.
auto network(int nodes, Price price = {}) {
    auto d = allot::Dispatcher{Priced{FixedTerms{{.after_timeout = Next::retry_elsewhere,
                                                  .after_failure = Next::retry_elsewhere,
                                                  .attempts_max = 10,
                                                  .strikes_max = 3}},
                                      price}};
    join_plain(d, nodes);
    return d;
}
/// A task of a minute, whose lease lasts two.
auto minute(allot::TaskId id, Amount fee) -> TaskSpec {
    return with(plain_task(id), [&](TaskSpec& t) {
        t.fee = fee;
        t.duration_estimate = 1min;
    });
}

}  // namespace

TEST_CASE("a cancelled task forfeits the part of its lease that has passed, and at least a twentieth of its fee") {
    const auto price = Price{};
    CHECK(price.cancelled(100, 0s, 120s, {}) == Amount{5});
    CHECK(price.cancelled(101, 0s, 120s, {}) == Amount{6});  // rounded up
    CHECK(price.cancelled(0, 0s, 120s, {}) == Amount{0});
    CHECK(price.cancelled(100, 1ms, 120s, {}) == Amount{5});
    CHECK(price.cancelled(120, 60s, 120s, {}) == Amount{60});
    CHECK(price.cancelled(120, 60'001ms, 120s, {}) == Amount{61});
    CHECK(price.cancelled(100, 120s, 120s, {}) == Amount{100});
    CHECK(price.cancelled(100, 1h, 120s, {}) == Amount{100});  // a renewed lease
    const auto largest = Amount{(u128{1} << 96) - u128{1}};
    const auto longest = Duration{std::int64_t{1} << 40};
    CHECK(price.cancelled(largest, longest, longest, {}) == largest);
    CHECK(price.cancelled(largest, longest / 2, longest, {}) == Amount{u128{1} << 95});
    CHECK(Price{{.withdrawn = 0}}.cancelled(100, 0s, 120s, {}) == Amount{0});
    CHECK(Price{{.withdrawn = 1}}.cancelled(100, 0s, 120s, {}) == Amount{100});
}

TEST_CASE("a cancelled task forfeits as large a part of its fee as is taken of the queue") {
    const auto price = Price{};
    CHECK(price.cancelled(100, 0s, 120s, {1, 2}) == Amount{50});
    CHECK(price.cancelled(100, 0s, 120s, {1, 3}) == Amount{34});  // rounded up
    CHECK(price.cancelled(100, 0s, 120s, {1, 30}) == Amount{5});  // a twentieth at least
    CHECK(price.cancelled(100, 0s, 120s, 1) == Amount{100});
    CHECK(price.cancelled(120, 60s, 120s, {1, 4}) == Amount{60});  // the time that it used is more
    CHECK(price.cancelled(120, 60s, 120s, {3, 4}) == Amount{90});
    const auto largest = Amount{(u128{1} << 96) - u128{1}};
    const auto most = std::uint32_t{0xFFFF'FFFF};
    CHECK(price.cancelled(largest, 0s, 120s, {most, most}) == largest);
    CHECK(Price{{.withdrawn_full = 0}}.cancelled(100, 0s, 120s, 1) == Amount{5});
    CHECK(Price{{.withdrawn_full = {1, 2}}}.cancelled(100, 0s, 120s, {1, 2}) == Amount{25});
}

TEST_CASE("a lease in vain costs a payment, and more in a fuller queue, but never more than the fee") {
    const auto price = Price{{.paid = {1, 15}, .vain_full = 5}};
    CHECK(price.paid(150) == Amount{10});
    CHECK(price.paid(151) == Amount{11});  // rounded up
    CHECK(price.paid(0) == Amount{0});
    CHECK(price.in_vain(150, 0) == Amount{10});
    CHECK(price.in_vain(150, {1, 2}) == Amount{30});
    CHECK(price.in_vain(150, {1, 20}) == Amount{14});  // a half, rounded up, four times
    CHECK(price.in_vain(150, 1) == Amount{50});
    CHECK(Price{}.paid(150) == Amount{150});
    CHECK(Price{}.in_vain(150, 1) == Amount{150});
    CHECK(Price{{.paid = {1, 3}, .vain_full = 5}}.in_vain(150, 1) == Amount{150});  // the fee is the most
    const auto largest = Amount{(u128{1} << 96) - u128{1}};
    const auto dearest = Price{{.vain_full = 65'536}};
    CHECK(dearest.in_vain(largest, 1) == largest);
    CHECK(dearest.in_vain(largest, {0xFFFF'FFFE, 0xFFFF'FFFF}) == largest);
}

TEST_CASE("who evicts others and withdraws at once pays half as much as they lose at least, however many it evicts") {
    for (const auto shared : {false, true}) {
        for (const auto attackers : {1, 10, 25, 49, 50}) {
            const auto terms = Priced{FixedTerms{}, Price{}};
            const auto run = [&](auto d) {
                join_plain(d, shared ? 2 : 1);  // without entropy they start nothing
                const auto room = shared ? 6 : 50;
                const auto evicting = std::min(attackers, room);
                for (auto id = 1; id <= room; ++id) { ok(d.submit(minute(id, 800), dark(0s))); }
                auto lost = std::uint64_t{0};
                for (auto id = 101; id <= 100 + evicting; ++id) {
                    lost += 800 * count<event::TaskEvicted>(d.submit(minute(id, 900), dark(1s)));
                }
                CHECK(lost == 800U * static_cast<unsigned>(evicting));
                auto outlay = Amount{};
                for (auto id = 101; id <= 100 + evicting; ++id) {
                    outlay = Amount{outlay.units +
                                    d.cancel(id, dark(2s)).template get<event::TaskCancelled>()->forfeited.units};
                }
                CAPTURE(shared, attackers, lost, outlay.units.low());
                CHECK(lost <= 2 * outlay.units.low());
            };
            if (shared) {
                run(allot::Dispatcher{allot::ShareQueue{}, terms});
            } else {
                run(allot::Dispatcher{terms});
            }
        }
    }
}

TEST_CASE("who cancels a running task forfeits the time it used, however full the queue is") {
    auto d = network(1);
    CHECK(d.submit(minute(1, 100), at(0s, 1)).lease() != nullptr);
    for (auto id = 2; id <= 51; ++id) { ok(d.submit(minute(id, 100), dark(0s))); }
    CHECK(d.view().crowding(*d.task(2)) == allot::Ratio{50, 50});
    CHECK(d.cancel(1, dark(30s)).get<event::TaskCancelled>()->forfeited == Amount{25});
    CHECK(d.cancel(2, dark(30s)).get<event::TaskCancelled>()->forfeited == Amount{100});
    CHECK(d.cancel(3, dark(30s)).get<event::TaskCancelled>()->forfeited == Amount{98});
}

TEST_CASE("the least fee is the price of the time that a task reserves, rounded up") {
    const auto price = Price{{.fee_per_second_min = 3}};
    CHECK(price.fee_min(120s) == Amount{360});
    CHECK(price.fee_min(1ms) == Amount{1});
    CHECK(price.fee_min(0ms) == Amount{0});
    CHECK(Price{}.fee_min(1h) == Amount{0});
    const auto dearest = Price{{.fee_per_second_min = 0xFFFF'FFFF'FFFF'FFFFU}};
    CHECK(dearest.fee_min(Duration{std::int64_t{1} << 46}) > Amount{u128{1} << 99});
}

TEST_CASE("prices without sense are not valid") {
    using Parameters = allot::PriceParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.fee_per_second_min = u128{1} << 64}.valid());
    CHECK_FALSE(Parameters{.withdrawn = {1, 0}}.valid());
    CHECK_FALSE(Parameters{.withdrawn = {3, 2}}.valid());
    CHECK_FALSE(Parameters{.withdrawn_full = {1, 0}}.valid());
    CHECK_FALSE(Parameters{.withdrawn_full = {3, 2}}.valid());
    CHECK_FALSE(Parameters{.poisoned_from = 1}.valid());  // one node may have lied
    CHECK_FALSE(Parameters{.paid = 0}.valid());
    CHECK_FALSE(Parameters{.paid = {1, 0}}.valid());
    CHECK_FALSE(Parameters{.paid = {3, 2}}.valid());
    CHECK_FALSE(Parameters{.vain_full = 0}.valid());
    CHECK(Parameters{.vain_full = 65'536}.valid());
    CHECK_FALSE(Parameters{.vain_full = 65'537}.valid());
    CHECK_THROWS_AS(Price{{.poisoned_from = 0}}, std::invalid_argument);
}

TEST_CASE("a task whose fee is too low for its lease is refused, and changes nothing") {
    auto d = network(2, Price{{.fee_per_second_min = 1}});
    const auto before = d;
    CHECK(d.submit(minute(1, 119), at(0s)).error() == Error::fee_too_low);
    CHECK(d == before);
    CHECK(d.submit(minute(1, 120), at(0s, 1)).lease() != nullptr);
    // The least lease is a minute, and a gang reserves one on each node.
    const auto gang = [&](Amount fee) {
        return with(minute(2, fee), [](TaskSpec& t) {
            t.duration_estimate = 1ms;
            t.gang_size = 2;
        });
    };
    CHECK(d.submit(gang(119), at(0s)).error() == Error::fee_too_low);
    CHECK(d.submit(gang(120), at(0s)).accepted());
    // The network pins its own tasks, and pays nobody for them.
    const auto pinned = [](TaskSpec& t) {
        t.node = allot::NodeId{1};
        t.owner.reset();
    };
    CHECK(d.submit(with(minute(3, 0), pinned), at(0s)).accepted());
}

TEST_CASE("who cancels a waiting task forfeits a twentieth, who cancels a running one the time it used") {
    auto d = network(1);
    CHECK(d.submit(minute(1, 100), at(0s, 1)).lease() != nullptr);
    CHECK(d.submit(minute(2, 100), at(0s, 2)).accepted());
    const auto waiting = *d.cancel(2, at(10s)).get<event::TaskCancelled>();
    CHECK(waiting.forfeited == Amount{5});
    CHECK(waiting.refunded == Amount{95});
    const auto running = *d.cancel(1, at(30s)).get<event::TaskCancelled>();
    CHECK(running.forfeited == Amount{25});
    CHECK(running.refunded == Amount{75});
    CHECK(running.paid == Amount{0});
    // A pinned task is the network's own.
    const auto pinned = [](TaskSpec& t) {
        t.node = allot::NodeId{1};
        t.owner.reset();
    };
    CHECK(d.submit(with(minute(3, 100), pinned), at(40s, 3)).lease() != nullptr);
    CHECK(d.cancel(3, at(70s)).get<event::TaskCancelled>()->forfeited == Amount{0});
}

TEST_CASE("a task that three nodes failed forfeits its fee, one that a node failed does not") {
    auto d = network(3);
    auto lease = *d.submit(minute(1, 100), at(0s, 1)).lease();
    for (auto failed = 1; failed <= 2; ++failed) {
        const auto events = d.fail(lease, allot::FailCause::execution_error, at(0s, static_cast<unsigned>(failed)));
        CHECK(events.get<event::TaskRetried>() != nullptr);
        lease = events.get<event::TaskStarted>()->lease;
    }
    SECTION("a failure") {
        const auto ended = *d.fail(lease, allot::FailCause::execution_error, at(0s)).get<event::TaskFailed>();
        CHECK(ended.forfeited == Amount{100});
        CHECK(ended.refunded == Amount{0});
    }
    SECTION("a lease that ran out") {
        const auto events = d.advance(at(2min));
        CHECK(events.get<event::TaskTimedOut>()->forfeited == Amount{100});
    }
    SECTION("a wrong result is its node's fault") {
        const auto ended = *d.fail(lease, allot::FailCause::incorrect_result, at(0s)).get<event::TaskFailed>();
        CHECK(ended.forfeited == Amount{0});
        CHECK(ended.refunded == Amount{100});
    }
    SECTION("a slash, too") {
        const auto ended = *d.slash(lease.node, at(0s)).get<event::TaskFailed>();
        CHECK(ended.forfeited == Amount{0});
        CHECK(ended.refunded == Amount{100});
    }
    auto once = allot::Dispatcher{Priced{FixedTerms{}}};
    join_plain(once, 1);
    const auto only = *once.submit(minute(1, 100), at(0s, 1)).lease();
    CHECK(once.fail(only, allot::FailCause::execution_error, at(0s)).get<event::TaskFailed>()->forfeited == Amount{0});
}

TEST_CASE("a task that is done pays a part of its fee, and the rest comes back") {
    auto d = network(1, Price{{.paid = {1, 15}}});
    const auto lease = *d.submit(minute(1, 150), at(0s, 1)).lease();
    const auto done = *d.complete(lease, at(1min)).get<event::TaskDone>();
    CHECK(done.paid == Amount{10});
    CHECK(done.refunded == Amount{140});
    CHECK(done.forfeited == Amount{0});
    // The network's own task costs what it says.
    const auto pinned = [](TaskSpec& t) {
        t.node = allot::NodeId{1};
        t.owner.reset();
    };
    const auto own = *d.submit(with(minute(2, 150), pinned), at(1min, 2)).lease();
    CHECK(d.complete(own, at(2min)).get<event::TaskDone>()->paid == Amount{150});
}

namespace {

/// What a task of a fee of 150 forfeits that so many nodes of four fail, and that ends so then; `waiting` tasks fill a
/// share of twelve.
enum class Way { cancelled_waiting, cancelled_running, cancelled_at_once, poisoned, late };
auto forfeit_of(int failures, Way way, int waiting, Price price) -> Amount {
    auto d = allot::Dispatcher{allot::ShareQueue{}, Priced{FixedTerms{{.after_timeout = Next::retry_elsewhere,
                                                                       .after_failure = Next::retry_elsewhere,
                                                                       .attempts_max = 10,
                                                                       .strikes_max = 3}},
                                                           price}};
    join_plain(d, 4);
    auto lease = *d.submit(minute(1, 150), at(0s, 1)).lease();
    for (auto failed = 1; failed <= failures; ++failed) {
        const auto last = failed == failures && way == Way::cancelled_waiting;
        const auto events = d.fail(lease, allot::FailCause::execution_error, last ? dark(0s) : at(0s, 1));
        CHECK(events.get<event::TaskRetried>() != nullptr);
        if (!last) { lease = events.get<event::TaskStarted>()->lease; }
    }
    for (auto id = 2; id <= 1 + waiting; ++id) { ok(d.submit(minute(id, 1), dark(0s))); }
    if (way == Way::poisoned) {
        return d.fail(lease, allot::FailCause::execution_error, dark(30s)).get<event::TaskFailed>()->forfeited;
    }
    if (way == Way::late) { return d.advance(dark(2min)).get<event::TaskTimedOut>()->forfeited; }
    CHECK((d.task(1)->state == allot::TaskState::running) == (way != Way::cancelled_waiting));
    const auto time = way == Way::cancelled_at_once ? 0s : 30s;
    return d.cancel(1, dark(time)).get<event::TaskCancelled>()->forfeited;
}

}  // namespace

TEST_CASE("each lease of a task that no node finishes is paid for, however the task ends") {
    const auto price = Price{{.paid = {1, 15}, .vain_full = 5}};
    SECTION("nothing waits") {
        CHECK(forfeit_of(2, Way::poisoned, 0, price) == Amount{30});
        CHECK(forfeit_of(0, Way::cancelled_running, 0, price) == Amount{3});  // a quarter of its lease, rounded up
        CHECK(forfeit_of(1, Way::cancelled_running, 0, price) == Amount{13});
        CHECK(forfeit_of(2, Way::cancelled_running, 0, price) == Amount{23});
        CHECK(forfeit_of(1, Way::cancelled_waiting, 0, price) == Amount{15});  // it takes a place of twelve itself
        CHECK(forfeit_of(2, Way::cancelled_waiting, 0, price) == Amount{29});
    }
    SECTION("a full queue") {
        CHECK(forfeit_of(2, Way::poisoned, 12, price) == Amount{150});
        CHECK(forfeit_of(2, Way::late, 12, price) == Amount{150});
        CHECK(forfeit_of(0, Way::cancelled_at_once, 12, price) == Amount{3});  // it runs, and its place is not counted
        CHECK(forfeit_of(0, Way::cancelled_running, 12, price) == Amount{13});
        CHECK(forfeit_of(1, Way::cancelled_running, 12, price) == Amount{63});
        CHECK(forfeit_of(2, Way::cancelled_waiting, 11, price) == Amount{110});  // and its place
    }
    SECTION("the whole fee is paid for success") {
        CHECK(forfeit_of(2, Way::poisoned, 0, {}) == Amount{150});
        CHECK(forfeit_of(0, Way::cancelled_running, 0, {}) == Amount{38});
        CHECK(forfeit_of(1, Way::cancelled_running, 0, {}) == Amount{150});
        CHECK(forfeit_of(1, Way::cancelled_waiting, 0, {}) == Amount{150});
    }
}

TEST_CASE("no terms pay or forfeit more than the fee") {
    struct Greedy : FixedTerms {
        using role = allot::role::terms;
        auto paid(const allot::Task&) const -> Amount { return 1'000; }
        auto forfeit(const allot::Task&, Ending, Duration, allot::Ratio) const -> Amount { return 1'000; }
    };
    auto d = allot::Dispatcher{Greedy{}};
    join_plain(d, 1);
    const auto lease = *d.submit(minute(1, 150), at(0s, 1)).lease();
    ok(d.submit(minute(2, 150), dark(0s)));
    CHECK(d.cancel(2, dark(0s)).get<event::TaskCancelled>()->forfeited == Amount{150});
    CHECK(d.complete(lease, dark(1s)).get<event::TaskDone>()->paid == Amount{150});
    auto task = allot::Task{};
    task.fee = 150;
    task.strikes = 2;
    task.duration_estimate = 1min;
    task.rest.made().avoided = {allot::NodeId{1}, allot::NodeId{2}};
    const auto terms = Priced{FixedTerms{}, Price{{.paid = {1, 2}, .vain_full = 6}}};
    for (const auto ending : {Ending::cancelled, Ending::failed, Ending::timed_out}) {
        CHECK(terms.forfeit(task, ending, 1s, 1) == Amount{150});
    }
}

TEST_CASE("a node that fails a task again and again forfeits nothing of another's fee") {
    auto d = allot::Dispatcher{Priced{FixedTerms{{.after_failure = Next::retry, .attempts_max = 4}}}};
    join_plain(d, 1);
    auto lease = *d.submit(minute(1, 100), at(0s, 1)).lease();
    for (auto failed = 1; failed <= 3; ++failed) {
        const auto events = d.fail(lease, allot::FailCause::execution_error, at(0s, 1));
        CHECK(events.get<event::TaskRetried>() != nullptr);
        lease = events.get<event::TaskStarted>()->lease;
    }
    auto twin = d;
    const auto cancelled = *twin.cancel(1, at(0s, 1)).get<event::TaskCancelled>();
    CHECK(cancelled.forfeited == Amount{5});  // its own lease, and none of those that the one node failed
    const auto ended = *d.fail(lease, allot::FailCause::execution_error, at(0s, 1)).get<event::TaskFailed>();
    CHECK(ended.forfeited == Amount{0});
    CHECK(ended.refunded == Amount{100});
}

TEST_CASE("eviction and patience forfeit nothing") {
    auto d = allot::Dispatcher{Priced{FixedTerms{}}, allot::ValueQueue{{.tasks_per_node = 2, .capacity_min = 1}}};
    join_plain(d, 1);
    CHECK(d.submit(minute(1, 100), at(0s, 1)).lease() != nullptr);
    auto evicted = 0;
    for (auto id = std::uint64_t{2}; id < 40; ++id) {
        for (const auto& gone : all<event::TaskEvicted>(d.submit(minute(id, 100), at(0s)))) {
            CHECK(gone.forfeited == Amount{0});
            CHECK(gone.refunded == Amount{100});
            ++evicted;
        }
    }
    CHECK(evicted > 0);
    auto late = 0;
    for (const auto& gone : all<event::TaskTimedOut>(d.advance(at(6h)))) {
        CHECK(gone.forfeited == Amount{0});
        ++late;
    }
    CHECK(late > 0);
}

}  // namespace priced_test
