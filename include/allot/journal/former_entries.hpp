#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Entries of one section as they were when a snapshot began, by number.
///
/// Bytes lie one behind the other in blocks, and pages of places are made where a number falls, so keeping an entry
/// costs no allocation of its own.
class FormerEntries {
public:
    /// True if an entry is kept under this number, or that there was none. @complexity O(1).
    [[nodiscard]] auto has(std::uint32_t number) const -> bool {
        const auto page = std::size_t{number / page_size};
        return page < pages_.size() && pages_[page] && (*pages_[page])[number % page_size].kept;
    }

    /// Keeps the bytes of an entry; none for an entry that was not there.
    /// @pre `!has(number)`.
    /// @complexity amortised O(1), and linear in the bytes.
    void keep(std::uint32_t number, std::span<const std::uint8_t> entry) {
        const auto page = std::size_t{number / page_size};
        if (page >= pages_.size()) { pages_.resize(page + 1); }
        if (!pages_[page]) { pages_[page] = std::make_unique<Page>(); }
        if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < entry.size()) {
            blocks_.emplace_back().reserve(std::max(block_size, entry.size()));
        }
        auto& block = blocks_.back();
        (*pages_[page])[number % page_size] = {static_cast<std::uint32_t>(blocks_.size() - 1),
                                               static_cast<std::uint32_t>(block.size()),
                                               static_cast<std::uint32_t>(entry.size()), true};
        block.insert(block.end(), entry.begin(), entry.end());
    }

    /// The bytes of a kept entry; none if it was not there.
    /// @pre `has(number)`.
    /// @complexity O(1).
    [[nodiscard]] auto entry(std::uint32_t number) const -> std::span<const std::uint8_t> {
        const auto& place = (*pages_[number / page_size])[number % page_size];
        return std::span{blocks_[place.block]}.subspan(place.offset, place.size);
    }

private:
    static constexpr auto page_size = std::uint32_t{512};
    static constexpr auto block_size = std::size_t{1} << 18U;

    struct Place {
        std::uint32_t block = 0;
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        bool kept = false;
    };
    using Page = std::array<Place, page_size>;

    std::vector<std::unique_ptr<Page>> pages_{};
    std::vector<std::vector<std::uint8_t>> blocks_{};
};

}}  // namespace allot::v0
