#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <allot/core/score.hpp>
#include <allot/core/siphash.hpp>
#include <allot/store/record_fields.hpp>
#include <allot/store/records.hpp>

namespace allot { inline namespace v0 {

/// Feeds values to one hash in a fixed order, so that equal states have equal digests on every machine.
class Digest {
public:
    template <class T>
        requires(std::is_integral_v<T> || std::is_enum_v<T>)
    void add(T value) { hasher_.word(static_cast<std::uint64_t>(value)); }
    void add(u128 value) {
        hasher_.word(value.high());
        hasher_.word(value.low());
    }
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
        if (value) { add(*value); }
    }
    template <class T>
    void add(const std::vector<T>& values) {
        list(values);
    }
    template <class T>
    void add(const List<T>& values) {
        list(values);
    }
    template <std::size_t N>
    void add(const std::array<std::uint8_t, N>& values) {
        hasher_.bytes(std::as_bytes(std::span{values}));
    }
    template <class T, std::size_t N>
    void add(const std::array<T, N>& values) {
        list(values);
    }
    void add(const Value& v) { all(v.num(), v.den()); }
    void add(const HeldModels& values) {
        add(std::uint64_t{values.size()});
        for (const auto& v : values) { all(v.model, v.holding, v.place, values.until(&v)); }
    }
    template <has_fields T>
    void add(const T& value) {
        each_field(value, [this](std::string_view, const auto& field) { this->add(field); });
    }
    /// A tracker's data is included when it has a list of fields.
    template <class NodeData>
    void add(const NodeRecord<NodeData>& v) {
        add(v.node);
        if constexpr (has_fields<NodeData>) { add(v.qos); }
    }

    template <class... Ts>
    void all(const Ts&... values) {
        (add(values), ...);
    }
    template <class Values>
    void list(const Values& values) {
        add(std::uint64_t{values.size()});
        for (const auto& value : values) { add(value); }
    }
    [[nodiscard]] auto finish() const -> std::uint64_t { return SipHash24{hasher_}.finish(); }

private:
    SipHash24 hasher_{SipKey{}};
};

/// A hash of all records and counters.
/// @complexity linear in the size of the state.
template <class NodeData, class Configuration>
[[nodiscard]] auto digest_of(const Records<NodeData, Configuration>& state) -> std::uint64_t {
    auto digest = Digest{};
    const auto put = [&](auto handle, const auto& record) {
        digest.add(handle);
        digest.add(record);
    };
    digest.add(state.counters());
    state.nodes().for_each([&](NodeHandle h, const auto& record) {
        put(h, record);
        digest.add(merged(state.holdings(h), state.wishes(h)));
    });
    state.tasks().for_each(put);
    state.ended_tasks().for_each(put);
    state.leases().for_each(put);
    state.groups().for_each(put);
    const auto value = [&](std::uint32_t id, const auto& v) { put(id, v); };
    state.fits().classes().for_each(value);
    state.fits().requirements().for_each(value);
    state.models().names().for_each(value);
    state.node_names().for_each(value);
    return digest.finish();
}

}}  // namespace allot::v0
