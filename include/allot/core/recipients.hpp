#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include <allot/core/event.hpp>
#include <allot/core/fields.hpp>

namespace allot { inline namespace v0 {

/// The parties that an event concerns.
struct Recipients {
    /// Further parties to notify, in addition to a node and an owner.
    enum class Others : std::uint8_t { nobody, sender, embedder, everybody };

    std::optional<NodeId> node{};
    std::optional<OwnerId> owner{};  ///< None for a task without an owner, which is then the embedder's own.
    Others others = Others::nobody;

    friend auto operator==(const Recipients&, const Recipients&) noexcept -> bool = default;
};

ALLOT_ENUMERATORS(Recipients::Others, nobody, sender, embedder, everybody)

namespace detail {

struct RecipientsOf {
    template <class E>
    [[nodiscard]] auto operator()(const E& e) const -> Recipients {
        using namespace event;
        if constexpr (std::is_same_v<E, Configured> || std::is_same_v<E, Postponed>) {
            return {{}, {}, Recipients::Others::everybody};
        } else if constexpr (std::is_same_v<E, Refused>) {
            return {{}, {}, Recipients::Others::sender};
        } else if constexpr (std::is_same_v<E, Advanced> || std::is_same_v<E, Matched>) {
            return {{}, {}, Recipients::Others::embedder};
        } else if constexpr (std::is_same_v<E, LeaseRenewed>) {
            return {e.lease.node, {}};
        } else if constexpr (requires { e.lease; } && !std::is_same_v<E, TaskCommitted> &&
                             !std::is_same_v<E, TaskDisclosed>) {
            return {e.lease.node, e.owner};
        } else if constexpr (requires { e.owner; }) {
            return {{}, e.owner};
        } else {
            return {e.node, {}};
        }
    }
};

}  // namespace detail

/// The parties that an event concerns: the node and the owner that it names, as the table in docs/events.md says.
///
/// An embedder that passes each event on to its recipients thereby tells each node its leases, and each owner the ends
/// of its tasks.
/// @complexity O(1).
[[nodiscard]] inline auto recipients(const Event& event) -> Recipients {
    return std::visit(detail::RecipientsOf{}, event);
}

}}  // namespace allot::v0
