#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <allot/core/random.hpp>
#include <allot/dispatcher/view/openings.hpp>

namespace allot { inline namespace v0 {

/// Maximum of waiting tasks that a pull asks about in vain, and nearly so all pulls of a command (rule 16).
inline constexpr std::uint32_t pull_tries_max = 1'024;
/// Number of tries that a command's pulls have beyond that for each node that it freed.
inline constexpr std::uint32_t pull_share = 8;
/// Number of groups listed under a node's models from which on a pull at a hard gate asks about waiting tasks in order.
inline constexpr std::uint32_t pull_groups_max = 1'024;
/// Number of these tries that a gang takes, because its other members are drawn.
inline constexpr std::uint32_t gang_tries = 128;

/// Number of gangs that a pull passes over where a command has too few tries left to ask about one.
inline constexpr std::uint32_t gangs_passed_max = 64;

/// Number of cards that a gang of one card tries in vain before its draw is undecided (rule 25).
inline constexpr std::uint32_t cards_max = 32;
/// Number of sizes of VRAM with free nodes of which a pulled gang finds none, after which it is given up (rule 26).
inline constexpr std::uint32_t tiers_max = 16;

/// The nodes on which one task starts, by member. A draw that was not decided makes a gang of one, `undecided`.
using Gang = boost::container::small_vector<Draw, 3>;

/// True if a gang can start.
[[nodiscard]] inline auto complete(const Gang& gang) noexcept -> bool {
    return !gang.empty() && !gang.back().undecided();
}

/// Answers which nodes a task gets by random draw, alone or as a gang, and which task a free node takes.
///
/// @complexity of one draw: that of the pool's `draw`. A gang takes one per member, and more if a card is left out.
/// After an undecided draw there is no other.
template <class... Ps>
class Draws : public Openings<Ps...> {
    using Below = Openings<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::rules, Below::eligibility, Below::candidates, Below::queue, Below::gated, Below::gates,
        Below::gang_size, Below::holds, Below::holds_all, Below::is_candidate, Below::admits, Below::boost,
        Below::can_run, Below::fetch_weight, Below::holders_to_narrow, Below::weight_policy, Below::bounds,
        Below::best_boost, Below::runs_nothing, Below::weight_now, Below::eliminates, Below::place_before,
        Below::beginnings, Below::card_of, Below::groups_for, Below::filled, Below::are_free;
    using typename Below::WeightPolicy;

    /// The frame of a draw among these classes, without these nodes. While bounds are renewed they are loose, so there
    /// are more tries.
    [[nodiscard]] auto frame_of(std::span<const ClassId> classes, std::span<const NodePlace> without) const
        -> SamplingFrame {
        if constexpr (!monotone_weight<WeightPolicy>) { return {classes, {}, 0}; }
        const auto slack = records.counters().ceilings.slack();
        if (!eliminates()) { return {classes, {}, draw_rejections_max << slack, 0}; }
        const auto rejections_max = draw_rejections_max << std::min(slack, slack_max);
        return {classes, {}, rejections_max, draw_tries_max + (rejections_max - draw_rejections_max), without};
    }

    /// The places of the nodes that a task avoids and of the members of its group, as far as they are refused. A draw
    /// begins without them, so that they take none of its tries.
    /// @complexity O(members) for each node avoided, and O(1) for each member.
    [[nodiscard]] auto refused(const Task& task) const -> boost::container::small_vector<NodePlace, 4> {
        auto places = boost::container::small_vector<NodePlace, 4>{};
        const auto& requirement = records.fits().value(task.requirement);
        const auto add = [&](const NodeId& id, bool is_member) {
            const auto h = records.nodes().find(id);
            if (!h || !is_candidate(records.nodes()[*h])) { return; }
            const auto& record = records.nodes()[*h];
            const auto situation = this->situation(record, task, requirement, is_member);
            if (eligibility.admits(record.node, task, situation) != Reason::none) {
                places.push_back(place_before(*h, &record, records.holdings(*h)));
            }
        };
        if (!eliminates()) { return places; }
        for (const auto& id : task.avoided()) { add(id, false); }
        if (task.group != no_handle<GroupHandle>) {
            for (const auto& member : records.groups()[task.group].members) { add(member.node, true); }
        }
        return places;
    }

