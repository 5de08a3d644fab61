// What outsiders can make a command cost. Each workload brings a network of so many honest nodes into the state that an
// outsider wants, and then counts a stream of the outsider's commands, or of honest commands beside it.
//
//     hostile --instructions SIZE         under callgrind: one dump for each workload (hostile.sh adds them up), but
//     for
//                                         the slow ones
//     hostile --all-instructions SIZE     the same for all
//     hostile --times SMALL LARGE         growth in time, the worst single command, and the heap when all has lapsed
//
// Arguments behind these are names of workloads; without any, all are run. CONTRIBUTING.md says how to add one.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#    include <malloc.h>
#endif

#include "support/allocations.hpp"
#include "workload/victim.hpp"

#if !defined(CALLGRIND_DUMP_STATS_AT)
#    define CALLGRIND_START_INSTRUMENTATION static_cast<void>(0)
#    define CALLGRIND_STOP_INSTRUMENTATION static_cast<void>(0)
#    define CALLGRIND_ZERO_STATS static_cast<void>(0)
#    define CALLGRIND_DUMP_STATS_AT(name) static_cast<void>(name)
#endif

namespace {

using bench::Victim;
using namespace std::chrono_literals;
namespace command = allot::command;

struct Workload {
    const char* name;
    std::function<void(Victim&)> prepare;                ///< What the outsider does before; not counted.
    std::function<void(Victim&, std::uint64_t)> attack;  ///< Counts one command, or a pair of them.
    double units = 0;        ///< How much of a named bound one command may use: 1.5 ordinary pairs each.
    std::size_t times = 32;  ///< How often `attack` is called.
    bool slow = false;       ///< Callgrind takes over ten seconds: the short form leaves it out.
};

// ---- steps that several workloads share ----------------------------------------------------------------------------

/// The stranger that joined last.
auto last(const Victim& v) { return allot::NodeId{v.nodes()}; }

/// A node of a made-up card.
auto of_card(Victim& v, std::uint64_t stake, const std::string& card, std::uint32_t vram = 1'000) {
    auto node = v.stranger(stake);
    node.gpu = card;
    node.vram = {vram};
    return node;
}

/// A name of as many bytes as a name may have, which differs from another one at its end.
auto long_name(std::uint32_t number) {
    const auto digits = std::to_string(number);
    return std::string(128 - digits.size(), '0') + digits;
}

/// 64 cards of long names that no other number gives.
auto cards(std::uint32_t number) {
    auto listed = std::vector<allot::GpuChoice>{};
    for (std::uint32_t i = 0; i < 64; ++i) { listed.push_back({long_name(1'000'000 + number * 64 + i), {}}); }
    return listed;
}

/// The last stranger pauses, and resumes the next time.
void flap(Victim& v, std::uint64_t i) {
    if (i % 2 == 0) {
        v.count(command::Pause{last(v)});
    } else {
        v.count(command::Resume{last(v)});
    }
}

void wait_for_strangers(Victim& v, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { v.apply(command::Submit{v.strange_task()}, false); }
}

void crowd(Victim& v, std::size_t count, std::uint64_t stake, std::uint64_t of_operator = 0) {
    for (std::size_t i = 0; i < count; ++i) {
        auto node = v.stranger(stake);
        if (of_operator != 0) { node.operator_id = allot::OperatorId{of_operator}; }
        v.apply(command::Join{std::move(node)}, false);
    }
}

/// Nodes of 32 models, an eighth of the network, where an honest node has the same card and models.
void beside_an_honest_holder(Victim& v) {
    const auto holder = [&] {
        auto node = v.stranger(1);
        for (auto i = 0; i < 32; ++i) { node.models.push_back("made-up-" + std::to_string(i)); }
        return command::Join{std::move(node)};
    };
    v.apply_honest(holder());
    for (std::size_t i = 0; i < v.size() / 8; ++i) { v.apply(holder(), false); }
}
/// The i-th of 32 parts of them leave.
void leave_a_part(Victim& v, std::uint64_t i, bool last_first) {
    const auto all = v.size() / 8;
    for (auto j = i * all / 32; j < (i + 1) * all / 32; ++j) {
        v.count(command::Leave{allot::NodeId{last_first ? v.nodes() - j : v.nodes() - all + j + 1}});
    }
}

/// A node of each of as many made-up cards as the table of classes has room for, but for some.
void fill_classes(Victim& v, std::uint32_t but = 0) {
    for (std::uint32_t i = but; i < v.rules().classes_max; ++i) {
        auto node = v.stranger(1);
        node.gpu = "made-up card " + std::to_string(i);
        v.apply(command::Join{std::move(node)}, false);
    }
}

/// A node without stake, the same each time, with a card of this name.
auto changing(Victim& v, std::string card) {
    auto node = v.stranger(0);
    node.id = allot::NodeId{"changes its card"};
    node.gpu = std::move(card);
    return node;
}

/// A task that runs anywhere but on a made-up platform.
auto wants_no_platform(Victim& v, std::uint64_t i) {
    auto task = v.task();
    task.platforms_refused = {"made-up platform " + std::to_string(i)};
    return command::Submit{task};
}

auto models(std::uint64_t first, std::size_t count) {
    auto names = std::vector<std::string>{};
    for (std::size_t i = 0; i < count; ++i) { names.push_back("made-up-" + std::to_string(first + i)); }
    return names;
}

/// Nodes that hold the same 4,096 models each.
void crowd_of_models(Victim& v, std::size_t count, std::uint64_t stake) {
    for (std::size_t i = 0; i < count; ++i) {
        auto node = v.stranger(stake);
        node.models = models(0, 4'096);
        v.apply(command::Join{std::move(node)}, false);
    }
}

/// A full network, whose poorest nodes hold 4,096 models of their own each.
void full_of_rich(Victim& v) {
    for (std::uint64_t i = 0; i < 64; ++i) {
        auto node = v.stranger(1);
        node.models = models(4'096 * i, 4'096);
        v.apply(command::Join{std::move(node)}, false);
    }
    v.under([&](auto& rules) { rules.nodes_max = static_cast<std::uint32_t>(v.nodes()); });
}

auto strange_with(Victim& v, std::vector<std::string> names) {
    auto task = v.strange_task();
    task.models = std::move(names);
    return task;
}

auto in_group(allot::TaskSpec task, std::uint64_t group) {
    task.group = allot::GroupId{group};
    return task;
}

void submit_and_cancel(Victim& v, const allot::TaskSpec& task) {
    v.count(command::Submit{task});
    v.apply(command::Cancel{task.id}, false);
}

void gate(allot::RulesParameters& rules) { rules.narrowing = allot::Narrowing::gate; }

/// A node declines a task before anybody else could draw: the task waits and avoids it.
void decline_unseen(Victim& v, const allot::TaskSpec& task) {
    v.apply(command::Submit{task});
    if (v.begun()) { v.apply(command::Decline{*v.begun()}, false); }
}

// ---- the workloads -------------------------------------------------------------------------------------------------

auto workloads() -> std::vector<Workload> {
    return {
        {"an ordinary pair", [](Victim&) {}, [](Victim& v, std::uint64_t) { v.count_pair(); }},

        {"a node without stake pauses and resumes beside waiting tasks",
         [](Victim& v) {
             wait_for_strangers(v, v.size());
             crowd(v, 1, 0);
         },
         flap},

        {"a busy node pauses and resumes beside waiting tasks",
         [](Victim& v) {
             wait_for_strangers(v, v.size());
             crowd(v, 1, 1);
             v.apply(command::Match{});
         },
         flap},

        {"gate: a node pauses and resumes beside tasks for models that it lacks",
         [](Victim& v) {
             v.under(gate);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 v.apply(command::Submit{strange_with(v, models(i % 1'000, 1))}, false);
             }
             crowd(v, 1, 1);
         },
         flap},

        {"gate: a match beside tasks for models that nobody has",
         [](Victim& v) {
             v.under(gate);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 v.apply(command::Submit{strange_with(v, models(i % 1'000, 1))}, false);
             }
             crowd(v, 16, 1);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Match{}); }, 0, 4},

        {"gate: tasks for two models that nobody holds together",
         [](Victim& v) {
             v.under(gate);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 auto node = v.stranger(1);
                 node.models = models(i % 2, 1);
                 v.apply(command::Join{std::move(node)}, false);
             }
         },
         [](Victim& v, std::uint64_t) { submit_and_cancel(v, strange_with(v, models(0, 2))); }, 160},

        {"gate: a node pauses and resumes beside tasks for its model and two others each",
         [](Victim& v) {
             v.under(gate);
             // The other models are known before and have lower ids, so such a task is listed under the node's.
             for (std::uint64_t i = 0; i < 460; ++i) { v.apply(command::Submit{strange_with(v, models(i, 1))}, false); }
             auto node = v.stranger(1);
             node.models = models(1'000, 1);
             v.apply(command::Join{node}, false);
             auto made = std::size_t{0};
             for (std::uint64_t a = 0; a < 460 && made < v.size(); ++a) {
                 for (std::uint64_t b = a + 1; b < 460 && made < v.size(); ++b, ++made) {
                     v.apply(command::Submit{strange_with(v, {models(a, 1)[0], models(b, 1)[0], models(1'000, 1)[0]})},
                             false);
                 }
             }
         },
         flap},

        {"a match beside tasks that all free nodes declined",
         [](Victim& v) {
             crowd(v, 1, 1);
             for (std::size_t i = 0; i < v.size(); ++i) { decline_unseen(v, v.strange_task()); }
         },
         [](Victim& v, std::uint64_t) { v.count(command::Match{}); }, 0, 4},

        {"a node pauses and resumes beside tasks that it declined",
         [](Victim& v) {
             crowd(v, 1, 1);
             for (std::size_t i = 0; i < v.size(); ++i) { decline_unseen(v, v.strange_task()); }
         },
         flap},

        {"a group whose nodes are all one operator's",
         [](Victim& v) {
             crowd(v, v.size(), 1, 1'000);
             v.apply(command::Submit{in_group(v.strange_task(), 1)});
         },
         [](Victim& v, std::uint64_t) { submit_and_cancel(v, in_group(v.strange_task(), 1)); }, 160},

        {"a pair beside forty gangs in groups of one operator",
         [](Victim& v) {
             crowd(v, v.size(), 1, 1'000);
             for (std::uint64_t i = 0; i < 40; ++i) {
                 auto gang = in_group(v.strange_task(), i + 1);
                 gang.gang_size = 2;
                 gang.fee = 1'000'000;
                 v.apply(command::Submit{gang}, false);
             }
             v.apply(command::Submit{v.strange_task()});
         },
         [](Victim& v, std::uint64_t) {
             if (v.begun()) { v.count(command::Complete{*v.begun()}); }
             v.apply(command::Submit{v.strange_task()});
         },
         160},

        {"a pair beside gangs that never fit",
         [](Victim& v) {
             crowd(v, 8, 1);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 auto gang = v.strange_task();
                 gang.gang_size = 16;
                 v.apply(command::Submit{gang}, false);
             }
         },
         [](Victim& v, std::uint64_t) { v.count_pair(); }},

        {"gangs of one card that no card is large enough for", [](Victim& v) { fill_classes(v); },
         [](Victim& v, std::uint64_t) {
             auto gang = v.task();
             gang.gang_size = 16;
             gang.same_card = true;
             gang.vram_min = bench::vram_of(bench::rows - 1);
             submit_and_cancel(v, gang);
         }},

        {"starts for a model that everybody was asked for",
         [](Victim& v) {
             crowd(v, v.size(), 1);
             for (std::size_t i = 0; i < v.size() / 8; ++i) {
                 const auto task = strange_with(v, models(0, 1));
                 v.apply(command::Submit{task});
                 v.apply(command::Cancel{task.id}, false);
             }
         },
         [](Victim& v, std::uint64_t) { submit_and_cancel(v, strange_with(v, models(0, 1))); }, 160},

        {"a whale joins and leaves", [](Victim&) {},
         [](Victim& v, std::uint64_t i) {
             if (i % 2 == 0) {
                 auto whale = v.stranger(0);
                 whale.vram = {1};  // no task fits it, so that it can leave at once
                 whale.stake = allot::Amount{allot::u128{1} << 90U};
                 v.count(command::Join{whale});
             } else {
                 v.count(command::Leave{last(v)});
             }
             v.count_pair();
         },
         256 + 160},

        {"a stake grows and falls a thousandfold", [](Victim& v) { crowd(v, 1, std::uint64_t{1} << 50U); },
         [](Victim& v, std::uint64_t i) {
             auto change = allot::NodeUpdate{.id = last(v)};
             change.stake = std::uint64_t{1} << (i % 2 == 0 ? 60U : 50U);
             v.count(command::Update{change});
         },
         256 + 160},

        {"nodes of low health beside tasks",
         [](Victim& v) {
             crowd(v, v.size(), 1'000'000'000'000);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 const auto node = allot::NodeId{v.nodes() - i};
                 v.apply(command::Score{node, 1}, false);
                 v.apply(command::Observe{node, allot::OutcomeKind::timeout_in_group}, false);
                 v.apply(command::Observe{node, allot::OutcomeKind::timeout_in_group}, false);
             }
         },
         [](Victim& v, std::uint64_t) { submit_and_cancel(v, v.strange_task()); }, 160},

        {"sixteen whales decline what is drawn for them",
         [](Victim& v) {
             crowd(v, v.size(), 1);
             crowd(v, 16, 1'000'000'000'000'000);
             v.rest();  // how whales come is another workload
         },
         [](Victim& v, std::uint64_t) {
             const auto task = v.strange_task();
             v.count(command::Submit{task});
             for (auto i = 0; i < 20 && v.begun(); ++i) { v.count(command::Decline{*v.begun()}); }
             v.apply(command::Cancel{task.id}, false);
         },
         160},

        {"a group's task is declined by node after node", [](Victim& v) { crowd(v, v.size(), 1); },
         [](Victim& v, std::uint64_t i) {
             if (i == 0) { v.apply(command::Submit{in_group(v.strange_task(), 1)}); }
             if (v.begun()) { v.count(command::Decline{*v.begun()}); }
         },
         160, 256},

        {"groups of as many members as allowed",
         [](Victim& v) {
             crowd(v, v.size(), 1);
             for (auto i = 0; i < 63; ++i) { v.apply(command::Submit{in_group(v.strange_task(), 1)}); }
         },
         [](Victim& v, std::uint64_t i) {
             if (i == 0) { v.apply(command::Submit{in_group(v.strange_task(), 1)}); }
             if (v.begun()) { v.count(command::Decline{*v.begun()}); }
         },
         160},

        {"a node that holds 4,096 models goes through the classes",
         [](Victim& v) {
             auto node = v.stranger(1);
             node.models = models(0, 4'096);
             v.apply(command::Join{std::move(node)});
         },
         [](Victim& v, std::uint64_t i) {
             auto change = allot::NodeUpdate{.id = last(v)};
             change.gpu = "card " + std::to_string(i);
             v.count(command::Update{change});
         },
         4'096 / 8, 1'024, true},

        {"a node that holds 4,096 models joins, works and leaves", [](Victim&) {},
         [](Victim& v, std::uint64_t) {
             auto node = v.stranger(1);
             node.models = models(0, 4'096);
             v.count(command::Join{node});
             v.count(command::Submit{strange_with(v, models(0, 1))});
             if (v.begun()) { v.count(command::Complete{*v.begun()}); }
             v.count(command::Leave{node.id});
             v.count(command::Advance{});  // settles what it left behind
         },
         4'096 / 8},

        {"tasks of as many requirements as allowed, and one more each time",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < v.rules().requirements_max; ++i) {
                 auto task = v.task();
                 task.gpus = {{"made-up card " + std::to_string(i), {}}};
                 v.apply(command::Submit{task}, false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             auto task = v.task();
             task.fee = 2'000;
             task.gpus = {{"further card " + std::to_string(i), {}}};
             v.count(command::Submit{task});
         },
         16},

        {"nodes of as many classes as allowed, and one more each time", [](Victim& v) { fill_classes(v); },
         [](Victim& v, std::uint64_t i) {
             auto node = v.stranger(2);
             node.gpu = "further card " + std::to_string(i);
             v.count(command::Join{node});
         },
         16},

        {"an ordinary pair beside as many classes and requirements as allowed",
         [](Victim& v) {
             fill_classes(v);
             for (std::uint32_t i = 1; i < v.rules().requirements_max; ++i) {
                 auto task = v.task();
                 task.vram_min = {1'000};
                 task.software = allot::SoftwareVersion{9, i % 256, i / 256};
                 v.apply(command::Submit{task}, false);
             }
         },
         [](Victim& v, std::uint64_t) { v.count_pair(); }},

        {"a task of one more requirement comes and goes, where every class fits every requirement",
         [](Victim& v) {
             fill_classes(v);
             for (std::uint32_t i = 64; i < v.rules().requirements_max; ++i) {
                 v.apply(wants_no_platform(v, i), false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             const auto task = wants_no_platform(v, 5'000 + i);
             v.count(task);
             v.count(command::Cancel{task.task.id});
         },
         0, 32},

        {"a node of one more class comes and goes, where every class fits every requirement",
         [](Victim& v) {
             // Its class stands before those of the other strangers.
             v.apply(command::Join{changing(v, "first card")});
             fill_classes(v, 512);
             for (std::uint32_t i = 0; i < v.rules().requirements_max; ++i) { v.apply(wants_no_platform(v, i), false); }
         },
         [](Victim& v, std::uint64_t i) {
             const auto node = changing(v, "further card " + std::to_string(i));
             v.count(command::Leave{node.id});
             v.count(command::Join{node});
         },
         0, 32},

        {"waiting tasks that are all due at one moment",
         [](Victim& v) {
             wait_for_strangers(v, v.size());
             v.pass(5h + 59min);
             v.settle();  // what the honest nodes run
             v.pass(1min);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 1'024, 1},

        {"leases that all end at one moment",
         [](Victim& v) {
             crowd(v, v.size(), 1'000);
             for (std::size_t i = 0; i < v.size(); ++i) { v.apply(command::Submit{v.strange_task()}); }
             v.pass(2h);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 1'024, 1},

        {"tasks for 64 made-up models each", [](Victim& v) { crowd(v, v.size(), 1); },
         [](Victim& v, std::uint64_t i) { submit_and_cancel(v, strange_with(v, models(i * 64, 64))); }, 64 * 11},

        {"tasks for 64 new models each, where nodes hold 4,096", [](Victim& v) { crowd_of_models(v, 64, 1); },
         [](Victim& v, std::uint64_t i) { submit_and_cancel(v, strange_with(v, models(5'000 + i * 64, 64))); }, 64 * 11,
         8},

        {"wishes of nodes that hold 4,096 models end at one moment",
         [](Victim& v) {
             crowd_of_models(v, 64, 1);
             const auto task = strange_with(v, models(5'000, 64));
             v.apply(command::Submit{task});
             v.apply(command::Cancel{task.id}, false);
             v.pass(31min);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 64, 1},

        {"leases of nodes that hold 4,096 models end at one moment",
         [](Victim& v) {
             crowd_of_models(v, 256, 1'000);
             v.pass(1min);
             for (auto i = 0; i < 256; ++i) { v.apply(command::Submit{v.strange_task()}); }
             v.pass(119min);
             v.settle();  // what the honest nodes run
             v.pass(1min);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 1'024, 1},

        {"leases of nodes that are about to leave and hold 4,096 models end at one moment",
         [](Victim& v) {
             crowd_of_models(v, 64, 1'000);
             v.pass(1min);
             for (auto i = 0; i < 64; ++i) { v.apply(command::Submit{v.strange_task()}); }
             for (auto i = 0; i < 64; ++i) { v.apply(command::Leave{allot::NodeId{v.nodes() - 63 + i}}, false); }
             v.pass(119min);
             v.settle();  // what the honest nodes run
             v.pass(1min);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 1'024},

        {"a whale beside nodes that hold 4,096 models",
         [](Victim& v) {
             crowd_of_models(v, 256, 1'000);
             v.rest();
         },
         [](Victim& v, std::uint64_t i) {
             if (i % 2 == 0) {
                 auto whale = v.stranger(0);
                 whale.vram = {1};
                 whale.stake = allot::Amount{allot::u128{1} << 90U};
                 v.count(command::Join{whale});
             } else {
                 v.count(command::Leave{last(v)});
             }
             for (auto more = 0; more < 3; ++more) { v.count(command::Advance{}); }
             v.rest();
         },
         256 + 160, 32, true},

        {"leases end at one moment beside eight gangs in groups of one operator",
         [](Victim& v) {
             crowd(v, 1'024, 1'000, 77);
             v.pass(1min);
             for (auto i = 0; i < 1'024; ++i) { v.apply(command::Submit{v.strange_task()}); }
             for (std::uint64_t i = 0; i < 8; ++i) {
                 auto gang = in_group(v.strange_task(), i + 1);
                 gang.gang_size = 2;
                 gang.fee = 1'000'000;
                 v.apply(command::Submit{gang});
             }
             v.pass(119min);
             v.settle();
             v.pass(1min);
         },
         [](Victim& v, std::uint64_t) { v.count(command::Advance{}); }, 1'024, 1},

        {"a pull beside gangs of as many requirements and classes as allowed",
         [](Victim& v) {
             for (std::uint32_t i = 96; i + 100 < v.rules().classes_max; ++i) {
                 v.apply(command::Join{of_card(v, 0, "made-up card " + std::to_string(i))}, false);
             }
             for (std::uint32_t i = 96; i < v.rules().requirements_max; ++i) {
                 auto gang = wants_no_platform(v, i);
                 gang.task.vram_min = {1'000};
                 gang.task.gang_size = 2;
                 v.apply(gang, false);
             }
             v.apply(command::Join{of_card(v, 1, "made-up card 96")}, false);
             for (std::uint64_t i = 0; i < 2; ++i) { v.apply(command::Resume{last(v)}); }
         },
         flap, 0, 32},

        {"a gang of one card in a group, where each card's nodes are one operator's",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 3'800; ++i) {
                 auto node = of_card(v, 1, "made-up card " + std::to_string(i / 2));
                 node.operator_id = allot::OperatorId{77};
                 v.apply(command::Join{std::move(node)}, false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             auto gang = in_group(v.task(), i + 1);
             gang.vram_min = {1'000};
             gang.gang_size = 2;
             gang.same_card = true;
             submit_and_cancel(v, gang);
         },
         160},

        {"a pull beside eight gangs in groups, where one operator has every size of VRAM",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 3'800; ++i) {
                 auto node = of_card(v, 1, "made-up card", 1'000 + i);
                 node.operator_id = allot::OperatorId{77};
                 v.apply(command::Join{std::move(node)}, false);
             }
             for (std::uint64_t i = 0; i < 8; ++i) {
                 auto gang = in_group(v.task(), i + 1);
                 gang.vram_min = {1'000};
                 gang.gang_size = 2;
                 v.apply(command::Submit{gang});
             }
         },
         flap, 160},

        {"tasks for 64 models that nodes of one class of many hold",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 3'800; ++i) {
                 v.apply(command::Join{of_card(v, 0, "made-up card " + std::to_string(i))}, false);
             }
             for (auto i = 0; i < 8; ++i) {
                 auto node = of_card(v, 1, "made-up card");
                 node.models = models(0, 64);
                 v.apply(command::Join{std::move(node)}, false);
             }
         },
         [](Victim& v, std::uint64_t) {
             auto task = v.task();
             task.models = models(0, 64);
             submit_and_cancel(v, task);
         },
         160},

        {"a group of a thousand nodes loses one after the other",
         [](Victim& v) {
             crowd(v, 1'100, 1'000);
             auto tasks = std::vector<allot::TaskId>{};
             for (auto i = 0; i < 61; ++i) {
                 auto gang = in_group(v.strange_task(), 1);
                 gang.gang_size = 16;
                 v.apply(command::Submit{gang});
                 tasks.push_back(gang.id);
             }
             auto waits = in_group(v.task(), 1);
             waits.vram_min = {9'999};
             v.apply(command::Submit{waits}, false);
             for (const auto& task : tasks) { v.apply(command::Cancel{task}, false); }
         },
         [](Victim& v, std::uint64_t i) {
             if (i == 0) { v.count(command::Submit{in_group(v.strange_task(), 1)}); }
             if (v.begun()) { v.count(command::Decline{*v.begun()}); }
         },
         160, 6},

        {"a node reports 4,096 models in the order that fits least, and drops them",
         [](Victim& v) {
             const auto names = models(0, 4'096);
             auto first = v.stranger(0);
             v.apply(command::Join{first}, false);
             for (auto name = names.rbegin(); name != names.rend(); ++name) {
                 v.apply(command::ReportModel{first.id, command::Report::add, {*name}}, false);
             }
             v.apply(command::Join{v.stranger(0)}, false);
         },
         [](Victim& v, std::uint64_t i) {
             const auto report = i % 2 == 0 ? command::Report::add : command::Report::remove;
             v.count(command::ReportModel{last(v), report, models(0, 4'096)});
         },
         4'096 / 8, 8},

        {"a class of 16 nodes that hold 4,096 models is the poorest of a full table",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 256; ++i) {
                 v.apply(command::Join{of_card(v, 100, "made-up card " + std::to_string(i))}, false);
             }
             for (auto i = 0; i < 16; ++i) {
                 auto node = of_card(v, 1, "poor card");
                 node.models = models(0, 4'096);
                 v.apply(command::Join{std::move(node)}, false);
             }
             v.under([](auto& rules) { rules.classes_max = 257; });
             v.rest();
         },
         [](Victim& v, std::uint64_t i) { v.count(command::Join{of_card(v, 50 + i, "new card")}); }, 16, 8},

        {"a new class where each of as many as allowed has 16 nodes",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 3'900 * 16; ++i) {
                 const auto poor = i % 39 == 0;
                 auto node = of_card(v, poor ? 1 : 2, "made-up card " + std::to_string(i / 16));
                 v.apply(command::Join{std::move(node)}, false);
             }
             v.under([](auto& rules) { rules.classes_max = 3'900; });
         },
         [](Victim& v, std::uint64_t i) { v.count(command::Join{of_card(v, 3, "new card " + std::to_string(i))}); }, 16,
         8},

        {"a node of a low class takes and drops models that 3,600 classes hold",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 300; ++i) {
                 v.apply(command::Join{of_card(v, 0, "made-up card " + std::to_string(i))}, false);
             }
             auto low = of_card(v, 1, "made-up card 100");
             v.apply(command::Join{low}, false);
             for (std::uint32_t i = 300; i < 3'900; ++i) {
                 auto node = of_card(v, 1, "made-up card " + std::to_string(i));
                 node.models = models(0, 64);
                 v.apply(command::Join{std::move(node)}, false);
             }
             v.rest();
         },
         [](Victim& v, std::uint64_t i) {
             const auto report = i % 2 == 0 ? command::Report::add : command::Report::remove;
             v.count(command::ReportModel{allot::NodeId{v.nodes() - 3'600}, report, models(0, 64)});
         },
         8, 32},

        {"a new card beside 4,000 requirements of 64 long names, and such a requirement beside 3,900 cards",
         [](Victim& v) {
             for (std::uint32_t i = 0; i < 3'900; ++i) { v.apply(command::Join{of_card(v, 0, long_name(i))}, false); }
             for (std::uint32_t i = 0; i < 4'000; ++i) {
                 auto task = v.task();
                 task.gpus = cards(i);
                 v.apply(command::Submit{task}, false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             const auto number = static_cast<std::uint32_t>(i);
             auto update = allot::NodeUpdate{.id = last(v)};
             update.gpu = long_name(900'000 + number);
             v.count(command::Update{update});
             auto task = v.task();
             task.gpus = cards(5'000 + number);
             submit_and_cancel(v, task);
         },
         0, 32},

        {"nodes and tasks come until every array and map has grown, and go", [](Victim&) {},
         [](Victim& v, std::uint64_t) {
             for (std::size_t i = 0; i < v.size() / 64; ++i) {
                 v.count(command::Join{v.stranger(1)});
                 auto task = v.strange_task();
                 task.vram_min = {9'999};
                 task.gpus = {};
                 v.count(command::Submit{task});
             }
         },
         0, 64},

        {"a gate before as many lists of models as tasks",
         [](Victim& v) { v.under([](auto& rules) { rules.narrowing = allot::Narrowing::gate; }); },
         [](Victim& v, std::uint64_t i) {
             const auto count = v.size() / 64;
             for (std::size_t j = 0; j < count; ++j) {
                 auto task = v.strange_task();
                 task.models = models(i * count + j, 1);
                 v.count(command::Submit{task});
             }
         },
         0, 64},

        {"3,900 classes hold what an honest node holds, and go",
         [](Victim& v) {
             auto honest = v.stranger(1'000);
             honest.models = models(0, 64);
             v.apply(command::Join{std::move(honest)}, false);
         },
         [](Victim& v, std::uint64_t i) {
             for (std::uint64_t j = 0; j < 120; ++j) {
                 auto node = of_card(v, 0, "made-up card " + std::to_string(i * 120 + j));
                 node.models = models(0, 64);
                 v.apply(command::Join{std::move(node)}, false);
             }
             v.count(command::Leave{last(v)});
         },
         8, 32},

        {"nodes hold what an honest one holds, and leave, last ones first", beside_an_honest_holder,
         [](Victim& v, std::uint64_t i) { leave_a_part(v, i, true); }, 4},

        {"nodes hold what an honest one holds, and leave, first ones first", beside_an_honest_holder,
         [](Victim& v, std::uint64_t i) { leave_a_part(v, i, false); }, 4},

        {"the upper sixth of a crowd of one class and model leaves, the highest one last",
         [](Victim& v) {
             for (std::size_t i = 0; i < v.size(); ++i) {
                 auto node = v.stranger(1);
                 node.models = models(0, 1);
                 v.apply(command::Join{std::move(node)}, false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             const auto all = v.size() / 6;
             for (auto j = i * all / 32; j < (i + 1) * all / 32; ++j) {
                 v.count(command::Leave{allot::NodeId{v.nodes() - all + j + 1}});
             }
         }},

        {"tasks wait beside an honest one, and are cancelled",
         [](Victim& v) {
             v.apply_honest(command::Submit{v.strange_task()});
             wait_for_strangers(v, v.size());
         },
         [](Victim& v, std::uint64_t i) {
             const auto part = v.size() / 32;
             for (std::uint64_t j = 0; j < part; ++j) {
                 v.count(command::Cancel{allot::TaskId{v.tasks() - v.size() + i * part + j + 1}});
             }
         }},

        {"a crowd pauses and resumes beside waiting tasks",
         [](Victim& v) {
             crowd(v, 64, 1);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 auto task = v.task();
                 task.gpus = {{"made-up card", {}}};
                 v.apply(command::Submit{task}, false);
             }
         },
         [](Victim& v, std::uint64_t i) {
             const auto node = allot::NodeId{v.nodes() - i % 64};
             v.count(command::Pause{node});
             v.count(command::Resume{node});
         }},

        {"a crowd without stake beside a task", [](Victim& v) { crowd(v, v.size(), 0); },
         [](Victim& v, std::uint64_t) { submit_and_cancel(v, v.strange_task()); }},

        {"a full queue is outbid again and again",
         [](Victim& v) {
             v.apply(command::Configure<Victim::Hub::Configuration>{
                 allot::ValueQueueParameters{.capacity_min = static_cast<std::uint32_t>(v.size())}});
             wait_for_strangers(v, v.size());
         },
         [](Victim& v, std::uint64_t i) {
             auto task = v.strange_task();
             task.fee = 2'000 + i;
             v.count(command::Submit{task});
         }},

        {"a class that was large opens and closes with one node",
         [](Victim& v) {
             v.under([](auto& rules) { rules.class_nodes_min = 4; });
             crowd(v, v.size(), 1);
             for (std::size_t i = 4; i < v.size(); ++i) {
                 v.apply(command::Leave{allot::NodeId{v.nodes() + 1 - i}}, false);
             }
             crowd(v, 1, 1);  // in a low slot
             v.apply(command::Leave{allot::NodeId{v.nodes() - v.size()}}, false);
         },
         flap},

        {"joins into a full network, whose poorest nodes are at work",
         [](Victim& v) {
             crowd(v, 300, 1);
             for (auto i = 0; i < 300; ++i) { v.apply(command::Submit{v.strange_task()}); }
             crowd(v, v.size(), 2);
             v.under([&](auto& rules) { rules.nodes_max = static_cast<std::uint32_t>(v.nodes()); });
         },
         [](Victim& v, std::uint64_t i) { v.count(command::Join{v.stranger(i % 2 * 3)}); }},

        {"joins into a full network, whose poorest nodes hold 4,096 models of their own each", full_of_rich,
         [](Victim& v, std::uint64_t) {
             v.count(command::Join{v.stranger(1'000)});
             v.settle();
         }},

        {"commands after a node of 4,096 models made way", full_of_rich,
         [](Victim& v, std::uint64_t) {
             v.apply(command::Join{v.stranger(1'000)}, false);
             v.count(command::Advance{});
         },
         1'024},  // due_max

        {"joins with new models into a full table of models",
         [](Victim& v) {
             for (std::uint64_t i = 0; i < v.size() + 64; ++i) {
                 auto node = v.stranger(2);
                 node.models = i < v.size() ? models(0, 2) : models(100 * i, 64);
                 v.apply(command::Join{std::move(node)}, false);
             }
             v.under([&](auto& rules) { rules.models_max = 2 + 64 * 64; });
         },
         [](Victim& v, std::uint64_t i) {
             auto node = v.stranger(1'000);
             node.models = models(1'000'000'000 + 100 * i, 64);
             v.count(command::Join{std::move(node)});
         },
         64 / 8},

        {"a node reports the last of many models that tasks name, and drops it",
         [](Victim& v) {
             v.under(gate);
             for (std::uint64_t i = 0; i <= v.size() / 64; ++i) {
                 v.apply(command::Submit{strange_with(v, models(64 * i, 64))}, false);
             }
             crowd(v, 1, 1);
         },
         [](Victim& v, std::uint64_t i) {
             v.count(command::ReportModel{last(v), i % 2 == 0 ? command::Report::add : command::Report::remove,
                                          models(v.size() / 64 * 64 + 63, 1)});
         }},

        {"a node reports a model and drops it",
         [](Victim& v) {
             v.under(gate);
             for (std::size_t i = 0; i < v.size(); ++i) {
                 v.apply(command::Submit{strange_with(v, models(1, 1))}, false);
             }
             crowd(v, 1, 1);
             for (const auto change : {command::Report::add, command::Report::remove}) {
                 v.apply(command::ReportModel{last(v), change, models(0, 1)}, false);  // makes room, once
             }
         },
         [](Victim& v, std::uint64_t i) {
             v.count(command::ReportModel{last(v), i % 2 == 0 ? command::Report::add : command::Report::remove,
                                          models(0, 1)});
         }},
    };
}

// ---- what is done with them ----------------------------------------------------------------------------------------

auto flooded(const Victim& network, const Workload& w) -> Victim {
    auto v = network;
    w.prepare(v);
    return v;
}

void flood(Victim& v, const Workload& w) {
    for (std::uint64_t i = 0; i < w.times; ++i) { w.attack(v, i); }
}

/// For callgrind: one dump for each workload, with its name and its number of commands.
void count_instructions(std::size_t size, const std::vector<Workload>& all) {
    const auto network = Victim{size};
    for (const auto& w : all) {
        auto v = flooded(network, w);
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
        flood(v, w);
        const auto dump = std::string{w.name} + "\t" + std::to_string(v.costs().size());
        CALLGRIND_DUMP_STATS_AT(dump.c_str());
        CALLGRIND_STOP_INSTRUMENTATION;
    }
}

struct Times {
    double mean = 0;   ///< Nanoseconds a command.
    double worst = 0;  ///< Of one command, in nanoseconds without those that its bounds and starts allow.
    double kept = 0;   ///< Heap when all has lapsed over the heap before.
};

/// The least of several repetitions of the same flood, command by command: what a neighbour disturbed is left out.
auto times(const Victim& network, const Workload& w, double pair, bool heap) -> Times {
    auto result = Times{};
    auto best = std::vector<Victim::Cost>{};
    const auto prepared = flooded(network, w);
    for (auto repetition = 0; repetition < 3; ++repetition) {
        auto v = prepared;
        flood(v, w);
        if (best.empty()) { best = v.costs(); }
        for (std::size_t i = 0; i < best.size(); ++i) {
            best[i].nanoseconds = std::min(best[i].nanoseconds, v.costs()[i].nanoseconds);
        }
    }
    for (const auto& cost : best) {
        result.mean += cost.nanoseconds / static_cast<double>(best.size());
        const auto allowed = 1.5 * pair * (w.units + static_cast<double>(cost.starts));
        result.worst = std::max(result.worst, cost.nanoseconds - allowed);
    }
    if (heap) {
        const auto allocations = bench::Allocations{};
        auto v = std::vector<Victim>{network};
        auto& one = v.front();
        for (auto i = 0; i < 64; ++i) { one.count_pair(); }
        const auto before = static_cast<double>(allocations.live_bytes());
        w.prepare(one);
        flood(one, w);
        one.lapse();
        result.kept = static_cast<double>(allocations.live_bytes()) / before;
    }
    return result;
}

void tell(const std::string& name, double is, double goal) {
    std::printf("%s\t%.2f\t%.2f\n", name.c_str(), is, goal);
    std::fflush(stdout);
}

/// Lets the allocator keep what is given back. Else each copy of the large network ends at fresh pages of the system,
/// and a command that needs a megabyte pays for them anew, while those of the small network find pages that were used
/// before.
void keep_memory() {
#if defined(__GLIBC__)
    (void)mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

void measure_times(std::size_t small, std::size_t large, const std::vector<Workload>& all) {
    keep_memory();
    const auto few = Victim{small};
    const auto many = Victim{large};
    const auto ordinary = workloads().front();
    const auto pair_of = [&](const Victim& network) {
        (void)times(network, ordinary, 0, false);  // warms the caches
        return 2 * times(network, ordinary, 0, false).mean;
    };
    const auto pair = pair_of(many);
    const auto small_pair = pair_of(few);
    const auto growth = pair / small_pair;
    // Other policies refuse some floods at the door. What is left takes less than an ordinary command, and counts as
    // one.
    constexpr auto least = ALLOT_BENCH_VICTIM == ALLOT_BENCH_DEFAULT ? 0.0 : 0.5;
    for (const auto& w : all) {
        const auto at_large = times(many, w, pair, true);
        const auto at_small = times(few, w, pair, false);
        tell(std::string{"growth in time, of the ordinary: "} + w.name,
             std::max(at_large.mean, least * pair) / std::max(at_small.mean, least * small_pair) / growth, 1.5);
        tell(std::string{"worst command, in pairs: "} + w.name, at_large.worst / pair, 100);
        tell(std::string{"heap when lapsed: "} + w.name, at_large.kept, 1.05);
    }
}

auto chosen(int count, char** names) -> std::vector<Workload> {
    auto all = workloads();
    if (count > 0) {
        std::erase_if(all, [&](const Workload& w) {
            return std::none_of(names, names + count, [&](const char* name) { return std::string{w.name} == name; });
        });
    }
    return all;
}

}  // namespace

auto main(int argc, char** argv) -> int {
    const auto mode = std::string{argc > 1 ? argv[1] : ""};
    const auto number = [&](int i) { return static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)); };
    if ((mode == "--instructions" || mode == "--all-instructions") && argc >= 3) {
        auto all = chosen(argc - 3, argv + 3);
        if (mode == "--instructions") {
            std::erase_if(all, [](const Workload& w) { return w.slow; });
        }
        count_instructions(number(2), all);
        return 0;
    }
    if (mode == "--times" && argc >= 4) {
        measure_times(number(2), number(3), chosen(argc - 4, argv + 4));
        return 0;
    }
    std::fprintf(stderr, "usage: hostile --instructions SIZE [NAME...] | --all-instructions SIZE [NAME...] | --times "
                         "SMALL LARGE [NAME...]\n");
    for (const auto& w : workloads()) { std::fprintf(stderr, "  %s\n", w.name); }
    return 2;
}
