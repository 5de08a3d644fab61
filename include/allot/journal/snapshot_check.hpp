#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/name.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/snapshot_fault.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/store/records.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Reads the parameters of a policy, or of its parts, into `policy`. Returns a fault if the name or the parameters do
/// not fit.
/// @complexity linear in the parameters.
template <class P>
[[nodiscard]] auto read_policy(ByteReader& in, P& policy, SnapshotParameters mode) -> std::optional<SnapshotFault> {
    auto decoder = Decoder{in};
    auto name = std::string{};
    decoder.get(name);
    if (name != policy_name<P>()) { return SnapshotFault{SnapshotError::policy_differs, policy_name<P>()}; }
    if constexpr (configurable<P>) {
        auto parameters = policy.parameters();
        decoder.get(parameters);
        if (in.fault()) { return SnapshotFault{SnapshotError::malformed, policy_name<P>(), 0, in.fault()}; }
        if (!(parameters == policy.parameters())) {
            if (mode == SnapshotParameters::must_match) {
                return SnapshotFault{SnapshotError::parameters_differ, policy_name<P>()};
            }
            if (parameter_fault(parameters) != nullptr) {
                return SnapshotFault{SnapshotError::parameters_invalid, policy_name<P>()};
            }
            policy.configure(parameters);
        }
    } else if constexpr (has_parts<P>) {
        auto fault = std::optional<SnapshotFault>{};
        each_part(policy, [&](auto& part) {
            if (!fault) { fault = read_policy(in, part, mode); }
        });
        return fault;
    }
    return std::nullopt;
}

/// Reads all policies in the order of the roles. Returns the first fault. @complexity linear in the parameters.
template <class Dispatcher>
[[nodiscard]] auto read_policies(ByteReader& in, Dispatcher& dispatcher, SnapshotParameters mode)
    -> std::optional<SnapshotFault> {
    auto fault = std::optional<SnapshotFault>{};
    auto left = in.count();
    dispatcher.configure_each([&](auto& policy) {
        if (fault) { return; }
        auto entry = ByteReader{left == 0 ? std::span<const std::uint8_t>{} : in.bytes(in.count())};
        left -= left == 0 ? 0U : 1U;
        fault = read_policy(entry, policy, mode);
        entry.end();
        if (!fault && entry.fault()) { fault = SnapshotFault{SnapshotError::malformed, "policies", 0, entry.fault()}; }
    });
    if (!fault && (left != 0 || in.fault())) {
        fault = SnapshotFault{SnapshotError::malformed, "policies", 0, in.fault()};
    }
    return fault;
}

/// Reads the records of a snapshot into records of its own and checks that they agree with each other.
///
/// Entries are ordered so that most references go back to earlier entries. Forward references (a node or a task to its
/// lease) are checked at the end.
template <class Dispatcher>
class SnapshotLoader {
    using State = typename Dispatcher::State;
    using Record = typename Dispatcher::Record;

    /// An observer that ignores every change; the loaded records need no indices.
    struct Nobody {
        [[nodiscard]] static auto fits(const NodeClass&, const Requirement&) -> bool { return false; }
        [[nodiscard]] static auto open(std::uint32_t) -> bool { return false; }
        template <class Before, class After>
        static void node_changed(NodeHandle, Before, After) {}
        static void models_changed(NodeHandle, const HeldModels&, const HeldModels&) {}
        static void holders_gone(ModelId, ClassId) {}
        static void class_gone(ClassId) {}
        static void fell(ClassId, std::uint32_t) noexcept {}
        static void fell(ModelId, ClassId, std::uint32_t) noexcept {}
        static void task_changed(TaskHandle, const Task*, const Task*) {}
        static void counters_changed(const Counters&, const Counters&) {}
        static void configured(std::span<const typename Dispatcher::Configuration>) {}
    };

public:
    /// Reads from `in`. Handles, slots and places may exceed the number of records by `reach_left` in all.
    SnapshotLoader(ByteReader& in, SipKey key, std::uint64_t reach_left)
        : in_{&in}, decoder_{in}, state_{key}, reach_left_{reach_left} {}

