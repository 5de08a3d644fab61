#pragma once

#include <type_traits>
#include <variant>

#include <allot/core/command.hpp>
#include <allot/core/task.hpp>
#include <allot/dispatcher/class_tally.hpp>
#include <allot/dispatcher/gated_tasks.hpp>
#include <allot/dispatcher/grouped_tasks.hpp>
#include <allot/dispatcher/late_change.hpp>
#include <allot/dispatcher/operator_stakes.hpp>
#include <allot/dispatcher/owner_tally.hpp>
#include <allot/dispatcher/policy_pack.hpp>
#include <allot/dispatcher/rules.hpp>
#include <allot/eligibility/hardware_fit.hpp>
#include <allot/fwd.hpp>
#include <allot/placement/threshold_placement.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/store/records.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/valuation/fee_per_second.hpp>
#include <allot/weight/harmonic_weight.hpp>

namespace allot { inline namespace v0 {

/// The types that a list of policies chooses: one model for each role, the default if the list has none.
template <class... Policies>
struct Composition {
    using Pack = detail::PolicyPack<Policies...>;
    template <class Role, template <class> class Check, class Default>
    using Choose = detail::checked<Check<typename Pack::template find<Role, Default>>,
                                   typename Pack::template find<Role, Default>, Default>;

    using WeightPolicy = Choose<role::weight, WeightPolicyCheck, allot::WeightPolicy>;
    using Eligibility = Choose<role::eligibility, EligibilityCheck, HardwareFit>;
    using CandidatePool = Choose<role::pool, CandidatePoolCheck,
                                 std::conditional_t<monotone_weight<WeightPolicy>, allot::CandidatePool, LinearPool>>;
    using TaskQueue = Choose<role::queue, TaskQueueCheck, allot::TaskQueue>;
    using QoSTracker = Choose<role::qos, QoSTrackerCheck, allot::QoSTracker>;
    using Valuation = Choose<role::valuation, TaskValuationCheck, FeePerSecond>;
    using Placement = Choose<role::placement, ModelPlacementCheck, ThresholdPlacement>;
    using Terms = Choose<role::terms, LeaseTermsCheck, FixedTerms>;

    static_assert(
        !stores_bounds<CandidatePool> || monotone_weight<WeightPolicy>,
        "allot: this pool stores bounds, so the weight policy must keep the law of monotone_weight and say so with "
        "`static constexpr bool monotone = true;`; or use allot::LinearPool");
    static_assert(
        !has_holder_weight_min<WeightPolicy> || monotone_weight<WeightPolicy>,
        "allot: a weight policy with `holder_weight_min` must keep the law of monotone_weight and say so with "
        "`static constexpr bool monotone = true;`, because holders weigh by their bounds");
    static_assert(!has_holder_weight_min<WeightPolicy> || has_total<CandidatePool>,
                  "allot: a weight policy with `holder_weight_min` needs a candidate pool with "
                  "`auto total(const SamplingFrame&) const -> std::uint64_t`");
    static_assert(
        std::is_same_v<typename Pack::template find<role::rules, Rules>, Rules>,
        "allot: the role `rules` is the dispatcher's own; give the Dispatcher an allot::Rules with your parameters");
    static_assert(
        std::is_same_v<typename Pack::template find<role::id_key, IdKey>, IdKey>,
        "allot: the role `id_key` is the dispatcher's own; give the Dispatcher an allot::IdKey with your secret");

    /// Parameters of one policy, or of the rules.
    using Configuration = detail::configuration<Rules, Eligibility, WeightPolicy, CandidatePool, TaskQueue, QoSTracker,
                                                Valuation, Placement, Terms>;
    /// Any command that a dispatcher of these policies takes.
    using Command = basic_command<Configuration>;
    using NodeData = typename QoSTracker::node_data;
    using Record = NodeRecord<NodeData>;
    using State = Records<NodeData, Configuration>;
};

/// Members of a dispatcher: the records, the rules, eight policies, and the tallies that follow from the records.
///
/// `View` adds the questions, all const. Only `Indices` and `Door` write here.
template <class... Policies>
struct Parts {
    using Types = Composition<Policies...>;

