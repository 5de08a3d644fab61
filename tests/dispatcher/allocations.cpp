// labels: slow
// What a dispatcher asks of the allocator: nothing, once it has grown. And what it gives back when a flood is gone.

#include "support/allocations.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/queue/flat_queue.hpp>
#include <allot/queue/share_queue.hpp>
#include <allot/weight/linear_weight.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace {

using namespace support;

/// Busy nodes whose tasks are completed and replaced, one pair of commands after the other. Ended tasks are forgotten
/// at once, or their records would go on growing; every requirement is in use all the time.
template <class Dispatcher>
class Pairs {
public:
    Pairs(Dispatcher dispatcher, std::uint32_t nodes, std::uint32_t tasks, bool alike = false)
        : dispatcher_{std::move(dispatcher)}, alike_{alike} {
        for (auto n = 1U; n <= nodes; ++n) {
            const auto node = with(plain_node(n), [&](auto& it) {
                it.vram = {8U << n % 4U};
                it.stake = 100 + n;
            });
            ok(dispatcher_.join(node, at(0s)));
        }
        for (auto t = 0U; t < tasks; ++t) { take(dispatcher_.submit(fresh(), at(0s))); }
    }

    auto calls_in(std::uint32_t pairs) -> std::uint64_t {
        auto calls = std::uint64_t{0};
        for (auto i = 0U; i < pairs; ++i) {
            time_ += 1ms;
            const auto pick = static_cast<std::size_t>(random_.below(leases_.size()));
            auto complete = typename Dispatcher::Command{command::Complete{leases_[pick]}};
            leases_[pick] = leases_.back();
            leases_.pop_back();
            auto submit = typename Dispatcher::Command{command::Submit{fresh()}};
            events_.clear();
            const auto before = support::calls;
            dispatcher_.apply(complete, at(time_), events_);
            dispatcher_.apply(submit, at(time_), events_);
            calls += support::calls - before;
            REQUIRE(events_.accepted());
            take(events_);
        }
        return calls;
    }

private:
    auto fresh() -> TaskSpec {
        auto task = plain_task(++task_);
        task.vram_min = {8U << (alike_ ? 0 : random_.below(2))};
        task.fee = 1 + random_.below(1'000'000);
        task.duration_estimate = 10h;
        if (!alike_ && random_.below(2) == 0) { task.gpus = {{"RTX 4090", {}}}; }
        return task;
    }
    void take(const Events& events) {
        events.each([&](const event::TaskStarted& started) { leases_.push_back(started.lease); });
    }

    Dispatcher dispatcher_;
    bool alike_;  // all tasks ask for the same
    std::vector<Lease> leases_;
    Events events_;
    Duration time_{0};
    std::uint32_t task_ = 0;
    allot::Random random_{2026, allot::Purpose::dispatch, allot::NodeId{1}.bytes(), 0};
};

