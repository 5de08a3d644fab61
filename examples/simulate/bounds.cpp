#include "bounds.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "compare.hpp"
#include "csv.hpp"
#include "network.hpp"

namespace simulate {
namespace {

template <class T>
auto number(std::string_view text, T& into) -> bool {
    const auto* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, into);
    return error == std::errc{} && stopped == end;
}

/// The words of a line before its comment.
auto words_of(std::string_view line) -> std::vector<std::string_view> {
    constexpr auto space = std::string_view{" \t\v\f\r"};
    const auto text = line.substr(0, line.find('#'));
    auto words = std::vector<std::string_view>{};
    for (auto at = text.find_first_not_of(space); at < text.size();) {
        const auto end = std::min(text.find_first_of(space, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(space, end);
    }
    return words;
}

auto place_of(std::string_view word, const std::string& line) -> std::size_t {
    return static_cast<std::size_t>(word.data() - line.data());
}

auto join(const std::vector<std::string>& names) -> std::string { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

auto read_bounds(const std::string& path) -> std::vector<Bound> {
    auto stream = std::ifstream{path};
    if (!stream) { throw InputError{path, 0, 0, "cannot be opened"}; }
    auto all = std::vector<Bound>{};
    auto text = std::string{};
    for (auto line = std::size_t{1}; std::getline(stream, text); ++line) {
        const auto fields = words_of(text);
        if (fields.empty()) { continue; }
        const auto refuse = [&](std::size_t field, const std::string& what) {
            const auto column = field < fields.size() ? place_of(fields[field], text) + 1 : text.size() + 1;
            throw InputError{path, line, column, what};
        };
        if (fields.size() != 7 || fields[5] != "<=") { refuse(0, "expected ROW PRESET WORLD LOAD MEASURE <= BOUND"); }
        const auto word = [&](std::size_t field) { return std::string{fields[field]}; };
        auto bound = Bound{path, line, word(0), word(1), word(2), 0, word(4), 0};
        try {
            (void)choose_attacks(bound.row);
        } catch (const std::invalid_argument& error) { refuse(0, error.what()); }
        const auto presets = preset_names();
        if (std::find(presets.begin(), presets.end(), bound.preset) == presets.end()) {
            refuse(1, "expected a preset without parameters: " + join(presets));
        }
        const auto known = world_names();
        if (std::find(known.begin(), known.end(), bound.world) == known.end()) {
            refuse(2, "expected a world: " + join(known));
        }
        if (!number(fields[3], bound.load_percent) || bound.load_percent < 1 || bound.load_percent > 1'000) {
            refuse(3, "expected a load from 1 to 1000, in percent");
        }
        if (!number(fields[6], bound.most)) { refuse(6, "expected a number"); }
        all.push_back(std::move(bound));
    }
    if (all.empty()) { throw InputError{path, 1, 1, "there is no bound in it"}; }
    return all;
}

auto with_bounds(const std::string& path, const std::vector<Bound>& bounds, const std::vector<double>& most)
    -> std::string {
    auto stream = std::ifstream{path};
    auto all = std::string{};
    auto text = std::string{};
    auto next = std::size_t{0};
    for (auto line = std::size_t{1}; std::getline(stream, text); ++line) {
        if (next < bounds.size() && bounds[next].line == line) {
            const auto old = words_of(text).at(6);
            const auto up = most[next] + std::abs(most[next]) * 5e-4;  // so that four digits are not below it
            text.replace(place_of(old, text), old.size(), fmt::format("{:.4g}", up));
            ++next;
        }
        all += text + "\n";
    }
    return all;
}

}  // namespace simulate