    /// True if the candidates of these classes that hold the task's models weigh as much as narrowing needs, by their
    /// bounds: those of one model, if any model narrows, or those of each. `assumed` counts as a candidate. Under the
    /// gate, and for a weight that asks for nothing, it is true.
    /// @complexity O(classes · models); constant for a weight that asks for nothing.
    [[nodiscard]] auto holders_weigh_enough([[maybe_unused]] const Task& task,
                                            [[maybe_unused]] std::span<const ClassId> classes,
                                            [[maybe_unused]] NodeHandle assumed = no_handle<NodeHandle>) const -> bool {
        if constexpr (has_holder_weight_min<WeightPolicy>) {
            if (rules->narrowing == Narrowing::gate || weight_policy.holder_weight_min().is_zero()) { return true; }
            const auto best = best_boost();  // bounds of holders have it, so the least weight does, too
            const auto one = weight_policy.holder_weight_min().scaled(best.num, best.den);
            const auto least = std::uint64_t{bound_of(one)} * rules->narrow_from;
            const auto enough = [&](const ModelId& model) {
                return candidates().total(SamplingFrame{classes, {&model, 1}}) + bound_as_holder(assumed, model) >=
                       least;
            };
            const auto models = task.models();
            return rules->narrowing == Narrowing::any ? std::any_of(models.begin(), models.end(), enough)
                                                      : std::all_of(models.begin(), models.end(), enough);
        } else {
            return true;
        }
    }

    /// The bound that a node would have among the holders of a model if it were a candidate; 0 if it is one, or does
    /// not hold the model.
    [[nodiscard]] auto bound_as_holder(NodeHandle h, ModelId model) const -> std::uint32_t {
        if (h == no_handle<NodeHandle>) { return 0; }
        const auto& record = records.nodes()[h];
        return is_candidate(record) || holds(h, model) == nullptr ? 0U : bounds(h, record, true).local;
    }

    /// Calls `f(node)` for each candidate of a class, by slot.
    /// @complexity linear in the nodes of the class, and in a sixty-fourth of the most that it ever had.
    template <class F>
    void each_free(ClassId node_class, F&& f) const {
        records.fits().each_node(node_class, [&](NodeHandle h) {
            if (is_candidate(records.nodes()[h])) { f(h); }
        });
    }

    /// Number of candidates of all classes that have a model on their disks.
    [[nodiscard]] auto candidates_holding(ModelId model) const -> std::uint32_t {
        return candidates().count(SamplingFrame{records.fits().all_classes(), {&model, 1}});
    }

    /// The largest stake of a candidate for a requirement; none if there are too many candidates to look at each. A
    /// draw that refuses each node sees all of them.
    /// @complexity that of a draw of `draw_tries_max` tries.
    [[nodiscard]] auto stake_max(RequirementId requirement) const -> std::optional<Amount> {
        auto largest = Amount{};
        const auto see = [&](NodeHandle n, std::uint32_t) {
            largest = std::max(largest, records.nodes()[n].node.stake);
            return Weight::zero();
        };
        const auto classes = records.fits().classes_of(requirement);
        auto frame = frame_of(classes, {});
        frame.rejections_max = std::min(frame.rejections_max, 1U);
        auto random = Random{Entropy{}, Purpose::dispatch, {}};  // the order in which they are seen is of no account
        return candidates().draw(frame, see, random) ? std::nullopt : std::optional{largest};
    }

