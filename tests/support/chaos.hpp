#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/network.hpp"

namespace support {

/// Random commands, most of them sensible and some not. There are few ids, so that the commands interact.
///
/// It learns leases from the events. It uses current leases, and now and then an ended one.
template <class Dispatcher>
class Chaos {
public:
    using Command = typename Dispatcher::Command;

    /// @param pins Whether some tasks are pinned to a node, so that no draw and no queue handles them.
    explicit Chaos(std::uint64_t seed, bool pins = false) : random_{seed}, pins_{pins} {}

    /// Returns a number below `n`.
    auto below(std::uint64_t n) -> std::uint64_t { return random_() % n; }

    /// Returns the next moment: rarely after a long leap, sometimes without entropy.
    auto moment(const Dispatcher& dispatcher) -> Moment {
        const auto leap = below(20);
        const auto wait = leap == 0 ? below(3'600'000) : leap < 6 ? below(100'000) : below(50);
        const auto time = dispatcher.now() + Duration{static_cast<std::int64_t>(wait)};
        return {time, below(8) == 0 ? std::nullopt : std::optional{allot::Entropy{random_()}}};
    }

    /// Returns the next command.
    auto command(const Dispatcher& dispatcher) -> Command {
        switch (below(24)) {
            case 0:
            case 1:
            case 2: return command::Join{a_node()};
            case 3: return command::Update{an_update()};
            case 4: return command::Pause{node_id()};
            case 5: return command::Resume{node_id()};
            case 6: return command::Leave{node_id()};
            case 7: return command::ReportModel{node_id(), static_cast<command::Report>(below(5)), models(3)};
            case 8:
                return command::Observe{node_id(), below(3) > 0 ? allot::OutcomeKind::timeout
                                                                : static_cast<allot::OutcomeKind>(below(10))};
            case 9: return below(4) == 0 ? Command{command::Slash{node_id()}} : Command{command::Match{}};
            case 10:
            case 11:
            case 12:
            case 13:
            case 14:
            case 15: return command::Submit{a_task()};
            case 16: return command::Cancel{task_id()};
            case 17:
                return below(2) == 0 ? Command{command::Commit{lease(dispatcher)}}
                                     : Command{command::Disclose{lease(dispatcher)}};
            case 18:
            case 19: return command::Complete{lease(dispatcher)};
            case 20: return command::Fail{lease(dispatcher), static_cast<allot::FailCause>(below(4))};
            case 21: return command::Decline{lease(dispatcher)};
            case 22:
                return below(2) == 0 ? Command{command::Renew{lease(dispatcher)}}
                                     : Command{command::Score{node_id(), static_cast<std::uint32_t>(below(12))}};
            default: break;
        }
        switch (below(8)) {
            case 0: return command::Postpone{Duration{static_cast<std::int64_t>(below(100'000))}};  // zero is refused
            case 1:
            case 2:
            case 3: return command::Advance{};
            default: return command::Match{};
        }
    }

    auto a_node() -> NodeSpec {
        auto node = plain_node(node_id());
        node.gpu = below(2) == 0 ? "RTX 4090" : "H100";
        node.vram = allot::Gibibytes{static_cast<std::uint32_t>(below(4) * 8)};  // zero is refused
        node.stake = below(5) == 0 ? 0 : below(10) == 0 ? std::uint64_t{1} << below(60) : 1 + below(1'000);
        node.platform = below(3) == 0 ? "Linux" : "";
        node.software = {1, static_cast<std::uint32_t>(below(2)), 0};
        node.models = models(3);
        if (below(3) == 0) { node.operator_id = allot::OperatorId{below(2)}; }
        return node;
    }

    auto an_update() -> allot::NodeUpdate {
        auto change = allot::NodeUpdate{.id = node_id()};
        switch (below(6)) {
            case 0: change.stake = below(3) == 0 ? 0 : 1 + below(100'000); break;
            case 1: change.gpu = below(2) == 0 ? "H100" : "A100"; break;
            case 2: change.vram = allot::Gibibytes{static_cast<std::uint32_t>(below(4) * 8)}; break;
            case 3: change.platform = "Linux"; break;
            case 4: change.operator_id = allot::OperatorId{below(3)}; break;
            default: break;  // empty, refused
        }
        return change;
    }

    auto a_task() -> TaskSpec {
        auto task = plain_task(task_id());
        task.vram_min = allot::Gibibytes{static_cast<std::uint32_t>(8 + below(3) * 8)};
        task.fee = below(20);
        task.duration_estimate = Duration{static_cast<std::int64_t>(below(4) * 30'000)};  // zero is refused
        task.models = models(3);
        switch (below(7)) {
            case 6: task.platforms_refused = {"Linux"}; break;
            case 0: task.gpus = {{"H100", 16_GiB}}; break;
            case 1: task.gpus = {{"H100", {}}}; break;
            case 2: task.platforms = {"Linux"}; break;
            case 3: task.software = allot::SoftwareVersion{1, 1, 0}; break;
            case 4: task.group = allot::GroupId{below(3)}; break;
            default: break;
        }
        if (below(4) == 0) {
            task.gang_size = 2U + static_cast<std::uint32_t>(below(2));
            task.same_card = below(2) == 0;
        }
        if (pins_ && below(6) == 0) {
            task.node = node_id();
            task.owner.reset();
            task.group.reset();
            task.gang_size = 1;
            task.same_card = false;
        }
        return task;
    }

private:
    auto node_id() -> allot::NodeId { return allot::NodeId{below(8)}; }
    auto task_id() -> allot::TaskId { return allot::TaskId{below(40)}; }

    auto models(std::uint64_t count) -> std::vector<std::string> {
        auto names = std::vector<std::string>{};
        for (auto i = below(count + 1); i > 0; --i) {
            names.push_back(std::string(1, static_cast<char>('a' + below(5))));
        }
        return names;
    }

    /// Returns a lease that is current, or nearly: one in eight has another token.
    auto lease(const Dispatcher& dispatcher) -> Lease {
        auto leases = std::vector<Lease>{};
        const auto& state = dispatcher.state();
        state.leases().for_each([&](allot::LeaseHandle, const allot::LeaseRecord& record) {
            const auto& task = state.tasks()[record.task];
            leases.push_back({task.id, state.nodes()[record.node].node.id, record.token, 0, 1, record.deadline});
        });
        if (leases.empty()) { return {task_id(), node_id(), 1}; }
        auto lease = leases[below(leases.size())];
        lease.token -= below(8) == 0 ? 1U : 0U;
        return lease;
    }

    std::mt19937_64 random_;
    bool pins_;
};

}  // namespace support
