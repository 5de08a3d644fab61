#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <allot/core/event.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/dispatcher/indices.hpp>
#include <allot/dispatcher/trace.hpp>
#include <allot/dispatcher/turn/set_aside.hpp>

namespace allot { inline namespace v0 {

/// The write access to the records, and the data of one command: its moment, its events, its trace, and the nodes that
/// it freed.
///
/// A rule reads `view`, which is const, and writes only through `put`, `edit` and `remove`. Each of them adds the old
/// record to the undo log and updates every index. So a command cannot leave a record and an index at odds.
///
/// @complexity of a write: O(log n), and the cost of the pool and the queue.
template <class... Ps>
class Door {
public:
    using Record = typename View<Ps...>::Record;
    using Configuration = typename View<Ps...>::Configuration;
    using WeightPolicy = typename View<Ps...>::WeightPolicy;
    using Queue = typename View<Ps...>::Types::TaskQueue;

    /// Starts a command at a moment, appending to `to`. All arguments have to outlive it.
    Door(View<Ps...>& whole, const Moment& at, Events& to, const Trace<View<Ps...>>& seen_by)
        : view{whole}, moment{at}, events{to}, trace{seen_by}, records_{whole.records}, queue_{whole.queue},
          gated_{whole.gated}, indices_{whole} {}
    Door(const Door&) = delete;
    auto operator=(const Door&) -> Door& = delete;

    const View<Ps...>& view;
    const Moment& moment;
    Events& events;
    const Trace<View<Ps...>>& trace;
    boost::container::small_vector<NodeHandle, 4> freed{};  ///< Nodes that may take a task before the command ends.

    /// True if a command other than `match` may draw.
    [[nodiscard]] auto draws_at_once() const -> bool { return moment.entropy && !view.draws_in_rounds(); }

    /// Appends an event.
    void tell(const Event& event) const { events.push(event); }

    /// Shows a choice to the trace, before any event or record follows from it.
    void traced(const Decision& choice) const {
        if (trace.sees != nullptr) { trace.sees(trace.self, view, choice); }
    }

    /// Tells the trace of a walk that met its bound.
    void traced_cut(Walk walk) const {
        if (trace.cut != nullptr) { trace.cut(trace.self, walk); }
    }

    /// Writes a record, a new one or in place of another.
    template <class H, class R>
    void put(H handle, R&& record) {
        records_.put(handle, std::forward<R>(record), indices_);
    }
    /// Changes a record in place.
    /// @pre `change` keeps the fields that `Records::edit` names.
    template <class H, class F>
    void edit(H handle, F&& change) {
        records_.edit(handle, std::forward<F>(change), indices_);
    }
    /// Changes the counters.
    template <class F>
    void edit(F&& change) {
        records_.edit(std::forward<F>(change), indices_);
    }
    /// Removes a record.
    /// @pre the record is there.
    template <class H>
    void remove(H handle) {
        records_.remove(handle, indices_);
    }
    /// Replaces the models on a node's disk.
    /// @pre the node's record is there.
    void put_models(NodeHandle node, HeldModels models) { records_.hold(node, std::move(models), indices_); }
    /// Replaces the models that a node was asked to fetch. An unchanged list is not written.
    /// @pre the node's record is there.
    /// @complexity O(wishes of the node + log n).
    void put_wishes(NodeHandle node, HeldModels wishes) {
        if (wishes != records_.wishes(node)) { records_.wish(node, std::move(wishes), indices_); }
    }
    /// The id of a value, new or known.
    template <class V>
    [[nodiscard]] auto intern(const V& value) {
        return records_.intern(value, indices_);
    }
    /// As `Records::spare_rest`.
    [[nodiscard]] auto spare_rest() -> Rare<TaskRest> { return records_.spare_rest(); }
    /// The id of a model name, new or known.
    [[nodiscard]] auto intern_model(std::string name) { return records_.intern(std::move(name), indices_); }
    /// Makes the list of a requirement's classes, or of a class's requirements, before rules read it (`FitTable`).
    void list(auto id) { records_.list(id); }
    /// Puts other parameters in force, and adds the old ones to the undo log.
    void configure(const Configuration& parameters) {
        auto before = std::vector<Configuration>{};
        std::visit(
            [&]<class P>(const P&) {
                view.each_policy([&](const auto& policy) {
                    detail::each_configured_by<P>(policy, [&](const auto& one) { before.push_back(one.parameters()); });
                });
            },
            parameters);
        records_.note_configuration(std::move(before));
        indices_.configured({&parameters, 1});
    }

    /// Lets tasks stand out of the queue for a while; records stay unchanged.
    [[nodiscard]] auto set_aside() { return SetAside<Queue>{view.gates() ? gated_.queue() : queue_}; }

private:
    typename View<Ps...>::State& records_;
    Queue& queue_;
    GatedTasks<Queue>& gated_;
    Indices<Ps...> indices_;
};

}}  // namespace allot::v0
