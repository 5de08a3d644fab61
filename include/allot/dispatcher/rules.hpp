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
    any,   ///< To holders of at least one model; to all eligible nodes if there is none.
    all,   ///< To holders of all models; to all eligible nodes if there is none.
    gate,  ///< To holders of all models, without fallback.
    none,  ///< Not at all: models only raise weights (seed 000).
};
ALLOT_ENUMERATORS(Narrowing, any, all, gate, none)

/// Parameters of the dispatcher itself.
struct RulesParameters {
    std::uint32_t due_max = 1'024;     ///< Maximum of due entries settled in one command.
    std::uint32_t renewals_max = 256;  ///< Maximum of bounds renewed in one command after a jump of the largest stake.
    std::uint32_t evictions_max = 16;  ///< Maximum of surplus tasks evicted in one command when the network shrinks; or
                                       ///< of tasks or nodes that make way in one command if a table is full.
    Duration forget_tasks_after = std::chrono::hours{1};        ///< Time for which ids of ended tasks are kept.
    Duration forget_nodes_after = std::chrono::hours{24 * 30};  ///< Time for which the history of departed nodes is
                                                                ///< kept.

    Narrowing narrowing = Narrowing::any;
    std::uint32_t boost_on_disk =
        7;  ///< M grows by this over `boost_unit` if all models are on disk (seed 001: 0.7) ...
    std::uint32_t boost_in_use = 3;  ///< ... and by this if all are loaded (seed 001: 0.3).
    std::uint32_t boost_unit = 10;   ///< The sum of both is below 15 times this, because weights end at 16.

    std::uint32_t class_nodes_min = 0;  ///< A class (GPU, VRAM, platform, version) with fewer nodes that have neither
                                        ///< paused nor left gets no task (2026, the name policy: 10). At most 1,024.

    // Defences, all off by default; `preset::Hardened` sets them.
    std::uint32_t narrow_from = 1;   ///< Number of drawable holders that narrowing needs, if it can fall back.
    std::uint32_t draw_among = 1;    ///< Number of nodes drawn, one of which is chosen with equal chance. No node's
                                     ///< probability exceeds 1 in so many, unless fewer can be drawn.
    bool refuse_unrunnable = false;  ///< A task that fits the class of no present node is refused (rule 18).
    std::uint32_t tasks_per_owner_max =
        0xFFFF'FFFFU;     ///< Unfinished tasks of one owner; tasks without owner belong to the embedder.
    Ratio outbid_by = 1;  ///< A newcomer to a full queue is evicted unless its value is at least this many times that
                          ///< of the worst task.
    Duration value_doubles_in{};  ///< Time since its submission in which a waiting task's value doubles, for as long as
                                  ///< its patience lasts. 0: no doubling.

    // Limits on the state that strangers can fill.
    std::uint32_t nodes_max = 1U << 24U;
    std::uint32_t tasks_max = 1U << 26U;
    std::uint32_t classes_max = 4'096;
    std::uint32_t requirements_max = 4'096;
    std::uint32_t models_max = 1U << 20U;  ///< Different models on the disks of nodes.
    std::uint32_t models_per_task_max = 64;
    std::uint32_t models_per_node_max = 4'096;  ///< Models on its disk; a success adds no model beyond this.
    std::uint32_t wishes_per_node_max = 64;  ///< Models that a node was asked to fetch; the wish that ends first makes
                                             ///< way.
    std::uint32_t choices_max = 64;          ///< GPU choices or platforms of one task.
    std::uint32_t labels_max = 16;
    std::uint32_t name_bytes_max = 128;
    std::uint32_t avoided_max = 16;        ///< Nodes that one task avoids; the first is forgotten.
    std::uint32_t group_members_max = 64;  ///< Tasks of one validation group.
    std::uint32_t gang_max = 16;           ///< Nodes of one gang.

    /// The fault of the parameters, as one sentence; null if there is none.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto small = [](std::uint32_t n, std::uint32_t max) { return n >= 1 && n <= max; };
        constexpr auto wait = [](Duration d) { return d >= Duration{0} && d <= duration_max; };
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
                 (value_doubles_in >= std::chrono::minutes{1} && value_doubles_in <= duration_max),
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
    /// True if there is no fault.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RulesParameters&, const RulesParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(RulesParameters, due_max, renewals_max, evictions_max, forget_tasks_after, forget_nodes_after, narrowing,
             boost_on_disk, boost_in_use, boost_unit, nodes_max, tasks_max, classes_max, requirements_max, models_max,
             models_per_task_max, models_per_node_max, choices_max, labels_max, name_bytes_max, avoided_max,
             group_members_max, gang_max, narrow_from, draw_among, refuse_unrunnable, tasks_per_owner_max, outbid_by,
             value_doubles_in, class_nodes_min, wishes_per_node_max)

/// Rules of the dispatcher itself, passed among the policies. `Dispatcher{Rules{{.narrowing = Narrowing::gate}}}`.
class Rules {
public:
    using role = role::rules;
    using Parameters = RulesParameters;

    /// Default parameters.
    constexpr Rules() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit Rules(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }
    /// Access to one parameter.
    [[nodiscard]] constexpr auto operator->() const noexcept -> const Parameters* { return &parameters_; }

private:
    Parameters parameters_{};
};

/// Key of the id hashes. Pass a secret of your own, also a different one per replica. It never affects a decision, and
/// it keeps strangers from choosing ids that collide.
struct IdKey {
    using role = role::id_key;
    std::uint64_t k0 = 0x616c'6c6f'7420'6964U;
    std::uint64_t k1 = 0x6b65'7920'6f66'2069U;
};

}}  // namespace allot::v0
