#include "post.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace jobs {
namespace {

constexpr std::size_t signature_digits = 128;

/// What is signed. The channel belongs to it: nobody can move a letter to another channel.
auto digest_of_letter(const std::string& channel, const std::string& name, const std::string& text) {
    return allot::RecordHasher{"letter"}.text(channel).text(name).text(text).finish();
}

auto hex(const allot::Signature& signature) -> std::string {
    constexpr auto digits = "0123456789abcdef";
    auto out = std::string{};
    for (const auto byte : signature) {
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

auto from_hex(const std::string& text) -> std::optional<allot::Signature> {
    auto out = allot::Signature{};
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        auto byte = 0U;
        for (const auto digit : {text[i], text[i + 1]}) {
            const auto value = digit >= '0' && digit <= '9'   ? digit - '0'
                               : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                                              : -1;
            if (value < 0) { return std::nullopt; }
            byte = byte * 16U + static_cast<unsigned>(value);
        }
        out.push_back(static_cast<std::uint8_t>(byte));
    }
    return out;
}

}  // namespace

auto sealed(const SigningKey& key, const std::string& name, const std::string& channel, const std::string& text)
    -> std::string {
    return name + "\n" + hex(key.sign(digest_of_letter(channel, name, text))) + "\n" + text;
}

void Post::poll(int wait_ms, const Hear& hear, const Refuse& refuse) {
    broker_.poll(wait_ms, [&](const std::string& channel, const std::string& envelope) {
        const auto end = envelope.find('\n');
        const auto name = envelope.substr(0, end);
        if (end == std::string::npos || !ring_.knows(name)) { return refuse("a stranger"); }
        if (name == name_) { return; }  // its own, or one that claims to be: it knows what it said
        if (envelope.size() < end + signature_digits + 2 || envelope[end + signature_digits + 1] != '\n') {
            return refuse(name);
        }
        const auto signature = from_hex(envelope.substr(end + 1, signature_digits));
        const auto text = envelope.substr(end + signature_digits + 2);
        if (!signature || !ring_.proves(allot::NodeId{name}, digest_of_letter(channel, name, text), *signature)) {
            return refuse(name);
        }
        hear(name, channel, text);
    });
}

}  // namespace jobs
