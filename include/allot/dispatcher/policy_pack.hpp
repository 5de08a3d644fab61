#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <allot/core/parameters.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 { namespace detail {

namespace mp = boost::mp11;

using Roles = mp::mp_list<role::eligibility, role::weight, role::pool, role::queue, role::qos, role::valuation,
                          role::placement, role::terms, role::rules, role::id_key, role::preset>;

template <class P>
concept names_role = requires {
    typename P::role;
};

template <class P>
struct RoleOf {
    using type = void;
};
template <names_role P>
struct RoleOf<P> {
    using type = typename P::role;
};
template <class P>
using role_of = typename RoleOf<P>::type;

template <class P>
concept known_role = mp::mp_contains<Roles, role_of<P>>::value;

template <class Role>
struct Plays {
    template <class P>
    using fn = std::is_same<role_of<P>, Role>;
};

template <class P>
concept is_preset = std::same_as<role_of<P>, role::preset>;

/// `p.policies() -> std::tuple<...>`.
template <class P>
concept has_policies = requires(const P& p) {
    requires mp::mp_similar < std::tuple<>,
    decltype(p.policies()) > ::value;
};

/// A preset's policies as a list; an empty list for any other policy.
template <class P>
struct BundleOf {
    using type = std::tuple<>;
};
template <class P>
    requires is_preset<P> && has_policies<P>
struct BundleOf<P> {
    using type = decltype(std::declval<const P&>().policies());
};

template <class P>
auto bundle_of(const P& policy) -> typename BundleOf<P>::type {
    if constexpr (is_preset<P>) {
        return policy.policies();
    } else {
        return {};
    }
}

/// True if no role occurs twice among the policies of a list.
template <class List>
using plays_once = mp::mp_is_set<mp::mp_transform<role_of, List>>;

/// Policies in any order, found by their role: the given ones first, then those of a preset among them, then the
/// default.
template <class... Ps>
struct PolicyPack {
    using Given = mp::mp_list<Ps...>;
    using All = mp::mp_append<std::tuple<Ps...>, typename BundleOf<Ps>::type...>;
    template <class P>
    using Named = std::bool_constant<names_role<P>>;
    template <class P>
    using Known = std::bool_constant<known_role<P>>;

    static constexpr bool bundled = ((!is_preset<Ps> || has_policies<Ps>)&&...);
    static constexpr bool named = mp::mp_all_of<All, Named>::value;
    static constexpr bool known = mp::mp_all_of<All, Known>::value;
    static constexpr bool flat = (mp::mp_none_of_q<typename BundleOf<Ps>::type, Plays<role::preset>>::value && ...);
    static constexpr bool single = plays_once<Given>::value && (plays_once<typename BundleOf<Ps>::type>::value && ...);

    static constexpr bool passed = bundled && named && known && flat && single;

    template <class Role, class Default>
    struct Find {
        using Index = mp::mp_find_if_q<All, Plays<Role>>;
        static constexpr bool found = Index::value < mp::mp_size<All>::value;
        using type = mp::mp_at<mp::mp_push_back<All, Default>, Index>;
    };
    template <class Role, class Default>
    using find = typename Find<Role, Default>::type;

    /// The policy of a role among the given ones and their presets; a new default if there is none.
    template <class Role, class Default>
    static auto take(const All& all) -> find<Role, Default> {
        if constexpr (Find<Role, Default>::found) {
            return std::get<Find<Role, Default>::Index::value>(all);
        } else {
            return Default{};
        }
    }
    /// The given policies, followed by those of the presets among them.
    static auto unpack(Ps... given) -> All {
        auto bundles = std::tuple_cat(bundle_of(given)...);
        return std::tuple_cat(std::tuple<Ps...>{std::move(given)...}, std::move(bundles));
    }

