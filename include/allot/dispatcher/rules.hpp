#pragma once

#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/name.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// How a task's models narrow its candidates (rule 9).
enum class Narrowing : std::uint8_t {
    any,   ///< To holders of at least one model; to all eligible nodes when there is none.
    all,   ///< To holders of all models; to all eligible nodes when there is none.
    gate,  ///< To holders of all models, without fallback.
    none,  ///< Not at all: models only raise weights (seed 000).
};
ALLOT_ENUMERATORS(Narrowing, any, all, gate, none)

/// Parameters of the hub itself.
struct RulesParameters {
    std::uint32_t due_max = 1'024;  ///< Due work settled within one command.
    std::uint32_t renewals_max =
        1'024;                         ///< Stored bounds renewed within one command after a jump of the largest stake.
    std::uint32_t evictions_max = 16;  ///< Surplus tasks evicted within one command when the network shrinks; tasks or
                                       ///< nodes that make way within one where a table is full.
    Duration forget_tasks_after = std::chrono::hours{1};        ///< Ids of ended tasks are kept so long.
    Duration forget_nodes_after = std::chrono::hours{24 * 30};  ///< History of departed nodes is kept so long.

    Narrowing narrowing = Narrowing::any;
    std::uint32_t boost_on_disk =
        7;  ///< M grows by this over `boost_unit` when all models are on disk (seed 001: 0.7) ...
    std::uint32_t boost_in_use = 3;  ///< ... and by this when all are loaded (seed 001: 0.3).
    std::uint32_t boost_unit = 10;   ///< Both together are below 15 of these, for weights end at 16.

    std::uint32_t class_nodes_min =
        0;  ///< A class (GPU, VRAM, platform, version) of fewer nodes that have neither paused nor
            ///< left is given no task (2026, the name policy: 10). At most 1,024.

    // Defences, all off by default; `preset::Hardened` sets them.
    std::uint32_t narrow_from = 1;   ///< Where narrowing falls back, it needs so many nodes that can be drawn.
    std::uint32_t draw_among = 1;    ///< So many nodes are drawn, and one of them by even chance: no node's probability
                                     ///< is above 1 in so many, unless fewer can be drawn.
    bool refuse_unrunnable = false;  ///< A task that fits the class of no node that has not left is refused (rule 18).
    std::uint32_t tasks_per_owner_max =
        0xFFFF'FFFFU;     ///< Unfinished tasks; those without owner are the embedder's own.
    Ratio outbid_by = 1;  ///< A newcomer to a full queue must be worth so many times as much as the worst, or goes.
    Duration value_doubles_in{};  ///< In the queue a task's worth doubles in each such time since its submission, and
                                  ///< so as long as its patience lasts. 0: it does not.

    // Limits on what strangers may fill the state with.
    std::uint32_t nodes_max = 1U << 24U;
    std::uint32_t tasks_max = 1U << 26U;
    std::uint32_t classes_max = 4'096;
    std::uint32_t requirements_max = 4'096;
    std::uint32_t models_max = 1U << 20U;  ///< Different ones on the disks of nodes.
    std::uint32_t models_per_task_max = 64;
    std::uint32_t models_per_node_max = 4'096;  ///< Of those on its disk; a success writes down no more than these.
    std::uint32_t wishes_per_node_max = 64;  ///< Models a node was asked to fetch; the wish that ends first gives way.
    std::uint32_t choices_max = 64;          ///< GPU choices or platforms of one task.
    std::uint32_t labels_max = 16;
    std::uint32_t name_bytes_max = 128;
    std::uint32_t avoided_max = 16;        ///< Nodes one task avoids; the oldest is forgotten.
    std::uint32_t group_members_max = 64;  ///< Tasks of one validation group.
    std::uint32_t gang_max = 16;           ///< Nodes of one gang.

