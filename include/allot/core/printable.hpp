#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// A character of a text, and its length in bytes.
struct Character {
    std::uint32_t code = 0xFFFD;  ///< 0xFFFD, the replacement character, where the bytes are no UTF-8.
    std::size_t size = 1;
};

/// The first character of a text.
/// @pre `text` is not empty.
[[nodiscard]] constexpr auto first_character(std::string_view text) noexcept -> Character {
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(text[i])}; };
    if (byte(0) < 0x80) { return {byte(0), 1}; }
    const auto size = byte(0) >= 0xF0 ? std::size_t{4} : byte(0) >= 0xE0 ? std::size_t{3} : std::size_t{2};
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) { return {}; }
    auto code = byte(0) & (0x7FU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) { return {}; }
        code = code << 6U | (byte(i) & 0x3FU);
    }
    const auto least = size == 4 ? 0x1'0000U : size == 3 ? 0x800U : 0x80U;
    const auto good = code >= least && code <= 0x10'FFFFU && (code < 0xD800U || code > 0xDFFFU);
    return good ? Character{code, size} : Character{};
}

/// True if a character controls a terminal or the direction of writing around it, and is not itself shown.
[[nodiscard]] constexpr auto steers(std::uint32_t code) noexcept -> bool {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace detail

/// The text of an untrusted party made safe for people to read, on a terminal or in a journal.
///
/// "?" replaces each control character (C0, DEL, C1), each character that changes the direction of writing, and each
/// byte that is no UTF-8.
/// @complexity linear in the length of the text.
[[nodiscard]] inline auto printable(std::string_view text) -> std::string {
    auto out = std::string{};
    out.reserve(text.size());
    while (!text.empty()) {
        const auto first = detail::first_character(text);
        const auto unread = first.code == 0xFFFD && first.size == 1;
        out += unread || detail::steers(first.code) ? std::string_view{"?"} : text.substr(0, first.size);
        text.remove_prefix(first.size);
    }
    return out;
}

}}  // namespace allot::v0
