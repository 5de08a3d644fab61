#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <allot/core/rare.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// The rests of tasks that are gone, for new tasks: where as many tasks come as go, none asks for memory.
class SpareRests {
public:
    /// A blank rest, or none where none is spare.
    /// @complexity O(1).
    [[nodiscard]] auto take() -> Rare<TaskRest> {
        kept_.reserve(kept_max);  // so that `keep` finds room
        if (kept_.empty()) { return {}; }
        auto taken = std::move(kept_.back());
        kept_.pop_back();
        return taken;
    }

    /// Keeps the rest of a task that is gone, unless enough are spare.
    /// @complexity linear in its lists.
    void keep(Rare<TaskRest> rest) noexcept {
        if (rest.find() == nullptr || kept_.size() == kept_.capacity()) { return; }
        rest.made() = TaskRest{};
        kept_.push_back(std::move(rest));
    }

private:
    static constexpr std::size_t kept_max = 64;

    std::vector<Rare<TaskRest>> kept_;
};

}}  // namespace allot::v0
