#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "determinism/scenarios.hpp"

// Policies of an embedder's own in each role.
namespace determinism {

namespace {

using namespace std::chrono_literals;

/// Locality counts twice.
struct LocalityFirst {
    using role = allot::role::weight;
    static constexpr std::string_view name = "locality_first/1";
    static constexpr bool monotone = true;
    [[nodiscard]] auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const
        -> allot::Weight {
        f.boost_num *= f.boost_num;
        f.boost_den *= f.boost_den;
        return allot::HarmonicWeight{}.weight(node, task, f);
    }
};

/// Looks at the node and the task, so that no bound can be stored.
struct Fickle {
    using role = allot::role::weight;
    static constexpr std::string_view name = "fickle/1";
    [[nodiscard]] auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const
        -> allot::Weight {
        const auto mark = node.id.bytes()[0] ^ task.id.bytes()[0];
        return allot::harmonic(f).scaled(1U + mark % 5U, 3);
    }
};

/// No node whose operator is the task's owner, and no node far too large for the task.
struct NotYourOwn {
    using role = allot::role::eligibility;
    static constexpr std::string_view name = "not_your_own/1";
    [[nodiscard]] auto fits(const allot::NodeClass& node_class, const allot::Requirement& requirement) const
        -> allot::Reason {
        return node_class.vram.count > 4 * requirement.vram_min.count && requirement.gpus.empty() ? allot::Reason{64}
                                                                                                  : allot::Reason::none;
    }
    [[nodiscard]] auto admits(const allot::Node& node, const allot::Task& task, const allot::Situation&) const
        -> allot::Reason {
        return node.operator_id().bytes() == task.owner().bytes() ? allot::Reason{65} : allot::Reason::none;
    }
};

/// Counts, and excludes for a minute who times out twice in a row.
struct TwoStrikes {
    using role = allot::role::qos;
    static constexpr std::string_view name = "two_strikes/1";
    struct node_data {
        std::uint32_t successes = 0;
        std::uint32_t strikes = 0;
        allot::TimePoint back_at{};
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };
    void joined(node_data& data, allot::TimePoint) const { data.strikes = 0; }
    [[nodiscard]] auto record(node_data& data, allot::Outcome outcome, allot::TimePoint time) const -> allot::Standing {
        if (outcome.kind == allot::OutcomeKind::success) {
            ++data.successes;
            data.strikes = 0;
        } else if (outcome.kind == allot::OutcomeKind::timeout && ++data.strikes >= 2) {
            data.back_at = time + 1min;
            return data.strikes > 3 ? allot::Standing::kicked_out : allot::Standing::excluded;
        }
        return allot::Standing::good;
    }
    [[nodiscard]] auto score(const node_data& data, allot::TimePoint) const -> allot::Score { return score_max(data); }
    [[nodiscard]] auto score_max(const node_data& data) const -> allot::Score {
        return allot::Score::from_ratio(std::min(data.successes, 9U) + 1, 10);
    }
    [[nodiscard]] auto back_at(const node_data& data) const -> std::optional<allot::TimePoint> { return data.back_at; }
    [[nodiscard]] auto points_max() const -> std::uint32_t { return 5; }
};

ALLOT_FIELDS(TwoStrikes::node_data, successes, strikes, back_at)

/// The fee alone.
struct HighestFee {
    using role = allot::role::valuation;
    static constexpr std::string_view name = "highest_fee/1";
    [[nodiscard]] auto value(const allot::Task& task, const allot::Requirement&) const -> allot::Value {
        return task.fee.units;
    }
};

/// One more copy each time, up to five.
struct OneMore {
    using role = allot::role::placement;
    static constexpr std::string_view name = "one_more/1";
    [[nodiscard]] auto wanted(const allot::ModelDemand& demand) const -> allot::Wanted {
        return {demand.holders_available < 5 ? 1U : 0U};
    }
    [[nodiscard]] auto asked_for() const -> allot::Duration { return 10s; }
};

/// Short leases, and a second chance elsewhere.
struct Hasty {
    using role = allot::role::terms;
    static constexpr std::string_view name = "hasty/1";
    [[nodiscard]] auto length(const allot::Node&, const allot::Task& task) const -> allot::Duration {
        return std::clamp<allot::Duration>(task.duration_estimate, 1s, 100s);
    }
    [[nodiscard]] auto length_max(const allot::Node&, const allot::Task&) const -> allot::Duration { return 5min; }
    [[nodiscard]] auto patience(const allot::Task& task) const -> allot::Duration {
        return task.models().empty() ? 20s : 10min;
    }
    [[nodiscard]] auto after(const allot::Task& task, allot::OutcomeKind) const -> allot::Next {
        return task.attempt < 2 ? allot::Next::retry_elsewhere : allot::Next::end;
    }
};

}  // namespace

void add_own(Scenarios& all) {
    const auto small = support::Setup{0x100};
    const auto own = [=] {
        return allot::Dispatcher{LocalityFirst{},
                                 allot::AllOf{allot::HardwareFit{}, NotYourOwn{}},
                                 TwoStrikes{},
                                 HighestFee{},
                                 OneMore{},
                                 Hasty{},
                                 allot::ValueQueue{small.queue()}};
    };
    const auto fickle = [=] {
        return allot::Dispatcher{Fickle{}, allot::RollingQos{small.qos()}, allot::FlatQueue{small.queue()}};
    };
    all.push_back(scenario("own policies", 401, {.calm = true}, small, own));
    all.push_back(scenario("own policies, ties", 402, {.calm = true, .tied = true}, small, own));
    all.push_back(scenario("own policies, crowd", 403, {.nodes = 150, .calm = true}, small, own));
    all.push_back(scenario("weight without bounds", 404, {.calm = true}, small, fickle));
    all.push_back(scenario("weight without bounds, crowd", 405, {.nodes = 150, .calm = true}, small, fickle));
}

}  // namespace determinism
