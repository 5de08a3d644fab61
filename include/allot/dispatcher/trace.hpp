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

/// What was chosen. The numbers are stable.
enum class DecisionKind : std::uint8_t {
    draw = 1,      ///< The node for a task, by lot.
    pull = 2,      ///< The task for a node that became free: the best it can run.
    eviction = 3,  ///< The task that leaves a full queue: the worst.
    copy = 4,      ///< The node that fetches a model, by lot.
};
ALLOT_ENUMERATORS(DecisionKind, draw, pull, eviction, copy)

/// One choice, as a trace sees it before anything follows from it.
struct Decision {
    DecisionKind kind = DecisionKind::draw;
    const Task& task;                    ///< Drawn for, pulled, evicted, or the one that wants the model.
    Draw drawn{};                        ///< The node; and where lots were drawn, how.
    const Entropy* entropy = nullptr;    ///< Null where chance has no part.
    ModelId model = no_handle<ModelId>;  ///< The model to be fetched.
    std::span<const Draw> chosen{};      ///< Of a gang: the members before this one.
    bool beside = false;                 ///< The first of them pulled the task; this one is to stand beside it.
};

/// Somebody who sees each choice at the moment it falls, with the state it was made from. Not owned.
template <class View>
struct Trace {
    void* self = nullptr;
    void (*sees)(void* self, const View& view, const Decision& decision) = nullptr;
};

}}  // namespace allot::v0
