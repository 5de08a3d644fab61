#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/snapshot_check.hpp>
#include <allot/journal/snapshot_fault.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

// A snapshot is the whole state of a dispatcher. Each state has exactly one byte string:
//
//     "allotsnp", version u32, position u64
//     policies     list of byte strings: name and parameters, in the order of the roles
//     counters
//     sections     each: number of entries u32, then entries by ascending handle or id
//     state root   32 bytes
//     SHA-256 of all before, 32 bytes
//
// The hash at the end finds accidental damage. Against forgery, compare the state root with one that you trust.

/// Version of a snapshot's form.
inline constexpr auto snapshot_version = std::uint32_t{1};

/// The snapshot of a dispatcher at a position of the log, as the caller counts it.
/// @complexity linear in the records.
template <class Dispatcher>
[[nodiscard]] auto snapshot(const Dispatcher& dispatcher, std::uint64_t position) -> std::vector<std::uint8_t> {
    auto bytes = std::vector<std::uint8_t>{};
    auto out = ByteWriter{bytes};
    out.bytes(detail::snapshot_magic);
    out.integer(snapshot_version);
    out.integer(position);
    auto encoder = Encoder{bytes};
    encoder.put(encode_policies(dispatcher));
    const auto& state = dispatcher.state();
    encoder.put(state.counters());
    detail::each_section([&]<Section section>() {
        const auto& table = detail::table_of<section>(state);
        encoder.put(table.size());
        table.for_each([&](auto handle, const auto& value) { detail::put_entry(encoder, state, handle, value); });
    });
    out.bytes(state_root(dispatcher));
    out.bytes(Sha256{}.bytes(bytes).finish());
    return bytes;
}

/// The result of loading a snapshot.
template <class Dispatcher>
struct Loaded {
    Dispatcher dispatcher;
    std::uint64_t position = 0;
    Hash256 state_root{};  ///< The state root of the dispatcher, recomputed.
};

/// The dispatcher of a snapshot, whose bytes may come from any party. `snapshot` returns the same bytes for it, because
/// no others are accepted.
///
/// `composed` is a dispatcher without records, with the policies of the snapshot. Every reference between records is
/// checked, so no bytes can lead to a state with references that break the library's own rules. The bytes cannot prove
/// that it is the *right* state: compare the state root.
///
/// @return the dispatcher, or the error as a `SnapshotFault`.
/// @complexity O(n log n); memory as `SnapshotLimits` says.
template <class Dispatcher>
[[nodiscard]] auto load_snapshot(std::span<const std::uint8_t> bytes, Dispatcher composed,
                                 const SnapshotLimits& limits = {}) -> Result<Loaded<Dispatcher>, SnapshotFault> {
    constexpr auto tail = std::tuple_size_v<Hash256>;
    const auto refused = [](SnapshotFault fault) { return FailureOf<SnapshotFault>{fault}; };
    auto in = ByteReader{bytes};
    const auto magic = in.bytes(detail::snapshot_magic.size());
    if (!std::equal(magic.begin(), magic.end(), detail::snapshot_magic.begin(), detail::snapshot_magic.end())) {
        return refused({SnapshotError::not_a_snapshot});
    }
    if (in.integer<std::uint32_t>() != snapshot_version) {
        return refused({in.fault() ? SnapshotError::damaged : SnapshotError::version_unknown});
    }
    const auto position = in.integer<std::uint64_t>();
    if (in.fault() || in.remaining() < 2 * tail) { return refused({SnapshotError::damaged}); }
    const auto hash = bytes.last(tail);
    const auto hashed = Sha256{}.bytes(bytes.first(bytes.size() - tail)).finish();
    if (!std::equal(hash.begin(), hash.end(), hashed.begin())) { return refused({SnapshotError::damaged}); }
    const auto body_size = in.remaining() - 2 * tail;
    auto body = ByteReader{in.bytes(body_size)};
    if (const auto fault = detail::read_policies(body, composed, limits.parameters)) { return refused(*fault); }
    auto loader = detail::SnapshotLoader<Dispatcher>{body, composed.state().key(), limits.reach_max + bytes.size()};
    if (const auto fault = loader.load()) { return refused(*fault); }
    composed.adopt(loader.state());
    const auto root = state_root(composed);
    const auto stated = in.bytes(tail);
    if (!std::equal(root.begin(), root.end(), stated.begin(), stated.end())) {
        return refused({SnapshotError::contradiction, "state root"});
    }
    return Loaded<Dispatcher>{std::move(composed), position, root};
}

}}  // namespace allot::v0
