#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/assert.hpp>
#include <allot/store/due_order.hpp>
#include <allot/store/holdings.hpp>
#include <allot/store/record.hpp>
#include <allot/store/record_tables.hpp>
#include <allot/store/undo_log.hpp>

namespace allot { inline namespace v0 {

/// Stores every record once, and the indices that follow from records alone.
///
/// All changes go through `put`, `edit`, `remove`, `hold`, `wish` and `set`. They add the old value to the undo log,
/// write the new one, and update the indices from one to the other. `rollback` walks the log backwards through the same
/// updates. It serves the strong guarantee if a policy throws, hypothetical runs, blocks executed twice and forks.
///
/// `Followers` are the indices kept elsewhere (pool, queue). They get `counters_changed(before, after)`. With a handle
/// in front: `node_changed` and `task_changed` (null: no record), `node_edited`, `task_edited`, and `models_changed`.
/// They get `holders_gone(model, class)` and `class_gone(class)` after the last, `fell` as `Interned::trim` calls it,
/// and `configured(...)`. They answer `fits(class, requirement)`, and `open(active)`: true if so many may get tasks.
/// @complexity of a write: O(log n), linear in the models of the record, and the cost of the followers. Reads are O(1).
template <class NodeData, class Configuration>
class Records : public RecordTables<NodeData> {
    using Below = RecordTables<NodeData>;

public:
    using Below::Below, Below::holdings, Below::wishes;
    using typename Below::NodeRecordType;

    // ---- writing --------------------------------------------------------------------------------------------------

