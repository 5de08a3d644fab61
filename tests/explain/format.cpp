// Text needs {fmt}, which the library itself does not.
#if __has_include(<fmt/format.h>)

#    include <string>

#    include <allot/format/explain.hpp>

#    include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace allot::literals;

namespace {

template <class T>
auto said(const T& value) -> std::string {
    return fmt::format("{}", value);
}

}  // namespace

TEST_CASE("an explanation of a task reads as a person would tell it") {
    auto e = allot::TaskExplanation{};
    e.task = "71f3";
    e.now = allot::TimePoint{84s};
    e.group = {24_GiB, {{"RTX 4090", {}}, {"H100", 80_GiB}}, {"Linux"}, {}, allot::SoftwareVersion{2, 6, 0}};
    e.group_size = 2;
    e.value = {100, 7};
    e.position = 3;
    e.queued = 41;
    e.capacity = 41;
    e.survives_above = allot::Value{5};
    e.nodes = 1'204;
    e.kept_out = {{allot::Reason::busy, 412}, {allot::Reason::excluded, 11}, {allot::Reason::models_missing, 14}};
    e.downloads = 3;
    e.next.on_lease_end = e.now + 250ms;
    e.next.on_readmission = e.now + 370s;
    e.next.on_resume = true;
    e.next.on_models = true;
    e.next.expires = e.now + 5h + 120s;
    e.relaxations = {{allot::Relaxed::models, {}, false, 14, 14},
                     {allot::Relaxed::vram, 16_GiB, false, 1, 1},
                     {allot::Relaxed::gpu, 24_GiB, false, 0, 0},
                     {allot::Relaxed::platform, {}, true, 371, 371}};
    CHECK(said(e) ==
          "task 71f3 queued for 1m24s; group VRAM >= 24 GiB, GPU RTX 4090 or H100 80 GiB, platform Linux, version >= "
          "2.6.0 "
          "(2 waiting); value 100/7; position 3 of 41, room for 41; to outlive the next eviction: more than 5/1\n"
          "1204 nodes: 412 busy | 11 excluded for a while (first back in 6m10s) | 14 lacks the required "
          "models "
          "(3 downloading) | 0 eligible\n"
          "nearest: without its models -> 14 nodes; VRAM >= 16 GiB -> 1 node; any platform and without its models -> "
          "371 nodes\n"
          "next try: when a node is free, in 250ms at the latest; when a node is readmitted, in 6m10s; when a node "
          "resumes; "
          "when a node has the models; expires in 5h2m");
}

TEST_CASE("an explanation of a node tells its part in each group, and what would better it") {
    auto e = allot::NodeExplanation{};
    e.node = "relay-7";
    e.state = allot::NodeState::busy;
    e.now = allot::TimePoint{10s};
    e.back_at = allot::TimePoint{20s};
    e.free_by = allot::TimePoint{5s};
    e.next_vram = 48_GiB;
    e.queued = 3;
    e.tasks = {{allot::Reason::gpu_differs, 2}};
    e.runnable = 1;
    e.next = allot::TaskId{5};
    auto group = allot::GroupOdds{};
    group.waiting = 1;
    group.now = {allot::u128{431}, allot::u128{10'000}, 2, 37};
    group.full_quality = {allot::u128{1} << 127, allot::u128{1} << 127, 1, 1};
    group.stake_doubled = allot::Odds{{}, {}, 0, 4};
    group.model = "sdxl";
    group.one_more_model = group.now;
    group.next_vram = group.now;
    e.groups = {group};
    CHECK(said(e) == "node relay-7 busy, excluded, back in 10s, free now at the latest\n"
                     "3 waiting tasks: 2 another GPU is required | 1 it could run, first task 5\n"
                     "any VRAM, any GPU (1 waiting): 4.3100 %, rank 2 of 37; stake doubled: not among 4 candidates; "
                     "perfect quality: 100.0000 %, rank 1 of 1; with model sdxl: 4.3100 %, rank 2 of 37; "
                     "with 48 GiB: 4.3100 %, rank 2 of 37");
}

TEST_CASE("one is said as one, and a group of gangs says how many nodes a task takes at once") {
    auto e = allot::NodeExplanation{};
    e.node = "relay-7";
    e.state = allot::NodeState::available;
    e.queued = 1;
    e.runnable = 1;
    auto group = allot::GroupOdds{};
    group.group.gang_size = 3;
    group.group.same_card = true;
    group.waiting = 1;
    group.now = {{}, {}, 0, 1};
    group.full_quality = group.now;
    e.groups = {group};
    CHECK(said(e) ==
          "node relay-7 available\n1 waiting task: 1 it could run\nany VRAM, any GPU, 3 nodes at once of one card "
          "(1 waiting): not among 1 candidate; perfect quality: not among 1 candidate");

    auto task = allot::TaskExplanation{};
    task.group.gang_size = 2;
    task.nodes = 1;
    CHECK(said(task).find("any GPU, 2 nodes at once (0 waiting)") != std::string::npos);
    CHECK(said(task).find("\n1 node: 0 eligible\n") != std::string::npos);
    CHECK(said(allot::Distribution{9, {}, {{"a", 1}}, 1}) ==
          "task 9: 1 candidate, total weight 1\nnode a 100.0000 % (weight 1)");
}

TEST_CASE("a distribution is told node by node, exactly") {
    const auto d = allot::Distribution{9, {}, {{"a", 1}, {"b", 3}}, 4};
    CHECK(said(d) == "task 9: 2 candidates, total weight 4\nnode a 25.0000 % (weight 1)\nnode b 75.0000 % (weight 3)");
    CHECK(said(allot::Distribution{9, {}, {}, {}}) == "task 9: 0 candidates, total weight 0");
}

#endif
