// labels: vectors
// The relays' pools of verdicts: means, windows and kick-outs, over restarts that lose their memory and returns of the
// node.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <tuple>

#include <allot/preset/crynux_relay_2026.hpp>

#include "vectors/cases.hpp"

namespace {

using namespace support;
using namespace std::chrono_literals;
using allot::OutcomeKind;
using allot::RollingQos;
using allot::Score;
using allot::Standing;

using Verdicts = std::deque<std::uint32_t>;  // oldest first
const auto now = allot::TimePoint{1h};

auto mean(const Verdicts& verdicts) -> double {
    const auto sum = std::accumulate(verdicts.begin(), verdicts.end(), 0.0);
    return verdicts.empty() ? 0.0 : sum / static_cast<double>(verdicts.size());
}
void add(Verdicts& verdicts, std::uint32_t points, std::size_t window) {
    verdicts.push_back(points);
    if (verdicts.size() > window) { verdicts.pop_front(); }
}
/// At most fifty verdicts whose mean is nearest to this.
auto verdicts_of(double value) -> Verdicts {
    auto best = Verdicts{};
    for (std::uint32_t count = 1; count <= 50; ++count) {
        const auto sum = static_cast<std::uint32_t>(std::llround(value * count));
        auto verdicts = Verdicts(count, sum / count);
        std::for_each(verdicts.begin(), verdicts.begin() + sum % count, [](auto& points) { ++points; });
        if (best.empty() || std::abs(mean(verdicts) - value) < std::abs(mean(best) - value) - 1e-9) { best = verdicts; }
    }
    return best;
}

/// What a relay holds of a node: the stored mean, where 0 stands for none, and, until it restarts, the verdicts.
struct Relay {
    std::size_t window;
    double stored;
    std::optional<Verdicts> memory{};

