#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <allot/core/words.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Name of a node, a task or a party, chosen by the outside world: 32 bytes.
///
/// An id is made from an integer, from text of 1 to 32 bytes without a zero, from 32 raw bytes or from 64 hex digits.
/// Any other input gives the null id, which every command refuses with `Error::id_invalid`: empty or longer text, a
/// negative integer, or text with a zero byte, which would equal a shorter one.
///
/// There is no default constructor: a forgotten id does not compile.
/// @complexity constant for all members: at most 32 bytes or 64 digits.
template <class Tag>
class Id {
public:
    static constexpr std::size_t size = 32;
    using Bytes = std::array<std::uint8_t, size>;

    /// An integer, marked so that 0 is an id and no short text equals a number.
    template <std::integral I>
    constexpr Id(I number) noexcept {  // NOLINT: implicit, so that `.id = 7` reads well
        if constexpr (std::signed_integral<I>) {
            if (number < 0) { return; }
        }
        auto rest = static_cast<std::uint64_t>(number);
        bytes_[integer_mark] = 1;
        for (auto i = size; i-- > integer_mark + 1;) {
            bytes_[i] = static_cast<std::uint8_t>(rest & 0xFFU);
            rest >>= 8U;
        }
    }

    /// Text of 1 to 32 bytes, padded with zero bytes.
    constexpr Id(std::string_view text) noexcept {  // NOLINT: implicit
        if (text.size() <= size && text.find('\0') == std::string_view::npos) {
            for (std::size_t i = 0; i < text.size(); ++i) { bytes_[i] = static_cast<std::uint8_t>(text[i]); }
        }
    }
    constexpr Id(const char* text) noexcept : Id(std::string_view{text}) {}  // NOLINT: implicit
    Id(const std::string& text) noexcept : Id(std::string_view{text}) {}     // NOLINT: implicit

    constexpr explicit Id(const Bytes& bytes) noexcept : bytes_{bytes} {}

    /// The id written as 64 hex digits; empty if the text has another form.
    [[nodiscard]] static constexpr auto from_hex(std::string_view digits) noexcept -> std::optional<Id> {
        if (digits.size() != 2 * size) { return std::nullopt; }
        auto bytes = Bytes{};
        for (std::size_t i = 0; i < digits.size(); ++i) {
            const auto digit = hex_value(digits[i]);
            if (!digit) { return std::nullopt; }
            bytes[i / 2] = static_cast<std::uint8_t>((bytes[i / 2] << 4U) | *digit);
        }
        return Id{bytes};
    }

    [[nodiscard]] constexpr auto bytes() const noexcept -> const Bytes& { return bytes_; }
    /// The bytes as words, the lowest of each first: to be hashed and compared fast.
    [[nodiscard]] constexpr auto words() const noexcept -> std::array<std::uint64_t, 4> { return words_of(bytes_); }

    /// The id that names nothing.
    [[nodiscard]] static constexpr auto null() noexcept -> Id { return Id{Bytes{}}; }

    /// True for the id that names nothing; commands refuse it.
    [[nodiscard]] constexpr auto is_null() const noexcept -> bool { return *this == null(); }

    /// The id as it was written: a number, text, or 64 hex digits.
    [[nodiscard]] auto text() const -> std::string {
        if (is_integer()) {
            auto number = std::uint64_t{0};
            for (auto i = integer_mark + 1; i < size; ++i) { number = (number << 8U) | bytes_[i]; }
            return std::to_string(number);
        }
        auto out = std::string{};
        for (const auto byte : bytes_) {
            if (byte == 0) { break; }
            out += static_cast<char>(byte);
        }
        return is_printable(out.size()) ? out : hex();
    }

    /// The 64 hex digits of the id.
    [[nodiscard]] auto hex() const -> std::string {
        constexpr auto digits = std::string_view{"0123456789abcdef"};
        auto out = std::string{};
        for (const auto byte : bytes_) {
            out += digits[byte >> 4U];
            out += digits[byte & 15U];
        }
        return out;
    }

    /// Compares without a copy of the bytes, which g++ 12 would make for words.
    friend constexpr auto operator==(const Id& a, const Id& b) noexcept -> bool {
        return std::is_constant_evaluated() ? a.bytes_ == b.bytes_ : std::memcmp(&a.bytes_, &b.bytes_, size) == 0;
    }
    friend constexpr auto operator<=>(const Id&, const Id&) noexcept -> std::strong_ordering = default;

private:
    static constexpr std::size_t integer_mark = size - 9;  // one byte before the eight of the integer

    [[nodiscard]] static constexpr auto hex_value(char c) noexcept -> std::optional<std::uint8_t> {
        if (c >= '0' && c <= '9') { return static_cast<std::uint8_t>(c - '0'); }
        if (c >= 'a' && c <= 'f') { return static_cast<std::uint8_t>(c - 'a' + 10); }
        if (c >= 'A' && c <= 'F') { return static_cast<std::uint8_t>(c - 'A' + 10); }
        return std::nullopt;
    }

    [[nodiscard]] constexpr auto is_integer() const noexcept -> bool {
        for (std::size_t i = 0; i < integer_mark; ++i) {
            if (bytes_[i] != 0) { return false; }
        }
        return bytes_[integer_mark] == 1;
    }

    [[nodiscard]] constexpr auto is_printable(std::size_t length) const noexcept -> bool {
        for (std::size_t i = 0; i < size; ++i) {
            const auto printable = bytes_[i] >= 0x20 && bytes_[i] < 0x7F;
            if (i < length ? !printable : bytes_[i] != 0) { return false; }
        }
        return length > 0;
    }

    Bytes bytes_{};
};

/// Name of a node.
using NodeId = Id<struct NodeIdTag>;
/// Name of a task.
using TaskId = Id<struct TaskIdTag>;
/// Name of the operator, the party that runs a node; several nodes may share it.
using OperatorId = Id<struct OperatorIdTag>;
/// Name of the owner, the party that submitted a task and pays for it.
using OwnerId = Id<struct OwnerIdTag>;
/// Name of a validation group, whose members never share a node or an operator.
using GroupId = Id<struct GroupIdTag>;

}}  // namespace allot::v0
