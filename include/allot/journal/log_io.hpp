#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Why bytes could not be written or read. The numbers are stable.
enum class IoError : std::uint8_t {
    write_failed = 1,
    sync_failed = 2,
    read_failed = 3,
    no_space = 4,
    too_long = 5,
    broken = 6,
    in_use = 7,
};

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(IoError error) noexcept -> std::string_view {
    switch (error) {
        case IoError::write_failed: return "the bytes could not be written";
        case IoError::sync_failed: return "the bytes may not outlast a crash; recover the log before writing on";
        case IoError::read_failed: return "the bytes could not be read";
        case IoError::no_space: return "there is no space left for the bytes";
        case IoError::too_long: return "the record is longer than log_body_max; split what it holds";
        case IoError::broken: return "an earlier write or sync failed; recover the log and make another writer";
        case IoError::in_use: return "another process has the file open for writing; stop that one first";
    }
    return "unknown error";
}

/// `sink.append(bytes) -> std::optional<IoError>`: writes all the bytes at the end, or returns an error. After an error
/// any part of the bytes may have been written.
template <class S>
concept has_append = requires(S& sink, std::span<const std::uint8_t> bytes) {
    { sink.append(bytes) } -> std::same_as<std::optional<IoError>>;
};

/// `sink.sync() -> std::optional<IoError>`: returns once all appended bytes outlast a crash, or returns an error.
template <class S>
concept has_sync = requires(S& sink) {
    { sink.sync() } -> std::same_as<std::optional<IoError>>;
};

/// `source.read(into) -> Result<std::size_t, IoError>`: fills one byte or more and returns their number; 0 at the end.
template <class S>
concept has_read = requires(S& source, std::span<std::uint8_t> into) {
    { source.read(into) } -> std::same_as<Result<std::size_t, IoError>>;
};

/// `file.cut(bytes) -> std::optional<IoError>`: drops all but the first `bytes` bytes; the next `append` follows them.
template <class S>
concept has_cut = requires(S& file, std::uint64_t bytes) {
    { file.cut(bytes) } -> std::same_as<std::optional<IoError>>;
};

/// `file.seek(bytes) -> void`: moves the next `read` or `append` behind the first `bytes` bytes. An `append` there
/// overwrites.
template <class S>
concept has_seek = requires(S& file, std::uint64_t bytes) {
    { file.seek(bytes) } -> std::same_as<void>;
};

/// A destination of a log: a file, a replicated log, memory.
template <class S>
concept byte_sink = has_append<S> && has_sync<S>;

/// A source of a log, read from its first byte on.
template <class S>
concept byte_source = has_read<S>;

/// Explains with one `static_assert` for each requirement why `S` is no `byte_sink`.
template <class S>
struct ByteSinkCheck {
    static constexpr bool passed = byte_sink<S>;
    static_assert(has_append<S>, "allot: a sink of bytes needs "
                                 "`auto append(std::span<const std::uint8_t>) -> std::optional<IoError>`");
    static_assert(!has_append<S> || has_sync<S>,
                  "allot: a sink of bytes needs `auto sync() -> std::optional<IoError>`");
};

/// Explains with one `static_assert` for each requirement why `S` is no `byte_source`.
template <class S>
struct ByteSourceCheck {
    static constexpr bool passed = byte_source<S>;
    static_assert(has_read<S>, "allot: a source of bytes needs "
                               "`auto read(std::span<std::uint8_t>) -> Result<std::size_t, IoError>`");
};

/// Explains with one `static_assert` for each requirement why `recover` cannot take `S`.
template <class S>
struct CuttableCheck {
    static constexpr bool passed = byte_sink<S> && byte_source<S> && has_cut<S> && has_seek<S>;
    static_assert(has_cut<S>, "allot: a log that is to be recovered needs "
                              "`auto cut(std::uint64_t bytes) -> std::optional<IoError>`");
    static_assert(!has_cut<S> || has_seek<S>,
                  "allot: a log that is to be recovered needs `void seek(std::uint64_t bytes)`");
};

}}  // namespace allot::v0
