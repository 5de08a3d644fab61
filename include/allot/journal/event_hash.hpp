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

/// One hash of all events since the beginning, in their order: who compares two of them has compared two histories.
///
/// It begins with 32 zero bytes, and each event makes it SHA-256(the hash before, `encode(event)`). So it can be kept with a
/// snapshot and go on from there, and two of equal encoding version that once differ never agree again.
class EventHash {
public:
    /// Of no events.
    EventHash() = default;
    /// Of the events whose `value()` this was.
    explicit EventHash(const Hash256& value) noexcept : value_{value} {}

    /// One more event. @complexity linear in the event.
    void add(const Event& event) {
        buffer_.assign(value_.begin(), value_.end());
        encode_to(buffer_, event);
        value_ = Sha256{}.bytes(buffer_).finish();
    }
    /// The same one by one: how many commands brought the events does not matter.
    void add(const Events& events) {
        for (const auto& event : events) {
            add(event);
        }
    }

    [[nodiscard]] auto value() const noexcept -> const Hash256& { return value_; }

    friend auto operator==(const EventHash& a, const EventHash& b) noexcept -> bool { return a.value_ == b.value_; }

private:
    Hash256 value_{};
    std::vector<std::uint8_t> buffer_{};
};

/// Where two histories part: the first place at which their hashes differ, or at which one of them has ended; nothing when they
/// are the same. Place i of each holds `EventHash::value()` after the i-th command, or after every i-th thousand.
///
/// @pre the hashes are of rolling ones, so that after the first difference all differ.
/// @complexity O(log n); the hashes between are not looked at, so they may just as well be asked for over a network.
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
