#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <boost/functional/hash.hpp>
#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/weight.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/qos/rolling_qos.hpp>

#include "contestant/multi_index_queue.hpp"

namespace bench {

/// The obvious composition of good parts: MultiIndex tables of nodes and tasks by id, MultiIndex leases by task and by
/// deadline, a MultiIndex queue; the draw is our pool's and the scores are our tracker's. It knows but four commands
/// and takes the same decisions as the library. No undo, no limits, no models, no patience in the queue.
class Composition {
public:
    using Command =
        std::variant<allot::command::Join, allot::command::Score, allot::command::Submit, allot::command::Complete>;

    explicit Composition(std::size_t /*nodes*/) {}

    void apply(const Command& command, const allot::Moment& moment, allot::Events& events) {
        now_ = moment.time;
        expire(events);
        std::visit([&](const auto& c) { carry_out(c, moment, events); }, command);
    }
    void apply(std::span<const Command> commands, const allot::Moment& moment, allot::Events& events) {
        for (const auto& command : commands) { apply(command, moment, events); }
    }

private:
    struct HashId {
        template <class Id>
        auto operator()(const Id& id) const -> std::size_t {
            return boost::hash_range(id.bytes().begin(), id.bytes().end());
        }
    };
    struct Node {
        allot::NodeId id;
        allot::StakeRoot stake_root;
        allot::ClassId node_class;
        std::uint32_t slot;
        std::uint32_t handle;
        bool available;
        allot::RollingQos::node_data qos;
    };
    struct Task {
        allot::TaskId id;
        std::optional<allot::OwnerId> owner;
        allot::Amount fee;
        allot::Duration duration_estimate;
        allot::Value value;
        std::uint64_t sequence;
        std::uint32_t requirement;
        std::uint32_t handle;
        bool running;
    };
    struct LeaseRow {
        allot::TaskId task;
        std::uint32_t node;
        std::uint64_t token;
        allot::TimePoint deadline;
    };
    struct Requirement {
        std::uint32_t vram_min;
        std::string card;
        std::vector<allot::ClassId> classes;
    };
    struct Class {
        std::string card;
        std::uint32_t vram;
        std::uint32_t nodes;
        std::vector<std::uint32_t> requirements;
    };

    template <class Row, class T, T Row::*Member>
    using Of = boost::multi_index::member<Row, T, Member>;
    using Nodes = boost::multi_index_container<
        Node, boost::multi_index::indexed_by<
                  boost::multi_index::hashed_unique<Of<Node, allot::NodeId, &Node::id>, HashId>,
                  boost::multi_index::ordered_non_unique<Of<Node, allot::StakeRoot, &Node::stake_root>, std::less<>>>>;
    using Tasks = boost::multi_index_container<
        Task,
        boost::multi_index::indexed_by<boost::multi_index::hashed_unique<Of<Task, allot::TaskId, &Task::id>, HashId>>>;
    using Leases = boost::multi_index_container<
        LeaseRow, boost::multi_index::indexed_by<
                      boost::multi_index::hashed_unique<Of<LeaseRow, allot::TaskId, &LeaseRow::task>, HashId>,
                      boost::multi_index::ordered_unique<boost::multi_index::composite_key<
                          LeaseRow, Of<LeaseRow, allot::TimePoint, &LeaseRow::deadline>,
                          Of<LeaseRow, std::uint64_t, &LeaseRow::token>>>>>;

    void carry_out(const allot::command::Join& join, const allot::Moment&, allot::Events& events) {
        const auto node_class = class_of(join.node.gpu, join.node.vram.count);
        auto node = Node{join.node.id,
                         allot::StakeRoot::from(join.node.stake.units),
                         node_class,
                         classes_[node_class.value].nodes++,
                         static_cast<std::uint32_t>(by_handle_.size()),
                         true,
                         {}};
        qos_.joined(node.qos, now_);
        const auto inserted = nodes_.insert(node).first;
        by_handle_.push_back(&*inserted);
        put(*inserted, true);
        events.push(allot::event::NodeJoined{node.id});
    }

    void carry_out(const allot::command::Score& score, const allot::Moment&, allot::Events& events) {
        const auto node = nodes_.get<0>().find(score.node);
        put(*node, false);
        judge(node, {allot::OutcomeKind::scored, score.points});
        put(*node, node->available);
        events.push(allot::event::NodeScored{score.node});
    }

