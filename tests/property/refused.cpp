#include <array>
#include <cstdint>

#include "support/any_script.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"

namespace {

using support::any_script;
using support::broken;
using support::FastDispatcher;
using support::NoWatch;
using support::Op;
using support::Runner;
using support::Verb;

}  // namespace

TEST_CASE("a refused command changes nothing but time, and check says so before") {
    auto refused = 0;
    support::property(
        "a refused command changes nothing",
        [&] {
            const auto script = *any_script();
            auto runner = Runner<FastDispatcher, NoWatch>{script.setup.make<FastDispatcher>(), {}, script.setup};
            auto& d = runner.dispatcher();
            for (auto op : script.ops) {
                if (op.verb >= Verb::session_open) {
                    runner.step(op);
                    continue;
                }
                if (op.odd == 0 && op.x[9] % 3 == 0) {  // more that is wrong than usual
                    op.odd = static_cast<std::uint8_t>(1 + op.x[8] % 20);
                }
                const auto moment = support::moment_of(op, script.setup, d.now(), d.next_deadline());
                // What is due happens before, so that nothing but the command itself is left to change the state.
                for (auto i = 0; i < 100 && d.next_deadline() && *d.next_deadline() <= moment.time; ++i) {
                    if (!runner.apply(allot::command::Advance{}, moment).accepted()) { break; }
                }
                const auto command = *support::interpret(op, runner.memory());
                const auto back = moment.time < d.now() || moment.time > allot::time_point_max;
                if (!back) { (void)runner.apply(allot::command::Advance{}, moment); }
                const auto copy = d;
                const auto said = d.check(command);
                runner.guarded([&] {
                    if (!(d == copy)) { broken("check changed something"); }
                    return 0;
                });
                const auto events = runner.apply(command, moment);
                runner.guarded([&] {
                    const auto needs_entropy =
                        std::holds_alternative<allot::command::Match>(command) && !moment.entropy;
                    const auto due = !back && copy.next_deadline() && *copy.next_deadline() <= moment.time;
                    if (!back && !due && !needs_entropy &&
                        (events.accepted() == said.has_value() || (said && *said != events.error()))) {
                        broken("check had another opinion: {}", said ? allot::message(*said) : "fine");
                    }
                    if (events.accepted()) { return 0; }
                    ++refused;
                    if (events.size() != 1 && !due) { broken("something else happened"); }
                    if (!due && (!(d == copy) || d.digest() != copy.digest())) {
                        broken("a refused command changed the state");
                    }
                    if (!due && (d.queued() != copy.queued() || d.next_deadline() != copy.next_deadline())) {
                        broken("a refused command changed an index");
                    }
                    return 0;
                });
            }
        },
        support::runs(800, 30'000));
    CHECK(refused > 1'000);
}