    /// Reads and checks all records. Returns the first fault. @complexity O(n log n) in the bytes and in the gaps
    /// within `reach_left`.
    [[nodiscard]] auto load() -> std::optional<SnapshotFault> {
        auto tree = StateTree{};
        return load(tree, [] { return std::uint64_t{0}; });
    }
    /// The same; each entry's bytes are set in `tree`. Before each value, `refill() -> std::uint64_t` may give `in`
    /// more bytes and return their number.
    template <class Refill>
    [[nodiscard]] auto load(StateTree& tree, const Refill& refill) -> std::optional<SnapshotFault> {
        counters();
        each_section([&]<Section section>() {
            auto next = std::uint64_t{0};
            reach_left_ += refill();
            auto left = fault_ ? 0U : in_->template integer<std::uint32_t>();
            expect<section>(left);
            for (; left > 0 && !fault_; --left) {
                if (const auto more = refill(); more > 0) {
                    reach_left_ += more;
                    expect<section>(left);
                }
                const auto before = in_->rest();
                const auto number = in_->template integer<std::uint32_t>();
                what_ = section_name(section);
                entry_ = number;
                demand(number >= next, SnapshotError::not_canonical);
                reach(number - next);  // entries ascend, so this is the gap before it
                next = std::uint64_t{number} + 1;
                read<section>(number);
                if (!fault_) { tree.set(section, number, before.first(before.size() - in_->remaining())); }
                (void)state_.forget_undo_log(nobody_);
            }
        });
        decoded();
        if (!fault_) { references(); }
        return fault_;
    }

    /// The loaded records, to be moved. @pre `load` has returned no fault.
    [[nodiscard]] auto state() -> State& { return state_; }

private:
    /// Makes room for the next `count` entries at once, as far as the bytes at hand can hold them.
    template <Section section>
    void expect(std::uint32_t count) {
        using Table = std::remove_cvref_t<decltype(table_of<section>(state_))>;
        if constexpr (requires { typename Table::handle_type; }) {
            constexpr auto entry_size = std::size_t{64};  // few are shorter
            const auto room = std::min<std::uint64_t>(count, in_->remaining() / entry_size);
            state_.template reserve<typename Table::handle_type>(static_cast<std::uint32_t>(room));
        }
    }
    void demand(bool good, SnapshotError otherwise = SnapshotError::contradiction) {
        if (!good && !fault_) { fault_ = SnapshotFault{otherwise, what_, entry_}; }
    }
    /// True if all values read so far were in canonical form and no other fault was found.
    auto decoded() -> bool {
        if (in_->fault() && !fault_) { fault_ = SnapshotFault{SnapshotError::malformed, what_, entry_, in_->fault()}; }
        return !fault_;
    }
    template <class T>
    [[nodiscard]] auto value() -> T {
        auto value = blank<T>();
        decoder_.get(value);
        (void)decoded();
        return value;
    }
    /// Subtracts a gap from the remaining reach; a fault if it is used up.
    void reach(std::uint64_t further) {
        demand(further <= reach_left_, SnapshotError::too_sparse);
        reach_left_ -= fault_ ? 0U : further;
    }
    static auto in_time(TimePoint time) -> bool { return may_be_due(time, -duration_max); }
    /// True for a time at which something may be due: up to the longest wait from the latest instant, and the time `by`
    /// that outages added.
    static auto may_be_due(TimePoint time, Duration by = {}) -> bool {
        return time == never || (TimePoint{} <= time && time <= time_point_max + duration_max + by);
    }
    template <class Values>
    static auto ascends(const Values& values) -> bool {
        return std::adjacent_find(values.begin(), values.end(),
                                  [](const auto& a, const auto& b) { return !(a < b); }) == values.end();
    }

    void counters() {
        what_ = "counters";
        const auto counters = value<Counters>();
        const auto& c = counters.ceilings;
        const auto power = [](StakeRoot root) { return root.is_zero() || ceil_power_of_two(root) == root; };
        demand(TimePoint{} <= counters.now && counters.now <= time_point_max && power(c.unit) && power(c.from) &&
               power(c.to) && c.unit >= c.from && c.unit >= c.to && (c.moving() || c.renewed == 0) &&
               counters.token_next > 0);
        if (!fault_) { state_.set(counters, nobody_); }
    }

