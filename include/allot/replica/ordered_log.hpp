#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/replica/entry.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Why a replicated log did not answer. The numbers are stable.
enum class OrderedLogError : std::uint8_t {
    compacted = 1,
    unavailable = 2,
};
ALLOT_ENUMERATORS(OrderedLogError, compacted, unavailable)

/// The error and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(OrderedLogError error) noexcept -> std::string_view {
    switch (error) {
        case OrderedLogError::compacted: return "the entries were dropped; load a checkpoint and read on from there";
        case OrderedLogError::unavailable:
            return "the log did not answer, and an append may have happened; try again with the same proposal";
    }
    return "unknown error";
}

/// One entry of a replicated log.
struct LoggedEntry {
    std::uint64_t position = 0;
    std::vector<std::uint8_t> bytes{};

    friend auto operator==(const LoggedEntry&, const LoggedEntry&) -> bool = default;
};

/// A totally ordered log that several processes append to, such as etcd, a Kafka partition or a chain.
///
///     append(proposer, nonce, bytes)   appends once and returns the position; the same again for the same proposal
///     read(after, count_max)           the entries above a position, in order; empty: there are none yet
///     compact(through)                 entries up to this position may be dropped
///
/// Positions grow, may have holes, and begin above 0. `laws::ordered_log` checks an adapter.
template <class L>
concept ordered_log = requires(L& log, ReplicaId proposer, std::uint64_t number, std::size_t count,
                               std::span<const std::uint8_t> bytes) {
    { log.append(proposer, number, bytes) } -> std::same_as<Result<std::uint64_t, OrderedLogError>>;
    { log.read(number, count) } -> std::same_as<Result<std::vector<LoggedEntry>, OrderedLogError>>;
    { log.compact(number) } -> std::same_as<std::optional<OrderedLogError>>;
};

}}  // namespace allot::v0
