// timeout: 900
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

// What outsiders fill a network with is gone when they are: no table keeps a byte of it (docs/rules.md, "Tables that
// strangers fill").

namespace floods_test {

namespace {

using namespace support;

/// How much a dispatcher remembers.
struct Size {
    std::vector<std::size_t>
        tables{};           // models, classes, requirements, nodes, groups, tasks, leases, holdings, ends, names
    std::size_t bytes = 0;  // of a snapshot

    template <class D>
    explicit Size(const D& d) : bytes{allot::snapshot(d, 0).size()} {
        const auto& state = d.state();
        auto held = std::size_t{0};
        state.nodes().for_each(
            [&](allot::NodeHandle n, const auto&) { held += state.holdings(n).size() + state.wishes(n).size(); });
        tables = {state.models().names().size(),
                  state.fits().classes().size(),
                  state.fits().requirements().size(),
                  state.nodes().size(),
                  state.groups().size(),
                  state.tasks().size(),
                  state.leases().size(),
                  held,
                  state.ended_tasks().size(),
                  state.node_names().size()};
    }
    friend auto operator==(const Size&, const Size&) -> bool = default;
};

/// What an honest node keeps on its disk.
auto kept_by(int node) -> std::vector<std::string> { return {"base", "own" + std::to_string(node)}; }

/// Twelve honest nodes.
template <class D>
void settle(D& d) {
    for (auto i = 1; i <= 12; ++i) {
        ok(d.join(with(plain_node(i),
                       [&](NodeSpec& node) {
                           node.models = kept_by(i);
                           node.operator_id = allot::OperatorId{i};
                           node.labels = {"honest"};
                       }),
                  at(0s)));
    }
}

/// The honest nodes say what they still keep; a model that its node does not report is forgotten after a day (rule 51).
template <class D>
void report(D& d, Moment moment) {
    for (auto i = 1; i <= 12; ++i) {
        ok(d.report_model(plain_node(i).id, command::Report::inventory, kept_by(i), moment));
    }
}

/// Random commands of outsiders: nodes without stake, tasks that pay nothing or next to nothing, and all of their words
/// made up.
template <class D>
class Outsiders {
public:
    Outsiders(D& d, std::uint64_t seed) : d_{d}, words_{seed} {}

