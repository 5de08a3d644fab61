// Another check of signatures in place of the shared secret: the clients' file names a public key of Ed25519, and the
// header Allot-Signature has the signature in hex.
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/evp.h>

#include "clients.hpp"

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

auto bytes_of(std::string_view text) -> const unsigned char* {
    return reinterpret_cast<const unsigned char*>(text.data());
}

auto signature_of(EVP_PKEY* key, const std::string& text) -> std::string {
    const auto context = Context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    auto out = std::array<char, 64>{};
    auto size = out.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key);
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes_of(text), text.size());
    return allot::detail::hex_of_bytes({out.data(), size});
}

/// A `SignatureCheck`. The secret of a line is the public key in hex.
auto is_signed_with_key(const service::ClientLine& line, const service::Signed& parts) -> bool {
    using Half = allot::Id<struct HalfTag>;  // 32 bytes
    const auto known = Half::from_hex(line.secret);
    const auto begin = Half::from_hex(parts.signature.substr(0, 64));
    const auto rest = Half::from_hex(parts.signature.size() < 64 ? "" : parts.signature.substr(64));
    if (!known || !begin || !rest) { return false; }
    auto signature = std::vector<std::uint8_t>{begin->bytes().begin(), begin->bytes().end()};
    signature.insert(signature.end(), rest->bytes().begin(), rest->bytes().end());
    const auto* raw = known->bytes().data();
    const auto key = Key{EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw, 32), EVP_PKEY_free};
    const auto context = Context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    const auto text = service::signed_text(parts);
    return key != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_of(text), text.size()) == 1;
}

auto failures = 0;
void expect(bool holds, const char* what) {
    if (holds) { return; }
    std::cerr << "FAILED: " << what << '\n';
    ++failures;
}

}  // namespace

int main() {
    auto seed = std::array<unsigned char, 32>{7};
    const auto own = Key{EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), 32), EVP_PKEY_free};
    auto raw = std::array<char, 32>{};
    auto size = raw.size();
    EVP_PKEY_get_raw_public_key(own.get(), reinterpret_cast<unsigned char*>(raw.data()), &size);
    const auto line = R"({"client": "n7", "secret": ")" + allot::detail::hex_of_bytes({raw.data(), size}) +
                      R"(", "role": "node", "node": "n7"})";
    auto clients = service::Clients::read(line, is_signed_with_key);
    if (!clients) { throw std::runtime_error{clients.error()}; }

    auto parts = service::Signed{"POST", "/v1/requests", "n7", "1000", "session", "1", "body", {}};
    const auto signature = signature_of(own.get(), service::signed_text(parts));
    const auto known = [&](service::Signed request, std::int64_t now_ms = 1'000) {
        auto why = service::Problem{};
        const auto* client = clients->authenticate(request, now_ms, why);
        expect((client == nullptr) == (why.status == 401), "a refusal has status 401");
        return client != nullptr && client->line.client == "n7";
    };
    parts.signature = signature;
    expect(known(parts), "what the key signed is taken");
    expect(!known(parts, 62'000), "an old signature is refused");
    auto other = parts;
    other.body = "bodY";
    expect(!known(other), "another body is refused");
    other = parts;
    other.client = "n8";
    expect(!known(other), "an unknown client is refused");
    const auto hmac = service::hmac_hex(allot::detail::hex_of_bytes({raw.data(), size}), service::signed_text(parts));
    other = parts;
    other.signature = hmac;
    expect(!known(other), "the public key is no shared secret");
    expect(!service::Clients::read("\n", is_signed_with_key), "a file without clients is refused");
    std::cout << (failures == 0 ? "ok: signatures of Ed25519 in place of a shared secret\n" : "");
    return failures == 0 ? 0 : 1;
}
