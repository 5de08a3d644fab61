#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/journal/event_hash.hpp>

#include "support/catch.hpp"

// What a rules version decides (rule 12): the same commands under each of them, in a network in which no draw needs
// more than the tries that all versions have. No copies are placed: a draw for them rejects each holder.

namespace {

using namespace std::chrono_literals;
namespace command = allot::command;
using D = allot::Dispatcher<>;

/// Commands of owners and nodes that avoid no node and use no group: numbers of the test, the same on every machine.
class Stream {
public:
    auto next() -> D::Command {
        const auto kind = below(16);
        if (kind == 0 || nodes_ < 150) { return command::Join{node()}; }
        if (kind < 8) { return command::Submit{task()}; }
        if (kind < 13 && !leases.empty()) {
            const auto at = below(leases.size());
            const auto lease = leases[at];
            leases.erase(leases.begin() + static_cast<std::ptrdiff_t>(at));
            return command::Complete{lease};
        }
        const auto node = allot::NodeId{below(nodes_) + 1};
        if (kind == 13) { return command::Pause{node}; }
        if (kind == 14) { return command::Resume{node}; }
        return command::Match{};
    }
    auto below(std::uint64_t n) -> std::uint64_t { return random_() % n; }

    std::vector<allot::Lease> leases{};

private:
    auto models(std::uint64_t most) -> std::vector<std::string> {
        auto names = std::vector<std::string>{};
        for (auto i = below(most + 1); i > 0; --i) { names.push_back("model-" + std::to_string(below(6))); }
        return names;
    }
    auto card() -> std::pair<std::string, std::uint32_t> {
        constexpr auto cards = std::array<const char*, 3>{"RTX 3060", "RTX 4090", "A100"};
        const auto i = below(3);
        return {cards[i], std::array<std::uint32_t, 3>{12, 24, 80}[i]};
    }
    auto node() -> allot::NodeSpec {
        auto spec = allot::NodeSpec{.id = ++nodes_};
        const auto [gpu, vram] = card();
        spec.gpu = gpu;
        spec.vram = {vram};
        spec.stake = 300 + below(400);
        spec.models = models(2);
        return spec;
    }
    auto task() -> allot::TaskSpec {
        auto spec = allot::TaskSpec{.id = ++tasks_};
        spec.vram_min = {std::array<std::uint32_t, 4>{1, 8, 24, 80}[below(4)]};
        if (below(4) == 0) { spec.gpus = {{card().first, {}}}; }
        spec.fee = 1 + below(1'000);
        spec.duration_estimate = 10s;
        spec.models = models(1);
        return spec;
    }

    std::mt19937_64 random_{2026};
    std::uint64_t nodes_ = 0;
    std::uint64_t tasks_ = 0;
};

struct History {
    std::string digest{};
    std::uint64_t starts = 0;
    std::uint64_t rejected = 0;  ///< Draws that rejected somebody.
    std::uint64_t far = 0;       ///< Draws that went as far as versions differ.
};

auto history(std::uint32_t rules_version) -> History {
    auto d = D{};
    auto seen = History{};
    auto hash = allot::EventHash{};
    auto stream = Stream{};
    auto events = allot::Events{};
    auto now = allot::TimePoint{};
    (void)d.configure(allot::ThresholdPlacementParameters{0, 0}, rules_version, {now, {}}).accepted();
    const auto trace = allot::Trace<D::View>{&seen, [](void* self, const D::View&, const allot::Decision& decision) {
                                                 auto& history = *static_cast<History*>(self);
                                                 history.rejected += decision.drawn.rejections > 0 ? 1U : 0U;
                                                 history.far += decision.drawn.rejections >= 32 ? 1U : 0U;
                                             }};
    for (auto i = 0; i < 20'000; ++i) {
        const auto command = stream.next();
        now += std::chrono::milliseconds{stream.below(40)};
        events.clear();
        d.apply(command, {now, allot::Entropy{stream.below(~0U)}}, events, trace);
        hash.add(events);
        for (const auto& event : events) {
            if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
                stream.leases.push_back(started->lease);
                ++seen.starts;
            }
        }
    }
    for (const auto byte : hash.value()) {
        auto hex = std::array<char, 3>{};
        std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(byte));
        seen.digest += hex.data();
    }
    return seen;
}

}  // namespace

TEST_CASE("a task that meets none of the bounds of version 2 is decided as release 0.2 decided it") {
    // What the code before version 2 printed for this stream.
    constexpr auto before = "b3c66b10d879117ac41e6fc55bac56715a7a5db1fd2262be5e84eddd360ecf9c";
    const auto first = history(1);
    const auto second = history(2);
    CAPTURE(first.starts, first.rejected);
    CHECK(first.starts > 3'000);
    CHECK(first.rejected > 500);
    CHECK(first.far == 0);
    CHECK(second.far == 0);
    CHECK(first.digest == before);
    CHECK(second.digest == before);
}

TEST_CASE("a dispatcher begins with the newest rules, and a configuration names them unless it says otherwise") {
    CHECK(D{}.state().counters().rules_version == allot::rules_version_newest);
    CHECK(command::Configure<D::Configuration>{allot::RulesParameters{}}.rules_version == allot::rules_version_newest);
}
