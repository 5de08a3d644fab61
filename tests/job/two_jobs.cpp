// labels: jobs
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// Two jobs side by side, in virtual time and a network without faults: a job that takes long, or that nobody finishes,
// must not keep the workers from the other. A message takes 20 ms, and 1 ms from or to a liar.

namespace job_test::two_jobs {
using allot::JobProcessor;
namespace message = allot::job_message;
namespace event = allot::job_event;

namespace {

/// How a node works.
enum class Habit : std::uint8_t {
    honest,   ///< Finishes a block in each block time, and renews with what it finished.
    repeats,  ///< Renews with the first block for ever, and never has a result.
    invents,  ///< Renews with one more block each time, and never has a result.
    returns,  ///< Gives its MicroJob back after half of the lock, and wants another.
    keeps,    ///< Works like an honest one, but never passes a queue on.
};

struct Lease {
    allot::JobId job;
    MicroKey key;
    std::uint32_t node = 0;
    TimePoint time{};
};

class Network {
public:
    /// The plan of a job and the time of a block.
    struct Work {
        allot::JobPlan plan;
        allot::Duration block_time{};
    };

    explicit Network(std::vector<Habit> habits, const allot::JobParameters& parameters = {}) {
        for (std::uint32_t i = 0; i < habits.size(); ++i) {
            nodes_.push_back({JobProcessor{node(i), parameters, allot::Intent{}, at(0s)}, {}, habits[i]});
        }
        for (std::uint32_t i = 0; i < habits.size(); ++i) { follow(i, nodes_[i].processor.start(now_)); }
    }

    /// Node `i` posts a job now.
    void post(std::uint32_t i, const Work& work) {
        works_.emplace(work.plan.job(), work);
        follow(i, nodes_[i].processor.post(work.plan, now_));
    }
    /// Goes on to a time; or until `done()`, and returns true then.
    auto run(
        TimePoint until, const std::function<bool()>& done = [] { return false; }) -> bool {
        while (!done()) {
            if (events_.empty() || events_.begin()->first.first > until) {
                now_ = until;
                return false;
            }
            const auto next = events_.begin();
            now_ = next->first.first;
            const auto action = std::move(next->second);
            events_.erase(next);
            action();
        }
        return true;
    }
    [[nodiscard]] auto now() const -> TimePoint { return now_; }
    [[nodiscard]] auto node_at(std::uint32_t i) -> JobProcessor& { return nodes_[i].processor; }
    /// All leases so far, in order.
    [[nodiscard]] auto leases() const -> const std::vector<Lease>& { return leases_; }
    /// The first lease of a job; fails if there is none.
    [[nodiscard]] auto first(const allot::JobId& job) const -> TimePoint {
        for (const auto& lease : leases_) {
            if (lease.job == job) { return lease.time; }
        }
        FAIL("the job never started");
        return {};
    }
    [[nodiscard]] auto completed(const allot::JobId& job) const -> std::size_t {
        const auto at = completed_.find(job);
        return at == completed_.end() ? 0 : at->second.size();
    }
    [[nodiscard]] auto dead() const -> std::size_t { return dead_; }

private:
    struct Node {
        JobProcessor processor;
        std::set<std::string> channels{};
        Habit habit = Habit::honest;
        std::uint64_t wake = 0;
    };

    void later(TimePoint time, std::function<void()> action) {
        events_.emplace(std::pair{std::max(time, now_), order_++}, std::move(action));
    }

    void follow(std::uint32_t i, const JobEffects& effects) {
        auto& self = nodes_[i];
        for (const auto& channel : effects.joined) { self.channels.insert(channel); }
        for (const auto& send : effects.sends) {
            for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
                if (to == i) { continue; }
                later(now_ + (is_honest(i) && is_honest(to) ? 20ms : 1ms), [this, i, to, send] {
                    if (!nodes_[to].channels.contains(send.channel)) { return; }
                    if (nodes_[to].habit == Habit::keeps &&
                        std::holds_alternative<message::OwnershipRequest>(send.message)) {
                        return;
                    }
                    follow(to, nodes_[to].processor.on_message(node(i).node, send.message, now_));
                });
            }
        }
        for (const auto& said : effects.events) {
            if (const auto* leased = std::get_if<event::MicroLeased>(&said)) { begin(i, *leased); }
            if (const auto* done = std::get_if<event::MicroCompleted>(&said)) {
                completed_[done->job].insert(done->key);
            }
            if (std::holds_alternative<event::MicroDead>(said)) { ++dead_; }
            if (const auto* release = std::get_if<event::EscrowReleaseRequested>(&said)) {
                later(now_ + 1s, [this, i, job = release->as.job] {
                    follow(i, nodes_[i].processor.on_settlement({job, true, {}, {}}, now_));
                });
            }
        }
        later(self.processor.next_deadline(), [this, i, wake = ++self.wake] {
            if (wake == nodes_[i].wake) { follow(i, nodes_[i].processor.tick(now_)); }
        });
    }

