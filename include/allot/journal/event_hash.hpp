#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/core/event.hpp>
#include <allot/core/events.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/encode.hpp>

namespace allot { inline namespace v0 {

/// A rolling hash of all events since the beginning, in order. Two equal hashes mean two equal histories.
///
/// The hash begins as 32 zero bytes. Each event replaces it by SHA-256(previous hash, `encode(event)`). So a hash kept
/// with a snapshot can be continued from there. Two hashes of equal encoding version that once differ never agree
/// again.
class EventHash {
public:
    /// The hash of no events.
    EventHash() = default;
    /// Continues from `value`, the `value()` of an earlier hash.
    explicit EventHash(const Hash256& value) noexcept : value_{value} {}

    /// Adds one event. @complexity linear in the event.
    void add(const Event& event) {
        buffer_.assign(value_.begin(), value_.end());
        encode_to(buffer_, event);
        value_ = Sha256{}.bytes(buffer_).finish();
    }
    /// Adds the events one by one; their grouping into commands does not change the hash. @complexity linear in the
    /// events.
    void add(const Events& events) {
        for (const auto& event : events) { add(event); }
    }

    /// The hash of all events added so far.
    [[nodiscard]] auto value() const noexcept -> const Hash256& { return value_; }

    friend auto operator==(const EventHash& a, const EventHash& b) noexcept -> bool { return a.value_ == b.value_; }

private:
    Hash256 value_{};
    std::vector<std::uint8_t> buffer_{};
};

/// Returns the first index at which two histories differ or at which one of them has ended; none if they are equal.
/// Element i of each list is `EventHash::value()` after the i-th command, or after every i-th thousand commands.
///
/// @pre Both lists hold rolling hashes, so that all hashes after the first difference differ.
/// @complexity O(log n) comparisons. The search reads no other elements, so they can be fetched over a network on
/// demand.
[[nodiscard]] inline auto first_divergence(std::span<const Hash256> a, std::span<const Hash256> b)
    -> std::optional<std::size_t> {
    auto same = std::size_t{0};
    for (auto end = std::min(a.size(), b.size()); same < end;) {
        const auto middle = same + (end - same) / 2;
        if (a[middle] == b[middle]) {
            same = middle + 1;
        } else {
            end = middle;
        }
    }
    return same == a.size() && same == b.size() ? std::nullopt : std::optional{same};
}

}}  // namespace allot::v0
