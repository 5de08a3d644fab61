#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/json.hpp>

#include "../examples/replay/json_lines.hpp"
#include "support/any_script.hpp"
#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/property.hpp"
#include "support/seed.hpp"

namespace {

using allot::read_json;
using allot::write_json;
using support::AnyValue;
using support::Command;
using support::told;
using Entry = allot::LogEntry<Command>;

namespace command = allot::command;

auto entry_of(std::string_view line) -> Entry {
    auto entry = read_json<Entry>(line);
    INFO(line);
    INFO((entry ? "" : entry.error().message()));
    REQUIRE(entry);
    return *entry;
}

auto complaint_about(std::string_view line) -> std::string {
    const auto entry = read_json<Entry>(line);
    INFO(line);
    REQUIRE_FALSE(entry);
    return entry.error().message();
}

template <class C>
auto command_of(std::string_view line) -> C {
    const auto entry = entry_of(line);
    REQUIRE(std::holds_alternative<C>(entry.command));
    return std::get<C>(entry.command);
}

auto begins(std::string_view text, std::string_view with) -> bool { return text.substr(0, with.size()) == with; }

}  // namespace

TEST_CASE("entries and events of any content come back from JSON as they were") {
    support::property(
        "reading what was written gives the same",
        [] {
            auto any = AnyValue{*rc::gen::arbitrary<std::uint64_t>()};
            const auto entry = any.of<Entry>();
            const auto line = write_json(entry);
            RC_ASSERT(line.find('\n') == std::string::npos);
            const auto read = read_json<Entry>(line);
            RC_ASSERT(read.has_value());
            RC_ASSERT(told(*read) == told(entry));
            RC_ASSERT(write_json(*read) == line);

            const auto event = any.of<allot::Event>();
            const auto event_line = write_json(event);
            const auto event_read = read_json<allot::Event>(event_line);
            RC_ASSERT(event_read.has_value());
            RC_ASSERT(told(*event_read) == told(event));
        },
        support::runs(2'000, 200'000));
}

TEST_CASE("each command and each event comes back from JSON as it was") {
    auto any = AnyValue{support::seed()};
    for (auto i = 0; i < 20; ++i) {
        for (std::size_t kind = 0; kind < std::variant_size_v<Command::Alternatives>; ++kind) {
            const auto entry = Entry{any.of<allot::Moment>(), any.alternative<Command>(kind)};
            REQUIRE(told(entry_of(write_json(entry))) == told(entry));
        }
        for (std::size_t kind = 0; kind < allot::event_types; ++kind) {
            const auto event = any.alternative<allot::Event>(kind);
            const auto read = read_json<allot::Event>(write_json(event));
            REQUIRE(read);
            REQUIRE(told(*read) == told(event));
        }
    }
}

TEST_CASE("the lines that the documentation shows are right") {
    auto source = std::ifstream{std::string{ALLOT_TESTS_DIR} + "/../include/allot/json.hpp"};
    REQUIRE(source);
    auto lines = std::string{};
    auto count = 0;
    for (auto line = std::string{}; std::getline(source, line);) {
        constexpr auto margin = std::string_view{"//     "};
        if (begins(line, "//     {")) {
            lines += line.substr(margin.size()) + "\n\n";
            ++count;
        }
    }
    CHECK(count == 4);
    auto text = std::istringstream{lines};
    auto dispatcher = allot::Dispatcher<>{};
    auto reader = replay::JsonLines<allot::LogEntry<allot::Dispatcher<>::Command>>{text};
    while (const auto entry = reader.next()) {
        const auto happened = dispatcher.apply(entry->command, entry->moment);
        INFO(write_json(*entry));
        CHECK(happened.accepted());
    }
    CHECK_FALSE(reader.fault());
}