    /// The node that is asked to fetch a model for a task: drawn by weight among the eligible nodes that lack it.
    [[nodiscard]] auto draw_fetcher(const Task& task, ModelId model, Random& random) const -> std::optional<Draw> {
        const auto weigh = [&](NodeHandle n, std::uint32_t) { return fetch_weight(n, task, model); };
        const auto known = refused(task);
        const auto classes = records.fits().classes_of(task.requirement);
        return candidates().draw(frame_of(classes, span_of(known)), weigh, random);
    }

    /// The node drawn for a task; none if no eligible node has a positive weight. An undecided draw decides that.
    ///
    /// Candidates are narrowed to holders of the task's models as the rules say. If none of those is eligible, or fewer
    /// than `narrow_from`, or they weigh too little, the draw goes on among all, with the same stream (rule 8: first
    /// eligible, then narrowed).
    [[nodiscard]] auto draw_one(const Task& task, std::span<const ClassId> classes, const Gang& chosen,
                                Random& random) const -> std::optional<Draw> {
        const auto known = refused(task);
        const auto frame = frame_of(classes, span_of(known));
        const auto wanted = holders_to_narrow(task);
        const auto enough = [&] {
            const auto all = records.fits().classes_of(task.requirement);
            return holders_weigh_enough(task, all);
        };
        if (wanted && enough()) {
            auto narrowed = frame;
            narrowed.models = task.models();
            if (rules->narrowing != Narrowing::any) {
                // Holders of all models are a subset of the holders of the rarest, so the frame of the rarest is the
                // shortest that has them all. Ties go by canonical order.
                const auto holders = [&](const ModelId& model) {
                    auto one = frame;
                    one.models = {&model, 1};
                    return candidates().count(one);
                };
                const auto fewest =
                    std::min_element(narrowed.models.begin(), narrowed.models.end(),
                                     [&](const ModelId& a, const ModelId& b) { return holders(a) < holders(b); });
                narrowed.models = {&*fewest, 1};
            }
            if (const auto drawn = draw_among(task, narrowed, chosen, *wanted, random)) { return drawn; }
            if (*wanted == 0) { return std::nullopt; }
        }
        return draw_among(task, frame, chosen, 1, random);
    }

    /// Draws `Rules::draw_among` nodes, each by weight among those left, and then one of these with equal chance. So no
    /// node gets more than its part of that chance, regardless of its weight. None if fewer than `least` can be drawn,
    /// which the draws show.
    [[nodiscard]] auto draw_among(const Task& task, const SamplingFrame& frame, const Gang& chosen, std::uint32_t least,
                                  Random& random) const -> std::optional<Draw> {
        const auto wanted = std::max(least, rules->draw_among);
        if (wanted == 1) { return draw_in(task, frame, chosen, random); }
        auto drawn = boost::container::small_vector<Draw, 4>{};
        while (drawn.size() < wanted) {
            const auto next = draw_in(task, frame, chosen, random, span_of(drawn));
            if (!next) { break; }
            if (next->undecided()) { return next; }  // to choose among fewer would give each of them more
            drawn.push_back(*next);
        }
        if (drawn.size() < least) { return std::nullopt; }
        const auto among = std::min<std::size_t>(drawn.size(), rules->draw_among);
        if (among == 0) { return std::nullopt; }
        auto chosen_one = drawn[among == 1 ? 0 : random.below(among)];
        chosen_one.above_bound = 0;
        for (const auto& one : drawn) { chosen_one.above_bound += one.above_bound; }
        return chosen_one;
    }

