#pragma once

#include <cstdint>
#include <utility>

#include <allot/dispatcher/trace.hpp>
#include <allot/dispatcher/view/draws.hpp>
#include <allot/dispatcher/view/gang_tally.hpp>

namespace allot { inline namespace v0 {

/// Answers which nodes or tasks could have been chosen, counted one by one from the records, as receipts and
/// explanations state them. Of the indices only the fits and the pool's `total` are used: a second opinion.
template <class... Ps>
class Candidates : public Draws<Ps...> {
    using Below = Draws<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::is_candidate, Below::admits, Below::boost, Below::can_run, Below::fetch_weight,
        Below::holders_to_narrow, Below::holders_weigh_enough, Below::narrows_to, Below::weight_now, Below::has_gang,
        Below::joins;
    using typename Below::Record;

    /// Calls `f(node, weight)` for each candidate of a task for which `allowed(node)` is true, narrowed as a draw among
    /// them would be.
    /// @complexity linear in the nodes.
    template <class Allowed, class F>
    void each_among(const Task& task, const Allowed& allowed, F&& f) const {
        const auto each = [&](bool narrowed, auto&& g) {
            records.nodes().for_each([&](NodeHandle h, const Record& record) {
                if (!is_candidate(record) || !records.fits().fit(record.node.node_class, task.requirement) ||
                    !allowed(h) || (task.pinned() && task.pinned_to != h) || (narrowed && !narrows_to(h, task)) ||
                    admits(record, task) != Reason::none) {
                    return;
                }
                if (const auto weight = weight_now(record, task, boost(h, task)); !weight.is_zero()) { g(h, weight); }
            });
        };
        const auto wanted = holders_to_narrow(task);
        auto holders = std::uint32_t{0};
        const auto classes = records.fits().classes_of(task.requirement);
        const auto enough = wanted && holders_weigh_enough(task, classes);
        if (enough) {
            each(true, [&](NodeHandle, Weight) { ++holders; });
        }
        each(enough && holders >= *wanted, f);
    }

    /// The same for each candidate of a task's first draw. For a gang, skips nodes whose card has fewer than
    /// `gang_size` eligible nodes.
    /// @complexity linear in the nodes.
    template <class F>
    void each_candidate(const Task& task, F&& f) const {
        const auto& asked = records.fits().value(task.requirement);
        if (asked.gang_size == 1) {
            each_among(
                task, [](NodeHandle) { return true; }, f);
            return;
        }
        auto tally = GangTally{asked, task.group != no_handle<GroupHandle>};
        records.nodes().for_each([&](NodeHandle h, const Record& record) {
            if (is_candidate(record) && records.fits().fit(record.node.node_class, task.requirement) &&
                can_run(h, task)) {
                tally.add(record.node, records.fits().value(record.node.node_class));
            }
        });
        each_among(
            task, [&](NodeHandle h) { return tally.enough(records.fits().value(records.nodes()[h].node.node_class)); },
            f);
    }

    /// Calls `f(node, weight)` for each candidate of a choice that has a positive weight, in the order of the records.
    /// They are narrowed as the draw was: to holders of the task's models, if enough of them can be drawn. For the
    /// first node of a gang, see above. Weights are in the unit of `Draw::weight`.
    /// @complexity linear in the nodes.
    template <class F>
    void each_candidate(const Decision& choice, F&& f) const {
        if (choice.chosen.empty()) {
            each_candidate(choice.task, f);
            return;
        }
        const auto class_of = [&](NodeHandle h) -> const NodeClass& {
            return records.fits().value(records.nodes()[h].node.node_class);
        };
        const auto chosen = Gang{choice.chosen.begin(), choice.chosen.end()};
        const auto same_card = records.fits().value(choice.task.requirement).same_card;
        each_among(
            choice.task,
            [&](NodeHandle h) {
                const auto& own = class_of(h);
                const auto& first = class_of(chosen.front().node);
                return joins(h, choice.task, chosen) &&
                       (same_card ? own.gpu == first.gpu && own.vram == first.vram
                                  : !choice.beside || own.vram == class_of(choice.drawn.node).vram);
            },
            f);
    }

    /// Calls `f(node, weight)` for each node that may be asked to fetch a model for a task.
    /// @complexity linear in the nodes.
    template <class F>
    void each_fetcher(const Task& task, ModelId model, F&& f) const {
        records.nodes().for_each([&](NodeHandle h, const Record& record) {
            if (!is_candidate(record) || !records.fits().fit(record.node.node_class, task.requirement)) { return; }
            if (const auto weight = fetch_weight(h, task, model); !weight.is_zero()) { f(h, weight); }
        });
    }

    /// Calls `f(handle, task)` for each waiting task that a node can run.
    /// @complexity linear in the tasks.
    template <class F>
    void each_runnable(NodeHandle node, F&& f) const {
        const auto node_class = records.nodes()[node].node.node_class;
        records.tasks().for_each([&](TaskHandle h, const Task& task) {
            if (task.state == TaskState::queued && records.fits().fit(node_class, task.requirement) &&
                can_run(node, task) && has_gang(node, task)) {
                f(h, task);
            }
        });
    }
};

}}  // namespace allot::v0
