#include "post.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace jobs {
namespace {

/// What is signed. The channel belongs to it: nobody can move a letter to another channel.
auto digest_of_letter(const std::string& channel, const Letter& letter) {
    return allot::RecordHasher{"letter"}
        .text(channel)
        .text(letter.sender)
        .word(letter.number)
        .text(letter.text)
        .finish();
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

auto sealed(const SigningKey& key, const std::string& sender, std::uint64_t number, const std::string& channel,
            const std::string& text) -> std::string {
    const auto digest = digest_of_letter(channel, {sender, number, {}, text});
    return sender + "\n" + std::to_string(number) + "\n" + hex(key.sign(digest)) + "\n" + text;
}

auto opened(const std::string& envelope) -> std::optional<Letter> {
    auto lines = std::array<std::string, 3>{};
    auto at = std::size_t{0};
    for (auto& line : lines) {
        const auto end = envelope.find('\n', at);
        if (end == std::string::npos) { return std::nullopt; }
        line = envelope.substr(at, end - at);
        at = end + 1;
    }
    auto letter = Letter{lines[0], 0, {}, envelope.substr(at)};
    const auto* last = lines[1].data() + lines[1].size();
    const auto [end, error] = std::from_chars(lines[1].data(), last, letter.number);
    const auto signature = from_hex(lines[2]);
    if (error != std::errc{} || end != last || !signature) { return std::nullopt; }
    letter.signature = *signature;
    return letter;
}

auto number_after(std::uint64_t last) -> std::uint64_t {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    const auto clock = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return std::max(last + 1, static_cast<std::uint64_t>(clock));
}

void Post::poll(int wait_ms, const Hear& hear, const Refuse& refuse) {
    broker_.poll(wait_ms, [&](const std::string& channel, const std::string& envelope) {
        const auto letter = opened(envelope);
        if (!letter) { return refuse("malformed", "a stranger"); }
        if (letter->sender == name_) { return; }  // its own, or one that claims to be: it knows what it said
        const auto digest = digest_of_letter(channel, *letter);
        if (const auto refusal = ring_.refusal_of(allot::NodeId{letter->sender}, digest, letter->signature)) {
            return refuse(name_of(*refusal), *refusal == KeyRefusal::member_unknown ? "a stranger" : letter->sender);
        }
        auto& last = heard_[letter->sender];
        if (letter->number <= last) { return refuse("replayed", letter->sender); }
        last = letter->number;
        hear(letter->sender, channel, letter->text);
    });
}

}  // namespace jobs