    /// One draw in a frame. Nodes of `without` have zero weight, and so have nodes that depart. If any model narrows, a
    /// node counts under the first model that it holds; else a narrowed frame gives zero weight to nodes that lack a
    /// model.
    [[nodiscard]] auto draw_in(const Task& task, const SamplingFrame& frame, const Gang& chosen, Random& random,
                               std::span<const Draw> without = {}) const -> std::optional<Draw> {
        const auto weigh = [&](NodeHandle h, std::uint32_t model) -> Weight {
            records.nodes().prefetch(h);
            if (std::any_of(without.begin(), without.end(), [&](const Draw& drawn) { return drawn.node == h; })) {
                return Weight::zero();
            }
            if (rules->narrowing == Narrowing::any) {
                for (std::uint32_t earlier = 0; earlier < model;
                     ++earlier) {  // it counts under the first model it holds
                    if (holds(h, frame.models[earlier]) != nullptr) { return Weight::zero(); }
                }
            } else if (!frame.models.empty() && !holds_all(h, task)) {
                return Weight::zero();
            }
            const auto& record = records.nodes()[h];
            const auto admitted =
                !record.node.departs() && joins(h, task, chosen) && admits(record, task) == Reason::none;
            return admitted ? weight_now(record, task, boost(h, task)) : Weight::zero();
        };
        return candidates().draw(frame, weigh, random);
    }

    /// The waiting tasks in the groups that `groups_for` and `each_group` name.
    [[nodiscard]] auto waiting() const -> const auto& { return gates() ? gated.queue() : queue; }

    /// Result of `next_for`.
    struct Next {
        std::optional<TaskHandle> task{};
        bool cut = false;  ///< True if the bound of tries kept it from tasks. After the last try there is no task.
        std::uint32_t tries = 0;    ///< Number of tasks asked about in vain; a gang counts as `gang_tries`.
        std::uint32_t counted = 0;  ///< Number of tries that counting free nodes for gangs was worth.
    };

    /// The waiting task that a node would take if it became free now, as a pull asks. None if it can run none.
    ///
    /// From rules version 2 on it asks about `pull_tries_max` tasks at most, a gang counted as `gang_tries` of them
    /// (rule 16).
    /// @param tries_left the tries that the pulls of one command have left: with fewer than `pull_tries_max` it asks
    /// about fewer tasks, but `pull_share` at least, and about gangs only while there are enough for one.
    /// @complexity that of the queue's `best`, with one `can_run` per task asked.
    [[nodiscard]] auto next_for(NodeHandle n, std::uint32_t tries_left = pull_tries_max) const -> Next {
        const auto asks_gangs = !eliminates() || tries_left >= gang_tries;
        const auto least = pull_share + (asks_gangs ? gang_tries : 0U);
        const auto tries_max = std::clamp(tries_left, least, pull_tries_max);
        auto possible = std::vector<RequirementId>{};
        if (in_order(n)) {
            const auto groups = records.fits().requirements_of(records.nodes()[n].node.node_class).kept_in(possible);
            return best_for(n, queue, groups, tries_max, asks_gangs);
        }
        const auto groups = groups_for(n, possible, asks_gangs);
        auto next = best_for(n, waiting(), groups.list, tries_max, asks_gangs);
        next.counted = groups.counted;
        return next;
    }

    /// True if a pull asks about tasks in order although there is a hard gate, from rules version 2 on: more groups are
    /// listed under the node's models than it could go through.
    /// @complexity O(models of the node).
    [[nodiscard]] auto in_order(NodeHandle n) const -> bool {
        if (!gates() || !eliminates()) { return false; }
        auto groups = std::size_t{0};
        for (const auto& held : records.holdings(n)) { groups += gated.under(held.model).size(); }
        return groups > pull_groups_max;
    }