    /// Writes a whole record: a new one, or in place of another of the same name.
    template <class H, class Record, class F>
        requires(!std::is_reference_v<Record>)
    void put(H h, Record&& after, F& followers) {
        prepare(h, after);
        auto& before = note_of(h);
        if (table(h).contains(h)) {
            before.emplace(std::exchange(table(h).at(h), std::forward<Record>(after)));
        } else {
            table(h).create(h, std::forward<Record>(after));
        }
        ranked(h, before, &table(h)[h]);
        moved_on(h, before, &table(h)[h], followers);
    }
    /// Changes a record in place. For a node `change` takes its record, or the `Node` alone; and it may throw, because
    /// nothing that it may change is counted.
    /// @pre of a node it changes only the data of the QoS tracker and the fields of `NodeStanding`, and keeps presence;
    /// it keeps a lease's deadline `never`; of a task it changes only the fields of `TaskStanding`. This is asserted.
    template <class H, class Change, class F>
    void edit(H h, const Change& change, F& followers) {
        if constexpr (std::is_same_v<H, GroupHandle>) {
            due_.reserve(static_cast<std::uint8_t>(due_kind<H>), h.value);
        } else {
            due_.reserve();
        }
        auto& record = table(h).at(h);
        auto& before = note_of(h, std::as_const(record));
        change(record);
        if constexpr (std::is_same_v<H, LeaseHandle>) {
            ALLOT_ASSERT(before->deadline != never || record.deadline == never,
                         "an edit gives no deadline to a lease that had none");
        }
        moved_on(h, before, &record, followers);
    }
    template <class Change, class F>
    void edit(TaskHandle h, const Change& change, F& followers) {
        due_.reserve(static_cast<std::uint8_t>(DueKind::task), h.value);
        auto& record = tasks_.at(h);
        const auto before = standing_of(record);
        [[maybe_unused]] const auto place = std::tuple{record.requirement, record.value, record.sequence, record.group};
        undo_log_.add(TaskEdited{h, before});
        change(record);
        ALLOT_ASSERT(place == std::tuple(record.requirement, record.value, record.sequence, record.group),
                     "an edit changes only the fields of `TaskStanding`");
        edited(h, before, record, followers);
    }
    template <class Change, class F>
    void edit(NodeHandle h, const Change& change, F& followers) {
        auto& record = nodes_.at(h);
        [[maybe_unused]] const auto identity = detail::NodeIdentity{record.node};
        const auto before = standing_of(record.node);
        undo_log_.add(StandingEdited{h, before});
        auto unheard = detail::Unheard{&record.node, before};
        if constexpr (std::is_invocable_v<const Change&, Node&>) {
            change(record.node);
        } else {
            undo_log_.add(QosEdited<NodeData>{h, record.qos});
            change(record);
        }
        ALLOT_ASSERT(identity == detail::NodeIdentity{record.node},
                     "an edit changes only the fields of `NodeStanding`, and leaves presence alone");
        prepare(DueKind::node, h.value, record.node.due_at);
        unheard.node = nullptr;
        edited(h, before, record, followers);
    }
    /// Removes a record.
    /// @pre the record is there. This is asserted.
    template <class H, class F>
    void remove(H h, F& followers) {
        ALLOT_ASSERT(table(h).contains(h), "a record is removed that is not there");
        due_.reserve();
        auto& before = note_of(h);
        table(h).destroy(h, before);
        falls_ = falls_ || table(h).falls();
        if constexpr (std::is_same_v<H, TaskHandle>) { rests_gone_ = rests_gone_ || before->rest.find() != nullptr; }
        ranked(h, before, nullptr);
        moved_on(h, before, nullptr, followers);
    }
    /// Replaces the models on a node's disk. New ones need a place of `free_place`.
    /// @pre the node is there, and the models are ascending and on disk (not on disk for `wish`). This is asserted.
    template <class F>
    void hold(NodeHandle h, HeldModels after, F& followers) {
        ALLOT_ASSERT(nodes_.contains(h) && Holdings::admits(after, true),
                     "models on disk, ascending, of a node that is there");
        after.trim();
        prepare(DueKind::model, h.value, Holdings::first_end(after));
        undo_log_.add(HoldingsReplaced{h, holdings(h)});
        change_holdings(h, std::move(after), followers);
    }
    /// Replaces the models that a node was asked to fetch; the first to end becomes due. @pre as for `hold`.
    template <class F>
    void wish(NodeHandle h, HeldModels after, F& followers) {
        ALLOT_ASSERT(nodes_.contains(h) && Holdings::admits(after, false),
                     "wishes, ascending, of a node that is there");
        after.trim();
        prepare(DueKind::model, h.value, Holdings::first_end(after));
        undo_log_.add(WishesReplaced{h, wishes(h)});
        holdings_.reserve_wishes(h, after);
        change_wishes(h, std::move(after), followers);
    }
    /// Changes the counters in place.
    /// @pre `change(counters)` does not throw.
    template <class Change, class F>
    void edit(const Change& change, F& followers) {
        const auto& before = undo_log_.template add<Counters>(std::in_place, counters_);
        change(counters_);
        followers.counters_changed(before, counters_);
    }
    template <class F>
    void set(const Counters& after, F& followers) {
        edit([&](Counters& counters) { counters = after; }, followers);
    }
    /// Makes a list of the fits (`FitTable::list`). Changes no record.
    void list(auto id) { interned_.fits.list(id); }
    /// Asks `followers.fits` again for every pair and `followers.open` for every class, after a policy was configured.
    template <class F>
    void refit(F& followers) {
        interned_.fits.refit(FitsOf<F>{followers}, [&](std::uint32_t active) { return followers.open(active); });
    }
    /// Adds the old parameters of each policy to the undo log; `rollback` passes them to `configured`.
    void note_configuration(std::vector<Configuration> before) {
        undo_log_.add(ConfigurationReplaced<Configuration>{std::move(before)});
    }

    /// The id of a value (a class, a requirement, the name of a model, a node's id), added if it is new. It is erased
    /// with the last record that uses it, so one has to use it.
    template <class Value, class F>
    auto intern(Value value, F& followers) {
        const auto known = interned_.find(value);
        return known ? *known : add(interned_.next_for(value), std::move(value), followers);
    }

    /// Adds a value under the id that it had in other records.
    template <class Id, class Value, class F>
    void intern_at(Id id, const Value& value, F& followers) {
        add(id, Value{value}, followers);
    }

    /// A blank rest for a new task's record; none if none is spare.
    [[nodiscard]] auto spare_rest() -> Rare<TaskRest> { return spare_.take(); }

    // ---- undo -----------------------------------------------------------------------------------------------------

