#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/node.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/task.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Feeds text, with its length, to a hash.
template <class Hasher>
void hash_text(Hasher& hasher, const std::string& text) {
    hasher.word(text.size());
    hasher.bytes(std::as_bytes(std::span{text}));
}

/// Keyed hash of a name. Untrusted parties choose names, so with an unkeyed hash they could choose collisions, too.
struct NameHash {
    SipKey key{};
    [[nodiscard]] auto operator()(const std::string& name) const -> std::uint64_t {
        auto hasher = SipHash13{key};
        hash_text(hasher, name);
        return hasher.finish();
    }
};

/// Keyed hash of a node class.
struct NodeClassHash {
    SipKey key{};
    [[nodiscard]] auto operator()(const NodeClass& value) const -> std::uint64_t {
        auto hasher = SipHash13{key};
        hash_text(hasher, value.gpu);
        hash_text(hasher, value.platform);
        hasher.word((std::uint64_t{value.vram.count} << 32U) | value.software.major);
        hasher.word((std::uint64_t{value.software.minor} << 32U) | value.software.patch);
        return hasher.finish();
    }
};

/// Keyed hash of a requirement, or of its view.
struct RequirementHash {
    SipKey key{};
    template <class Like>
    [[nodiscard]] auto operator()(const Like& value) const -> std::uint64_t {
        auto hasher = SipHash13{key};
        hasher.word((std::uint64_t{value.vram_min.count} << 32U) | value.gpus.size());
        for (const auto& gpu : value.gpus) {
            hash_text(hasher, gpu.name);
            hasher.word(gpu.vram.count);
        }
        hasher.word((std::uint64_t{value.platforms.size()} << 48U) |
                    (std::uint64_t{value.platforms_refused.size()} << 34U) | (std::uint64_t{value.gang_size} << 2U) |
                    (value.same_card ? 2U : 0U) | (value.software ? 1U : 0U));
        for (const auto& platform : value.platforms) { hash_text(hasher, platform); }
        for (const auto& platform : value.platforms_refused) { hash_text(hasher, platform); }
        if (value.software) {
            hasher.word((std::uint64_t{value.software->major} << 32U) | value.software->minor);
            hasher.word(value.software->patch);
        }
        return hasher.finish();
    }
};

/// Interned classes and requirements, and for each pair a bit: the class fits the requirement.
///
/// A class is open or closed: a class of too few nodes fits nothing (`Rules::class_nodes_min`).
///
/// Invariant: `classes_of(r)` lists, ascending, exactly the live open classes that fit r, and `requirements_of(c)` the
/// reverse, in an order that depends on the history and decides nothing. The pool, the queue and an explanation
/// therefore read the same bits.
class FitTable {
public:
    explicit FitTable(SipKey key) : key_{key}, classes_{NodeClassHash{key}}, requirements_{RequirementHash{key}} {}

    [[nodiscard]] auto classes() const noexcept -> const auto& { return classes_; }
    [[nodiscard]] auto requirements() const noexcept -> const auto& { return requirements_; }
    [[nodiscard]] auto value(ClassId id) const -> const NodeClass& { return classes_.value(id.value); }
    [[nodiscard]] auto value(RequirementId id) const -> const Requirement& { return requirements_.value(id.value); }

    [[nodiscard]] auto contains(ClassId id) const -> bool { return classes_.contains(id.value); }
    [[nodiscard]] auto contains(RequirementId id) const -> bool { return requirements_.contains(id.value); }
    /// Number of records that refer to the class.
    [[nodiscard]] auto count(ClassId id) const -> std::uint32_t { return classes_.count(id.value); }
    [[nodiscard]] auto count(RequirementId id) const -> std::uint32_t { return requirements_.count(id.value); }

    /// Number of requirements with more than one node.
    [[nodiscard]] auto gangs() const noexcept -> std::uint32_t { return gangs_; }