    // Last, because clang 14 leaves out the members behind the first assertion that fails, and then reports their
    // absence.
    static_assert(bundled, "allot: a preset needs `auto policies() const` that returns a std::tuple of policies");
    static_assert(named,
                  "allot: a policy names its role; write `using role = allot::role::weight;` (or eligibility, pool, "
                  "queue, qos, valuation, placement, terms) in it");
    static_assert(!named || known,
                  "allot: a policy's role must be one of allot::role: eligibility, weight, pool, queue, qos, "
                  "valuation, placement, terms, rules, id_key, preset");
    static_assert(flat, "allot: a preset cannot stand in a preset; list its policies instead");
    static_assert(!named || !known || single, "allot: two policies of one role; give the Dispatcher only one of them");
};

/// `P` if it passed its check, else the default. A wrong policy then yields its one error sentence and no further
/// errors.
template <class Check, class P, class Default>
using checked = std::conditional_t<Check::passed, P, Default>;

template <class P>
concept configurable = requires(P& p, const typename P::Parameters& parameters) {
    { p.parameters() } -> std::convertible_to<const typename P::Parameters&>;
    p.configure(parameters);
};

template <class P, class Parameters>
concept configured_by = configurable<P> && std::same_as<typename P::Parameters, Parameters>;

/// `p.parts() -> std::tuple<...>&`: a policy made of policies, such as `AllOf`.
template <class P>
concept has_parts = !configurable<P> && requires(P & p) {
    requires mp::mp_similar<std::tuple<>, std::remove_cvref_t<decltype(p.parts())>>::value;
};

/// Calls `f(part)` for each part of a policy.
template <has_parts P, class F>
void each_part(P& policy, F&& f) {
    std::apply([&](auto&... part) { (f(part), ...); }, policy.parts());
}

template <class P>
struct ParametersOf {
    using type = mp::mp_list<>;
};
template <configurable P>
struct ParametersOf<P> {
    using type = mp::mp_list<typename P::Parameters>;
};
template <has_parts P>
struct ParametersOf<P> {
    template <class Part>
    using of = typename ParametersOf<Part>::type;
    using Parts = std::remove_cvref_t<decltype(std::declval<P&>().parts())>;
    using type = mp::mp_apply<mp::mp_append, mp::mp_push_front<mp::mp_transform<of, Parts>, mp::mp_list<>>>;
};

/// Calls `f(policy)` for each policy that takes these parameters: the policy itself, or some of its parts.
/// @complexity linear in the parts, at compile time.
template <class Parameters, class P, class F>
void each_configured_by(P& policy, F&& f) {
    if constexpr (configured_by<std::remove_const_t<P>, Parameters>) {
        f(policy);
    } else if constexpr (has_parts<P>) {
        each_part(policy, [&](auto& part) { each_configured_by<Parameters>(part, f); });
    }
}

/// Throws as `sound` does if a policy, or a part of it, has parameters that `configure` would refuse.
/// @complexity linear in the parts.
template <class P>
void check_parameters(P& policy) {
    if constexpr (configurable<P>) {
        (void)sound(policy.parameters());
    } else if constexpr (has_parts<P>) {
        each_part(policy, [](auto& part) { check_parameters(part); });
    }
}

/// True if the parameters are equal; policies without any are equal.
/// @complexity linear in the parts.
template <class P>
[[nodiscard]] auto same_parameters(const P& a, const P& b) -> bool {
    if constexpr (configurable<P>) {
        return a.parameters() == b.parameters();
    } else if constexpr (has_parts<P>) {
        return std::apply(
            [&](const auto&... x) {
                return std::apply([&](const auto&... y) { return (same_parameters(x, y) && ...); }, b.parts());
            },
            a.parts());
    } else {
        return true;
    }
}

/// A variant over the parameters of all policies that have some.
template <class... Ps>
using configuration = mp::mp_rename<mp::mp_unique<mp::mp_append<typename ParametersOf<Ps>::type...>>, std::variant>;

}}}  // namespace allot::v0::detail
