#include <optional>
#include <vector>

#include <allot/queue/flat_queue.hpp>

#include "support/any_script.hpp"
#include "support/property.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

using support::any_script;
using support::broken;
using support::Command;
using support::DispatcherOf;
using support::exact_text;
using support::FastDispatcher;
using support::LinearDispatcher;
using support::Runner;

// Gives every command to another dispatcher as well. Sessions are the other one's, too.
template <class Other>
struct Both {
    Other* other;

    template <class D>
    void before(const D&, const Command&, const allot::Moment&) const {}
    template <class D>
    void after(const D& d, const Command& command, const allot::Moment& moment, const allot::Events& events) const {
        const auto theirs = other->apply(command, moment);
        if (exact_text(events) != exact_text(theirs)) {
            broken("the events differ; the other's are\n{}", support::text(theirs));
        }
        if (d.digest() != other->digest()) { broken("the digests differ"); }
        if (d.next_deadline() != other->next_deadline() || d.queued() != other->queued()) {
            broken("what is due or queued differs");
        }
    }
};

template <class Other>
void agrees(const char* claim, int runs) {
    support::property(
        claim,
        [] {
            const auto script = *any_script();
            auto other = script.setup.template make<Other>();
            auto runner = Runner<FastDispatcher, Both<Other>>{script.setup.make<FastDispatcher>(), Both<Other>{&other},
                                                              script.setup};
            auto sessions = std::vector<allot::Session<Other>>{};
            for (const auto& op : script.ops) {
                runner.step(op);
                if (op.verb == support::Verb::session_open && sessions.size() < 3) {
                    sessions.push_back(other.session());
                } else if (op.verb == support::Verb::session_commit && !sessions.empty()) {
                    sessions.back().commit();
                    sessions.pop_back();
                } else if (op.verb == support::Verb::session_rollback && !sessions.empty()) {
                    sessions.back().rollback();
                    sessions.pop_back();
                }
            }
            while (!sessions.empty()) {
                sessions.pop_back();  // the newest first
            }
        },
        runs);
}

}  // namespace

TEST_CASE("a linear pool and a linear queue give the same events as the fast ones") {
    agrees<LinearDispatcher>("the same events from linear models", support::runs(2'000, 50'000));
}

TEST_CASE("a linear pool gives the same events as the pool of groups") {
    agrees<DispatcherOf<allot::LinearPool, allot::ValueQueue>>("the same events from a linear pool",
                                                               support::runs(300, 10'000));
}

TEST_CASE("a linear queue gives the same events as the ordered one") {
    agrees<DispatcherOf<allot::GpuGroupPool, allot::LinearQueue>>("the same events from a linear queue",
                                                                  support::runs(300, 10'000));
}

TEST_CASE("the flat queue gives the same events as the ordered one") {
    agrees<DispatcherOf<allot::GpuGroupPool, allot::FlatQueue>>("the same events from a flat queue",
                                                                support::runs(500, 20'000));
}