    /// All live classes, ascending.
    [[nodiscard]] auto all_classes() const -> std::span<const ClassId> { return all_; }
    [[nodiscard]] auto classes_of(RequirementId id) const -> std::span<const ClassId> {
        return rows_[id.value].classes;
    }
    /// In no order.
    [[nodiscard]] auto requirements_of(ClassId id) const -> std::span<const RequirementId> {
        const auto& column = columns_[id.value];
        return column.open ? std::span<const RequirementId>{column.requirements} : std::span<const RequirementId>{};
    }
    [[nodiscard]] auto open(ClassId id) const -> bool { return columns_[id.value].open; }
    /// A keyed hash of the card of a class, its GPU and VRAM: equal for equal cards, and for different ones almost
    /// never.
    [[nodiscard]] auto card_hash(ClassId id) const -> std::uint64_t { return columns_[id.value].card_hash; }
    /// True if two classes have the same card.
    [[nodiscard]] auto same_card(ClassId a, ClassId b) const -> bool {
        return a == b ||
               (card_hash(a) == card_hash(b) && value(a).vram == value(b).vram && value(a).gpu == value(b).gpu);
    }
    /// Number of nodes of a class that take part: neither paused nor gone.
    [[nodiscard]] auto active(ClassId id) const -> std::uint32_t { return columns_[id.value].active; }
    /// False for no class, as a node that left has.
    [[nodiscard]] auto fit(ClassId node_class, RequirementId requirement) const -> bool {
        return contains(node_class) && columns_[node_class.value].open && columns_[node_class.value].has(requirement);
    }
    /// The slots of the nodes of this class.
    [[nodiscard]] auto slots(ClassId id) const -> const SlotSet& { return columns_[id.value].slots; }
    /// Calls `f(node)` for each node of a class, by slot.
    /// @complexity linear in the number of these nodes.
    template <class F>
    void each_node(ClassId id, F&& f) const {
        const auto& column = columns_[id.value];
        column.slots.for_each([&](std::uint32_t slot) { f(column.nodes[slot]); });
    }
    /// Makes room, so that `take` of this slot does not allocate.
    void reserve(ClassId id, std::uint32_t slot) {
        columns_[id.value].slots.reserve(slot);
        detail::grow_to(columns_[id.value].nodes, std::size_t{slot} + 1);
    }
    void take(ClassId id, std::uint32_t slot, NodeHandle node) {
        auto& column = columns_[id.value];
        column.slots.take(slot);
        detail::grow_to(column.nodes, std::size_t{slot} + 1);
        column.nodes[slot] = node;
    }
    void free(ClassId id, std::uint32_t slot) { columns_[id.value].slots.free(slot); }

    /// Number of tasks of a requirement that run, or are pinned and wait at their node: none of them can be evicted for
    /// another task.
    [[nodiscard]] auto staying(RequirementId id) const -> std::uint32_t { return rows_[id.value].staying; }
    void add_staying(RequirementId id) { ++rows_[id.value].staying; }
    void remove_staying(RequirementId id) { --rows_[id.value].staying; }

    void acquire(ClassId id) { classes_.acquire(id.value); }
    void acquire(RequirementId id) { requirements_.acquire(id.value); }
    void release(ClassId id) { classes_.release(id.value); }
    void release(RequirementId id) { requirements_.release(id.value); }

    /// The id of the next new value.
    [[nodiscard]] auto next_class() const -> ClassId { return ClassId{classes_.next_id()}; }
    [[nodiscard]] auto next_requirement() const -> RequirementId { return RequirementId{requirements_.next_id()}; }

    /// Adds a class at a free id. `fits(class, requirement)` decides.
    /// @complexity O(requirements).
    template <class Fits>
    void add(ClassId id, NodeClass value, const Fits& fits, bool open = true) {
        auto column = Column{};
        requirements_.for_each([&](std::uint32_t r, const Requirement& requirement) {
            if (fits(value, requirement)) {
                column.reserve(RequirementId{r}, id.value);
                column.add(RequirementId{r});
            }
        });
        column.reserve(next_requirement(), id.value);
        column.card_hash = card_hash_of(value);
        column.open = false;
        columns_.ensure(id.value);
        for (const auto r : column.requirements) {
            auto& row = rows_[r.value];
            const auto count = std::size_t{row.fitting} + 1;
            if (count > row.classes.capacity()) { detail::make_room(row.classes, room_for(count, r.value)); }
        }
        detail::make_room(all_, all_.size() + 1);
        classes_.put(id.value, std::move(value));  // the last call that may throw
        for (const auto r : column.requirements) { ++rows_[r.value].fitting; }
        columns_[id.value] = std::move(column);
        set_open(id, open);
        insert(all_, id);
    }

