#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include <allot/journal/log_io.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// A folder of files, in which a `BasicStore` keeps its log and its snapshots.
///
///     typename F::File                                        a movable sink and source, with `cut` and `seek`
///     names() -> Result<std::vector<std::string>, IoError>    of all files, in any order
///     to_read(name) -> Result<File, IoError>
///     to_write(name) -> Result<File, IoError>                 the file is created if it is missing
///     rename(from, to) -> std::optional<IoError>              in one step; replaces `to`
///     remove(name) -> std::optional<IoError>
///     sync() -> std::optional<IoError>                        returns once the names outlast a crash
template <class F>
concept folder = byte_sink<typename F::File> && byte_source<typename F::File> && has_cut<typename F::File> &&
    has_seek<typename F::File> && std::movable<typename F::File> && requires(F& f, const std::string& name) {
    { f.names() } -> std::same_as<Result<std::vector<std::string>, IoError>>;
    { f.to_read(name) } -> std::same_as<Result<typename F::File, IoError>>;
    { f.to_write(name) } -> std::same_as<Result<typename F::File, IoError>>;
    { f.rename(name, name) } -> std::same_as<std::optional<IoError>>;
    { f.remove(name) } -> std::same_as<std::optional<IoError>>;
    { f.sync() } -> std::same_as<std::optional<IoError>>;
};

}}  // namespace allot::v0
