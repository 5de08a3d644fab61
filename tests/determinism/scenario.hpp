#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/state_root.hpp>

#include "support/commands.hpp"

// A scenario is a stream of random commands for one dispatcher, and the digest of all that followed. The program of all
// scenarios must print the same on every machine; tests/determinism.sh compares. It needs nothing but what the library
// needs.
namespace determinism {

/// What happened in a scenario, and how often: so that none tests nothing. Those from `expired` on are rare.
enum class Happening : std::uint8_t {
    started,
    done,
    refused,
    expired,
    started_over,
    rolled_back,
    left,
    wanted,
    evicted,
    excluded,
    kicked_out,
    count
};
inline constexpr auto happenings = static_cast<std::size_t>(Happening::count);
inline constexpr auto happening_names =
    std::array<const char*, happenings>{"started", "done",   "refused", "expired",  "started over", "rolled back",
                                        "left",    "wanted", "evicted", "excluded", "kicked out"};

struct Report {
    allot::Hash256 digest{};
    std::array<std::uint64_t, happenings> happened{};
    std::string broken{};  ///< A promise that was broken; empty is none.

    auto operator[](Happening what) -> std::uint64_t& { return happened[static_cast<std::size_t>(what)]; }
};

/// One scenario. `never` lists what cannot happen in it, by its policies or its stream.
struct Scenario {
    std::string name;
    std::function<Report(std::uint32_t commands)> run;
    std::vector<Happening> never{};
};
using Scenarios = std::vector<Scenario>;

/// Numbers for the streams: of the test, not of the library, and the same everywhere as the standard says.
class Words {
public:
    explicit Words(std::uint64_t seed) : random_{seed} {}
    auto next() -> std::uint64_t { return random_(); }
    auto below(std::uint64_t n) -> std::uint64_t { return next() % n; }

private:
    std::mt19937_64 random_;
};

/// How a scenario's stream differs from the usual one.
struct Bend {
    std::uint32_t nodes = 0;  ///< So many nodes join before the stream begins.
    bool calm = false;        ///< Time leaps seldom, so that more is in flight.
    bool tied = false;        ///< Nodes are alike and tasks are worth the same.
    bool extreme = false;     ///< Stakes, fees, memory and durations from the ends of their ranges.
    bool named_once = true;   ///< Most tasks have an id of their own, so that they pile up.
};

/// What a dispatcher is after all.
template <class D>
[[nodiscard]] auto state_of(const D& d) -> allot::Hash256 {
    return allot::state_root(d);
}

template <class Parameters>
[[nodiscard]] auto configure_of(std::type_identity<allot::basic_command<Parameters>>) {
    return allot::command::Configure<Parameters>{allot::RulesParameters{}};
}

/// The command of a stream as that of another dispatcher; parameters it does not know become its rules' defaults.
template <class To>
[[nodiscard]] auto converted(support::Command&& from) -> To {
    return std::visit(
        []<class C>(C&& command) -> To {
            if constexpr (requires { To{std::forward<C>(command)}; }) {
                return To{std::forward<C>(command)};
            } else {
                auto configure = configure_of(std::type_identity<To>{});
                configure.rules_version = command.rules_version;
                std::visit(
                    [&]<class P>(const P& parameters) {
                        if constexpr (requires { configure.parameters = parameters; }) {
                            configure.parameters = parameters;
                        }
                    },
                    command.parameters);
                return configure;
            }
        },
        std::move(from));
}

/// Bends what a stream says.
class Bender {
public:
    Bender(const Bend& bend, Words& words) : bend_{bend}, words_{&words} {}

