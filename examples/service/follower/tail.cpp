// Writes the log of a cluster as it comes, for the program `follower`, on a machine of any kind:
//
//     etcd_tail CLUSTER HOST:PORT... | follower
//
// It begins with the first entry, and ends with status 1 if that, or one that it has not read yet, was dropped behind a
// checkpoint. When etcd does not answer it asks again; it knows no certificates. After SIGTERM it ends behind a whole
// entry.

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "../etcd/ordered_log.hpp"

namespace {

volatile std::sig_atomic_t is_ended = 0;  // NOLINT: a handler of signals has nothing else

/// The position and the length, the lowest byte first, and the bytes.
auto write(const allot::LoggedEntry& entry) -> bool {
    auto head = std::vector<std::uint8_t>{};
    auto writer = allot::ByteWriter{head};
    writer.integer(entry.position);
    writer.integer(static_cast<std::uint32_t>(entry.bytes.size()));
    return std::fwrite(head.data(), 1, head.size(), stdout) == head.size() &&
           std::fwrite(entry.bytes.data(), 1, entry.bytes.size(), stdout) == entry.bytes.size();
}

}  // namespace

auto main(int argc, char** argv) -> int {
    const auto arguments = std::vector<std::string>{argv + 1, argv + argc};
    if (arguments.size() < 2) {
        std::fputs("usage: etcd_tail CLUSTER HOST:PORT... | follower\n", stderr);
        return 2;
    }
    std::signal(SIGTERM, [](int) { is_ended = 1; });
    auto client = service::etcd::Client{{arguments.begin() + 1, arguments.end()}};
    auto log = service::etcd::OrderedLog{client, arguments.front()};
    for (auto after = std::uint64_t{0}; is_ended == 0;) {
        const auto entries = log.read(after, 1'000);
        if (!entries && entries.error() == allot::OrderedLogError::compacted) {
            std::fputs("etcd_tail: entries were dropped before they were read\n", stderr);
            return 1;
        }
        if (entries) {
            for (const auto& entry : *entries) {
                if (!write(entry)) { return 0; }  // the reader has ended
                after = entry.position;
            }
            if (std::fflush(stdout) != 0) { return 0; }
        }
        if (!entries || entries->empty()) { std::this_thread::sleep_for(std::chrono::milliseconds{20}); }
    }
}
