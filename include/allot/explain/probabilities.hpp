#pragma once

#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/id.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/explain/survey.hpp>

namespace allot { inline namespace v0 {

/// One node's share in a draw.
struct Share {
    NodeId node = NodeId::null();
    u128 weight{};  ///< In units of 2^-92, as in a `Receipt`.

    friend auto operator==(const Share&, const Share&) noexcept -> bool = default;
};
ALLOT_FIELDS(Share, node, weight)

/// The nodes that the next draw for a task can choose, each with probability `weight / total`, exactly. If
/// `Rules::draw_among` is above 1, these are the shares of the first of that many random draws. Then no node's
/// probability exceeds 1 in that many.
struct Distribution {
    TaskId task = TaskId::null();
    TimePoint now{};             ///< Scores recover, so a later draw has other weights.
    std::vector<Share> nodes{};  ///< All nodes with a positive weight, in the order of the records.
    u128 total{};                ///< Sum of the weights; zero if no node can be drawn.

    friend auto operator==(const Distribution&, const Distribution&) -> bool = default;
};
ALLOT_FIELDS(Distribution, task, now, nodes, total)

/// The exact distribution of a task's next draw, if it were now.
/// @complexity linear in the nodes.
template <class Dispatcher>
[[nodiscard]] auto probabilities(const Dispatcher& dispatcher, const Question& question) -> Distribution {
    auto result = Distribution{question.task.id, dispatcher.now(), {}, {}};
    detail::each_drawable(dispatcher, question, {}, [&](NodeHandle h, Weight weight) {
        result.nodes.push_back({dispatcher.state().nodes()[h].node.id, weight.raw()});
        result.total += weight.raw();
    });
    return result;
}

/// The same for a task of the network. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto probabilities(const Dispatcher& dispatcher, TaskId task) -> Result<Distribution> {
    return question(dispatcher, task).map([&](const Question& asked) { return probabilities(dispatcher, asked); });
}

/// The same for a task that is not submitted. The errors are those of `question`.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto probabilities(const Dispatcher& dispatcher, const TaskSpec& task) -> Result<Distribution> {
    return question(dispatcher, task).map([&](const Question& asked) { return probabilities(dispatcher, asked); });
}

}}  // namespace allot::v0
