#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/qos/resting.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// A policy that throws leaves the state as it was, wherever it throws (issue: rollback).

namespace {

struct Thrown : std::runtime_error {
    Thrown() : std::runtime_error{"a policy threw"} {}
};

/// Counts the calls of all policies and throws at one of them.
struct Fuse {
    long calls = 0;
    long throws_at = -1;
    std::set<std::string> threw{};  // functions that a policy need not have

    void call(const char* name) {
        if (++calls != throws_at) { return; }
        if (name != nullptr) { threw.insert(name); }
        throw Thrown{};
    }
};

/// A fuse that a policy and its copies share; every one is equal to any other.
class Wire {
public:
    Wire() = default;
    explicit Wire(Fuse& fuse) : fuse_{&fuse} {}
    void call(const char* name = nullptr) const {
        if (fuse_ != nullptr) { fuse_->call(name); }
    }

private:
    Fuse* fuse_ = nullptr;
};

struct Weighs {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    Wire wire{};
    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const -> allot::Weight {
        wire.call();
        return allot::HarmonicWeight{}.weight(node, task, f);
    }
};

struct Admits {
    using role = allot::role::eligibility;
    Wire wire{};
    auto fits(const allot::NodeClass& c, const allot::Requirement& r) const -> allot::Reason {
        wire.call();
        return allot::HardwareFit{}.fits(c, r);
    }
    auto admits(const allot::Node& n, const allot::Task& t, const allot::Situation& s) const -> allot::Reason {
        wire.call();
        return allot::HardwareFit{}.admits(n, t, s);
    }
    auto fee_max() const -> allot::Amount {
        wire.call("fee_max");
        return 1'000'000;
    }
    auto stake_min(allot::Amount) const -> allot::Amount {
        wire.call("stake_min");
        return {};
    }
};

using Tracker = allot::Resting<allot::RollingQos>;
struct Tracks : Tracker {
    Wire wire{};
    explicit Tracks(Wire w = {}) : wire{w} {}
    void joined(node_data& data, TimePoint time) const {
        wire.call();
        Tracker::joined(data, time);
        wire.call();
    }
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> allot::Standing {
        wire.call();
        const auto standing = Tracker::record(data, outcome, time);
        wire.call();
        return standing;
    }
    auto score(const node_data& data, TimePoint time) const -> allot::Score {
        wire.call();
        return Tracker::score(data, time);
    }
    auto score_max(const node_data& data) const -> allot::Score {
        wire.call();
        return Tracker::score_max(data);
    }
    auto back_at(const node_data& data) const -> std::optional<TimePoint> {
        wire.call();
        return Tracker::back_at(data);
    }
    auto rest(node_data& data, std::optional<Duration> declined, TimePoint time) const -> bool {
        wire.call();
        const auto rests = Tracker::rest(data, declined, time);
        wire.call();
        return rests;
    }
    auto unbond(node_data& data, allot::Amount amount, TimePoint time) const -> bool {
        wire.call();
        const auto unbonds = Tracker::unbond(data, amount, time);
        wire.call();
        return unbonds;
    }
    auto unbonding(const node_data& data) const -> allot::Unbonding {
        wire.call();
        return Tracker::unbonding(data);
    }
    void forfeited(node_data& data) const {
        wire.call();
        Tracker::forfeited(data);
        wire.call();
    }
};

struct Values {
    using role = allot::role::valuation;
    Wire wire{};
    auto value(const allot::Task& task, const allot::Requirement& requirement) const -> allot::Value {
        wire.call();
        return allot::FeePerSecond{}.value(task, requirement);
    }
};

struct Places : allot::ThresholdPlacement {
    Wire wire{};
    explicit Places(Wire w = {}) : wire{w} {}
    auto wanted(const allot::ModelDemand& demand) const -> allot::Wanted {
        wire.call();
        return ThresholdPlacement::wanted(demand);
    }
    auto asked_for() const -> Duration {
        wire.call();
        return ThresholdPlacement::asked_for();
    }
    auto held_for() const -> Duration {
        wire.call("held_for");
        return 10min;
    }
};

struct Lasts : allot::FixedTerms {
    Wire wire{};
    explicit Lasts(Wire w = {}) : FixedTerms{{.after_timeout = allot::Next::retry_elsewhere}}, wire{w} {}
    auto length(const allot::Node& node, const allot::Task& task) const -> Duration {
        wire.call();
        return FixedTerms::length(node, task);
    }
    auto length_max(const allot::Node& node, const allot::Task& task) const -> Duration {
        wire.call();
        return FixedTerms::length_max(node, task);
    }
    auto patience(const allot::Task& task) const -> Duration {
        wire.call();
        return FixedTerms::patience(task);
    }
    auto after(const allot::Task& task, allot::OutcomeKind outcome) const -> allot::Next {
        wire.call();
        return FixedTerms::after(task, outcome);
    }
    auto blames(const allot::Task& task, allot::OutcomeKind) const -> bool {
        wire.call("blames");
        return task.attempt != 2;
    }
    auto fee_min(Duration) const -> allot::Amount {
        wire.call("fee_min");
        return 3;
    }
    auto forfeit(const allot::Task& task, allot::Ending, Duration, allot::Ratio) const -> allot::Amount {
        wire.call("forfeit");
        return task.fee.units / std::uint64_t{4};
    }
    auto paid(const allot::Task& task) const -> allot::Amount {
        wire.call("paid");
        return task.fee.units / std::uint64_t{2};
    }
    auto waits_for_evidence(allot::OutcomeKind outcome) const -> bool {
        wire.call("waits_for_evidence");
        return outcome == allot::OutcomeKind::timeout;
    }
};

/// Throws before a change and after it: half done is the harder case.
template <class Pool>
struct Pools : Pool {
    Wire wire{};
    explicit Pools(Wire w = {}) : wire{w} {}
    void changed(const allot::NodePlace& before, const allot::NodePlace& after) {
        wire.call();
        Pool::changed(before, after);
        wire.call();
    }
    template <class Weigh>
    auto draw(const allot::SamplingFrame& frame, Weigh&& weigh, allot::Random& random) const
        -> std::optional<allot::Draw> {
        wire.call();
        return Pool::draw(frame, weigh, random);
    }
    auto count(const allot::SamplingFrame& frame) const -> std::uint32_t {
        wire.call();
        return Pool::count(frame);
    }
};

struct Queues : allot::ValueQueue {
    Wire wire{};
    explicit Queues(Wire w = {}) : ValueQueue{{.tasks_per_node = 1, .capacity_min = 4}}, wire{w} {}
    void push(const allot::QueueEntry& entry) {
        wire.call();
        ValueQueue::push(entry);
        wire.call();
    }
    void erase(const allot::QueueEntry& entry) {
        wire.call();
        ValueQueue::erase(entry);
        wire.call();
    }
    template <class Fits>
    auto best(std::span<const allot::RequirementId> groups, Fits&& fits) const -> std::optional<allot::TaskHandle> {
        wire.call();
        return ValueQueue::best(groups, fits);
    }
    auto worst() const -> std::optional<allot::TaskHandle> {
        wire.call();
        return ValueQueue::worst();
    }
    auto worst_of(allot::RequirementId group) const -> std::optional<allot::TaskHandle> {
        wire.call();
        return ValueQueue::worst_of(group);
    }
};

template <class Pool>
auto fused(Fuse& fuse) {
    const auto wire = Wire{fuse};
    return allot::Dispatcher{Weighs{wire}, Admits{wire}, Tracks{wire},      Values{wire},
                             Places{wire}, Lasts{wire},  Pools<Pool>{wire}, Queues{wire}};
}

/// Runs random commands; each is first made to throw at its first call, its second, and so on until it comes to its
/// end.
template <class Pool>
void torment(int commands) {
    auto fuse = Fuse{};
    auto d = fused<Pool>(fuse);
    auto reference = d;  // never throws
    auto chaos = Chaos<decltype(d)>{seed(), true};
    auto thrown = 0;
    for (auto i = 0; i < commands; ++i) {
        const auto moment = chaos.moment(d);
        auto command = chaos.command(d);
        if (chaos.below(40) == 0) {
            auto rules = d.rules().parameters();
            rules.narrowing = static_cast<allot::Narrowing>(chaos.below(3));
            command = command::Configure<typename decltype(d)::Configuration>{rules, 2};
        }
        fuse.throws_at = -1;
        const auto expected = reference.apply(command, moment);
        auto events = Events{};
        events.push(event::Advanced{});  // the caller's own
        for (auto n = 1;; ++n) {
            const auto before = d;
            fuse.calls = 0;
            fuse.throws_at = n;
            try {
                d.apply(command, moment, events);
                break;
            } catch (const Thrown&) {
                ++thrown;
                fuse.throws_at = -1;
                CAPTURE(i, n, command.index());
                REQUIRE(d == before);
                REQUIRE(d.queued() == before.queued());
                REQUIRE(events.size() == 1);
            }
        }
        fuse.throws_at = -1;
        CAPTURE(i, command.index());
        REQUIRE(d == reference);
        REQUIRE(events.size() == expected.size() + 1);
        REQUIRE(d.digest() == reference.digest());
        REQUIRE(d.queued() == reference.queued());
        REQUIRE(d.next_deadline() == reference.next_deadline());
    }
    CHECK(thrown > commands);
    CHECK(fuse.threw == std::set<std::string>{"blames", "fee_max", "fee_min", "forfeit", "held_for", "paid",
                                              "stake_min", "waits_for_evidence"});
}

}  // namespace

TEST_CASE("whichever call of a policy throws, the state is what it was, and the command can be tried again") {
    torment<allot::GpuGroupPool>(500);
}

TEST_CASE("the same with the linear pool") { torment<allot::LinearPool>(150); }

namespace {

/// Throws whenever it is asked about a certain node, or task: not once, but each time.
struct Allergic {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const -> allot::Weight {
        if (node.stake == allot::Amount{13}) { throw Thrown{}; }
        return allot::HarmonicWeight{}.weight(node, task, f);
    }
};

}  // namespace

TEST_CASE("a policy that throws each time it meets a record does not stand in the way of the rollback") {
    auto d = allot::Dispatcher{Allergic{}};
    join_plain(d, 2);
    const auto before = d;
    CHECK_THROWS_AS(d.join(with(plain_node(3), [](auto& n) { n.stake = 13; }), at(0s)), Thrown);
    CHECK(d == before);
    CHECK_THROWS_AS(d.update({.id = 1, .stake = 13}, at(0s)), Thrown);
    CHECK(d == before);
    CHECK(where(d.submit(plain_task(1), at(0s))) != "");
}
