#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>

namespace allot { inline namespace v0 {

/// What opens a hidden task's commitment: the group it belongs to, and a number that nobody can guess.
struct Opening {
    GroupId group;
    Hash256 nonce{};

    friend auto operator==(const Opening&, const Opening&) -> bool = default;
};

/// The commitment under which a hidden task is submitted: SHA-256 of a word, the group, the nonce and the task's work. Tasks of
/// one group with different nonces look unrelated until they are opened, and none can be opened as a task of other work.
///
/// The relays use Keccak-256 of id and nonce; who needs that passes another function where one is asked for.
struct CommitmentOf {
    [[nodiscard]] constexpr auto operator()(const Opening& opening, const Hash256& work) const noexcept -> Hash256 {
        auto hash = Sha256{};
        for (const auto c : std::string_view{"allot validation group"}) {
            hash.bytes(std::array{static_cast<std::uint8_t>(c)});
        }
        return hash.bytes(opening.group.bytes()).bytes(opening.nonce).bytes(work).finish();
    }
};

}}  // namespace allot::v0
