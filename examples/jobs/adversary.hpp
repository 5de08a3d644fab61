#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common.hpp"
#include "keys.hpp"
#include "members.hpp"
#include "post.hpp"
#include "wire.hpp"

// The liars. What honest members do is in member.cpp; nothing there knows of these, but for two calls.

namespace jobs {

/// The hash that a cheat publishes for a block: of about a third of the blocks it is made up. All cheats make up the
/// same hash for the same block, so that one of them who verifies another finds nothing.
[[nodiscard]] auto cheated(std::uint64_t seed, std::uint64_t block, const allot::Hash256& honest) -> allot::Hash256;

/// Computes nothing: it fills its own leases with hashes that it heard, and says every result and commitment that it
/// hears once more, as its own and for its own wallet.
class Thief {
public:
    explicit Thief(const Member& self) : self_{self} {}

    /// Returns a stolen copy of each result and commitment in a message, unsigned.
    [[nodiscard]] auto copies(const allot::JobMessage& message) -> std::vector<allot::JobMessage>;
    /// Returns the hashes of another's result of this job; none if it has heard of none yet.
    [[nodiscard]] auto loot(const allot::JobId& job) const -> std::optional<std::vector<allot::Hash256>>;

private:
    Member self_;
    std::set<allot::Hash256> known_;
    std::set<allot::Hash256> promised_;
    std::map<allot::JobId, std::vector<allot::Hash256>> loot_;
};

struct ForgerOptions {
    Member self;
    std::vector<std::string> names;  ///< Of all members.
    std::uint64_t seed = 0;
    std::string password;
    int port = 0;
};

/// Sends forged messages, one after the other, until the process is ended.
[[noreturn]] void run_forger(const ForgerOptions& options, const SigningKey& key);

}  // namespace jobs
