#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 { namespace detail {

namespace mp = boost::mp11;

using Roles = mp::mp_list<role::eligibility, role::weight, role::pool, role::queue, role::qos, role::valuation,
                          role::placement, role::terms, role::rules, role::id_key, role::preset>;

template <class P>
concept names_role = requires { typename P::role; };

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

/// A preset's policies as a list; an empty list for any other policy.
template <class P>
struct BundleOf {
    using type = std::tuple<>;
};
template <class P>
    requires std::same_as<role_of<P>, role::preset>
struct BundleOf<P> {
    using type = decltype(std::declval<const P&>().policies());
};

template <class P>
auto bundle_of(const P& policy) {
    if constexpr (std::same_as<role_of<P>, role::preset>) {
        return policy.policies();
    } else {
        return std::tuple<>{};
    }
}

/// Policies in any order, found by their role: those given first, then those of a preset among them, then the default.
template <class... Ps>
struct PolicyPack {
    using Given = mp::mp_list<Ps...>;
    using All = mp::mp_append<std::tuple<Ps...>, typename BundleOf<Ps>::type...>;
    using RolesGiven = mp::mp_list<role_of<Ps>...>;

    static constexpr bool named = (names_role<Ps> && ...);
    static constexpr bool known = (known_role<Ps> && ...);
    static constexpr bool single = mp::mp_is_set<RolesGiven>::value;

    static_assert(named, "allot: a policy names its role; write `using role = allot::role::weight;` (or eligibility, pool, "
                  "queue, qos, valuation, placement, terms) in it");
    static_assert(!named || known, "allot: a policy's role must be one of allot::role: eligibility, weight, pool, queue, qos, "
                  "valuation, placement, terms, rules, id_key, preset");
    static_assert(!named || !known || single, "allot: two policies of one role; give the Dispatcher only one of them");
    static constexpr bool passed = named && known && single;

    template <class Role, class Default>
    struct Find {
        using Index = mp::mp_find_if_q<All, Plays<Role>>;
        static constexpr bool found = Index::value < mp::mp_size<All>::value;
        using type = mp::mp_at<mp::mp_push_back<All, Default>, Index>;
    };
    template <class Role, class Default>
    using find = typename Find<Role, Default>::type;

    /// The policy of a role out of those given and their bundles; a new default when there is none.
    template <class Role, class Default>
    static auto take(const All& all) -> find<Role, Default> {
        if constexpr (Find<Role, Default>::found) {
            return std::get<Find<Role, Default>::Index::value>(all);
        } else {
            return Default{};
        }
    }
    static auto unpack(Ps... given) -> All {
        auto bundles = std::tuple_cat(bundle_of(given)...);
        return std::tuple_cat(std::tuple<Ps...>{std::move(given)...}, std::move(bundles));
    }
};

/// `P` if it passed its check, else the default: a wrong policy then yields its one sentence and no page behind it.
template <class Check, class P, class Default>
using checked = std::conditional_t<Check::passed, P, Default>;

template <class P>
concept configurable = requires(P& p, const typename P::Parameters& parameters) {
    { p.parameters() } -> std::convertible_to<const typename P::Parameters&>;
    p.configure(parameters);
};

template <class P, class Parameters>
concept configured_by = configurable<P> && std::same_as<typename P::Parameters, Parameters>;

template <class P>
struct ParametersOf {
    using type = mp::mp_list<>;
};
template <configurable P>
struct ParametersOf<P> {
    using type = mp::mp_list<typename P::Parameters>;
};

/// A variant over the parameters of all policies that have some.
template <class... Ps>
using configuration =
    mp::mp_rename<mp::mp_unique<mp::mp_append<typename ParametersOf<Ps>::type...>>, std::variant>;

}}}  // namespace allot::v0::detail
