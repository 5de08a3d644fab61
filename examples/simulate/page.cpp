#include "page.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <allot/core/id.hpp>
#include <allot/core/sha256.hpp>

#include "embedded.hpp"

namespace simulate {
namespace {

/// JSON inside a script element: no text of it may end the element.
auto escaped(const std::string& json) -> std::string {
    auto out = std::string{};
    out.reserve(json.size());
    for (const auto c : json) { c == '<' ? out += "\\u003c" : out += c; }
    return out;
}

}  // namespace

auto rounded(double value) -> double {
    if (value == 0.0 || !std::isfinite(value)) { return 0.0; }
    const auto magnitude = std::pow(10.0, 3.0 - std::floor(std::log10(std::fabs(value))));
    return std::round(value * magnitude) / magnitude;
}

auto finite(double number) -> Json { return std::isfinite(number) ? Json(number) : Json(nullptr); }

auto dump(const Json& json, int indent) -> std::string {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

auto digest_of(const Json& document) -> std::string {
    const auto text = dump(document, -1);
    auto hash = allot::Sha256{};
    hash.bytes(std::span{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});  // NOLINT
    return allot::Id<struct DigestTag>{hash.finish()}.hex().substr(0, 16);
}

auto page_of(std::string_view page, const Json& data) -> std::string {
    auto out = std::string{};
    const auto text = escaped(dump(data, -1));
    const auto parts = {std::pair<std::string_view, std::string_view>{"/*{{page.css}}*/", embedded::page_style},
                        {"/*{{chart.js}}*/", embedded::chart_library},
                        {"{{data}}", text},
                        {"/*{{page.js}}*/", embedded::page_script}};
    for (const auto& [marker, part] : parts) {
        const auto at = page.find(marker);
        if (at == std::string_view::npos) { continue; }  // not each page has charts
        out += page.substr(0, at);
        out += part;
        page.remove_prefix(at + marker.size());
    }
    if (out.empty()) { throw std::logic_error{"a page has no place for its data"}; }
    return out += page;
}

void write_file(const std::string& path, const std::string& content) {
    auto stream = std::ofstream{path, std::ios::binary};
    stream << content;
    stream.close();
    if (!stream) { throw std::runtime_error{path + ": cannot be written"}; }
}

auto read_file(const std::string& path) -> std::string {
    auto stream = std::ifstream{path, std::ios::binary};
    if (!stream) { throw std::runtime_error{path + ": cannot be read"}; }
    return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace simulate
