#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <allot/core/score.hpp>
#include <allot/core/siphash.hpp>
#include <allot/store/network.hpp>

namespace allot { inline namespace v0 {

/// Feeds values to one hash in a fixed order, so that equal states have equal digests on every machine.
class Digest {
public:
    template <class T>
        requires(std::is_integral_v<T> || std::is_enum_v<T>)
    void add(T value) {
        hasher_.word(static_cast<std::uint64_t>(value));
    }
    void add(u128 value) {
        hasher_.word(value.high());
        hasher_.word(value.low());
    }
    void add(Amount value) { add(value.units); }
    void add(Gibibytes value) { add(value.count); }
    void add(Score value) { add(value.raw()); }
    void add(StakeRoot value) { add(value.packed()); }
    void add(Duration value) { add(value.count()); }
    void add(TimePoint value) { add(value.time_since_epoch()); }
    void add(const std::string& value) { hash_text(hasher_, value); }
    template <class Tag>
    void add(const Id<Tag>& value) {
        hasher_.bytes(std::as_bytes(std::span{value.bytes()}));
    }
    template <class Tag>
    void add(Handle<Tag> value) {
        add(value.value);
    }
    template <class T>
    void add(const std::optional<T>& value) {
        add(value.has_value());
        if (value) {
            add(*value);
        }
    }
    template <class T>
    void add(const std::vector<T>& values) {
        add(values.size());
        for (const auto& value : values) {
            add(value);
        }
    }
    void add(const SoftwareVersion& v) { all(v.major, v.minor, v.patch); }
    void add(const GpuChoice& v) { all(v.name, v.vram); }
    void add(const NodeClass& v) { all(v.gpu, v.vram, v.platform, v.software); }
    void add(const Requirement& v) { all(v.vram_min, v.gpus, v.platforms, v.software); }
    void add(const Value& v) { all(v.num, v.den); }
    void add(const HeldModel& v) { all(v.model, v.holding, v.place, v.asked_at); }
    void add(const GroupRecord::Member& v) { all(v.node, v.operator_id); }
    void add(const GroupRecord& v) { all(v.id, v.tasks, v.members); }
    void add(const LeaseRecord& v) { all(v.token, v.task, v.node, v.started_at, v.deadline, v.phase); }
    void add(const Counters& v) { all(v.now, v.token_next, v.sequence_next, v.ceiling, v.rules_version); }
    void add(const Node& v) {
        all(v.id, v.operator_id, v.stake, v.state, v.excluded, v.kicked_out, v.node_class, v.slot, v.lease, v.due_at, v.labels);
    }
    void add(const Task& v) {
        all(v.id, v.owner, v.group_id, v.fee, v.duration_estimate, v.value, v.sequence, v.attempt, v.state, v.requirement);
        all(v.lease, v.group, v.submitted_at, v.due_at, v.models, v.avoided, v.labels);
    }
    template <class NodeData>
    void add(const NodeRecord<NodeData>& v) {
        add(v.node);
        if constexpr (requires { v.qos.absorbed(*this); }) {
            v.qos.absorbed(*this);  // a tracker's data that is to count has `void absorbed(auto& digest) const`
        }
    }

    template <class... Ts>
    void all(const Ts&... values) {
        (add(values), ...);
    }
    [[nodiscard]] auto finish() const -> std::uint64_t { return hasher_.finish(); }

private:
    SipHasher<2, 4> hasher_{SipKey{}};
};

/// A hash of all records and counters. @complexity linear in what is remembered.
template <class NodeData, class Configuration>
[[nodiscard]] auto digest_of(const Network<NodeData, Configuration>& state) -> std::uint64_t {
    auto digest = Digest{};
    const auto put = [&](auto handle, const auto& record) {
        digest.add(handle);
        digest.add(record);
    };
    digest.add(state.counters());
    state.nodes().for_each([&](NodeHandle h, const auto& record) {
        put(h, record);
        digest.add(state.holdings(h));
    });
    state.tasks().for_each(put);
    state.leases().for_each(put);
    state.groups().for_each(put);
    const auto value = [&](std::uint32_t id, const auto& v) { put(id, v); };
    state.fits().classes().for_each(value);
    state.fits().requirements().for_each(value);
    state.models().names().for_each(value);
    return digest.finish();
}

}}  // namespace allot::v0
