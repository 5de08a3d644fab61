#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/node.hpp>
#include <allot/store/fit_table.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Interned model names, and for each (model, class) the places of its holders.
///
/// Tasks and requests keep a name alive without taking room from others: `held` counts the names that nodes have on
/// their disks.
class ModelTable {
public:
    explicit ModelTable(SipKey key) : names_{NameHash{key}} {}

    [[nodiscard]] auto names() const noexcept -> const auto& { return names_; }
    [[nodiscard]] auto name(ModelId id) const -> const std::string& { return names_.value(id.value); }
    [[nodiscard]] auto find(const std::string& name) const -> std::optional<ModelId> {
        const auto id = names_.find(name);
        return id ? std::optional{ModelId{*id}} : std::nullopt;
    }
    [[nodiscard]] auto next() const -> ModelId { return ModelId{names_.next_id()}; }

    void add(ModelId id, std::string name) {
        places_.ensure(id.value);
        holders_.ensure(id.value);
        names_.put(id.value, std::move(name));
    }
    /// Adds or removes one user, which may be a node that has the model on its disk.
    void acquire(ModelId id, bool on_disk = false) {
        names_.acquire(id.value);
        if (on_disk && holders_[id.value]++ == 0) { ++held_; }
    }
    void release(ModelId id, bool on_disk = false) {
        names_.release(id.value);
        if (on_disk && --holders_[id.value] == 0) { --held_; }
    }
    /// True if some node has the model on its disk. The next two return the number of such nodes, and the number of
    /// such models.
    [[nodiscard]] auto held(ModelId id) const -> bool { return holders(id) > 0; }
    [[nodiscard]] auto holders(ModelId id) const -> std::uint32_t { return holders_[id.value]; }
    [[nodiscard]] auto held() const noexcept -> std::uint32_t { return held_; }
    /// The part of the table that each of so many holders of a model takes. The parts are equal, so that no node hides
    /// behind a second holder.
    [[nodiscard]] static constexpr auto part(std::uint64_t holders) -> std::uint64_t { return whole_part / holders; }
    auto erase_if_unused(ModelId id) -> bool { return names_.erase_if_unused(id.value); }

    /// Gives back the room of names that are gone. Changes no result.
    void trim() noexcept {
        if (const auto end = names_.trim()) {
            places_.trim(*end - 1);
            holders_.trim(*end - 1);
        }
    }

    /// The lowest place free among the holders of a model in a class.
    [[nodiscard]] auto free_place(ModelId id, ClassId node_class) const -> std::uint32_t {
        const auto& rows = places_[id.value];
        const auto row = std::lower_bound(rows.begin(), rows.end(), node_class, before);
        return row == rows.end() || row->first != node_class ? 0U : row->second.lowest_free();
    }
    /// True if a holder has this place.
    [[nodiscard]] auto taken(ModelId id, ClassId node_class, std::uint32_t place) const -> bool {
        const auto& rows = places_[id.value];
        const auto row = std::lower_bound(rows.begin(), rows.end(), node_class, before);
        return row != rows.end() && row->first == node_class && row->second.taken(place);
    }
    /// True if a node of a class has the model on its disk.
    [[nodiscard]] auto held_in(ModelId id, ClassId node_class) const -> bool {
        const auto& rows = places_[id.value];
        const auto row = std::lower_bound(rows.begin(), rows.end(), node_class, before);
        return row != rows.end() && row->first == node_class;
    }
    /// Makes room, so that `take` of this place does not allocate.
    void reserve(ModelId id, ClassId node_class, std::uint32_t place) { row(id, node_class).reserve(place); }
    void take(ModelId id, ClassId node_class, std::uint32_t place) { row(id, node_class).take(place); }
    void free(ModelId id, ClassId node_class, std::uint32_t place) {
        auto& rows = places_[id.value];
        const auto row = std::lower_bound(rows.begin(), rows.end(), node_class, before);
        row->second.free(place);
        if (row->second.empty()) { rows.erase(row); }
    }

    /// A node's model on disk became another; null stands for none. Its place is taken, or given up, or both.
    /// @complexity O(log classes).
    /// @pre room was made for the new place.
    void moved(const HeldModel* was, const HeldModel* is, ClassId node_class) {
        if (was != nullptr && is != nullptr && was->place == is->place) { return; }
        if (is != nullptr) {
            acquire(is->model, true);
            take(is->model, node_class, is->place);
        }
        if (was != nullptr) {
            release(was->model, true);
            free(was->model, node_class, was->place);
        }
    }

private:
    static constexpr auto whole_part = std::uint64_t{1} << 14;
    using Row = std::pair<ClassId, SlotSet>;
    static auto before(const Row& row, ClassId node_class) -> bool { return row.first < node_class; }

    /// The places of a model's holders in a class; none is taken when there are none yet.
    auto row(ModelId id, ClassId node_class) -> SlotSet& {
        auto& rows = places_[id.value];
        auto found = std::lower_bound(rows.begin(), rows.end(), node_class, before);
        if (found == rows.end() || found->first != node_class) {
            const auto at = found - rows.begin();
            detail::make_room(rows, rows.size() + 1);
            found = rows.insert(rows.begin() + at, Row{node_class, SlotSet{}});
        }
        return found->second;
    }

    Interner<std::string, NameHash> names_;
    Pages<std::vector<Row>> places_;  // by model, then ascending by class
    Pages<std::uint32_t> holders_;    // by model: nodes that have it on disk
    std::uint32_t held_ = 0;
};

}}  // namespace allot::v0
