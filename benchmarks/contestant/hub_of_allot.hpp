#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/allot.hpp>

namespace bench {

/// The whole library with one of its queues, all else as by default, but that ended tasks are forgotten with the next
/// command: then the state neither grows nor keeps ids that the other contestants do not keep.
template <class Queue>
class HubOfAllot {
public:
    using Hub = allot::Dispatcher<allot::Rules, Queue>;
    using Command = typename Hub::Command;

    /// With room for as many waiting tasks as it will have nodes.
    explicit HubOfAllot(std::size_t nodes)
        : hub_{allot::Rules{{.forget_tasks_after = allot::Duration{0}}},
               Queue{{.capacity_min = static_cast<std::uint32_t>(nodes < 50 ? 50 : nodes)}}} {}

    void apply(const Command& command, const allot::Moment& moment, allot::Events& events) {
        hub_.apply(command, moment, events);
    }
    void apply(std::span<const Command> commands, const allot::Moment& moment, allot::Events& events) {
        hub_.apply(commands, moment, events);
    }
    [[nodiscard]] auto hub() -> Hub& { return hub_; }

private:
    Hub hub_;
};

}  // namespace bench