    /// The best task in these groups of a queue that a node can run. After `tries_max` tries there is none. Without
    /// `asks_gangs` gangs are passed over.
    template <class Queue>
    [[nodiscard]] auto best_for(NodeHandle n, const Queue& line, std::span<const RequirementId> groups,
                                std::uint32_t tries_max, bool asks_gangs) const -> Next {
        auto next = Next{};
        auto passed = std::uint32_t{0};
        auto stopped = false;
        next.task = line.best(groups, [&](TaskHandle t) {
            records.tasks().prefetch(t);
            const auto& task = records.tasks()[t];
            const auto is_gang = gang_size(task) > 1;
            if (is_gang && !asks_gangs) {
                next.cut = true;
                stopped = ++passed == gangs_passed_max;
                return stopped;
            }
            if (can_run(n, task) && has_gang(n, task)) {
                records.prefetch_due(t);
                return true;
            }
            const auto first = next.tries == 0;
            next.tries += is_gang ? gang_tries : 1U;
            const auto ends = eliminates() && next.tries >= tries_max;
            next.cut = next.cut || ends;
            stopped = (first && runs_nothing(n)) || ends;
            return stopped;
        });
        if (stopped) { next.task = std::nullopt; }
        return next;
    }

    /// True if a node is not already in the gang and, within a validation group, has a different operator than each
    /// member.
    [[nodiscard]] auto joins(NodeHandle h, const Task& task, const Gang& chosen) const -> bool {
        const auto apart = task.group != no_handle<GroupHandle>;
        return std::none_of(chosen.begin(), chosen.end(), [&](const Draw& other) {
            return other.node == h ||
                   (apart && records.nodes()[other.node].node.operator_id() == records.nodes()[h].node.operator_id());
        });
    }

    /// Draws further members, each by weight among the nodes left over, until the gang is complete or no node is left.
    /// An undecided draw is the last one.
    void fill(Gang& gang, const Task& task, std::span<const ClassId> classes, Random& random) const {
        for (const auto size = gang_size(task); gang.size() < size && left_over(gang, classes);) {
            const auto drawn = draw_one(task, classes, gang, random);
            if (!drawn) { return; }
            gang.push_back(*drawn);
            if (drawn->undecided()) { return; }
        }
    }

    /// True if a free node of these classes is not chosen yet. The first of the chosen may be a node that is only asked
    /// about and is not free. A draw would find this out too, but looks at every place, also busy ones.
    [[nodiscard]] auto left_over(const Gang& chosen, std::span<const ClassId> classes) const -> bool {
        if (chosen.empty()) { return true; }
        const auto taken = std::count_if(chosen.begin(), chosen.end(), [&](const Draw& member) {
            const auto& record = records.nodes()[member.node];
            return is_candidate(record) &&
                   std::find(classes.begin(), classes.end(), record.node.node_class) != classes.end();
        });
        return are_free(classes, static_cast<std::uint32_t>(taken) + 1);
    }

    /// The nodes drawn for a task: as many as it needs, or none; or one undecided draw.
    ///
    /// Any card: successive draws without replacement. One card: the first node is drawn by weight among cards with
    /// enough free nodes, the others among that card (rule 25). If too few of its nodes may run this task, that card is
    /// left out and the draw begins anew with the same stream. So shares are those among the cards that can run it.
    /// From rules version 2 on it is undecided after `cards_max` cards in vain.
    [[nodiscard]] auto draw(const Task& task, const Entropy& entropy) const -> Gang {
        auto random = Random{entropy, Purpose::dispatch, task.id.bytes(), task.attempt};
        const auto classes = records.fits().classes_of(task.requirement);
        const auto& asked = records.fits().value(task.requirement);
        auto gang = Gang{};
        if (asked.gang_size == 1) {
            if (const auto drawn = draw_one(task, classes, gang, random)) { gang.push_back(*drawn); }
            return gang;
        }
        if (!asked.same_card) {
            fill(gang, task, classes, random);
            drop_unless_whole(gang, asked);
            return gang;
        }
        auto cards_left = eliminates() ? cards_max : 0xFFFF'FFFFU;
        for (auto left = beginnings(task.requirement); !left.empty(); --cards_left) {
            if (cards_left == 0) {
                gang.push_back(Draw{no_handle<NodeHandle>});
                return gang;
            }
            const auto first = draw_one(task, left, gang, random);
            if (!first) { return gang; }
            gang.push_back(*first);
            if (first->undecided()) { return gang; }
            const auto card = card_of(records.nodes()[first->node].node.node_class, classes);
            fill(gang, task, card, random);
            drop_unless_whole(gang, asked);
            if (!gang.empty()) { return gang; }
            auto others = std::vector<ClassId>{};
            std::set_difference(left.begin(), left.end(), card.begin(), card.end(), std::back_inserter(others));
            left = std::move(others);
        }
        return gang;
    }

