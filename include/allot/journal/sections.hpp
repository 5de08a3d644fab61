#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/journal/encode.hpp>
#include <allot/policy/name.hpp>

namespace allot { inline namespace v0 {

// The canonical bytes of a dispatcher's whole state, in sections. Snapshots write them, state roots hash them.
//
// An entry is its handle or id, 32 bits, and its value; a node's entry also has the models that the node holds. The
// pool, the queue and every other index follow from these, so they are not written.

/// Bytes of the embedder that belong to a state: a snapshot holds them, and the state root covers them.
struct EmbeddedSection {
    std::string name{};  ///< Empty for no section.
    std::vector<std::uint8_t> bytes{};

    friend auto operator==(const EmbeddedSection&, const EmbeddedSection&) -> bool = default;
};

/// The name of a section in faults.
[[nodiscard]] constexpr auto section_name(Section section) noexcept -> std::string_view {
    constexpr auto names = std::array<std::string_view, section_count>{
        "classes", "requirements", "models", "node names", "nodes", "groups", "tasks", "ended tasks", "leases"};
    return names[static_cast<std::size_t>(section)];
}

namespace detail {

/// The table of a section, with `for_each(f(handle or id, value))`.
template <Section section, class State>
[[nodiscard]] auto table_of(const State& state) -> const auto& {
    if constexpr (section == Section::classes) {
        return state.fits().classes();
    } else if constexpr (section == Section::requirements) {
        return state.fits().requirements();
    } else if constexpr (section == Section::models) {
        return state.models().names();
    } else if constexpr (section == Section::node_names) {
        return state.node_names();
    } else if constexpr (section == Section::nodes) {
        return state.nodes();
    } else if constexpr (section == Section::groups) {
        return state.groups();
    } else if constexpr (section == Section::tasks) {
        return state.tasks();
    } else if constexpr (section == Section::ended_tasks) {
        return state.ended_tasks();
    } else {
        return state.leases();
    }
}

/// Calls `f.template operator()<section>()` for each section, in order.
template <class F>
void each_section(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f.template operator()<static_cast<Section>(I)>(), ...); }
    (std::make_index_sequence<section_count>{});
}

[[nodiscard]] constexpr auto number_of(std::uint32_t id) noexcept -> std::uint32_t { return id; }
template <class Tag>
[[nodiscard]] constexpr auto number_of(Handle<Tag> handle) noexcept -> std::uint32_t {
    return handle.value;
}

/// Appends an entry: its handle or id, and its value.
template <class Value>
void put_entry(Encoder& out, std::uint32_t number, const Value& value) {
    out.put(number);
    out.put(value);
}
/// The same for a node, and the models that it holds or was asked to fetch.
template <class NodeData>
void put_entry(Encoder& out, std::uint32_t number, const NodeRecord<NodeData>& record, const HeldModels& held) {
    out.put(number);
    out.put(record);
    out.put(held);
}
template <class State, class H, class Value>
void put_entry_of(Encoder& out, const State& state, H handle, const Value& value) {
    if constexpr (std::is_same_v<H, NodeHandle>) {
        put_entry(out, handle.value, value, merged(state.holdings(handle), state.wishes(handle)));
    } else {
        put_entry(out, number_of(handle), value);
    }
}

/// Calls `f(number)` for each entry of a section, with the entry's bytes in `buffer`.
/// @complexity linear in the section.
template <Section section, class State, class F>
void each_entry(const State& state, std::vector<std::uint8_t>& buffer, F&& f) {
    table_of<section>(state).for_each([&](auto handle, const auto& value) {
        buffer.clear();
        auto out = Encoder{buffer};
        put_entry_of(out, state, handle, value);
        f(number_of(handle));
    });
}

/// Writes the bytes of one entry into `buffer`, which stays empty if there is no such entry.
template <Section section, class State>
void entry_of(const State& state, std::uint32_t number, std::vector<std::uint8_t>& buffer) {
    buffer.clear();
    auto out = Encoder{buffer};
    const auto& table = table_of<section>(state);
    if constexpr (requires { table.find_record(typename std::remove_cvref_t<decltype(table)>::handle_type{}); }) {
        const auto handle = typename std::remove_cvref_t<decltype(table)>::handle_type{number};
        if (const auto* record = table.find_record(handle)) { put_entry_of(out, state, handle, *record); }
    } else if (table.contains(number)) {
        put_entry(out, number, table.value(number));
    }
}

/// Appends a policy's name and its parameters.
/// @complexity linear in the policy's parts.
template <class P>
void put_policy(Encoder& out, const P& policy) {
    out.put(std::string{policy_name<P>()});
    if constexpr (configurable<P>) {
        out.put(policy.parameters());
    } else if constexpr (has_parts<P>) {
        each_part(policy, [&](const auto& part) { put_policy(out, part); });
    }
}

}  // namespace detail

/// The policies of a dispatcher with their parameters, in canonical form: one entry per role, in the order of the
/// roles.
template <class Dispatcher>
[[nodiscard]] auto encode_policies(const Dispatcher& dispatcher) -> std::vector<std::vector<std::uint8_t>> {
    auto all = std::vector<std::vector<std::uint8_t>>{};
    dispatcher.view().each_policy([&](const auto& policy) {
        auto out = Encoder{all.emplace_back()};
        detail::put_policy(out, policy);
    });
    return all;
}

}}  // namespace allot::v0
