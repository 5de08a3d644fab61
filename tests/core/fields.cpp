#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/core/command_fields.hpp>
#include <allot/core/event_fields.hpp>

#include "support/catch.hpp"

// An embedder's own types, in a namespace of its own.
namespace embedder {

enum class Mode : std::uint8_t { fair = 2, rigged = 5 };
ALLOT_ENUMERATORS(Mode, fair, rigged)

struct Lottery {
    std::uint32_t tickets = 1;
    Mode mode = Mode::fair;
    std::string value = "prize";  // a field may have the name that others give their arguments
};
ALLOT_FIELDS(Lottery, tickets, mode, value)

struct Nothing {};
ALLOT_FIELDS(Nothing)

struct Unlisted {};

}  // namespace embedder

namespace {

template <class T>
auto names_of() -> std::string {
    auto all = std::string{};
    auto value = allot::blank<T>();
    allot::each_field(value, [&](std::string_view name, auto&) { (all += name) += ' '; });
    return all;
}

static_assert(allot::has_fields<embedder::Lottery> && allot::has_fields<embedder::Nothing>);
static_assert(!allot::has_fields<embedder::Unlisted> && !allot::has_fields<int> && !allot::has_enumerators<int>);
static_assert(allot::type_name<embedder::Lottery>() == "Lottery");
static_assert(allot::type_name<allot::command::ReportModel>() == "ReportModel");
static_assert(allot::enumerator_name(embedder::Mode::rigged) == "rigged");
static_assert(allot::enumerator_name(embedder::Mode{3}).empty());
static_assert(allot::enumerators<embedder::Mode>().size() == 2);

// Whether all alternatives of a variant have a list.
template <class V>
struct AllListed;
template <class... Ts>
struct AllListed<std::variant<Ts...>> : std::bool_constant<(allot::has_fields<Ts> && ...)> {};

static_assert(AllListed<allot::Event::Alternatives>::value);
static_assert(AllListed<allot::Dispatcher<>::Configuration>::value);

template <class... Ts>
auto names_of_alternatives(std::type_identity<std::variant<Ts...>>) -> std::vector<std::string_view> {
    return {allot::type_name<Ts>()...};
}

}  // namespace

TEST_CASE("fields come in the order of the list, and can be written") {
    CHECK(names_of<embedder::Lottery>() == "tickets mode value ");
    CHECK(names_of<embedder::Nothing>().empty());
    CHECK(names_of<allot::SoftwareVersion>() == "major minor patch ");

    auto lottery = embedder::Lottery{};
    allot::each_field(lottery, [](std::string_view, auto& field) {
        if constexpr (std::is_same_v<decltype(field), std::uint32_t&>) { field = 7; }
    });
    CHECK(lottery.tickets == 7);

    auto sum = std::size_t{0};
    allot::each_field(std::as_const(lottery), [&](std::string_view, const auto& field) { sum += sizeof(field); });
    CHECK(sum >= 4 + 1 + sizeof(std::string));
}

TEST_CASE("a blank value has its defaults, and the null id where there is none") {
    CHECK(allot::blank<embedder::Lottery>().value == "prize");
    CHECK(allot::blank<allot::NodeId>().is_null());
    const auto lease = allot::blank<allot::Lease>();
    CHECK((lease.task.is_null() && lease.node.is_null() && lease.of == 1));
    const auto task = allot::blank<allot::command::Submit>().task;
    CHECK((task.id.is_null() && task.models.empty()));
    CHECK(allot::blank<allot::command::Fail>().cause == allot::FailCause::execution_error);
    const auto wanted = allot::blank<allot::event::ModelWanted>();
    CHECK((wanted.node.is_null() && wanted.task.is_null() && wanted.model.view().empty()));
    const auto done = allot::blank<allot::event::TaskDone>();
    CHECK((done.task.is_null() && done.node.is_null() && !done.owner));
    CHECK(allot::blank<allot::Event>().index() == 0);
}

TEST_CASE("the numbers of commands and events never change") {
    using Names = std::vector<std::string_view>;
    using Command = allot::basic_command<int>;
    CHECK(names_of_alternatives(std::type_identity<allot::Event::Alternatives>{}) ==
          Names{"NodeJoined",       "NodeUpdated",    "NodePaused",    "NodePausePending", "NodeResumed",
                "NodeLeavePending", "NodeLeft",       "NodeKickedOut", "NodeSlashed",      "NodeDisplaced",
                "NodeExcluded",     "NodeReadmitted", "NodeScored",    "ModelWanted",      "ModelsReported",
                "TaskQueued",       "TaskStarted",    "TaskCommitted", "TaskDisclosed",    "LeaseRenewed",
                "LeaseCompleted",   "LeaseEnded",     "TaskRetried",   "TaskDone",         "TaskFailed",
                "TaskCancelled",    "TaskEvicted",    "TaskTimedOut",  "Advanced",         "Matched",
                "Configured",       "Refused",        "Postponed",     "UnbondingBegan"});
    CHECK(std::is_same_v<std::variant_alternative_t<0, Command::Alternatives>, allot::command::Join>);
    CHECK(std::is_same_v<std::variant_alternative_t<8, Command::Alternatives>, allot::command::Submit>);
    CHECK(std::is_same_v<std::variant_alternative_t<18, Command::Alternatives>, allot::command::Match>);
    CHECK(std::is_same_v<std::variant_alternative_t<19, Command::Alternatives>, allot::command::Configure<int>>);
    CHECK(std::is_same_v<std::variant_alternative_t<20, Command::Alternatives>, allot::command::Postpone>);
}

TEST_CASE("the list of errors is complete") {
    for (auto number = 0U; number < 1'000; ++number) {
        const auto error = static_cast<allot::Error>(number);
        CAPTURE(number);
        CHECK(allot::enumerator_name(error).empty() == (message(error) == "unknown error"));
    }
}
