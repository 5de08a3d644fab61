#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include <allot/reward/fee_split.hpp>
#include <allot/validation/validation_group.hpp>

#include "fuzz/support/target.hpp"

namespace fuzz_validation {

// An input sets the parameters, and then gives commands to one declared group and four hidden tasks, of members and of
// others,
// in time and not.

namespace {

namespace happened = allot::validation_event;
using namespace std::chrono_literals;
using allot::ValidationEffects;
using allot::ValidationGroup;

// Tasks 1 to 3 are declared, 4 to 7 hidden; the last asks for other work.
template <class Task = allot::ValidationTask>
auto task(std::uint8_t id, allot::Amount fee) -> Task {
    auto made = Task{.task = std::uint64_t{id}};
    made.owner = allot::OwnerId{1};
    made.fee = fee;
    if constexpr (requires { made.work; }) { made.work = allot::Hash256{static_cast<std::uint8_t>(id == 7 ? 2 : 1)}; }
    return made;
}
auto opening(std::uint8_t i) -> allot::Opening {
    auto nonce = allot::Hash256{};
    nonce[0] = i;
    return {8, nonce};
}
template <class Commit = allot::CommitmentOf, class Task>
auto commitment(std::uint8_t i, const Task& task) -> allot::Hash256 {
    if constexpr (requires { task.work; }) {
        return Commit{}(opening(i), task.work);
    } else {
        return Commit{}(opening(i));
    }
}
template <class Member>
auto of_one_work(const std::vector<Member>& members) -> bool {
    if constexpr (requires { members[0].task.work; }) {
        return std::all_of(members.begin(), members.end(),
                           [&](const Member& one) { return one.task.work == members[0].task.work; });
    }
    return true;
}

class World {
public:
    explicit World(fuzz::Numbers in) : in_{in} {
        const auto bits = in_.byte();
        parameters_.comparison = exact(bits) ? allot::Comparison::exact() : allot::Comparison::hamming(5);
        parameters_.rank_right_only = (bits & 2U) != 0;
        parameters_.chain_matches = (bits & 4U) != 0;
        parameters_.slash_wrong = (bits & 8U) != 0;
        parameters_.same_class = (bits & 16U) != 0;
        parameters_.referee_window = (bits & 32U) != 0 ? allot::Duration{90s} : allot::Duration{0};
        parameters_.sampling = {1, 2};
        parameters_.result_bytes_max = 16;
        exact_ = exact(bits);
        const auto fee = allot::Amount{in_.byte()};
        const auto three = std::array{task(1, fee), task(2, fee), task(3, fee)};
        groups_.push_back(ValidationGroup::declared(7, three, parameters_).value());
        for (std::uint8_t i = 0; i < 4; ++i) {
            const auto hidden = task(static_cast<std::uint8_t>(4U + i), fee);
            groups_.push_back(ValidationGroup::hidden(hidden, commitment(i, hidden), parameters_).value());
        }
        dropped_.resize(groups_.size());
    }

    /// True when some group came to its end.
    auto run() -> bool {
        while (in_.left() > 0) { step(); }
        return std::any_of(groups_.begin(), groups_.end(), [](const ValidationGroup& group) { return over(group); });
    }

private:
    static auto exact(unsigned bits) -> bool { return (bits & 1U) == 0; }
    static auto over(const ValidationGroup& group) -> bool { return group.phase() == allot::ValidationPhase::ended; }
    auto moment(const ValidationGroup& group) -> allot::TimePoint {
        switch (in_.byte() % 8) {
            case 0: return group.now() + 1s;
            case 1: return group.now() + 90s;
            case 2: return std::max(group.now(), group.next_deadline().value_or(group.now()));
            case 3: return std::max<allot::TimePoint>(group.now(), group.next_deadline().value_or(group.now()) - 1ms);
            case 4: return in_.byte() == 255 ? allot::never : group.now() - 1ms;
            default: return std::max(group.now(), now_);
        }
    }

