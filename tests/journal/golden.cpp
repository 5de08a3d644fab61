#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/log.hpp>
#include <allot/json.hpp>

#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/commands.hpp"
#include "support/memory_file.hpp"

// Journals are kept for ever, so what was once written has to be read for ever. Each folder of golden/ holds messages
// as some release wrote them, commands.bin and events.bin, each a log, and what they mean, commands.jsonl and
// events.jsonl. No folder is ever written again.
//
// When this test says that something is missing, a command, an event, an error or parameters are new. Run it once with
// ALLOT_WRITE_GOLDEN=<name of a new folder>, which writes what is missing there, and commit that folder beside the
// others.
//
// When it fails otherwise, the encoding has changed, and journals that were written before would be read wrongly. If
// that was not meant, undo it. If it was (a new field, another number, another order):
//
//   1. raise `encoding_version` (journal/encode.hpp), and let `decode` go on to read messages of the versions before:
//   hand
//      the version to the `Decoder`, which then leaves what came later at its default;
//   2. run this test with ALLOT_WRITE_GOLDEN=v<number>: of the new version everything is missing;
//   3. commit that folder beside the others. The old files must still mean what their .jsonl says.

namespace {

using support::Command;
using support::told;
using Bytes = std::vector<std::uint8_t>;
using Entry = allot::LogEntry<Command>;

auto golden() -> std::filesystem::path { return std::filesystem::path{ALLOT_TESTS_DIR} / "journal" / "golden"; }

template <class T>
auto log_of(const std::vector<T>& values) -> Bytes {
    auto memory = support::MemoryFile{};
    auto writer = allot::LogWriter{memory};
    for (const auto& value : values) { REQUIRE(writer.append(allot::encode(value))); }
    return memory.bytes;
}

auto file_of(const std::filesystem::path& path) -> Bytes {
    auto file = std::ifstream{path, std::ios::binary};
    INFO(path);
    REQUIRE(file);
    const auto text = std::string{std::istreambuf_iterator<char>{file}, {}};
    return {text.begin(), text.end()};
}
auto lines_of(const std::filesystem::path& path) -> std::vector<std::string> {
    auto file = std::ifstream{path};
    INFO(path);
    REQUIRE(file);
    auto lines = std::vector<std::string>{};
    for (auto line = std::string{}; std::getline(file, line);) { lines.push_back(line); }
    return lines;
}

// What has to be there at least once: each command, each event, each policy's parameters, each error.
using Kinds = std::set<std::string>;
auto kind_of(const Entry& entry) -> std::string {
    return std::visit(
        []<class C>(const C& command) {
            auto kind = std::string{allot::type_name<C>()};
            if constexpr (requires { command.parameters; }) {
                std::visit([&]<class P>(const P&) { (kind += " ") += allot::type_name<P>(); }, command.parameters);
            }
            return kind;
        },
        entry.command);
}
auto kind_of(const allot::Event& event) -> std::string {
    return std::visit(
        []<class E>(const E& happened) {
            auto kind = std::string{allot::type_name<E>()};
            if constexpr (std::is_same_v<E, allot::event::Refused>) {
                (kind += " ") += allot::enumerator_name(happened.error);
            }
            return kind;
        },
        event);
}

// Of each kind some, with anything in it.
auto any_entries() -> std::vector<Entry> {
    auto all = std::vector<Entry>{};
    for (std::size_t kind = 0; kind < std::variant_size_v<Command::Alternatives>; ++kind) {
        auto any = support::AnyValue{kind};
        for (auto i = 0; i < 4; ++i) { all.push_back({any.of<allot::Moment>(), any.alternative<Command>(kind)}); }
    }
    for (std::size_t kind = 0; kind < std::variant_size_v<support::Configuration>; ++kind) {
        using Configure = allot::command::Configure<support::Configuration>;
        all.push_back({{}, Configure{support::AnyValue{kind}.alternative<support::Configuration>(kind), 2}});
    }
    return all;
}
auto any_events() -> std::vector<allot::Event> {
    auto all = std::vector<allot::Event>{};
    for (std::size_t kind = 0; kind < allot::event_types; ++kind) {
        auto any = support::AnyValue{kind};
        for (auto i = 0; i < 4; ++i) { all.push_back(any.alternative<allot::Event>(kind)); }
    }
    for (const auto error : allot::enumerators<allot::Error>()) { all.emplace_back(allot::event::Refused{error}); }
    return all;
}

// Checks that a file's messages mean what its lines say, and that those of the current version are written like that.
template <class T>
void check(const std::filesystem::path& folder, const std::string& name, Kinds& seen) {
    const auto bytes = file_of(folder / (name + ".bin"));
    auto memory = support::MemoryFile{bytes};
    auto reader = allot::LogReader{memory};
    auto meant = std::vector<T>{};
    auto current = true;
    for (const auto& line : lines_of(folder / (name + ".jsonl"))) {
        INFO(folder << " " << name << ": " << line);
        const auto said = allot::read_json<T>(line);
        REQUIRE(said);
        const auto record = reader.next();
        REQUIRE(record);
        const auto decoded = allot::decode<T>(record->body);
        REQUIRE(decoded);
        REQUIRE(told(*decoded) == told(*said));
        current = record->body[0] == allot::encoding_version;
        if (current) {
            REQUIRE(allot::encode(*said) == Bytes(record->body.begin(), record->body.end()));
            REQUIRE(allot::write_json(*decoded) == line);
            seen.insert(kind_of(*said));
        }
        meant.push_back(*said);
    }
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.fault());
    CHECK((!current || log_of(meant) == bytes));
}

template <class T>
void write(const std::filesystem::path& folder, const std::string& name, const std::vector<T>& values) {
    const auto bytes = log_of(values);
    std::ofstream{folder / (name + ".bin"), std::ios::binary} << std::string(bytes.begin(), bytes.end());
    auto lines = std::ofstream{folder / (name + ".jsonl")};
    for (const auto& value : values) { lines << allot::write_json(value) << '\n'; }
}

template <class T>
auto without(std::vector<T> values, const Kinds& seen) -> std::vector<T> {
    std::erase_if(values, [&](const T& value) { return seen.count(kind_of(value)) != 0; });
    return values;
}
template <class T>
auto kinds_of(const std::vector<T>& values) -> std::string {
    auto kinds = Kinds{};
    for (const auto& value : values) { kinds.insert(kind_of(value)); }
    auto all = std::string{};
    for (const auto& kind : kinds) { all += kind + "\n"; }
    return all;
}

}  // namespace

TEST_CASE("messages that were ever written mean what they meant") {
    auto seen = Kinds{};
    if (std::filesystem::exists(golden())) {
        for (const auto& folder : std::filesystem::directory_iterator{golden()}) {
            check<Entry>(folder.path(), "commands", seen);
            check<allot::Event>(folder.path(), "events", seen);
        }
    }
    const auto entries = without(any_entries(), seen);
    const auto events = without(any_events(), seen);
    const auto* name = std::getenv("ALLOT_WRITE_GOLDEN");
    if (name != nullptr && *name != '\0' && !(entries.empty() && events.empty())) {
        REQUIRE(std::filesystem::create_directories(golden() / name));  // a new one
        write(golden() / name, "commands", entries);
        write(golden() / name, "events", events);
    } else {
        INFO("missing, see the top of this file:\n" << kinds_of(entries) << kinds_of(events));
        CHECK((entries.empty() && events.empty()));
    }
}
