// Tasks that run on three nodes at once: what a gang costs in a large network and in a small one.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <allot/queue/value_queue.hpp>

#include "contestant/hub_of_allot.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/dispatching.hpp"

namespace bench { namespace {

constexpr auto gang_size = std::uint32_t{3};

/// One operation: the nodes of a random gang complete, and a new task for three nodes is submitted. Idle: a quarter of
/// the nodes is busy, and half of the tasks want one card. Saturated: nearly all are, and half as many tasks wait, so
/// that each of the three nodes looks for the best gang that it can stand in; for any cards, for those that want one
/// would pile up.
class Gangs {
public:
    Gangs(std::size_t nodes, Regime regime) : hub_{nodes}, regime_{regime} {
        auto chance = Chance{6};
        for (const auto& profile : population(nodes)) {
            apply(allot::command::Join{spec_of(profile, allot::NodeId{chance.bytes()})});
        }
        const auto first = nodes / gang_size / (regime == Regime::idle ? 4 : 1);
        for (std::size_t i = 0; i < first; ++i) {
            auto small = fresh();
            small.vram_min = vram_of(0);
            small.same_card = false;
            apply(allot::command::Submit{std::move(small)});
        }
        for (std::size_t i = 0; regime == Regime::saturated && i < nodes / 2; ++i) {
            apply(allot::command::Submit{fresh()});
        }
    }

    auto turn(std::size_t operations) -> double {
        auto watch = Stopwatch{};
        for (std::size_t i = 0; i < operations; ++i) {
            if (running_.empty()) { throw std::logic_error{"no gang runs any more"}; }
            auto& gang = running_[chance_.below(static_cast<std::uint32_t>(running_.size()))];
            std::swap(gang, running_.back());
            const auto leases = std::move(running_.back());
            running_.pop_back();
            auto commands = std::vector<Hub::Command>{};
            for (const auto& lease : leases) { commands.push_back(allot::command::Complete{lease}); }
            commands.push_back(allot::command::Submit{fresh()});
            now_ += std::chrono::milliseconds{1};
            events_.clear();
            watch.start();
            for (const auto& command : commands) { hub_.apply(command, {now_, entropy}, events_); }
            watch.stop();
            take_leases();
        }
        return watch.nanoseconds();
    }

private:
    using Hub = HubOfAllot<allot::ValueQueue>;
    static constexpr std::uint64_t entropy = 2026;

    void apply(Hub::Command command) {
        events_.clear();
        hub_.apply(command, {now_, entropy}, events_);
        take_leases();
    }

    auto fresh() -> allot::TaskSpec {
        auto task = allot::TaskSpec{.id = allot::TaskId{chance_.bytes()}};
        task.same_card = regime_ == Regime::idle && (chance_.next() >> 63U) != 0;
        task.vram_min =
            vram_of(task.same_card ? 1 : std::min(waiting_row(chance_), 5U));  // what a thousand nodes can run, too
        task.gang_size = gang_size;
        task.fee = chance_.next() >> 16U;
        task.duration_estimate = std::chrono::milliseconds{1'800'000 + chance_.below(1'800'000)};
        return task;
    }

    void take_leases() {
        events_.each([&](const allot::event::TaskStarted& e) {
            if (e.lease.member == 0) { running_.emplace_back(); }
            running_.back().push_back(e.lease);
        });
    }

    Hub hub_;
    Regime regime_;
    allot::TimePoint now_{};
    std::vector<std::vector<allot::Lease>> running_;
    allot::Events events_;
    Chance chance_{7};
};

auto gangs(std::size_t nodes, Regime regime) {
    return [workload = std::make_shared<Gangs>(nodes, regime)](std::size_t operations) {
        return workload->turn(operations);
    };
}

const auto subject =
    Subject{"8 gangs", [](Figures& f) {
                for (const auto& [regime, name] :
                     {std::pair{Regime::idle, std::string{"idle"}}, {Regime::saturated, std::string{"saturated"}}}) {
                    auto turns = std::vector<Contestant>{{"gangs of three", 5'000, gangs(f.large, regime)},
                                                         {"gangs of three, 1,000 nodes", 5'000, gangs(1'000, regime)}};
                    f.measure("gangs, " + name + ": three complete + submit", turns);
                    f.at_most("gangs, " + name + ": at large / at 1,000 nodes", ratio(turns[0], turns[1]), 8);
                }
            }};

const auto offered = [] {
    for (const auto& [regime, name] : {std::pair{Regime::idle, "gangs/idle"}, {Regime::saturated, "gangs/saturated"}}) {
        offers().push_back(
            {name, all_sizes, 256, [regime = regime](std::size_t nodes) { return gangs(nodes, regime); }});
    }
    return true;
}();

}}  // namespace bench
