// timeout: 900
// The bounds on draws, pulls, matches and departures (rules 12, 16, 28 and 45) are wide enough for honest networks:
// none of them is ever met. The number of nodes is 2,000, or that in ALLOT_HONEST_NODES; the full form is
//
//     ALLOT_HONEST_NODES=100000 sh tests/run.sh -R dispatcher/honest -V

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/explain/metrics.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace honest_test {

namespace {

using namespace std::chrono_literals;
namespace command = allot::command;
namespace event = allot::event;
using D = allot::Dispatcher<allot::Rules, allot::ValueQueue>;

/// A network in which nobody lies: cards, stakes and models as uneven as real ones, groups of three nodes that validate
/// one another, gangs, a few failures and refusals, nodes that come and go, and more tasks than it can run.
class HonestNetwork {
public:
    HonestNetwork(std::uint64_t nodes, const allot::RulesParameters& rules, std::uint64_t seed)
        : d_{allot::Rules{rules}, allot::ValueQueue{{.tasks_per_node = 2, .capacity_min = 1'000}}}, random_{seed},
          size_{nodes} {
        for (std::uint64_t i = 0; i < nodes; ++i) { apply(command::Join{node()}); }
    }

    /// `commands` more of them: at first too few tasks, then too many.
    void run(std::uint64_t commands) {
        for (std::uint64_t i = 0; i < commands; ++i) {
            microseconds_ += below(40'000'000 / size_);
            now_ = allot::TimePoint{allot::Duration{static_cast<std::int64_t>(microseconds_ / 1'000)}};
            const auto kind = below(100);
            if (kind < (i < commands / 4 ? 40U : 50U)) {
                submit();
            } else if (kind < 92) {
                end();
            } else if (kind < 96) {
                come_or_go();
            } else if (kind < 97) {
                apply(command::Match{});
            } else {
                apply(command::Advance{});
            }
        }
    }

    [[nodiscard]] auto metrics() const -> allot::Metrics { return recorder_.metrics(d_); }
    [[nodiscard]] auto waited() const -> std::uint32_t { return waited_; }
    /// Nodes that left, and those of them that departed slowly.
    [[nodiscard]] auto left() const -> std::uint32_t { return left_; }
    [[nodiscard]] auto left_slowly() const -> std::uint32_t { return left_slowly_; }

private:
    auto below(std::uint64_t n) -> std::uint64_t { return random_() % n; }

    /// The first of `n` things is asked for about twice as often as the second, and so on.
    auto uneven(std::uint64_t n) -> std::uint64_t { return std::min(below(n) + 1, below(n) + 1) * below(n) / n; }

    auto card() -> std::pair<std::string, std::uint32_t> {
        constexpr auto cards = std::array<std::pair<const char*, std::uint32_t>, 6>{
            {{"RTX 4090", 24}, {"RTX 3060", 12}, {"RTX 4060", 8}, {"L40S", 48}, {"A100", 80}, {"H100", 80}}};
        const auto& [gpu, vram] = cards[uneven(cards.size())];
        return {gpu, vram};
    }
    auto models(std::uint64_t most) -> std::vector<std::string> {
        auto names = std::vector<std::string>{};
        for (auto i = below(most + 1); i > 0; --i) { names.push_back("model-" + std::to_string(uneven(200))); }
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }
    auto node() -> allot::NodeSpec {
        auto spec = allot::NodeSpec{.id = allot::NodeId{++nodes_}};
        const auto [gpu, vram] = card();
        spec.gpu = gpu;
        spec.vram = {vram};
        spec.stake = 400 + below(1U << (below(10) + 1)) * 100;  // most have little, some a hundred times as much
        spec.operator_id = allot::OperatorId{1 + uneven(size_)};
        spec.models = models(below(10) == 0 ? 150 : 6);  // some have whole collections
        return spec;
    }
    void submit() {
        auto task = allot::TaskSpec{.id = allot::TaskId{++tasks_}};
        task.vram_min = {std::array<std::uint32_t, 4>{8, 12, 24, 48}[uneven(4)]};
        if (below(10) == 0) { task.gpus = {{card().first, {}}}; }
        task.fee = 100 + below(10'000);
        task.duration_estimate = std::chrono::seconds{10 + below(120)};
        task.models = models(1);
        if (below(20) == 0) {
            task.gang_size = 3;
            task.same_card = below(2) == 0;
        } else if (below(5) == 0) {  // a validation group
            task.group = allot::GroupId{tasks_};
            for (auto more = 0; more < 2; ++more) {
                apply(command::Submit{task});
                task.id = allot::TaskId{++tasks_};
            }
        }
        apply(command::Submit{task});
    }
    void end() {
        if (leases_.empty()) { return; }
        std::swap(leases_[below(leases_.size())], leases_.back());
        const auto lease = leases_.back();
        leases_.pop_back();
        const auto how = below(100);
        if (how < 2) {
            apply(command::Decline{lease});
        } else if (how < 4) {
            apply(command::Fail{lease});
        } else {
            apply(command::Complete{lease});
        }
    }
    void come_or_go() {
        const auto id = allot::NodeId{1 + below(nodes_)};
        const auto how = below(8);
        if (how == 0) {
            apply(command::Join{node()});
        } else if (how == 1) {
            apply(command::Leave{id});
        } else if (how < 4) {
            apply(command::Pause{id});
        } else if (how < 6) {
            apply(command::Resume{id});
        } else {
            auto change = allot::NodeUpdate{.id = id};
            change.stake = 400 + below(100'000);
            apply(command::Update{change});
        }
    }

    void apply(const D::Command& command) {
        events_.clear();
        d_.apply(command, {now_, allot::Entropy{random_()}}, events_, recorder_.trace<D>());
        recorder_.hear(d_, events_);
        for (const auto& event : events_) {
            if (const auto* started = std::get_if<event::TaskStarted>(&event)) { leases_.push_back(started->lease); }
            if (const auto* gone = std::get_if<event::NodeLeft>(&event)) {
                ++left_;
                left_slowly_ += d_.node(gone->node)->node.departs() ? 1U : 0U;
            }
        }
        waited_ = std::max(waited_, d_.queued());
    }

    D d_;
    std::mt19937_64 random_;
    std::uint64_t size_;
    std::uint64_t nodes_ = 0;
    std::uint64_t tasks_ = 0;
    std::uint32_t waited_ = 0;
    std::uint32_t left_ = 0;
    std::uint32_t left_slowly_ = 0;
    std::uint64_t microseconds_ = 0;
    allot::TimePoint now_{};
    std::vector<allot::Lease> leases_{};
    allot::Events events_{};
    allot::MetricsRecorder recorder_{};
};

}  // namespace

TEST_CASE("an honest network meets no bound of draws, pulls, matches and departures", "[A5]") {
    const auto* given = std::getenv("ALLOT_HONEST_NODES");
    const auto nodes = given != nullptr ? std::strtoull(given, nullptr, 10) : 2'000;
    const auto seed = support::seed();
    for (const auto narrowing : {allot::Narrowing::any, allot::Narrowing::gate}) {
        auto rules = allot::RulesParameters{};
        rules.narrowing = narrowing;
        auto network = HonestNetwork{nodes, rules, seed};
        network.run(nodes * 8);
        const auto m = network.metrics();
        const auto choices = [&](allot::DecisionKind kind) {
            return static_cast<unsigned long long>(m.choices[static_cast<std::size_t>(kind)]);
        };
        std::printf("%llu nodes, narrowing %s: %llu draws, %llu pulls, %llu copies, %llu rejected tries; %u tasks "
                    "waited at once; undecided %llu, cut pulls %llu, cut matches %llu, slow departures %u of %u\n",
                    static_cast<unsigned long long>(nodes), std::string{allot::enumerator_name(narrowing)}.c_str(),
                    choices(allot::DecisionKind::draw), choices(allot::DecisionKind::pull),
                    choices(allot::DecisionKind::copy), static_cast<unsigned long long>(m.rejections), network.waited(),
                    static_cast<unsigned long long>(m.undecided), static_cast<unsigned long long>(m.cuts[0]),
                    static_cast<unsigned long long>(m.cuts[1]), network.left_slowly(), network.left());
        CHECK(choices(allot::DecisionKind::draw) > nodes / 2);
        CHECK(choices(allot::DecisionKind::pull) > nodes / 2);
        CHECK(network.waited() > nodes / 2);
        CHECK(m.undecided == 0);
        CHECK(m.cuts[0] == 0);
        CHECK(m.cuts[1] == 0);
        CHECK(network.left() > nodes / 100);
        CHECK(network.left_slowly() == 0);
    }
}

}  // namespace honest_test