    /// The current end of the undo log, to be passed to `rollback`.
    [[nodiscard]] auto savepoint() const noexcept -> std::size_t { return undo_log_.size(); }
    /// The entries that changed since the savepoint.
    [[nodiscard]] auto touched(std::size_t savepoint) const -> Touched { return undo_log_.touched(savepoint); }
    /// Calls `f(note)` for each note since the savepoint, oldest first. @complexity linear in these notes.
    template <class F>
    void each_note(std::size_t savepoint, F&& f) const {
        undo_log_.each(savepoint, std::forward<F>(f));
    }
    /// Clears the undo log: the changes stay. Gives back room of records that are gone: true if of nodes or tasks.
    template <class F>
    auto forget_undo_log(F& followers) noexcept -> bool {
        if (rests_gone_) { undo_log_.keep_rests(spare_); }
        rests_gone_ = false;
        undo_log_.clear();
        holdings_.give_back();
        return std::exchange(falls_, false) && give_back(followers);
    }
    /// Reverses all changes since the savepoint, newest first.
    template <class F>
    void rollback(std::size_t savepoint, F& followers) {
        undoing_ = true;
        while (undo_log_.size() > savepoint) {
            auto last = undo_log_.take();
            std::visit([&](auto& n) { undo(n, followers); }, last);
        }
        undoing_ = false;
        falls_ = true;  // it may have removed records that were new
    }

private:
    using Below::counters_, Below::nodes_, Below::tasks_, Below::ended_, Below::groups_, Below::leases_,
        Below::holdings_, Below::interned_, Below::stakes_, Below::due_, Below::present_, Below::table;

    /// A new undo log entry, to be filled with a record's old value: added first, so it cannot fail after a change.
    template <class H, class... Record>
    auto note_of(H h, const Record&... before) -> auto& {
        using N = Replaced<H, typename std::remove_reference_t<decltype(table(h))>::record_type>;
        return undo_log_.template add<N>(std::in_place, h, before...).before;
    }

    // `prepare` makes room in the indices for a record, so that no index update can fail half way.

    void prepare(NodeHandle h, const NodeRecordType& record) {
        stakes_.reserve(h.value);
        if (const auto id = detail::class_of(&record); id != no_handle<ClassId>) {
            interned_.fits.reserve(id, record.node.slot);
        }
        prepare(DueKind::node, h.value, record.node.due_at);
    }
    template <class H, class Record>
    void prepare(H h, const Record& record) {
        prepare(due_kind<H>, h.value, detail::due_of(&record));
    }
    void prepare(DueKind kind, std::uint32_t handle, TimePoint due) {
        if (due == never) { return due_.reserve(); }
        due_.reserve(static_cast<std::uint8_t>(kind), handle);
    }

    /// Apart from `forget_undo_log`, which mostly has nothing to give back.
    template <class F>
    auto give_back(F& followers) noexcept -> bool {
        const auto nodes = trim(nodes_, DueKind::node);
        if (nodes) {
            holdings_.trim(*nodes - 1);
            stakes_.trim(*nodes);
            due_.trim(static_cast<std::uint8_t>(DueKind::model), *nodes);
        }
        const auto tasks = trim(tasks_, DueKind::task);
        trim(ended_, DueKind::ended_task);
        trim(groups_, DueKind::group);
        trim(leases_, DueKind::lease);
        interned_.trim(followers);
        falls_ = falls_ || interned_.falls();
        return nodes || tasks;
    }
    template <class T>
    auto trim(T& records, DueKind kind) noexcept -> std::optional<std::uint32_t> {
        const auto end = records.trim();
        if (end) { due_.trim(static_cast<std::uint8_t>(kind), *end); }
        falls_ = falls_ || records.falls();
        return end;
    }

    /// Brings the index by stake up to date, after each change but an edit.
    template <class H, class Record>
    void ranked(H h, const std::optional<Record>& was, std::type_identity_t<const Record*> is) {
        if constexpr (std::is_same_v<H, NodeHandle>) { stakes_.moved(nodes_, h, was ? &*was : nullptr, is); }
    }

    /// The end of each write: a record was written, and `before` has its old value.
    template <class H, class Record, class F>
    void moved_on(H h, const std::optional<Record>& before, std::type_identity_t<const Record*> is, F& followers) {
        moved(h, before ? &*before : nullptr, is, followers);
    }

    // `moved` updates indices and followers from the old record to the new one, and at last drops interned values that
    // lost their last user. A follower that throws finds all indices updated; the rollback reverses them.
    template <class F>
    void moved(NodeHandle h, const NodeRecordType* was, const NodeRecordType* is, F& followers) {
        const auto class_was = detail::class_of(was);
        const auto class_is = detail::class_of(is);
        const auto moves =
            class_was != class_is || (was != nullptr && is != nullptr && was->node.slot != is->node.slot);
        if (moves && class_is != no_handle<ClassId>) { interned_.fits.acquire(class_is); }
        if (moves && class_was != no_handle<ClassId>) {
            interned_.fits.release(class_was);
            interned_.fits.free(class_was, was->node.slot);
        }
        if (moves && class_is != no_handle<ClassId>) { interned_.fits.take(class_is, is->node.slot, h); }
        const auto active_was = detail::active_class_of(was);
        const auto active_is = detail::active_class_of(is);
        if (active_was != active_is) { interned_.move_active(active_was, active_is, followers); }
        present_ += is != nullptr && is->node.present() ? 1U : 0U;
        present_ -= was != nullptr && was->node.present() ? 1U : 0U;
        set_due(DueKind::node, h.value, detail::due_of(was), detail::due_of(is));
        followers.node_changed(h, was, is);
        if (moves && class_was != no_handle<ClassId>) {
            drop(class_was);
            if (!interned_.contains(class_was)) { followers.class_gone(class_was); }
            fell(class_was);
        }
    }

