#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Reasons why bytes are not the canonical form of a value. The numbers are stable.
enum class DecodeError : std::uint8_t {
    truncated = 1,
    trailing_bytes = 2,
    version_unknown = 3,
    kind_unknown = 4,
    flag_invalid = 5,
    enumerator_unknown = 6,
    out_of_range = 7,
    count_too_large = 8,
    parameters_unknown = 9,
};

/// The cause of the error and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(DecodeError error) noexcept -> std::string_view {
    switch (error) {
        case DecodeError::truncated: return "the bytes end within a value; pass the whole message";
        case DecodeError::trailing_bytes:
            return "bytes are left over after the value; pass one message without padding";
        case DecodeError::version_unknown: return "the encoding's version is unknown; a newer release may know it";
        case DecodeError::kind_unknown: return "no command or event has this number; a newer release may know it";
        case DecodeError::flag_invalid: return "a flag is neither 0 nor 1";
        case DecodeError::enumerator_unknown: return "an enum has no value of this number";
        case DecodeError::out_of_range: return "a number is larger than its type can hold";
        case DecodeError::count_too_large: return "a list or text is longer than the bytes that are left";
        case DecodeError::parameters_unknown:
            return "no policy of this dispatcher takes parameters of this name; compose it as the writer did";
    }
    return "unknown error";
}

/// A decoder's error and its position.
struct DecodeFault {
    DecodeError error = DecodeError::truncated;
    std::size_t offset = 0;  ///< Offset in bytes of the first byte of the wrong value.

    friend constexpr auto operator==(const DecodeFault&, const DecodeFault&) noexcept -> bool = default;
};

/// Appends numbers to a buffer of the caller's, the lowest byte first and always at full width.
class ByteWriter {
public:
    explicit ByteWriter(std::vector<std::uint8_t>& out) noexcept : out_{&out} {}

    /// Appends `number` in as many bytes as its type has.
    template <std::unsigned_integral I>
        requires(!std::same_as<I, bool>)
    void integer(I value) {
        auto bytes = std::array<std::uint8_t, sizeof(I)>{};
        for (auto& byte : bytes) {
            byte = static_cast<std::uint8_t>(value & 0xFFU);
            value = static_cast<I>(std::uint64_t{value} >> 8U);
        }
        out_->insert(out_->end(), bytes.begin(), bytes.end());
    }

    /// Appends the bytes of a text, without its length.
    void text(std::string_view value) { out_->insert(out_->end(), value.begin(), value.end()); }

    /// Appends the bytes unchanged.
    void bytes(std::span<const std::uint8_t> values) { out_->insert(out_->end(), values.begin(), values.end()); }

private:
    std::vector<std::uint8_t>* out_;
};

/// Reads the output of a `ByteWriter` from bytes that an untrusted party may have sent.
///
/// The reader keeps the first fault. From then on nothing is left to read: numbers and counts are zero, so a decoder
/// checks `fault()` only once, at its end. It never reads beyond the bytes and allocates nothing.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_{bytes} {}

    /// Reads a number of as many bytes as the type has; zero when fewer are left.
    /// @complexity linear in the size of the type.
    template <std::unsigned_integral I>
        requires(!std::same_as<I, bool>)
    [[nodiscard]] auto integer() noexcept -> I {
        auto value = I{0};
        auto shift = 0;
        for (const auto byte : bytes(sizeof(I))) {
            value = static_cast<I>(value | static_cast<I>(I{byte} << shift));
            shift += 8;
        }
        return value;
    }

    /// Reads the next `count` bytes; none when fewer are left.
    [[nodiscard]] auto bytes(std::size_t count) noexcept -> std::span<const std::uint8_t> {
        began_ = at_;
        if (count > remaining()) {
            fail(DecodeError::truncated);
            return {};
        }
        at_ += count;
        return bytes_.subspan(began_, count);
    }

    /// Reads the length of a list whose elements take at least one byte each; zero when it exceeds the bytes that are
    /// left.
    [[nodiscard]] auto count() noexcept -> std::size_t {
        const auto claimed = integer<std::uint32_t>();
        if (claimed > remaining()) {
            fail(DecodeError::count_too_large);
            return 0;
        }
        return claimed;
    }

    /// Records `error` at the value read last; only the first recorded error counts.
    void fail(DecodeError error) noexcept {
        if (!fault_) {
            fault_ = DecodeFault{error, began_};
            bytes_ = bytes_.first(at_);
        }
    }

    /// Records `trailing_bytes` if any byte is left.
    void end() noexcept {
        began_ = at_;
        if (remaining() != 0) { fail(DecodeError::trailing_bytes); }
    }

    [[nodiscard]] auto remaining() const noexcept -> std::size_t { return bytes_.size() - at_; }
    /// The bytes that are left.
    [[nodiscard]] auto rest() const noexcept -> std::span<const std::uint8_t> { return bytes_.subspan(at_); }
    [[nodiscard]] auto fault() const noexcept -> const std::optional<DecodeFault>& { return fault_; }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    std::size_t began_ = 0;  // start of the value read last
    std::optional<DecodeFault> fault_{};
};

}}  // namespace allot::v0
