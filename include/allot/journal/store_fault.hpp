#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <allot/journal/log_form.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/journal/snapshot_fault.hpp>

namespace allot { inline namespace v0 {

/// Why a store cannot be opened. The numbers are stable.
enum class StoreError : std::uint8_t {
    io_failed = 1,
    snapshot_damaged = 2,
    log_damaged = 3,
    log_gap = 4,
    record_unknown = 5,
};

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(StoreError error) noexcept -> std::string_view {
    switch (error) {
        case StoreError::io_failed: return "the file could not be read or written; mend the device or its rights";
        case StoreError::snapshot_damaged:
            return "no snapshot can be loaded and the log does not reach back; restore the file from a backup";
        case StoreError::log_damaged:
            return "acknowledged records are damaged or missing; restore the file from a backup";
        case StoreError::log_gap: return "this file of the log, or one before it, is missing; restore it";
        case StoreError::record_unknown:
            return "a record is none of this program; start the release and the policies that wrote it";
    }
    return "unknown error";
}

/// The fault that kept a store from being opened, and its file.
struct StoreFault {
    StoreError error = StoreError::io_failed;
    std::string file{};                       ///< Name of the file.
    std::optional<IoError> io{};              ///< If reading or writing failed.
    std::optional<LogFault> log{};            ///< If the log is damaged.
    std::optional<SnapshotFault> snapshot{};  ///< If a snapshot is.
    std::uint64_t position = 0;               ///< Of the record that is unknown.
};

}}  // namespace allot::v0
