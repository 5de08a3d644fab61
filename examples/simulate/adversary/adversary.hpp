#pragma once

// The interface of adversaries. One file in this folder is one adversary; CMake finds it, and the file registers
// itself:
//
//     #include "adversary.hpp"
//
//     namespace simulate {
//     namespace {
//
//     class Idler : public Adversary {
//     public:
//         using Adversary::Adversary;
//         auto lease(Hand&, const Work&) -> Deed override { return Deed::stall(); }
//     };
//
//     const auto registered = Registration{make_recipe<Idler>({
//         .name = "idler",
//         .attack = "ten nodes never answer",
//         .twin = "the same ten cards do their work",
//         .profits = "a competitor of the network gains",
//         .answer = "none yet",
//         .knobs = {{"cards", 10, 1, 100, "cards of the attacker"}},
//         .cases = {{"7", "all of them stall", {}}},
//         .means = [](const Scene& scene, const Knobs& knobs) {
//             return equal_cards(scene, knobs.whole("cards"), knobs.whole("cards") * scene.stake_milli);
//         },
//     })};
//
//     }  // namespace
//     }  // namespace simulate
//
// The base class is the honest twin: it has the same `Means`, and does with them what an honest operator does. An
// adversary overrides only the hooks in which it differs. Every run of an attack has its pair, in which the base class
// plays with the same means, seed and arrivals (measures.hpp).
//
// Hooks are called in the order of the network's events. They act through `Hand`; what they order there is done after
// the hook has returned, in the order given and at the same time. A hook draws numbers from `Hand::random` alone, so
// that equal options give equal runs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/core/event.hpp>
#include <allot/validation/validation_parameters.hpp>

#include "knobs.hpp"

