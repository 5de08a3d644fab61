// What explaining costs, in passes over the records: explain(task) beside the plainest pass over nodes and tasks that
// there is.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/expected_wait.hpp>
#include <allot/explain/task.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/hub_of_allot.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/dispatching.hpp"

namespace bench { namespace {

using Hub = HubOfAllot<allot::ValueQueue>;

enum class Asks {
    pass,           ///< Nothing: reads of each record what an explanation reads first.
    explain,        ///< Why a task waits.
    expected_wait,  ///< And how long it will.
};

/// Questions about tasks of a network in one of the regimes of `Dispatching`: of tasks that wait where some do, else of
/// one that nobody submitted. With models, the nodes hold 8 each, and the task asks for one.
class Explaining {
public:
    Explaining(std::size_t nodes, Regime regime, bool models) : network_{nodes, regime} {
        const auto& state = network_.hub().hub().state();
        if (models) {
            const auto sets = model_sets(nodes);
            for (std::size_t i = 0; i < nodes; ++i) {
                auto report = allot::command::ReportModel{network_.nodes()[i], allot::command::Report::inventory, {}};
                for (const auto model : sets[i]) { report.models.push_back(model_name(model)); }
                auto events = allot::Events{};
                network_.hub().apply(report, network_.moment(), events);
            }
        }
        state.tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
            if (task.state == allot::TaskState::queued && questions_.size() < 64) {
                questions_.push_back(allot::question(network_.hub().hub(), task.id).value());
            }
        });
        if (questions_.empty()) {
            auto task = allot::TaskSpec{.id = allot::TaskId{"a task"}};
            task.vram_min = vram_of(2);
            task.fee = 1'000;
            task.duration_estimate = std::chrono::seconds{1'800};
            if (models) { task.models = {model_name(7)}; }
            questions_.push_back(allot::question(network_.hub().hub(), task).value());
        }
    }

    auto turn(std::size_t operations, Asks what) -> double {
        const auto& d = network_.hub().hub();
        auto watch = Stopwatch{};
        for (std::size_t i = 0; i < operations; ++i) {
            const auto& question = questions_[i % questions_.size()];
            watch.start();
            switch (what) {
                case Asks::pass: keep(pass(d, question.task)); break;
                case Asks::explain: keep(allot::explain(d, question)); break;
                case Asks::expected_wait: keep(allot::expected_wait(d, question)); break;
            }
            watch.stop();
        }
        return watch.nanoseconds();
    }

private:
    /// Free nodes, of those that hold the task's model if it has one, and tasks that wait and are worth more: one look
    /// at each record.
    static auto pass(const Hub::Hub& d, const allot::Task& task) -> std::uint64_t {
        auto count = std::uint64_t{0};
        const auto holds = [&](allot::NodeHandle h) {
            const auto& held = d.state().holdings(h);
            const auto is_asked = [&](const allot::HeldModel& one) { return one.model == task.models()[0]; };
            return std::any_of(held.begin(), held.end(), is_asked);
        };
        d.state().nodes().for_each([&](allot::NodeHandle h, const auto& record) {
            const auto free = record.node.state == allot::NodeState::available && !record.node.excluded;
            count += free && (task.models().empty() || holds(h)) ? 1U : 0U;
        });
        d.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& other) {
            count += other.state == allot::TaskState::queued && other.value > task.value ? 1U : 0U;
        });
        return count;
    }

    Dispatching<Hub> network_;
    std::vector<allot::Question> questions_;
};

void compare(Figures& f, const std::string& name, Regime regime, bool models) {
    const auto network = std::make_shared<Explaining>(100'000, regime, models);
    auto turns = std::vector<Contestant>{{"explain(task)", 20, turn_of(network, Asks::explain)},
                                         {"one linear pass", 20, turn_of(network, Asks::pass)},
                                         {"expected_wait(task)", 5, turn_of(network, Asks::expected_wait)}};
    f.measure("explaining at 100,000 nodes, " + name, turns);
    f.at_most("explain(task) / one linear pass, 100,000 nodes, " + name, ratio(turns[0], turns[1]), 5);
    f.told("expected_wait(task) / one linear pass, 100,000 nodes, " + name, ratio(turns[2], turns[1]));
}

const auto subject = Subject{"7 explain", [](Figures& f) {
                                 compare(f, "idle", Regime::idle, false);
                                 compare(f, "idle, models", Regime::idle, true);
                                 compare(f, "saturated", Regime::saturated, false);
                             }};

const auto offered = [] {
    for (const auto& [what, name] :
         {std::pair{Asks::pass, "linear_pass"}, {Asks::explain, "task"}, {Asks::expected_wait, "expected_wait"}}) {
        for (const auto& [regime, title] : {std::pair{Regime::idle, "idle/"}, {Regime::saturated, "saturated/"}}) {
            const auto full_name = "explain/" + (std::string{title} + name);
            offers().push_back({full_name, all_sizes, 4, [what = what, regime = regime](std::size_t nodes) {
                                    return turn_of(std::make_shared<Explaining>(nodes, regime, false), what);
                                }});
        }
    }
    return true;
}();

}}  // namespace bench
