// Applies the log of a network of replicas (preset `plain`) on a machine of any kind, and says what came of it:
//
//     follower [--from CHECKPOINT] [--to CHECKPOINT] [--entries COUNT] < log
//
// An entry of the log is its position, 8 bytes, the length of its bytes, 4, both with the lowest byte first, and the
// bytes. For each attestation a line is printed as soon as it is due: its index, the event hash, and the state root or
// `-`. The last line is `end`, the index, the position, the event hash and the state root. --from begins with a
// checkpoint; entries that it covers are passed over. --to writes one at the end. --entries stops after so many.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/replica.hpp>

namespace {

using Dispatcher = allot::Dispatcher<>;
using Replica = allot::Replica<Dispatcher>;
using Bytes = std::vector<std::uint8_t>;

constexpr auto observer = allot::ReplicaId{64};  // it has no vote
constexpr auto entry_bytes_max = std::uint32_t{1} << 26U;

[[noreturn]] void stop(const char* why) {
    std::fprintf(stderr, "follower: %s\n", why);
    std::exit(1);
}

auto hex(const allot::Hash256& hash) -> std::string {
    auto text = std::string{};
    for (const auto byte : hash) {
        text += "0123456789abcdef"[byte >> 4U];
        text += "0123456789abcdef"[byte & 15U];
    }
    return text;
}

struct Entry {
    std::uint64_t position = 0;
    Bytes bytes{};
};

/// The next entry; none at the end.
auto next_entry() -> std::optional<Entry> {
    auto head = Bytes(12);
    const auto got = std::fread(head.data(), 1, head.size(), stdin);
    if (got == 0) { return std::nullopt; }
    auto reader = allot::ByteReader{head};
    auto entry = Entry{reader.integer<std::uint64_t>(), {}};
    const auto length = reader.integer<std::uint32_t>();
    if (got < head.size() || length > entry_bytes_max) { stop("the log is cut off or damaged"); }
    entry.bytes.resize(length);
    if (std::fread(entry.bytes.data(), 1, length, stdin) < length) { stop("the log is cut off"); }
    return entry;
}

auto read_file(const char* name) -> Bytes {
    auto* file = std::fopen(name, "rb");
    if (file == nullptr) { stop("the checkpoint cannot be opened"); }
    auto bytes = Bytes{};
    auto part = std::array<std::uint8_t, 65'536>{};
    for (auto got = part.size(); got > 0;) {
        got = std::fread(part.data(), 1, part.size(), file);
        bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    }
    std::fclose(file);
    return bytes;
}

void write_file(const char* name, const Bytes& bytes) {
    auto* file = std::fopen(name, "wb");
    const auto good = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (!good || std::fclose(file) != 0) { stop("the checkpoint cannot be written"); }
}

auto restored(const Bytes& checkpoint) -> Replica {
    auto loaded = allot::load_snapshot(std::span{checkpoint}, Dispatcher{}, {allot::SnapshotParameters::taken_over});
    if (!loaded) { stop(std::string{message(loaded.error().error)}.c_str()); }
    auto replica = Replica::restore(*std::move(loaded), observer);
    if (!replica) { stop(std::string{message(replica.error().error)}.c_str()); }
    return *std::move(replica);
}

struct Printing {
    static void reply(const allot::Reply&) {}
    static void event(allot::EffectId, const allot::Event&) {}
    static void suspect(const allot::Divergence& d) {
        std::fprintf(stderr, "follower: replica %u differs\n", d.replica);
    }
    static void attest(const allot::Attestation& a) {
        std::printf("%llu %s %s\n", static_cast<unsigned long long>(a.index), hex(a.events).c_str(),
                    a.state ? hex(*a.state).c_str() : "-");
        std::fflush(stdout);
    }
};

}  // namespace

auto main(int argc, char** argv) -> int {
    auto replica = Replica{Dispatcher{}, observer};
    const char* to = nullptr;
    auto left = ~std::uint64_t{0};
    for (auto i = 1; i < argc; i += 2) {
        const auto is = [&](const char* name) { return i + 1 < argc && std::strcmp(argv[i], name) == 0; };
        if (is("--from")) {
            replica = restored(read_file(argv[i + 1]));
        } else if (is("--to")) {
            to = argv[i + 1];
        } else if (is("--entries")) {
            left = std::strtoull(argv[i + 1], nullptr, 10);
        } else {
            stop("usage: follower [--from CHECKPOINT] [--to CHECKPOINT] [--entries COUNT] < log");
        }
    }
    auto sink = Printing{};
    for (; left > 0; --left) {
        const auto entry = next_entry();
        if (!entry) { break; }
        if (const auto fault = replica.apply(entry->position, entry->bytes, sink)) {
            stop(std::string{message(fault->error)}.c_str());
        }
    }
    if (to != nullptr) {
        write_file(to, allot::snapshot(replica.dispatcher(), replica.position(), replica.embedded()));
    }
    std::printf("end %llu %llu %s %s\n", static_cast<unsigned long long>(replica.index()),
                static_cast<unsigned long long>(replica.position()), hex(replica.events_hash()).c_str(),
                hex(replica.root()).c_str());
}
