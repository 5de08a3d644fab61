#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <allot/core/fields.hpp>
#include <allot/core/handle.hpp>
#include <allot/core/random.hpp>
#include <allot/core/task.hpp>
#include <allot/policy/candidate_pool.hpp>

namespace allot { inline namespace v0 {

/// The kind of a choice. The numbers are stable.
enum class DecisionKind : std::uint8_t {
    draw = 1,      ///< The node for a task, by random draw.
    pull = 2,      ///< The task for a node that became free: the best that it can run.
    eviction = 3,  ///< The task that leaves a full queue: the worst.
    copy = 4,      ///< The node that fetches a model, by random draw.
};
ALLOT_ENUMERATORS(DecisionKind, draw, pull, eviction, copy)

/// One choice, as a trace gets it before any event or record follows from it.
struct Decision {
    DecisionKind kind = DecisionKind::draw;
    const Task& task;                    ///< The task drawn for, pulled or evicted, or the one that wants the model.
    Draw drawn{};                        ///< The node, and the details of the draw if there was one.
    const Entropy* entropy = nullptr;    ///< Null if the choice is not random.
    ModelId model = no_handle<ModelId>;  ///< The model to be fetched.
    std::span<const Draw> chosen{};      ///< For a gang: the members before this one.
    bool beside = false;                 ///< True if the first of them pulled the task and this node joins it.
};

/// A walk through waiting tasks that has a bound.
enum class Walk : std::uint8_t {
    pull,   ///< That of a free node, `pull_tries_max` (rule 16).
    match,  ///< That by value, `match_tries_max` (rule 28).
};
ALLOT_ENUMERATORS(Walk, pull, match)

/// A callback that gets each choice when it is made, with the state on which it is based, and one that is told of each
/// walk that met its bound. Not owned.
template <class View>
struct Trace {
    void* self = nullptr;
    void (*sees)(void* self, const View& view, const Decision& decision) = nullptr;
    void (*cut)(void* self, Walk walk) = nullptr;
};

}}  // namespace allot::v0
