#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <allot/format.hpp>

#include "support/commands.hpp"

namespace support {

/// Writes a command as a person would type it.
struct CommandText {
    using Text = std::string;

    static auto names(const std::vector<std::string>& list) -> Text {
        auto out = Text{};
        for (std::size_t i = 0; i < list.size() && i < 6; ++i) {
            out += fmt::format("{}{:.20}", i == 0 ? "" : " ", list[i].empty() ? "''" : list[i]);
        }
        return list.size() > 6 ? fmt::format("[{} ... {} names]", out, list.size()) : "[" + out + "]";
    }
    static auto of(const allot::Lease& l) -> Text {
        return fmt::format("task {} node {} token {}", l.task, l.node, l.token);
    }
    static auto of(const allot::SoftwareVersion& v) -> Text {
        return fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
    }

    auto operator()(const allot::command::Join& c) const -> Text {
        const auto& n = c.node;
        return fmt::format("join {} '{:.20}' {} GiB stake {} {} '{:.20}' {} operator {}", n.id, n.gpu, n.vram.count,
                           n.stake, names(n.models), n.platform, of(n.software),
                           n.operator_id ? n.operator_id->text() : "own");
    }
    auto operator()(const allot::command::Update& c) const -> Text {
        const auto& u = c.change;
        auto out = fmt::format("update {}", u.id);
        if (u.gpu) { out += fmt::format(" gpu '{}'", *u.gpu); }
        if (u.vram) { out += fmt::format(" {} GiB", u.vram->count); }
        if (u.stake) { out += fmt::format(" stake {}", *u.stake); }
        if (u.platform) { out += fmt::format(" platform '{}'", *u.platform); }
        if (u.software) { out += fmt::format(" software {}", of(*u.software)); }
        if (u.operator_id) { out += fmt::format(" operator {}", *u.operator_id); }
        return out;
    }
    auto operator()(const allot::command::Pause& c) const -> Text { return fmt::format("pause {}", c.node); }
    auto operator()(const allot::command::Resume& c) const -> Text { return fmt::format("resume {}", c.node); }
    auto operator()(const allot::command::Leave& c) const -> Text { return fmt::format("leave {}", c.node); }
    auto operator()(const allot::command::ReportModel& c) const -> Text {
        constexpr auto reports = std::array{"add", "remove", "load", "unload", "inventory"};
        return fmt::format("report_model {} {} {}", c.node, reports[static_cast<std::size_t>(c.report)],
                           names(c.models));
    }
    auto operator()(const allot::command::Observe& c) const -> Text {
        return fmt::format("observe {} {}", c.node, allot::detail::name_of(c.outcome));
    }
    auto operator()(const allot::command::Slash& c) const -> Text { return fmt::format("slash {}", c.node); }
    auto operator()(const allot::command::Submit& c) const -> Text {
        const auto& t = c.task;
        auto out = fmt::format("submit {} {} GiB fee {} for {} ms {}", t.id, t.vram_min.count, t.fee,
                               t.duration_estimate.count(), names(t.models));
        for (const auto& gpu : t.gpus) { out += fmt::format(" gpu '{}' {} GiB", gpu.name, gpu.vram.count); }
        if (!t.platforms.empty()) { out += " platforms " + names(t.platforms); }
        if (!t.platforms_refused.empty()) { out += " not on " + names(t.platforms_refused); }
        if (t.software) { out += " software " + of(*t.software); }
        if (t.group) { out += fmt::format(" group {}", *t.group); }
        if (t.owner) { out += fmt::format(" owner {}", *t.owner); }
        if (t.node) { out += fmt::format(" pinned to {}", *t.node); }
        return out;
    }
    auto operator()(const allot::command::Cancel& c) const -> Text { return fmt::format("cancel {}", c.task); }
    auto operator()(const allot::command::Commit& c) const -> Text { return "commit " + of(c.lease); }
    auto operator()(const allot::command::Disclose& c) const -> Text { return "disclose " + of(c.lease); }
    auto operator()(const allot::command::Complete& c) const -> Text { return "complete " + of(c.lease); }
    auto operator()(const allot::command::Fail& c) const -> Text {
        return fmt::format("fail {}: {}", of(c.lease), allot::detail::name_of(outcome_of(c.cause)));
    }
    auto operator()(const allot::command::Decline& c) const -> Text { return "decline " + of(c.lease); }
    auto operator()(const allot::command::Renew& c) const -> Text { return "renew " + of(c.lease); }
    auto operator()(const allot::command::Score& c) const -> Text {
        return fmt::format("score {} {}", c.node, c.points);
    }
    auto operator()(const allot::command::Advance&) const -> Text { return "advance"; }
    auto operator()(const allot::command::Match&) const -> Text { return "match"; }
    auto operator()(const allot::command::Postpone& c) const -> Text {
        return fmt::format("postpone {} ms", c.by.count());
    }
    auto operator()(const allot::command::Configure<Configuration>& c) const -> Text {
        constexpr auto policies = std::array{"rules", "queue", "qos", "placement", "terms"};
        return fmt::format("configure {} (alternative {})",
                           c.parameters.index() < policies.size() ? policies[c.parameters.index()] : "?",
                           c.parameters.index());
    }
};

[[nodiscard]] inline auto text(const Command& command) -> std::string { return std::visit(CommandText{}, command); }

[[nodiscard]] inline auto text(const allot::Events& events) -> std::string {
    auto out = std::string{};
    for (std::size_t i = 0; i < events.size(); ++i) {
        const auto* started = std::get_if<allot::event::TaskStarted>(&events[i]);
        out += fmt::format("        {} {}{}\n", i < events.answer() ? "due:" : "  ->", events[i],
                           started != nullptr ? fmt::format(" (token {})", started->lease.token) : "");
    }
    return out;
}

/// The steps so far, for the message when a property fails.
class Trace {
public:
    explicit Trace(const Setup& setup) : setup_{setup} {
        current() = this;
        static const auto armed = std::signal(SIGABRT, aborted);  // an assertion in the library ends the program
        (void)armed;
    }
    Trace(const Trace&) = delete;
    auto operator=(const Trace&) -> Trace& = delete;
    ~Trace() { current() = nullptr; }

