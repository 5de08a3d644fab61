// Checks that the wire takes whole numbers alone where a message has one; ends with 1 and a line for each fault.

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/core.h>

#include "wire.hpp"

namespace {

using jobs::Json;

auto faults = 0;

void expect(bool is, const std::string& what) {
    if (is) { return; }
    fmt::print("not so: {}\n", what);
    ++faults;
}

/// Whether a text is still read with another value at a place.
template <class Decode>
auto takes(const std::string& text, const std::string& place, const Json& value, const Decode& decode) -> bool {
    auto changed = Json::parse(text);
    changed.at(Json::json_pointer{place}) = value;
    return decode(changed.dump()).has_value();
}

template <class Decode>
void check_number(const std::string& name, const std::string& text, const std::string& place, bool is_signed,
                  const Decode& decode) {
    const auto takes_it = [&](const Json& value) { return takes(text, place, value, decode); };
    expect(takes_it(Json::parse(text).at(Json::json_pointer{place})), name + " is read as it was written");
    const auto same = Json::parse(text).at(Json::json_pointer{place}).get<double>();
    for (const auto& value : {Json(12.5), Json(same), Json(1e300), Json(true), Json("1"), Json(nullptr)}) {
        expect(!takes_it(value), fmt::format("{} is not read from {}", name, value.dump()));
    }
    expect(takes_it(-1) == is_signed, name + " below zero");
    const auto most = std::numeric_limits<std::uint64_t>::max();
    expect(!takes_it(most), fmt::format("{} is not read from {}", name, most));
}

}  // namespace

auto main() -> int {
    const auto query = jobs::encode(allot::job_message::JobsQuery{allot::NodeId{"n"}});
    check_number("a version", query, "/0", false, &jobs::decode);
    check_number("a kind", query, "/1", false, &jobs::decode);
    check_number("a count", jobs::encode(jobs::Report{}), "/4", false, &jobs::decode_report);
    auto snapshot = allot::job_message::QueueSnapshot{allot::JobId{1}};
    snapshot.control = allot::QueueControl{};
    snapshot.control->clock = allot::TimePoint{allot::Duration{7}};
    check_number("a time", jobs::encode(snapshot), "/2/3/0/2", true, &jobs::decode);
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
