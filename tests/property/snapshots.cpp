#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <allot/journal/snapshot.hpp>

#include "support/any_script.hpp"
#include "support/commands.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace snapshots_test {

namespace {

using support::any_script;
using support::broken;
using support::exact_text;
using support::FastDispatcher;
using support::Op;
using support::Runner;
using support::without_sessions;

constexpr auto as_configured = allot::SnapshotLimits{.parameters = allot::SnapshotParameters::taken_over};

// The state after each command, as bytes, and what the command was answered.
struct Pictures {
    struct Line {
        support::Step step;
        std::string answer;
        std::vector<std::uint8_t> after;
    };
    std::vector<Line> lines{};

    template <class D>
    void before(const D&, const support::Command&, const allot::Moment&) const {}
    template <class D>
    void after(const D& d, const support::Command& command, const allot::Moment& moment, const allot::Events& events) {
        lines.push_back({{command, moment}, exact_text(events), allot::snapshot(d, lines.size() + 1)});
    }
};

template <class D>
void goes_on(const support::Setup& setup, const std::vector<Pictures::Line>& lines, std::size_t p) {
    const auto last = lines.size();
    auto loaded = allot::load_snapshot(lines[p].after, setup.make<D>(), as_configured);
    if (!loaded) {
        broken("the snapshot after step {} is refused: {} ({} {})", p, message(loaded.error().error),
               loaded.error().what, loaded.error().entry);
    }
    auto& d = loaded->dispatcher;
    if (loaded->position != p + 1 || allot::snapshot(d, p + 1) != lines[p].after) {
        broken("the snapshot after step {} is another one once it was loaded", p);
    }
    for (auto i = p + 1; i < last; ++i) {
        if (exact_text(d.apply(lines[i].step.command, lines[i].step.moment)) != lines[i].answer) {
            broken("after the snapshot of step {}, step {} is answered otherwise", p, i);
        }
    }
    if (allot::snapshot(d, last) != lines[last - 1].after) {
        broken("after the snapshot of step {}, the rest of the log leads elsewhere", p);
    }
}

}  // namespace

TEST_CASE("a snapshot at any position and the rest of the log lead to what the whole log leads to") {
    support::property(
        "load(snapshot at p) then replay(p..q) is replay(0..q)",
        [] {
            const auto script = *any_script(60);
            auto runner = Runner<FastDispatcher, Pictures>{script.setup.make<FastDispatcher>(), {}, script.setup};
            runner.run(without_sessions(script.ops));
            runner.guarded([&] {
                const auto& lines = runner.watch().lines;
                for (std::size_t p = 0; p < lines.size(); ++p) { goes_on<FastDispatcher>(script.setup, lines, p); }
                return 0;
            });
        },
        support::runs(60, 2'000));
    support::property(
        "so it is in long logs, and in a dispatcher of linear models",
        [] {
            const auto script = *any_script(600);
            const auto chance = *rc::gen::arbitrary<std::uint32_t>();
            auto runner = Runner<FastDispatcher, Pictures>{script.setup.make<FastDispatcher>(), {}, script.setup};
            runner.run(without_sessions(script.ops));
            runner.guarded([&] {
                if (const auto& lines = runner.watch().lines; !lines.empty()) {
                    const auto p = chance % lines.size();
                    goes_on<FastDispatcher>(script.setup, lines, p);
                    goes_on<support::LinearDispatcher>(script.setup, lines, p);
                }
                return 0;
            });
        },
        support::runs(40, 1'000));
}

TEST_CASE("a state root that followed every change is the one computed from scratch") {
    support::property(
        "incremental is recomputed",
        [] {
            const auto script = *any_script();
            auto d = script.setup.make<FastDispatcher>();
            auto memory = support::Memory{};
            auto tree = allot::StateTree{d};
            for (const auto& op : without_sessions(script.ops)) {
                const auto root_before = tree.root();
                auto session = d.session();
                const auto before = std::pair{d.digest(), memory};
                const auto events = d.apply(*support::interpret(op, memory),
                                            support::moment_of(op, script.setup, d.now(), d.next_deadline()));
                memory.hear(events);
                const auto touched = session.touched();
                tree.follow(d, touched);
                RC_ASSERT(tree.root() == allot::state_root(d));
                if (op.x[0] % 4 == 3) {
                    session.rollback();
                    memory = before.second;
                    tree.follow(d, touched);
                    RC_ASSERT(tree.root() == root_before);
                } else {
                    session.commit();
                    RC_ASSERT(tree.root() != root_before || d.digest() == before.first);
                }
            }
        },
        support::runs(300, 10'000));
}

}  // namespace snapshots_test