    void operator()(support::Op& op) {
        if (bend_.calm && op.time > 3 && words_->below(40) != 0) {
            op.time = static_cast<std::uint8_t>(words_->below(4));
        }
    }
    void operator()(support::Command& command) {
        if (auto* join = std::get_if<allot::command::Join>(&command)) {
            node(join->node);
        } else if (auto* submit = std::get_if<allot::command::Submit>(&command)) {
            task(submit->task);
        }
    }
    void node(allot::NodeSpec& spec) {
        if (bend_.tied) {
            spec.gpu = "RTX 4090";
            spec.vram = {24};
            spec.stake = 400;
            spec.platform = "Linux";
            spec.software = {1, 2, 0};
        }
        if (bend_.extreme) {
            constexpr auto vrams = std::array<std::uint32_t, 4>{1, 24, 80, 0xFFFF'FFFF};
            const auto one = allot::u128{1};
            const auto stakes = std::array{one, one << 95, (one << 96) - one, allot::u128{400}};
            spec.vram = {vrams[words_->below(vrams.size())]};
            spec.stake = allot::Amount{stakes[words_->below(stakes.size())]};
        }
    }

private:
    void task(allot::TaskSpec& spec) {
        if (bend_.named_once && words_->below(8) != 0) { spec.id = allot::TaskId{1'000 + named_++}; }
        if (bend_.tied) {
            spec.vram_min = {16};
            spec.fee = 20;
            spec.duration_estimate = std::chrono::seconds{20};
        }
        if (bend_.extreme) {
            constexpr auto vrams = std::array<std::uint32_t, 4>{1, 1, 24, 0xFFFF'FFFF};
            constexpr auto durations = std::array<std::int64_t, 3>{1, 20'000, 0xFFFF'FFFF};
            const auto one = allot::u128{1};
            const auto fees = std::array{allot::u128{0}, one, one << 95, (one << 96) - one};
            spec.vram_min = {vrams[words_->below(vrams.size())]};
            spec.fee = allot::Amount{fees[words_->below(fees.size())]};
            spec.duration_estimate = allot::Duration{durations[words_->below(durations.size())]};
        }
    }

    Bend bend_;
    Words* words_;
    std::uint64_t named_ = 0;
};

/// One stream of commands with all that followed. It may go on with another dispatcher, to which the records were
/// handed.
class Stream {
public:
    Stream(std::uint64_t seed, const Bend& bend, const support::Setup& setup)
        : words_{seed}, bender_{bend, words_}, setup_{setup}, memory_{{}, {}, {}, setup.gangs()} {}
    Stream(const Stream&) = delete;
    auto operator=(const Stream&) -> Stream& = delete;
    ~Stream() = default;

    /// Lets nodes join, with ids of their own.
    template <class D>
    void join(D& d, std::uint32_t nodes) {
        for (std::uint32_t i = 0; i < nodes; ++i) {
            auto op = support::any_op(words_);
            op.verb = support::Verb::join;
            op.odd = 0;
            auto command = *support::interpret(op, memory_);
            std::get<allot::command::Join>(command).node.id = allot::NodeId{100 + i};
            apply(d, std::move(command), {});
        }
    }

    /// Gives the next commands. Sessions are opened, kept and rolled back meanwhile.
    template <class D>
    void steps(D& d, std::uint32_t commands) {
        auto saved = std::vector<Saved<D>>{};
        while (commands > 0) {
            auto op = support::any_op(words_);
            bender_(op);
            switch (op.verb) {
                case support::Verb::session_open:
                    if (saved.size() < 3) {  // the state of some, for it is long
                        const auto state = words_.below(8) == 0 ? std::optional{state_of(d)} : std::nullopt;
                        saved.push_back({d.session(), memory_, state});
                    }
                    break;
                case support::Verb::session_commit:
                    if (!saved.empty()) {
                        saved.back().session.commit();
                        saved.pop_back();
                    }
                    break;
                case support::Verb::session_rollback:
                    if (!saved.empty()) {
                        roll_back(d, saved.back());
                        saved.pop_back();
                    }
                    break;
                default:
                    apply(d, *support::interpret(op, memory_),
                          support::moment_of(op, setup_, d.now(), d.next_deadline()));
                    --commands;
            }
        }
        while (!saved.empty()) {  // the newest first
            saved.back().session.commit();
            saved.pop_back();
        }
    }

    /// What came of it.
    template <class D>
    [[nodiscard]] auto end(const D& d) -> Report {
        hash_.bytes(state_of(d));
        report_.digest = hash_.finish();
        return report_;
    }

private:
    template <class D>
    struct Saved {
        allot::Session<D> session;
        support::Memory memory;
        std::optional<allot::Hash256> state;
    };

    template <class D>
    void apply(D& d, support::Command command, const allot::Moment& moment) {
        bender_(command);
        events_.clear();
        d.apply(converted<typename D::Command>(std::move(command)), moment, events_);
        hear();
    }

    template <class D>
    void roll_back(const D& d, Saved<D>& saved) {
        saved.session.rollback();
        memory_ = std::move(saved.memory);
        if (saved.state && *saved.state != state_of(d)) { report_.broken = "a rollback does not give back the state"; }
        if (saved.state) { hash_.bytes(*saved.state); }
        ++report_[Happening::rolled_back];
    }

    void hear() {
        bytes_.clear();
        for (const auto& event : events_) { allot::encode_to(bytes_, event); }
        hash_.bytes(bytes_);
        memory_.hear(events_);
        namespace event = allot::event;
        events_.each([this](const event::TaskStarted&) { ++report_[Happening::started]; },
                     [this](const event::TaskDone&) { ++report_[Happening::done]; },
                     [this](const event::Refused&) { ++report_[Happening::refused]; },
                     [this](const event::TaskTimedOut&) { ++report_[Happening::expired]; },
                     [this](const event::TaskEvicted&) { ++report_[Happening::evicted]; },
                     [this](const event::LeaseEnded& e) {
                         report_[Happening::started_over] += e.how == event::LeaseEnd::declined ? 1U : 0U;
                     },
                     [this](const event::TaskRetried&) { ++report_[Happening::started_over]; },
                     [this](const event::NodeLeft&) { ++report_[Happening::left]; },
                     [this](const event::NodeSlashed&) { ++report_[Happening::left]; },
                     [this](const event::NodeKickedOut&) { ++report_[Happening::kicked_out]; },
                     [this](const event::NodeExcluded&) { ++report_[Happening::excluded]; },
                     [this](const event::ModelWanted&) { ++report_[Happening::wanted]; });
    }

    Words words_;
    Bender bender_;
    support::Setup setup_;
    support::Memory memory_;
    allot::Sha256 hash_{};
    allot::Events events_{};
    std::vector<std::uint8_t> bytes_{};
    Report report_{};
};

/// A scenario of one dispatcher, which `make()` gives.
template <class Make>
[[nodiscard]] auto scenario(std::string name, std::uint64_t seed, const Bend& bend, const support::Setup& setup,
                            Make make, std::vector<Happening> never = {}) -> Scenario {
    return {std::move(name),
            [=](std::uint32_t commands) {
                auto d = make();
                auto stream = Stream{seed, bend, setup};
                stream.join(d, bend.nodes);
                stream.steps(d, commands);
                return stream.end(d);
            },
            std::move(never)};
}

}  // namespace determinism