    template <class F>
    void edited(NodeHandle h, const NodeStanding& was, const NodeRecordType& is, F& followers) {
        const auto active_was = detail::active_class_of(was.state, is.node.node_class);
        const auto active_is = detail::active_class_of(&is);
        if (active_was != active_is) { interned_.move_active(active_was, active_is, followers); }
        set_due(DueKind::node, h.value, was.due_at, is.node.due_at);
        followers.node_edited(h, was, is);
    }

    template <class F>
    void moved(TaskHandle h, const Task* was, const Task* is, F& followers) {
        const auto wanted = was != nullptr;
        const auto wants = is != nullptr;
        const auto same =
            wanted && wants && was->requirement == is->requirement && std::ranges::equal(was->models(), is->models());
        if (wants && !same) { interned_.acquire(*is); }
        if (wanted && !same) { interned_.release(*was); }
        const auto stayed = was != nullptr && detail::stays(was->state);
        const auto stays = is != nullptr && detail::stays(is->state);
        if (stays && !stayed) { interned_.fits.add_staying(is->requirement); }
        if (stayed && !stays) { interned_.fits.remove_staying(was->requirement); }
        set_due(DueKind::task, h.value, detail::due_of(was), detail::due_of(is));
        followers.task_changed(h, was, is);
        if (wanted && !same) {
            const auto models = was->models();  // in the undo log, whose lists stay in place while it grows
            drop(was->requirement);
            for (const auto model : models) { drop(model); }
        }
    }

    template <class F>
    void edited(TaskHandle h, const TaskStanding& was, const Task& is, F& followers) {
        const auto stayed = detail::stays(was.state);
        const auto stays = detail::stays(is.state);
        if (stays && !stayed) { interned_.fits.add_staying(is.requirement); }
        if (stayed && !stays) { interned_.fits.remove_staying(is.requirement); }
        set_due(DueKind::task, h.value, detail::due_of(was.state, was.due_at), detail::due_of(&is));
        followers.task_edited(h, was, is);
    }

    template <class H, class Record, class F>  // a lease or a group
    void moved(H h, const Record* was, const Record* is, F&) {
        set_due(due_kind<H>, h.value, detail::due_of(was), detail::due_of(is));
    }

    template <class F>
    void moved(EndedHandle h, const EndedTask* was, const EndedTask* is, F&) {
        constexpr auto nobody = no_handle<NodeNameId>;
        const auto before = was != nullptr ? was->node : nobody;
        const auto after = is != nullptr ? is->node : nobody;
        if (after != nobody) { interned_.node_names.acquire(after.value); }
        set_due(DueKind::ended_task, h.value, detail::due_of(was), detail::due_of(is));
        if (before != nobody) {
            interned_.node_names.release(before.value);
            drop(before);
        }
    }

    template <class F>
    void change_holdings(NodeHandle h, HeldModels after, F& followers) {
        const auto node_class = nodes_[h].node.node_class;
        each_difference(span_of(holdings(h)), span_of(after), [&](const HeldModel*, const HeldModel* is) {
            if (is != nullptr) { interned_.models.reserve(is->model, node_class, is->place); }
        });
        if (!after.empty()) { holdings_.reserve(h); }
        const auto was_due = holdings_.due_of(h);
        const auto before = holdings_.exchange(h, std::move(after));
        set_due(DueKind::model, h.value, was_due, holdings_.due_of(h));
        const auto& now = holdings(h);
        each_difference(span_of(before), span_of(now), [&](const HeldModel* was, const HeldModel* is) {
            interned_.models.moved(was, is, node_class);
        });
        followers.models_changed(h, before, now);
        each_difference(span_of(before), span_of(now), [&](const HeldModel* was, const HeldModel*) {
            if (was == nullptr) { return; }
            if (!interned_.models.held_in(was->model, node_class)) {
                followers.holders_gone(was->model, node_class);
                falls_ = true;
            }
            fell(was->model, node_class);
            drop(was->model);
        });
    }

