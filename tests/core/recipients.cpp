#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <variant>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <allot/core/event_fields.hpp>
#include <allot/core/recipients.hpp>

#include "support/catch.hpp"

using allot::Event;
using allot::Recipients;

namespace {

/// The column "for" of the table in docs/events.md, by event.
auto column_for() -> std::map<std::string, std::string> {
    auto page = std::ifstream{std::string{ALLOT_TESTS_DIR} + "/../docs/events.md"};
    auto column = std::map<std::string, std::string>{};
    for (auto line = std::string{}; std::getline(page, line);) {
        if (line.rfind("| `", 0) != 0) { continue; }
        auto cells = std::map<int, std::string>{};
        auto at = std::size_t{2};
        for (auto cell = 0; cell < 5 && at != std::string::npos; ++cell) {
            const auto end = line.find(" | ", at);
            cells[cell] = line.substr(at, end - at);
            at = end == std::string::npos ? end : end + 3;
        }
        if (cells.contains(3)) { column[cells[0].substr(1, cells[0].size() - 2)] = cells[3]; }
    }
    return column;
}

auto words(const Recipients& to) -> std::string {
    switch (to.others) {
        case Recipients::Others::sender: return "the sender";
        case Recipients::Others::embedder: return "the embedder";
        case Recipients::Others::everybody: return "everybody";
        case Recipients::Others::nobody: break;
    }
    return to.node && to.owner ? "the node and the owner" : to.node ? "the node" : to.owner ? "the owner" : "nobody";
}

}  // namespace

TEST_CASE("the recipients of each event are those of the table in docs/events.md", "[S1]") {
    const auto column = column_for();
    boost::mp11::mp_for_each<boost::mp11::mp_transform<
        std::type_identity, boost::mp11::mp_rename<Event::Alternatives, boost::mp11::mp_list>>>(
        [&]<class E>(std::type_identity<E>) {
            auto e = allot::blank<E>();
            if constexpr (requires { e.owner; }) { e.owner = "alice"; }
            if constexpr (requires { e.node; }) { e.node = "n"; }
            if constexpr (requires { e.lease; }) { e.lease.node = "n"; }
            const auto name = std::string{allot::type_name<E>()};
            CAPTURE(name);
            REQUIRE(column.contains(name));
            const auto to = allot::recipients(Event{e});
            CHECK(words(to) == column.at(name));
            CHECK((!to.node || *to.node == allot::NodeId{"n"}));
            CHECK((!to.owner || *to.owner == allot::OwnerId{"alice"}));
        });
}

TEST_CASE("a task without an owner is told to nobody else") {
    CHECK(allot::recipients(Event{allot::event::TaskCancelled{7}}) == Recipients{});
}
