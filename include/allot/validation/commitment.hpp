#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>

namespace allot { inline namespace v0 {

/// Opens a hidden task's commitment: the task's group and an unpredictable number.
struct Opening {
    GroupId group;
    Hash256 nonce{};

    friend auto operator==(const Opening&, const Opening&) -> bool = default;
};

/// The commitment under which a hidden task is submitted: SHA-256 of a fixed text, the group, the nonce and the task's
/// work. Tasks of one group with different nonces look unrelated until they are opened. No task can be opened as one of
/// other work.
///
/// The relays use Keccak-256 of id and nonce; pass another function to `ValidationGroup` for that.
struct CommitmentOf {
    /// Returns the commitment of `opening` for a task with this `work`. @complexity O(1).
    [[nodiscard]] constexpr auto operator()(const Opening& opening, const Hash256& work) const noexcept -> Hash256 {
        auto hash = Sha256{};
        for (const auto c : std::string_view{"allot validation group"}) {
            hash.bytes(std::array{static_cast<std::uint8_t>(c)});
        }
        return hash.bytes(opening.group.bytes()).bytes(opening.nonce).bytes(work).finish();
    }
};

}}  // namespace allot::v0