    template <Section section>
    void read(std::uint32_t number) {
        if constexpr (section == Section::classes) {
            interned(ClassId{number}, value<NodeClass>(), state_.fits().classes());
        } else if constexpr (section == Section::requirements) {
            const auto requirement = value<Requirement>();
            const auto& refused = requirement.platforms_refused;
            demand(ascends(requirement.gpus) && ascends(requirement.platforms) && ascends(refused) &&
                       (refused.empty() || requirement.platforms.empty()),
                   SnapshotError::not_canonical);
            demand(requirement.gang_size >= 1 && requirement.gang_size <= 255 &&
                   (requirement.gang_size > 1 || !requirement.same_card));
            interned(RequirementId{number}, requirement, state_.fits().requirements());
        } else if constexpr (section == Section::models) {
            const auto name = value<std::string>();
            demand(!name.empty() && name.size() <= Name::size_max);
            interned(ModelId{number}, name, state_.models().names());
        } else if constexpr (section == Section::node_names) {
            const auto name = value<NodeId>();
            demand(!name.is_null());
            interned(NodeNameId{number}, name, state_.node_names());
        } else if constexpr (section == Section::nodes) {
            node(NodeHandle{number});
        } else if constexpr (section == Section::groups) {
            group(GroupHandle{number});
        } else if constexpr (section == Section::tasks) {
            task(TaskHandle{number});
        } else if constexpr (section == Section::ended_tasks) {
            ended(EndedHandle{number});
        } else {
            lease(LeaseHandle{number});
        }
    }

    template <class Id, class Value, class Table>
    void interned(Id id, const Value& value, const Table& table) {
        demand(!table.find(value), SnapshotError::not_canonical);
        if (!fault_) { state_.intern_at(id, value, nobody_); }
    }

    void node(NodeHandle h) {
        auto record = value<Record>();
        auto held = value<HeldModels>();
        if (fault_) { return; }
        const auto& node = record.node;
        demand(!node.id.is_null() && !state_.nodes().find(node.id), SnapshotError::not_canonical);
        demand(node.stake.admitted() && may_be_due(node.due_at));
        if (node.state == NodeState::left) {
            demand(node.node_class == no_handle<ClassId> && node.slot == 0 && !node.leased() && held.empty());
        } else {
            const auto waits = node.state == NodeState::available || node.state == NodeState::paused;
            demand(node.leased() != (waits || node.departs()) && state_.fits().contains(node.node_class));
            const auto on_disk = std::all_of(held.begin(), held.end(), [](const auto& one) { return one.on_disk(); });
            demand(!node.departs() || (!held.empty() && on_disk && node.due_at <= state_.counters().now));
            if (!fault_) {
                grows(slots_, node.node_class.value, node.slot);
                demand(!state_.fits().slots(node.node_class).taken(node.slot), SnapshotError::not_canonical);
            }
        }
        if constexpr (requires { record.qos.valid(); }) { demand(record.qos.valid()); }
        demand(std::adjacent_find(held.begin(), held.end(),
                                  [](const auto& a, const auto& b) { return !(a.model < b.model); }) == held.end(),
               SnapshotError::not_canonical);
        for (const auto& model : held) {
            const auto until = held.until(&model);
            demand(state_.models().names().contains(model.model.value) && TimePoint{} <= until && until != never &&
                   (model.on_disk() || held.expires(&model)));
            if (!fault_ && model.on_disk()) {
                grows(places_, (std::uint64_t{model.model.value} << 32U) | node.node_class.value, model.place);
                demand(!fault_ && !state_.models().taken(model.model, node.node_class, model.place),
                       SnapshotError::not_canonical);
            } else {
                demand(model.on_disk() || model.place == 0);
            }
        }
        if (!fault_) {
            state_.put(h, std::move(record), nobody_);
            auto wishes = held;
            held.erase_if([](const HeldModel* model) { return !model->on_disk(); });
            wishes.erase_if([](const HeldModel* model) { return model->on_disk(); });
            state_.hold(h, std::move(held), nobody_);
            if (!wishes.empty()) { state_.wish(h, std::move(wishes), nobody_); }
        }
    }

