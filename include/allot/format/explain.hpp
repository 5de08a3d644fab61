#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>
#include <allot/format.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// A duration as text for a person: "6m10s", "1h2m", "250ms".
[[nodiscard]] inline auto span_text(Duration span) -> std::string {
    const auto ms = span.count();
    const auto s = ms / 1'000;
    if (ms < 1'000) { return fmt::format("{}ms", ms); }
    if (s < 60) { return fmt::format("{}s", s); }
    return s < 3'600 ? fmt::format("{}m{}s", s / 60, s % 60) : fmt::format("{}h{}m", s / 3'600, s / 60 % 60);
}

/// The time until a moment, as text.
[[nodiscard]] inline auto until_text(TimePoint now, TimePoint then) -> std::string {
    return then > now ? "in " + span_text(then - now) : "now";
}

/// "1 node", "2 nodes".
[[nodiscard]] inline auto counted(std::size_t count, std::string_view what) -> std::string {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A group's requirement as text: "VRAM >= 24 GiB, any GPU, 3 nodes at once".
[[nodiscard]] inline auto group_text(const Requirement& group) -> std::string {
    auto text =
        group.vram_min > Gibibytes{} ? fmt::format("VRAM >= {} GiB", group.vram_min.count) : std::string{"any VRAM"};
    if (group.gpus.empty()) { text += ", any GPU"; }
    for (const auto& gpu : group.gpus) {
        text += fmt::format("{}{}", &gpu == &group.gpus.front() ? ", GPU " : " or ", printable(gpu.name));
        text += gpu.vram > Gibibytes{} ? fmt::format(" {} GiB", gpu.vram.count) : std::string{};
    }
    for (const auto& platform : group.platforms) {
        text +=
            fmt::format("{}{}", &platform == &group.platforms.front() ? ", platform " : " or ", printable(platform));
    }
    for (const auto& platform : group.platforms_refused) {
        text += fmt::format("{}{}", &platform == &group.platforms_refused.front() ? ", platform not " : " or ",
                            printable(platform));
    }
    if (group.software) {
        text +=
            fmt::format(", version >= {}.{}.{}", group.software->major, group.software->minor, group.software->patch);
    }
    if (group.gang_size > 1) {
        text += fmt::format(", {} nodes at once{}", group.gang_size, group.same_card ? " of one card" : "");
    }
    return text;
}

[[nodiscard]] inline auto value_text(const Value& value) -> std::string {
    return fmt::format("{}/{}", to_decimal(value.num()), value.den());
}

[[nodiscard]] inline auto relaxation_text(const Relaxation& relaxation) -> std::string {
    const auto what = [&]() -> std::string {
        switch (relaxation.what) {
            case Relaxed::models: return "without its models";
            case Relaxed::vram: return fmt::format("VRAM >= {} GiB", relaxation.vram.count);
            case Relaxed::gpu: return fmt::format("any GPU of {} GiB", relaxation.vram.count);
            case Relaxed::platform: return "any platform";
            case Relaxed::version: break;
        }
        return "any version";
    };
    return fmt::format("{}{} -> {}", what(), relaxation.and_models ? " and without its models" : "",
                       counted(relaxation.freed, "node"));
}

/// Weight over total in per cent, with parts of a million. Only the text is rounded; the numbers are exact.
[[nodiscard]] inline auto share_text(u128 weight, u128 total) -> std::string {
    if (total == u128{0}) { return "0 %"; }
    auto shift = 0;  // both below 2^108, so that a million times the weight fits
    while (bit_width(total >> shift) > 108) { ++shift; }
    const auto parts = ((weight >> shift) * 1'000'000 / (total >> shift)).low();
    return fmt::format("{}.{:04} %", parts / 10'000, parts % 10'000);
}

[[nodiscard]] inline auto odds_text(const Odds& odds) -> std::string {
    return odds.rank == 0
               ? fmt::format("not among {}", counted(odds.candidates, "candidate"))
               : fmt::format("{}, rank {} of {}", share_text(odds.weight, odds.total), odds.rank, odds.candidates);
}

[[nodiscard]] constexpr auto name_of(NodeState state) noexcept -> std::string_view {
    switch (state) {
        case NodeState::available: return "available";
        case NodeState::busy: return "busy";
        case NodeState::pending_pause: return "about to pause";
        case NodeState::pending_leave: return "about to leave";
        case NodeState::paused: return "paused";
        case NodeState::left:
        case NodeState::departing:
        case NodeState::departing_free: break;
    }
    return "left";
}

}}}  // namespace allot::v0::detail