    /// Opens or closes a class. It allocates nothing: there is room for every class that fits.
    /// @complexity O(requirements that it fits · classes that they fit).
    void set_open(ClassId id, bool open) {
        auto& column = columns_[id.value];
        if (column.open == open) { return; }
        column.open = open;
        for (const auto r : column.requirements) {
            if (open) {
                insert(rows_[r.value].classes, id);
            } else {
                erase(rows_[r.value].classes, id);
            }
        }
    }

    /// Adds one to the number of active nodes; `remove_active` subtracts one.
    void add_active(ClassId id) { ++columns_[id.value].active; }
    void remove_active(ClassId id) { --columns_[id.value].active; }

    /// Adds a requirement at a free id.
    /// @complexity O(classes).
    template <class Fits>
    void add(RequirementId id, Requirement value, const Fits& fits) {
        auto fitting = std::vector<ClassId>{};
        fitting.reserve(room_for(all_.size(), id.value));
        for (const auto c : all_) {
            if (fits(classes_.value(c.value), value)) { fitting.push_back(c); }
        }
        rows_.ensure(id.value);
        for (const auto c : fitting) { columns_[c.value].reserve(id, c.value); }
        const auto gang = value.gang_size > 1;
        requirements_.put(id.value, std::move(value));  // the last call that may throw
        gangs_ += gang ? 1U : 0U;
        rows_[id.value] = listed(id, std::move(fitting));
    }

    /// Removes a value without users and returns true; otherwise returns false.
    /// @complexity O(classes + requirements that it fits · classes that they fit) for a class, O(classes) for a
    /// requirement.
    auto erase_if_unused(ClassId id) -> bool {
        if (!classes_.erase_if_unused(id.value)) { return false; }
        set_open(id, false);
        for (const auto r : columns_[id.value].requirements) { --rows_[r.value].fitting; }
        columns_[id.value] = Column{};
        erase(all_, id);
        return true;
    }
    auto erase_if_unused(RequirementId id) -> bool {
        const auto gang = value(id).gang_size > 1;
        if (!requirements_.erase_if_unused(id.value)) { return false; }
        gangs_ -= gang ? 1U : 0U;
        for (const auto c : all_) { columns_[c.value].remove(id); }
        rows_[id.value] = {};
        return true;
    }

    /// Gives back the room of values that are gone. Changes no result.
    /// @complexity O(1), and O(classes) where a page of requirements goes.
    void trim() noexcept {
        if (const auto end = classes_.trim()) { columns_.trim(*end - 1); }
        if (const auto end = requirements_.trim()) {
            rows_.trim(*end - 1);
            for (const auto c : all_) { columns_[c.value].trim(*end); }
        }
    }

    /// Evaluates `fits(class, requirement)` again for every pair, and `open(active)` for every class.
    /// @complexity O(classes · requirements).
    template <class Fits, class Open>
    void refit(const Fits& fits, const Open& open) {
        for (const auto c : all_) { columns_[c.value].open = open(columns_[c.value].active); }
        for (const auto c : all_) { columns_[c.value].clear(); }
        requirements_.for_each([&](std::uint32_t r, const Requirement& requirement) {
            auto fitting = std::vector<ClassId>{};
            for (const auto c : all_) {
                if (fits(value(c), requirement)) { fitting.push_back(c); }
            }
            for (const auto c : fitting) { columns_[c.value].reserve(RequirementId{r}, c.value); }
            rows_[r] = listed(RequirementId{r}, std::move(fitting), rows_[r].staying);
        });
    }

private:
    static constexpr auto absent = 0xFFFF'FFFFU;