    void note(std::string words) { entries_.push_back({std::move(words), {}, {}, {}}); }
    void command(const Command& what, const allot::Moment& when) { entries_.push_back({{}, what, when, {}}); }
    void events(const allot::Events& what) { entries_.back().events = what; }

    [[nodiscard]] auto text() const -> std::string {
        auto out = fmt::format("with setup {:#07x}\n", setup_.bits);
        for (const auto& entry : entries_) {
            if (!entry.command) {
                out += fmt::format("    --- {}\n", entry.note);
                continue;
            }
            out += fmt::format("    {} ms, {}: {}\n", entry.moment.time.time_since_epoch().count(),
                               entry.moment.entropy ? fmt::format("entropy {:x}", entry.moment.entropy->words[0])
                                                    : "no entropy",
                               support::text(*entry.command));
            out += support::text(entry.events);
        }
        return out;
    }

private:
    struct Entry {
        std::string note;
        std::optional<Command> command;
        allot::Moment moment;
        allot::Events events;
    };

    static auto current() -> Trace*& {
        static auto* trace = static_cast<Trace*>(nullptr);
        return trace;
    }
    static void aborted(int number) {
        if (current() != nullptr) { std::fputs(current()->text().c_str(), stderr); }
        std::signal(number, SIG_DFL);
        std::raise(number);
    }

    Setup setup_;
    std::vector<Entry> entries_;
};

/// Returns events as text; texts differ if events do.
[[nodiscard]] inline auto exact_text(const allot::Events& events) -> std::string {
    auto out = fmt::format("answer at {}\n", events.answer());
    for (const auto& event : events) {
        out += fmt::format("{} {}\n", event.index(), event);
        if (const auto* e = std::get_if<allot::event::TaskStarted>(&event)) {
            out += fmt::format("  {} {} {}\n", CommandText::of(e->lease), e->owner ? e->owner->text() : "",
                               e->lease.deadline.time_since_epoch().count());
        }
    }
    return out;
}

}  // namespace support