namespace simulate {

/// One real card. Names of nodes are free, cards are not: they are equal in both runs of a pair.
struct Card {
    std::string gpu{};
    std::uint32_t vram = 0;             ///< GiB.
    std::uint32_t speed_milli = 1'000;  ///< Work done in a second, in thousandths of the estimate.
    std::vector<std::string> models{};  ///< On its disk at the start.
};

/// A task that an owner of the attacker wants done, or pretends to want.
struct Order {
    std::int64_t arrival_ms = 0;
    std::int64_t run_ms = 0;          ///< True run time on a card of speed 1,000.
    std::int64_t declared_ms = 0;     ///< The estimate that the network is told.
    std::int64_t fee = 0;             ///< For the whole task.
    std::uint32_t vram_min = 0;       ///< GiB.
    std::vector<std::string> gpus{};  ///< Accepted cards by name; empty: any.
    std::vector<std::string> models{};
    std::string owner{};
    bool endless = false;    ///< No honest node can finish it: its lease expires.
    std::uint64_t salt = 0;  ///< Another salt is another id, for who knows the entropy of the draw; 0: the plain id.
};

/// What an attacker has, in both runs of a pair.
struct Means {
    std::vector<Card> cards{};
    std::int64_t stake_milli = 0;  ///< All its stake together.
    std::uint32_t verdicts = 12;   ///< Good verdicts that each card's node brings along, as honest nodes do.
    std::vector<Order> orders{};   ///< By arrival. An honest owner submits them as they are.
    std::int64_t tick_ms = 0;      ///< Time between two calls of `tick`; 0: none.
    std::int64_t cold_ms = 0;      ///< Time to load a missing model, on any node; 0: that of the world.
    std::int64_t block_ms = 0;     ///< Honest tasks wait for the end of such a block; `order` puts them in order.
                                   ///< 0: they come at once.
    std::string target{};          ///< A card whose honest nodes the attack aims at; their revenue is measured.
};

/// The network before the attacker joins, for choosing the means.
struct Scene {
    std::uint64_t seed = 0;
    std::uint32_t honest_nodes = 0;
    std::int64_t arrivals_end_ms = 0;
    std::int64_t stake_milli = 0;         ///< Median stake of a node.
    Card card{};                          ///< The commonest card, at ordinary speed.
    std::vector<Card> rarest_first{};     ///< Each kind of card once, fewest nodes first; `speed_milli` is 1,000.
    std::vector<std::uint32_t> counts{};  ///< Nodes of each of those.
    std::vector<std::vector<std::string>> disks{};  ///< Models on the disks of some honest nodes.
    std::vector<std::string> models{};              ///< All models of the network, by name.
    std::int64_t run_ms = 0;                        ///< Mean run time of a task.
    std::int64_t fee_per_second = 0;                ///< Median of the tasks.
    allot::ValidationParameters validation{};       ///< How the network judges validation groups.
};

/// `count` of the commonest card, with disks as honest nodes have, and a stake for all of them together.
[[nodiscard]] auto equal_cards(const Scene& scene, std::int64_t count, std::int64_t stake_milli) -> Means;

/// The same with the median stake for each.
[[nodiscard]] auto median_cards(const Scene& scene, std::int64_t count) -> Means;

/// Orders of one own owner from a tenth of the arrivals on: each takes `run_ms`, they come `every_ms`, and `price` is
/// their fee a second in medians of the network's tasks. These are the knobs' names.
[[nodiscard]] auto own_orders(const Scene& scene, const Knobs& knobs) -> std::vector<Order>;

/// A node that is gone, and the stake that came back with it. Stake that unbonds comes back after a day, when a run is
/// over.
struct Gone {
    allot::NodeId node;
    std::int64_t stake_milli = 0;
};

/// The node that this event says is gone; none for a node that was slashed.
[[nodiscard]] auto gone_of(const allot::Event& event) -> std::optional<Gone>;

/// A node of the attacker that holds a lease.
struct Work {
    allot::Lease lease;
    std::uint32_t node = 0;    ///< Index among the attacker's nodes, in order of their first `join`.
    std::uint32_t card = 0;    ///< Index in `Means::cards`.
    std::int64_t run_ms = 0;   ///< The time that its card needs alone, with the load of a missing model.
    std::int64_t cold_ms = 0;  ///< The time of that load; 0: all models are on the card's disk.
    std::int64_t fee = 0;
    std::int64_t declared_ms = 0;  ///< As the owner declared it.
    bool own_task = false;         ///< The owner is the attacker, too.
    bool endless = false;
};

/// What a node does with a lease, after some time.
struct Deed {
    enum class Kind : std::uint8_t {
        complete,  ///< Says that the work is done.
        fail,
        decline,
        stall,   ///< Does nothing: the lease expires.
        commit,  ///< Says that it has a result, and keeps it.
    };
    Kind kind = Kind::complete;
    std::int64_t after_ms = 0;
    bool right = true;  ///< Whether a result would stand a check; the world's validators see it.

    static auto complete(std::int64_t after_ms) -> Deed { return {Kind::complete, after_ms, true}; }
    static auto garbage(std::int64_t after_ms) -> Deed { return {Kind::complete, after_ms, false}; }
    static auto fail(std::int64_t after_ms) -> Deed { return {Kind::fail, after_ms, true}; }
    static auto decline(std::int64_t after_ms = 0) -> Deed { return {Kind::decline, after_ms, true}; }
    static auto stall() -> Deed { return {Kind::stall, 0, true}; }
    static auto commit(std::int64_t after_ms) -> Deed { return {Kind::commit, after_ms, true}; }
};

/// What any party may know of a task.
struct TaskFacts {
    std::int64_t fee = 0;
    std::int64_t declared_ms = 0;
    std::uint32_t vram_min = 0;
    std::vector<std::string> gpus{};
    std::vector<std::string> models{};
    std::uint32_t group = 0;  ///< Its validation group, from 1; 0: none.
    bool own = false;
};

/// What an attacker can see and do. Orders are carried out after the hook has returned.
class Hand {
public:
    Hand() = default;
    Hand(const Hand&) = delete;
    auto operator=(const Hand&) -> Hand& = delete;
    virtual ~Hand() = default;

    // ---- seeing -----------------------------------------------------------------------------------------------------

