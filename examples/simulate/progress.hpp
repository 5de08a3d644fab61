#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

namespace simulate {

/// Reports the progress of a long task on standard error: a bar on a terminal, elsewhere a line for each tenth.
class Progress {
public:
    enum class Style : std::uint8_t { bar, lines, none };

    Progress(std::string_view title, std::uint64_t total, Style style)
        : title_{title}, total_{std::max<std::uint64_t>(total, 1)}, style_{style} {}
    Progress(const Progress&) = delete;
    auto operator=(const Progress&) -> Progress& = delete;
    ~Progress() {
        if (style_ == Style::bar && shown_ >= 0) { std::fputs("\n", stderr); }
    }

    /// Chooses a bar on a terminal, unless an option decides.
    [[nodiscard]] static auto choose(bool show, bool hide) -> Style {
        if (hide) { return Style::none; }
        return show || isatty(fileno(stderr)) == 1 ? Style::bar : Style::lines;
    }

    /// Shows a note behind the same part of the whole, where that can be replaced: on a terminal.
    void tell(std::string_view note) {
        if (style_ != Style::bar) { return; }
        const auto same = shown_;
        shown_ = -1;
        update(static_cast<std::uint64_t>(std::max(same, 0)) * total_ / 100, note);
        shown_ = same;
    }

    /// Shows that `done` of the total is done; `note` is printed behind the bar.
    void update(std::uint64_t done, std::string_view note) {
        const auto percent = static_cast<int>(std::min(done, total_) * 100 / total_);
        const auto step = style_ == Style::lines ? 10 : 1;
        if (style_ == Style::none || percent / step * step <= shown_) { return; }
        shown_ = percent / step * step;
        if (style_ == Style::lines) {
            fmt::print(stderr, "{}: {:3} %  {}\n", title_, shown_, note);
            return;
        }
        constexpr auto width = 32;
        const auto full = static_cast<std::size_t>(shown_ * width / 100);
        auto bar = std::string{};
        for (std::size_t i = 0; i < width; ++i) { bar += i < full ? "█" : "░"; }
        fmt::print(stderr, "\r{} {} {:3} %  {:<34.34}", title_, bar, shown_, note);
        std::fflush(stderr);
    }

private:
    std::string title_;
    std::uint64_t total_;
    Style style_;
    int shown_ = -1;
};

}  // namespace simulate