    void group(GroupHandle h) {
        auto group = value<GroupRecord>();
        demand(!group.id.is_null() && !state_.groups().find(group.id), SnapshotError::not_canonical);
        demand(group.tasks > 0 && group.tasks >= group.tasks_left && may_be_due(group.due_at) &&
               (group.tasks_left > 0 || group.due_at != never));
        if (!fault_) {
            members_left_.push_back({h, group.tasks_left});
            state_.put(h, std::move(group), nobody_);
        }
    }

    void task(TaskHandle h) {
        auto task = value<Task>();
        if (fault_) { return; }
        demand(!task.id.is_null() && !state_.tasks().find(task.id), SnapshotError::not_canonical);
        demand(may_be_due(task.due_at) && in_time(task.submitted_at) &&
               task.sequence < state_.counters().sequence_next);
        demand(task.fee.admitted() && task.duration_estimate > Duration{0});  // zero stands for one out of range, too
        demand(task.state != TaskState::ended);
        demand((task.state == TaskState::running) == (task.lease != no_handle<LeaseHandle>));
        demand(!task.pinned() || (task.owner().is_null() && task.group == no_handle<GroupHandle>));
        demand(task.state == TaskState::running || task.pinned() == (task.state == TaskState::held));
        demand(state_.fits().contains(task.requirement));
        demand(fault_ || !task.pinned() || state_.fits().value(task.requirement).gang_size == 1);
        sequences_.push_back(task.sequence);
        for (const auto model : task.models()) { demand(state_.models().names().contains(model.value)); }
        if (task.group != no_handle<GroupHandle>) {
            const auto at = std::lower_bound(members_left_.begin(), members_left_.end(), task.group,
                                             [](const auto& entry, GroupHandle g) { return entry.first < g; });
            const auto known = at != members_left_.end() && at->first == task.group && at->second > 0;
            demand(known);
            if (known) { --at->second; }
        }
        if (!fault_) { state_.put(h, std::move(task), nobody_); }
    }

    void ended(EndedHandle h) {
        auto task = value<EndedTask>();
        if (fault_) { return; }
        demand(!task.id.is_null() && !state_.tasks().find(task.id) && !state_.ended_tasks().find(task.id),
               SnapshotError::not_canonical);
        demand(may_be_due(task.due_at) && task.due_at != never);
        demand(task.node == no_handle<NodeNameId> || state_.node_names().contains(task.node.value));
        demand(agree(task));
        if (!fault_) { state_.put(h, std::move(task), nobody_); }
    }

    /// True if the ending, its cause, and the presence of a node fit together.
    static auto agree(const EndedTask& task) -> bool {
        const auto by_node = task.node != no_handle<NodeNameId>;
        const auto among = [&](EndCause first, EndCause last) { return first <= task.cause && task.cause <= last; };
        switch (task.ending) {
            case Ending::done: return by_node && task.cause == EndCause::none;
            case Ending::failed: return by_node && among(EndCause::out_of_memory, EndCause::incorrect_result);
            case Ending::cancelled: return !by_node && task.cause == EndCause::none;
            case Ending::evicted: return !by_node && among(EndCause::queue_full, EndCause::table_full);
            case Ending::timed_out:
                return by_node ? task.cause == EndCause::lease_deadline : task.cause == EndCause::queue_deadline;
        }
        return false;
    }