    [[nodiscard]] auto is_honest(std::uint32_t i) const -> bool {
        return nodes_[i].habit == Habit::honest || nodes_[i].habit == Habit::keeps;
    }
    void begin(std::uint32_t i, const event::MicroLeased& leased) {
        leases_.push_back({leased.job, leased.key, i, now_});
        const auto& work = works_.at(leased.job);
        const auto step = is_honest(i) ? work.block_time : allot::QueueParameters{}.lock / 2;
        later(now_ + step, [this, i, leased, step] { go_on(i, leased, step, 1); });
    }
    /// The node has finished so many blocks.
    void go_on(std::uint32_t i, const event::MicroLeased& leased, allot::Duration step, std::uint32_t blocks) {
        auto& self = nodes_[i];
        const auto work = self.processor.work();
        if (!work || work->job != leased.job || work->key != leased.key || work->token != leased.token) { return; }
        const auto of = works_.at(leased.job).plan.slicing().blocks_per_micro;
        if (is_honest(i) && blocks == of) {
            auto hashes = std::vector<allot::Hash256>{};
            for (std::uint32_t k = 0; k < of; ++k) { hashes.push_back(hash_of(k)); }
            return follow(i, self.processor.complete(*work, hashes, "out", now_));
        }
        if (self.habit == Habit::returns) { return follow(i, self.processor.fail(*work, now_)); }
        if (!is_honest(i) || now_ >= work->renew_at) {
            const auto count = self.habit == Habit::repeats ? 1 : blocks;
            follow(i, self.processor.renew(*work, count, hash_of(count - 1), now_));
        }
        later(now_ + step, [this, i, leased, step, blocks] { go_on(i, leased, step, blocks + 1); });
    }

    TimePoint now_{};
    std::uint64_t order_ = 0;
    std::map<std::pair<TimePoint, std::uint64_t>, std::function<void()>> events_;
    std::vector<Node> nodes_;
    std::map<allot::JobId, Work> works_;
    std::vector<Lease> leases_;
    std::map<allot::JobId, std::set<MicroKey>> completed_;
    std::size_t dead_ = 0;
};

auto work_of(const char* name, const allot::Slicing& slicing, allot::Duration block_time) -> Network::Work {
    auto spec = spec_of(slicing);
    spec.job = allot::JobId{name};
    return {*allot::JobPlan::slice(spec), block_time};
}

/// K2: two parts of 300 s, and five of 2 s.
const auto parts_of_300s = work_of("first", {1, 2, 0, 60, 0}, 5s);
const auto parts_of_2s = work_of("second", {1, 5, 0, 1, 0}, 2s);
constexpr auto p = allot::JobParameters{};
constexpr auto intent_window = 1'000ms;
constexpr auto six = 6;

}  // namespace

