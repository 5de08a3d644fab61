#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

template <class... Ps>
Dispatcher<Ps...>::Dispatcher(FromChoices, const Choices& all)
    : state_{[&] {
          const auto key = Pack::template take<role::id_key, IdKey>(all);
          return SipKey{key.k0, key.k1};
      }()},
      rules_{Pack::template take<role::rules, Rules>(all)},
      eligibility_{Pack::template take<role::eligibility, Eligibility>(all)},
      weight_{Pack::template take<role::weight, WeightPolicy>(all)},
      pool_{Pack::template take<role::pool, CandidatePool>(all)},
      queue_{Pack::template take<role::queue, TaskQueue>(all)},
      qos_{Pack::template take<role::qos, QoSTracker>(all)},
      valuation_{Pack::template take<role::valuation, Valuation>(all)},
      placement_{Pack::template take<role::placement, Placement>(all)},
      terms_{Pack::template take<role::terms, Terms>(all)} {
    configure_each([](auto& policy) { detail::check_parameters(policy); });
}

template <class... Ps>
template <class... Old>
Dispatcher<Ps...>::Dispatcher(Dispatcher<Old...>&& old, Ps... policies)
    : Dispatcher{FromChoices{}, Pack::unpack(std::move(policies)...)} {
    adopt(old.state_);
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::configure_each(F&& f) {
    each_of(*this, f);
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_policy(F&& f) const {
    each_of(*this, f);
}

/// The one list of all policies.
template <class... Ps>
template <class Self, class F>
void Dispatcher<Ps...>::each_of(Self& self, F&& f) {
    f(self.rules_);
    f(self.eligibility_);
    f(self.weight_);
    f(self.pool_);
    f(self.queue_);
    f(self.qos_);
    f(self.valuation_);
    f(self.placement_);
    f(self.terms_);
}

/// Gives the parameters to the policies that take this type, then brings every index in step with the new rules.
template <class... Ps>
void Dispatcher<Ps...>::configured(const Configuration& configuration) {
    auto followers = Followers{*this};
    // The order of the queue and the quota are the rules': tasks are taken out by the old ones and put in again by the new.
    const auto* const rules = std::get_if<RulesParameters>(&configuration);
    const auto moves = rules != nullptr && (rules->value_doubles_in != rules_->value_doubles_in ||
                                            has_quota(*rules) != has_quota(rules_.parameters()));
    const auto each_task = [&](bool in) {
        state_.tasks().for_each([&](TaskHandle h, const Task& task) {
            followers.task_changed(h, in ? nullptr : &task, in ? &task : nullptr);
        });
    };
    if (moves) {
        each_task(false);
    }
    std::visit(
        [&]<class Parameters>(const Parameters& parameters) {
            configure_each([&](auto& policy) {
                detail::each_configured_by<Parameters>(policy, [&](auto& one) { one.configure(parameters); });
            });
        },
        configuration);
    if (moves) {
        each_task(true);
    }
    state_.refit(followers);
    rebuild(0, state_.nodes().reach());
}

/// The parameters in force, of the same policy that the given ones are for.
template <class... Ps>
auto Dispatcher<Ps...>::configuration_like(const Configuration& configuration) -> Configuration {
    auto current = configuration;
    std::visit(
        [&]<class Parameters>(Parameters& parameters) {
            configure_each([&](const auto& policy) {
                detail::each_configured_by<Parameters>(policy, [&](const auto& one) { parameters = one.parameters(); });
            });
        },
        current);
    return current;
}

/// Makes the bounds of a stretch of handles anew.
template <class... Ps>
void Dispatcher<Ps...>::rebuild(std::uint32_t first, std::uint32_t end) {
    for (auto h = NodeHandle{first}; h.value < end; ++h.value) {
        const auto* record = state_.nodes().find_record(h);
        if (record != nullptr && is_candidate(*record)) {
            const auto place_now = place(h, record, state_.holdings(h));
            pool_.changed(place_now, place_now);
        }
    }
}

/// Writes the records under the same handles and ids through the ordinary doors, so that every index is built as if it had been
/// there from the start.
template <class... Ps>
template <class OtherData, class OtherConfiguration>
void Dispatcher<Ps...>::adopt(const Records<OtherData, OtherConfiguration>& from) {
    auto followers = Followers{*this};
    auto counters = from.counters();
    state_.set(counters, followers);
    from.fits().classes().for_each([&](std::uint32_t id, const NodeClass& v) { state_.intern_at(ClassId{id}, v, followers); });
    from.fits().requirements().for_each(
        [&](std::uint32_t id, const Requirement& v) { state_.intern_at(RequirementId{id}, v, followers); });
    from.models().names().for_each([&](std::uint32_t id, const std::string& v) { state_.intern_at(ModelId{id}, v, followers); });
    from.nodes().for_each([&](NodeHandle h, const auto& other) {
        auto record = Record{other.node, {}};
        if constexpr (std::is_same_v<NodeData, OtherData>) {
            record.qos = other.qos;
        } else {
            qos_.joined(record.qos, counters.now);
            record.node.excluded = false;
            record.node.due_at = record.node.present() ? never : record.node.due_at;
        }
        state_.put(h, std::move(record), followers);
        state_.hold(h, from.holdings(h), followers);
        state_.forget_undo_log();
    });
    from.node_names().for_each([&](std::uint32_t id, const NodeId& v) { state_.intern_at(NodeNameId{id}, v, followers); });
    from.groups().for_each([&](GroupHandle h, const GroupRecord& record) { state_.put(h, GroupRecord{record}, followers); });
    from.tasks().for_each([&](TaskHandle h, const Task& record) { state_.put(h, Task{record}, followers); });
    from.ended_tasks().for_each([&](EndedHandle h, const EndedTask& record) { state_.put(h, EndedTask{record}, followers); });
    from.leases().for_each([&](LeaseHandle h, const LeaseRecord& record) { state_.put(h, LeaseRecord{record}, followers); });
    state_.forget_undo_log();
}

template <class... Ps>
auto Dispatcher<Ps...>::equals(const Dispatcher& other) const -> bool {
    return state_ == other.state_ && detail::same_parameters(rules_, other.rules_) &&
           detail::same_parameters(eligibility_, other.eligibility_) && detail::same_parameters(weight_, other.weight_) &&
           detail::same_parameters(pool_, other.pool_) && detail::same_parameters(queue_, other.queue_) &&
           detail::same_parameters(qos_, other.qos_) && detail::same_parameters(valuation_, other.valuation_) &&
           detail::same_parameters(placement_, other.placement_) && detail::same_parameters(terms_, other.terms_);
}

}}  // namespace allot::v0