    void carry_out(const allot::command::Submit& submit, const allot::Moment& moment, allot::Events& events) {
        const auto& spec = submit.task;
        if (tasks_.get<0>().count(spec.id) != 0) {
            events.push(allot::event::Refused{allot::Error::task_duplicate});
            return;
        }
        const auto requirement =
            requirement_of(spec.vram_min.count, spec.gpus.empty() ? std::string{} : spec.gpus[0].name);
        const auto value = allot::Value{spec.fee.units, static_cast<std::uint64_t>(spec.duration_estimate.count())};
        const auto task = tasks_
                              .insert(Task{spec.id, spec.owner, spec.fee, spec.duration_estimate, value, sequence_++,
                                           requirement, free_handle(), false})
                              .first;
        task_by_handle_[task->handle] = &*task;
        refresh_ceiling();
        auto random = allot::Random{*moment.entropy, allot::Purpose::dispatch, spec.id.bytes()};
        const auto frame = allot::SamplingFrame{requirements_[requirement].classes};
        const auto drawn = pool_.draw(
            frame, [&](auto h, auto) { return weight(*by_handle_[h.value]); }, random);
        if (drawn) {
            start(task, nodes_.iterator_to(*by_handle_[drawn->node.value]), events);
        } else {
            waiting_.push({allot::TaskHandle{task->handle}, allot::RequirementId{requirement}, value, task->sequence});
            events.push(allot::event::TaskQueued{spec.id, spec.owner, {}});
            if (waiting_.size() > std::max<std::size_t>(50, nodes_.size())) {
                const auto& victim = *task_by_handle_[*waiting_.worst()];
                events.push(
                    allot::event::TaskEvicted{.task = victim.id, .owner = victim.owner, .refunded = victim.fee});
                waiting_.erase({allot::TaskHandle{victim.handle}, {}, {}, 0});
                forget(tasks_.iterator_to(victim));
            }
        }
    }

    void carry_out(const allot::command::Complete& complete, const allot::Moment&, allot::Events& events) {
        const auto lease = leases_.get<0>().find(complete.lease.task);
        if (lease == leases_.get<0>().end() || lease->token != complete.lease.token) {
            events.push(allot::event::Refused{allot::Error::lease_stale});
            return;
        }
        const auto node = nodes_.iterator_to(*by_handle_[lease->node]);
        const auto task = tasks_.get<0>().find(complete.lease.task);
        events.push(allot::event::LeaseEnded{complete.lease, task->owner});
        events.push(
            allot::event::TaskDone{.task = task->id, .node = node->id, .owner = task->owner, .paid = task->fee});
        leases_.erase(lease);
        forget(task);
        release(node, allot::OutcomeKind::success, events);
    }

    void expire(allot::Events& events) {
        auto& by_deadline = leases_.get<1>();
        while (!by_deadline.empty() && by_deadline.begin()->deadline <= now_) {
            const auto row = *by_deadline.begin();
            const auto task = tasks_.get<0>().find(row.task);
            events.push(allot::event::TaskTimedOut{.task = task->id,
                                                   .owner = task->owner,
                                                   .refunded = task->fee,
                                                   .expiry = allot::event::Expiry::execution});
            by_deadline.erase(by_deadline.begin());
            forget(task);
            release(nodes_.iterator_to(*by_handle_[row.node]), allot::OutcomeKind::timeout, events);
        }
    }

    /// A node that became free takes the best task that waits.
    void release(Nodes::iterator node, allot::OutcomeKind outcome, allot::Events& events) {
        judge(node, {outcome});
        if (const auto best = waiting_.best_of(classes_[node->node_class.value].requirements)) {
            const auto task = tasks_.iterator_to(*task_by_handle_[*best]);
            waiting_.erase({allot::TaskHandle{task->handle}, {}, {}, 0});
            start(task, node, events);
        } else {
            nodes_.modify(node, [](Node& n) { n.available = true; });
            put(*node, true);
        }
    }

