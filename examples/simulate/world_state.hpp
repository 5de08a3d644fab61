#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "demands.hpp"
#include "network.hpp"
#include "world.hpp"

namespace simulate {

/// A scheduled action of the world.
struct Happening {
    enum class Kind : std::uint8_t { completes, fails, declines, commits, downloaded, wakes, rejoins };

    std::int64_t time_ms = 0;
    std::uint64_t sequence = 0;  ///< Decides among equal times.
    Kind kind = Kind::completes;
    std::uint32_t node = 0;
    std::uint64_t token = 0;  ///< Token of the lease, when a task ends; the number of a wake-up.
    std::string model{};      ///< Name of the model that has arrived.

    friend auto operator>(const Happening& a, const Happening& b) -> bool {
        return std::pair{a.time_ms, a.sequence} > std::pair{b.time_ms, b.sequence};
    }
};

/// The world around one dispatcher: tasks arrive; nodes work, stall, fail and vanish; owners rank validation groups;
/// an attacker does what it likes.
///
/// It keeps no record of its own about which node runs which task. It follows the events, and acts on the dispatcher
/// through commands only. `world.cpp` has the loop and the commands, `world_events.cpp` what follows from events.
class World {
public:
    World(const Trace& trace, Scenario scenario, const Options& options, Attacker* attacker);

    auto run(Progress& progress) -> Run;

private:
    using Clock = std::chrono::steady_clock;  // for the decisions per second only; no decision depends on it

    // ---- the loop and the commands ------------------------------------------------------------------------------

    [[nodiscard]] auto next_arrival_ms() const -> std::optional<std::int64_t>;
    [[nodiscard]] auto next_happening_ms() const -> std::optional<std::int64_t>;
    void step(Progress& progress);
    void apply(const Verb& verb);
    auto command(const Verb& verb) -> bool;
    [[nodiscard]] auto moment(std::uint64_t command) const -> allot::Moment;
    [[nodiscard]] auto moment() -> allot::Moment { return moment(commands_++); }
    auto give(const Verb& verb, const allot::Moment& at) -> allot::Events;
    void join_all();
    /// The time to load the models of a task that are not on a node's disk. What is loaded for one task is not kept.
    [[nodiscard]] auto cold_ms(std::uint32_t task, std::uint32_t node) const -> std::int64_t;
    void join_honest(std::uint32_t node, std::uint32_t verdicts);
    void join(std::uint32_t node, const allot::NodeSpec& spec, std::uint32_t verdicts, std::uint32_t points);
    void note_models(const Verb& verb);
    /// The fee that a task states so that its nodes get this price.
    [[nodiscard]] auto fee_of(std::int64_t price) const -> allot::Amount { return allot::Amount{price * fees_}; }
    [[nodiscard]] auto spec_of(std::uint32_t task) const -> allot::TaskSpec;
    [[nodiscard]] auto spec_of(const Order& order, const allot::TaskId& id) const -> allot::TaskSpec;
    [[nodiscard]] auto foresee(const std::vector<allot::TaskSpec>& tasks) const -> std::vector<allot::Lease>;
    [[nodiscard]] auto foresight() const -> Foresight;
    void submit(std::uint32_t task);
    void submit_block();
    void happen();
    void carry_out();
    void carry_out(const act::Join& act);
    void carry_out(const act::Submit& act);
    void carry_out(const act::Do& act);
    void plan_happening(Happening happening);
    void add_operator(const std::string& name, bool attacker);

    // ---- events -------------------------------------------------------------------------------------------------

    void obey(const allot::Events& events);
    void start(const allot::Lease& lease);
    void end_lease(const allot::Lease& lease, allot::event::LeaseEnd how);
    template <class Ended>
    void end(const Ended& event, End how);
    void end(std::uint32_t task, End how);
    void remove(const allot::NodeId& id, bool kicked_out);
    void note_framed(std::uint32_t node);
    void exclude(const allot::NodeId& id, std::optional<std::int64_t> until_ms);
    void expect_wait(const allot::TaskId& task);
    void note_wait(std::uint32_t task);
    void download(std::uint32_t node, const std::string& model);
    void ask_for_models();
    void rank_groups();
    void rank_gang(std::uint32_t task);
    [[nodiscard]] auto run_ms(std::uint32_t task) const -> std::int64_t;
    void score(std::uint32_t node, std::uint32_t points);
    void sample_until(std::int64_t time_ms);
    void take_sample(std::int64_t time_ms);

    static constexpr auto no_task = ~std::uint32_t{0};

    const Trace& trace_;
    Scenario scenario_;
    const Options& options_;
    Attacker* attacker_;
    std::uint32_t honest_nodes_;
    std::uint32_t honest_tasks_;
    const Preset& preset_;
    std::uint32_t fees_ = 1;  ///< Units of a fee for each unit of a price. Plans and orders have prices.
    std::unique_ptr<Network> network_;
    Ledger ledger_;
    Demands demands_;
    Money money_{};
    std::map<allot::NodeId, std::uint32_t> node_index_{};
    std::map<std::string, std::uint32_t, std::less<>> operator_index_{};
    std::vector<std::optional<allot::Lease>> leases_;        ///< By node: its last lease.
    std::vector<std::set<std::string, std::less<>>> disks_;  ///< By node: the models that are really there.
    std::int64_t cold_ms_ = 0;                               ///< Time to load a model that is not there.
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_{};
    std::vector<std::uint32_t> group_open_;  ///< By group: members that have not ended.
    std::vector<std::array<std::uint32_t, rule::group_size>> group_tasks_;
    std::vector<std::uint32_t> groups_to_rank_{};
    std::map<std::uint32_t, std::vector<std::uint32_t>> finished_{};  ///< By gang's task: nodes that completed.
    std::set<std::uint32_t> failed_attacker_{};  ///< Nodes that failed a task of the attacker in this command.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> scores_{};  ///< Points for nodes, to be given.
    /// By task: time of the question, and the answer.
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> expected_{};
    std::uint64_t queued_ = 0;
    std::uint64_t happenings_planned_ = 0;
    std::uint64_t commands_ = 0;
    std::vector<std::uint32_t> block_{};  ///< Honest tasks that wait for the end of their block.
    std::int64_t next_block_ms_ = 0;
    std::uint32_t next_task_ = 0;
    std::int64_t now_ms_ = 0;
    std::int64_t next_sample_ms_ = 0;
    std::int64_t next_tick_ms_ = 0;
    std::int64_t next_round_ms_ = 0;
    std::int64_t next_asking_ms_ = 0;
    bool arrivals_ended_ = false;
    Clock::duration spent_{};
};

}  // namespace simulate