    void step() {
        const auto verb = in_.byte() % 13;
        const auto at = in_.below(groups_.size());
        if (dropped_[at]) { return; }
        auto& group = groups_[at];
        const auto before = group;
        const auto now = moment(group);
        const auto a_task = [&]() -> allot::TaskId {
            const auto number = in_.byte();
            const auto& members = group.members();
            return number >= 250 ? allot::TaskId{number} : members[number % members.size()].task.task;
        };
        auto joined = std::optional<std::size_t>{};
        const auto effects = [&]() -> ValidationEffects {
            switch (verb) {
                case 0:
                case 1: {
                    const auto id = a_task();
                    const auto node = in_.byte() % 8U;
                    auto place = allot::Placement{allot::NodeId{node}, allot::OperatorId{node / 2U + node % 2U * 8U}};
                    place.node_class = node == 7 ? "T4" : "H100";
                    const auto length = std::chrono::seconds{in_.byte()};
                    place.deadline = now > allot::time_point_max - 1h ? allot::never : now + length;
                    return group.started(id, place, now);
                }
                case 2:
                case 3: {
                    const auto id = a_task();
                    const auto bytes = in_.bytes(in_.byte() % 20);
                    return group.submitted(id, bytes, now);
                }
                case 4: return group.error_reported(a_task(), now);
                case 5: return group.timed_out(a_task(), now);
                case 6: return group.aborted(a_task(), now);
                case 7: return group.uploaded(a_task(), now);
                case 8: return group.accepted(allot::Entropy{std::uint64_t{in_.byte()}}, now);
                case 9: {
                    const auto word = in_.byte();
                    const auto own = at == 0 ? 0U : at - 1;
                    return group.revealed(opening(static_cast<std::uint8_t>(word < 250 ? own : word)),
                                          allot::Entropy{std::uint64_t{in_.byte()}}, now);
                }
                case 12: return group.queued(a_task(), now);
                case 11: {
                    const auto bytes = in_.bytes(in_.byte() % 20);
                    return group.recomputed(bytes, now);
                }
                default: {
                    const auto other = in_.below(groups_.size());
                    if (dropped_[other]) { return group.advance(now); }
                    const auto own = other == 0 ? 0U : other - 1;
                    const auto added = group.added(groups_[other], opening(static_cast<std::uint8_t>(own)), now);
                    joined = added.accepted() ? std::optional{other} : std::nullopt;
                    return added;
                }
            }
        }();
        if (joined) {
            fuzz::ensure(*joined != at, "a group does not join itself");
            dropped_[*joined] = true;
        }
        now_ = std::max(now_, group.now());
        judge_refusal(before, group, effects, now);
        for (const auto& event : effects.events) {
            std::visit([&](const auto& e) { take(group, e); }, event);
        }
        const auto due = group.next_deadline();
        const auto settled = effects.accepted() ? verb > 1 : now == group.now();  // a lease may begin when it is over
        fuzz::ensure(!settled || !due || *due > group.now(), "what is due was done");
        if (over(group)) {
            fuzz::ensure(!due, "nothing is due after the end");
            for (const auto& member : group.members()) {
                fuzz::ensure(left_.contains(member.task.task), "each fee leaves the group by its end");
            }
        }
    }

    void judge_refusal(ValidationGroup before, const ValidationGroup& after, const ValidationEffects& effects,
                       allot::TimePoint now) {
        if (effects.accepted()) { return; }
        fuzz::ensure(message(*effects.error) != "unknown error", "a refusal is named");
        if (now >= before.now() && now <= allot::time_point_max) {
            (void)before.advance(now);
        } else {
            fuzz::ensure(effects.events.empty(), "nothing happens at a time that is refused");
        }
        fuzz::ensure(before == after, "what is refused changes nothing but time");
    }

    static auto member(const ValidationGroup& group, const allot::TaskId& task) -> const allot::ValidationMember& {
        const auto& all = group.members();
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.task.task == task; });
        fuzz::ensure(found != all.end(), "an event names a member");
        return *found;
    }
    void leaves(const allot::ValidationMember& member, allot::Amount fee) {
        fuzz::ensure(fee == member.task.fee, "a fee is what was offered");
        fuzz::ensure(left_.insert(member.task.task).second, "a fee leaves the group once");
    }

    template <class E>
    void take(const ValidationGroup& group, const E& event) {
        if constexpr (requires { event.task; }) {
            const auto& of = member(group, event.task);
            if constexpr (requires { event.refund; }) { leaves(of, event.refund); }
            if constexpr (std::is_same_v<E, happened::FeeDue>) {
                leaves(of, event.fee);
                paid(group, event);
            } else if constexpr (std::is_same_v<E, happened::MemberWrong>) {
                const auto by_majority = parameters_.referee_window == allot::Duration{0};
                for (const auto& other : group.members()) {
                    const auto alike = &other != &of && other.state == of.state && other.result == of.result;
                    fuzz::ensure(!alike || !exact_ || !by_majority, "who answered as another did is not called wrong");
                }
            }
        } else if constexpr (std::is_same_v<E, happened::RefereeAsked>) {
            fuzz::ensure(event.work == group.members().front().task.work, "a referee is asked for the members' work");
        } else {
            fuzz::ensure(over(group), "a group that ended is over");
            fuzz::ensure(of_one_work(group.members()), "members answer one question");
        }
    }

    void paid(const ValidationGroup& group, const happened::FeeDue& due) {
        auto points = std::vector<std::uint32_t>{};
        auto nodes = std::set<allot::NodeId>{};
        for (const auto& share : due.shares) {
            const auto& of = member(group, share.task);
            fuzz::ensure(allot::answered(of.state), "who is paid has answered");
            fuzz::ensure(of.placement && of.placement->node == share.node, "who is paid is the node that ran the task");
            fuzz::ensure(nodes.insert(share.node).second, "no node is paid twice");
            fuzz::ensure(points.empty() || points.back() >= share.points, "shares stand in the order of rank");
            points.push_back(share.points);
        }
        const auto split = allot::split_fee(due.fee, points);
        fuzz::ensure(split.has_value(), "a fee can be divided");
        auto sum = split->refund.units;
        for (const auto& part : split->paid) { sum += part.units; }
        fuzz::ensure(sum == due.fee.units, "what is paid is the fee");
    }

