// Snapshots, restarts and state roots of a large network, timed in one run:
//
//     snapshots [NODES]            as many tasks, half of them running
//     snapshots --roots NODES ASK  for callgrind, which counts compressions: a root asked after every ASK commands
//
// benchmarks/roots.sh counts. Times are judged at 1,000,000 nodes.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/posix_folder.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/store.hpp>

namespace {

using D = allot::Dispatcher<allot::ValueQueue>;
using Store = allot::Store<D, allot::PosixFolder>;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

auto seconds_since(Clock::time_point from) -> double {
    return std::chrono::duration<double>(Clock::now() - from).count();
}

auto shorts = 0;

/// Ends a line with a goal, and whether it is met.
void judge(double value, double goal, const char* unit) {
    const auto met = value <= goal;
    std::printf("  <= %g%s  %s\n", goal, unit, met ? "ok" : "short");
    shorts += met ? 0 : 1;
}

/// Times of the same work.
class Times {
public:
    void add(Clock::time_point from) { all_.push_back(seconds_since(from)); }
    void print(const char* what, double goal) {
        std::sort(all_.begin(), all_.end());
        const auto median = all_[all_.size() / 2];
        std::printf("%-24s %8.3f s (%.3f to %.3f)", what, median, all_.front(), all_.back());
        judge(median, goal, " s");
    }

private:
    std::vector<double> all_;
};

auto moment(std::int64_t ms) -> allot::Moment {
    return {allot::TimePoint{allot::Duration{ms}}, allot::Entropy{static_cast<std::uint64_t>(ms)}, {}};
}
auto node(std::uint64_t i) -> D::Command {
    auto spec = allot::NodeSpec{.id = i + 1, .gpu = i % 2 == 0 ? "RTX 4090" : "RTX 3090", .vram = {24}};
    spec.stake = 100 + i % 1'000;
    return allot::command::Join{std::move(spec)};
}
auto task(std::uint64_t i) -> D::Command {
    return allot::command::Submit{
        {.id = i + 1, .vram_min = {i % 2 == 0 ? 24U : 48U}, .fee = 10 + i % 1'000, .duration_estimate = 3'600s}};
}

struct Memory {
    std::vector<std::uint8_t> bytes{};
    auto append(std::span<const std::uint8_t> more) -> std::optional<allot::IoError> {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return std::nullopt;
    }
    static auto sync() -> std::optional<allot::IoError> { return std::nullopt; }
};

/// A network of so many nodes and tasks: half of the tasks run, the others wait for a card that nobody has.
auto network(std::uint64_t count) -> D {
    auto d = D{allot::ValueQueue{{.tasks_per_node = 2}}};
    auto events = allot::Events{};
    for (std::uint64_t i = 0; i < count; ++i) {
        events.clear();
        d.apply(node(i), moment(0), events);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        events.clear();
        d.apply(task(i), moment(1), events);
    }
    return d;
}

/// Pairs of commands: a task that starts at once, and its end.
struct Pairs {
    std::uint64_t next = std::uint64_t{1} << 40U;
    std::int64_t ms = 2;
    allot::Events events{};
    std::array<D::Command, 2> commands{task(0), task(0)};