    void flood(int commands) {
        for (auto i = 0; i < commands; ++i) {
            time_ += Duration{static_cast<std::int64_t>(below(1'000))};
            act();
        }
    }
    /// Whoever is still there leaves, and what still waits or runs is withdrawn.
    void end_unsuccessfully() {
        for (const auto& task : tasks_) { hear(d_.cancel(task, moment())); }
        for (const auto& node : nodes_) { hear(d_.leave(node, moment())); }
        for (const auto step : {Duration{1s}, Duration{2h}, Duration{24h * 31}, Duration{24h * 31}}) {
            time_ += step;
            do { hear(d_.advance(moment())); } while (d_.next_deadline() && *d_.next_deadline() <= TimePoint{time_});
        }
    }
    [[nodiscard]] auto accepted() const -> int { return accepted_; }
    [[nodiscard]] auto time() const -> Duration { return time_; }

private:
    auto below(std::uint64_t n) -> std::uint64_t { return words_() % n; }
    auto made_up(const char* what) -> std::string { return what + std::to_string(below(1'000'000)); }
    auto list(const char* what, std::uint64_t most) -> std::vector<std::string> {
        auto names = std::vector<std::string>(below(most));
        std::generate(names.begin(), names.end(), [&] { return made_up(what); });
        return names;
    }
    auto moment() -> Moment { return below(4) == 0 ? dark(time_) : at(time_, words_()); }
    auto node() -> allot::NodeId { return nodes_.empty() ? allot::NodeId{"?"} : nodes_[below(nodes_.size())]; }
    auto task() -> allot::TaskId { return tasks_.empty() ? allot::TaskId{"?"} : tasks_[below(tasks_.size())]; }

    void act() {
        if (!running_.empty()) {  // what started is withdrawn soon: honest nodes have fetched nothing, and are not late
            const auto first = running_.front();
            running_.erase(running_.begin());
            hear(d_.cancel(first, moment()));
        }
        switch (below(10)) {
            case 0: {
                auto spec = with(plain_node(made_up("stranger")), [&](NodeSpec& n) {
                    n.gpu = made_up("card");
                    n.vram = {1 + static_cast<std::uint32_t>(below(2'000))};
                    n.stake = 0;
                    n.models = list("model", 20);
                    n.platform = made_up("system");
                    n.operator_id = allot::OperatorId{made_up("operator")};
                    n.labels = list("label", 5);
                });
                nodes_.push_back(spec.id);
                hear(d_.join(std::move(spec), moment()));
                return;
            }
            case 1:
                hear(d_.update({.id = node(), .gpu = made_up("card"), .platform = made_up("system")}, moment()));
                return;
            case 2:
                hear(d_.report_model(node(), static_cast<command::Report>(below(5)), list("model", 20), moment()));
                return;
            case 3: hear(below(2) == 0 ? d_.pause(node(), moment()) : d_.resume(node(), moment())); return;
            case 4: hear(below(2) == 0 ? d_.leave(node(), moment()) : d_.cancel(task(), moment())); return;
            default: {
                auto spec = with(paying(made_up("junk"), below(2)), [&](TaskSpec& t) {
                    t.vram_min = {1 + static_cast<std::uint32_t>(below(below(3) == 0 ? 2'000 : 24))};
                    t.models = list("model", 10);
                    t.labels = list("label", 5);
                    t.owner = allot::OwnerId{made_up("owner")};
                    if (below(3) == 0) { t.group = allot::GroupId{made_up("group")}; }
                    if (below(3) == 0) { t.platforms_refused = list("system", 5); }
                });
                tasks_.push_back(spec.id);
                hear(d_.submit(std::move(spec), moment()));
                return;
            }
        }
    }

    void hear(const Events& events) {
        accepted_ += events.accepted() ? 1 : 0;
        for (const auto& start : all<event::TaskStarted>(events)) { running_.push_back(start.lease.task); }
    }

    D& d_;
    std::mt19937_64 words_;
    Duration time_{};
    std::vector<allot::NodeId> nodes_{};
    std::vector<allot::TaskId> tasks_{};
    std::vector<allot::TaskId> running_{};
    int accepted_ = 0;
};

template <class Preset>
void flooded(const Preset& preset, allot::RulesParameters rules) {
    for (auto run = std::uint64_t{0}; run < 4; ++run) {
        rules.requirements_max = run % 2 == 0 ? 4'096 : 20;
        rules.classes_max = run % 2 == 0 ? 4'096 : 10;
        rules.models_max = run % 2 == 0 ? 1U << 20U : 100;
        auto d = allot::Dispatcher{preset, allot::Rules{rules}};
        settle(d);
        auto twin = d;
        const auto before = Size{d};
        auto outsiders = Outsiders<decltype(d)>{d, seed() + run};
        outsiders.flood(1'500);
        const auto full = Size{d};
        outsiders.end_unsuccessfully();
        for (const auto time : {outsiders.time() / 2, outsiders.time()}) { ok(twin.advance(at(time))); }
        report(d, at(outsiders.time()));
        report(twin, at(outsiders.time()));
        const auto after = Size{d};
        CAPTURE(run, before.tables, full.tables, after.tables, before.bytes, full.bytes, after.bytes,
                outsiders.accepted());
        CHECK(full.bytes > 2 * before.bytes);  // it was a flood
        CHECK(after == before);
        CHECK(after == Size{twin});
        CHECK(d.next_deadline() == twin.next_deadline());
        for (auto i = 1; i <= 12; ++i) { CHECK(state_of(d, i) == NodeState::available); }
    }
}

template <class Preset>
auto rules_of(const Preset& preset) -> allot::RulesParameters {
    return std::get<allot::Rules>(preset.policies()).parameters();
}

}  // namespace

TEST_CASE("after a flood by outsiders and its end_unsuccessfully the state has the size of the state before", "[A3]") {
    SECTION("CrynuxSingle") { flooded(allot::preset::CrynuxSingle{}, rules_of(allot::preset::CrynuxSingle{})); }
    SECTION("CrynuxTrio") { flooded(allot::preset::CrynuxTrio{}, rules_of(allot::preset::CrynuxTrio{})); }
    SECTION("CrynuxRelay2026") {
        flooded(allot::preset::CrynuxRelay2026{2}, rules_of(allot::preset::CrynuxRelay2026{2}));
    }
    SECTION("CrynuxContracts1") {
        flooded(allot::preset::CrynuxContracts1{}, rules_of(allot::preset::CrynuxContracts1{}));
    }
    SECTION("CrynuxContracts2") {
        flooded(allot::preset::CrynuxContracts2{}, rules_of(allot::preset::CrynuxContracts2{}));
    }
    SECTION("Hardened") { flooded(allot::preset::Hardened{400}, rules_of(allot::preset::Hardened{400})); }
}

}  // namespace floods_test
