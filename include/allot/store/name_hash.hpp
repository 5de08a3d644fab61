#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <allot/core/siphash.hpp>

namespace allot { inline namespace v0 {

/// Feeds text, with its length, to a hash.
template <class Hasher>
void hash_text(Hasher& hasher, std::string_view text) {
    hasher.word(text.size());
    hasher.bytes(std::as_bytes(std::span{text}));
}

/// Keyed hash of a name. Untrusted parties choose names, so with an unkeyed hash they could choose collisions, too.
struct NameHash {
    SipKey key{};
    [[nodiscard]] auto operator()(std::string_view name) const -> std::uint64_t {
        auto hasher = SipHash13{key};
        hash_text(hasher, name);
        return hasher.finish();
    }
};

}}  // namespace allot::v0
