#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>

#include "support/any_script.hpp"
#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/property.hpp"
#include "support/seed.hpp"

namespace {

using allot::decode;
using allot::DecodeError;
using allot::DecodeFault;
using allot::encode;
using allot::Event;
using support::AnyValue;
using support::Command;
using support::told;
using Entry = allot::LogEntry<Command>;
using Bytes = std::vector<std::uint8_t>;

namespace command = allot::command;
namespace event = allot::event;

template <class T>
auto fault_of(const Bytes& bytes) -> DecodeFault {
    const auto decoded = decode<T>(bytes);
    REQUIRE_FALSE(decoded.has_value());
    return decoded.error();
}

// What is right of all bytes: they are the encoding of what they decode to, or they are refused and the fault lies
// inside.
template <class T>
auto judged_well(const Bytes& bytes) -> bool {
    const auto decoded = decode<T>(bytes);
    return decoded ? encode(*decoded) == bytes
                   : decoded.error().offset <= bytes.size() && message(decoded.error().error) != "unknown error";
}

template <class T>
auto there_and_back(const T& value) -> bool {
    const auto bytes = encode(value);
    const auto decoded = decode<T>(bytes);
    return decoded && told(*decoded) == told(value) && encode(*decoded) == bytes;
}

// A few messages of each kind.
template <class T>
auto messages_of(std::size_t kinds, std::uint64_t each) -> std::vector<Bytes> {
    auto any = AnyValue{support::seed()};
    auto all = std::vector<Bytes>{};
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (std::uint64_t i = 0; i < each; ++i) { all.push_back(encode(any.alternative<T>(kind))); }
    }
    return all;
}
auto commands(std::uint64_t each) -> std::vector<Bytes> {
    return messages_of<Command>(std::variant_size_v<Command::Alternatives>, each);
}
auto events(std::uint64_t each) -> std::vector<Bytes> { return messages_of<Event>(allot::event_types, each); }

}  // namespace

TEST_CASE("what is encoded is a version and the fields in their order, the lowest byte first") {
    auto message = Bytes{1, 16};
    auto id = Bytes(32, 0);
    id[0] = 'n';
    message.insert(message.end(), id.begin(), id.end());
    message.insert(message.end(), {7, 1, 0, 0});
    CHECK(encode(Command{command::Score{"n", 0x0107}}) == message);

    CHECK(encode(Event{event::Refused{allot::Error::id_invalid}}) == Bytes{1, 31, 10, 0});
    CHECK(encode(Command{command::Match{}}) == Bytes{1, 18});
    const auto before = allot::Moment{allot::TimePoint{allot::Duration{-2}}, {}};
    CHECK(encode(before) == Bytes{1, 0xFE, 255, 255, 255, 255, 255, 255, 255, 0, 0});
    CHECK(encode(allot::Moment{allot::TimePoint{}, {}, 7}) ==
          Bytes{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0});
    const auto names = std::optional{std::vector<std::string>{"ab", ""}};
    CHECK(encode(names) == Bytes{1, 1, 2, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0});
    const auto amount = allot::Amount{allot::u128::from_parts(0x0102, 0x0304)};
    CHECK(encode(amount) == Bytes{1, 4, 3, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0});

    // 32 bytes of entropy are encoded as those bytes.
    auto entropy = std::array<std::uint8_t, 32>{};
    for (std::size_t i = 0; i < entropy.size(); ++i) { entropy[i] = static_cast<std::uint8_t>(i + 1); }
    auto expected = Bytes{1};
    expected.insert(expected.end(), entropy.begin(), entropy.end());
    CHECK(encode(allot::Entropy{entropy}) == expected);
}

TEST_CASE("parameters are encoded under the name of their type") {
    const auto bytes =
        encode(Command{command::Configure<support::Configuration>{allot::ThresholdPlacementParameters{}, 9}});
    const auto name = std::string{"ThresholdPlacementParameters"};
    CHECK(bytes[1] == 19);
    CHECK(bytes[2] == name.size());
    CHECK(std::string(bytes.begin() + 6, bytes.begin() + 6 + static_cast<std::ptrdiff_t>(name.size())) == name);
    CHECK(bytes[bytes.size() - 4] == 9);

    // A dispatcher of other policies, whose variant has them elsewhere, reads the same; one without that policy
    // refuses.
    using Fewer = std::variant<allot::ThresholdPlacementParameters, allot::RulesParameters>;
    CHECK(decode<allot::basic_command<Fewer>>(bytes).has_value());
    CHECK(fault_of<allot::basic_command<std::variant<allot::RulesParameters>>>(bytes) ==
          DecodeFault{DecodeError::parameters_unknown, 6});
}