    /// All parts in their first state. `all` is the result of `PolicyPack::unpack`. Throws as `detail::sound` does if a
    /// policy's parameters have a fault.
    explicit Parts(const typename Types::Pack::All& all)
        : records{[&] {
              const auto key = Types::Pack::template take<role::id_key, IdKey>(all);
              return SipKey{key.k0, key.k1};
          }()},
          rules{Types::Pack::template take<role::rules, Rules>(all)},
          eligibility{Types::Pack::template take<role::eligibility, typename Types::Eligibility>(all)},
          weight_policy{Types::Pack::template take<role::weight, typename Types::WeightPolicy>(all)},
          pool{Types::Pack::template take<role::pool, typename Types::CandidatePool>(all)},
          queue{Types::Pack::template take<role::queue, typename Types::TaskQueue>(all)}, gated{queue, records.key()},
          qos{Types::Pack::template take<role::qos, typename Types::QoSTracker>(all)},
          valuation{Types::Pack::template take<role::valuation, typename Types::Valuation>(all)},
          placement{Types::Pack::template take<role::placement, typename Types::Placement>(all)},
          terms{Types::Pack::template take<role::terms, typename Types::Terms>(all)} {
        each_of(*this, [](auto& policy) { detail::check_parameters(policy); });
    }

    /// Calls `f(policy)` for each policy, in the order of the roles. It is the one list of them all.
    template <class Self, class F>
    static void each_of(Self& self, F&& f) {
        f(self.rules);
        f(self.eligibility);
        f(self.weight_policy);
        f(self.pool);
        f(self.queue);
        f(self.qos);
        f(self.valuation);
        f(self.placement);
        f(self.terms);
    }

    /// True if each policy has the same parameters in both.
    [[nodiscard]] auto same_parameters(const Parts& other) const -> bool {
        return detail::same_parameters(rules, other.rules) && detail::same_parameters(eligibility, other.eligibility) &&
               detail::same_parameters(weight_policy, other.weight_policy) &&
               detail::same_parameters(pool, other.pool) && detail::same_parameters(queue, other.queue) &&
               detail::same_parameters(qos, other.qos) && detail::same_parameters(valuation, other.valuation) &&
               detail::same_parameters(placement, other.placement) && detail::same_parameters(terms, other.terms);
    }

    /// The pool, with the change that waited. Between commands none waits, so that const calls change nothing.
    /// @complexity that of the change.
    [[nodiscard]] auto candidates() const -> const typename Types::CandidatePool& {
        settle();
        return pool;
    }
    void settle() const { late.settle(pool); }

    /// Gives back the room that pool, queues and tallies have for records that are gone. Changes no result.
    /// @param gone True if nodes or tasks gave back room. Else only a queue that fell is asked.
    /// @complexity amortised O(1) for each of these records.
    void trim(bool gone) noexcept {
        queue_fell = queue_fell && falls();
        if (!gone && !queue_fell) { return; }
        const auto nodes = records.nodes().reach();
        const auto tasks = records.tasks().reach();
        if constexpr (has_node_trim<typename Types::CandidatePool>) { pool.trim(nodes); }
        operators.trim(nodes);
        if constexpr (has_share<typename Types::TaskQueue>) { shared.trim(nodes); }
        owners.trim(tasks);
        if constexpr (has_trim<typename Types::TaskQueue>) { queue.trim(records.fits().requirements().reach(), tasks); }
        gated.trim(tasks);
    }
    /// True if a queue has room to give back although no node and no task gave back some.
    [[nodiscard]] auto falls() const noexcept -> bool {
        if constexpr (has_falls<typename Types::TaskQueue>) {
            if (queue.falls()) { return true; }
        }
        return rules.parameters().narrowing == Narrowing::gate && gated.falls();
    }

    typename Types::State records;
    bool queue_fell = false;  ///< A task left the queue, and since then it had room to give back.
    bool tasks_out = false;   ///< Tasks are out of the queue while its order changes. It stays so if a policy throws.
    [[no_unique_address]] Rules rules;
    [[no_unique_address]] typename Types::Eligibility eligibility;
    [[no_unique_address]] typename Types::WeightPolicy weight_policy;
    mutable typename Types::CandidatePool pool;  ///< Read it as `candidates()`.
    mutable LateChange late{};                   ///< Of the pool.
    typename Types::TaskQueue queue;
    GatedTasks<typename Types::TaskQueue> gated;  ///< The same tasks again while the rules have a gate; else none.
    [[no_unique_address]] typename Types::QoSTracker qos;
    [[no_unique_address]] typename Types::Valuation valuation;
    [[no_unique_address]] typename Types::Placement placement;
    [[no_unique_address]] typename Types::Terms terms;
    OwnerTally owners{};
    GroupedTasks grouped{};
    OperatorStakes operators{};
    /// The nodes that the share of a requirement counts, if the queue has shares.
    [[no_unique_address]] std::conditional_t<has_share<typename Types::TaskQueue>, ClassTally, std::monostate> shared{};
    Task blank{};  ///< The task for which bounds are computed; a monotone weight does not depend on it.
};

}}  // namespace allot::v0