TEST_CASE("a person may leave out what has a default, and write numbers in the plainest way") {
    const auto join =
        command_of<command::Join>(R"({"time": 1, "command": "Join", "node": {"id": "n", "stake": 400, "vram": 24}})");
    CHECK(told(join) == told(command::Join{{.id = "n", .vram = {24}, .stake = 400}}));

    const auto task = command_of<command::Submit>(R"({"command": "Submit", "time": 1, "task": {
        "fee": "79228162514264337593543950335", "id": 18446744073709551615, "owner": null, "gpus": [{"name": "H100"}],
        "software": {"major": 2}}})")
                          .task;
    CHECK(task.fee.units == (allot::u128{1} << 96) - 1);
    CHECK(task.id == allot::TaskId{~std::uint64_t{0}});
    CHECK_FALSE(task.owner);
    CHECK(told(task.gpus) == told(std::vector<allot::GpuChoice>{{"H100", {}}}));
    CHECK(told(*task.software) == told(allot::SoftwareVersion{2, 0, 0}));

    using Configure = command::Configure<support::Configuration>;
    const auto configure = command_of<Configure>(
        R"({"time": 1, "command": "Configure", "parameters": {"RollingQosParameters": {"penalty": "1/4", "window": 7}}})");
    auto expected = allot::RollingQosParameters{};
    expected.penalty = allot::Score::from_ratio(1, 4);
    expected.window = 7;
    CHECK(told(configure) == told(Configure{expected}));

    CHECK(entry_of(R"({"time": -5, "entropy": 7, "command": "Match"})").moment.entropy == allot::Entropy{7});
    CHECK(entry_of(R"({"time": -5, "command": "Match"})").moment.time == allot::TimePoint{allot::Duration{-5}});
}

TEST_CASE("an id is written as it was made") {
    const auto written = [](const allot::NodeId& id) { return write_json(Entry{{}, command::Pause{id}}); };
    const auto line = [](const std::string& id) { return R"({"time":0,"command":"Pause","node":)" + id + "}"; };
    CHECK(written(7) == line("7"));
    CHECK(written("relay-7") == line(R"("relay-7")"));
    CHECK(written("7") == line(R"("7")"));
    CHECK(written(std::uint64_t{1} << 53U) == line("9007199254740992"));
    // A number that other languages would round.
    CHECK(written((std::uint64_t{1} << 53U) + 1) == line('"' + std::string(47, '0') + R"(10020000000000001")"));
    CHECK(written("") == line('"' + std::string(64, '0') + '"'));
    CHECK(written("\xff") == line(R"("ff)" + std::string(62, '0') + '"'));
    // In capitals it is the same id.
    const auto capitals = line(R"("FF)" + std::string(62, '0') + '"');
    CHECK(std::get<command::Pause>(entry_of(capitals).command).node == allot::NodeId{"\xff"});
}

TEST_CASE("text that is no UTF-8 is written in hex") {
    const auto entry = Entry{{}, command::ReportModel{"n", command::Report::load, {"a\xff", "é\n\"", ""}}};
    const auto line = write_json(entry);
    CHECK(line ==
          R"({"time":0,"command":"ReportModel","node":"n","report":"load","models":[{"hex":"61ff"},"é\n\"",""]})");
    CHECK(told(entry_of(line)) == told(entry));
}

