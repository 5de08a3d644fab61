// Every figure, in one process. Options:
//   --short            fewer rounds
//   --size N           instead of 1,000,000 nodes and tasks
//   --only WORD        only subjects whose name contains the word
//   --given FILE       figures measured elsewhere, one a line: name <tab> ratio <tab> goal <tab> >= or <=, and perhaps
//   <tab> unit
//   --lines FILE       writes the figures in that form
//   --json FILE        writes them as JSON
//   --growth NAME      writes how they grow as NAME.svg and NAME.md

#include "support/figures.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using bench::Figure;

auto sign(const Figure& figure) -> const char* { return figure.kind == Figure::Kind::at_least ? ">=" : "<="; }

auto number(double value) -> std::string {
    auto text = std::array<char, 64>{};
    std::snprintf(text.data(), text.size(), value >= 1000 ? "%.0f" : value >= 100 ? "%.1f" : "%.2f", value);
    return text.data();
}

void print(const Figure& figure) {
    const auto ratio = number(figure.ratio) + " " + figure.unit;
    if (figure.kind == Figure::Kind::told) {
        std::printf("%-64s %14s\n", figure.name.c_str(), ratio.c_str());
        return;
    }
    const auto goal = std::string{sign(figure)} + " " + number(figure.goal);
    std::printf("%-64s %14s  %-12s %s\n", figure.name.c_str(), ratio.c_str(), goal.c_str(),
                figure.ok() ? "ok" : "short");
}

void read_given(const std::string& path, bench::Figures& figures) {
    auto file = std::ifstream{path};
    for (auto line = std::string{}; std::getline(file, line);) {
        auto fields = std::istringstream{line};
        auto field = [&] {
            auto text = std::string{};
            std::getline(fields, text, '\t');
            return text;
        };
        auto figure = Figure{field()};
        figure.ratio = std::strtod(field().c_str(), nullptr);
        figure.goal = std::strtod(field().c_str(), nullptr);
        const auto order = field();
        figure.kind = order == ">="   ? Figure::Kind::at_least
                      : order == "<=" ? Figure::Kind::at_most
                                      : Figure::Kind::told;
        if (auto unit = field(); !unit.empty()) { figure.unit = unit; }
        if (!figure.name.empty()) { figures.add(figure); }
    }
}

void write_lines(const std::string& path, const bench::Figures& figures) {
    auto file = std::ofstream{path};
    for (const auto& figure : figures.all()) {
        file << figure.name << '\t' << figure.ratio << '\t' << figure.goal << '\t'
             << (figure.kind == Figure::Kind::told ? "" : sign(figure)) << '\t' << figure.unit << '\n';
    }
}

void write_json(const std::string& path, const bench::Figures& figures) {
    auto file = std::ofstream{path};
    file << "{\n  \"size\": " << figures.large << ",\n  \"rounds\": " << figures.rounds << ",\n  \"figures\": [";
    auto separator = "\n";
    for (const auto& figure : figures.all()) {
        file << separator << "    {\"name\": \"" << figure.name << "\", \"ratio\": " << figure.ratio << ", \"unit\": \""
             << figure.unit << '"';
        if (figure.kind != Figure::Kind::told) {
            file << ", \"goal\": \"" << sign(figure) << ' ' << figure.goal
                 << "\", \"ok\": " << (figure.ok() ? "true" : "false");
        }
        file << '}';
        separator = ",\n";
    }
    file << "\n  ]\n}\n";
}

}  // namespace

auto main(int argc, char** argv) -> int try {
    auto figures = bench::Figures{};
    auto only = std::string{};
    auto given = std::string{};
    auto lines = std::string{};
    auto json = std::string{};
    for (auto i = 1; i < argc; ++i) {
        const auto option = std::string{argv[i]};
        if (option == "--short") {
            figures.quick = true;
            figures.rounds = 2;
            continue;
        }
        if (i + 1 == argc) {
            std::fprintf(stderr, "figures: what does %s mean?\n", option.c_str());
            return 2;
        }
        const auto value = std::string{argv[++i]};
        if (option == "--size") {
            figures.large = std::strtoull(value.c_str(), nullptr, 10);
        } else if (option == "--only") {
            only = value;
        } else if (option == "--given") {
            given = value;
        } else if (option == "--lines") {
            lines = value;
        } else if (option == "--growth") {
            figures.growth = value;
        } else if (option == "--json") {
            json = value;
        } else {
            std::fprintf(stderr, "figures: what does %s mean?\n", option.c_str());
            return 2;
        }
    }
#ifndef NDEBUG
    std::printf("With assertions: these figures mean little.\n");
#endif
    auto& subjects = bench::subjects();
    std::sort(subjects.begin(), subjects.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& subject : subjects) {
        if (subject.name.find(only) != std::string::npos) { subject.figures(figures); }
    }
    if (!given.empty()) { read_given(given, figures); }
    std::printf("\n%zu nodes, %zu tasks; best of %zu turns\n", figures.large, figures.large, figures.rounds);
    if (figures.large != 1'000'000) { std::printf("The goals are stated for 1,000,000.\n"); }
    for (const auto& figure : figures.all()) { print(figure); }
    if (!lines.empty()) { write_lines(lines, figures); }
    if (!json.empty()) { write_json(json, figures); }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "figures: %s\n", error.what());
    return 1;
}
