#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <allot/policy/candidate_pool.hpp>
#include <allot/policy/eligibility.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/policy/qos_tracker.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/policy/task_valuation.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// The smallest models of each role: the members that the concept asks for, and no others.
///
/// A Dispatcher compiles with each of them, so it asks no more of a policy than the concept says. They are also the
/// shortest starting point for a policy of your own. Pool and queue store nothing, so they fulfil none of the laws of
/// laws.hpp.
namespace archetype {

/// Every node may run every task.
struct Eligibility {
    using role = role::eligibility;

    [[nodiscard]] auto fits(const NodeClass&, const Requirement&) const -> Reason { return Reason::none; }
    [[nodiscard]] auto admits(const Node&, const Task&, const Situation&) const -> Reason { return Reason::none; }
};

/// All candidates have equal weight. It does not claim to be monotone, so it needs a pool that stores no bounds.
struct Weight {
    using role = role::weight;

    [[nodiscard]] auto weight(const Node&, const Task&, Factors) const -> v0::Weight {
        return v0::Weight::from_ratio(1, 1);
    }
};

/// There is never a candidate.
struct Pool {
    using role = role::pool;

    void changed(const NodePlace&, const NodePlace&) {}
    template <class Weigh>
    [[nodiscard]] auto draw(const SamplingFrame&, const Weigh&, Random&) const -> std::optional<Draw> {
        return std::nullopt;
    }
    [[nodiscard]] auto count(const SamplingFrame&) const -> std::uint32_t { return 0; }
};

/// Nothing is ever found in it.
struct Queue {
    using role = role::queue;

    void push(const QueueEntry&) {}
    void erase(const QueueEntry&) {}
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId>, const Fits&) const -> std::optional<TaskHandle> {
        return std::nullopt;
    }
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> { return std::nullopt; }
    [[nodiscard]] auto worst_of(RequirementId) const -> std::optional<TaskHandle> { return std::nullopt; }
    [[nodiscard]] auto size() const -> std::uint32_t { return 0; }
    [[nodiscard]] auto capacity(std::uint32_t) const -> std::uint32_t { return 1; }
};

/// All nodes have the best score, regardless of their outcomes.
struct QoS {
    using role = role::qos;

    /// It holds no data.
    struct node_data {
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };

    void joined(node_data&, TimePoint) const {}
    [[nodiscard]] auto record(node_data&, Outcome, TimePoint) const -> Standing { return Standing::good; }
    [[nodiscard]] auto score(const node_data&, TimePoint) const -> Score { return Score::one(); }
    [[nodiscard]] auto score_max(const node_data&) const -> Score { return Score::one(); }
    [[nodiscard]] auto back_at(const node_data&) const -> std::optional<TimePoint> { return std::nullopt; }
    [[nodiscard]] auto points_max() const -> std::uint32_t { return 0; }
};

/// All tasks have equal value, so they are ordered by submission.
struct Valuation {
    using role = role::valuation;

    [[nodiscard]] auto value(const Task&, const Requirement&) const -> Value { return {}; }
};

/// No node is asked to fetch a model.
struct Placement {
    using role = role::placement;

    [[nodiscard]] auto wanted(const ModelDemand&) const -> Wanted { return {}; }
    [[nodiscard]] auto asked_for() const -> Duration { return Duration{1}; }
};

/// A lease and a wait last one second, and a failure ends the task.
struct Terms {
    using role = role::terms;

    [[nodiscard]] auto length(const Node&, const Task&) const -> Duration { return std::chrono::seconds{1}; }
    [[nodiscard]] auto length_max(const Node&, const Task&) const -> Duration { return std::chrono::seconds{1}; }
    [[nodiscard]] auto patience(const Task&) const -> Duration { return std::chrono::seconds{1}; }
    [[nodiscard]] auto after(const Task&, OutcomeKind) const -> Next { return Next::end; }
};

}  // namespace archetype

}}  // namespace allot::v0
