// Runs where no test framework does, such as with another standard library; says nothing and returns 0 if all is well.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <allot/allot.hpp>
#include <allot/assert.hpp>
#include <allot/result.hpp>

namespace {

auto failures = 0;

auto check(bool holds, const char* claim) -> void {
    if (!holds) {
        std::fprintf(stderr, "smoke: not true: %s\n", claim);
        ++failures;
    }
}

/// The same numbers everywhere: xorshift with a fixed beginning.
struct Numbers {
    std::uint64_t state = 0x9E37'79B9'7F4A'7C15U;

    auto below(std::uint64_t n) -> std::uint64_t {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        return (state >> 16U) % n;
    }
};

/// Plays a few thousand commands of all sorts and digests what is remembered in the end.
template <class Dispatcher>
auto play(Dispatcher dispatcher) -> std::uint64_t {
    using namespace allot;
    auto numbers = Numbers{};
    auto moment = Moment{};
    auto leases = std::vector<Lease>{};
    for (auto i = 0; i < 4'000; ++i) {
        moment.time += Duration{static_cast<std::int64_t>(numbers.below(20'000))};
        moment.entropy = Entropy{numbers.below(1U << 30U)};
        auto events = Events{};
        const auto node = NodeId{numbers.below(60)};
        switch (numbers.below(9)) {
            case 0:
            case 1: {
                auto spec = NodeSpec{.id = node, .gpu = numbers.below(2) == 0 ? "RTX 4090" : "A100"};
                spec.vram = Gibibytes{static_cast<std::uint32_t>(8U << numbers.below(3))};
                spec.stake = Amount{u128{1} << static_cast<int>(numbers.below(90))};
                spec.models = {"m" + std::to_string(numbers.below(5))};
                events = dispatcher.join(std::move(spec), moment);
                break;
            }
            case 2: events = dispatcher.pause(node, moment); break;
            case 3: events = dispatcher.resume(node, moment); break;
            case 4:
                events = numbers.below(4) == 0
                             ? dispatcher.leave(node, moment)
                             : dispatcher.score(node, static_cast<std::uint32_t>(numbers.below(11)), moment);
                break;
            case 5:
                if (!leases.empty()) { events = dispatcher.complete(leases[numbers.below(leases.size())], moment); }
                break;
            default: {
                auto task = TaskSpec{.id = TaskId{static_cast<std::uint64_t>(i)}};
                task.vram_min = Gibibytes{static_cast<std::uint32_t>(8U << numbers.below(3))};
                task.models = {"m" + std::to_string(numbers.below(5)), "m" + std::to_string(numbers.below(5))};
                task.fee = Amount{numbers.below(1'000'000)};
                task.duration_estimate = Duration{static_cast<std::int64_t>(1 + numbers.below(100'000))};
                events = dispatcher.submit(std::move(task), moment);
            }
        }
        events.each([&](const event::TaskStarted& started) { leases.push_back(started.lease); });
    }
    return dispatcher.digest();
}

}  // namespace

auto main() -> int {
    const auto value = allot::Result<int>{7};
    check(value.has_value() && *value == 7, "a result holds its value");
    const auto failure = allot::Result<int>{allot::Failure{allot::Error{5}}};
    check(!failure.has_value() && failure.error() == allot::Error{5}, "a failed result holds its error");
    ALLOT_ASSERT(failures >= 0, "failures are counted upwards");

    // The same bytes under every compiler, standard library and machine. It changes with the rules alone; then take the
    // number this prints.
    const auto golden = std::uint64_t{0x842b'e65a'94d9'bdf3U};
    const auto digest = play(allot::Dispatcher{});
    if (digest != golden) {
        std::fprintf(stderr, "smoke: the digest is 0x%016llx\n", static_cast<unsigned long long>(digest));
    }
    check(digest == golden, "the digest of a fixed history is the golden one");
    check(play(allot::Dispatcher{allot::LinearPool{}, allot::LinearQueue{}}) == digest,
          "the linear oracles end in the same state");
    check(play(allot::Dispatcher{allot::IdKey{1, 2}, allot::FlatQueue{}}) == digest,
          "the key of the hashes never shows");
    return failures == 0 ? 0 : 1;
}