/// `fmt::print("{}", explanation)`: a few lines with the reasons why a task waits.
template <>
struct fmt::formatter<allot::TaskExplanation> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::TaskExplanation& e, Context& context) const {
        namespace say = allot::detail;
        const auto* state = e.state == allot::TaskState::running ? "running"
                            : e.state == allot::TaskState::held  ? "held"
                                                                 : "queued";
        auto text = fmt::format("task {} {} for {}; group {} ({} waiting); value {}; position {} of {}, room for {}",
                                e.task.text(), state, say::span_text(e.now - e.submitted_at), say::group_text(e.group),
                                e.group_size, say::value_text(e.value), e.position, e.queued, e.capacity);
        if (e.survives_above) {
            text += fmt::format("; to outlive the next eviction: more than {}", say::value_text(*e.survives_above));
        }
        text += fmt::format("\n{}: ", say::counted(e.nodes, "node"));
        for (const auto& row : e.kept_out) {
            text += fmt::format("{} {}", row.count, allot::message(row.reason));
            const auto lacks = row.reason == allot::Reason::models_missing || row.reason == allot::Reason::narrowed_out;
            if (row.reason == allot::Reason::excluded && e.next.on_readmission) {
                text += fmt::format(" (first back {})", say::until_text(e.now, *e.next.on_readmission));
            } else if (lacks && e.downloads > 0) {
                text += fmt::format(" ({} downloading)", e.downloads);
            }
            text += " | ";
        }
        text += fmt::format("{} {}", e.candidates, allot::message(allot::Reason::none));
        auto first = true;
        for (const auto& relaxation : e.relaxations) {
            if (relaxation.freed > 0) {
                text += fmt::format("{}{}", first ? "\nnearest: " : "; ", say::relaxation_text(relaxation));
                first = false;
            }
        }
        text += "\nnext try: ";
        if (e.next.on_match) { text += "at the next match; "; }
        if (e.next.on_lease_end) {
            text +=
                fmt::format("when a node is free, {} at the latest; ", say::until_text(e.now, *e.next.on_lease_end));
        }
        if (e.next.on_readmission) {
            text += fmt::format("when a node is readmitted, {}; ", say::until_text(e.now, *e.next.on_readmission));
        }
        if (e.next.on_resume) { text += "when a node resumes; "; }
        if (e.next.on_models) { text += "when a node has the models; "; }
        text += fmt::format("expires {}", say::until_text(e.now, e.next.expires));
        return write(text, context);
    }
};

/// `fmt::print("{}", explanation)`: why a node gets no tasks, and the changes that would raise its share.
template <>
struct fmt::formatter<allot::NodeExplanation> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::NodeExplanation& e, Context& context) const {
        namespace say = allot::detail;
        auto text = fmt::format("node {} {}", e.node.text(), say::name_of(e.state));
        if (e.back_at) { text += fmt::format(", excluded, back {}", say::until_text(e.now, *e.back_at)); }
        if (e.free_by) { text += fmt::format(", free {} at the latest", say::until_text(e.now, *e.free_by)); }
        if (e.held) { text += fmt::format(", then takes task {}, which is pinned to it", e.held->text()); }
        if (e.class_nodes_missing > 0) {
            text += fmt::format(", of a kind that gets tasks once {} more of it {} there", e.class_nodes_missing,
                                e.class_nodes_missing == 1 ? "is" : "are");
        }
        text += fmt::format("\n{}: ", say::counted(e.queued, "waiting task"));
        for (const auto& row : e.tasks) { text += fmt::format("{} {} | ", row.count, allot::message(row.reason)); }
        text += fmt::format("{} it could run", e.runnable);
        if (e.next) { text += fmt::format(", first task {}", e.next->text()); }
        if (e.next_cut) { text += ", but its pull stops before it finds one"; }
        for (const auto& group : e.groups) {
            text += fmt::format("\n{} ({} waiting): {}", say::group_text(group.group), group.waiting,
                                say::odds_text(group.now));
            if (group.stake_doubled) {
                text += fmt::format("; stake doubled: {}", say::odds_text(*group.stake_doubled));
            }
            text += fmt::format("; perfect quality: {}", say::odds_text(group.full_quality));
            if (group.one_more_model) {
                text += fmt::format("; with model {}: {}", allot::printable(group.model),
                                    say::odds_text(*group.one_more_model));
            }
            if (group.next_vram && e.next_vram) {
                text += fmt::format("; with {} GiB: {}", e.next_vram->count, say::odds_text(*group.next_vram));
            }
        }
        return write(text, context);
    }
};

/// `fmt::print("{}", distribution)`: one line per node, with its probability and its exact weight.
template <>
struct fmt::formatter<allot::Distribution> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Distribution& d, Context& context) const {
        auto text = fmt::format("task {}: {}, total weight {}", d.task.text(),
                                allot::detail::counted(d.nodes.size(), "candidate"), allot::to_decimal(d.total));
        for (const auto& share : d.nodes) {
            text += fmt::format("\nnode {} {} (weight {})", share.node.text(),
                                allot::detail::share_text(share.weight, d.total), allot::to_decimal(share.weight));
        }
        return write(text, context);
    }
};
