#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "support/any_script.hpp"
#include "support/oracle.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

using support::any_script;
using support::broken;
using support::exact_text;
using support::NoWatch;
using support::Op;
using support::Runner;
using support::without_sessions;

using D = support::DispatcherOf<support::oracle::WatchedPool<allot::GpuGroupPool>, allot::ValueQueue>;

}  // namespace

TEST_CASE("a rollback gives back the state, and what follows is what would have followed") {
    support::property(
        "rollback is as if nothing had been",
        [] {
            const auto script = *any_script();
            const auto ops = without_sessions(script.ops);
            const auto cut = *rc::gen::inRange<std::size_t>(0, ops.size() + 1);
            const auto resume = *rc::gen::inRange<std::size_t>(cut, ops.size() + 1);

            auto runner = Runner<D, NoWatch>{script.setup.make<D>(), {}, script.setup};
            const auto at = [&](std::size_t i) { return ops.begin() + static_cast<std::ptrdiff_t>(i); };
            runner.run({at(0), at(cut)});
            auto saved = runner.dispatcher();
            runner.open();
            runner.run({at(cut), at(resume)});
            runner.rollback();  // compares with a copy of its own
            const auto same_pool = [&] {
                runner.guarded([&] {
                    if (!runner.dispatcher().pool().same_places(saved.pool())) {
                        broken("the candidates have other bounds or places than those of the copy");
                    }
                    if (!support::oracle::complaint().empty()) {
                        broken("{}", std::exchange(support::oracle::complaint(), ""));
                    }
                    return 0;
                });
            };
            same_pool();
            // From here on both must do the same: the indices were rolled back, too.
            for (auto i = cut; i < ops.size(); ++i) {
                const auto command = support::interpret(ops[i], runner.memory());
                const auto moment = support::moment_of(ops[i], script.setup, saved.now(), saved.next_deadline());
                const auto events = runner.apply(*command, moment);
                const auto theirs = saved.apply(*command, moment);
                runner.guarded([&] {
                    if (exact_text(events) != exact_text(theirs)) {
                        broken("the copy that was never rolled back says\n{}", support::text(theirs));
                    }
                    if (!(runner.dispatcher() == saved) || runner.dispatcher().digest() != saved.digest()) {
                        broken("the copy that was never rolled back is in another state");
                    }
                    return 0;
                });
                same_pool();
            }
        },
        support::runs(1'500, 50'000));
}