    [[nodiscard]] virtual auto now_ms() const -> std::int64_t = 0;
    [[nodiscard]] virtual auto scene() const -> const Scene& = 0;
    [[nodiscard]] virtual auto means() const -> const Means& = 0;
    /// A number of this run and this subject; equal arguments give equal numbers.
    [[nodiscard]] virtual auto random(std::uint64_t subject) const -> std::uint64_t = 0;
    /// The index of an own node; none for a node of others.
    [[nodiscard]] virtual auto own(const allot::NodeId& node) const -> std::optional<std::uint32_t> = 0;
    /// The facts of a task that was submitted in this run.
    [[nodiscard]] virtual auto facts(const allot::TaskId& task) const -> TaskFacts = 0;
    /// The leases that would start if these tasks, which have not been submitted yet, were submitted now in this order;
    /// the entropy of each place is known. Where draws take place in rounds, later entropy decides: there are none.
    [[nodiscard]] virtual auto foresee(const std::vector<std::uint32_t>& tasks) const -> std::vector<allot::Lease> = 0;
    /// The same for the next task that is submitted.
    [[nodiscard]] virtual auto foresee(const Order& order) const -> std::vector<allot::Lease> = 0;

    // ---- nodes ------------------------------------------------------------------------------------------------------

    /// Joins a node that runs on a card. Several nodes may name one card. An id that has joined before is the same node
    /// again. `verdicts` good verdicts are given to it at once, as history that it brought along.
    virtual void join(allot::NodeSpec node, std::uint32_t card, std::uint32_t verdicts) = 0;
    virtual void update(allot::NodeUpdate change) = 0;
    virtual void pause(const allot::NodeId& node) = 0;
    virtual void resume(const allot::NodeId& node) = 0;
    virtual void leave(const allot::NodeId& node) = 0;
    virtual void report_model(const allot::NodeId& node, allot::command::Report report,
                              std::vector<std::string> models) = 0;

    // ---- leases -----------------------------------------------------------------------------------------------------

    /// Does something with a lease that is held; a lease that has ended meanwhile is left alone.
    virtual void act(const allot::Lease& lease, Deed deed) = 0;
    virtual void renew(const allot::Lease& lease) = 0;

    // ---- tasks ------------------------------------------------------------------------------------------------------

    /// Submits a task at once. The id is for `cancel`; ids are given in order.
    virtual auto submit(Order order) -> allot::TaskId = 0;
    virtual void cancel(const allot::TaskId& task) = 0;

    // ---- verdicts ---------------------------------------------------------------------------------------------------
    // The networks here compare no results. An attack on those who do plays them, too, by the rules that it states.

    /// Points of ten for an own or another node, as the owner of its task gives them.
    virtual void rate(const allot::NodeId& node, std::uint32_t points) = 0;
    /// A node is found guilty: it is removed, and its stake is taken.
    virtual void convict(const allot::NodeId& node) = 0;

    // ---- time, and what is told -------------------------------------------------------------------------------------

    /// Calls `Adversary::woken` with this number after some time.
    virtual void wake(std::int64_t after_ms, std::uint64_t number) = 0;
    /// Counts something, mostly a deed of the attack, so that a check can see that the attack does what it says.
    virtual void note(std::string_view what) = 0;
};

/// A behaviour with means. The base class is honest: one declared operator, equal stake on each card, true times.
class Adversary {
public:
    explicit Adversary(Knobs knobs) : knobs_{std::move(knobs)} {}
    Adversary(const Adversary&) = delete;
    auto operator=(const Adversary&) -> Adversary& = delete;
    virtual ~Adversary() = default;

    /// The start, when all honest nodes have joined. Honest: one node for each card.
    virtual void join(Hand& hand);

    /// Just before an order of `Means::orders` is submitted. It may be changed, or left out by `false`. Honest: as it
    /// is.
    virtual auto submit(Hand& hand, Order& order) -> bool;

    /// A block of honest tasks, by arrival. What is returned is submitted in that order; what is left out waits for the
    /// next block. Honest: as they came.
    virtual auto order(Hand&, std::vector<std::uint32_t> block) -> std::vector<std::uint32_t> { return block; }

    /// An own node got a lease. Honest: the work, in its time; an endless task cannot be finished.
    virtual auto lease(Hand& hand, const Work& work) -> Deed;