TEST_CASE("a malformed line names its field and what was expected") {
    CHECK(begins(complaint_about(""), "not JSON: column 1: "));
    CHECK(begins(complaint_about(R"({"time": 1,)"), "not JSON: column 12: "));
    CHECK(begins(complaint_about("{\"time\": 1, \"command\": \"\xff\"}"), "not JSON: column 25: "));
    CHECK(complaint_about(R"({"time": 1e999})") == "not JSON: number overflow parsing '1e999'");
    CHECK(complaint_about("[1]") == "an object is expected, {...}");
    CHECK(complaint_about(R"({"command": "Match"})") == "time: this field is missing");
    CHECK(complaint_about(R"({"time": 1})") == "command: this field is missing");
    CHECK(complaint_about(R"({"time": 1, "command": 3})") == R"(command: a text is expected, "...")");
    CHECK(begins(complaint_about(R"({"time": 1, "command": "join"})"),
                 R"(command: there is no "join"; there are Join, Update, )"));
    CHECK(complaint_about(R"({"time": 1, "command": "Join"})") == "node: this field is missing");
    CHECK(complaint_about(R"({"time": 1, "command": "Configure"})") == "parameters: this field is missing");
    CHECK(complaint_about(R"({"time": 1, "time": 2, "command": "Match"})") == "time: this field stands twice");
    CHECK(complaint_about(R"({"time": 1, "command": "Match", "fee": 2})") ==
          "fee: there is no such field; there are command, entropy, round, time");
    CHECK(begins(complaint_about(R"({"time": 1.5, "command": "Match"})"),
                 "time: a whole number from -9223372036854775808 to "));
    CHECK(
        begins(complaint_about(R"({"time": 9223372036854775808, "command": "Match"})"), "time: a whole number from "));
    CHECK(
        begins(complaint_about(R"({"time": 1, "entropy": "abc", "command": "Match"})"), "entropy: 64 hex digits or "));

    const auto of_node = [](const std::string& fields) {
        return complaint_about(R"({"time": 1, "command": "Join", "node": {"id": 1, )" + fields + "}}");
    };
    CHECK(of_node(R"("vram": -1)") == "node.vram: a whole number from 0 to 4294967295 is expected");
    CHECK(of_node(R"("vram": 4294967296)") == "node.vram: a whole number from 0 to 4294967295 is expected");
    CHECK(of_node(R"("vram": "24")") == "node.vram: a whole number from 0 to 4294967295 is expected");
    CHECK(begins(of_node(R"("stake": -1)"), "node.stake: a whole number below 2^64, or "));
    CHECK(begins(of_node(R"("stake": 18446744073709551616)"), "node.stake: a whole number below 2^64, or "));
    CHECK(begins(of_node(R"("stake": "340282366920938463463374607431768211456")"), "node.stake: "));
    CHECK(of_node(R"("models": "a")") == "node.models: a list is expected, [...]");
    CHECK(of_node(R"("models": ["a", "b", 3])") == R"(node.models[2]: a text is expected, "...")");
    CHECK(begins(of_node(R"("models": [{"hex": "6"}])"), "node.models[0].hex: pairs of the digits "));
    CHECK(begins(of_node(R"("models": [{"hex": "6G"}])"), "node.models[0].hex: pairs of the digits "));
    CHECK(of_node(R"("software": "1.2")") == "node.software: an object is expected, {...}");
    CHECK(of_node(R"("software": {"minr": 1})") ==
          "node.software.minr: there is no such field; there are major, minor, patch");
    CHECK(begins(of_node(R"("operator_id": "")"), "node.operator_id: an id is expected: "));
    CHECK(begins(of_node(R"("operator_id": ")" + std::string(33, 'x') + '"'), "node.operator_id: an id is expected: "));
    CHECK(begins(of_node(R"("operator_id": -7)"), "node.operator_id: an id is expected: "));
    CHECK(complaint_about(R"({"time": 1, "command": "Fail", "lease": {"task": 1, "node": 2}, "cause": "bad"})") ==
          "cause: there is no \"bad\"; there are out_of_memory, model_download, execution_error, incorrect_result");
    CHECK(complaint_about(R"({"time": 1, "command": "Fail", "lease": {"task": 1}})") ==
          "lease.node: this field is missing");

    const auto of_qos = [](const std::string& value) {
        const auto fields = R"({"RollingQosParameters": {"penalty": )" + value + "}}";
        return complaint_about(R"({"time": 1, "command": "Configure", "parameters": )" + fields + "}");
    };
    CHECK(begins(of_qos("0.3"), "parameters.RollingQosParameters.penalty: a quotient of two whole numbers below 2^32"));
    CHECK(begins(of_qos(R"("3")"), "parameters.RollingQosParameters.penalty: a quotient of "));
    CHECK(begins(of_qos(R"("3/4/5")"), "parameters.RollingQosParameters.penalty: a quotient of "));
    CHECK(begins(of_qos(R"("1/4294967296")"), "parameters.RollingQosParameters.penalty: a quotient of "));
    CHECK(of_qos(R"("4/3")") == "parameters.RollingQosParameters.penalty: a score lies from 0 to 1");
    CHECK(of_qos(R"("0/0")") == "parameters.RollingQosParameters.penalty: a score lies from 0 to 1");
    CHECK(begins(complaint_about(R"({"time": 1, "command": "Configure", "parameters": {"Other": {}}})"),
                 R"(parameters: there is no "Other"; there are RulesParameters, )"));
    CHECK(begins(complaint_about(R"({"time": 1, "command": "Configure", "parameters": {}})"),
                 "parameters: an object is expected whose "));

    CHECK(read_json<allot::Event>(R"({"event": "NodeJoined", "node": 1, "again": 1})").error().message() ==
          "again: true or false is expected");
    CHECK(begins(of_node("\"operator_id\": \"a\\u0000\""), "node.operator_id: an id is expected: "));
    CHECK(read_json<allot::Event>(R"({"event": "Refused"})").error().message() == "error: this field is missing");
    CHECK(read_json<allot::Event>(R"({"node": 1})").error().message() == "event: this field is missing");
}

TEST_CASE("a line that lacks any one field is refused, or reads as what is written for it", "[J5]") {
    auto any = AnyValue{support::seed()};
    auto refused = 0;
    const auto without_each = [&](const allot::Json& json, const auto& read) {
        for (const auto& [name, unused] : json.items()) {
            auto less = json;
            less.erase(name);
            const auto value = read(less.dump());
            refused += value ? 0 : 1;
            INFO(less.dump());
            REQUIRE((!value || read(write_json(*value))));
        }
    };
    for (auto i = 0; i < 10; ++i) {
        for (std::size_t kind = 0; kind < std::variant_size_v<Command::Alternatives>; ++kind) {
            const auto entry = Entry{any.of<allot::Moment>(), any.alternative<Command>(kind)};
            without_each(allot::json_of(entry), read_json<Entry>);
        }
        for (std::size_t kind = 0; kind < allot::event_types; ++kind) {
            without_each(allot::json_of(any.alternative<allot::Event>(kind)), read_json<allot::Event>);
        }
    }
    CHECK(refused > 0);
}

TEST_CASE("what would steer a terminal is written in JSON as numbers", "[J5]") {
    const auto text = std::string{"\x1B[2J \x7F \xC2\x9B"
                                  "2J \xE2\x80\xAE \xE2\x81\xA6 \xC2\xA0"};
    const auto entry = Entry{{}, command::ReportModel{"n", command::Report::load, {text}}};
    const auto line = write_json(entry);
    CHECK(line.find(R"(\u001b[2J \u007f \u009b2J \u202e \u2066 )"
                    "\xC2\xA0") != std::string::npos);
    CHECK(told(entry_of(line)) == told(entry));
}

TEST_CASE("a malformed line names its number, and what stood before it is read") {
    auto text = std::istringstream{R"({"time": 1, "command": "Match"}

   {"time": 2, "command": "Advance"}
{"time": 3, "command": "Pause", "node": []}
{"time": 4, "command": "Match"}
)"};
    auto times = std::vector<std::int64_t>{};
    auto reader = replay::JsonLines<Entry>{text};
    while (const auto entry = reader.next()) { times.push_back(entry->moment.time.time_since_epoch().count()); }
    CHECK(times == std::vector<std::int64_t>{1, 2});
    REQUIRE(reader.fault());
    CHECK(begins(reader.fault()->message(), "line 4: node: an id is expected: "));
    CHECK_FALSE(reader.next());
}

TEST_CASE("a line without an end is refused before it fills the memory") {
    auto text = std::istringstream{"{\"time\": 1, \"command\": \"Match\"}\n" + std::string(replay::line_max + 1, ' ')};
    auto reader = replay::JsonLines<Entry>{text};
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    REQUIRE(reader.fault());
    CHECK(reader.fault()->message() == "line 2: the line is longer than 64 MiB; write one command a line");
}

TEST_CASE("lines of strangers are read or refused") {
    auto any = AnyValue{support::seed()};
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    constexpr auto signs = std::string_view{"{}[]:,\"\\0123456789-.eE truefalsnl\xff"};
    auto read = 0;
    for (auto i = support::runs(5'000, 500'000); i > 0; --i) {
        auto line = write_json(Entry{any.of<allot::Moment>(), any.of<Command>()});
        for (auto changes = 1 + below(3); changes > 0 && !line.empty(); --changes) {
            const auto at = below(line.size());
            switch (below(3)) {
                case 0: line[at] = signs[below(signs.size())]; break;
                case 1: line.erase(at, 1 + below(3)); break;
                default: line.insert(at, 1, signs[below(signs.size())]);
            }
        }
        const auto entry = read_json<Entry>(line);
        if (entry) {
            ++read;
            REQUIRE(told(entry_of(write_json(*entry))) == told(*entry));
        } else {
            REQUIRE_FALSE(entry.error().text.empty());
        }
    }
    CHECK(read > 0);
    CHECK(complaint_about(std::string(1'000'000, '[')) == "lists and objects are nested more than 32 deep");
    CHECK(begins(complaint_about(R"({"time": 1, "command": "Join", "node": )" + std::string(100'000, '[') +
                                 std::string(100'000, ']') + "}"),
                 "lists and objects are nested"));
}
