#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 {

/// Text of at most 128 bytes stored in the object, so that a record that holds it is copied as bytes.
class Name {
public:
    static constexpr std::size_t size_max = 128;

    /// The empty name.
    constexpr Name() noexcept = default;
    /// The name `text`.
    /// @pre `text` has at most `size_max` bytes.
    constexpr Name(std::string_view text) noexcept  // NOLINT: implicit, it loses nothing
        : size_{static_cast<std::uint8_t>(std::min(text.size(), size_max))} {
        ALLOT_ASSERT(text.size() <= size_max, "a Name has at most 128 bytes");
        std::copy_n(text.begin(), size_, bytes_.begin());
    }
    constexpr Name(const char* text) noexcept : Name{std::string_view{text}} {}         // NOLINT: as above
    constexpr Name(const std::string& text) noexcept : Name{std::string_view{text}} {}  // NOLINT: as above

    [[nodiscard]] constexpr auto view() const noexcept -> std::string_view { return {bytes_.data(), size_}; }
    constexpr operator std::string_view() const noexcept { return view(); }  // NOLINT: implicit, it is one

    friend constexpr auto operator==(const Name& a, const Name& b) noexcept -> bool { return a.view() == b.view(); }

private:
    std::array<char, size_max> bytes_{};
    std::uint8_t size_ = 0;
};

}}  // namespace allot::v0