TEST_CASE("a job whose parts take long keeps no worker from another job", "[K2]") {
    for (const auto posted : {0s, 1s, 3s, 20s, 100s}) {
        auto net = Network{std::vector(six, Habit::honest)};
        net.post(0, parts_of_300s);
        net.run(at(posted));
        net.post(0, parts_of_2s);
        net.run(at(1'000s));
        CHECK(net.first(parts_of_2s.plan.job()) - at(posted) < p.ask_retry);
        CHECK(net.completed(parts_of_2s.plan.job()) == 5);
        CHECK(net.completed(parts_of_300s.plan.job()) == 2);
        CHECK(net.leases().size() == 7);  // no part ran twice
    }
}

TEST_CASE("a worker with nothing to do goes to another MacroJob at once, then to another job at once", "[K2]") {
    // The first node alone starts a job of three MacroJobs with one part each; all others find their way.
    const auto three = work_of("three", {3, 1, 0, 20, 0}, 5s);
    auto net = Network{std::vector(six, Habit::honest)};
    net.post(0, three);
    net.run(at(20s));
    auto macros = std::set<std::uint32_t>{};
    for (const auto& lease : net.leases()) {
        macros.insert(lease.key.macro);
        CHECK(lease.time - net.first(three.plan.job()) <= 2 * (p.answer_wait + intent_window) + 100ms);
    }
    CHECK(macros.size() == 3);
    net.post(0, parts_of_2s);
    net.run(at(50s));
    CHECK(net.first(parts_of_2s.plan.job()) - at(20s) <= p.answer_wait + intent_window + 100ms);
    // Whoever has ended its part hears within a message's time that no other is open, and goes on.
    net.run(at(110s));
    const auto late = work_of("late", {1, 5, 0, 1, 0}, 2s);
    net.post(0, late);
    net.run(at(140s));
    CHECK(net.first(late.plan.job()) - at(110s) <= p.answer_wait + intent_window + 100ms);
}

TEST_CASE("an owner that keeps the queue to itself keeps no worker from another job", "[K2]") {
    auto habits = std::vector(six, Habit::honest);
    habits[0] = Habit::keeps;
    auto net = Network{habits};
    net.post(0, work_of("kept", {1, 5, 0, 60, 0}, 5s));
    net.run(at(12s));
    const auto kept = net.leases().size();
    CHECK(kept < 5);  // parts are open, and the others wait for them, until they replace the owner
    net.post(1, parts_of_2s);
    net.run(at(120s));
    CHECK(net.first(parts_of_2s.plan.job()) - at(12s) <= p.ask_retry + p.answer_wait + intent_window + 100ms);
    CHECK(net.completed(parts_of_2s.plan.job()) == 5);
}

TEST_CASE("a worker that renews for ever delays one MicroJob once, within the bound", "[K2]") {
    // Of two parts of 20 s one is the liar's: 4 blocks of 5 s, so a lease lasts 5 locks at most.
    const auto parts = work_of("first", {1, 2, 0, 4, 0}, 5s);
    constexpr auto lock = allot::QueueParameters{}.lock;
    auto delayed = 0;
    for (const auto habit : {Habit::repeats, Habit::invents}) {
        for (std::uint32_t liar = 0; liar < six; ++liar) {
            INFO("node " << liar << (habit == Habit::repeats ? " repeats" : " invents"));
            auto habits = std::vector(six, Habit::honest);
            habits[liar] = habit;
            auto net = Network{habits};
            net.post(0, parts);
            net.run(at(10s));
            net.post(0, parts_of_2s);
            REQUIRE(net.run(at(600s), [&] { return net.completed(parts.plan.job()) == 2; }));
            CHECK(net.dead() == 0);
            CHECK(net.first(parts_of_2s.plan.job()) - at(10s) < p.ask_retry);
            const auto first = [&](const Lease& l) { return l.job == parts.plan.job(); };
            const auto of_liar = [&](const Lease& l) { return first(l) && l.node == liar; };
            const auto& leases = net.leases();
            const auto lost = std::find_if(leases.begin(), leases.end(), of_liar);
            if (lost == leases.end()) { continue; }
            ++delayed;
            CHECK(std::count_if(leases.begin(), leases.end(), of_liar) == 1);  // once
            const auto again =
                std::find_if(lost + 1, leases.end(), [&](const Lease& l) { return first(l) && l.key == lost->key; });
            REQUIRE(again != leases.end());
            const auto renewals = habit == Habit::repeats ? 1 : 4;
            CHECK(again->time - lost->time <= (1 + renewals) * lock + p.ask_retry + p.answer_wait);
            CHECK(net.now() - again->time == 20s);
        }
    }
    CHECK(delayed >= 4);
}

TEST_CASE("whoever gave a MicroJob back leaves it to a worker that is still busy when it opens", "[K2]") {
    const auto parts = work_of("first", {1, 2, 0, 4, 0}, 5s);
    for (const auto liar : {0U, 1U}) {
        auto habits = std::vector(2, Habit::honest);
        habits[liar] = Habit::returns;
        auto net = Network{habits};
        net.post(0, parts);
        REQUIRE(net.run(at(600s), [&] { return net.completed(parts.plan.job()) == 2; }));
        const auto of_liar = [&](const Lease& l) { return l.node == liar; };
        CHECK(std::count_if(net.leases().begin(), net.leases().end(), of_liar) == 1);
        CHECK(net.now() < at(50s));  // two parts of 20 s, one after the other
        CHECK(net.dead() == 0);
    }
}

}  // namespace job_test::two_jobs
