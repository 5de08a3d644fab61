#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/node.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/name_hash.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 {

/// The places of a model's holders by class.
///
/// The sets of places stand in no order, and a short list of keys in that of the classes: a node may bring a new class
/// to thousands of models at once, and a key is 8 bytes to move, a set 24.
class HolderPlaces {
public:
    /// The places in a class, or null.
    /// @complexity O(log classes).
    [[nodiscard]] auto find(ClassId node_class) const -> const SlotSet* {
        const auto key = at(node_class);
        return key < keys_.size() && keys_[key].node_class == node_class ? &sets_[keys_[key].set] : nullptr;
    }

    /// The places in a class; none is taken when it is new. If an allocation throws, nothing changes.
    /// @param spread Differs by model, below 64: the lists of many models do not all grow in one command.
    /// @complexity O(log classes); where the class is new O(classes), in moves of 8 bytes.
    auto made(ClassId node_class, std::uint32_t spread) -> SlotSet& {
        const auto key = at(node_class);
        if (key == keys_.size() || keys_[key].node_class != node_class) {
            const auto count = keys_.size();
            if (count == keys_.capacity()) { keys_.reserve(count + 1 + count / 16 + count * spread / 1'024); }
            sets_.ensure(size());
            keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(key), Key{node_class, size() & set_limit, 0});
        }
        return sets_[keys_[key].set];
    }

    /// Forgets a class. Keeps its room until `trim`, so that an undo finds it.
    /// @pre it is there.
    /// @complexity O(classes), in moves of 8 bytes.
    void erase(ClassId node_class) noexcept {
        const auto key = at(node_class);
        const auto hole = keys_[key].set;
        const auto last = size() - 1;
        if (hole != last) {
            sets_[hole] = std::move(sets_[last]);
            for (auto& other : keys_) {
                if (other.set == last) { other.set = hole & set_limit; }
            }
        }
        sets_[last] = SlotSet{};
        keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(key));
    }

    /// As `ModelTable::note_sparse` and `trim`, for one model.
    /// @complexity O(log classes); `trim` O(room) where it gives back some.
    auto note_sparse(ClassId node_class, ModelId model) -> bool {
        auto* const key = of(node_class);
        if (key == nullptr || key->noted != 0 || !sets_[key->set].sparse(model.value % 64)) { return false; }
        key->noted = 1;
        return true;
    }
    auto trim(ClassId node_class, ModelId model) noexcept -> std::optional<std::uint32_t> {
        auto* const key = of(node_class);
        if (key == nullptr) { return std::nullopt; }
        key->noted = 0;
        auto& places = sets_[key->set];
        if (!places.sparse(model.value % 64)) { return std::nullopt; }
        places.trim();
        return places.reach();
    }

    /// Gives back the room of classes that are gone. Changes no result.
    void trim() noexcept {
        detail::shrink_to(keys_, keys_.size());
        sets_.trim(size());
    }

private:
    static constexpr std::uint32_t set_limit = 0x7FFF'FFFF;
    struct Key {
        ClassId node_class{};
        std::uint32_t set : 31;
        std::uint32_t noted : 1;  // as sparse
    };
    [[nodiscard]] auto of(ClassId node_class) -> Key* {
        const auto key = at(node_class);
        return key < keys_.size() && keys_[key].node_class == node_class ? &keys_[key] : nullptr;
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(keys_.size()); }
    [[nodiscard]] auto at(ClassId node_class) const -> std::size_t {
        const auto before = [](const Key& key, ClassId other) { return key.node_class < other; };
        return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), node_class, before) -
                                        keys_.begin());
    }

    detail::Roomy<Key> keys_;  // ascending by class
    SplitVector<SlotSet, 64, 64> sets_;
};

/// Interned model names, and for each (model, class) the places of its holders.
///
/// Tasks and requests keep a name alive without taking room from others: `held` counts the names that nodes have on
/// their disks.
class ModelTable {
public:
    explicit ModelTable(SipKey key) : names_{NameHash{key}} {}

    [[nodiscard]] auto names() const noexcept -> const auto& { return names_; }
    [[nodiscard]] auto name(ModelId id) const -> const std::string& { return names_.value(id.value); }
    [[nodiscard]] auto find(std::string_view name) const -> std::optional<ModelId> {
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

    /// True if `trim` may find room to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return names_.falls(); }

    /// Gives back the room of names that are gone; and of the classes that are gone from some models, and from others
    /// with the next call. Changes no result.
    /// @complexity O(1), amortised; for 64 models O(classes).
    void trim() noexcept {
        if (const auto end = names_.trim()) {
            places_.trim(*end - 1);
            holders_.trim(*end - 1);
        }
        const auto reach = static_cast<std::uint32_t>(places_.capacity());
        const auto count = std::min({to_trim_, reach, trimmed_at_once});
        for (std::uint32_t i = 0; i < count; ++i) {
            trimmed_ = trimmed_ + 1 < reach ? trimmed_ + 1 : 0;
            places_[trimmed_].trim();
        }
        to_trim_ -= std::min(to_trim_, trimmed_at_once);
    }

    /// The lowest place free among the holders of a model in a class.
    [[nodiscard]] auto free_place(ModelId id, ClassId node_class) const -> std::uint32_t {
        const auto* const places = places_[id.value].find(node_class);
        return places == nullptr ? 0U : places->lowest_free();
    }
    /// True if a holder has this place.
    [[nodiscard]] auto taken(ModelId id, ClassId node_class, std::uint32_t place) const -> bool {
        const auto* const places = places_[id.value].find(node_class);
        return places != nullptr && places->taken(place);
    }
    /// True if the places of a model's holders in a class have far more room than they need, once until `trim`. That
    /// gives it back and returns one past the highest place; nothing if there is no room to give back.
    auto note_sparse(ModelId id, ClassId node_class) -> bool { return places_[id.value].note_sparse(node_class, id); }
    auto trim(ModelId id, ClassId node_class) noexcept -> std::optional<std::uint32_t> {
        return id.value < places_.capacity() ? places_[id.value].trim(node_class, id) : std::nullopt;
    }
    /// True if a node of a class has the model on its disk.
    [[nodiscard]] auto held_in(ModelId id, ClassId node_class) const -> bool {
        return places_[id.value].find(node_class) != nullptr;
    }
    /// Makes room, so that `take` of this place does not allocate.
    void reserve(ModelId id, ClassId node_class, std::uint32_t place) { made(id, node_class).reserve(place); }
    void take(ModelId id, ClassId node_class, std::uint32_t place) { made(id, node_class).take(place); }
    void free(ModelId id, ClassId node_class, std::uint32_t place) {
        auto& places = made(id, node_class);
        places.free(place);
        if (places.empty()) {
            places_[id.value].erase(node_class);
            to_trim_ = static_cast<std::uint32_t>(places_.capacity());
        }
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
    static constexpr std::uint32_t trimmed_at_once = 64;

    auto made(ModelId id, ClassId node_class) -> SlotSet& { return places_[id.value].made(node_class, id.value % 64); }

    Interner<std::string, NameHash> names_;
    Pages<HolderPlaces> places_;    // by model
    Pages<std::uint32_t> holders_;  // by model: nodes that have it on disk
    std::uint32_t held_ = 0;
    std::uint32_t trimmed_ = 0;  // the model that `trim` looked at last
    std::uint32_t to_trim_ = 0;  // number of models to look at, since one lost a class
};

}}  // namespace allot::v0