    /// What is wrong with the parameters, as one sentence; null when they make sense together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto longest = Duration{std::int64_t{1} << 40};
        constexpr auto small = [](std::uint32_t n, std::uint32_t max) { return n >= 1 && n <= max; };
        constexpr auto wait = [longest](Duration d) { return d >= Duration{0} && d <= longest; };
        return detail::first_unmet({
            {due_max >= 1, "allot: Rules: due_max must be at least 1"},
            {renewals_max >= 1, "allot: Rules: renewals_max must be at least 1"},
            {evictions_max >= 1, "allot: Rules: evictions_max must be at least 1"},
            {wait(forget_tasks_after), "allot: Rules: forget_tasks_after must be 0 to 2^40 ms"},
            {wait(forget_nodes_after), "allot: Rules: forget_nodes_after must be 0 to 2^40 ms"},
            {!enumerator_name(narrowing).empty(), "allot: Rules: narrowing must be any, all, gate or none"},
            {small(boost_unit, 1'000), "allot: Rules: boost_unit must be 1 to 1,000"},
            {std::uint64_t{boost_on_disk} + boost_in_use < std::uint64_t{15} * boost_unit,
             "allot: Rules: boost_on_disk and boost_in_use together must be below 15 times boost_unit, for weights end "
             "at 16"},
            {class_nodes_min <= 1'024, "allot: Rules: class_nodes_min must be at most 1,024"},
            {small(narrow_from, 64), "allot: Rules: narrow_from must be 1 to 64"},
            {small(draw_among, 64), "allot: Rules: draw_among must be 1 to 64"},
            {tasks_per_owner_max >= 1, "allot: Rules: tasks_per_owner_max must be at least 1"},
            {outbid_by.den >= 1 && outbid_by.num >= outbid_by.den,
             "allot: Rules: outbid_by must be at least 1, over a denominator of at least 1"},
            {value_doubles_in == Duration{0} ||
                 (value_doubles_in >= std::chrono::minutes{1} && value_doubles_in <= longest),
             "allot: Rules: value_doubles_in must be 0 or a minute to 2^40 ms"},
            {small(nodes_max, 1U << 24U), "allot: Rules: nodes_max must be 1 to 2^24"},
            {small(tasks_max, 1U << 28U), "allot: Rules: tasks_max must be 1 to 2^28"},
            {small(classes_max, 1U << 16U), "allot: Rules: classes_max must be 1 to 2^16"},
            {small(requirements_max, 1U << 16U), "allot: Rules: requirements_max must be 1 to 2^16"},
            {small(models_max, 1U << 24U), "allot: Rules: models_max must be 1 to 2^24"},
            {models_per_task_max <= 1'024, "allot: Rules: models_per_task_max must be at most 1,024"},
            {std::uint64_t{nodes_max} * models_per_task_max <= std::uint64_t{1} << 32U,
             "allot: Rules: nodes_max times models_per_task_max must be at most 2^32, for bounds of draws are summed "
             "in 64 bits"},
            {models_per_node_max <= 1U << 16U, "allot: Rules: models_per_node_max must be at most 2^16"},
            {small(wishes_per_node_max, 1U << 16U), "allot: Rules: wishes_per_node_max must be 1 to 2^16"},
            {choices_max <= 1'024, "allot: Rules: choices_max must be at most 1,024"},
            {labels_max <= 1'024, "allot: Rules: labels_max must be at most 1,024"},
            {small(name_bytes_max, Name::size_max), "allot: Rules: name_bytes_max must be 1 to 128"},
            {avoided_max <= 1'024, "allot: Rules: avoided_max must be at most 1,024"},
            {small(group_members_max, 1U << 16U), "allot: Rules: group_members_max must be 1 to 2^16"},
            {small(gang_max, 255), "allot: Rules: gang_max must be 1 to 255"},
        });
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RulesParameters&, const RulesParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(RulesParameters, due_max, renewals_max, evictions_max, forget_tasks_after, forget_nodes_after, narrowing,
             boost_on_disk, boost_in_use, boost_unit, nodes_max, tasks_max, classes_max, requirements_max, models_max,
             models_per_task_max, models_per_node_max, choices_max, labels_max, name_bytes_max, avoided_max,
             group_members_max, gang_max, narrow_from, draw_among, refuse_unrunnable, tasks_per_owner_max, outbid_by,
             value_doubles_in, class_nodes_min, wishes_per_node_max)

/// The hub's own rules; stands among the policies. `Dispatcher{Rules{{.narrowing = Narrowing::gate}}}`.
class Rules {
public:
    using role = role::rules;
    using Parameters = RulesParameters;

    constexpr Rules() noexcept = default;
    constexpr explicit Rules(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }
    [[nodiscard]] constexpr auto operator->() const noexcept -> const Parameters* { return &parameters_; }

private:
    Parameters parameters_{};
};

/// Key of the id hashes. Pass a secret of your own, one a replica if you like: it never shows in a decision, and it
/// keeps strangers from choosing ids that collide.
struct IdKey {
    using role = role::id_key;
    std::uint64_t k0 = 0x616c'6c6f'7420'6964U;
    std::uint64_t k1 = 0x6b65'7920'6f66'2069U;
};

}}  // namespace allot::v0
