#include "csv.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace simulate {
namespace {

auto read_whole_file(const std::string& path) -> std::string {
    auto stream = std::ifstream{path, std::ios::binary};
    if (!stream) { throw InputError{path, 0, 0, "cannot be opened"}; }
    auto content = std::string{std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
    if (stream.bad()) { throw InputError{path, 0, 0, "cannot be read"}; }
    return content;
}

/// Splits one line at its commas; a field may be quoted with double quotes, and "" stands for a quote inside.
auto split(const std::string& file, std::size_t line, std::string_view text) -> std::vector<Field> {
    auto fields = std::vector<Field>{};
    auto at = std::size_t{0};
    while (true) {
        auto field = Field{{}, at + 1};
        if (at < text.size() && text[at] == '"') {
            for (++at;; ++at) {
                if (at == text.size()) { throw InputError{file, line, field.column, "quoted field has no end"}; }
                if (text[at] != '"') {
                    field.text += text[at];
                } else if (at + 1 < text.size() && text[at + 1] == '"') {
                    field.text += text[++at];
                } else {
                    break;
                }
            }
            if (++at < text.size() && text[at] != ',') {
                throw InputError{file, line, at + 1, "expected a comma after the quoted field"};
            }
        } else {
            const auto end = std::min(text.find(',', at), text.size());
            field.text = std::string{text.substr(at, end - at)};
            for (auto i = at; i < end; ++i) {
                if (text[i] == '"' || static_cast<unsigned char>(text[i]) < 0x20) {
                    throw InputError{file, line, i + 1,
                                     text[i] == '"' ? "quote inside an unquoted field" : "control character"};
                }
            }
            at = end;
        }
        fields.push_back(std::move(field));
        if (at == text.size()) { return fields; }
        ++at;
    }
}

/// Returns the index in the header of each requested column.
auto find_columns(const std::string& file, const std::vector<Field>& header, const std::vector<std::string>& columns,
                  std::size_t needed) -> std::vector<std::size_t> {
    auto places = std::vector<std::size_t>{};
    for (const auto& column : columns) {
        const auto named = [&](const Field& field) { return field.text == column; };
        const auto found = std::find_if(header.begin(), header.end(), named);
        if (found == header.end() && places.size() >= needed) {
            places.push_back(header.size());
            continue;
        }
        if (found == header.end()) {
            throw InputError{file, 1, 1, fmt::format("the header has no column \"{}\"", column)};
        }
        const auto again = std::find_if(std::next(found), header.end(), named);
        if (again != header.end()) {
            throw InputError{file, 1, again->column, fmt::format("column \"{}\" stands twice in the header", column)};
        }
        places.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    return places;
}

}  // namespace

InputError::InputError(const std::string& file, std::size_t line, std::size_t column, std::string_view what)
    : std::runtime_error{line == 0 ? fmt::format("{}: {}", file, what)
                                   : fmt::format("{}:{}:{}: {}", file, line, column, what)} {}

void Row::refuse(std::size_t index, std::string_view what, std::size_t offset) const {
    throw InputError{*file_, line_, fields_.at(index).column + offset, what};
}

auto Row::integer(std::size_t index, std::int64_t min, std::int64_t max) const -> std::int64_t {
    const auto& field = text(index);
    auto value = std::int64_t{0};
    const auto* const end = field.data() + field.size();
    const auto [stopped, error] = std::from_chars(field.data(), end, value);
    if (field.empty()) { refuse(index, "expected a whole number, found an empty field"); }
    if (error == std::errc::invalid_argument || stopped != end) {
        refuse(index, fmt::format("expected a whole number, found \"{}\"", field),
               static_cast<std::size_t>(stopped - field.data()));
    }
    if (error == std::errc::result_out_of_range || value < min || value > max) {
        refuse(index, fmt::format("{} is not in [{}, {}]", field, min, max));
    }
    return value;
}

auto Row::thousandths(std::size_t index) const -> std::int64_t {
    const auto& field = text(index);
    const auto dot = std::min(field.find('.'), field.size());
    auto value = std::int64_t{0};
    auto decimals = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
        if (i == dot) { continue; }
        if (field[i] < '0' || field[i] > '9') {
            refuse(index, fmt::format("expected a decimal number, found \"{}\"", field), i);
        }
        if (i > dot && ++decimals > 3) { continue; }
        value = value * 10 + (field[i] - '0');
        if (value > std::int64_t{1'000'000'000'000'000}) { refuse(index, fmt::format("{} is too large", field)); }
    }
    if (dot == 0) { refuse(index, "expected a decimal number with a digit in front"); }
    for (; decimals < 3; ++decimals) { value *= 10; }
    return value;
}

Table::Table(std::string path, const std::vector<std::string>& columns, const std::vector<std::string>& optional)
    : path_{std::move(path)} {
    auto all = columns;
    all.insert(all.end(), optional.begin(), optional.end());
    const auto content = read_whole_file(path_);
    auto places = std::vector<std::size_t>{};
    auto width = std::size_t{0};
    auto line = std::size_t{0};
    for (auto at = std::size_t{0}; at < content.size();) {
        const auto end = std::min(content.find('\n', at), content.size());
        auto text = std::string_view{content}.substr(at, end - at);
        if (!text.empty() && text.back() == '\r') { text.remove_suffix(1); }
        at = end + 1;
        auto fields = split(path_, ++line, text);
        if (line == 1) {
            places = find_columns(path_, fields, all, columns.size());
            width = fields.size();
            for (const auto place : places) { present_.push_back(place < width); }
            continue;
        }
        if (fields.size() != width) {
            const auto& where = fields.size() > width ? fields[width] : fields.back();
            throw InputError{path_, line, where.column,
                             fmt::format("the header has {} fields, this line has {}", width, fields.size())};
        }
        auto wanted = std::vector<Field>{};
        for (const auto place : places) { wanted.push_back(place < width ? fields[place] : Field{}); }
        rows_.emplace_back(path_, line, std::move(wanted));
    }
    if (rows_.empty()) {
        throw InputError{path_, line == 0 ? 1U : line, 1,
                         line == 0 ? "the file is empty" : "no rows follow the header"};
    }
}

}  // namespace simulate
