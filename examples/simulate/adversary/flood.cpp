// Tasks that fill the queue: such as no node can run, dear ones that are withdrawn, or cheap ones.
//
// Cheap ones of ten minutes (row 3c) harm, though their value is the least: at this load some cards are free, a cheap
// task takes them, and nothing takes them from it when a dear one comes. Those of half a minute (3c1) do no such harm.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// It keeps a number of tasks open, and adds to them at each tick. Those that wait or run are known from the events.
class Flood : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        if (!knobs().is("unrunnable")) { return; }
        auto spec = spec_of(hand.means().cards[0], "own", "own", 1);
        spec.vram = allot::Gibibytes{vram};
        spec.stake = {};
        hand.join(std::move(spec), 0, 0);
        hand.pause("own");
    }

    void tick(Hand& hand) override {
        const auto wanted = static_cast<std::size_t>(knobs()["open"] * hand.scene().honest_nodes);
        for (auto missing = wanted - std::min(open_.size(), wanted); missing > 0; --missing) { order_one(hand); }
    }

    void woken(Hand& hand, std::uint64_t number) override {
        const auto found = to_cancel_.find(number);
        if (open_.contains(found->second)) {
            hand.note("cancelled");
            hand.cancel(found->second);
        }
        to_cancel_.erase(found);
    }

    void event(Hand& hand, const allot::Event& event) override {
        namespace e = allot::event;
        if (const auto* queued = std::get_if<e::TaskQueued>(&event)) { note_open(hand, queued->task); }
        if (const auto* started = std::get_if<e::TaskStarted>(&event)) { note_open(hand, started->lease.task); }
        if (const auto* done = std::get_if<e::TaskDone>(&event)) { open_.erase(done->task); }
        if (const auto* failed = std::get_if<e::TaskFailed>(&event)) { open_.erase(failed->task); }
        if (const auto* cancelled = std::get_if<e::TaskCancelled>(&event)) { open_.erase(cancelled->task); }
        if (const auto* evicted = std::get_if<e::TaskEvicted>(&event)) { open_.erase(evicted->task); }
        if (const auto* late = std::get_if<e::TaskTimedOut>(&event)) { open_.erase(late->task); }
    }

    void end(Hand& hand) override {
        if (!own_.empty()) { hand.note("refused"); }
        for (const auto& task : open_) { hand.cancel(task); }
    }

private:
    static constexpr auto vram = std::uint32_t{1'024};

    void order_one(Hand& hand) {
        auto order = Order{};
        order.arrival_ms = hand.now_ms();
        order.run_ms = knobs().whole("run_ms");
        order.declared_ms = order.run_ms;
        const auto fee = static_cast<double>(hand.scene().fee_per_second * order.run_ms) / 1'000 * knobs()["price"];
        order.fee = std::max(static_cast<std::int64_t>(fee), std::int64_t{1});
        order.vram_min = knobs().is("unrunnable") ? vram : 1;
        order.owner = fmt::format("own-{}", ordered_++ % static_cast<std::uint64_t>(knobs().whole("owners")));
        const auto task = hand.submit(std::move(order));
        own_.insert(task);
        if (knobs()["cancel_after_ms"] <= 0) { return; }
        to_cancel_.emplace(ordered_, task);
        hand.wake(knobs().whole("cancel_after_ms"), ordered_);
    }
    void note_open(Hand& hand, const allot::TaskId& task) {
        if (own_.erase(task) == 0) { return; }
        open_.insert(task);
        hand.note("accepted");
    }

    std::set<allot::TaskId> own_{};   ///< Ordered, and not accepted so far.
    std::set<allot::TaskId> open_{};  ///< Accepted, and not ended.
    std::map<std::uint64_t, allot::TaskId> to_cancel_{};
    std::uint64_t ordered_ = 0;
};

const auto registered = Registration{make_recipe<Flood, Silent>({
    .name = "flood",
    .attack = "20 owners fill the queue with tasks that nobody can run, that are withdrawn in time, or that pay little",
    .twin = "the owners submit nothing and keep their money",
    .profits = "its owners gain, for the tasks of their rivals are evicted or wait, and the fees come back",
    .answer =
        "`Hardened`: tasks that no node fits, or that pay too little for their lease, are refused; of one requirement "
        "three tasks wait at most for each node that fits; an owner has 64 unfinished tasks at most, and one that "
        "withdraws a task forfeits as large a part of its fee as is taken of the queue",
    .cost = "`queue.tasks_per_fitting_node`, `rules.tasks_per_owner_max`, `rules.refuse_unrunnable`, "
            "`terms.fee_per_second_min`",
    .knobs = {{"open", 1.2, 0.001, 10, "tasks open at once, in parts of the network's nodes"},
              {"owners", 20, 1, 1'000, "names of owners"},
              {"price", 100, 0.0001, 10'000, "fee a second, in medians of the network's tasks"},
              {"run_ms", 600'000, 1, 36'000'000, "run time, true and declared"},
              {"unrunnable", 0, 0, 1, "they need memory that a paused node of no stake alone has"},
              {"cancel_after_ms", 0, 0, 3'600'000, "time until a task is withdrawn; 0: never"}},
    .cases = {{"3a", "memory that a paused node of no stake alone has", {{"unrunnable", 1}}},
              {"3b",
               "runnable tasks at 100 times the price, withdrawn after a minute",
               {{"open", 0.3}, {"cancel_after_ms", 60'000}}},
              {"3b1", "the same, three times as many", {{"open", 0.9}, {"cancel_after_ms", 60'000}}},
              {"3d",
               "runnable tasks at twice the price, withdrawn after ten seconds",
               {{"price", 2}, {"cancel_after_ms", 10'000}}},
              {"3c", "runnable tasks of ten minutes at a hundredth of the price", {{"price", 0.01}}},
              {"3c1", "the same of half a minute", {{"price", 0.01}, {"run_ms", 30'000}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = equal_cards(scene, knobs.is("unrunnable") ? 1 : 0, 0);
            means.tick_ms = 10'000;
            return means;
        },
    .aim = "harm",
})};

}}  // namespace simulate
