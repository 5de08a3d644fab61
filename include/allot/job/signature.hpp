#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/job/names.hpp>

namespace allot { inline namespace v0 {

/// An author's signature over a statement's digest, in the embedder's scheme. Empty: not signed.
using Signature = std::vector<std::uint8_t>;
/// Greatest length of a signature, in bytes.
inline constexpr std::size_t signature_size_max = 128;

/// Checks that an author made a statement: `check(author, digest, signature)` is true if the signature is this
/// author's over this digest. The embedder knows the keys and the scheme. The same statement arrives many times, so an
/// expensive check should remember the signatures that it proved.
template <class C>
concept AuthorCheck = requires(const C& check, const NodeId& author, const Hash256& digest,
                               const Signature& signature) {
    { check(author, digest, signature) } -> std::convertible_to<bool>;
};

/// The check for members that trust each other: it takes each statement as its author's.
///
/// Not promised with it: anything about a member that lies. It can then speak for all others in all that it relays:
/// name culprits, end jobs, and give leases in their names.
struct TrustAuthors {
    constexpr auto operator()(const NodeId& /*author*/, const Hash256& /*digest*/,
                              const Signature& /*signature*/) const noexcept -> bool {
        return true;
    }
};

}}  // namespace allot::v0
