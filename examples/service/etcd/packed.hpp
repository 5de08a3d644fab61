#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace service::etcd {

/// An entry as a value of etcd: one frame of zstd. Commands resemble each other, and a member of etcd copies, sends and
/// writes each byte several times.
[[nodiscard]] auto packed(std::span<const std::uint8_t> entry) -> std::string;

/// The entry of a value. A value that is no such frame, or tells of more bytes than an entry may have, is given as it
/// is: a replica then stops at an entry of unknown form.
[[nodiscard]] auto unpacked(std::string_view value) -> std::vector<std::uint8_t>;

}  // namespace service::etcd
