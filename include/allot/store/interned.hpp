#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/task.hpp>
#include <allot/store/fit_table.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/model_table.hpp>

namespace allot { inline namespace v0 {

/// Asks `followers.fits(class, requirement)`, and knows whether a requirement admits only the cards that it lists:
/// `F::listed_cards_only`, which need not be there.
template <class F>
struct FitsOf {
    static constexpr bool listed_cards_only = requires { requires F::listed_cards_only; };
    const F& followers;

    [[nodiscard]] auto operator()(const NodeClass& node_class, const Requirement& requirement) const -> bool {
        return followers.fits(node_class, requirement);
    }
};

/// Keyed hash of an id.
struct IdHash {
    SipKey key{};
    /// The hash of an id under the key.
    template <class Tag>
    [[nodiscard]] auto operator()(const Id<Tag>& id) const -> std::uint64_t {
        return SipHash13{key}.words(id.words()).finish();
    }
};

/// The interned values, each table by the type of its ids: classes and requirements, models, and the nodes that ended
/// tasks name.
///
/// `followers` answer `fits(class, requirement)` and `open(active)`, as for `Records`.
///
/// @complexity O(1) hash operations per call; `put` of a class or requirement also asks `fits` for each pair with it.
struct Interned {
    /// No values. All hashes use `key`.
    explicit Interned(SipKey key) : fits{key}, models{key}, node_names{IdHash{key}} {}

    FitTable fits;
    ModelTable models;
    Interner<NodeId, IdHash> node_names;

    /// Writes a value under a free id.
    template <class F>
    void put(ClassId id, NodeClass value, F& followers) {
        fits.add(id, std::move(value), FitsOf<F>{followers}, followers.open(0));
    }
    template <class F>
    void put(RequirementId id, Requirement value, F& followers) {
        fits.add(id, std::move(value), FitsOf<F>{followers});
    }
    template <class F>
    void put(ModelId id, std::string name, F&) {
        models.add(id, std::move(name));
    }
    template <class F>
    void put(NodeNameId id, NodeId name, F&) {
        node_names.put(id.value, name);
    }

    /// The id of a value, if it is there.
    [[nodiscard]] auto find(const NodeClass& value) const { return as<ClassId>(fits.classes().find(value)); }
    [[nodiscard]] auto find(const Requirement& value) const {
        return as<RequirementId>(fits.requirements().find(value));
    }
    [[nodiscard]] auto find(const std::string& value) const { return models.find(value); }
    [[nodiscard]] auto find(const NodeId& value) const { return as<NodeNameId>(node_names.find(value)); }

    /// The id that a new value gets.
    [[nodiscard]] auto next_for(const NodeClass&) const -> ClassId { return fits.next_class(); }
    [[nodiscard]] auto next_for(const Requirement&) const -> RequirementId { return fits.next_requirement(); }
    [[nodiscard]] auto next_for(const std::string&) const -> ModelId { return models.next(); }
    [[nodiscard]] auto next_for(const NodeId&) const -> NodeNameId { return NodeNameId{node_names.next_id()}; }

    /// The value of an id.
    /// @pre the id is in use.
    template <class Id>
    [[nodiscard]] auto value(Id id) const -> const auto& {
        return fits.value(id);
    }
    [[nodiscard]] auto value(ModelId id) const -> const std::string& { return models.name(id); }
    [[nodiscard]] auto value(NodeNameId id) const -> const NodeId& { return node_names.value(id.value); }

    /// True if no record refers to a value. For a model that is erased already it is false, because a task may name a
    /// model twice.
    template <class Id>
    [[nodiscard]] auto unused(Id id) const -> bool {
        return fits.count(id) == 0;
    }
    [[nodiscard]] auto unused(ModelId id) const -> bool {
        return models.names().contains(id.value) && models.names().count(id.value) == 0;
    }
    [[nodiscard]] auto unused(NodeNameId id) const -> bool { return node_names.count(id.value) == 0; }