TEST_CASE("commands and events of any content come back as they were") {
    support::property(
        "decode(encode(v)) == v and encode(decode(b)) == b",
        [] {
            auto any = AnyValue{*rc::gen::arbitrary<std::uint64_t>()};
            RC_ASSERT(there_and_back(any.of<Entry>()));
            RC_ASSERT(there_and_back(any.of<Event>()));
        },
        support::runs(10'000, 1'000'000));
}

TEST_CASE("each command and each event comes back as it was") {
    auto any = AnyValue{support::seed()};
    for (auto i = 0; i < 100; ++i) {
        for (std::size_t kind = 0; kind < std::variant_size_v<Command::Alternatives>; ++kind) {
            REQUIRE(there_and_back(any.alternative<Command>(kind)));
        }
        for (std::size_t kind = 0; kind < allot::event_types; ++kind) {
            REQUIRE(there_and_back(any.alternative<Event>(kind)));
        }
    }
}

TEST_CASE("the history of a network comes back as it was") {
    support::property(
        "log entries and events of a run come back",
        [] {
            const auto script = *support::any_script();
            auto dispatcher = allot::Dispatcher<>{};
            auto memory = support::Memory{{}, {}, {}, script.setup.gangs()};
            for (const auto& op : script.ops) {
                const auto given = support::interpret(op, memory);
                if (!given) { continue; }
                const auto moment = support::moment_of(op, script.setup, dispatcher.now(), dispatcher.next_deadline());
                RC_ASSERT(there_and_back(Entry{moment, *given}));
                const auto happened = dispatcher.apply(*given, moment);
                memory.hear(happened);
                for (const auto& one : happened) { RC_ASSERT(there_and_back(one)); }
            }
        },
        support::runs(100, 3'000));
}

TEST_CASE("a message that ends early is refused, wherever it ends") {
    const auto check = [](const auto& messages, auto judge) {
        for (const auto& bytes : messages) {
            for (std::size_t length = 0; length < bytes.size(); ++length) {
                const auto fault = judge(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
                REQUIRE((fault.error == DecodeError::truncated || fault.error == DecodeError::count_too_large ||
                         (length == 0 && fault.error == DecodeError::version_unknown)));
                REQUIRE(fault.offset <= length);
            }
        }
    };
    check(commands(3), fault_of<Command>);
    check(events(3), fault_of<Event>);
}

TEST_CASE("a message with one more byte is refused") {
    for (auto bytes : commands(2)) {
        bytes.push_back(0);
        REQUIRE(fault_of<Command>(bytes) == DecodeFault{DecodeError::trailing_bytes, bytes.size() - 1});
    }
    for (auto bytes : events(2)) {
        bytes.push_back(1);
        REQUIRE(fault_of<Event>(bytes) == DecodeFault{DecodeError::trailing_bytes, bytes.size() - 1});
    }
}

TEST_CASE("one flipped bit gives another message or a refusal") {
    const auto check = [](const auto& messages, auto well) {
        for (auto bytes : messages) {
            for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
                const auto mask = static_cast<std::uint8_t>(1U << (bit % 8U));
                bytes[bit / 8] ^= mask;
                REQUIRE(well(bytes));
                bytes[bit / 8] ^= mask;
            }
        }
    };
    check(commands(3), judged_well<Command>);
    check(events(3), judged_well<Event>);
}

TEST_CASE("bytes of strangers are judged well") {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto whole = commands(5);
    auto accepted = 0;
    for (auto i = support::runs(300'000, 30'000'000); i > 0; --i) {
        auto bytes = whole[below(whole.size())];
        for (auto changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
            const auto at = static_cast<std::ptrdiff_t>(below(bytes.size()));
            switch (below(5)) {
                case 0: bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random()); break;
                case 1: bytes[static_cast<std::size_t>(at)] = below(2) == 0 ? 0 : 255; break;
                case 2: bytes.erase(bytes.begin() + at); break;
                case 3: bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(random())); break;
                default: {  // a piece of another message
                    const auto& other = whole[below(whole.size())];
                    const auto from = other.begin() + static_cast<std::ptrdiff_t>(below(other.size()));
                    bytes.resize(static_cast<std::size_t>(at));
                    bytes.insert(bytes.end(), from, other.end());
                }
            }
        }
        REQUIRE(judged_well<Command>(bytes));
        REQUIRE(judged_well<Event>(bytes));
        accepted += decode<Command>(bytes) ? 1 : 0;
    }
    CHECK(accepted > 0);  // else this tests the first byte alone
}

TEST_CASE("what has another form than its value's is refused") {
    const auto changed = [](Bytes bytes, std::size_t at, std::uint8_t to) {
        bytes.at(at) = to;
        return bytes;
    };
    const auto joined = encode(Event{event::NodeJoined{"n", true}});
    CHECK(fault_of<Event>(changed(joined, 0, 2)) == DecodeFault{DecodeError::version_unknown, 0});
    CHECK(fault_of<Event>(changed(joined, 1, allot::event_types)) == DecodeFault{DecodeError::kind_unknown, 1});
    CHECK(fault_of<Event>(changed(joined, 34, 2)) == DecodeFault{DecodeError::flag_invalid, 34});
    CHECK(fault_of<Command>(Bytes{1, 21}) == DecodeFault{DecodeError::kind_unknown, 1});

    const auto moment = encode(allot::Moment{{}, allot::Entropy{7}});
    CHECK(fault_of<allot::Moment>(changed(moment, 9, 3)) == DecodeFault{DecodeError::flag_invalid, 9});

    const auto report = encode(Command{command::ReportModel{"n", command::Report::inventory, {"a"}}});
    CHECK(fault_of<Command>(changed(report, 34, 5)) == DecodeFault{DecodeError::enumerator_unknown, 34});
    CHECK(fault_of<Command>(changed(report, 35, 255)) == DecodeFault{DecodeError::count_too_large, 35});
    CHECK(fault_of<Command>(changed(report, 35, 2)) == DecodeFault{DecodeError::truncated, 44});
    CHECK(fault_of<Command>(changed(report, 38, 255)) == DecodeFault{DecodeError::count_too_large, 35});
    CHECK(fault_of<Command>(changed(report, 39, 2)) == DecodeFault{DecodeError::count_too_large, 39});

    const auto refused = encode(Event{event::Refused{allot::Error::id_invalid}});
    CHECK(fault_of<Event>(changed(refused, 2, 9)) == DecodeFault{DecodeError::enumerator_unknown, 2});
    CHECK(fault_of<Event>(changed(refused, 3, 1)) == DecodeFault{DecodeError::enumerator_unknown, 2});

    CHECK(fault_of<allot::Score>(Bytes{1, 1, 0, 0, 0x40}) == DecodeFault{DecodeError::out_of_range, 1});
    CHECK(decode<allot::Score>(Bytes{1, 0, 0, 0, 0x40}) == allot::Score::one());
    CHECK(fault_of<allot::StakeRoot>(Bytes{1, 1, 0, 0, 0, 0, 0, 0, 0}) == DecodeFault{DecodeError::out_of_range, 1});
    CHECK(decode<allot::StakeRoot>(encode(allot::StakeRoot::from(7))) == allot::StakeRoot::from(7));
    CHECK(fault_of<Command>({}) == DecodeFault{DecodeError::truncated, 0});
}

TEST_CASE("a count that lies costs no memory") {
    // Two billion models claimed, none there: a reserve of them would be felt.
    auto report = encode(Command{command::ReportModel{"n"}});
    std::fill(report.end() - 4, report.end(), std::uint8_t{0x7F});
    CHECK(fault_of<Command>(report) == DecodeFault{DecodeError::count_too_large, 35});

    // As many models claimed as bytes are left, each of four bytes: what is decoded ends with the bytes.
    report = encode(Command{command::ReportModel{"n"}});
    report[report.size() - 4] = 200;
    report.resize(report.size() + 200, 0);
    CHECK(fault_of<Command>(report).error == DecodeError::truncated);
}
