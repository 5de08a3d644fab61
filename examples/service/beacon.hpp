#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include <openssl/rand.h>

#include <allot/replica/beacon_chain.hpp>
#include <allot/replica/replica_state.hpp>

#include "files.hpp"

namespace service {

/// The hash chain from which ticks take their entropy. Its secret is kept in the folder, for the next start.
///
/// The operator, who can read the secret, knows all links ahead. Use a public beacon where that matters.
class Beacon {
public:
    explicit Beacon(const std::string& folder) : path_{folder + "/beacon"} {
        auto file = std::ifstream{path_, std::ios::binary};
        auto bytes = std::string{std::istreambuf_iterator<char>{file}, {}};
        if (bytes.size() != 40) { return; }
        auto secret = allot::Hash256{};
        for (std::size_t i = 0; i < 8; ++i) { number_ = number_ << 8U | static_cast<std::uint8_t>(bytes[i]); }
        for (std::size_t i = 0; i < 32; ++i) { secret[i] = static_cast<std::uint8_t>(bytes[i + 8]); }
        chain_.emplace(secret, links);
    }

    /// True if the log goes on with this chain.
    [[nodiscard]] auto continues(const allot::LeaderChain& logged) const -> bool {
        return chain_ && (logged.number == number_ || (logged.next_head && logged.next_number == number_));
    }
    /// Draws a new secret and stores it. Throws `std::runtime_error` if it cannot.
    void renew(std::uint64_t number) {
        auto secret = allot::Hash256{};
        if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
            throw std::runtime_error{"the system gives no random bytes"};
        }
        auto bytes = std::array<std::uint8_t, 40>{};
        for (std::size_t i = 0; i < 8; ++i) { bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i)); }
        for (std::size_t i = 0; i < 32; ++i) { bytes[i + 8] = secret[i]; }
        if (const auto error = write_whole(path_, bytes, 0600)) {
            throw std::runtime_error{path_ + ": " + std::string{message(*error)}};
        }
        number_ = number;
        chain_.emplace(secret, links);
    }

    [[nodiscard]] auto number() const noexcept -> std::uint64_t { return number_; }
    [[nodiscard]] auto head() const -> const allot::Hash256& { return chain_->head(); }
    [[nodiscard]] auto length() const -> std::uint64_t { return chain_->length(); }
    [[nodiscard]] auto link(std::uint64_t round) const -> allot::Hash256 { return chain_->link(round); }

private:
    static constexpr auto links = std::uint64_t{1} << 17U;  // 3.6 hours of ticks each 100 ms

    std::string path_;
    std::uint64_t number_ = 0;
    std::optional<allot::BeaconChain> chain_{};
};

}  // namespace service