    /// Leaves of a gang that is not of the size asked for nothing, or its undecided draw alone.
    static void drop_unless_whole(Gang& gang, const Requirement& asked) {
        if (!gang.empty() && gang.back().undecided()) {
            gang.erase(gang.begin(), gang.end() - 1);
        } else if (gang.size() < asked.gang_size) {
            gang.clear();
        }
    }

    /// The gang for a node that became free, with this node first: others of its card, or those of the largest VRAM. So
    /// the smallest VRAM in the gang is as large as possible (seed 000, "Find the best combination of 3 nodes"; rule
    /// 26). Among nodes of equal VRAM a random draw decides. Empty if there are too few, or after `tiers_max` sizes of
    /// VRAM in vain; or one undecided draw.
    /// @pre the node can run the task itself.
    [[nodiscard]] auto gang_of(NodeHandle n, const Task& task, const Entropy& entropy) const -> Gang {
        const auto& asked = records.fits().value(task.requirement);
        auto gang = Gang{Draw{n}};
        if (asked.gang_size == 1) { return gang; }
        auto random = Random{entropy, Purpose::dispatch, task.id.bytes(), task.attempt};
        const auto classes = records.fits().classes_of(task.requirement);
        auto tiers_left = eliminates() ? tiers_max : 0xFFFF'FFFFU;
        each_tier(records.nodes()[n].node.node_class, asked, classes, [&](std::span<const ClassId> tier) {
            const auto before = gang.size();
            fill(gang, task, tier, random);
            tiers_left -= gang.size() == before ? 1U : 0U;
            return gang.size() < asked.gang_size && !gang.back().undecided() && tiers_left > 0;
        });
        drop_unless_whole(gang, asked);
        return gang;
    }

    /// Calls `f(classes)` for the classes from which other members of a node's gang come, in order of preference, while
    /// `f` returns true.
    /// @complexity O(classes), and O(log classes) for each class of which `f` is told.
    template <class F>
    void each_tier(ClassId own, const Requirement& asked, std::span<const ClassId> classes, F&& f) const {
        if (asked.same_card) {
            f(card_of(own, classes));
            return;
        }
        // Only those with a free node: others have none to draw. A heap, because the first tiers mostly suffice.
        using Entry = std::pair<Gibibytes, ClassId>;
        auto left = std::vector<Entry>{};
        for (const auto c : filled(classes)) { left.push_back({records.fits().value(c).vram, c}); }
        const auto later = [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first < b.first : b.second < a.second;
        };
        std::make_heap(left.begin(), left.end(), later);
        for (auto tier = std::vector<ClassId>{}; !left.empty();) {
            std::pop_heap(left.begin(), left.end(), later);
            const auto [vram, node_class] = left.back();
            left.pop_back();
            tier.push_back(node_class);
            if (!left.empty() && left.front().first == vram) { continue; }
            if (!f(std::span<const ClassId>{tier})) { return; }
            tier.clear();
        }
    }

    /// True if enough other free nodes can form a gang with this one; true for a task of one node.
    [[nodiscard]] auto has_gang(NodeHandle node, const Task& task) const -> bool {
        return gang_size(task) == 1 ||
               complete(gang_of(node, task, Entropy{}));  // the draws decide on the nodes, not on this answer
    }

private:
    /// Above 2^6, a draw rather stays undecided than that it takes more tries.
    static constexpr int slack_max = 6;
};

}}  // namespace allot::v0
