#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/node.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/task.hpp>
#include <allot/store/name_hash.hpp>
#include <allot/store/pages.hpp>

namespace allot { inline namespace v0 {

/// Keyed hashes of the cards that classes have, and for each requirement a bitmap of the cards that it lists.
///
/// Thousands of requirements may list 64 long names each. Where a requirement admits only the cards that it lists, a
/// new class is looked up in their bitmaps, one bit each. It is compared with names only where the bit is set: 32 bits
/// a name let one other class in 32 pass.
class CardIndex {
public:
    /// A bitmap of hashes; without words where no card is listed.
    using Cards = std::vector<std::uint64_t>;

    explicit CardIndex(SipKey key) : hash_{key} {}

    /// @complexity linear in the names.
    [[nodiscard]] auto cards(const Requirement& requirement) const -> Cards {
        if (requirement.gpus.empty()) { return {}; }
        auto cards = Cards((std::bit_ceil(requirement.gpus.size()) + 1) / 2);
        for (const auto& choice : requirement.gpus) {
            const auto card = hash(choice.name);
            cards[card / 64 % cards.size()] |= std::uint64_t{1} << (card % 64);
        }
        return cards;
    }

    /// Makes room for a class or a requirement. If an allocation throws, nothing changes.
    void ensure(ClassId id) { card_of_.ensure(id.value); }
    void ensure(RequirementId id) { cards_of_.ensure(id.value); }
    /// @pre `ensure(id)` was called.
    void set(ClassId id, const NodeClass& value) { card_of_[id.value] = hash(value.gpu); }
    void set(RequirementId id, Cards cards) noexcept { cards_of_[id.value] = std::move(cards); }

    /// False if the requirement lists cards, and not that of the class.
    /// @complexity O(1).
    [[nodiscard]] auto may_fit(ClassId node_class, const Cards& cards) const -> bool {
        const auto card = card_of_[node_class.value];
        return cards.empty() || (cards[card / 64 % cards.size()] >> (card % 64) & 1) != 0;
    }
    [[nodiscard]] auto may_fit(ClassId node_class, RequirementId requirement) const -> bool {
        return may_fit(node_class, cards_of_[requirement.value]);
    }

    /// Gives back the room behind a class, and behind a requirement. None of these is there.
    void trim(ClassId last) noexcept { card_of_.trim(last.value); }
    void trim(RequirementId last) noexcept { cards_of_.trim(last.value); }

private:
    [[nodiscard]] auto hash(const std::string& card) const -> std::uint32_t {
        return static_cast<std::uint32_t>(hash_(card) >> 32);
    }

    NameHash hash_;
    Pages<std::uint32_t> card_of_;  // by class
    Pages<Cards> cards_of_;         // by requirement
};

}}  // namespace allot::v0