template <class Queue>
auto dispatcher() {
    return allot::Dispatcher{allot::Rules{{.forget_tasks_after = Duration{0}}}, Queue{{.tasks_per_node = 2}},
                             allot::FixedTerms{{.patience = 1'000h}}};
}

}  // namespace

TEST_CASE("a million pairs of submit and complete call the allocator not once, while nodes are idle") {
    auto pairs = Pairs{dispatcher<allot::ValueQueue>(), 400, 200};
    (void)pairs.calls_in(500'000);
    CHECK(pairs.calls_in(1'000'000) == 0);
}

TEST_CASE("a million pairs of submit and complete call the allocator not once, while tasks wait") {
    auto pairs = Pairs{dispatcher<allot::ValueQueue>(), 400, 800};
    (void)pairs.calls_in(500'000);
    CHECK(pairs.calls_in(1'000'000) == 0);
}

// A group of a FlatQueue keeps the room it once needed, and the largest need of one group among several may be long in
// coming.
TEST_CASE("the same with flat heaps and one group of tasks") {
    auto pairs = Pairs{dispatcher<allot::FlatQueue>(), 400, 800, true};
    (void)pairs.calls_in(500'000);
    CHECK(pairs.calls_in(1'000'000) == 0);
}

namespace {

/// A network of 10,000 nodes, a quarter of them at work, and floods that are gone after an hour.
template <class Queue, class Weight>
class Flooded {
    static constexpr std::uint32_t honest = 10'000;

public:
    Flooded(const allot::RulesParameters& rules, const Queue& queue, Weight weight)
        : d_{allot::Rules{rules}, queue, std::move(weight), allot::FixedTerms{{.patience = 1'000h}}},
          gate_{rules.narrowing == allot::Narrowing::gate} {
        for (auto n = 1U; n <= honest; ++n) { join(n == honest ? "honest" : ""); }
        for (auto t = 0U; t < honest / 4; ++t) { submit(0); }
        submit(1);  // waits all the time
        before_ = support::live;
    }

    void join(const std::string& model, std::string gpu = "RTX 4090") {
        ok(d_.join(with(plain_node(++node_),
                        [&](NodeSpec& node) {
                            node.gpu = std::move(gpu);
                            if (!model.empty()) { node.models = {model}; }
                        }),
                   {TimePoint{time_}, {}}));
    }
    void submit(std::uint32_t software) {
        ok(d_.submit(with(plain_task(++task_),
                          [&](TaskSpec& task) {
                              task.duration_estimate = 100h;
                              if (software > 0) {
                                  task.models = {"made up " + std::to_string(task_)};
                                  if (!gate_) { task.software = allot::SoftwareVersion{9, software, 0}; }
                              }
                          }),
                     software > 0 ? allot::Moment{TimePoint{time_}, {}} : at(time_)));
    }
    /// The nodes that came first go, so that those that are left have the highest places.
    void half_leaves() {
        const auto half = (node_ - honest) / 2;
        for (auto n = honest + 1; n <= honest + half; ++n) { ok(d_.leave(allot::NodeId{n}, {TimePoint{time_}, {}})); }
        first_ = honest + half;
    }
    /// All nodes and tasks of the flood go. Returns the memory over that before it, in thousandths.
    auto lapsed() -> std::uint64_t {
        for (; node_ > first_; --node_) { ok(d_.leave(allot::NodeId{node_}, {TimePoint{time_}, {}})); }
        for (; task_ > honest / 4 + 1; --task_) { ok(d_.cancel(allot::TaskId{task_}, {TimePoint{time_}, {}})); }
        node_ = honest;
        time_ += 1h;
        settle(d_, {TimePoint{time_}, {}}, [](const Events&) {});
        for (auto i = 0; i < 1'000; ++i) {  // maps of names give room back with their next entries
            join("");
            submit(1);
            ok(d_.leave(allot::NodeId{node_--}, {TimePoint{time_}, {}}));
            ok(d_.cancel(allot::TaskId{task_--}, {TimePoint{time_}, {}}));
        }
        time_ += 1h;
        settle(d_, {TimePoint{time_}, {}}, [](const Events&) {});
        return support::live * 1'000 / before_;
    }

private:
    allot::Dispatcher<allot::Rules, Queue, Weight, allot::FixedTerms> d_;
    bool gate_;
    Duration time_{0};
    std::uint32_t node_ = 0;
    std::uint32_t first_ = honest;  // the flood's nodes up to this one have left
    std::uint32_t task_ = 0;
    std::uint64_t before_ = 0;
};

template <class Queue, class Weight>
void flood(const allot::RulesParameters& rules, const Queue& queue, Weight weight) {
    auto network = Flooded<Queue, Weight>{rules, queue, weight};
    if (support::live == 0) { return; }  // nothing counts bytes here
    const auto flood = GENERATE(0, 1, 2, 3, 4);
    CAPTURE(flood);
    const auto before = support::live;
    for (auto i = 1U; i <= 30'000; ++i) {
        if (flood == 0) { network.join("", "a card of the flood"); }
        if (flood == 1) { network.submit(1 + i % 100); }
        if (flood == 2) { network.join("made up " + std::to_string(i % 1'000), "a card of the flood"); }
        if (flood >= 3) { network.join("honest"); }
    }
    if (flood == 4) { network.half_leaves(); }
    if (flood < 4) { CHECK(support::live > before * 2); }
    CHECK(network.lapsed() < 1'050);
}

const auto queue = allot::ValueQueue{{.capacity_min = 100'000}};
constexpr auto forgetful = allot::RulesParameters{.forget_tasks_after = Duration{0}, .forget_nodes_after = 1min};

}  // namespace

TEST_CASE("memory that a flood took is given back when it is gone", "[A7]") {
    flood(forgetful, queue, allot::LinearWeight{});
}

TEST_CASE("the same with a gate, quotas, operators' stakes and shares of the queue", "[A7]") {
    auto rules = forgetful;
    rules.narrowing = allot::Narrowing::gate;
    rules.tasks_per_owner_max = 100'000;
    flood(rules, allot::ShareQueue<>{queue, allot::QueueShare{{.tasks_per_fitting_node = {100, 1}}}},
          allot::LinearWeight{{.operator_caps = 2}});
}

TEST_CASE("a queue that empties gives back memory, though no table of records does", "[A7]") {
    if (support::live == 0) { return; }  // nothing counts bytes here
    auto rules = forgetful;
    const auto gate = GENERATE(false, true);
    CAPTURE(gate);
    if (gate) { rules.narrowing = allot::Narrowing::gate; }
    auto d = allot::Dispatcher<allot::Rules, allot::ValueQueue, allot::FixedTerms>{
        allot::Rules{rules}, queue, allot::FixedTerms{{.patience = 1'000h}}};
    auto time = Duration{0};
    const auto now = [&] { return Moment{TimePoint{time += 1ms}, {}}; };
    const auto waits = [&](std::uint32_t t) {
        ok(d.submit(with(plain_task(t), [&](auto& task) { task.models = {"made up " + std::to_string(t)}; }), now()));
    };
    const auto cancelled = [&](std::uint32_t t) { ok(d.cancel(allot::TaskId{t}, now())); };
    if (gate) { ok(d.join(plain_node(1), now())); }
    const auto before = support::live;
    // The first tasks keep one piece in each block of the queue, as each waits again between others.
    constexpr auto first = 100U;
    constexpr auto all = 30'000U;
    for (auto t = 1U; t <= first; ++t) { waits(t); }
    for (auto t = first + 1; t <= all; ++t) {
        waits(t);
        if (t % (all / first) == 0) {
            const auto again = t / (all / first);
            cancelled(again);
            waits(again);
        }
    }
    const auto full = support::live;
    for (auto t = first + 1; t <= all; ++t) { cancelled(t); }
    for (auto t = first; t >= 1; --t) { cancelled(t); }
    for (auto i = 0; i < 200; ++i) {
        waits(1);
        cancelled(1);
    }
    CHECK(full > 4 * before);
    CHECK(support::live < before + 600'000);  // some pages stay; the queue's nodes were 1.7 MB
}

namespace {

/// A pool that notes what it is told of nodes, classes and holders that are gone, and of nodes that are about to come.
struct ListeningPool : allot::LinearPool {
    void trim(std::uint32_t nodes) noexcept { reach_of_nodes = nodes; }
    void trim(allot::ClassId, std::uint32_t reach) noexcept { reach_of_class = reach; }
    void trim(allot::ModelId, allot::ClassId, std::uint32_t reach) noexcept { reach_of_holders = reach; }
    void look_ahead(allot::ClassId node_class, std::uint32_t slot) const {
        ++asked_ahead;
        class_ahead = node_class;
        slot_ahead = slot;
    }
    static inline std::uint32_t asked_ahead = 0;
    static inline allot::ClassId class_ahead{};
    static inline std::uint32_t slot_ahead = 0;
    static inline std::uint32_t reach_of_nodes = 0;
    static inline std::uint32_t reach_of_class = 0;
    static inline std::uint32_t reach_of_holders = 0;
};

}  // namespace

TEST_CASE("a pool hears how far the nodes, a class and its holders reach", "[A7]") {
    auto d = allot::Dispatcher<allot::Rules, ListeningPool>{allot::Rules{forgetful}, ListeningPool{}};
    constexpr auto all = 10'000U;
    for (auto n = 1U; n <= all; ++n) {
        ok(d.join(with(plain_node(n), [](NodeSpec& node) { node.models = {"m"}; }), {TimePoint{0s}, {}}));
    }
    for (auto n = all; n > 1; --n) { ok(d.leave(allot::NodeId{n}, {TimePoint{0s}, {}})); }
    settle(d, {TimePoint{1h}, {}}, [](const Events&) {});
    CHECK(ListeningPool::reach_of_nodes > 0);
    CHECK(ListeningPool::reach_of_nodes < all / 10);
    CHECK(ListeningPool::reach_of_class > 0);
    CHECK(ListeningPool::reach_of_class < 100);
    CHECK(ListeningPool::reach_of_holders > 0);
    CHECK(ListeningPool::reach_of_holders < 100);
}

TEST_CASE("a node that gave up most of its models has no room for them any more") {
    if (support::live == 0) { return; }  // nothing counts bytes here
    auto d = allot::Dispatcher<>{};
    auto names = std::vector<std::string>{};
    for (auto i = 0; i < 200; ++i) { names.push_back("m" + std::to_string(i)); }
    for (const auto id : {1, 2}) {
        ok(d.join(with(plain_node(id), [&](auto& it) { it.models = names; }), at(0s)));
    }
    names.pop_back();
    const auto before = support::live;
    ok(d.report_model(1, command::Report::remove, names, at(1s)));
    CHECK(before - support::live > 190U * 8);
}

TEST_CASE("a pool is asked ahead for the place of a node that ends its task, unless another task waits") {
    auto d = allot::Dispatcher<allot::Rules, ListeningPool>{};
    join_plain(d, 3);
    const auto asked = ListeningPool::asked_ahead;
    const auto first = *d.submit(plain_task(1), at(1s)).or_throw().lease();
    CHECK(ListeningPool::asked_ahead == asked);
    ok(d.complete(first, at(2s)));
    CHECK(ListeningPool::asked_ahead == asked + 1);
    const auto& node = d.node(first.node)->node;
    CHECK(ListeningPool::class_ahead == node.node_class);
    CHECK(ListeningPool::slot_ahead == node.slot);

    const auto second = *d.submit(plain_task(2), at(3s)).or_throw().lease();
    for (auto t = 3; t <= 5; ++t) { ok(d.submit(plain_task(allot::TaskId{static_cast<std::uint64_t>(t)}), at(3s))); }
    REQUIRE(d.queued() == 1);
    ok(d.complete(second, at(4s)));  // and starts the next
    CHECK(ListeningPool::asked_ahead == asked + 1);
}
