// A creator that makes an honest node lose its stake: it puts tasks for own nodes into the node's validation group.

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <allot/validation/validation_group.hpp>

#include "adversary.hpp"

namespace simulate { namespace {

constexpr auto invented = "card of the attacker";
const auto right_answer = std::vector<std::uint8_t>(8, 0);
const auto false_answer = std::vector<std::uint8_t>(8, 255);

/// Two of three tasks name a card that nobody else has, so that they land on own nodes. The library's own validation
/// group judges the answers. Where the network has a referee, it does the work again, and finds what is right.
class Framing : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        for (std::uint32_t i = 0; i < hand.means().cards.size(); ++i) {
            const auto id = fmt::format("own-{}", i);  // an operator each, for members of a group never share one
            auto spec = honest_spec(hand, i, id);
            spec.operator_id = allot::OperatorId{id};
            spec.gpu = invented;
            hand.join(std::move(spec), i, hand.means().verdicts);
        }
    }

    void tick(Hand& hand) override {
        if (!open_.empty() || ++ticks_ > knobs().whole("groups")) { return; }
        auto tasks = std::vector<allot::ValidationTask>{};
        for (std::uint8_t i = 0; i < 3; ++i) {
            auto task = allot::ValidationTask{.task = hand.submit(order(hand, i == 2))};
            task.owner = allot::OwnerId{"own"};
            task.work[0] = knobs().is("same_work") ? 1 : static_cast<std::uint8_t>(i + 1);
            tasks.push_back(task);
        }
        auto group = allot::ValidationGroup::declared(allot::GroupId{static_cast<std::uint64_t>(ticks_)}, tasks,
                                                      hand.scene().validation);
        if (!group) {
            hand.note("group refused");
            return;
        }
        group_ = std::move(*group);
        for (const auto& task : tasks) { open_.insert(task.task); }
    }

    void event(Hand& hand, const allot::Event& event) override {
        if (!group_) { return; }
        const auto now = allot::TimePoint{allot::Duration{hand.now_ms()}};
        if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
            const auto& lease = started->lease;
            (void)group_->started(lease.task, {lease.node, allot::OperatorId{lease.node.text()}, {}, lease.deadline},
                                  now);
        } else if (const auto* done = std::get_if<allot::event::TaskDone>(&event)) {
            const auto& answer = hand.own(done->node) ? false_answer : right_answer;
            follow(hand, done->task, group_->submitted(done->task, answer, now));
        } else if (const auto* failed = std::get_if<allot::event::TaskFailed>(&event)) {
            follow(hand, failed->task, group_->aborted(failed->task, now));
        } else if (const auto* evicted = std::get_if<allot::event::TaskEvicted>(&event)) {
            follow(hand, evicted->task, group_->aborted(evicted->task, now));
        } else if (const auto* late = std::get_if<allot::event::TaskTimedOut>(&event)) {
            follow(hand, late->task, group_->timed_out(late->task, now));
        }
    }

private:
    static auto order(const Hand& hand, bool honest) -> Order {
        auto order = Order{};
        order.arrival_ms = hand.now_ms();
        order.run_ms = 10'000;
        order.declared_ms = order.run_ms;
        order.fee = hand.scene().fee_per_second * 20;  // dear enough to start soon
        order.vram_min = 1;
        order.gpus = {honest ? hand.scene().card.gpu : invented};
        order.owner = "own";
        return order;
    }

    /// The end of another task is no affair of the group, which refused it.
    void follow(Hand& hand, const allot::TaskId& task, const allot::ValidationEffects& effects) {
        if (open_.erase(task) == 0) { return; }
        if (open_.empty()) { hand.note("group ended"); }
        punish(hand, effects);
        if (const auto* asked = effects.get<allot::validation_event::RefereeAsked>(); asked != nullptr) {
            punish(hand, group_->recomputed(right_answer, group_->now()));
        }
    }

    void punish(Hand& hand, const allot::ValidationEffects& effects) {
        for (const auto& event : effects.events) {
            const auto* wrong = std::get_if<allot::validation_event::MemberWrong>(&event);
            if (wrong == nullptr || !wrong->slash) { continue; }
            hand.note(hand.own(wrong->node) ? "own node named" : "honest node framed");
            hand.convict(wrong->node);
        }
    }

    std::optional<allot::ValidationGroup> group_{};
    std::set<allot::TaskId> open_{};  ///< Members without an end.
    std::int64_t ticks_ = 0;
};

const auto registered = Registration{make_recipe<Framing>({
    .name = "framing",
    .attack = "a creator's groups have two tasks that only its own nodes can run, and one for an honest node",
    .twin = "the creator keeps its money, and its nodes tell their true card and do the work",
    .profits = "its operator gains, for a rival is slashed",
    .answer = "`ValidationParameters::hardened`: where results differ a referee does the work again, and the majority "
              "names nobody",
    .cost = "the referee does the work of each group whose results differ",
    .knobs = {{"same_work", 0, 0, 1, "the three tasks are the same work, and own nodes answer falsely"},
              {"cards", 10, 2, 200, "cards of the attacker", true},
              {"groups", 100, 1, 10'000, "groups that it tries"}},
    .cases = {{"10", "the three tasks are different work", {}},
              {"10b", "they are the same work, and two own nodes lie", {{"same_work", 1}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = median_cards(scene, knobs.whole("cards"));
            means.tick_ms = 60'000;
            return means;
        },
    .aim = "harm",
})};

}}  // namespace simulate
