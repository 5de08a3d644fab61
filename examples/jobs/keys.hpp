#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <allot/job.hpp>

// Ed25519, by libsodium. The library knows no keys: it is given a check, and tells what to sign.

namespace jobs {

using PublicKey = std::array<std::uint8_t, 32>;

/// A member's secret key.
class SigningKey {
public:
    /// Every run of a seed has the same keys, so that it can be repeated. Elsewhere a key is drawn at random, once.
    SigningKey(std::uint64_t seed, const std::string& name);

    [[nodiscard]] auto sign(const allot::Hash256& digest) const -> allot::Signature;
    [[nodiscard]] auto public_key() const -> const PublicKey& { return public_; }

private:
    PublicKey public_{};
    std::array<std::uint8_t, 64> secret_{};
};

/// Why a signature proves nothing.
enum class KeyRefusal : std::uint8_t {
    member_unknown,       ///< The author has no key here.
    signature_malformed,  ///< It has not the length of a signature.
    signature_wrong,      ///< It is not the author's over this digest: of another key, or over something else.
};
[[nodiscard]] auto name_of(KeyRefusal refusal) -> std::string;

/// The public keys of all members. Whoever has no key here is no member, and proves nothing.
class Keyring {
public:
    void admit(const std::string& name, const PublicKey& key);

    /// Returns why the signature is not the author's over the digest; none if it is. No other function looks a key up,
    /// or checks a signature. The same statement arrives many times, so it remembers what it proved. A wrong signature
    /// is checked each time: to remember those would let a liar fill the memory.
    [[nodiscard]] auto refusal_of(const allot::NodeId& author, const allot::Hash256& digest,
                                  const allot::Signature& signature) const -> std::optional<KeyRefusal>;
    /// As above, as the check that the library is given.
    [[nodiscard]] auto check() const {
        return [this](const allot::NodeId& author, const allot::Hash256& digest, const allot::Signature& signature) {
            return !refusal_of(author, digest, signature);
        };
    }

private:
    static constexpr std::size_t proven_max = 50'000;

    std::map<allot::NodeId, PublicKey> keys_;
    mutable std::set<allot::Hash256> proven_;
};

}  // namespace jobs
