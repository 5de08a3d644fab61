// Another check of signatures in place of the built-in one: HMAC-SHA512, so signatures are twice as long.
#include <array>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "clients.hpp"

namespace {

constexpr auto secret = std::string_view{"a secret of n7, kept by n7"};

auto hmac_512(std::string_view key, std::string_view message) -> std::string {
    auto digest = std::array<unsigned char, EVP_MAX_MD_SIZE>{};
    auto size = 0U;
    HMAC(EVP_sha512(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
         message.size(), digest.data(), &size);
    return allot::detail::hex_of_bytes({reinterpret_cast<const char*>(digest.data()), size});
}

/// A `SignatureCheck`.
auto is_signed_at_length(const service::ClientLine& line, const service::Signed& parts) -> bool {
    const auto expected = hmac_512(line.secret, service::signed_text(parts));
    return parts.signature.size() == expected.size() &&
           CRYPTO_memcmp(parts.signature.data(), expected.data(), expected.size()) == 0;
}

auto failures = 0;
void expect(bool holds, const char* what) {
    if (holds) { return; }
    std::cerr << "FAILED: " << what << '\n';
    ++failures;
}

}  // namespace

int main() {
    const auto line = R"({"client": "n7", "secret": ")" + std::string{secret} + R"(", "role": "node", "node": "n7"})";
    auto clients = service::Clients::read(line, is_signed_at_length);
    if (!clients) { throw std::runtime_error{clients.error()}; }

    auto parts = service::Signed{"POST", "/v1/requests", "n7", "1000", "session", "1", "body", {}};
    const auto signature = hmac_512(secret, service::signed_text(parts));
    const auto known = [&](service::Signed request, std::int64_t now_ms = 1'000) {
        auto why = service::Problem{};
        const auto* client = clients->authenticate(request, now_ms, why);
        expect((client == nullptr) == (why.status == 401), "a refusal has status 401");
        return client != nullptr && client->line.client == "n7";
    };
    parts.signature = signature;
    expect(known(parts), "what the client signed is taken");
    expect(!known(parts, 62'000), "an old signature is refused");
    auto other = parts;
    other.body = "bodY";
    expect(!known(other), "another body is refused");
    other = parts;
    other.client = "n8";
    expect(!known(other), "an unknown client is refused");
    const auto built_in = service::hmac_hex(secret, service::signed_text(parts));
    other = parts;
    other.signature = built_in;
    expect(!known(other), "the built-in signature is refused");
    expect(!service::Clients::read("\n", is_signed_at_length), "a file without clients is refused");
    std::cout << (failures == 0 ? "ok: another check of signatures\n" : "");
    return failures == 0 ? 0 : 1;
}