    /// True if the id is in use.
    [[nodiscard]] auto contains(ClassId id) const -> bool { return fits.contains(id); }
    [[nodiscard]] auto contains(RequirementId id) const -> bool { return fits.contains(id); }
    [[nodiscard]] auto contains(ModelId id) const -> bool { return models.names().contains(id.value); }
    [[nodiscard]] auto contains(NodeNameId id) const -> bool { return node_names.contains(id.value); }

    /// Adds or removes one user of the values that a task names.
    /// @complexity O(models of the task).
    void acquire(const Task& task) {
        fits.acquire(task.requirement);
        for (const auto model : task.models()) { models.acquire(model); }
    }
    void release(const Task& task) {
        fits.release(task.requirement);
        for (const auto model : task.models()) { models.release(model); }
    }
    /// Moves an active node from one class to another, either of which may be none. A class may open or close by that.
    template <class F>
    void move_active(ClassId was, ClassId is, F& followers) {
        if (was != no_handle<ClassId>) {
            fits.remove_active(was);
            fits.set_open(was, followers.open(fits.active(was)));
        }
        if (is != no_handle<ClassId>) {
            fits.add_active(is);
            fits.set_open(is, followers.open(fits.active(is)));
        }
    }

    /// Notes a class, or the holders of a model in a class, if they have far more room than they need, for `trim`.
    /// True if there are notes.
    auto note_sparse(ClassId node_class) -> bool {
        if (fits.note_sparse(node_class)) { sparse_.push_back({no_handle<ModelId>, node_class}); }
        return !sparse_.empty();
    }
    auto note_sparse(ModelId model, ClassId node_class) -> bool {
        if (models.note_sparse(model, node_class)) { sparse_.push_back({model, node_class}); }
        return !sparse_.empty();
    }

    /// Gives back the room of values that are gone, and calls `followers.fell(model, class, reach)` and
    /// `followers.fell(class, reach)` for each note. Changes no result. It may leave some for the next call.
    template <class F>
    void trim(F& followers) noexcept {
        fits.trim();
        models.trim();
        (void)node_names.trim();
        for (auto work = std::uint32_t{0}; !sparse_.empty() && work < work_max; work += work_note) {
            const auto [model, node_class] = sparse_.back();
            sparse_.pop_back();
            const auto of_class = model == no_handle<ModelId>;
            const auto reach = of_class ? fits.trim(node_class) : models.trim(model, node_class);
            if (!reach) { continue; }
            of_class ? followers.fell(node_class, *reach) : followers.fell(model, node_class, *reach);
            work += *reach;
        }
    }
    /// True if `trim` may find room to give back.
    [[nodiscard]] auto falls() const noexcept -> bool {
        return !sparse_.empty() || fits.falls() || models.falls() || node_names.falls();
    }

    /// Erases a value if no record refers to it.
    template <class Id>
    void erase_if_unused(Id id) {
        fits.erase_if_unused(id);
    }
    void erase_if_unused(ModelId id) { models.erase_if_unused(id); }
    void erase_if_unused(NodeNameId id) { node_names.erase_if_unused(id.value); }

    /// True if all values and their users are equal. The indices follow from these.
    [[nodiscard]] friend auto operator==(const Interned& a, const Interned& b) -> bool {
        return a.fits.classes() == b.fits.classes() && a.fits.requirements() == b.fits.requirements() &&
               a.models.names() == b.models.names() && a.node_names == b.node_names;
    }

private:
    /// The holders of a model in a class; without a model, the nodes of the class.
    struct Crowd {
        ModelId model{};
        ClassId node_class{};
    };
    // A call copies so many slots and places, each note taken for some, and ends with the note that exceeds it.
    static constexpr std::uint32_t work_max = 16'384;
    static constexpr std::uint32_t work_note = 64;

    std::vector<Crowd> sparse_;

    template <class Id>
    [[nodiscard]] static auto as(std::optional<std::uint32_t> id) -> std::optional<Id> {
        return id ? std::optional{Id{*id}} : std::nullopt;
    }
};

}}  // namespace allot::v0
