#pragma once

#include <chrono>
#include <tuple>
#include <utility>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/preset/hardened.hpp>
#include <allot/queue/flat_queue.hpp>

// The dispatcher that outsiders attack. One program is built for each of these.
#define ALLOT_BENCH_DEFAULT 0
#define ALLOT_BENCH_FLAT_QUEUE 1
#define ALLOT_BENCH_HARDENED 2
#if !defined(ALLOT_BENCH_VICTIM)
#    define ALLOT_BENCH_VICTIM ALLOT_BENCH_DEFAULT
#endif

namespace bench {

/// Ended tasks are forgotten at once, departed nodes within the hour.
inline auto forgetful(allot::RulesParameters rules) -> allot::RulesParameters {
    rules.forget_tasks_after = allot::Duration{0};
    rules.forget_nodes_after = std::chrono::minutes{1};
    return rules;
}

inline constexpr auto large_queue = allot::ValueQueueParameters{.capacity_min = 1U << 20U};

#if ALLOT_BENCH_VICTIM == ALLOT_BENCH_HARDENED

using VictimHub = decltype(allot::Dispatcher{allot::preset::Hardened{allot::Amount{77'000}}});

inline constexpr auto victim_estimate = std::chrono::hours{4};

inline auto victim_preset() -> allot::preset::Hardened {
    return allot::preset::Hardened{allot::Amount{77'000}, allot::Amount{~std::uint64_t{0}}};
}
inline auto victim_rules() -> allot::RulesParameters {
    return forgetful(std::get<allot::Rules>(victim_preset().policies()).parameters());
}
inline auto victim_hub() -> VictimHub {
    auto hub = VictimHub{victim_preset()};
    (void)hub.configure(victim_rules(), allot::rules_version_newest, allot::Moment{});
    (void)hub.configure(large_queue, allot::rules_version_newest, allot::Moment{});
    // Nodes do not rest, because an outsider that waits for an hour has nodes that have rested.
    const auto no_rest = allot::RestParameters{{0, 1}, allot::Duration{0}, allot::Duration{0}};
    (void)hub.configure(no_rest, allot::rules_version_newest, allot::Moment{});
    // Honest leases outlast a workload: a task that is tried again remembers which nodes had it, and that is no
    // flood's.
    auto long_leases = allot::FixedTermsParameters{.after_timeout = allot::Next::retry_elsewhere,
                                                   .after_failure = allot::Next::retry_elsewhere,
                                                   .attempts_max = 16,
                                                   .strikes_max = 3,
                                                   .blamed_max = 1};
    long_leases.length_max = long_leases.renewed_max;
    (void)hub.configure(long_leases, allot::rules_version_newest, allot::Moment{});
    return hub;
}

#else

#    if ALLOT_BENCH_VICTIM == ALLOT_BENCH_FLAT_QUEUE
using VictimQueue = allot::FlatQueue;
#    else
using VictimQueue = allot::ValueQueue;
#    endif
using VictimHub = allot::Dispatcher<allot::Rules, VictimQueue>;
inline constexpr auto victim_estimate = std::chrono::hours{1};

inline auto victim_rules() -> allot::RulesParameters { return forgetful({}); }
inline auto victim_hub() -> VictimHub { return VictimHub{allot::Rules{victim_rules()}, VictimQueue{large_queue}}; }

#endif

}  // namespace bench
