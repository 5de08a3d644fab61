#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "adversary/adversary.hpp"
#include "network.hpp"
#include "scenario.hpp"

namespace simulate {

/// Orders of an attacker to the world.
namespace act {

struct Join {
    allot::NodeSpec node;
    std::uint32_t card = 0;
    std::uint32_t verdicts = 0;
};
struct Give {
    Verb verb;
};
struct Do {
    allot::Lease lease;
    Deed deed;
};
struct Submit {
    std::uint32_t task = 0;
    Order order;
};
struct Wake {
    std::int64_t after_ms = 0;
    std::uint64_t number = 0;
};

}  // namespace act

using Act = std::variant<act::Join, act::Give, act::Do, act::Submit, act::Wake>;

/// What the world tells of the next commands to those who know their entropy: the leases that would start.
struct Foresight {
    std::function<std::vector<allot::Lease>(const std::vector<std::uint32_t>&)> of_tasks{};
    std::function<std::vector<allot::Lease>(const Order&, const allot::TaskId&)> of_order{};
};

/// One adversary in one run: it tells the adversary what happens, and keeps its orders until the world carries them
/// out.
class Attacker final : public Hand {
public:
    Attacker(std::unique_ptr<Adversary> adversary, Means means, Scene scene)
        : adversary_{std::move(adversary)}, means_{std::move(means)}, scene_{std::move(scene)} {}

    // ---- for the world ----------------------------------------------------------------------------------------------

    /// The world's scenario grows by the attacker's nodes and tasks; the honest ones come first.
    void enter(const Scenario& scenario, std::int64_t* now_ms, Foresight foresight);
    [[nodiscard]] auto adversary() -> Adversary& { return *adversary_; }
    /// What the adversary has noted, and how often.
    [[nodiscard]] auto notes() const -> const std::map<std::string, std::uint64_t, std::less<>>& { return notes_; }
    [[nodiscard]] auto next_act() -> std::optional<Act>;
    /// Time of the next order of the means; none when all were submitted.
    [[nodiscard]] auto next_order_ms() const -> std::optional<std::int64_t>;
    void submit_next_order();
    /// False for all nodes before it enters: honest nodes may be kicked out while they join.
    [[nodiscard]] auto is_own_node(std::uint32_t node) const -> bool {
        return scenario_ != nullptr && node >= honest_nodes_;
    }
    [[nodiscard]] auto is_own_task(std::uint32_t task) const -> bool { return task >= honest_tasks_; }

    /// Notes that a node of the world runs on a card.
    void placed(const allot::NodeId& id, std::uint32_t card);
    /// Asks what an own node does with its new lease, and orders that.
    void leased(const allot::Lease& lease, std::uint32_t node, std::uint32_t task, std::int64_t run_ms,
                std::int64_t cold_ms);
    /// Tells of the end of an own node's lease.
    void lease_ended(const allot::Lease& lease, allot::event::LeaseEnd how);

    // ---- for the adversary ------------------------------------------------------------------------------------------

    [[nodiscard]] auto now_ms() const -> std::int64_t override { return *now_ms_; }
    [[nodiscard]] auto scene() const -> const Scene& override { return scene_; }
    [[nodiscard]] auto means() const -> const Means& override { return means_; }
    [[nodiscard]] auto random(std::uint64_t subject) const -> std::uint64_t override;
    [[nodiscard]] auto own(const allot::NodeId& node) const -> std::optional<std::uint32_t> override;
    [[nodiscard]] auto facts(const allot::TaskId& task) const -> TaskFacts override;
    [[nodiscard]] auto foresee(const std::vector<std::uint32_t>& tasks) const -> std::vector<allot::Lease> override;
    [[nodiscard]] auto foresee(const Order& order) const -> std::vector<allot::Lease> override;
    void join(allot::NodeSpec node, std::uint32_t card, std::uint32_t verdicts) override;
    void update(allot::NodeUpdate change) override;
    void pause(const allot::NodeId& node) override;
    void resume(const allot::NodeId& node) override;
    void leave(const allot::NodeId& node) override;
    void report_model(const allot::NodeId& node, allot::command::Report report,
                      std::vector<std::string> models) override;
    void act(const allot::Lease& lease, Deed deed) override;
    void renew(const allot::Lease& lease) override;
    auto submit(Order order) -> allot::TaskId override;
    void cancel(const allot::TaskId& task) override;
    void rate(const allot::NodeId& node, std::uint32_t points) override;
    void convict(const allot::NodeId& node) override;
    void wake(std::int64_t after_ms, std::uint64_t number) override;
    void note(std::string_view what) override;

private:
    std::unique_ptr<Adversary> adversary_;
    Means means_;
    Scene scene_;
    const Scenario* scenario_ = nullptr;
    const std::int64_t* now_ms_ = nullptr;
    Foresight foresight_{};
    std::uint32_t honest_nodes_ = 0;
    std::uint32_t honest_tasks_ = 0;
    std::uint32_t tasks_ = 0;  ///< With those that are ordered, but not submitted yet.
    std::size_t next_order_ = 0;
    std::deque<Act> acts_{};
    std::map<allot::NodeId, std::uint32_t> own_{};  ///< Index among the own nodes.
    std::vector<std::uint32_t> cards_{};            ///< By own node.
    std::vector<std::optional<Work>> works_{};      ///< By own node: its last lease.
    std::map<std::string, std::uint64_t, std::less<>> notes_{};
};

/// The network as an attacker sees it when it chooses its means.
[[nodiscard]] auto make_scene(const Scenario& scenario, const Options& options) -> Scene;

/// The id of a task: its index in the scenario, and a salt before it.
[[nodiscard]] auto id_of(std::uint32_t task, std::uint64_t salt) -> allot::TaskId;
/// The index of a task in the scenario.
[[nodiscard]] auto index_of(const allot::TaskId& id) -> std::uint32_t;

/// Accepted cards and models of a task, by name.
[[nodiscard]] auto cards_of(const Scenario& scenario, const TaskPlan& task) -> std::vector<std::string>;
[[nodiscard]] auto models_of(const Scenario& scenario, const TaskPlan& task) -> std::vector<std::string>;

}  // namespace simulate
