#pragma once

#include <string_view>

#include <allot/core/fields.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

namespace detail {

template <class P>
concept has_name = requires {
    std::string_view{P::name};
};
template <class P>
concept has_listed_parameters = requires {
    typename P::Parameters;
}
&&has_fields<typename P::Parameters>;

}  // namespace detail

/// The name of a policy in snapshots and state roots: its own `name`, otherwise that of its parameters' type.
///
/// Policies that always decide alike share a name, so that a replica may run any of them: the queues share one, and so
/// do the pools. A policy with another rule needs another name.
template <class P>
[[nodiscard]] constexpr auto policy_name() noexcept -> std::string_view {
    static_assert(detail::has_name<P> || detail::has_listed_parameters<P>,
                  "allot: to stand in a snapshot, a policy needs a name; write "
                  "`static constexpr std::string_view name = \"my_policy/1\";` in it");
    if constexpr (detail::has_name<P>) {
        return P::name;
    } else if constexpr (detail::has_listed_parameters<P>) {
        return type_name<typename P::Parameters>();
    } else {
        return {};
    }
}

}}  // namespace allot::v0
