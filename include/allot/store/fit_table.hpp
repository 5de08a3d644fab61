#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/node.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/task.hpp>
#include <allot/store/card_index.hpp>
#include <allot/store/fit_list.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/name_hash.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 {

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
/// The bits stand in words of 64 classes. Words of different requirements are contiguous, so a new class changes one
/// stretch of memory, and a new requirement one word for each 64 classes. Both may be thousands, and come and go with
/// outsiders. A command reads a row or a column as a list, which is made, or brought up to date, when it is first
/// needed after a change.
///
/// Invariant: `classes_of(r)` lists exactly the live open classes that fit r, and `requirements_of(c)` the reverse,
/// both ascending. The pool, the queue and an explanation therefore read the same bits.
class FitTable {
public:
    explicit FitTable(SipKey key)
        : key_{key}, classes_{NodeClassHash{key}}, requirements_{RequirementHash{key}}, cards_{key} {}

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
    /// @complexity O(1) after `list`; else O(classes).
    [[nodiscard]] auto classes_of(RequirementId id) const -> FitList<ClassId> {
        const auto& row = rows_[id.value];
        return row.listed_at == classes_changed_ ? FitList<ClassId>{row.classes} : FitList<ClassId>{made(id)};
    }
    /// True if an open class fits.
    /// @complexity O(classes / 64).
    [[nodiscard]] auto fits_any(RequirementId id) const -> bool {
        for (std::size_t block = 0; block < bits_.size(); ++block) {
            if ((bits_[block][id.value] & open_[block]) != 0) { return true; }
        }
        return false;
    }
    /// @complexity O(1) after `list`; else O(requirements).
    [[nodiscard]] auto requirements_of(ClassId id) const -> FitList<RequirementId> {
        const auto& column = columns_[id.value];
        if (!open(id)) { return FitList<RequirementId>{std::span<const RequirementId>{}}; }
        return column.listed_at == requirements_changed_ ? FitList<RequirementId>{column.requirements}
                                                         : FitList<RequirementId>{made(id)};
    }
    /// Makes the list of a row or a column, so that `classes_of` and `requirements_of` need not make it. Changes no
    /// result.
    /// @complexity O(1) if nothing changed since; else as that call.
    void list(RequirementId id) {
        auto& row = rows_[id.value];
        if (row.listed_at != classes_changed_) { list(row, row.classes, id, classes_changed_); }
    }
    void list(ClassId id) {
        auto& column = columns_[id.value];
        if (column.listed_at == requirements_changed_) { return; }
        if (column.listed_at == 0 || requirements_changed_ - column.listed_at > recent_.size()) {
            list(column, column.requirements, id, requirements_changed_);
        } else {
            catch_up(column, id);
        }
    }

