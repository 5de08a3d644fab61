#pragma once

#include <cstdint>

#include <allot/core/fields.hpp>
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
    std::uint32_t due_max = 1'024;       ///< Due work settled within one command.
    std::uint32_t renewals_max = 1'024;  ///< Stored bounds renewed within one command after a jump of the largest stake.
    std::uint32_t evictions_max = 16;    ///< Surplus tasks evicted within one command when the network shrinks; tasks or nodes that
                                         ///< make way within one where a table is full.
    Duration forget_tasks_after = std::chrono::hours{1};        ///< Ids of ended tasks are kept so long.
    Duration forget_nodes_after = std::chrono::hours{24 * 30};  ///< History of departed nodes is kept so long.

    Narrowing narrowing = Narrowing::any;
    std::uint32_t boost_on_disk = 7;  ///< M grows by this over `boost_unit` when all models are on disk (seed 001: 0.7) ...
    std::uint32_t boost_in_use = 3;   ///< ... and by this when all are loaded (seed 001: 0.3).
    std::uint32_t boost_unit = 10;

    std::uint32_t class_nodes_min = 0;  ///< A class (GPU, VRAM, platform, version) of fewer nodes that have neither paused nor
                                        ///< left is given no task (2026, the name policy: 10). At most 1,024.

    // Defences, all off by default; `preset::Hardened` sets them.
    std::uint32_t narrow_from = 1;   ///< Where narrowing falls back, it needs so many nodes that can be drawn.
    std::uint32_t draw_among = 1;    ///< So many nodes are drawn, and one of them by even chance: no node's probability is
                                     ///< above 1 in so many, unless fewer can be drawn.
    bool refuse_unrunnable = false;  ///< A task that fits the class of no node that has not left is refused (rule 18).
    std::uint32_t tasks_per_owner_max = 0xFFFF'FFFFU;  ///< Unfinished tasks; those without owner are the embedder's own.
    Ratio outbid_by = 1;             ///< A newcomer to a full queue must be worth so many times as much as the worst, or goes.
    Duration value_doubles_in{};     ///< In the queue a task's worth doubles in each such time since its submission, and so as
                                     ///< long as its patience lasts. 0: it does not.

    // Limits on what strangers may fill the state with.
    std::uint32_t nodes_max = 1U << 24U;
    std::uint32_t tasks_max = 1U << 26U;
    std::uint32_t classes_max = 4'096;
    std::uint32_t requirements_max = 4'096;
    std::uint32_t models_max = 1U << 20U;
    std::uint32_t models_per_task_max = 64;
    std::uint32_t models_per_node_max = 4'096;  ///< Of those on its disk; a success writes down no more than these.
    std::uint32_t wishes_per_node_max = 64;     ///< Models a node was asked to fetch; the wish that ends first gives way.
    std::uint32_t choices_max = 64;         ///< GPU choices or platforms of one task.
    std::uint32_t labels_max = 16;
    std::uint32_t name_bytes_max = 128;
    std::uint32_t avoided_max = 16;         ///< Nodes one task avoids; the oldest is forgotten.
    std::uint32_t group_members_max = 64;   ///< Tasks of one validation group.
    std::uint32_t gang_max = 16;            ///< Nodes of one gang.

    /// True when the parameters make sense together.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        constexpr auto longest = Duration{std::int64_t{1} << 40};
        constexpr auto small = [](std::uint32_t n, std::uint32_t max) { return n >= 1 && n <= max; };
        return due_max >= 1 && renewals_max >= 1 && forget_tasks_after >= Duration{0} && forget_tasks_after <= longest &&
               forget_nodes_after >= Duration{0} && forget_nodes_after <= longest && small(boost_unit, 1'000) &&
               boost_on_disk <= 1'000 && boost_in_use <= 1'000 && small(nodes_max, 1U << 24U) &&
               small(tasks_max, 1U << 28U) && small(classes_max, 1U << 16U) && small(requirements_max, 1U << 16U) &&
               small(models_max, 1U << 24U) && models_per_task_max <= 1'024 && models_per_node_max <= 1U << 16U && small(wishes_per_node_max, 1U << 16U) &&
               small(name_bytes_max, 4'096) && small(group_members_max, 1U << 16U) && small(gang_max, 255) &&
               class_nodes_min <= 1'024 && small(narrow_from, 64) && small(draw_among, 64) && tasks_per_owner_max >= 1 &&
               outbid_by.den >= 1 && outbid_by.num >= outbid_by.den &&
               (value_doubles_in == Duration{0} ||
                (value_doubles_in >= std::chrono::minutes{1} && value_doubles_in <= longest));
    }
    friend constexpr auto operator==(const RulesParameters&, const RulesParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(RulesParameters, due_max, renewals_max, evictions_max, forget_tasks_after, forget_nodes_after, narrowing, boost_on_disk,
             boost_in_use, boost_unit, nodes_max, tasks_max, classes_max, requirements_max, models_max, models_per_task_max,
             models_per_node_max, choices_max, labels_max, name_bytes_max, avoided_max, group_members_max, gang_max, narrow_from,
             draw_among, refuse_unrunnable, tasks_per_owner_max, outbid_by, value_doubles_in, class_nodes_min,
             wishes_per_node_max)

/// The hub's own rules; stands among the policies. `Dispatcher{Rules{{.narrowing = Narrowing::gate}}}`.
class Rules {
public:
    using role = role::rules;
    using Parameters = RulesParameters;

    constexpr Rules() noexcept = default;
    constexpr explicit Rules(const Parameters& parameters) noexcept : parameters_{parameters} {}

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) noexcept { parameters_ = parameters; }
    [[nodiscard]] constexpr auto operator->() const noexcept -> const Parameters* { return &parameters_; }

private:
    Parameters parameters_{};
};

/// Key of the id hashes. Pass a secret of your own, one a replica if you like: it never shows in a decision, and it keeps
/// strangers from choosing ids that collide.
struct IdKey {
    using role = role::id_key;
    std::uint64_t k0 = 0x616c'6c6f'7420'6964U;
    std::uint64_t k1 = 0x6b65'7920'6f66'2069U;
};

}}  // namespace allot::v0
