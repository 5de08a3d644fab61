#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace jobs {

struct WorkerOptions {
    std::string name;
    int port = 0;
    std::string file;
    std::uint64_t blocks = 0;  ///< Number of blocks of the file.
    bool cheats = false;       ///< Makes up the hashes of all its blocks.
    std::chrono::milliseconds block_time{120};
};

/// Takes part in each job posted, until the process is ended.
[[noreturn]] void run_worker(const WorkerOptions& options);

}  // namespace jobs
