#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/any_script.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

using support::any_script;
using support::broken;
using support::Command;
using support::exact_text;
using support::FastDispatcher;
using support::Op;
using support::Runner;
using support::Verb;

// Writes down what was said and answered.
struct Log {
    struct Line {
        Command command;
        allot::Moment moment;
        std::string answer;
        std::uint64_t digest;
    };
    std::vector<Line> lines{};

    template <class D>
    void before(const D&, const Command&, const allot::Moment&) const {}
    template <class D>
    void after(const D& d, const Command& command, const allot::Moment& moment, const allot::Events& events) {
        lines.push_back({command, moment, exact_text(events), d.digest()});
    }
};

void replays(FastDispatcher d, const std::vector<Log::Line>& lines, std::size_t from, const char* what) {
    for (auto i = from; i < lines.size(); ++i) {
        const auto events = d.apply(lines[i].command, lines[i].moment);
        if (exact_text(events) != lines[i].answer || d.digest() != lines[i].digest) {
            broken("{}: step {} of the log gives\n{}", what, i, support::text(events));
        }
    }
}

// The rest of a log at one moment: as one batch, and one command after the other. `d` is at the command `from`.
void batches(FastDispatcher d, const std::vector<Log::Line>& lines, std::size_t from) {
    if (from == lines.size()) { return; }
    const auto moment = lines.back().moment;
    auto commands = std::vector<Command>{};
    auto one_by_one = d;
    auto answers = std::vector<std::optional<allot::Error>>{};
    auto single = allot::Events{};
    for (auto i = from; i < lines.size(); ++i) {
        commands.push_back(lines[i].command);
        auto events = one_by_one.apply(lines[i].command, moment);
        answers.push_back(events.accepted() ? std::nullopt : std::optional{events.error()});
        for (const auto& event : events) { single.push(event); }
    }
    auto events = allot::Events{};
    auto answered = std::vector<allot::Answer>{};
    d.apply(commands, moment, events, answered);
    const auto without_answer = [](const allot::Events& all) {
        const auto text = exact_text(all);
        return text.substr(text.find('\n'));
    };
    if (without_answer(events) != without_answer(single) || d.digest() != one_by_one.digest() ||
        !std::equal(answered.begin(), answered.end(), answers.begin(), answers.end(),
                    [](const allot::Answer& one, const auto& error) { return one.error == error; })) {
        broken("steps {} to the end as one batch give\n{}", from, support::text(events));
    }
}

}  // namespace

TEST_CASE("a log replays: from the start, from a copy, with other hash keys, in one batch") {
    support::property(
        "a log gives the same events again",
        [] {
            auto script = *any_script();
            std::erase_if(script.ops, [](const Op& op) { return op.verb >= Verb::session_open; });
            const auto copied_at = *rc::gen::inRange<std::size_t>(0, script.ops.size() + 1);
            const auto key = *rc::gen::arbitrary<std::uint64_t>();

            auto runner = Runner<FastDispatcher, Log>{script.setup.make<FastDispatcher>(), {}, script.setup};
            auto copy = std::optional<FastDispatcher>{};
            for (std::size_t i = 0; i < script.ops.size(); ++i) {
                if (i == copied_at) { copy = runner.dispatcher(); }
                runner.step(script.ops[i]);
            }
            const auto& lines = runner.watch().lines;
            runner.guarded([&] {
                replays(script.setup.make<FastDispatcher>(), lines, 0, "from the start");
                replays(script.setup.make<FastDispatcher>({}, {key, ~key}), lines, 0, "with another key");
                if (copy) {
                    batches(*copy, lines, copied_at);
                    replays(*std::move(copy), lines, copied_at, "from a copy");
                }
                return 0;
            });

            // Records that are handed over to a dispatcher of other policies and back are those they were.
            runner.guarded([&] {
                auto there = support::LinearDispatcher{FastDispatcher{runner.dispatcher()},
                                                       allot::Rules{script.setup.rules()},
                                                       allot::LinearPool{},
                                                       allot::LinearQueue{},
                                                       allot::RollingQos{},
                                                       allot::ThresholdPlacement{},
                                                       allot::FixedTerms{},
                                                       allot::IdKey{key, 7}};
                if (there.digest() != runner.dispatcher().digest() ||
                    there.next_deadline() != runner.dispatcher().next_deadline()) {
                    broken("records change when policies do");
                }
                return 0;
            });
        },
        support::runs(1'000, 30'000));
}