    fuzz::Numbers in_;
    allot::ValidationParameters parameters_{};
    bool exact_ = true;
    std::vector<ValidationGroup> groups_{};
    std::vector<bool> dropped_{};     // added to another
    std::set<allot::TaskId> left_{};  // whose fee was refunded or is due
    allot::TimePoint now_{};
};

auto target(std::span<const std::uint8_t> input) -> bool { return World{fuzz::Numbers{input}}.run(); }

auto seeds() -> std::vector<fuzz::Bytes> {
    constexpr auto now = std::uint8_t{7};
    constexpr auto later = std::uint8_t{0};
    auto all = std::vector<fuzz::Bytes>{};
    const auto put = [](fuzz::Bytes& out, std::initializer_list<std::uint8_t> bytes) { out.insert(out.end(), bytes); };
    // The declared group: three start, then answer, then the result is uploaded.
    for (std::uint8_t odd = 0; odd < 6; ++odd) {
        auto seed = fuzz::Bytes{static_cast<std::uint8_t>(odd * 5), 100};
        for (std::uint8_t i = 0; i < 3; ++i) { put(seed, {0, 0, 0, now, i, static_cast<std::uint8_t>(2 * i), 200}); }
        for (std::uint8_t i = 0; i < 3; ++i) {
            if (odd == 1 || (odd == 2 && i == 2)) {
                put(seed, {4, 0, 0, later, i});
            } else if (odd == 3 && i == 0) {
                put(seed, {5, 0, 0, later, i});
            } else {
                put(seed, {2, 0, 0, later, i, 4, 1, 2, 3, static_cast<std::uint8_t>(odd == 4 ? i : i / 2)});
            }
        }
        put(seed, {7, 0, 0, now, 0, 7, 0, 0, now, 1, 10, 0, 0, 2, 0, 0});
        all.push_back(seed);
    }
    // The first member's node declines and takes the second task; another node takes the first.
    auto declined = fuzz::Bytes{0, 100, 0, 0, 0, now, 0, 2, 200, 12, 0, 0, later, 0, 0, 0, 0, now, 1, 2, 200};
    put(declined, {0, 0, 0, now, 0, 4, 200, 0, 0, 0, now, 2, 6, 200});
    for (std::uint8_t i = 0; i < 3; ++i) { put(declined, {2, 0, 0, later, i, 4, 1, 2, 3, 0}); }
    put(declined, {7, 0, 0, now, 0, 7, 0, 0, now, 1, 7, 0, 0, now, 2});
    all.push_back(declined);
    // Results differ, and the referee says who was right; or says nothing in its time.
    for (std::uint8_t truth = 0; truth < 4; ++truth) {
        auto seed = fuzz::Bytes{32, 100};
        for (std::uint8_t i = 0; i < 3; ++i) { put(seed, {0, 0, 0, now, i, static_cast<std::uint8_t>(2 * i), 200}); }
        for (std::uint8_t i = 0; i < 3; ++i) {
            put(seed, {2, 0, 0, later, i, 4, 1, 2, 3, static_cast<std::uint8_t>(i / 2)});
        }
        if (truth < 3) { put(seed, {11, 0, 0, later, 4, 1, 2, 3, truth}); }
        put(seed, {5, 0, 0, 2, 0, 7, 0, 0, now, 0, 7, 0, 0, now, 2});
        all.push_back(seed);
    }
    // Three hidden tasks: each starts and answers; the first is accepted, or revealed and joined by the others.
    for (std::uint8_t vrf = 0; vrf < 8; ++vrf) {
        auto seed = fuzz::Bytes{static_cast<std::uint8_t>(vrf & 6U), 100};
        for (std::uint8_t i = 1; i < 4; ++i) {
            put(seed, {0, 0, i, now, 0, static_cast<std::uint8_t>(2 * i), 200});
            put(seed, {2, 0, i, now, 0, 3, 1, 2, vrf == 3 ? i : std::uint8_t{3}});
        }
        put(seed, {8, 0, 1, now, vrf, 9, 0, 1, now, 0, vrf, 10, 0, 1, now, 0, 2, 10, 0, 1, now, 0, 3});
        put(seed, {7, 0, 1, now, 0, 7, 0, 1, now, 1, 10, 0, 1, 2, 0, 0});
        all.push_back(seed);
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(validation, "whatever is said to validation groups, each fee leaves once and nobody is wronged")

}  // namespace fuzz_validation