    /// True when the verdicts had to be made up from the stored mean.
    auto score(std::uint32_t points) -> bool {
        const auto lost = !memory;
        if (lost) {  // one place is left for the newcomer, and the mean loses its fraction
            memory = stored > 0 ? Verdicts(window - 1, static_cast<std::uint32_t>(stored)) : Verdicts{};
        }
        add(*memory, points, window);
        stored = mean(*memory);
        return lost;
    }
    [[nodiscard]] auto normalised() const -> double { return stored == 0 ? 0.5 : stored / 10; }
    [[nodiscard]] auto kicks_out(double below) const -> bool {
        return memory && memory->size() >= window && stored < below;
    }
};

/// A tracker's node with these verdicts.
auto measured(const RollingQos& qos, const Verdicts& verdicts) -> RollingQos::node_data {
    auto data = RollingQos::node_data{};
    qos.joined(data, now);
    for (const auto points : verdicts) { (void)qos.record(data, {OutcomeKind::scored, points}, now); }
    return data;
}

enum class Generation { r2025, r2026 };

void pools(Generation generation) {
    const auto of_2026 = generation == Generation::r2026;
    auto differences = Differences{of_2026 ? "relay_qos_pool, 2026" : "relay_qos_pool, 2025"};
    for (const auto& row : cases("relay_qos_pool")) {
        CAPTURE(row["case"].dump());
        const auto window = row["pool_size"].get<std::uint32_t>();
        if (!of_2026 && window != 50) {
            continue;  // the size was no parameter then
        }
        auto parameters = std::get<RollingQos>(allot::preset::CrynuxRelay2026{}.policies()).parameters();
        const auto threshold = row["kickout_threshold"].get<double>();
        const auto floor = row["rejoin_floor"].get<double>();
        REQUIRE(agree(10 * as_double(parameters.kick_out_below), threshold));
        REQUIRE(agree(as_double(parameters.rejoin_floor), floor));
        parameters.window = window;
        if (!of_2026) {
            parameters.rejoin_floor = Score::zero();  // 2025 lifts nobody
        }
        const auto qos = RollingQos{parameters};
        auto relay = Relay{window, row["initial_q_long"].get<double>()};
        // What ours has to hold, and what it does. A stored mean without its verdicts is nothing that ours can have; it
        // begins with some of about that mean.
        auto verdicts = relay.stored > 0 ? verdicts_of(relay.stored) : Verdicts{};
        auto exact = agree(mean(verdicts), relay.stored);
        auto data = measured(RollingQos{}, verdicts);
        for (const auto& event : row["events"]) {
            CAPTURE(event.dump());
            const auto op = event["op"].get<std::string>();
            if (op == "score") {
                const auto points = event["score"].get<std::uint32_t>();
                exact = true;
                while (verdicts.size() > window) {  // those it began with
                    verdicts.pop_front();
                }
                add(verdicts, points, window);
                const auto standing = qos.record(data, {OutcomeKind::scored, points}, now);
                REQUIRE(agree(10 * as_double(qos.long_term(data)), mean(verdicts)));
                const auto nothing_stored = relay.stored == 0;
                const auto made_up = relay.score(points);
                if (made_up && *relay.memory != verdicts) {
                    differences.note(nothing_stored
                                         ? "a stored 0 means no verdicts to the relay; here zeros are verdicts (D7)"
                                         : "a restart keeps the whole part of a mean; here the verdicts (D8)");
                    verdicts = *relay.memory;
                    data = measured(qos, verdicts);
                } else if (of_2026) {
                    REQUIRE((standing == Standing::kicked_out) == event["permanent_kickout"].get<bool>());
                }
                REQUIRE(agree(10 * as_double(qos.long_term(data)),
                              event[of_2026 ? "q_long" : "q_long_2025"].get<double>()));
            } else if (op == "restart") {
                relay.memory.reset();
            } else {
                REQUIRE(op == "rejoin");
                const auto before = data;
                const auto lifted = !verdicts.empty() && mean(verdicts) / 10 < as_double(parameters.rejoin_floor);
                qos.joined(data, now);
                auto after = lifted ? measured(qos, Verdicts(window, 3)) : before;
                after.good = lifted ? 0 : before.good;  // the relay knows no probation, here nobody gave these verdicts
                REQUIRE(data == after);
                if (!of_2026) {
                    relay.stored = 0;
                } else if (relay.normalised() < floor) {
                    relay.stored = 10 * floor;
                    relay.memory.reset();
                    REQUIRE((lifted || !exact));
                    exact = true;
                    verdicts = Verdicts(window, 3);
                    data = measured(qos, verdicts);
                } else if (lifted) {
                    differences.note("a mean of 0 is none to the relay and not lifted to the floor; here it is (D7)");
                    REQUIRE(relay.stored == 0);
                    data = before;
                }
            }
            REQUIRE(data.valid());
            if (!of_2026) { continue; }
            REQUIRE(agree(event["q_long"].get<double>(), relay.stored));
            REQUIRE(agree(event["q_long_norm"].get<double>(), relay.normalised()));
            REQUIRE(event["permanent_kickout"].get<bool>() == relay.kicks_out(threshold));
            REQUIRE(event["window"].get<int>() == static_cast<std::int64_t>(relay.memory ? relay.memory->size() : 0));
            if (relay.memory) { REQUIRE(data.count == relay.memory->size()); }
            if (!exact) {
                differences.note("a stored mean is one that no fifty verdicts have");
            } else if (relay.stored > 0 || verdicts.empty()) {
                REQUIRE(agree(as_double(qos.long_term(data)), event["q_long_norm"].get<double>()));
            } else {
                differences.note(
                    "whose every verdict was 0 counts as new to the relay, at a half; here at nothing (D7)");
                REQUIRE(qos.long_term(data) == Score::zero());
            }
        }
    }
}

}  // namespace

TEST_CASE("pools of verdicts are those of 2026 but for what a restart loses and a mean of zero") {
    pools(Generation::r2026);
}
TEST_CASE("pools of verdicts are those of 2025, which outlive a return unless a restart came before") {
    pools(Generation::r2025);
}
