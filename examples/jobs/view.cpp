#include "view.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common.hpp"

namespace jobs {
namespace {

auto bar(std::uint64_t done, std::uint64_t all, std::size_t width) -> std::string {
    const auto filled = static_cast<std::size_t>(done * width / all);
    return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}
auto letter_of(std::size_t job) -> char { return static_cast<char>('A' + job); }

auto state_of(const Contract& contract) -> std::string {
    if (!contract.settled()) { return contract.judged_records().empty() ? "at work" : "some work is done again"; }
    return contract.settled()->outcome == allot::JobOutcome::complete ? "ended, paid" : "ended, refunded";
}

/// A MacroJob: its owner, and each MicroJob as done, open, or locked with its holder and the time left.
auto macro_line(std::size_t job, std::size_t macro, const Contract::Seen& seen) -> std::string {
    const auto name = fmt::format("{}{}", letter_of(job), macro);
    if (!seen.control) { return name + "  nobody has opened it"; }
    const auto& control = *seen.control;
    const auto clock = control.clock + (now() - seen.heard);
    auto text = fmt::format("{} {:<5.5}", name, control.reign().owner.text());
    for (std::size_t k = 0; k < control.items.size(); ++k) {
        const auto& item = control.items[k];
        auto state = std::string{"open"};
        if (control.accepted[k]) {
            state = "done";
        } else if (item.closed) {
            state = "dead";
        } else if (item.is_held(clock)) {
            state = fmt::format("{:.5} {:.1f}s", item.hold->holder.text(),
                                static_cast<double>((item.hold->expires - clock).count()) / 1000.0);
        }
        text += fmt::format(" | {:<10.10}", state);
    }
    return text + (seen.ended ? " | all" : "");
}

/// What a member does, in words; `coarse` leaves out what changes all the time.
auto doing(const Member& member, const Dapp& dapp, const Crew& crew, const Scene& scene, bool coarse = false)
    -> std::string {
    const auto named = std::any_of(dapp.contracts().begin(), dapp.contracts().end(),
                                   [&](const auto& contract) { return contract.culprits().contains(member.name); });
    const auto report = dapp.reports().find(member.name);
    const auto fate = scene.fates.find(member.name);
    auto text = std::string{"is not here yet"};
    if (crew.runs(member.name)) {
        text = report == dapp.reports().end() ? "starts" : coarse ? "takes part" : report->second.doing;
    }
    if (fate != scene.fates.end()) { text = fate->second; }
    if (named) { text = "NAMED: wrong blocks"; }
    return text;
}

auto called(const Member& member) -> std::string {
    return member.role == Role::honest ? member.name : member.name + " (" + name_of(member.role) + ")";
}

/// Colours a few words; the rest stays as the terminal has it.
auto coloured(std::string line) -> std::string {
    const auto colour = [&](const std::string& word, const std::string& code) {
        for (auto at = line.find(word); at != std::string::npos; at = line.find(word, at)) {
            const auto shown = "\x1b[" + code + "m" + word + "\x1b[0m";
            line.replace(at, word.size(), shown);
            at += shown.size();
        }
    };
    colour("KILLED", "1;31");
    colour("NAMED", "1;31");
    colour("refused", "33");
    colour("Refused", "1;33");
    colour("done ", "32");
    colour("ended, paid", "1;32");
    return line;
}

auto reporters(const Crew& crew) -> std::vector<std::string> {
    auto names = std::vector<std::string>{};
    for (const auto& member : crew.members()) {
        if (member.role == Role::honest) { names.push_back(member.name); }
    }
    return names;
}

}  // namespace

View::View(bool live) : live_{live} {
    if (live_) { fmt::print("\x1b[2J"); }
}

auto View::size() -> Size {
    auto window = winsize{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) { return {}; }
    return {window.ws_col, window.ws_row};
}

auto View::macro_lines(const Dapp& dapp) -> std::vector<std::string> {
    auto lines = std::vector<std::string>{};
    for (std::size_t job = 0; job < dapp.contracts().size(); ++job) {
        const auto& seen = dapp.contracts()[job].seen();
        for (std::size_t m = 0; m < seen.size(); ++m) { lines.push_back(macro_line(job, m, seen[m])); }
    }
    return lines;
}

void View::draw(const Dapp& dapp, const Crew& crew, const Scene& scene) {
    if (live_) {
        draw_frame(frame(dapp, crew, scene, size()), size());
    } else {
        print_news(dapp, crew, scene);
    }
    std::fflush(stdout);
}

auto View::frame(const Dapp& dapp, const Crew& crew, const Scene& scene, Size size) -> std::vector<std::string> {
    auto lines = std::vector<std::string>{scene.title, "Broker: " + scene.broker};
    const auto& contracts = dapp.contracts();
    for (std::size_t job = 0; job < contracts.size(); ++job) {
        const auto [done, all] = contracts[job].progress();
        const auto width = std::clamp<std::size_t>(size.columns, 50, 140) - 40;
        lines.push_back(fmt::format("Job {} {} {}/{} {}", letter_of(job), bar(done, all, width), done, all,
                                    state_of(contracts[job])));
        for (std::size_t m = 0; m < contracts[job].seen().size(); ++m) {
            lines.push_back(macro_line(job, m, contracts[job].seen()[m]));
        }
    }
    const auto width = std::size_t{40};
    const auto columns = std::max<std::size_t>(1, size.columns / width);
    const auto rows = (crew.members().size() + columns - 1) / columns;
    for (std::size_t row = 0; row < rows; ++row) {
        auto line = std::string{};
        for (auto i = row; i < crew.members().size(); i += rows) {
            const auto& member = crew.members()[i];
            const auto text = fmt::format("{:<13}{}", called(member), doing(member, dapp, crew, scene));
            line += fmt::format("{:<{}.{}} ", text, width - 1, width - 1);
        }
        lines.push_back(line);
    }
    auto sum = std::uint64_t{0};
    auto counts = std::vector<std::string>{""};
    for (const auto& [what, times] : dapp.refused(reporters(crew))) {
        const auto text = fmt::format("  {} {}", times, what);
        if (counts.back().size() + text.size() > size.columns) { counts.emplace_back(); }
        counts.back() += text;
        sum += times;
    }
    lines.push_back(fmt::format("Refused by the honest so far: {} messages", sum));
    lines.insert(lines.end(), counts.begin(), counts.end());
    const auto& last = dapp.last_refusals();
    const auto used = lines.size() + 1;  // and the cursor's
    const auto room = size.rows > used ? size.rows - used : 0;
    for (auto i = last.size() - std::min(room, last.size()); i < last.size(); ++i) { lines.push_back("> " + last[i]); }
    return lines;
}

void View::draw_frame(const std::vector<std::string>& lines, Size size) const {
    auto out = std::string{"\x1b[H"};
    const auto rows = std::min(lines.size(), size.rows - 1);
    for (std::size_t i = 0; i < rows; ++i) { out += coloured(lines[i].substr(0, size.columns)) + "\x1b[K\n"; }
    fmt::print("{}\x1b[J", out);
}

void View::print_news(const Dapp& dapp, const Crew& crew, const Scene& scene) {
    auto news = std::map<std::string, std::string>{{"broker", scene.broker}};
    for (const auto& member : crew.members()) { news[called(member)] = doing(member, dapp, crew, scene, true); }
    for (std::size_t job = 0; job < dapp.contracts().size(); ++job) {
        const auto& contract = dapp.contracts()[job];
        const auto [done, all] = contract.progress();
        news[fmt::format("job {}", letter_of(job))] =
            fmt::format("{} {}/{} {}", bar(done, all, 30), done, all, state_of(contract));
    }
    for (const auto& [what, times] : dapp.refused(reporters(crew))) {
        auto least = std::uint64_t{1};
        while (least * 10 <= times) { least *= 10; }
        news["refused as " + what] = least == 1 ? "some" : fmt::format("more than {}", least - 1);
    }
    for (const auto& [what, state] : news) {
        if (last_[what] != state) { fmt::print("{}: {}\n", what, state); }
    }
    last_ = std::move(news);
}

}  // namespace jobs