    void lease(LeaseHandle h) {
        const auto lease = value<LeaseRecord>();
        const auto completed = lease.phase == LeasePhase::completed;
        const auto postponed = std::clamp(lease.postponed, Duration{0}, postponed_max);
        demand(lease.token < state_.counters().token_next && in_time(lease.started_at) &&
               (lease.deadline == never) == completed && may_be_due(lease.deadline, postponed) &&
               lease.postponed == postponed);
        const auto* task = state_.tasks().find_record(lease.task);
        const auto* node = state_.nodes().find_record(lease.node);
        demand(task != nullptr && task->state == TaskState::running && node != nullptr && node->node.lease == h);
        demand(task == nullptr || fault_ || lease.of == state_.fits().value(task->requirement).gang_size);
        demand(lease.member < lease.of);
        tokens_.push_back(lease.token);
        if (!fault_) { state_.put(h, LeaseRecord{lease}, nobody_); }
    }

    /// Checks forward references, counts and uniqueness. @complexity O(n log n) in the records.
    void references() {
        const auto distinct = [](std::vector<std::uint64_t>& values) {
            std::sort(values.begin(), values.end());
            return std::adjacent_find(values.begin(), values.end()) == values.end();
        };
        const auto about = [&](std::string_view what, std::uint32_t entry, bool good) {
            what_ = what;
            entry_ = entry;
            demand(good);
        };
        about("tasks", 0, distinct(sequences_));
        about("leases", 0, distinct(tokens_));
        for (const auto& [g, left] : members_left_) { about("groups", g.value, left == 0); }
        state_.nodes().for_each([&](NodeHandle h, const Record& record) {
            const auto* lease = record.node.leased() ? state_.leases().find_record(record.node.lease) : nullptr;
            about("nodes", h.value, !record.node.leased() || (lease != nullptr && lease->node == h));
            const auto* held = state_.tasks().find_record(record.node.held);
            const auto holds = record.node.held != no_handle<TaskHandle>;
            about("nodes", h.value,
                  !holds || (record.node.present() && record.node.state != NodeState::available && held != nullptr &&
                             held->state == TaskState::held && held->pinned_to == h));
        });
        auto chained = std::uint32_t{0};
        state_.tasks().for_each([&](TaskHandle h, const Task& task) {
            const auto* node = state_.nodes().find_record(task.pinned_to);
            const auto runs = task.state == TaskState::running;
            about("tasks", h.value, !task.pinned() || (node != nullptr && (runs || node->node.held == h)));
            if (!runs) { return; }
            // The chain is finite, because members ascend; at least one of its leases must not be completed.
            auto good = true;
            auto at_work = false;
            auto least = std::uint32_t{0};
            for (auto l = task.lease; good && l != no_handle<LeaseHandle>;) {
                const auto* lease = state_.leases().find_record(l);
                good = lease != nullptr && lease->task == h && lease->member >= least &&
                       (!task.pinned() || lease->node == task.pinned_to);
                if (good) {
                    ++chained;
                    at_work = at_work || lease->phase != LeasePhase::completed;
                    least = lease->member + 1U;
                    l = lease->next;
                }
            }
            about("tasks", h.value, good && at_work);
        });
        about("leases", 0, chained == state_.leases().size());
        const auto used = [&](std::string_view what, const auto& table) {
            table.for_each([&](std::uint32_t id, const auto&) { about(what, id, table.count(id) > 0); });
        };
        used("classes", state_.fits().classes());
        used("requirements", state_.fits().requirements());
        used("models", state_.models().names());
        used("node names", state_.node_names());
    }

    /// For each class, or each model's holders in a class, the highest place seen so far.
    using Reaches = std::map<std::uint64_t, std::uint32_t>;
    void grows(Reaches& reaches, std::uint64_t key, std::uint32_t place) {
        auto& farthest = reaches[key];
        if (place > farthest) {
            reach(place - farthest);
            farthest = place;
        }
    }

    ByteReader* in_;
    Decoder decoder_;
    State state_;
    Nobody nobody_{};
    std::uint64_t reach_left_;
    Reaches slots_{};
    Reaches places_{};
    std::vector<std::pair<GroupHandle, std::uint32_t>> members_left_{};
    std::vector<std::uint64_t> sequences_{};
    std::vector<std::uint64_t> tokens_{};
    std::string_view what_{};
    std::uint32_t entry_ = 0;
    std::optional<SnapshotFault> fault_{};
};

}}}  // namespace allot::v0::detail
