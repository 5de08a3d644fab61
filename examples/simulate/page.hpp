#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace simulate {

using Json = nlohmann::ordered_json;

/// Rounds to four significant digits: more than the eye sees, and a page is half as large.
[[nodiscard]] auto rounded(double value) -> double;

/// A number, or null where there is none: JSON has no infinity.
[[nodiscard]] auto finite(double number) -> Json;

/// JSON as text. File names come from outside; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] auto dump(const Json& json, int indent) -> std::string;

/// The first 16 hex digits of SHA-256 of a document: equal documents have one digest.
[[nodiscard]] auto digest_of(const Json& document) -> std::string;

/// A page of HTML with its data, styles and scripts inside, so that it makes no request.
[[nodiscard]] auto page_of(std::string_view page, const Json& data) -> std::string;

/// Writes a file. Throws `std::runtime_error` with its name if that fails.
void write_file(const std::string& path, const std::string& content);

/// The whole content of a file. Throws `std::runtime_error` with its name if it cannot be read.
[[nodiscard]] auto read_file(const std::string& path) -> std::string;

}  // namespace simulate
