#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/snapshot.hpp>

#include "fuzz/support/target.hpp"
#include "support/commands.hpp"

// States and commands out of bytes, and the other way round.
namespace fuzz {

using Command = allot::Dispatcher<>::Command;
using Entry = allot::LogEntry<Command>;

/// Memory is bounded tightly, for a process runs thousands of inputs.
inline constexpr auto limits =
    allot::SnapshotLimits{.parameters = allot::SnapshotParameters::taken_over, .reach_max = std::uint64_t{1} << 12U};

inline constexpr auto op_size = std::size_t{14};

/// A step of a script, without sessions.
inline auto op_from(std::span<const std::uint8_t> bytes) -> support::Op {
    auto in = Numbers{bytes};
    auto op = support::Op{};
    op.verb = static_cast<support::Verb>(in.byte() % static_cast<unsigned>(support::Verb::session_open));
    op.time = static_cast<std::uint8_t>(in.byte() % 14U);
    op.chance = in.byte();
    op.odd = static_cast<std::uint8_t>(in.byte() % 24U);
    for (auto& x : op.x) { x = in.byte(); }
    return op;
}
inline void put_op(Bytes& out, const support::Op& op) {
    out.insert(out.end(), {static_cast<std::uint8_t>(op.verb), op.time, op.chance, op.odd});
    out.insert(out.end(), op.x.begin(), op.x.end());
}
inline auto any_step(Words& words) -> support::Op {
    while (true) {
        const auto op = support::any_op(words);
        if (op.verb < support::Verb::session_open) { return op; }
    }
}

/// What one who came later knows of a network.
template <class D>
auto memory_of(const D& dispatcher) -> support::Memory {
    auto memory = support::Memory{};
    memory.gangs = true;
    const auto& state = dispatcher.state();
    state.nodes().for_each([&](allot::NodeHandle, const auto& record) {
        if (record.node.present()) { memory.present.push_back(record.node.id); }
    });
    state.leases().for_each([&](allot::LeaseHandle, const allot::LeaseRecord& lease) {
        const auto& task = state.tasks()[lease.task].id;
        const auto& node = state.nodes()[lease.node].node.id;
        memory.running.push_back({task, node, lease.token, lease.member, lease.of, lease.deadline});
    });
    memory.given = memory.running;
    return memory;
}

/// Random steps, as they were applied.
template <class D>
auto lived(D& dispatcher, Words& words, int steps) -> std::vector<Entry> {
    auto entries = std::vector<Entry>{};
    auto memory = memory_of(dispatcher);
    for (auto i = 0; i < steps; ++i) {
        const auto op = any_step(words);
        const auto moment = support::moment_of(op, {}, dispatcher.now(), dispatcher.next_deadline());
        entries.push_back({moment, *support::interpret(op, memory)});
        memory.hear(dispatcher.apply(entries.back().command, moment));
    }
    return entries;
}

inline constexpr auto embedder_size = std::size_t{12};              // of a section without name and bytes
inline constexpr auto head_size = std::size_t{20} + embedder_size;  // of a snapshot: magic, version, position
inline constexpr auto hashes_size = std::size_t{96};                // at its end: state root, chunk, hash

/// What a forger need not compute, of a snapshot of one chunk.
inline auto body_of(const Bytes& snapshot) -> Bytes {
    ensure(snapshot.size() < allot::snapshot_chunk, "a small state has one chunk");
    const auto body = std::span{snapshot}.subspan(head_size, snapshot.size() - head_size - hashes_size);
    return {body.begin(), body.end()};
}

/// The snapshot of a body with the state root and the hash that it asks for; nothing where it is refused.
template <class D>
auto forged(std::span<const std::uint8_t> body) -> std::optional<Bytes> {
    auto composed = D{};
    auto in = allot::ByteReader{body};
    if (allot::detail::read_policies(in, composed, limits.parameters)) { return std::nullopt; }
    auto loader = allot::detail::SnapshotLoader<D>{in, composed.state().key(), limits.reach_max};
    if (const auto fault = loader.load()) {
        ensure(message(fault->error) != "unknown error", "a fault is named");
        return std::nullopt;
    }
    if (in.remaining() > 0) { return std::nullopt; }
    composed.adopt(loader.state());
    auto chunks = allot::detail::ChunkWriter{5};
    chunks.bytes(Bytes(embedder_size));
    chunks.bytes(body);
    chunks.bytes(allot::state_root(composed));
    chunks.end();
    return chunks.out;
}

}  // namespace fuzz
