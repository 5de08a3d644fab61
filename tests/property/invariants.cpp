#include "support/invariants.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "support/any_script.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"

namespace {

using support::any_script;
using support::Command;
using support::FastDispatcher;
using support::Runner;

// How often each event, each refusal and each command came: what never happens was not tested.
struct Seen {
    std::array<std::uint64_t, allot::event_types> events{};
    std::array<std::uint64_t, 64> errors{};
    std::array<std::uint64_t, std::variant_size_v<Command::Alternatives>> accepted{};
    std::uint64_t commands = 0;
};

class CountingWatch : public support::Watch {
public:
    CountingWatch(const support::Setup& setup, Seen& seen) : Watch{setup}, seen_{&seen} {}

    template <class D>
    void after(const D& d, const Command& command, const allot::Moment& moment, const allot::Events& events) {
        Watch::after(d, command, moment, events);
        ++seen_->commands;
        for (const auto& event : events) { ++seen_->events[event.index()]; }
        if (events.accepted()) {
            ++seen_->accepted[command.index()];
        } else {
            ++seen_->errors[static_cast<std::size_t>(events.error())];
        }
    }

private:
    Seen* seen_;
};

}  // namespace

TEST_CASE("after every command the records are what commands and events say") {
    auto seen = Seen{};
    support::property(
        "the invariants hold",
        [&] {
            const auto script = *any_script();
            auto runner = Runner<FastDispatcher, CountingWatch>{script.setup.make<FastDispatcher>(),
                                                                CountingWatch{script.setup, seen}, script.setup};
            runner.run(script.ops);
        },
        support::runs(3'000, 100'000));

    CAPTURE(seen.commands, seen.events, seen.errors, seen.accepted);
    // Each event but the last one, that of stake that unbonds, which this tracker returns at once.
    CHECK(std::find(seen.events.begin(), seen.events.end(), 0U) == seen.events.end() - 1);
    CHECK(std::find(seen.accepted.begin(), seen.accepted.end(), 0U) == seen.accepted.end());
    CHECK(std::count_if(seen.errors.begin(), seen.errors.end(), [](auto n) { return n > 0; }) >= 35);
}
