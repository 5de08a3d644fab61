#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// The tables of a network, in the order in which a snapshot has them: what a record refers to comes before it.
enum class Section : std::uint8_t { classes, requirements, models, node_names, nodes, groups, tasks, ended_tasks, leases };
inline constexpr std::size_t section_count = 9;

/// The entries that changed, by section: ascending handles or ids, each once. Which of them are there now is not said.
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

// What there was before each change: enough to take it back. `Network` writes these, and reads them backwards.

/// A record as it was; empty when it was not there.
template <class H, class Record>
struct RecordNote {
    explicit RecordNote(H h) noexcept : handle{h} {}
    RecordNote(H h, const Record& record) : handle{h}, before{record} {}
    H handle;
    std::optional<Record> before{};
};
/// What a node held.
struct HoldingsNote { NodeHandle handle; HeldModels before; };
/// Parameters as they were.
template <class Configuration>
struct ConfigurationNote { Configuration before; };
/// A value was interned.
template <class Id>
struct AddedNote { Id id; };
/// A value that nobody used any more was erased.
template <class Id, class Value>
struct ErasedNote { Id id; Value value; };

/// The notes since the outermost session began, in order.
template <class NodeData, class Configuration>
class Notes {
public:
    using Note = std::variant<RecordNote<NodeHandle, NodeRecord<NodeData>>, RecordNote<TaskHandle, Task>,
                              RecordNote<EndedHandle, EndedTask>, RecordNote<LeaseHandle, LeaseRecord>,
                              RecordNote<GroupHandle, GroupRecord>, HoldingsNote, Counters, ConfigurationNote<Configuration>,
                              AddedNote<ClassId>, AddedNote<RequirementId>, AddedNote<ModelId>, AddedNote<NodeNameId>,
                              ErasedNote<ClassId, NodeClass>, ErasedNote<RequirementId, Requirement>,
                              ErasedNote<ModelId, std::string>, ErasedNote<NodeNameId, NodeId>>;

    /// Adds a note. The reference holds until the next one. Throws what an allocation throws, and then changes nothing.
    template <class N>
    auto add(N note) -> N& {
        return add<N>(std::in_place, std::move(note));
    }
    /// The same, made where it is to lie.
    template <class N, class... Args>
    auto add(std::in_place_t, Args&&... args) -> N& {
        return std::get<N>(notes_.emplace_back(std::in_place_type<N>, std::forward<Args>(args)...));
    }
    /// Takes the newest note out. @pre there is one.
    [[nodiscard]] auto take() -> Note {
        auto last = std::move(notes_.back());
        notes_.pop_back();
        return last;
    }
    /// What the notes from a mark on are about.
    [[nodiscard]] auto touched(std::size_t mark) const -> Touched {
        auto touched = Touched{};
        for (auto i = mark; i < notes_.size(); ++i) {
            std::visit(
                [&]<class N>(const N& note) {
                    if constexpr (requires { note.handle; }) {
                        add(touched, note.handle);
                    } else if constexpr (requires { note.id; }) {
                        add(touched, note.id);
                    }
                },
                notes_[i]);
        }
        for (auto& entries : touched) {
            std::sort(entries.begin(), entries.end());
            entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
        }
        return touched;
    }
    [[nodiscard]] auto size() const noexcept -> std::size_t { return notes_.size(); }
    void clear() noexcept { notes_.clear(); }

private:
    template <class H>
    static void add(Touched& touched, H handle) {
        touched[static_cast<std::size_t>(section_of<H>)].push_back(handle.value);
    }

    std::vector<Note> notes_;
};

}}  // namespace allot::v0
