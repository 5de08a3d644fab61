#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simulate {

/// A fault in an input file; `what()` reads "file:line:column: fault".
class InputError : public std::runtime_error {
public:
    InputError(const std::string& file, std::size_t line, std::size_t column, std::string_view what);
};

/// One field of a row, and the byte column (from 1) where it starts.
struct Field {
    std::string text{};
    std::size_t column = 1;
};

/// One row of a table. It knows its place in the file, for messages about its fields.
class Row {
public:
    Row(const std::string& file, std::size_t line, std::vector<Field> fields)
        : file_{&file}, line_{line}, fields_{std::move(fields)} {}

    [[nodiscard]] auto text(std::size_t index) const -> const std::string& { return fields_.at(index).text; }
    [[nodiscard]] auto empty(std::size_t index) const -> bool { return fields_.at(index).text.empty(); }

    /// Returns the field as an integer in [min, max]. Throws `InputError`.
    [[nodiscard]] auto integer(std::size_t index, std::int64_t min, std::int64_t max) const -> std::int64_t;

    /// Returns the field, a decimal such as "77152.25", in thousandths, rounded down. Throws `InputError`.
    [[nodiscard]] auto thousandths(std::size_t index) const -> std::int64_t;

    /// Refuses the field. Always throws `InputError`.
    [[noreturn]] void refuse(std::size_t index, std::string_view what, std::size_t offset = 0) const;

private:
    const std::string* file_;
    std::size_t line_;
    std::vector<Field> fields_;
};

/// A comma-separated file with a header line, held in memory. Strict: every row has the header's number of fields.
class Table {
public:
    /// Reads `path` and finds `columns` in its header, in any order. Throws `InputError`.
    /// A row has no text in an `optional` column that the header lacks; `has` tells which.
    Table(std::string path, const std::vector<std::string>& columns, const std::vector<std::string>& optional = {});
    Table(const Table&) = delete;
    auto operator=(const Table&) -> Table& = delete;

    /// Rows; field indices are those of the requested columns.
    [[nodiscard]] auto rows() const -> const std::vector<Row>& { return rows_; }
    /// True if the header has this optional column; its index in a row is behind those of the needed ones.
    [[nodiscard]] auto has(std::size_t index) const -> bool { return present_.at(index); }

private:
    std::string path_;
    std::vector<Row> rows_{};
    std::vector<bool> present_{};
};

}  // namespace simulate