    template <class F>
    void change_wishes(NodeHandle h, HeldModels after, F& followers) {
        for (const auto& wish : after) { interned_.models.acquire(wish.model); }
        const auto was_due = holdings_.due_of(h);
        const auto before = holdings_.exchange_wishes(h, std::move(after));
        set_due(DueKind::model, h.value, was_due, holdings_.due_of(h));
        for (const auto& wish : before) { interned_.models.release(wish.model); }
        if (before.empty() != wishes(h).empty()) { followers.models_changed(h, holdings(h), holdings(h)); }
        for (const auto& wish : before) { drop(wish.model); }
    }

    void set_due(DueKind kind, std::uint32_t handle, TimePoint was, TimePoint is) {
        if (was == is) { return; }
        const auto ties = DueOrder<Records>{*this};
        const auto k = static_cast<std::uint8_t>(kind);
        if (is != never) {
            due_.put({is.time_since_epoch().count(), k, handle}, ties);
        } else {
            due_.erase(k, handle, ties);
        }
    }
    template <class... Ids>
    void fell(Ids... ids) {
        if (!undoing_) { falls_ = interned_.note_sparse(ids...) || falls_; }
    }
    // ---- interned values: those without a record are erased, and added to the undo log ----------------------------

    template <class Id, class Value, class F>
    auto add(Id id, Value value, F& followers) -> Id {
        undo_log_.add(Inserted<Id>{id});
        interned_.put(id, std::move(value), followers);
        return id;
    }
    // During a rollback nothing is dropped: the undo log has every value that was added or erased.
    template <class Id>
    void drop(Id id) {
        if (!undoing_ && interned_.unused(id)) {
            undo_log_.add(Erased<Id, std::remove_cvref_t<decltype(interned_.value(id))>>{id, interned_.value(id)});
            interned_.erase_if_unused(id);
            falls_ = falls_ || interned_.falls();
        }
    }

    template <class H, class Record, class F>
    void undo(Replaced<H, Record>& n, F& followers) {
        auto is = std::optional<Record>{};
        if (table(n.handle).contains(n.handle)) { table(n.handle).destroy(n.handle, is); }
        if (n.before) { table(n.handle).create(n.handle, std::move(*n.before)); }
        ranked(n.handle, is, table(n.handle).find_record(n.handle));
        moved(n.handle, is ? &*is : nullptr, table(n.handle).find_record(n.handle), followers);
    }
    template <class F>
    void undo(StandingEdited& n, F& followers) {
        auto& record = nodes_.at(n.handle);
        const auto is = standing_of(record.node);
        restore(record.node, n.before);
        edited(n.handle, is, record, followers);
    }
    template <class F>
    void undo(TaskEdited& n, F& followers) {
        auto& record = tasks_.at(n.handle);
        const auto is = standing_of(record);
        restore(record, n.before);
        edited(n.handle, is, record, followers);
    }
    template <class F>
    void undo(QosEdited<NodeData>& n, F&) {  // followers hear of it with the note before this one
        nodes_.at(n.handle).qos = std::move(n.before);
    }
    template <class F>
    void undo(HoldingsReplaced& n, F& followers) {
        change_holdings(n.handle, std::move(n.before), followers);
    }
    template <class F>
    void undo(WishesReplaced& n, F& followers) {
        change_wishes(n.handle, std::move(n.before), followers);
    }
    template <class F>
    void undo(Counters& before, F& followers) {
        followers.counters_changed(std::exchange(counters_, before), before);
    }
    template <class F>
    void undo(ConfigurationReplaced<Configuration>& n, F& followers) {
        followers.configured(n.before);
    }
    template <class Id, class F>
    void undo(Inserted<Id>& n, F&) {
        if (interned_.contains(n.id)) { interned_.erase_if_unused(n.id); }  // not there if `fits` itself threw
    }
    template <class Id, class Value, class F>
    void undo(Erased<Id, Value>& n, F& followers) {
        interned_.put(n.id, std::move(n.value), followers);
    }

    bool undoing_ = false;  // then nothing is dropped
    bool falls_ = false;    // there may be room to give back
    bool rests_gone_ = false;
    SpareRests spare_;
    UndoLog<NodeData, Configuration> undo_log_;
};

}}  // namespace allot::v0
