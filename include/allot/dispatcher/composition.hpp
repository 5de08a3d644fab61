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
      terms_{Pack::template take<role::terms, Terms>(all)} {}

template <class... Ps>
template <class... Old>
Dispatcher<Ps...>::Dispatcher(Dispatcher<Old...>&& old, Ps... policies)
    : Dispatcher{FromChoices{}, Pack::unpack(std::move(policies)...)} {
    adopt(old);
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_policy(F&& f) {
    f(rules_);
    f(eligibility_);
    f(weight_);
    f(pool_);
    f(queue_);
    f(qos_);
    f(valuation_);
    f(placement_);
    f(terms_);
}

/// Gives the parameters to the policies that take this type, then brings every index in step with the new rules.
template <class... Ps>
void Dispatcher<Ps...>::configured(const Configuration& configuration) {
    std::visit(
        [&]<class Parameters>(const Parameters& parameters) {
            each_policy([&](auto& policy) {
                if constexpr (detail::configured_by<std::remove_cvref_t<decltype(policy)>, Parameters>) {
                    policy.configure(parameters);
                }
            });
        },
        configuration);
    auto followers = Followers{*this};
    state_.refit(followers);
    rebuild();
}

/// The parameters in force, of the same policy that the given ones are for.
template <class... Ps>
auto Dispatcher<Ps...>::configuration_like(const Configuration& configuration) -> Configuration {
    auto current = configuration;
    std::visit(
        [&]<class Parameters>(Parameters& parameters) {
            each_policy([&](const auto& policy) {
                if constexpr (detail::configured_by<std::remove_cvref_t<decltype(policy)>, Parameters>) {
                    parameters = policy.parameters();
                }
            });
        },
        current);
    return current;
}

/// Computes every candidate's bounds anew. @complexity O(n), rare: see `refresh_ceiling`.
template <class... Ps>
void Dispatcher<Ps...>::rebuild() {
    state_.nodes().for_each([&](NodeHandle h, const Record& record) {
        if (is_candidate(record)) {
            const auto place_now = place(h, &record, state_.holdings(h));
            pool_.changed(place_now, place_now);
        }
    });
}

/// Writes another dispatcher's records under the same handles and ids through the ordinary doors, so that every index of the new
/// policies is built as if it had been there from the start.
template <class... Ps>
template <class... Old>
void Dispatcher<Ps...>::adopt(const Dispatcher<Old...>& old) {
    auto followers = Followers{*this};
    const auto& from = old.state_;
    auto counters = from.counters();
    state_.set(counters, followers);
    from.fits().classes().for_each([&](std::uint32_t id, const NodeClass& v) { state_.intern_at(ClassId{id}, v, followers); });
    from.fits().requirements().for_each(
        [&](std::uint32_t id, const Requirement& v) { state_.intern_at(RequirementId{id}, v, followers); });
    from.models().names().for_each([&](std::uint32_t id, const std::string& v) { state_.intern_at(ModelId{id}, v, followers); });
    from.nodes().for_each([&](NodeHandle h, const auto& other) {
        auto record = Record{other.node, {}};
        if constexpr (std::is_same_v<NodeData, typename Dispatcher<Old...>::NodeData>) {
            record.qos = other.qos;
        } else {
            qos_.joined(record.qos, counters.now);
            record.node.excluded = false;
            record.node.due_at = record.node.present() ? std::nullopt : record.node.due_at;
        }
        state_.put(h, std::move(record), followers);
        state_.hold(h, from.holdings(h), followers);
    });
    from.groups().for_each([&](GroupHandle h, const GroupRecord& record) { state_.put(h, record, followers); });
    from.tasks().for_each([&](TaskHandle h, const Task& record) { state_.put(h, record, followers); });
    from.leases().for_each([&](LeaseHandle h, const LeaseRecord& record) { state_.put(h, record, followers); });
    state_.forget_notes();
}

namespace detail {

/// Equal parameters; policies without any are equal.
template <class P>
[[nodiscard]] auto same_parameters(const P& a, const P& b) -> bool {
    if constexpr (configurable<P>) {
        return a.parameters() == b.parameters();
    } else {
        return true;
    }
}

}  // namespace detail

template <class... Ps>
auto Dispatcher<Ps...>::equals(const Dispatcher& other) const -> bool {
    return state_ == other.state_ && detail::same_parameters(rules_, other.rules_) &&
           detail::same_parameters(eligibility_, other.eligibility_) && detail::same_parameters(weight_, other.weight_) &&
           detail::same_parameters(pool_, other.pool_) && detail::same_parameters(queue_, other.queue_) &&
           detail::same_parameters(qos_, other.qos_) && detail::same_parameters(valuation_, other.valuation_) &&
           detail::same_parameters(placement_, other.placement_) && detail::same_parameters(terms_, other.terms_);
}

}}  // namespace allot::v0
