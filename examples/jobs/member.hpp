#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "keys.hpp"
#include "members.hpp"

namespace jobs {

struct MemberOptions {
    Member self;
    std::uint64_t seed = 0;  ///< Of the run.
    std::string password;
    int port = 0;
    std::string folder;  ///< Where its state lies.
    std::chrono::milliseconds block_time{};
};

/// Takes part in each job of the dapp, until the process is ended. Takes up the jobs that it finds on its disk.
[[noreturn]] void run_member(const MemberOptions& options, const SigningKey& key, const Keyring& ring);

}  // namespace jobs