    template <class After>
    void run(D& d, std::uint64_t pairs, const After& after, bool follows) {
        for (std::uint64_t i = 0; i < pairs; ++i) {
            const auto submit = task(next += 2);
            for (auto part = 0; part < 2; ++part) {
                events.clear();
                const auto command = part == 0 ? submit : D::Command{allot::command::Complete{*d.lease(next + 1)}};
                if (follows) {
                    auto session = d.session();
                    d.apply(command, moment(ms++), events);
                    after(session);
                    session.commit();
                } else {
                    d.apply(command, moment(ms++), events);
                }
            }
        }
    }
};

void snapshots(std::uint64_t count) {
    auto d = network(count);
    std::printf("%llu nodes, %u tasks, %u leases\n", static_cast<unsigned long long>(count), d.state().tasks().size(),
                d.state().leases().size());
    auto tree = allot::StateTree{d};
    auto from = Clock::now();
    const auto root = tree.root();
    std::printf("root from leaves      %8.3f s\n", seconds_since(from));

    // The first round only makes the sink's memory, which is no cost of a snapshot.
    auto sink = Memory{};
    auto known = Times{};
    auto computed = Times{};
    auto begun = Times{};
    auto loading = Times{};
    auto right = true;
    for (auto round = 0; round < 4; ++round) {
        for (const auto with_root : {true, false}) {
            sink.bytes.clear();
            from = Clock::now();
            auto writer = allot::SnapshotWriter{d, 1, {}, with_root ? std::optional{root} : std::nullopt};
            if (round > 0) { begun.add(from); }
            while (!writer.done()) { (void)writer.write(d, sink, std::size_t{1} << 20U); }
            if (round > 0) { (with_root ? known : computed).add(from); }
        }
        if (round == 0) { continue; }
        from = Clock::now();
        const auto loaded = allot::load_snapshot(std::span<const std::uint8_t>{sink.bytes},
                                                 D{allot::ValueQueue{{.tasks_per_node = 2}}}, {.reach_max = 1U << 26U});
        loading.add(from);
        right = right && loaded && loaded->state_root == root;
    }
    std::printf("medians of three, of %.1f MB:\n", static_cast<double>(sink.bytes.size()) / 1e6);
    begun.print("copied", 0.010);
    known.print("written, root known", 3);
    computed.print("written, root computed", 3);
    loading.print(right ? "loaded" : "loaded ANOTHER STATE", 5);
    shorts += right ? 0 : 1;

    // Commands beside a snapshot and alone, in turns, so that both see the same machine.
    auto pairs = Pairs{};
    auto ratios = std::vector<double>{};
    const auto turn = std::max<std::uint64_t>(count / 20, 2'000);
    pairs.run(
        d, turn, [](const auto&) {}, false);
    for (auto round = 0; round < 5; ++round) {
        from = Clock::now();
        pairs.run(
            d, turn, [](const auto&) {}, false);
        const auto alone = seconds_since(from);
        auto sink = Memory{};
        auto writer = allot::SnapshotWriter{d, 1};
        auto commands = std::uint64_t{0};
        auto writing = 0.0;
        from = Clock::now();
        pairs.run(
            d, turn,
            [&](const auto& session) {
                writer.follow(session);
                if (++commands % 64 == 0) {
                    const auto slice = Clock::now();
                    (void)writer.write(d, sink, 4'096);
                    writing += seconds_since(slice);
                }
            },
            true);
        ratios.push_back((seconds_since(from) - writing) / alone);
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("commands while a snapshot is written, without its slices: %.2f times (%.2f to %.2f)", ratios[2],
                ratios.front(), ratios.back());
    judge(ratios[2], 1.5, "");
}

void restart(std::uint64_t count) {
    const auto path = (std::filesystem::temp_directory_path() / "allot-snapshots").string();
    std::filesystem::remove_all(path);
    const auto open = [&] {
        return Store::open(*allot::PosixFolder::open(path), D{allot::ValueQueue{{.tasks_per_node = 2}}},
                           {.checkpoint_every = 0});
    };
    {
        auto store = open();
        auto events = allot::Events{};
        const auto from = Clock::now();
        for (std::uint64_t i = 0; i < 2 * count; ++i) {
            events.clear();
            (void)store->apply(i < count ? node(i) : task(i - count), moment(i < count ? 0 : 1), events);
            if (i % 1'024 == 1'023) { (void)store->sync(); }
        }
        (void)store->sync();
        std::printf("store, a sync every 1,024: %.0f commands a second\n",
                    static_cast<double>(2 * count) / seconds_since(from));
    }
    {
        const auto from = Clock::now();
        auto store = open();
        std::printf("opened from a log of %llu commands in %.3f s\n",
                    static_cast<unsigned long long>(store->position()), seconds_since(from));
        (void)store->checkpoint();
        store->finish_checkpoint();
    }
    const auto from = Clock::now();
    const auto store = open();
    std::printf("opened from a snapshot of %u nodes and %u tasks in %.3f s\n",
                store->dispatcher().state().nodes().size(), store->dispatcher().state().tasks().size(),
                seconds_since(from));
    std::filesystem::remove_all(path);
}

/// 4,096 commands with a root after every `ask`; none for 0.
void roots(std::uint64_t count, std::uint64_t ask) {
    auto d = network(count);
    auto tree = allot::StateTree{d};
    (void)tree.root();
    if (ask == 0) { return; }
    auto commands = std::uint64_t{0};
    auto pairs = Pairs{};
    pairs.run(
        d, 2'048,
        [&](const auto& session) {
            tree.follow(d, session.touched());
            if (++commands % ask == 0) { (void)tree.root(); }
        },
        true);
}

}  // namespace

auto main(int argc, char** argv) -> int {
    if (argc == 4 && std::string{argv[1]} == "--roots") {
        roots(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
        return 0;
    }
    const auto count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
    snapshots(count);
    restart(count);
    return shorts == 0 ? 0 : 1;
}
