#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <allot/core/bytes.hpp>

namespace allot { inline namespace v0 {

/// Why bytes cannot be loaded as a snapshot. The numbers are stable.
enum class SnapshotError : std::uint8_t {
    not_a_snapshot = 1,
    version_unknown = 2,
    damaged = 3,
    malformed = 4,
    policy_differs = 5,
    parameters_differ = 6,
    parameters_invalid = 7,
    too_sparse = 8,
    not_canonical = 9,
    contradiction = 10,
    read_failed = 11,
};

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(SnapshotError error) noexcept -> std::string_view {
    switch (error) {
        case SnapshotError::not_a_snapshot: return "the bytes do not begin as a snapshot does";
        case SnapshotError::version_unknown: return "the snapshot's version is unknown; a newer release may know it";
        case SnapshotError::damaged: return "the snapshot is not what was written; fetch it again";
        case SnapshotError::malformed:
            return "the bytes of a value are not in canonical form; whoever wrote them is no honest writer";
        case SnapshotError::policy_differs:
            return "the snapshot is of a dispatcher with another policy; compose it as the writer did";
        case SnapshotError::parameters_differ:
            return "the snapshot has other parameters of a policy; give it the same, or load with "
                   "SnapshotParameters::taken_over";
        case SnapshotError::parameters_invalid: return "the snapshot has parameters that make no sense together";
        case SnapshotError::too_sparse:
            return "handles or places are far beyond the number of records; raise SnapshotLimits::reach_max if the "
                   "state is honest";
        case SnapshotError::not_canonical: return "entries are not in ascending order, or one value stands there twice";
        case SnapshotError::contradiction:
            return "a record contradicts another one; no dispatcher was ever in this state";
        case SnapshotError::read_failed: return "the source could not be read; nothing is known of the snapshot";
    }
    return "unknown error";
}

/// The fault that stopped loading, and its place.
struct SnapshotFault {
    SnapshotError error = SnapshotError::not_a_snapshot;
    std::string_view what{};                ///< The section, role or record with the fault; may be empty.
    std::uint32_t entry = 0;                ///< Handle or id of the entry, if the fault is in one.
    std::optional<DecodeFault> decoding{};  ///< Fault of the decoder, if a value is malformed.

    friend auto operator==(const SnapshotFault&, const SnapshotFault&) noexcept -> bool = default;
};

/// Whether a snapshot's parameters may differ from those of the dispatcher it is loaded into.
enum class SnapshotParameters : std::uint8_t {
    must_match,  ///< Other parameters are refused with `parameters_differ`.
    taken_over,  ///< Takes the parameters from the snapshot, for a state whose parameters `configure` had changed.
};

/// Limits for loading an untrusted snapshot.
struct SnapshotLimits {
    /// How to treat parameters that differ from the dispatcher's.
    SnapshotParameters parameters = SnapshotParameters::must_match;
    /// Memory follows the highest handles, slots and places, not the number of records. Their sum may exceed the
    /// snapshot's length in bytes by this many; each costs up to 600 bytes.
    std::uint64_t reach_max = std::uint64_t{1} << 20U;
};

}}  // namespace allot::v0