    [[nodiscard]] auto open(ClassId id) const -> bool { return has(open_[id.value / 64], id); }
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
        return contains(node_class) &&
               has(open_[node_class.value / 64] & bits_[node_class.value / 64][requirement.value], node_class);
    }
    /// Calls `f(i, class)` for each of these classes and each requirement `requirements[i]` that it fits, by 64
    /// classes; after it returns false, not for the rest of those 64.
    /// @param classes Ascending.
    /// @complexity O(requirements) for each 64 classes, and for each call.
    template <class F>
    void each_fit(std::span<const ClassId> classes, std::span<const RequirementId> requirements, F&& f) const {
        for (std::size_t at = 0; at < classes.size();) {
            const auto block = classes[at].value / 64;
            auto asked = std::uint64_t{0};
            for (; at < classes.size() && classes[at].value / 64 == block; ++at) { asked |= bit(classes[at]); }
            asked &= open_[block];
            for (std::size_t i = 0; i < requirements.size(); ++i) {
                for (auto left = asked & bits_[block][requirements[i].value]; left != 0; left &= left - 1) {
                    const auto lowest = static_cast<std::uint32_t>(std::countr_zero(left));
                    if (!f(i, ClassId{block * 64 + lowest})) { break; }
                }
            }
        }
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
        columns_[id.value].nodes.ensure(slot);
    }
    void take(ClassId id, std::uint32_t slot, NodeHandle node) {
        auto& column = columns_[id.value];
        column.slots.take(slot);
        column.nodes.ensure(slot);
        column.nodes[slot] = node;
    }
    void free(ClassId id, std::uint32_t slot) { columns_[id.value].slots.free(slot); }
    /// As `ModelTable::note_sparse` and `trim`, for the slots of a class.
    auto note_sparse(ClassId id) -> bool {
        auto& column = columns_[id.value];
        return !column.noted && (column.noted = column.slots.sparse(id.value % 64));
    }
    auto trim(ClassId id) noexcept -> std::optional<std::uint32_t> {
        if (id.value >= columns_.capacity() || !std::exchange(columns_[id.value].noted, false)) { return std::nullopt; }
        auto& column = columns_[id.value];
        if (!column.slots.sparse(id.value % 64)) { return std::nullopt; }
        column.slots.trim();
        column.nodes.trim(column.slots.reach());
        return column.slots.reach();
    }

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
        const auto block = std::size_t{id.value / 64};
        detail::grow_to(open_, block + 1);
        if (block >= bits_.size()) { bits_.resize(block + 1); }
        if (const auto reach = requirements_.reach(); reach > 0) { bits_[block].ensure(reach - 1); }
        columns_.ensure(id.value);
        cards_.ensure(id);
        detail::make_room(all_, all_.size() + 1);
        cards_.set(id, value);
        fill(id, value, fits);  // bits of a class that is not there yet
        auto column = Column{};
        column.card_hash = card_hash_of(value);
        classes_.put(id.value, std::move(value));  // the last call that may throw
        columns_[id.value] = std::move(column);
        set_open(id, open);
        insert(all_, id);
    }

    /// Opens or closes a class.
    /// @complexity O(1).
    void set_open(ClassId id, bool open) {
        if (this->open(id) == open) { return; }
        open_[id.value / 64] ^= bit(id);
        ++classes_changed_;
    }

    /// Adds one to the number of active nodes; `remove_active` subtracts one.
    void add_active(ClassId id) { ++columns_[id.value].active; }
    void remove_active(ClassId id) { --columns_[id.value].active; }

    /// Adds a requirement at a free id.
    /// @complexity O(classes).
    template <class Fits>
    void add(RequirementId id, Requirement value, const Fits& fits) {
        row_.assign(bits_.size(), 0);
        auto cards = cards_.cards(value);
        for (const auto c : all_) {
            if (may_fit<Fits>(c, cards) && fits(classes_.value(c.value), value)) { row_[c.value / 64] |= bit(c); }
        }
        rows_.ensure(id.value);
        cards_.ensure(id);
        spare_.reserve(lists_spare_max);
        for (auto& words : bits_) { words.ensure(id.value); }
        const auto gang = value.gang_size > 1;
        requirements_.put(id.value, std::move(value));  // the last call that may throw
        gangs_ += gang ? 1U : 0U;
        for (std::size_t block = 0; block < row_.size(); ++block) { bits_[block][id.value] = row_[block]; }
        rows_[id.value] = {};
        if (!spare_.empty()) {
            rows_[id.value].classes.swap(spare_.back());
            spare_.pop_back();
        }
        cards_.set(id, std::move(cards));
        recent_[++requirements_changed_ % recent_.size()] = id;
    }

    /// Removes a value without users and returns true; otherwise returns false.
    /// @complexity O(classes).
    auto erase_if_unused(ClassId id) -> bool {
        if (!classes_.erase_if_unused(id.value)) { return false; }
        set_open(id, false);
        columns_[id.value] = Column{};
        erase(all_, id);
        return true;
    }
    auto erase_if_unused(RequirementId id) -> bool {
        const auto gang = value(id).gang_size > 1;
        if (!requirements_.erase_if_unused(id.value)) { return false; }
        gangs_ -= gang ? 1U : 0U;
        for (auto& words : bits_) { words[id.value] = 0; }
        auto& list = rows_[id.value].classes;
        if (list.capacity() > 0 && spare_.size() < spare_.capacity()) { spare_.push_back(std::move(list)); }
        rows_[id.value] = {};
        cards_.set(id, {});
        recent_[++requirements_changed_ % recent_.size()] = id;
        return true;
    }

    /// True if `trim` may find room to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return classes_.falls() || requirements_.falls(); }
    /// Gives back the room of values that are gone. Changes no result.
    /// @complexity O(1), and O(classes + requirements) where a page of values goes.
    void trim() noexcept {
        const auto stale = []<class List>(auto& line, List& list, std::uint64_t changed) {
            if (line.listed_at == changed) { return; }
            list = List{};  // `{}` alone would keep its memory
            line.listed_at = 0;
        };
        if (const auto end = classes_.trim()) {
            spare_.clear();
            columns_.trim(*end - 1);
            cards_.trim(ClassId{*end - 1});
            detail::shrink_to(open_, (*end + 63) / 64);
            detail::shrink_to(bits_, (*end + 63) / 64);
            requirements_.for_each(
                [&](std::uint32_t r, const Requirement&) { stale(rows_[r], rows_[r].classes, classes_changed_); });
        }
        if (const auto end = requirements_.trim()) {
            rows_.trim(*end - 1);
            cards_.trim(RequirementId{*end - 1});
            for (auto& words : bits_) { words.trim(*end - 1); }
            for (const auto c : all_) {
                stale(columns_[c.value], columns_[c.value].requirements, requirements_changed_);
            }
        }
    }

    /// Evaluates `fits(class, requirement)` again for every pair, and `open(active)` for every class.
    /// @complexity O(classes · requirements).
    template <class Fits, class Open>
    void refit(const Fits& fits, const Open& open) {
        for (const auto c : all_) {
            set_open(c, open(columns_[c.value].active));
            fill(c, value(c), fits);
        }
        ++classes_changed_;
        requirements_changed_ += recent_.size() + 1;  // no list can catch up
    }

