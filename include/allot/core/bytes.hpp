#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why bytes are not the canonical form of a value. The numbers are stable.
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

/// What was wrong and what to do about it, in one sentence.
[[nodiscard]] constexpr auto message(DecodeError error) noexcept -> std::string_view {
    switch (error) {
        case DecodeError::truncated: return "the bytes end within a value; pass the whole message";
        case DecodeError::trailing_bytes: return "bytes are left over after the value; pass one message without padding";
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

/// What stopped a decoder, and where.
struct DecodeFault {
    DecodeError error = DecodeError::truncated;
    std::size_t offset = 0;  ///< Of the first byte of the value that is wrong.

    friend constexpr auto operator==(const DecodeFault&, const DecodeFault&) noexcept -> bool = default;
};

/// Appends numbers to a buffer of the caller's, the lowest byte first and always at full width.
class ByteWriter {
public:
    explicit ByteWriter(std::vector<std::uint8_t>& out) noexcept : out_{&out} {}

    /// As many bytes as the type has.
    template <std::unsigned_integral I>
        requires(!std::same_as<I, bool>)
    void integer(I value) {
        for (auto shift = 0; shift < std::numeric_limits<I>::digits; shift += 8) {
            out_->push_back(static_cast<std::uint8_t>((value >> shift) & 0xFFU));
        }
    }

    /// The bytes as they are.
    void bytes(std::span<const std::uint8_t> values) { out_->insert(out_->end(), values.begin(), values.end()); }

private:
    std::vector<std::uint8_t>* out_;
};

/// Reads what a `ByteWriter` wrote, out of bytes that a stranger may have sent.
///
/// The first fault is kept, and from then on nothing is left to read: numbers are zero and counts too, so that a decoder
/// needs to look at `fault()` only once, at its end. It never reads beyond the bytes and allocates nothing.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_{bytes} {}

    /// A number of as many bytes as the type has.
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

    /// The next `count` bytes; none when fewer are left.
    [[nodiscard]] auto bytes(std::size_t count) noexcept -> std::span<const std::uint8_t> {
        began_ = at_;
        if (count > remaining()) {
            fail(DecodeError::truncated);
            return {};
        }
        at_ += count;
        return bytes_.subspan(began_, count);
    }

    /// The length of a list whose elements take a byte or more each; zero when more is claimed than can follow.
    [[nodiscard]] auto count() noexcept -> std::size_t {
        const auto claimed = integer<std::uint32_t>();
        if (claimed > remaining()) {
            fail(DecodeError::count_too_large);
            return 0;
        }
        return claimed;
    }

    /// Says that what was read last is wrong; only the first such word counts.
    void fail(DecodeError error) noexcept {
        if (!fault_) {
            fault_ = DecodeFault{error, began_};
            bytes_ = bytes_.first(at_);
        }
    }

    /// Says that nothing may follow.
    void end() noexcept {
        began_ = at_;
        if (remaining() != 0) {
            fail(DecodeError::trailing_bytes);
        }
    }

    [[nodiscard]] auto remaining() const noexcept -> std::size_t { return bytes_.size() - at_; }
    [[nodiscard]] auto fault() const noexcept -> const std::optional<DecodeFault>& { return fault_; }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    std::size_t began_ = 0;  // where what was read last begins
    std::optional<DecodeFault> fault_{};
};

}}  // namespace allot::v0
