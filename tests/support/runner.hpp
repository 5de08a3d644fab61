#pragma once

#include <exception>
#include <list>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/commands.hpp"
#include "support/trace.hpp"

namespace support {

/// A property that does not hold, with the trace that led to it.
class Broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void broken(fmt::format_string<Args...> words, Args&&... args) {
    throw Broken{fmt::format(words, std::forward<Args>(args)...)};
}

/// One executed command, with its moment and its events.
struct Step {
    Command command;
    allot::Moment moment;
};

/// Runs a script on a dispatcher and tells a watch of every command: `before(d, command, moment)`, `after(d, command,
/// moment, events)`. A watch is a value; rolling a session back rolls the watch back, too.
///
/// An exception of the watch leaves with the trace in its message.
template <class D, class Watch>
class Runner {
public:
    Runner(D dispatcher, Watch watch, const Setup& setup)
        : d_{std::move(dispatcher)}, watch_{std::move(watch)}, setup_{setup}, trace_{setup} {
        memory_.gangs = setup.gangs();
    }

    void run(const std::vector<Op>& ops) {
        for (const auto& op : ops) { step(op); }
    }

    void step(const Op& op) {
        switch (op.verb) {
            case Verb::session_open: open(); return;
            case Verb::session_commit: commit(); return;
            case Verb::session_rollback: rollback(); return;
            default: (void)apply(*interpret(op, memory_), moment_of(op, setup_, d_.now(), d_.next_deadline())); return;
        }
    }

    auto apply(const Command& command, const allot::Moment& moment) -> allot::Events {
        trace_.command(command, moment);
        return guarded([&] {
            watch_.before(d_, command, moment);
            auto events = d_.apply(command, moment);
            trace_.events(events);
            memory_.hear(events);
            watch_.after(d_, command, moment, events);
            return events;
        });
    }

    void open() {
        if (saved_.size() < 3) {
            trace_.note("open session");
            saved_.push_back({d_.session(), watch_, memory_, d_});
        }
    }
    void commit() {
        if (!saved_.empty()) {
            trace_.note("commit session");
            saved_.back().session.commit();
            saved_.pop_back();
        }
    }
    void rollback() {
        if (saved_.empty()) { return; }
        trace_.note("roll session back");
        saved_.back().session.rollback();
        guarded([&] {
            if (!(d_ == saved_.back().copy) || d_.digest() != saved_.back().copy.digest()) {
                broken("a rollback does not give back the state");
            }
            return 0;
        });
        watch_ = saved_.back().watch;
        memory_ = saved_.back().memory;
        saved_.pop_back();
    }

    [[nodiscard]] auto dispatcher() -> D& { return d_; }
    [[nodiscard]] auto watch() -> Watch& { return watch_; }
    [[nodiscard]] auto memory() -> Memory& { return memory_; }
    [[nodiscard]] auto trace() -> Trace& { return trace_; }

    /// Calls `f`; an exception of it leaves with the trace.
    template <class F>
    auto guarded(F f) -> decltype(f()) {
        try {
            return f();
        } catch (const std::exception& error) { throw Broken{fmt::format("{}\n{}", error.what(), trace_.text())}; }
    }

private:
    struct Saved {
        allot::Session<D> session;
        Watch watch;
        Memory memory;
        D copy;
    };

    D d_;
    Watch watch_;
    Setup setup_;
    Memory memory_;
    Trace trace_;
    std::list<Saved> saved_;  // sessions close before their dispatcher is destroyed, newest first by `~Runner`

public:
    Runner(const Runner&) = delete;
    auto operator=(const Runner&) -> Runner& = delete;
    ~Runner() {
        while (!saved_.empty()) { saved_.pop_back(); }
    }
};

/// Watches nothing.
struct NoWatch {
    template <class D>
    void before(const D&, const Command&, const allot::Moment&) const {}
    template <class D>
    void after(const D&, const Command&, const allot::Moment&, const allot::Events&) const {}
};

}  // namespace support
