#include "packed.hpp"

#include <new>

#include <zstd.h>

namespace service::etcd {

namespace {

constexpr auto level = 1;
constexpr auto entry_bytes_max = std::size_t{4} << 20U;  // a body of 1 MiB, and more than all else

}  // namespace

auto packed(std::span<const std::uint8_t> entry) -> std::string {
    auto value = std::string(ZSTD_compressBound(entry.size()), '\0');
    const auto size = ZSTD_compress(value.data(), value.size(), entry.data(), entry.size(), level);
    if (ZSTD_isError(size) != 0) { throw std::bad_alloc{}; }  // the room suffices, so nothing else can fail
    value.resize(size);
    return value;
}

auto unpacked(std::string_view value) -> std::vector<std::uint8_t> {
    const auto told = ZSTD_getFrameContentSize(value.data(), value.size());  // of no frame: more than any
    if (told <= entry_bytes_max) {
        auto entry = std::vector<std::uint8_t>(told);
        if (ZSTD_decompress(entry.data(), entry.size(), value.data(), value.size()) == told) { return entry; }
    }
    return {value.begin(), value.end()};
}

}  // namespace service::etcd
