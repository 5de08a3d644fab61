#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/merkle_path.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/store/record_fields.hpp>

namespace allot { inline namespace v0 {

/// Proves to the owner of a state root that one entry of the state has these bytes, or that there is none. `encode`
/// writes it.
///
/// It has the other parts that the root hashes. So it also shows the counters, such as the time of the state.
struct StatePath {
    Hash256 policies{};                             ///< Hash of the policies with their parameters.
    Counters counters{};                            ///< The facts that belong to no record.
    Hash256 embedded{};                             ///< Hash of the embedder's section; zero without one.
    std::array<Hash256, section_count> sections{};  ///< Roots of all sections, in the order of `Section`.
    MerklePath path{};                              ///< From the entry to the root of its section.

    friend auto operator==(const StatePath&, const StatePath&) -> bool = default;
};
ALLOT_FIELDS(StatePath, policies, counters, embedded, sections, path)

/// Returns the bytes of an entry, which its path shows: the number, then the record; for a node also its models. None
/// if there is no such entry. @complexity linear in the entry.
/// @param number The handle or id of the entry.
template <class Dispatcher>
[[nodiscard]] auto entry_bytes(const Dispatcher& dispatcher, Section section, std::uint32_t number)
    -> std::vector<std::uint8_t> {
    auto bytes = std::vector<std::uint8_t>{};
    detail::each_section([&]<Section each>() {
        if (each == section) { detail::entry_of<each>(dispatcher.state(), number, bytes); }
    });
    return bytes;
}

/// Returns the path of an entry, present or absent, to `tree.root(embedded)`.
/// @param number The handle or id of the entry.
/// @pre `tree` follows `dispatcher`.
/// @complexity that of `StateTree::root`, and 32 bytes for each level of the section's tree.
template <class Dispatcher>
[[nodiscard]] auto path_of(StateTree& tree, const Dispatcher& dispatcher, Section section, std::uint32_t number,
                           const EmbeddedSection& embedded = {}) -> StatePath {
    auto path = StatePath{tree.policies_hash(), dispatcher.state().counters(), StateTree::embedded_hash(embedded),
                          tree.section_roots(), tree.path_in(section, number)};
    const auto root = path.sections[static_cast<std::size_t>(section)];
    if (number != 0 && path.path.height == 0 && root != MerkleTree::absent) {
        path.path.opened = entry_bytes(dispatcher, section, 0);
    }
    return path;
}

namespace detail {

/// True if the parts of a path are those of this state root.
[[nodiscard]] inline auto leads_to(const StatePath& path, const Hash256& root) -> bool {
    auto counters = std::vector<std::uint8_t>{};
    Encoder{counters}.put(path.counters);
    return state_root_of(path.policies, counters, path.embedded, path.sections) == root;
}

}  // namespace detail

/// True if the path proves that an entry of a state has these bytes. The path may come from any party; `root` must be a
/// state root that one trusts. `entry_bytes` describes the bytes.
/// @complexity some 400 bytes and the entry are hashed, and one compression for each level.
[[nodiscard]] inline auto shows(const StatePath& path, const Hash256& root, Section section, std::uint32_t number,
                                std::span<const std::uint8_t> entry) -> bool {
    return detail::leads_to(path, root) &&
           shows(path.path, path.sections[static_cast<std::size_t>(section)], number, entry);
}

/// True if the path proves that a state has no such entry. The path may come from any party; `root` must be a state
/// root that one trusts. @complexity as for `shows`.
[[nodiscard]] inline auto shows_absence(const StatePath& path, const Hash256& root, Section section,
                                        std::uint32_t number) -> bool {
    return detail::leads_to(path, root) &&
           shows_absence(path.path, path.sections[static_cast<std::size_t>(section)], number);
}

}}  // namespace allot::v0
