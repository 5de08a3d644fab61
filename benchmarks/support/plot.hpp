#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Lines over a double logarithmic grid, as a picture and as a table.
class Plot {
public:
    Plot(std::string title, std::string x, std::string y)
        : title_{std::move(title)}, x_{std::move(x)}, y_{std::move(y)} {}

    void add(const std::string& line, double x, double y) {
        auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.name == line; });
        if (found == lines_.end()) { found = lines_.insert(lines_.end(), Line{line, {}}); }
        found->points.emplace_back(x, y);
    }

    [[nodiscard]] auto table() const -> std::string {
        auto out = "| " + y_ + " by " + x_ + " |";
        auto rule = std::string{"|---|"};
        for (const auto& [x, y] : lines_.front().points) {
            out += " " + whole(x) + " |";
            rule += "---:|";
        }
        out += "\n" + rule + "\n";
        for (const auto& line : lines_) {
            out += "| " + line.name + " |";
            for (const auto& [x, unused] : lines_.front().points) {
                const auto at = std::find_if(line.points.begin(), line.points.end(),
                                             [x = x](const auto& p) { return p.first == x; });
                out += at == line.points.end() ? " |" : " " + whole(at->second) + " |";
            }
            out += "\n";
        }
        return out;
    }

    [[nodiscard]] auto svg() const -> std::string {
        const auto [x_low, x_high] = decades([](const auto& p) { return p.first; });
        const auto [y_low, y_high] = decades([](const auto& p) { return p.second; });
        const auto at_x = [&, low = x_low, high = x_high](double v) {
            return left + (std::log10(v) - low) / (high - low) * width;
        };
        const auto at_y = [&, low = y_low, high = y_high](double v) {
            return top + (high - std::log10(v)) / (high - low) * height;
        };
        auto out = std::string{
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 430' font-family='sans-serif' font-size='13'>\n"
            "<rect width='900' height='430' fill='#fff'/>\n"};
        out += text(left, 22, title_, "#222", "font-weight='bold'");
        for (auto decade = x_low; decade <= x_high; ++decade) {
            const auto x = at_x(std::pow(10.0, decade));
            out += stroke(x, top, x, top + height, "#ddd", 1) +
                   text(x, top + height + 18, whole(std::pow(10.0, decade)), "#444", "text-anchor='middle'");
        }
        for (auto decade = y_low; decade <= y_high; ++decade) {
            const auto y = at_y(std::pow(10.0, decade));
            out += stroke(left, y, left + width, y, "#ddd", 1) +
                   text(left - 6, y + 4, whole(std::pow(10.0, decade)), "#444", "text-anchor='end'");
        }
        out += text(left + width / 2, top + height + 38, x_, "#444", "text-anchor='middle'") +
               text(left - 6, top - 8, y_, "#444", "text-anchor='end'");
        // Names stand at the end of their lines, moved apart where they would overlap.
        auto order = std::vector<std::size_t>{};
        for (std::size_t i = 0; i < lines_.size(); ++i) { order.push_back(i); }
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return lines_[a].points.back().second > lines_[b].points.back().second; });
        auto free = 0.0;
        for (const auto i : order) {
            const auto& points = lines_[i].points;
            const auto* colour = colours[i % colours.size()];
            for (std::size_t p = 0; p < points.size(); ++p) {
                const auto x = at_x(points[p].first);
                const auto y = at_y(points[p].second);
                if (p > 0) { out += stroke(at_x(points[p - 1].first), at_y(points[p - 1].second), x, y, colour, 2); }
                out += "<circle cx='" + number(x) + "' cy='" + number(y) + "' r='3' fill='" + colour + "'/>\n";
            }
            const auto y = std::max(free, at_y(points.back().second) + 4);
            free = y + 16;
            out += text(left + width + 10, y, lines_[i].name, colour, "");
        }
        return out + "</svg>\n";
    }

private:
    struct Line {
        std::string name;
        std::vector<std::pair<double, double>> points;
    };
    static constexpr auto left = 90.0;
    static constexpr auto top = 50.0;
    static constexpr auto width = 540.0;
    static constexpr auto height = 320.0;
    static constexpr auto colours =
        std::array{"#7f7f7f", "#1f77b4", "#d62728", "#e377c2", "#9467bd", "#8c564b", "#2ca02c", "#17becf"};

    static auto number(double value) -> std::string {
        auto text = std::array<char, 32>{};
        std::snprintf(text.data(), text.size(), "%.1f", value);
        return text.data();
    }
    /// With a comma at every third digit.
    static auto whole(double value) -> std::string {
        auto text = std::to_string(std::llround(value));
        for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3) {
            text.insert(static_cast<std::size_t>(place), ",");
        }
        return text;
    }
    static auto text(double x, double y, const std::string& words, const std::string& colour, const std::string& more)
        -> std::string {
        return "<text x='" + number(x) + "' y='" + number(y) + "' fill='" + colour + "' " + more + ">" + words +
               "</text>\n";
    }
    static auto stroke(double x1, double y1, double x2, double y2, const std::string& colour, int wide) -> std::string {
        return "<line x1='" + number(x1) + "' y1='" + number(y1) + "' x2='" + number(x2) + "' y2='" + number(y2) +
               "' stroke='" + colour + "' stroke-width='" + std::to_string(wide) + "'/>\n";
    }
    template <class Of>
    [[nodiscard]] auto decades(Of of) const -> std::pair<double, double> {
        auto low = 1e300;
        auto high = 0.0;
        for (const auto& line : lines_) {
            for (const auto& point : line.points) {
                low = std::min(low, of(point));
                high = std::max(high, of(point));
            }
        }
        return {std::floor(std::log10(low)), std::ceil(std::log10(high))};
    }

    std::string title_;
    std::string x_;
    std::string y_;
    std::vector<Line> lines_;
};

}  // namespace bench
