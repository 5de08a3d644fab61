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

    /// Brings places from one list of held models to the other: frees those of `was`, takes those of `is`.
    /// A place that stays is not moved: the last holder's place would be given up with the room that was made.
    /// @complexity O(n log n) for n models.
    /// @pre the models of `is` were acquired, and room was made for their places.
    void moved(const HeldModels& was, const HeldModels& is, ClassId node_class) {
        const auto keeps = [](const HeldModels& list, const HeldModel& held) {
            const auto* other = find_model(list, held.model);
            return other != nullptr && other->on_disk() && other->place == held.place;
        };
        for (const auto& held : was) {
            release(held.model, held.on_disk());
            if (held.on_disk() && !keeps(is, held)) { free(held.model, node_class, held.place); }
        }
        for (const auto& held : is) {
            if (held.on_disk() && !keeps(was, held)) { take(held.model, node_class, held.place); }
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
