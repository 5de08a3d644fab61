#include "clients.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <allot/json.hpp>

namespace service {

namespace {

constexpr auto skew_max_ms = std::int64_t{60'000};
constexpr auto burst_s = std::int64_t{2};

auto rate_of(const ClientLine& line) -> std::uint32_t {
    if (line.tokens_per_s != 0) { return line.tokens_per_s; }
    return line.role == Role::op ? 1'000'000 : 200;
}

auto begun(ClientLine line) -> Client {
    auto client = Client{};
    client.id = allot::ClientId{
        allot::Sha256{}
            .bytes(std::span{reinterpret_cast<const std::uint8_t*>(line.client.data()), line.client.size()})
            .finish()};
    client.tokens = std::int64_t{rate_of(line)} * burst_s * 1'000;
    client.line = std::move(line);
    return client;
}

}  // namespace

auto hmac_hex(std::string_view secret, std::string_view message) -> std::string {
    auto digest = std::array<unsigned char, EVP_MAX_MD_SIZE>{};
    auto size = 0U;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(), &size);
    return allot::detail::hex_of_bytes({reinterpret_cast<const char*>(digest.data()), size});
}

auto signed_text(const Signed& parts) -> std::string {
    auto text = std::string{};
    for (const auto part : {parts.method, parts.target, parts.time, parts.session, parts.seq}) {
        (text += part) += '\n';
    }
    return text += parts.body;
}

auto is_signed_with_secret(const ClientLine& line, const Signed& parts) -> bool {
    const auto expected = hmac_hex(line.secret, signed_text(parts));
    return parts.signature.size() == expected.size() &&
           CRYPTO_memcmp(parts.signature.data(), expected.data(), expected.size()) == 0;
}

auto Client::take(std::uint32_t cost, std::int64_t now_ms) -> unsigned {
    const auto rate = std::int64_t{rate_of(line)};
    // A request that costs more than a burst waits for a full bucket and leaves a debt.
    const auto full = rate * burst_s * 1'000;
    const auto elapsed = std::clamp<std::int64_t>(now_ms - refilled_ms, 0, 3'600'000);
    tokens = std::min(full, tokens + rate * elapsed);
    refilled_ms = now_ms;
    const auto needed = std::min(full, std::int64_t{cost} * 1'000);
    if (tokens >= needed) {
        tokens -= std::int64_t{cost} * 1'000;
        return 0;
    }
    return static_cast<unsigned>((needed - tokens) / (rate * 1'000) + 1);
}

Clients::Clients() {
    auto line = ClientLine{};
    line.client = "operator";
    clients_.emplace("operator", begun(std::move(line)));
}

auto Clients::read(std::string_view text, SignatureCheck is_signed) -> allot::Result<Clients, std::string> {
    auto out = Clients{};
    out.is_signed_ = std::move(is_signed);
    out.is_open_ = false;
    out.clients_.clear();
    for (auto number = std::size_t{1}; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) { continue; }
        auto read = allot::read_json<ClientLine>(line);
        const auto failed = [&](const std::string& why) {
            return allot::FailureOf<std::string>{"line " + std::to_string(number) + ": " + why};
        };
        if (!read) { return failed(read.error().message()); }
        if (read->client.empty()) { return failed("client: a name is expected"); }
        if (read->secret.size() < 16) { return failed("secret: 16 characters or more are expected"); }
        if (read->role == Role::node && !read->node) { return failed("node: a node's client needs its node"); }
        if (read->role == Role::owner && !read->owner) { return failed("owner: an owner's client needs its owner"); }
        const auto name = read->client;
        if (!out.clients_.emplace(name, begun(*std::move(read))).second) {
            return failed("client: the name stands twice");
        }
    }
    if (out.clients_.empty()) { return allot::FailureOf<std::string>{"it names no client"}; }
    return out;
}

auto Clients::authenticate(const Signed& parts, std::int64_t now_ms, Problem& problem) -> Client* {
    if (is_open_) { return &clients_.begin()->second; }
    const auto refuse = [&](std::string detail) {
        problem = {401, "unsigned", std::move(detail)};
        return nullptr;
    };
    const auto found = clients_.find(parts.client);
    if (parts.client.empty() || parts.signature.empty()) {
        return refuse("sign the request: headers Allot-Client, Allot-Time and Allot-Signature; see README.md");
    }
    auto time = std::int64_t{0};
    const auto* const end = parts.time.data() + parts.time.size();
    const auto read = std::from_chars(parts.time.data(), end, time);
    if (read.ec != std::errc{} || read.ptr != end || time > now_ms + skew_max_ms || time < now_ms - skew_max_ms) {
        return refuse("Allot-Time must be the time of sending in Unix milliseconds, within 60 s; set the clock");
    }
    // The same work for an unknown client, so that names cannot be found out by the time it takes.
    const auto& line = found == clients_.end() ? clients_.begin()->second.line : found->second.line;
    if (!is_signed_(line, parts) || found == clients_.end()) {
        return refuse("the client is unknown or the signature is wrong; check name, secret and the signed text");
    }
    return &found->second;
}

}  // namespace service
