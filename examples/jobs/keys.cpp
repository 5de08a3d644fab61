#include "keys.hpp"

#include <algorithm>
#include <stdexcept>

#include <sodium.h>

namespace jobs {
namespace {

static_assert(std::tuple_size_v<PublicKey> == crypto_sign_PUBLICKEYBYTES);
static_assert(std::tuple_size_v<allot::Hash256> == crypto_sign_SEEDBYTES);

}  // namespace

SigningKey::SigningKey(std::uint64_t seed, const std::string& name) {
    static const auto library = sodium_init();
    if (library < 0) { throw std::runtime_error{"libsodium does not start; reinstall libsodium-dev"}; }
    static_assert(std::tuple_size_v<decltype(secret_)> == crypto_sign_SECRETKEYBYTES);
    const auto own = allot::RecordHasher{"key"}.word(seed).text(name).finish();
    crypto_sign_seed_keypair(public_.data(), secret_.data(), own.data());
}

auto SigningKey::sign(const allot::Hash256& digest) const -> allot::Signature {
    auto signature = allot::Signature(crypto_sign_BYTES);
    crypto_sign_detached(signature.data(), nullptr, digest.data(), digest.size(), secret_.data());
    return signature;
}

void Keyring::admit(const std::string& name, const PublicKey& key) { keys_.emplace(allot::NodeId{name}, key); }

auto Keyring::knows(const std::string& name) const -> bool {
    return std::any_of(keys_.begin(), keys_.end(), [&](const auto& entry) { return entry.first.text() == name; });
}

auto Keyring::proves(const allot::NodeId& author, const allot::Hash256& digest, const allot::Signature& signature) const
    -> bool {
    const auto key = keys_.find(author);
    if (key == keys_.end() || signature.size() != crypto_sign_BYTES) { return false; }
    const auto text = std::string{signature.begin(), signature.end()};
    const auto statement = allot::RecordHasher{"proven"}.id(author).hash(digest).text(text).finish();
    if (proven_.contains(statement)) { return true; }
    if (crypto_sign_verify_detached(signature.data(), digest.data(), digest.size(), key->second.data()) != 0) {
        return false;
    }
    if (proven_.size() >= proven_max) { proven_.clear(); }
    proven_.insert(statement);
    return true;
}

}  // namespace jobs
