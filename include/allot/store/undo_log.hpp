#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/each_once.hpp>
#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/store/record.hpp>
#include <allot/store/spare_rests.hpp>

namespace allot { inline namespace v0 {

/// The tables of a network, in the order of a snapshot: a record follows the records that it refers to.
enum class Section : std::uint8_t {
    classes,
    requirements,
    models,
    node_names,
    nodes,
    groups,
    tasks,
    ended_tasks,
    leases
};
inline constexpr std::size_t section_count = 9;

/// The entries that changed, by section: ascending handles or ids, each once. An entry may be absent now.
using Touched = std::array<std::vector<std::uint32_t>, section_count>;

/// The section of a handle or id.
template <class H>
inline constexpr auto section_of = [] {
    if constexpr (std::is_same_v<H, ClassId>) {
        return Section::classes;
    } else if constexpr (std::is_same_v<H, RequirementId>) {
        return Section::requirements;
    } else if constexpr (std::is_same_v<H, ModelId>) {
        return Section::models;
    } else if constexpr (std::is_same_v<H, NodeNameId>) {
        return Section::node_names;
    } else if constexpr (std::is_same_v<H, NodeHandle>) {
        return Section::nodes;
    } else if constexpr (std::is_same_v<H, GroupHandle>) {
        return Section::groups;
    } else if constexpr (std::is_same_v<H, TaskHandle>) {
        return Section::tasks;
    } else if constexpr (std::is_same_v<H, EndedHandle>) {
        return Section::ended_tasks;
    } else {
        static_assert(std::is_same_v<H, LeaseHandle>);
        return Section::leases;
    }
}();

// The former contents before each change, enough to undo it. `Records` writes these notes, and reads them backwards.

/// A record before its change; empty when it did not exist.
template <class H, class Record>
struct Replaced {
    explicit Replaced(H h) noexcept : handle{h} {}
    Replaced(H h, const Record& record) : handle{h}, before{record} {}
    H handle;
    std::optional<Record> before{};
};
/// A node's standing before an edit.
struct StandingEdited {
    NodeHandle handle;
    NodeStanding before;
};
/// A task's standing before an edit.
struct TaskEdited {
    TaskHandle handle;
    TaskStanding before;
};
/// The data of a node's QoS tracker before an edit. The edit's `StandingEdited` comes first.
template <class NodeData>
struct QosEdited {
    NodeHandle handle;
    NodeData before;
};
/// The models on a node's disk before a change.
struct HoldingsReplaced {
    NodeHandle handle;
    HeldModels before;
};
/// A node's wishes before a change.
struct WishesReplaced {
    NodeHandle handle;
    HeldModels before;
};
/// Parameters before a change, of each policy that takes them.
template <class Configuration>
struct ConfigurationReplaced {
    std::vector<Configuration> before;
};
/// A value was interned.
template <class Id>
struct Inserted {
    Id id;
};
/// A value without users was erased.
template <class Id, class Value>
struct Erased {
    Id id;
    Value value;
};

/// The notes since the outermost session began, in order.
template <class NodeData, class Configuration>
class UndoLog {
public:
    using Entry = std::variant<
        Replaced<NodeHandle, NodeRecord<NodeData>>, Replaced<TaskHandle, Task>, Replaced<EndedHandle, EndedTask>,
        Replaced<LeaseHandle, LeaseRecord>, Replaced<GroupHandle, GroupRecord>, StandingEdited, TaskEdited,
        QosEdited<NodeData>, HoldingsReplaced, WishesReplaced, Counters, ConfigurationReplaced<Configuration>,
        Inserted<ClassId>, Inserted<RequirementId>, Inserted<ModelId>, Inserted<NodeNameId>, Erased<ClassId, NodeClass>,
        Erased<RequirementId, Requirement>, Erased<ModelId, std::string>, Erased<NodeNameId, NodeId>>;

    // Lists in a note are read while further notes are added.
    static_assert(std::is_nothrow_move_constructible_v<Entry>,
                  "allot: a QoS tracker's `node_data` and all parameters need a move constructor that is noexcept");

    UndoLog() noexcept = default;
    /// Starts without notes: the sessions that may ask for them are the original's.
    UndoLog(const UndoLog&) noexcept {}
    UndoLog(UndoLog&&) noexcept = default;
    auto operator=(UndoLog other) noexcept -> UndoLog& {
        entries_.swap(other.entries_);
        return *this;
    }
    ~UndoLog() = default;

    /// Adds a note. The reference holds until the next one. If an allocation throws, nothing changes.
    template <class N>
    auto add(N note) -> N& {
        return add<N>(std::in_place, std::move(note));
    }
    /// Constructs a note in place and adds it.
    template <class N, class... Args>
    auto add(std::in_place_t, Args&&... args) -> N& {
        return std::get<N>(entries_.emplace_back(std::in_place_type<N>, std::forward<Args>(args)...));
    }
    /// Removes the newest note and returns it.
    /// @pre there is a note.
    [[nodiscard]] auto take() -> Entry {
        auto last = std::move(entries_.back());
        entries_.pop_back();
        return last;
    }
    /// The entries that the notes from a savepoint on are about.
    /// @complexity O(n log n) in the number of these notes.
    [[nodiscard]] auto touched(std::size_t savepoint) const -> Touched {
        auto touched = Touched{};
        for (auto i = savepoint; i < entries_.size(); ++i) {
            std::visit(
                [&]<class N>(const N& note) {
                    if constexpr (requires { note.handle; }) {
                        add(touched, note.handle);
                    } else if constexpr (requires { note.id; }) {
                        add(touched, note.id);
                    }
                },
                entries_[i]);
        }
        for (auto& entries : touched) { canonical(entries); }
        return touched;
    }
    /// Calls `f(note)` for each note from a savepoint on, oldest first. @complexity linear in these notes.
    template <class F>
    void each(std::size_t savepoint, F&& f) const {
        for (auto i = savepoint; i < entries_.size(); ++i) { std::visit(f, entries_[i]); }
    }
    [[nodiscard]] auto size() const noexcept -> std::size_t { return entries_.size(); }
    /// Moves the rest out of each former task's record, as the last thing before `clear`.
    /// @complexity linear in the notes.
    void keep_rests(SpareRests& spare) noexcept {
        for (auto& entry : entries_) {
            auto* const note = std::get_if<Replaced<TaskHandle, Task>>(&entry);
            if (note != nullptr && note->before) { spare.keep(std::move(note->before->rest)); }
        }
    }
    /// Removes all notes. The memory of a large command is given back.
    void clear() noexcept {
        entries_.clear();
        if (entries_.capacity() > kept_max) { entries_ = std::vector<Entry>{}; }
    }

private:
    static constexpr std::size_t kept_max = 1'024;

    template <class H>
    static void add(Touched& touched, H handle) {
        touched[static_cast<std::size_t>(section_of<H>)].push_back(handle.value);
    }

    std::vector<Entry> entries_;
};

}}  // namespace allot::v0