    /// Room for so many entries of a list, and up to 63 more. One new class may be in the lists of all requirements,
    /// and one new requirement in those of all classes. It depends on the list how many more, so that few of them move.
    [[nodiscard]] static constexpr auto room_for(std::size_t count, std::uint32_t list) noexcept -> std::size_t {
        return count + 63 - (count + list) % 64;
    }

    struct Column {
        /// Makes room for a requirement, and for some more.
        void reserve(RequirementId r, std::uint32_t node_class) {
            const auto count = requirements.size() + 1;
            if (count > requirements.capacity()) { detail::make_room(requirements, room_for(count, node_class)); }
            if (r.value >= places.size()) {
                detail::grow_to(places, room_for(std::size_t{r.value} + 1, node_class), absent);
            }
        }
        void add(RequirementId r) {
            places[r.value] = static_cast<std::uint32_t>(requirements.size());
            requirements.push_back(r);
        }
        void remove(RequirementId r) {
            if (!has(r)) { return; }
            const auto last = requirements.back();
            requirements[places[r.value]] = last;
            places[last.value] = places[r.value];
            places[r.value] = absent;
            requirements.pop_back();
        }
        void clear() {
            requirements.clear();
            places.clear();
        }
        void trim(std::uint32_t end) noexcept {
            detail::shrink_to(places, end);
            detail::shrink_to(requirements, requirements.size());
        }
        [[nodiscard]] auto has(RequirementId r) const -> bool {
            return r.value < places.size() && places[r.value] != absent;
        }

        // A new requirement touches these first members, in one cache line.
        detail::Roomy<RequirementId> requirements;  // all that it fits, open or not, in no order
        std::vector<std::uint32_t> places;          // by requirement: its index there, or absent
        std::uint64_t card_hash = 0;
        std::uint32_t active = 0;
        bool open = true;
        SlotSet slots;
        std::vector<NodeHandle> nodes;  // by slot; for taken slots only
    };
    struct Row {
        detail::Roomy<ClassId> classes;  // all that fit and are open; with room for all that fit, also in a copy
        std::uint32_t fitting = 0;
        std::uint32_t staying = 0;  // number of tasks
    };

    [[nodiscard]] auto card_hash_of(const NodeClass& node_class) const -> std::uint64_t {
        auto hasher = SipHash13{key_};
        hash_text(hasher, node_class.gpu);
        hasher.word(node_class.vram.count);
        return hasher.finish();
    }

    /// Adds a requirement to the columns of the classes that fit. Its row has the open ones, and room for all.
    /// @pre there is room in the columns.
    [[nodiscard]] auto listed(RequirementId id, std::vector<ClassId> fitting, std::uint32_t staying = 0) -> Row {
        auto row = Row{{}, static_cast<std::uint32_t>(fitting.size()), staying};
        auto open = fitting.begin();
        for (const auto c : fitting) {
            auto& column = columns_[c.value];
            column.add(id);
            if (column.open) { *open++ = c; }
        }
        fitting.erase(open, fitting.end());
        row.classes = detail::Roomy<ClassId>{std::move(fitting)};
        return row;
    }

    static void insert(std::vector<ClassId>& ascending, ClassId id) {
        ascending.insert(std::lower_bound(ascending.begin(), ascending.end(), id), id);
    }
    static void erase(std::vector<ClassId>& ascending, ClassId id) {
        const auto at = std::lower_bound(ascending.begin(), ascending.end(), id);
        if (at != ascending.end() && *at == id) { ascending.erase(at); }
    }

    SipKey key_;
    Interner<NodeClass, NodeClassHash> classes_;
    Interner<Requirement, RequirementHash> requirements_;
    std::vector<ClassId> all_;
    Pages<Row> rows_;        // by requirement
    Pages<Column> columns_;  // by class
    std::uint32_t gangs_ = 0;
};

}}  // namespace allot::v0
