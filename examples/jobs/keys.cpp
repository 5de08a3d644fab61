#include "keys.hpp"

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

auto name_of(KeyRefusal refusal) -> std::string {
    switch (refusal) {
        case KeyRefusal::member_unknown: return "member_unknown";
        case KeyRefusal::signature_malformed: return "signature_malformed";
        case KeyRefusal::signature_wrong: break;
    }
    return "signature_wrong";
}

auto Keyring::refusal_of(const allot::NodeId& author, const allot::Hash256& digest,
                         const allot::Signature& signature) const -> std::optional<KeyRefusal> {
    const auto key = keys_.find(author);
    if (key == keys_.end()) { return KeyRefusal::member_unknown; }
    if (signature.size() != crypto_sign_BYTES) { return KeyRefusal::signature_malformed; }
    const auto text = std::string{signature.begin(), signature.end()};
    const auto statement = allot::RecordHasher{"proven"}.id(author).hash(digest).text(text).finish();
    if (proven_.contains(statement)) { return std::nullopt; }
    if (crypto_sign_verify_detached(signature.data(), digest.data(), digest.size(), key->second.data()) != 0) {
        return KeyRefusal::signature_wrong;
    }
    if (proven_.size() >= proven_max) { proven_.clear(); }
    proven_.insert(statement);
    return std::nullopt;
}

}  // namespace jobs