private:
    struct Column {
        std::vector<RequirementId> requirements;  // all that it fits, open or not
        std::uint64_t listed_at = 0;              // the number of changes of requirements that the list knows
        std::uint64_t card_hash = 0;
        std::uint32_t active = 0;
        bool noted = false;  // as sparse
        SlotSet slots;
        SplitVector<NodeHandle, 4'096, 1'024> nodes;  // by slot; for taken slots only
    };
    struct Row {
        std::vector<ClassId> classes;  // all that fit and are open
        std::uint64_t listed_at = 0;   // the number of changes of classes that the list knows
        std::uint32_t staying = 0;     // number of tasks
    };
    static constexpr std::uint32_t words_per_page = 64;
    static constexpr std::size_t list_spare_max = 64;  // entries for which a list keeps room
    static constexpr std::size_t lists_spare_max = 64;
    using Words = Pages<std::uint64_t, words_per_page>;  // by requirement; a bit for each of 64 classes

    [[nodiscard]] static constexpr auto bit(ClassId id) noexcept -> std::uint64_t {
        return std::uint64_t{1} << (id.value % 64);
    }
    [[nodiscard]] static constexpr auto has(std::uint64_t word, ClassId id) noexcept -> bool {
        return (word & bit(id)) != 0;
    }

    /// Computes the bits of a class.
    template <class Fits>
    void fill(ClassId id, const NodeClass& value, const Fits& fits) {
        auto& words = bits_[id.value / 64];
        requirements_.for_each([&](std::uint32_t r, const Requirement& requirement) {
            const auto fit = may_fit<Fits>(id, RequirementId{r}) && fits(value, requirement);
            words[r] = (words[r] & ~bit(id)) | (fit ? bit(id) : 0);
        });
    }
    /// False if hashes of cards tell that a class does not fit.
    template <class Fits>
    [[nodiscard]] auto may_fit(ClassId id, const auto& requirement) const -> bool {
        if constexpr (requires { requires Fits::listed_cards_only; }) { return cards_.may_fit(id, requirement); }
        return true;
    }

    /// The list of a row or a column, from the bits.
    [[nodiscard]] auto made(RequirementId id, std::vector<ClassId> list = {}) const -> std::vector<ClassId> {
        const auto word = [&](std::uint32_t block) { return bits_[block][id.value] & open_[block]; };
        auto count = std::size_t{0};
        for (std::uint32_t block = 0; block < bits_.size(); ++block) {
            count += static_cast<unsigned>(std::popcount(word(block)));
        }
        list.clear();
        list.reserve(count);
        for (std::uint32_t block = 0; block < bits_.size(); ++block) {
            for (auto rest = word(block); rest != 0; rest &= rest - 1) {
                list.push_back(ClassId{block * 64 + static_cast<std::uint32_t>(std::countr_zero(rest))});
            }
        }
        return list;
    }
    [[nodiscard]] auto made(ClassId id, std::vector<RequirementId> list = {}) const -> std::vector<RequirementId> {
        auto count = std::uint64_t{0};
        each_word(id, [&](std::uint32_t, std::uint64_t word) { count += word >> (id.value % 64) & 1; });
        list.resize(count);
        auto* out = list.data();
        each_word(id, [&](std::uint32_t r, std::uint64_t word) {
            if (has(word, id)) { *out++ = RequirementId{r}; }
        });
        return list;
    }
    /// Calls `f(requirement, word)` for the words with the bits of a class.
    template <class F>
    void each_word(ClassId id, F&& f) const {
        const auto reach = requirements_.reach();
        for (std::uint32_t first = 0; first < reach; first += words_per_page) {
            const auto page = bits_[id.value / 64].page_of(first);
            const auto count = std::min(reach - first, words_per_page);
            for (std::uint32_t i = 0; i < count; ++i) { f(first + i, page[i]); }
        }
    }

    /// Makes a list in its place, and reuses its memory.
    template <class Line, class Handle, class Id>
    void list(Line& line, std::vector<Handle>& items, Id id, std::uint64_t changed) {
        items = made(id, std::move(items));
        give_back(items);
        line.listed_at = changed;
    }

    /// Brings the list of a column up to date with the requirements that came or went since.
    void catch_up(Column& column, ClassId id) {
        auto& items = column.requirements;
        for (auto change = column.listed_at + 1; change <= requirements_changed_; ++change) {
            const auto requirement = recent_[change % recent_.size()];
            auto at = std::lower_bound(items.begin(), items.end(), requirement);
            const auto was = at != items.end() && *at == requirement;
            const auto is = has(bits_[id.value / 64][requirement.value], id);
            if (was && !is) { items.erase(at); }
            if (!was && is) {
                const auto place = at - items.begin();
                detail::make_room(items, items.size() + 1);
                items.insert(items.begin() + place, requirement);
            }
        }
        give_back(items);
        column.listed_at = requirements_changed_;
    }

    /// Gives back the room of a list that became much shorter. A short list keeps its room: where requirements come and
    /// go with their tasks, no list then asks for memory.
    template <class Handle>
    static void give_back(std::vector<Handle>& items) noexcept {
        if (items.capacity() > items.size() + list_spare_max) { detail::shrink_to(items, items.size()); }
    }

    [[nodiscard]] auto card_hash_of(const NodeClass& node_class) const -> std::uint64_t {
        auto hasher = SipHash13{key_};
        hash_text(hasher, node_class.gpu);
        hasher.word(node_class.vram.count);
        return hasher.finish();
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
    CardIndex cards_;
    std::vector<ClassId> all_;
    std::vector<std::uint64_t> row_;           // of the requirement that is added
    std::vector<std::vector<ClassId>> spare_;  // lists of requirements that are gone, for new ones
    Pages<Row> rows_;                          // by requirement
    Pages<Column> columns_;                    // by class
    std::vector<Words> bits_;                  // by class / 64; those of classes that are gone mean nothing
    std::vector<std::uint64_t> open_;          // the same; a bit for each class that is there and open
    std::uint64_t classes_changed_ = 1;        // number of changes of classes
    std::uint64_t requirements_changed_ = 1;   // number of changes of requirements
    std::array<RequirementId, 16> recent_{};   // by number: the last requirements that came or went
    std::uint32_t gangs_ = 0;
};

}}  // namespace allot::v0
