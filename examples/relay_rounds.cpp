// A relay as Crynux ran it in 2026. Tasks are priced by estimates that learn and matched in rounds at a tick. Models
// are brought to where they are wanted, and cards that are too rare get no tasks.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/estimate.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>
#include <allot/preset/crynux_relay_2026.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

namespace {

constexpr auto model = "llama-3-8b";
constexpr auto work = allot::TextWork{.text_bytes = 2'000, .new_tokens_max = 400};

/// A node's name at the relay has its platform behind a plus sign; without one it counts as a Mac.
auto card_and_platform(const std::string& name) -> std::pair<std::string, std::string> {
    const auto plus = name.find('+');
    return plus == std::string::npos ? std::pair{name, std::string{"Darwin"}}
                                     : std::pair{name.substr(0, plus), name.substr(plus + 1)};
}

class Relay {
public:
    void join(const char* id, const std::string& name, allot::Gibibytes vram) {
        const auto [gpu, platform] = card_and_platform(name);
        (void)network_.join({.id = id, .gpu = gpu, .vram = vram, .stake = 400, .platform = platform}, dark())
            .or_throw();
    }

    /// Submits a text task, which pays by its expected time; no task is placed before the next tick.
    void submit(std::uint64_t id, std::vector<allot::GpuChoice> gpus = {}) {
        auto task =
            allot::TaskSpec{.id = id, .vram_min = 16_GiB, .gpus = std::move(gpus), .models = {model}, .fee = 1'000'000};
        task.duration_estimate = costs_.on_any(work, model, task.vram_min).value();
        task.platforms_refused = task.gpus.empty() ? std::vector<std::string>{"Darwin"} : std::vector<std::string>{};
        (void)demand_.arrived(now_, task.duration_estimate);
        (void)network_.submit(std::move(task), dark()).or_throw();
    }

    /// Completes work and downloads, then runs a round: the highest value first, each task on a node of its own.
    void tick(allot::TimePoint now) {
        now_ = now;
        for (auto at = running_.begin(); at != running_.end() && at->first <= now_;) {
            (void)network_.complete(at->second, dark()).or_throw();
            (void)costs_.observe(model, "RTX 4090", 24_GiB, work, seen_);
            at = running_.erase(at);
        }
        for (const auto& node : std::exchange(fetching_, {})) {
            (void)network_.report_model(node, allot::command::Report::add, {model}, dark()).or_throw();
            (void)demand_.settled(node);
            ++holders_;
        }
        bring_models();
        const auto beacon = allot::Entropy{2'026U + static_cast<std::uint64_t>(now_.time_since_epoch().count())};
        for (const auto& event : network_.match({now_, beacon})) {
            if (const auto* start = std::get_if<allot::event::TaskStarted>(&event)) {
                running_.emplace(now_ + seen_, start->lease);
            }
        }
        std::printf("%4lld s  holders %u  running %zu  waiting %u  a task is expected to take %.1f s\n",
                    static_cast<long long>(now_.time_since_epoch() / 1s), holders_, running_.size(), network_.queued(),
                    static_cast<double>(costs_.on_any(work, model, 16_GiB).value().count()) / 1'000);
    }

    void explain(std::uint64_t id) const {
        const auto why = allot::explain(network_, allot::TaskId{id}).value();
        std::printf("task %llu waits: of %u nodes", static_cast<unsigned long long>(id), why.nodes);
        for (const auto& row : why.kept_out) { std::printf(", %u %s", row.count, allot::message(row.reason).data()); }
        std::printf("\n");
    }

private:
    /// A moment without entropy: its command places no task.
    [[nodiscard]] auto dark() const -> allot::Moment { return {now_, {}}; }

    /// Asks the likeliest nodes without the model to fetch it, as many as its demand wants, and none twice.
    void bring_models() {
        auto missing = demand_.wanted(now_, holders_).value();
        const auto able =
            allot::probabilities(network_, {.id = "whoever", .vram_min = 16_GiB, .duration_estimate = 1s}).value();
        for (const auto& share : able.nodes) {
            if (missing > 0 && demand_.may_ask(share.node)) {
                (void)demand_.asked(share.node, now_);
                fetching_.push_back(share.node);
                --missing;
            }
        }
    }

    static constexpr auto seen_ = allot::Duration{24s};  // real duration of the work

    allot::TimePoint now_{};
    // cards with fewer than 3 nodes get none
    allot::Dispatcher<allot::preset::CrynuxRelay2026> network_{allot::preset::CrynuxRelay2026{3}};
    allot::WorkloadCalibration costs_;
    allot::DemandControl demand_{{.window = 5min}};  // the relay looks at half an hour
    std::multimap<allot::TimePoint, allot::Lease> running_;
    std::vector<allot::NodeId> fetching_;
    std::uint32_t holders_ = 0;
};

}  // namespace

auto main() -> int {
    auto relay = Relay{};
    for (const auto* id : {"a", "b", "c", "d"}) { relay.join(id, "RTX 4090+Linux", 24_GiB); }
    relay.join("rare", "H200+Linux", 141_GiB);
    relay.join("mac", "Apple M3", 24_GiB);
    auto id = std::uint64_t{0};
    for (auto now = 0s; now <= 300s; now += 30s) {
        relay.submit(++id);
        relay.submit(++id);
        relay.tick(allot::TimePoint{now});
    }
    relay.submit(++id, {{"H200", 141_GiB}});
    relay.explain(id);
}
