#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "support/any_script.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

using allot::Amount;
using allot::u128;
using support::any_script;
using support::broken;
using support::Command;
using support::FastDispatcher;
using support::Op;
using support::Runner;
using support::Script;
using support::Verb;

// Who got what and when: events without their amounts.
auto plot(const allot::Events& events) -> std::string {
    auto out = std::string{};
    for (const auto& event : events) {
        std::visit(
            [&](auto e) {
                const auto blank = [](auto& amount) { amount = Amount{}; };
                if constexpr (requires { e.refunded; }) { blank(e.paid), blank(e.refunded), blank(e.forfeited); }
                if constexpr (requires { e.stake_returned; }) { blank(e.stake_returned); }
                if constexpr (requires { e.stake_forfeited; }) { blank(e.stake_forfeited); }
                out += fmt::format("{}\n", allot::Event{e});
                if constexpr (requires { e.lease; }) { out += fmt::format("  token {}\n", e.lease.token); }
            },
            event);
    }
    return out;
}

template <class Fee, class Stake>
auto with(Command command, const Fee& fee, const Stake& stake) -> Command {
    if (auto* join = std::get_if<allot::command::Join>(&command)) { join->node.stake = stake(join->node.stake); }
    if (auto* update = std::get_if<allot::command::Update>(&command); update != nullptr && update->change.stake) {
        update->change.stake = stake(*update->change.stake);
    }
    if (auto* submit = std::get_if<allot::command::Submit>(&command)) { submit->task.fee = fee(submit->task.fee); }
    return command;
}

// The same script with amounts as they are, cut so that the others fit, and changed; what follows must not differ.
template <class Fee, class Stake>
void same_plot(const Script& script, unsigned spare_bits, const Fee& fee, const Stake& stake) {
    const auto cut = [&](Amount amount) {
        const auto fits = !amount.admitted() || (amount.units >> static_cast<int>(96 - spare_bits)) == u128{0};
        return fits ? amount : Amount{amount.units >> static_cast<int>(spare_bits)};
    };
    auto plain = script.setup.make<FastDispatcher>();
    auto changed = script.setup.make<FastDispatcher>();
    auto trace = support::Trace{script.setup};
    auto memory = support::Memory{{}, {}, {}, script.setup.gangs()};
    for (const auto& op : script.ops) {
        if (op.verb >= Verb::session_open) { continue; }
        const auto command = with(*support::interpret(op, memory), cut, cut);
        const auto moment = support::moment_of(op, script.setup, plain.now(), plain.next_deadline());
        trace.command(command, moment);
        const auto events = plain.apply(command, moment);
        trace.events(events);
        memory.hear(events);
        const auto others = changed.apply(with(command, fee, stake), moment);
        if (plot(events) != plot(others)) {
            broken("the other way it went\n{}\n{}", support::text(others), trace.text());
        }
    }
}

const auto as_it_is = [](Amount amount) { return amount; };

// Nodes that no draw can fall on, and how they come: none fits a task, is free, or has weight.
auto bystanders(std::uint8_t which) -> std::vector<Command> {
    auto all = std::vector<Command>{};
    auto node = allot::NodeSpec{.id = "bystander", .gpu = "abacus", .vram = {1}, .stake = 0};  // serves no task
    if (which % 2 == 1) {
        node.gpu = "RTX 4090";  // serves tasks, but has no weight
        node.vram = {80};
        node.software = {1, 9, 9};
    }
    all.emplace_back(allot::command::Join{node});
    if (which % 4 >= 2) { all.emplace_back(allot::command::Pause{node.id}); }
    return all;
}

}  // namespace

TEST_CASE("fees in another unit change nothing but the amounts") {
    support::property(
        "scaling all fees keeps the order",
        [] {
            const auto script = *any_script();
            const auto factor = *rc::gen::inRange<std::uint32_t>(1, 1'000'000);
            same_plot(
                script, 20, [&](Amount fee) { return fee.admitted() ? Amount{fee.units * u128{factor}} : fee; },
                as_it_is);
        },
        support::runs(600, 20'000));
}

TEST_CASE("stakes four times as high change no draw") {
    support::property(
        "scaling all stakes by powers of four keeps every draw",
        [] {
            const auto script = *any_script();
            const auto twice = *rc::gen::inRange(1, 8);
            same_plot(script, 16, as_it_is,
                      [&](Amount stake) { return stake.admitted() ? Amount{stake.units << (2 * twice)} : stake; });
        },
        support::runs(600, 20'000));
}

TEST_CASE("a node that is not eligible changes no draw") {
    support::property(
        "a bystander changes nothing",
        [] {
            auto script = *any_script();
            const auto which = *rc::gen::inRange<std::uint8_t>(0, 4);
            // No limit that one node more could reach.
            script.setup.bits &= ~((1U << 7U) | (1U << 8U) | (1U << 9U) | (1U << 17U));
            // Bounds are renewed by handle, so one node more shifts which are loose meanwhile.
            script.setup.bits &= ~(1U << 3U);
            auto plain = script.setup.make<FastDispatcher>();
            auto beside = script.setup.make<FastDispatcher>();
            for (const auto& command : bystanders(which)) { (void)beside.apply(command, {}); }
            auto trace = support::Trace{script.setup};
            auto memory = support::Memory{{}, {}, {}, script.setup.gangs()};
            for (const auto& op : script.ops) {
                if (op.verb >= Verb::session_open || op.verb == Verb::configure) { continue; }
                const auto command = *support::interpret(op, memory);
                const auto moment = support::moment_of(op, script.setup, plain.now(), plain.next_deadline());
                trace.command(command, moment);
                const auto events = plain.apply(command, moment);
                trace.events(events);
                memory.hear(events);
                const auto others = beside.apply(command, moment);
                if (plot(events) != plot(others)) {
                    broken("beside bystander {}\n{}\n{}", which, support::text(others), trace.text());
                }
            }
        },
        support::runs(600, 20'000));
}
