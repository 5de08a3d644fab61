#include "attacks_page.hpp"

#include <array>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comparison.hpp"

namespace simulate {
namespace {

constexpr auto columns = std::size_t{118};

/// A paragraph or an item of a list, in lines that are no longer than the pages of the project have.
auto wrapped(const std::string& begin, const std::string& text) -> std::string {
    auto out = begin;
    auto width = begin.size();
    auto words = std::istringstream{text};
    for (auto word = std::string{}; words >> word;) {
        if (width > begin.size() && width + 1 + word.size() > columns) {
            out += '\n' + std::string(begin.size(), ' ');
            width = begin.size();
        } else if (width > begin.size()) {
            out += ' ';
            ++width;
        }
        out += word;
        width += word.size();
    }
    return out + '\n';
}

auto word(const Json& json, const char* name) -> std::string { return json.at(name).get<std::string>(); }

auto all_sentences() -> std::string {
    auto text = std::string{};
    for (const auto& recipe : recipes()) {
        if (recipe.profits.empty()) { throw std::logic_error{recipe.name + " does not say who profits"}; }
        const auto one = sentences_of(recipe);
        text += fmt::format("\n### {}\n\n", word(one, "name"));
        text += wrapped("", word(one, "attack") + " " + word(one, "profits"));
        text += '\n' + wrapped("- ", "Honest twin: " + recipe.twin + ".");
        text += wrapped("- ", "Answer: " + recipe.answer + ".");
        text += wrapped("- ", "Cost to honest users: " + recipe.cost + ".");
        for (const auto& row : recipe.cases) { text += wrapped("- ", fmt::format("Row {}: {}.", row.row, row.what)); }
    }
    return text + '\n';
}

/// A cell of the table: bold where the limit is broken beyond doubt, with a question mark where it is not decided.
auto cell(const Json& measures, std::initializer_list<const char*> names) -> std::string {
    for (const auto* const name : names) {
        const auto found = measures.find(name);
        if (found == measures.end()) { continue; }
        const auto shown = word(*found, "shown");
        const auto verdict = found->value("verdict", "");
        return verdict == "failed" ? "**" + shown + "**" : verdict == "undecided" ? shown + " ?" : shown;
    }
    return "–";
}

/// By whom figures were made, and with what.
auto made_by(const Json& document, const std::string& pairs_of) -> std::string {
    const auto& played = document.at("played");
    return '\n' +
           wrapped("", fmt::format("Figures of allot {}, world {}, load {} %, {} {}, digest `{}`, by",
                                   word(played, "version"), word(played, "world"), word(played, "load"),
                                   played.at("seeds").get<int>(), pairs_of, word(document, "digest"))) +
           fmt::format("\n    {}\n", word(played, "command"));
}

/// The table of the rows that are enumerated.
auto shares(const Json& document) -> std::string {
    auto text = '\n' +
                wrapped("", "Enumerated, without an error: the attacker's share of all draws, and how much it is "
                            "above its share of the weight.") +
                "\n| row | means |";
    auto rows = std::string{};
    const auto& contenders = document.at("contenders");
    for (const auto& one : contenders) { text += fmt::format(" {0}: draws | {0}: too much |", word(one, "text")); }
    text += "\n|---|---|";
    for (std::size_t i = 0; i < contenders.size(); ++i) { text += "--:|--:|"; }
    const auto& table = document.at("shares");
    const auto first = word(contenders.front(), "text");
    for (const auto& row : table) {
        if (word(row, "preset") != first) { continue; }
        rows += fmt::format("\n| {} | {} |", word(row, "row"), word(row, "what"));
        for (const auto& contender : contenders) {
            for (const auto& other : table) {
                if (word(other, "row") == word(row, "row") && word(other, "preset") == word(contender, "text")) {
                    const auto& measures = other.at("measures");
                    rows += fmt::format(" {} | {} |", cell(measures, {"draw_share"}), cell(measures, {"share_excess"}));
                }
            }
        }
    }
    return rows.empty() ? rows : text + rows + '\n';
}

/// Calls a function with the first contender's part of each row and, in the order of the contenders, with all parts. A
/// row with a load of its own has parts of the contenders at that load alone.
template <class F>
void for_each_row(const Json& document, const F& f) {
    const auto& table = document.at("table");
    const auto& contenders = document.at("contenders");
    auto seen = std::set<std::string>{"-"};
    for (const auto& row : table) {
        if (!seen.insert(word(row, "row")).second) { continue; }
        auto all = std::vector<const Json*>{};
        for (const auto& contender : contenders) {
            for (const auto& other : table) {
                const auto same = word(other, "row") == word(row, "row");
                if (same && word(other, "preset") == word(contender, "text")) { all.push_back(&other); }
            }
        }
        f(row, all);
    }
}

auto begin_of(const Json& row) -> std::string {
    return fmt::format("| {} | [{}](#{}): {} |", word(row, "row"), word(row, "attack"), word(row, "attack"),
                       word(row, "what"));
}

/// Measures that have no column and no limit, as sentences.
auto told_figures(const Json& document) -> std::string {
    auto text = std::string{};
    for_each_row(document, [&](const Json& row, const std::vector<const Json*>& all) {
        for (const auto& [name, measure] : row.at("measures").items()) {
            if (!measure.contains("told")) { continue; }
            auto values = std::string{};
            for (const auto* const one : all) {
                values += fmt::format("{}{} {}", values.empty() ? "" : ", ", word(*one, "preset"),
                                      cell(one->at("measures"), {name.c_str()}));
            }
            text += wrapped("- ", fmt::format("{}, {}: {}.", word(row, "row"), word(measure, "told"), values));
        }
    });
    return text.empty() ? text : "\nAlso told:\n\n" + text;
}

/// One column a preset: what the attacker gains, and what it makes others lose where it has nothing to gain.
auto by_preset(const Json& document) -> std::string {
    auto text = made_by(document, "pairs of runs for each row") + "\n| row | attack |";
    auto line = std::string{"\n|---|---|"};
    for (const auto& one : document.at("contenders")) {
        text += fmt::format(" {} |", word(one, "text"));
        line += "--:|";
    }
    text += line + '\n';
    for_each_row(document, [&](const Json& row, const std::vector<const Json*>& all) {
        text += begin_of(row);
        for (const auto* const one : all) {
            const auto& measures = one->at("measures");
            const auto gains = measures.contains("gain") || measures.contains("price_gain");
            text += gains ? fmt::format(" {} |", cell(measures, {"price_gain", "gain"}))
                          : fmt::format(" loss {} |", cell(measures, {"harm"}));
        }
        text += '\n';
    });
    return text + '\n';
}

/// The figures that are beyond their limits, a sentence for each row and limit.
auto beyond_limits(const Json& document) -> std::string {
    auto text = std::string{};
    for_each_row(document, [&](const Json& row, const std::vector<const Json*>& all) {
        auto measured = std::map<std::string, const Json*>{};  // by any contender
        for (const auto* const one : all) {
            for (const auto& [name, measure] : one->at("measures").items()) { measured.try_emplace(name, &measure); }
        }
        for (const auto& [name, measure] : measured) {
            auto values = std::string{};
            for (const auto* const one : all) {
                const auto& measures = one->at("measures");
                const auto found = measures.find(name);
                if (found == measures.end() || found->value("verdict", "") != "failed") { continue; }
                values +=
                    fmt::format("{}{} {}", values.empty() ? "" : ", ", word(*one, "preset"), word(*found, "shown"));
            }
            if (values.empty()) { continue; }
            text += wrapped("- ", fmt::format("Row {}, `{}` ({} {:g}): {}.", word(row, "row"), name,
                                              measure->value("least", false) ? "at least" : "at most",
                                              measure->at("limit").get<double>(), values));
        }
    });
    return text.empty() ? text : "Beyond their limits by two standard errors:\n\n" + text + '\n';
}

auto figures(const Json& document) -> std::string {
    const auto& contenders = document.at("contenders");
    auto text = made_by(document, "pairs of runs for each row");
    auto out = std::back_inserter(text);
    fmt::format_to(out, "\n| row | attack |");
    for (const auto& one : contenders) {
        const auto name = word(one, "text");
        fmt::format_to(out, " {0}: gain | {0}: loss | {0}: outlay | {0}: griefing factor | {0}: harm share |", name);
    }
    fmt::format_to(out, "\n|---|---|");
    for (std::size_t i = 0; i < contenders.size(); ++i) { text += "--:|--:|--:|--:|--:|"; }
    text += '\n';
    auto costs = std::string{};
    for (const auto& row : document.at("table")) {
        if (word(row, "row") == "-") {
            const auto& measures = row.at("measures");
            costs += '\n' + wrapped("", fmt::format("Without an attack, {} over {}: sojourn {}, fees of tasks done {}.",
                                                    word(row, "preset"), word(contenders.front(), "text"),
                                                    cell(measures, {"sojourn"}), cell(measures, {"fees"})));
        }
    }
    for_each_row(document, [&](const Json& row, const std::vector<const Json*>& all) {
        text += begin_of(row);
        for (const auto* const one : all) {
            const auto& measures = one->at("measures");
            fmt::format_to(out, " {} | {} | {} | {} | {} |", cell(measures, {"price_gain", "gain"}),
                           cell(measures, {"harm"}), cell(measures, {"outlay"}), cell(measures, {"phi"}),
                           cell(measures, {"harm_share"}));
        }
        text += '\n';
    });
    return text + told_figures(document) + costs + shares(document) + '\n';
}

/// The table of honest costs: the first contender over each of the others.
auto costs(const Json& document) -> std::string {
    static constexpr auto shown = std::array{std::pair{"sojourn", "sojourn"},
                                             std::pair{"fees", "fees of tasks done"},
                                             std::pair{"sojourn_rare_cards", "rare cards: sojourn"},
                                             std::pair{"fees_rare_cards", "fees"},
                                             std::pair{"sojourn_rare_models", "rare models: sojourn"},
                                             std::pair{"fees_rare_models", "fees"},
                                             std::pair{"small_stakes", "small stakes: earned"}};
    auto text = made_by(document, "seeds") + "\n| over the same with |";
    for (const auto& [measure, title] : shown) { text += fmt::format(" {} |", title); }
    text += "\n|---|";
    for (std::size_t i = 0; i < shown.size(); ++i) { text += "--:|"; }
    text += '\n';
    for (const auto& row : document.at("table")) {
        const auto base = word(row, "against");
        text += fmt::format("| `{}` |", base.substr(base.find(':') + 1));
        for (const auto& [measure, title] : shown) {
            text += fmt::format(" {} |", cell(row.at("measures"), {measure}));
        }
        text += '\n';
    }
    return text + '\n';
}

auto replaced(const std::string& page, const std::string& name, const std::string& content) -> std::string {
    const auto begin = "<!-- " + name + " -->\n";
    const auto from = page.find(begin);
    const auto to = page.find("<!-- /" + name + " -->", from);
    if (from == std::string::npos || to == std::string::npos) {
        throw std::runtime_error{fmt::format("the page has no <!-- {0} --> or no <!-- /{0} -->", name)};
    }
    return page.substr(0, from + begin.size()) + content + page.substr(to);
}

}  // namespace

auto attacks_page(std::string page, const Json* comparison) -> std::string {
    if (comparison != nullptr) {
        const auto& attacks = comparison->at("attacks");
        const auto worlds = comparison->at("played").at("worlds").size();
        page = attacks.empty() ? replaced(page, "costs", costs(*comparison))
               : worlds > 1    ? replaced(page, "worlds", by_preset(*comparison) + beyond_limits(*comparison))
               : comparison->at("contenders").size() > 2 ? replaced(page, "presets", by_preset(*comparison))
                                                         : replaced(page, "figures", figures(*comparison));
    }
    return replaced(page, "attacks", all_sentences());
}

}  // namespace simulate
