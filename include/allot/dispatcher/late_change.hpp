#pragma once

#include <allot/policy/candidate_pool.hpp>

namespace allot { inline namespace v0 {

/// The last change of a node's place in the pool, which waits until the pool is read or another node changes.
///
/// A node that ends a task mostly starts another with the same command. Then its place is the former one again, and the
/// pool need not hear of it: 2.7 cold lines a pair of commands that nothing reads.
class LateChange {
public:
    /// Changes the place of a node without models; `pool` is told later. The change of another node that waits is made.
    /// @complexity O(1), or that of the pool.
    template <class Pool>
    void change(Pool& pool, const NodePlace& before, const NodePlace& after) {
        if (!waits_ || after_.node != after.node) {
            settle(pool);
            before_ = before;
        }
        after_ = after;
        waits_ = !is_out(before_) || !is_out(after_);
    }

    /// Makes the change that waits, if there is one.
    /// @complexity that of the pool.
    template <class Pool>
    void settle(Pool& pool) {
        if (!waits_) { return; }  // nothing is written then: const calls may run at the same time
        waits_ = false;           // first: if the pool throws, the change back undoes the part that was made
        pool.changed(before_, after_);
    }

private:
    [[nodiscard]] static auto is_out(const NodePlace& place) noexcept -> bool {
        return place.bound == 0 && place.bound_local == 0;
    }

    bool waits_ = false;
    NodePlace before_{};
    NodePlace after_{};
};

}}  // namespace allot::v0
