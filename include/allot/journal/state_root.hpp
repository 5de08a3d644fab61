#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/journal/merkle_tree.hpp>
#include <allot/journal/sections.hpp>

namespace allot { inline namespace v0 {

/// Version of the content of a state root; it is hashed too.
inline constexpr auto state_root_version = std::uint32_t{1};

/// Maintains the state root of one dispatcher: a hash of its policies, their parameters, its counters and every record.
///
///     auto tree = allot::StateTree{dispatcher};
///     auto block = dispatcher.session();
///     ...commands...
///     const auto touched = block.touched();
///     tree.follow(dispatcher, touched);      // root() is now that of the proposed block
///     block.rollback();
///     tree.follow(dispatcher, touched);      // and now the old one again
///
/// The root hashes, in canonical form: the version, the policies, the counters, and the root of one Merkle tree for
/// each section.
class StateTree {
public:
    /// Hashes the whole state. @complexity linear in the records; 64 bytes of memory for each.
    template <class Dispatcher>
    explicit StateTree(const Dispatcher& dispatcher) {
        detail::each_section([&]<Section section>() {
            detail::each_entry<section>(dispatcher.state(), buffer_, [&](std::uint32_t number) {
                tree(section).set(number, MerkleTree::leaf(buffer_));
            });
        });
        head(dispatcher);
    }

    /// Hashes the touched entries again, and the policies and counters. @complexity O(log n) hashes for each entry.
    template <class Dispatcher>
    void follow(const Dispatcher& dispatcher, const Touched& touched) {
        detail::each_section([&]<Section section>() {
            for (const auto number : touched[static_cast<std::size_t>(section)]) {
                detail::entry_of<section>(dispatcher.state(), number, buffer_);
                tree(section).set(number, buffer_.empty() ? MerkleTree::absent : MerkleTree::leaf(buffer_));
            }
        });
        head(dispatcher);
    }

    /// Returns the state root. @complexity O(log n) hashes for each entry touched since the last call.
    [[nodiscard]] auto root() -> Hash256 {
        auto hash = Sha256{};
        hash.bytes(head_);
        for (auto& section : trees_) { hash.bytes(section.root()); }
        return hash.finish();
    }

private:
    [[nodiscard]] auto tree(Section section) -> MerkleTree& { return trees_[static_cast<std::size_t>(section)]; }

    template <class Dispatcher>
    void head(const Dispatcher& dispatcher) {
        head_.clear();
        auto out = Encoder{head_};
        out.put(std::string{"allot state"});
        out.put(state_root_version);
        out.put(encode_policies(dispatcher));
        out.put(dispatcher.state().counters());
    }

    std::array<MerkleTree, section_count> trees_{};
    std::vector<std::uint8_t> head_{};
    std::vector<std::uint8_t> buffer_{};
};

/// Returns the state root, computed from scratch. @complexity linear in the records.
template <class Dispatcher>
[[nodiscard]] auto state_root(const Dispatcher& dispatcher) -> Hash256 {
    return StateTree{dispatcher}.root();
}

}}  // namespace allot::v0
