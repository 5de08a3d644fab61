#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/sha256.hpp>

namespace allot { inline namespace v0 {

/// The links of a leader's hash chain: each is the SHA-256 of the next, and the head that of the first.
///
/// A leader logs the head, then reveals one link with each tick. So it cannot choose a link once its head is logged.
/// It knows all links, and it can withhold one: against a leader that plays, use a public beacon.
class BeaconChain {
public:
    /// A chain of `length` links that ends at `secret`, which is drawn at random and kept secret.
    /// @pre `length > 0` (asserted).
    /// @complexity `length` hashes; memory of one link in 1,024.
    BeaconChain(const Hash256& secret, std::uint64_t length) : length_{length} {
        ALLOT_ASSERT(length > 0, "a chain has at least one link");
        auto value = secret;
        for (auto round = length; round > 0; --round) {
            if ((length - round) % spacing == 0) { kept_.push_back(value); }
            value = Sha256{}.bytes(value).finish();
        }
        head_ = value;
    }

    /// The head, to be logged before the first link.
    [[nodiscard]] auto head() const noexcept -> const Hash256& { return head_; }
    /// Number of links.
    [[nodiscard]] auto length() const noexcept -> std::uint64_t { return length_; }

    /// The link of a round, from 1 on.
    /// @pre `round` is 1 to `length()` (asserted).
    /// @complexity 1,024 hashes at most.
    [[nodiscard]] auto link(std::uint64_t round) const -> Hash256 {
        ALLOT_ASSERT(round > 0 && round <= length_, "the chain has no link of this round");
        const auto back = length_ - round;
        auto value = kept_[static_cast<std::size_t>(back / spacing)];
        for (auto left = back % spacing; left > 0; --left) { value = Sha256{}.bytes(value).finish(); }
        return value;
    }

private:
    static constexpr auto spacing = std::uint64_t{1'024};

    std::uint64_t length_;
    std::vector<Hash256> kept_{};
    Hash256 head_{};
};

}}  // namespace allot::v0
