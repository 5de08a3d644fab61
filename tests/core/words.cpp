#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <allot/core/id.hpp>
#include <allot/core/words.hpp>

#include "support/catch.hpp"

TEST_CASE("words have the lowest byte first") {
    auto bytes = std::array<std::uint8_t, 32>{};
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::uint8_t>(i + 1); }
    const auto words = std::array<std::uint64_t, 4>{0x0807'0605'0403'0201U, 0x100F'0E0D'0C0B'0A09U,
                                                    0x1817'1615'1413'1211U, 0x201F'1E1D'1C1B'1A19U};
    CHECK(allot::words_of(bytes) == words);
    CHECK(allot::NodeId{bytes}.words() == words);
}

TEST_CASE("ids differ when any byte does") {
    const auto id = allot::NodeId{"alice"};
    CHECK(id == allot::NodeId{"alice"});
    for (std::size_t i = 0; i < allot::NodeId::size; ++i) {
        auto bytes = id.bytes();
        bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 0x80U);
        CHECK_FALSE(id == allot::NodeId{bytes});
        auto single = std::array<std::uint8_t, 32>{};
        single[i] = 1;
        CHECK_FALSE(allot::NodeId{single}.is_null());
    }
    CHECK(allot::NodeId::null().is_null());
}

TEST_CASE("text with a zero byte is no id, for it would equal a shorter text or a number", "[J5]") {
    for (const auto text : {std::string_view{"a\0", 2}, std::string_view{"a\0b", 3}, std::string_view{"\0", 1}}) {
        CHECK(allot::NodeId{text}.is_null());
        CHECK(allot::NodeId{std::string{text}}.is_null());
    }
    const auto seven = allot::NodeId{7}.bytes();
    CHECK(allot::NodeId{std::string{seven.begin(), seven.end()}}.is_null());
    CHECK(allot::NodeId{"a"} == allot::NodeId{std::string_view{"a"}});  // a literal ends at its zero
}