    void start(Tasks::iterator task, Nodes::iterator node, allot::Events& events) {
        const auto length =
            std::clamp(task->duration_estimate * 2, allot::Duration{60'000}, allot::Duration{7'200'000});
        const auto lease = LeaseRow{task->id, node->handle, token_++, now_ + length};
        leases_.insert(lease);
        if (node->available) {
            put(*node, false);
            nodes_.modify(node, [](Node& n) { n.available = false; });
        }
        tasks_.modify(task, [](Task& t) { t.running = true; });
        events.push(allot::event::TaskStarted{{task->id, node->id, lease.token, 0, 1, lease.deadline}, task->owner});
    }

    void forget(Tasks::iterator task) {
        free_handles_.push_back(task->handle);
        tasks_.erase(task);
    }

    void judge(Nodes::iterator node, allot::Outcome outcome) {
        nodes_.modify(node, [&](Node& n) { (void)qos_.record(n.qos, outcome, now_); });
    }

    // ---- weights, as the library defines them ---------------------------------------------------------------------

    [[nodiscard]] auto root_max() const -> allot::StakeRoot { return std::prev(nodes_.get<1>().end())->stake_root; }

    [[nodiscard]] auto weight(const Node& node) const -> allot::Weight {
        const auto exact = allot::harmonic({node.stake_root, root_max(), qos_.score(node.qos, now_)});
        return allot::at_stake_root_ceiling(exact, root_max(), ceiling_);
    }
    void put(const Node& node, bool there) {
        const auto ceiling = std::max(ceiling_, allot::ceil_power_of_two(node.stake_root));
        const auto bound = allot::bound_of(allot::harmonic({node.stake_root, ceiling, qos_.score_max(node.qos)}));
        auto place =
            allot::NodePlace{allot::NodeHandle{node.handle}, node.node_class, node.slot, there ? bound : 0, 0, {}};
        pool_.changed(place, place);
    }
    void refresh_ceiling() {
        if (const auto largest = root_max(); largest > ceiling_ || exponent_gap(largest, ceiling_) > 2) {
            ceiling_ = allot::ceil_power_of_two(largest);
            for (const auto* node : by_handle_) { put(*node, node->available); }
        }
    }

    // ---- classes and requirements ---------------------------------------------------------------------------------

    [[nodiscard]] static auto fits(const Class& c, const Requirement& r) -> bool {
        return c.vram >= r.vram_min && (r.card.empty() || r.card == c.card);
    }
    auto class_of(const std::string& card, std::uint32_t vram) -> allot::ClassId {
        const auto [found, fresh] = class_names_.try_emplace({card, vram}, static_cast<std::uint32_t>(classes_.size()));
        if (fresh) {
            classes_.push_back({card, vram, 0, {}});
            for (std::uint32_t r = 0; r < requirements_.size(); ++r) { relate(found->second, r); }
        }
        return {found->second};
    }
    auto requirement_of(std::uint32_t vram_min, const std::string& card) -> std::uint32_t {
        const auto next = static_cast<std::uint32_t>(requirements_.size());
        const auto [found, fresh] = requirement_names_.try_emplace({card, vram_min}, next);
        if (fresh) {
            requirements_.push_back({vram_min, card, {}});
            for (std::uint32_t c = 0; c < classes_.size(); ++c) { relate(c, found->second); }
        }
        return found->second;
    }
    void relate(std::uint32_t c, std::uint32_t r) {
        if (fits(classes_[c], requirements_[r])) {
            requirements_[r].classes.push_back({c});
            classes_[c].requirements.push_back(r);
        }
    }
    auto free_handle() -> std::uint32_t {
        if (free_handles_.empty()) {
            task_by_handle_.push_back(nullptr);
            return static_cast<std::uint32_t>(task_by_handle_.size() - 1);
        }
        const auto handle = free_handles_.back();
        free_handles_.pop_back();
        return handle;
    }

    allot::TimePoint now_{};
    Nodes nodes_;
    std::vector<const Node*> by_handle_;
    Tasks tasks_;
    std::vector<const Task*> task_by_handle_;
    std::vector<std::uint32_t> free_handles_;
    Leases leases_;
    MultiIndexQueue waiting_;
    allot::GpuGroupPool pool_;
    allot::RollingQos qos_;
    allot::StakeRoot ceiling_{};
    std::vector<Class> classes_;
    std::vector<Requirement> requirements_;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> class_names_;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> requirement_names_;
    std::uint64_t token_ = 1;
    std::uint64_t sequence_ = 0;
};

}  // namespace bench