    /// A lease of an own node ended, by itself or by others.
    virtual void ended(Hand&, const Work&, allot::event::LeaseEnd) {}

    /// An own node is kept out until a time; was let in again; or is gone, by whatever cause.
    virtual void excluded(Hand&, std::uint32_t /*node*/, std::int64_t /*until_ms*/) {}
    virtual void readmitted(Hand&, std::uint32_t /*node*/) {}
    virtual void gone(Hand&, std::uint32_t /*node*/) {}

    /// An own node should fetch a model. Honest: it is fetched, which takes one to five minutes.
    virtual auto fetches(Hand&, std::uint32_t /*node*/, std::string_view /*model*/) -> bool { return true; }

    /// Any event of the network, own or not: queues are public.
    virtual void event(Hand&, const allot::Event&) {}

    /// Each `Means::tick_ms`, until the arrivals end.
    virtual void tick(Hand&) {}

    /// The answer to `Hand::wake`.
    virtual void woken(Hand&, std::uint64_t /*number*/) {}

    /// The arrivals have ended; no task is submitted any more.
    virtual void end(Hand&) {}

    [[nodiscard]] auto knobs() const -> const Knobs& { return knobs_; }

protected:
    /// A spec of a node for a card of the means: its id, operator and stake.
    [[nodiscard]] static auto spec_of(const Card& card, const std::string& id, std::string_view operator_id,
                                      std::int64_t stake_milli) -> allot::NodeSpec;
    /// The spec of an honest node for a card: the declared operator, and an equal part of the stake.
    [[nodiscard]] static auto honest_spec(const Hand& hand, std::uint32_t card, const std::string& id)
        -> allot::NodeSpec;

private:
    Knobs knobs_;
};

/// The twin of those who only cause harm: its nodes stay away, and its owners keep their money.
class Silent : public Adversary {
public:
    using Adversary::Adversary;
    void join(Hand&) override {}
    auto submit(Hand&, Order&) -> bool override { return false; }
};

/// Everything that the laboratory knows of an adversary.
struct Recipe {
    std::string name{};
    std::string attack{};  ///< One sentence: what it does.
    std::string twin{};    ///< One sentence: the honest use of the same means.
    /// One sentence: who gains by it.
    std::string profits{};
    /// Which rule answers it today. `docs/attacks.md` is printed from these sentences.
    std::string answer = "none yet";
    /// What that rule costs honest users: the parameters under which the table of costs has it.
    std::string cost = "none, for no rule answers it";
    std::vector<Knob> knobs{};
    std::vector<Case> cases{};  ///< Rows of the table of attacks, each with its knobs.
    std::function<Means(const Scene&, const Knobs&)> means{};
    std::function<std::unique_ptr<Adversary>(const Knobs&)> make{};
    /// The honest twin; the base class where it is left out.
    std::function<std::unique_ptr<Adversary>(const Knobs&)> make_twin{};
    bool twin_is_honest =
        false;  ///< The twin is the base class, so that all adversaries of equal means share its runs.
    /// The measure that a best response makes as large as it can.
    std::string aim = "gain";
    /// Other means whose honest use is told beside the gain, such as the same stake on one card. Optional.
    std::function<Means(const Scene&, const Knobs&)> reference{};
    /// True for an owner whose gain is a lower price for the same service: price gain is measured.
    bool measures_price = false;
};

template <class A>
[[nodiscard]] auto make_recipe(Recipe recipe) -> Recipe {
    recipe.make = [](const Knobs& knobs) -> std::unique_ptr<Adversary> { return std::make_unique<A>(knobs); };
    return recipe;
}

/// The same with a twin that is not the base class.
template <class A, class Twin>
[[nodiscard]] auto make_recipe(Recipe recipe) -> Recipe {
    recipe.make_twin = [](const Knobs& knobs) -> std::unique_ptr<Adversary> { return std::make_unique<Twin>(knobs); };
    return make_recipe<A>(std::move(recipe));
}

/// All adversaries of this program, by name.
[[nodiscard]] auto recipes() -> const std::vector<Recipe>&;

/// Adds a recipe before `main` begins.
struct Registration {
    explicit Registration(Recipe recipe);
};

}  // namespace simulate
