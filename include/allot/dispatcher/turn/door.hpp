#pragma once

#include <string>
#include <utility>
#include <variant>

#include <boost/container/small_vector.hpp>

#include <allot/core/event.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/dispatcher/indices.hpp>
#include <allot/dispatcher/trace.hpp>
#include <allot/dispatcher/turn/set_aside.hpp>

namespace allot { inline namespace v0 {

/// The one door to the records, and what one command carries through it: its moment, its events, its trace, the nodes
/// it set free.
///
/// A rule reads `view`, which is const, and writes by `put`, `edit` and `remove` alone. Each of them notes what was
/// there before, so that it can be undone, and brings every index in step. A command therefore cannot leave a record
/// and an index at odds.
template <class... Ps>
class Door {
public:
    using Record = typename View<Ps...>::Record;
    using Configuration = typename View<Ps...>::Configuration;
    using WeightPolicy = typename View<Ps...>::WeightPolicy;
    using Queue = typename View<Ps...>::Types::TaskQueue;

    Door(View<Ps...>& whole, const Moment& at, Events& to, const Trace<View<Ps...>>& seen_by)
        : view{whole}, moment{at}, events{to}, trace{seen_by}, records_{whole.records}, queue_{whole.queue},
          indices_{whole} {}
    Door(const Door&) = delete;
    auto operator=(const Door&) -> Door& = delete;

    const View<Ps...>& view;
    const Moment& moment;
    Events& events;
    const Trace<View<Ps...>>& trace;
    boost::container::small_vector<NodeHandle, 4> freed{};  ///< Nodes that may take a task before the command ends.

    /// Appends an event.
    void tell(const Event& event) const { events.push(event); }

    /// Shows a choice to the trace, before anything follows from it.
    void traced(const Decision& choice) const {
        if (trace.sees != nullptr) { trace.sees(trace.self, view, choice); }
    }

    /// Writes a record, a new one or in place of another.
    template <class H, class R>
    void put(H handle, R&& record) {
        records_.put(handle, std::forward<R>(record), indices_);
    }
    /// Changes a record in place. @pre `change` leaves alone what `Records::edit` says.
    template <class H, class F>
    void edit(H handle, F&& change) {
        records_.edit(handle, std::forward<F>(change), indices_);
    }
    /// Changes the counters.
    template <class F>
    void edit(F&& change) {
        records_.edit(std::forward<F>(change), indices_);
    }
    /// Removes a record. @pre it is there.
    template <class H>
    void remove(H handle) {
        records_.remove(handle, indices_);
    }
    /// Writes what a node holds. @pre the node's record is there.
    void put_models(NodeHandle node, HeldModels models) { records_.hold(node, std::move(models), indices_); }
    /// The number of a value, new or known.
    template <class V>
    [[nodiscard]] auto intern(const V& value) {
        return records_.intern(value, indices_);
    }
    [[nodiscard]] auto intern_model(const std::string& name) { return records_.intern_model(name, indices_); }
    /// Puts other parameters in force, and notes those that were.
    void configure(const Configuration& parameters) {
        auto before = parameters;
        std::visit(
            [&]<class P>(P& of) {
                view.each_policy([&](const auto& policy) {
                    detail::each_configured_by<P>(policy, [&](const auto& one) { of = one.parameters(); });
                });
            },
            before);
        records_.note_configuration(before);
        indices_.configured(parameters);
    }

    /// Lets tasks stand out of the queue for a while, records unchanged.
    [[nodiscard]] auto set_aside() { return SetAside<Queue>{queue_}; }

private:
    typename View<Ps...>::State& records_;
    Queue& queue_;
    Indices<Ps...> indices_;
};

}}  // namespace allot::v0
