#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/journal/merkle_path.hpp>
#include <allot/journal/merkle_tree.hpp>
#include <allot/journal/sections.hpp>

namespace allot { inline namespace v0 {

/// Version of the content of a state root; it is hashed too.
inline constexpr auto state_root_version = std::uint32_t{2};

namespace detail {

/// The state root from the parts that it hashes, with the counters as they are encoded.
/// @complexity constant: some 400 bytes are hashed.
[[nodiscard]] inline auto state_root_of(const Hash256& policies, std::span<const std::uint8_t> counters,
                                        const Hash256& embedded, const std::array<Hash256, section_count>& sections)
    -> Hash256 {
    auto head = std::vector<std::uint8_t>{};
    auto out = Encoder{head};
    out.put(std::string{"allot state"});
    out.put(state_root_version);
    auto hash = Sha256{};
    hash.bytes(head).bytes(policies).bytes(counters).bytes(embedded);
    for (const auto& section : sections) { hash.bytes(section); }
    return hash.finish();
}

}  // namespace detail

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
/// The root hashes, in canonical form: the version, the hash of the policies, the counters, the hash of the embedder's
/// section, and the root of one Merkle tree for each section.
class StateTree {
public:
    /// A tree of no state, to be filled by `set`.
    StateTree() = default;
    /// Hashes the whole state. @complexity linear in the records; 64 bytes of memory for each.
    template <class Dispatcher>
    explicit StateTree(const Dispatcher& dispatcher) {
        auto entry = std::vector<std::uint8_t>{};
        detail::each_section([&]<Section section>() {
            detail::each_entry<section>(dispatcher.state(), entry,
                                        [&](std::uint32_t number) { set(section, number, entry); });
        });
        set_head(dispatcher);
    }

    /// Hashes the touched entries again, and the policies and counters. @complexity O(log n) hashes for each entry.
    template <class Dispatcher>
    void follow(const Dispatcher& dispatcher, const Touched& touched) {
        detail::each_section([&]<Section section>() {
            for (const auto number : touched[static_cast<std::size_t>(section)]) {
                detail::entry_of<section>(dispatcher.state(), number, buffer_);
                set(section, number, buffer_);
            }
        });
        set_head(dispatcher);
    }

    /// Hashes one entry from its bytes; none remove it. @complexity linear in the bytes.
    void set(Section section, std::uint32_t number, std::span<const std::uint8_t> entry) {
        trees_[static_cast<std::size_t>(section)].put(number, entry);
    }

    /// Takes over the policies, which are hashed only if they differ, and the counters.
    /// @complexity linear in the parameters.
    template <class Dispatcher>
    void set_head(const Dispatcher& dispatcher) {
        buffer_.clear();
        auto out = Encoder{buffer_};
        out.put(encode_policies(dispatcher));
        if (buffer_ != policies_) {
            policies_ = buffer_;
            policies_hash_ = MerkleTree::leaf(policies_);
        }
        counters_.clear();
        Encoder{counters_}.put(dispatcher.state().counters());
    }

    /// Returns the state root, with the embedder's section if it has one. @complexity O(log n) hashes for each entry
    /// touched since the last call, and linear in the section.
    [[nodiscard]] auto root(const EmbeddedSection& embedded = {}) -> Hash256 {
        return detail::state_root_of(policies_hash_, counters_, embedded_hash(embedded), section_roots());
    }

    /// Returns the hash of the policies with their parameters, as the state root has it.
    [[nodiscard]] auto policies_hash() const noexcept -> const Hash256& { return policies_hash_; }

    /// Returns the hash of an embedder's section, as the state root has it. @complexity linear in the section.
    [[nodiscard]] static auto embedded_hash(const EmbeddedSection& embedded) -> Hash256 {
        if (embedded == EmbeddedSection{}) { return MerkleTree::absent; }
        auto bytes = std::vector<std::uint8_t>{};
        auto out = Encoder{bytes};
        out.put(embedded.name);
        out.put(embedded.bytes);
        return MerkleTree::leaf(bytes);
    }

    /// Returns the roots of all sections. @complexity that of `root`.
    [[nodiscard]] auto section_roots() -> std::array<Hash256, section_count> {
        auto roots = std::array<Hash256, section_count>{};
        std::transform(trees_.begin(), trees_.end(), roots.begin(), [](MerkleTree& tree) { return tree.root(); });
        return roots;
    }

    /// Returns the path of an entry in its section, without the content that `MerklePath::opened` may need.
    /// @complexity that of `root`, and 32 bytes for each level.
    [[nodiscard]] auto path_in(Section section, std::uint32_t number) -> MerklePath {
        return path_of(trees_[static_cast<std::size_t>(section)], number);
    }

private:
    std::array<MerkleTree, section_count> trees_{};
    std::vector<std::uint8_t> policies_{};
    Hash256 policies_hash_{};
    std::vector<std::uint8_t> counters_{};
    std::vector<std::uint8_t> buffer_{};
};

/// Returns the state root, computed from scratch. @complexity linear in the records.
template <class Dispatcher>
[[nodiscard]] auto state_root(const Dispatcher& dispatcher, const EmbeddedSection& embedded = {}) -> Hash256 {
    return StateTree{dispatcher}.root(embedded);
}

}}  // namespace allot::v0
