#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/chance.hpp"
#include "support/turns.hpp"
#include "workload/dispatching.hpp"
#include "workload/population.hpp"
#include "workload/victim_hub.hpp"

namespace bench {

/// A network that outsiders flood: honest nodes, a quarter of them at work, and what the outsiders bring.
///
/// It is a value, so a flood can be repeated on a copy.
class Victim {
public:
    using Hub = VictimHub;
    using Command = Hub::Command;

    /// What one counted command took.
    struct Cost {
        double nanoseconds = 0;
        std::size_t starts = 0;
    };

    explicit Victim(std::size_t nodes) : hub_{victim_hub()}, size_{nodes} {
        for (const auto& profile : population(nodes)) {
            auto node = spec_of(profile, allot::NodeId{++nodes_});
            if (nodes_ == nodes) { node.models = {"honest"}; }  // a real network has tables of models
            apply(allot::command::Join{std::move(node)});
        }
        pass(std::chrono::hours{2});  // where new stake has to rest, this has rested
        rest();
        for (std::size_t i = 0; i < nodes / 4; ++i) {
            apply(allot::command::Submit{task()});
            running_.push_back(begun_.value());
        }
        mine_ = std::vector<allot::TaskId>{};
        joined_ = std::vector<allot::NodeId>{};
    }

    static auto rules() -> allot::RulesParameters { return victim_rules(); }

    /// Number of honest nodes.
    [[nodiscard]] auto size() const -> std::size_t { return size_; }
    /// Number of nodes that ever joined, which is also the id of the last of them.
    [[nodiscard]] auto nodes() const -> std::uint64_t { return nodes_; }
    [[nodiscard]] auto tasks() const -> std::uint64_t { return tasks_; }
    [[nodiscard]] auto costs() const -> const std::vector<Cost>& { return costs_; }
    /// The lease that the last command began last, if it began one.
    [[nodiscard]] auto begun() const -> const std::optional<allot::Lease>& { return begun_; }

    /// A new task that fits every node, runs for an hour (`victim_estimate`), and pays little.
    auto task() -> allot::TaskSpec {
        auto task = allot::TaskSpec{.id = allot::TaskId{++tasks_}};
        task.vram_min = vram_of(0);
        task.fee = 1'000;
        task.duration_estimate = victim_estimate;
        return task;
    }
    /// A new node of a card that no honest node has, of the largest VRAM.
    auto stranger(std::uint64_t stake) -> allot::NodeSpec {
        auto node = allot::NodeSpec{.id = allot::NodeId{++nodes_}};
        node.gpu = "stranger";
        node.vram = vram_of(rows - 1);
        node.stake = stake;
        return node;
    }
    /// A new task for the strangers' card.
    auto strange_task() -> allot::TaskSpec {
        auto special = task();
        special.duration_estimate = std::chrono::hours{1};
        special.gpus = {{"stranger", vram_of(rows - 1)}};
        return special;
    }

    /// Applies a command with entropy, or without: then nothing is drawn. It counts only between `count` and the next.
    void apply(const Command& command, bool entropy = true) {
        note(command);
        events_.clear();
        const auto moment = entropy ? allot::Moment{now_, 2026} : allot::Moment{now_, {}};
        if (counting_) {
            auto watch = Stopwatch{};
            watch.start();
            hub_.apply(command, moment, events_);
            watch.stop();
            costs_.push_back({watch.nanoseconds(), 0});
        } else {
            hub_.apply(command, moment, events_);
        }
        begun_.reset();
        for (const auto& event : events_) {
            if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
                begun_ = started->lease;
                if (counting_) { ++costs_.back().starts; }
            }
        }
    }
    /// The same, counted.
    void count(const Command& command) {
        counting_ = true;
        apply(command);
        counting_ = false;
    }
    /// The same for an honest one: its node or task stays when the flood lapses.
    void apply_honest(const Command& command) {
        honest_ = true;
        apply(command, false);
        honest_ = false;
    }
    void pass(allot::Duration time) { now_ += time; }

    /// Other rules, as `change(rules)` makes them.
    template <class F>
    void under(F&& change) {
        auto changed = rules();
        change(changed);
        apply(allot::command::Configure<Hub::Configuration>{changed});
    }
    /// Counts an ordinary pair: `complete` of a random honest task, and `submit` of a new one.
    void count_pair() {
        auto& lease = running_[chance_.below(running_.size())];
        count(allot::command::Complete{lease});
        count(allot::command::Submit{task()});
        lease = begun_.value_or(lease);
    }

    /// All strangers leave, their tasks are withdrawn, and an hour passes. A last node and a last task come and go:
    /// maps of names give room back at their next entry. Then the network works on: each command gives some room back.
    void lapse() {
        settle();  // else what is due refuses the first commands
        for (const auto& task : mine_) { apply(allot::command::Cancel{task}, false); }
        for (const auto& node : joined_) {
            apply(allot::command::Leave{node}, false);
            settle();  // its models
        }
        pass(std::chrono::minutes{59});
        settle();
        const auto last = stranger(0);
        apply(allot::command::Join{last}, false);
        apply(allot::command::Leave{last.id}, false);
        for (auto i = 0; i < 64; ++i) { count_pair(); }
        pass(std::chrono::minutes{1});
        settle();
        mine_ = std::vector<allot::TaskId>{};  // `{}` alone would keep the room
        joined_ = std::vector<allot::NodeId>{};
        costs_ = std::vector<Cost>{};
        events_ = allot::Events{};
    }
    /// Advances until all bounds of weights are renewed.
    void rest() {
        while (hub_.state().counters().ceilings.moving()) { apply(allot::command::Advance{}, false); }
    }
    /// Advances until nothing is due.
    void settle() {
        do {
            apply(allot::command::Advance{}, false);
        } while (hub_.next_deadline().value_or(allot::time_point_max) <= now_);
    }

private:
    void note(const Command& command) {
        if (honest_) { return; }
        if (const auto* submit = std::get_if<allot::command::Submit>(&command)) { mine_.push_back(submit->task.id); }
        if (const auto* join = std::get_if<allot::command::Join>(&command)) { joined_.push_back(join->node.id); }
    }

    Hub hub_;
    std::size_t size_;
    std::uint64_t nodes_ = 0;
    std::uint64_t tasks_ = 0;
    allot::TimePoint now_{};
    bool counting_ = false;
    bool honest_ = false;
    std::vector<allot::TaskId> mine_;
    std::vector<allot::NodeId> joined_;
    std::vector<allot::Lease> running_;
    std::optional<allot::Lease> begun_;
    std::vector<Cost> costs_;
    allot::Events events_;
    Chance chance_{12};
};

}  // namespace bench
