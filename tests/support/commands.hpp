#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>

namespace support {

using namespace std::chrono_literals;
using namespace allot::literals;

// ---- the setup of a script ---------------------------------------------------------------------------------------

/// The policies' parameters at the start. Bits that are not set mean the defaults, so a failure shrinks towards them.
struct Setup {
    std::uint32_t bits = 0;

    [[nodiscard]] auto has(unsigned bit) const -> bool { return ((bits >> bit) & 1U) != 0; }

    /// Some tasks run on several nodes.
    [[nodiscard]] auto gangs() const -> bool { return has(16); }
    /// Every command comes with entropy.
    [[nodiscard]] auto entropy_always() const -> bool { return has(0); }

    [[nodiscard]] auto rules() const -> allot::RulesParameters {
        auto rules = allot::RulesParameters{};
        rules.narrowing = has(1) && has(2) ? allot::Narrowing::none
                          : has(1)         ? allot::Narrowing::all
                          : has(2)         ? allot::Narrowing::gate
                                           : allot::Narrowing::any;
        rules.due_max = has(3) ? 2 : rules.due_max;
        rules.renewals_max = has(3) ? 1 : rules.renewals_max;
        rules.evictions_max = has(4) ? 1 : rules.evictions_max;
        rules.avoided_max = has(5) ? 1 : rules.avoided_max;
        rules.class_nodes_min = has(17) ? 2 : 0;
        rules.forget_nodes_after = has(6) ? allot::Duration{1h} : rules.forget_nodes_after;
        if (has(7)) {  // tight limits on the state that clients can fill
            rules.nodes_max = 8;
            rules.tasks_max = 24;
            rules.classes_max = 4;
            rules.requirements_max = 5;
            rules.models_max = 3;
            rules.group_members_max = 3;
            rules.gang_max = 2;
        }
        return rules;
    }
    [[nodiscard]] auto queue() const -> allot::ValueQueueParameters {
        auto queue = allot::ValueQueueParameters{};
        if (has(8)) {
            queue = {{1, 2}, 2};
        } else if (has(9)) {
            queue = {2, 1};
        }
        return queue;
    }
    [[nodiscard]] auto qos() const -> allot::RollingQosParameters {
        auto qos = allot::RollingQosParameters{};
        qos.window = has(10) ? 3 : qos.window;
        qos.timeout_scores_zero = !has(11);
        qos.score_floor = has(11) ? allot::Score::zero() : qos.score_floor;
        return qos;
    }
    [[nodiscard]] auto placement() const -> allot::ThresholdPlacementParameters {
        return has(12) ? allot::ThresholdPlacementParameters{1, 2, allot::Duration{60s}}
                       : allot::ThresholdPlacementParameters{};
    }
    [[nodiscard]] auto terms() const -> allot::FixedTermsParameters {
        auto terms = allot::FixedTermsParameters{};
        terms.after_timeout = has(13) ? allot::Next::retry_elsewhere : allot::Next::end;
        terms.after_failure = has(14) ? allot::Next::retry : has(15) ? allot::Next::retry_elsewhere : allot::Next::end;
        return terms;
    }

    /// Makes a dispatcher with these parameters.
    template <class D>
    [[nodiscard]] auto make(typename D::CandidatePool pool = {}, allot::IdKey key = {}) const -> D {
        return D{allot::Rules{rules()},
                 std::move(pool),
                 typename D::TaskQueue{queue()},
                 allot::RollingQos{qos()},
                 allot::ThresholdPlacement{placement()},
                 allot::FixedTerms{terms()},
                 key};
    }
};

/// A dispatcher with the given pool and queue, and default models otherwise.
template <class Pool, class Queue>
using DispatcherOf = allot::Dispatcher<allot::Rules, Pool, Queue, allot::RollingQos, allot::ThresholdPlacement,
                                       allot::FixedTerms, allot::IdKey>;
using FastDispatcher = DispatcherOf<allot::GpuGroupPool, allot::ValueQueue>;
using LinearDispatcher = DispatcherOf<allot::LinearPool, allot::LinearQueue>;
using Command = FastDispatcher::Command;
using Configuration = FastDispatcher::Configuration;

enum class Verb : std::uint8_t {
    join,
    submit,
    complete,
    match,
    advance,
    fail,
    decline,
    renew,
    commit,
    disclose,
    cancel,
    update,
    pause,
    resume,
    leave,
    report_model,
    observe,
    score,
    slash,
    configure,
    postpone,
    session_open,
    session_commit,
    session_rollback,
};

/// One step of a script. Its numbers get their meaning from the current state, so that a shrunk script still runs. All
/// zero is the plainest step of its verb.
struct Op {
    Verb verb = Verb::advance;
    std::uint8_t time = 0;    ///< Index of a step in time.
    std::uint8_t chance = 1;  ///< The entropy; zero is none.
    std::uint8_t odd = 0;     ///< Index of the fault in the command; zero is none.
    std::array<std::uint8_t, 10> x{};
};

/// Returns the script without its session steps.
inline auto without_sessions(std::vector<Op> ops) -> std::vector<Op> {
    std::erase_if(ops, [](const Op& op) { return op.verb >= Verb::session_open; });
    return ops;
}

struct Script {
    Setup setup{};
    std::vector<Op> ops{};
};

namespace table {

struct Card {
    const char* gpu;
    std::uint32_t vram;
};
inline constexpr auto cards =
    std::array{Card{"RTX 4090", 24}, Card{"A100", 40}, Card{"A100", 80}, Card{"RTX 4090", 48}, Card{"T4", 16}};
inline constexpr auto platforms = std::array{"Linux", "Windows", ""};
inline constexpr auto software =
    std::array{allot::SoftwareVersion{1, 2, 0}, allot::SoftwareVersion{1, 0, 7}, allot::SoftwareVersion{2, 0, 0}};
inline constexpr auto models = std::array{"sdxl", "lora", "llama", "base"};
inline constexpr auto durations =
    std::array<std::int64_t, 8>{20'000, 40'000, 10'000, 30'000, 1, 3'600'000, 0xFFFF'FFFF, 60'000};
inline constexpr auto nodes = 10U;
inline constexpr auto tasks = 48U;

/// Stakes from zero and one to 2^96 - 1, so that the largest stake moves through many powers of two.
inline auto stake(std::uint8_t x) -> allot::Amount {
    using allot::u128;
    constexpr auto some = std::array<std::uint64_t, 8>{400, 1600, 100, 1, 0, 2, 3, 1'000'000};
    if (x < 3 * some.size()) { return some[x % some.size()]; }
    const auto power = u128{1} << (x % 96);
    return x % 3 == 0 ? power + (power - u128{1}) : power + u128{x / 96U};
}
inline auto fee(std::uint8_t x) -> allot::Amount {
    using allot::u128;
    constexpr auto some = std::array<std::uint64_t, 7>{10, 20, 5, 40, 0, 1, 15};
    return x < 250 ? allot::Amount{some[x % some.size()]} : allot::Amount{(u128{1} << 96) - u128{x - 249U}};
}

}  // namespace table

// ---- generating -----------------------------------------------------------------------------------------------------

/// Returns a random step. Each verb and each step in time has a probability of its own; the other numbers are uniform.
/// @param words Object with `next()`, which returns 64 random bits.
template <class Words>
auto any_op(Words& words) -> Op {
    static const auto verbs = [] {
        auto list = std::vector<Verb>{};
        const auto put = [&](Verb verb, int times) { list.insert(list.end(), static_cast<std::size_t>(times), verb); };
        put(Verb::join, 12), put(Verb::submit, 30), put(Verb::complete, 12), put(Verb::match, 5), put(Verb::advance, 5);
        put(Verb::fail, 6), put(Verb::decline, 4), put(Verb::renew, 2), put(Verb::commit, 3), put(Verb::disclose, 3);
        put(Verb::cancel, 4), put(Verb::update, 7), put(Verb::pause, 3), put(Verb::resume, 4), put(Verb::leave, 4);
        put(Verb::report_model, 6), put(Verb::observe, 5), put(Verb::score, 6), put(Verb::slash, 1);
        put(Verb::configure, 1), put(Verb::postpone, 1), put(Verb::session_open, 2), put(Verb::session_commit, 1),
            put(Verb::session_rollback, 2);
        return list;
    }();
    // Index into the time steps of `interpret`: mostly none or short, rarely one after which everything is due.
    static const auto times = [] {
        auto list = std::vector<std::uint8_t>(60, 0);
        const auto put = [&](std::uint8_t time, int often) {
            list.insert(list.end(), static_cast<std::size_t>(often), time);
        };
        put(1, 10), put(2, 12), put(3, 12), put(4, 10), put(5, 4), put(6, 3), put(7, 3), put(8, 2), put(9, 1),
            put(12, 1);
        return list;
    }();
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(words.next() % n); };
    auto op = Op{};
    op.verb = verbs[below(verbs.size())];
    op.time = times[below(times.size())];
    if (below(400) == 0) { op.time = static_cast<std::uint8_t>(10 + below(4)); }
    op.chance = static_cast<std::uint8_t>(below(8) < 2 ? 0 : 1 + below(250));
    op.odd = static_cast<std::uint8_t>(below(8) == 0 ? 1 + below(22) : 0);
    for (auto& x : op.x) { x = static_cast<std::uint8_t>(below(256)); }
    return op;
}

// ---- from numbers to commands ---------------------------------------------------------------------------------------

/// The memory of a client that sends commands: the nodes present, and the leases given.
struct Memory {
    std::vector<allot::NodeId> present{};  // in the order they joined
    std::vector<allot::Lease> running{};   // in the order they began
    std::vector<allot::Lease> given{};     // all of them
    bool gangs = false;                    // its tasks may ask for several nodes

    void hear(const allot::Events& events) {
        const auto gone = [this](const allot::NodeId& node) { std::erase(present, node); };
        const auto ended = [this](const allot::Lease& lease) {
            std::erase_if(running, [&](const allot::Lease& other) { return other.token == lease.token; });
        };
        events.each([&](const allot::event::NodeJoined& e) { present.push_back(e.node); },
                    [&](const allot::event::NodeLeft& e) { gone(e.node); },
                    [&](const allot::event::NodeKickedOut& e) { gone(e.node); },
                    [&](const allot::event::NodeSlashed& e) { gone(e.node); },
                    [&](const allot::event::NodeDisplaced& e) { gone(e.node); },
                    [&](const allot::event::TaskStarted& e) {
                        running.push_back(e.lease);
                        given.push_back(e.lease);
                    },
                    [&](const allot::event::LeaseCompleted& e) { ended(e.lease); },
                    [&](const allot::event::LeaseEnded& e) { ended(e.lease); });
    }
};

/// Returns the time after a step, by the step's index.
inline auto time_after(const Op& op, allot::TimePoint now, std::optional<allot::TimePoint> deadline)
    -> allot::TimePoint {
    constexpr auto steps =
        std::array<allot::Duration, 12>{0ms, 1ms, 1s, 20s, 0ms, 0ms, 90s, 10min, 45min, 7h, 80h, 24h * 31};
    switch (op.time) {
        case 4: return deadline ? std::max(now, *deadline) : now;  // exactly when something is due
        case 5: return deadline ? std::max<allot::TimePoint>(now, *deadline - 1ms) : now;  // just before
        case 12: return now - 1ms;
        case 13: return allot::time_point_max + 1ms;
        default: return now + steps[op.time % steps.size()];
    }
}

/// Returns the command of a step in the current state; none for a session step.
[[nodiscard]] inline auto interpret(const Op& op, const Memory& memory) -> std::optional<Command> {
    namespace c = allot::command;
    const auto& x = op.x;
    // Steps prefer nodes that are present.
    const auto anybody = allot::NodeId{x[0] % table::nodes};
    const auto node = op.odd == 1   ? allot::NodeId{""}
                      : op.odd == 2 ? allot::NodeId{"nobody"}
                      : op.odd >= 19 || op.verb == Verb::join || memory.present.empty()
                          ? anybody
                          : memory.present[x[0] % memory.present.size()];
    const auto t = x[0] % table::tasks;
    const auto task = op.odd == 1 ? allot::TaskId{""} : allot::TaskId{t};
    const auto models = [](std::uint8_t mask) {
        auto names = std::vector<std::string>{};
        for (auto i = 0U; i < table::models.size(); ++i) {
            if (((mask >> i) & 1U) != 0 && ((mask >> (i + 4U)) & 1U) == 0) { names.emplace_back(table::models[i]); }
        }
        return names;
    };
    const auto spoil = [&](std::vector<std::string>& names) {
        if (op.odd == 3) { names.emplace_back(); }
        if (op.odd == 4) { names.emplace_back(200, 'x'); }
        if (op.odd == 5) { names.resize(5'000, "many"); }
        if (op.odd == 6 && !names.empty()) { names.push_back(names.front()); }  // a duplicate is valid
    };
    // A current lease, if there is one; else one that has ended, or one never given.
    const auto lease = [&]() -> allot::Lease {
        if (memory.given.empty() || op.odd == 7) { return {task, node, x[1], 0, 1, {}}; }
        const auto& some = memory.running.empty() || op.odd == 8 ? memory.given : memory.running;
        auto given = some[x[0] % some.size()];
        if (op.odd == 9) { given.token -= 1; }
        if (op.odd == 10) { given.token += 1; }
        if (op.odd == 11) { given.node = node; }
        if (op.odd == 12) { given.task = task; }
        return given;
    };
    switch (op.verb) {
        case Verb::join: {
            const auto& card = table::cards[x[1] % table::cards.size()];
            auto spec = allot::NodeSpec{.id = node, .gpu = card.gpu, .vram = {card.vram}};
            spec.platform = table::platforms[x[2] < 150 ? 0 : x[2] % 3];
            spec.software = table::software[x[3] < 150 ? 0 : x[3] % 3];
            spec.stake = table::stake(x[4]);
            spec.models = models(x[5]);
            if (x[6] % 3 == 1) { spec.operator_id = allot::OperatorId{x[6] % 4U}; }
            spoil(spec.models);
            if (op.odd == 13) { spec.vram = {}; }
            if (op.odd == 14) { spec.gpu = ""; }
            if (op.odd == 15) { spec.stake = allot::u128{1} << 96; }
            if (op.odd == 16) { spec.operator_id = allot::OperatorId{""}; }
            if (op.odd == 17) { spec.platform = std::string(200, 'p'); }
            return c::Join{std::move(spec)};
        }
        case Verb::update: {
            auto change = allot::NodeUpdate{.id = node};
            const auto& card = table::cards[x[1] % table::cards.size()];
            if (x[2] % 4 == 0 || x[2] > 200) { change.stake = table::stake(x[3]); }
            if (x[2] % 4 == 1) {
                change.gpu = card.gpu;
                change.vram = allot::Gibibytes{card.vram};
            }
            if (x[2] % 4 == 2) { change.software = table::software[x[4] % 3]; }
            if (x[2] % 16 == 3) { change.platform = table::platforms[x[4] % 3]; }
            if (x[2] % 16 == 7) { change.operator_id = allot::OperatorId{x[4] % 4U}; }
            if (op.odd == 13) { change.vram = allot::Gibibytes{}; }
            if (op.odd == 14) { change.gpu = ""; }
            if (op.odd == 15) { change.stake = allot::u128{1} << 100; }
            return c::Update{std::move(change)};
        }
        case Verb::pause: return c::Pause{node};
        case Verb::resume: return c::Resume{node};
        case Verb::leave: return c::Leave{node};
        case Verb::slash: return c::Slash{node};
        case Verb::report_model: {
            auto names = models(x[2]);
            if (names.empty() && op.odd == 0) { names.emplace_back(table::models[x[2] % 4]); }
            spoil(names);
            return c::ReportModel{node, static_cast<c::Report>(x[1] % 5), std::move(names)};
        }
        case Verb::observe:
            return c::Observe{node, op.odd == 18 ? allot::OutcomeKind::scored
                                                 : static_cast<allot::OutcomeKind>(x[1] < 100 ? 1 : x[1] % 9)};
        case Verb::score: return c::Score{node, op.odd == 18 ? 11U : x[1] < 100 ? 0U : x[1] % 11U};
        case Verb::submit: {
            auto spec = allot::TaskSpec{.id = task};
            constexpr auto vrams = std::array{16U, 8U, 24U, 40U, 48U, 100U};
            spec.vram_min = {vrams[x[1] < 128 ? 0 : x[1] % vrams.size()]};
            switch (x[2] % 16) {
                case 11: spec.gpus = {{"RTX 4090", {24}}}; break;
                case 12: spec.gpus = {{"A100", {}}}; break;
                case 13: spec.gpus = {{"RTX 4090", {48}}, {"A100", {40}}}; break;
                case 14: spec.gpus = {{"A100", {80}}, {"RTX 4090", {}}}; break;
                case 15: spec.gpus = {{"H100", {80}}}; break;
                default: break;
            }
            if (x[3] % 8 == 7) { spec.platforms = {"Linux"}; }
            if (x[3] % 8 == 6) { spec.platforms = {"Windows", "Linux", "Linux"}; }
            if (x[3] % 8 == 5) { spec.platforms_refused = {"Windows"}; }
            if (x[3] % 16 == 6) { spec.platforms_refused = {"Linux", "Darwin"}; }
            if (x[4] % 8 == 7) { spec.software = allot::SoftwareVersion{1, 1, 0}; }
            if (x[4] % 8 == 6) { spec.software = allot::SoftwareVersion{2, 0, 0}; }
            spec.models = models(x[5]);
            spec.fee = table::fee(x[6]);
            spec.duration_estimate = allot::Duration{table::durations[x[7] % table::durations.size()]};
            if (x[8] % 4 == 3) { spec.group = allot::GroupId{x[8] / 4U % 3U}; }
            if (x[9] % 2 == 1) { spec.owner = allot::OwnerId{x[9] % 5U}; }
            if (memory.gangs && x[9] % 8 >= 4) {
                spec.gang_size = 2U + x[9] / 8U % 2U;
                spec.same_card = x[9] / 16U % 2U == 1;
                if (op.odd == 6) { spec.gang_size = x[9] / 32U % 2U; }
                if (op.odd == 7) { spec.gang_size = 17; }
            }
            if (x[4] % 8 == 5) {
                const auto& there = memory.present;
                spec.node = op.odd == 2 || there.empty() ? node : there[x[2] % there.size()];
                if (op.odd == 0) { spec.owner.reset(), spec.group.reset(), spec.gang_size = 1, spec.same_card = false; }
            }
            spoil(spec.models);
            if (op.odd == 13) {
                spec.vram_min = {};
                spec.gpus.clear();
            }
            if (op.odd == 14) { spec.gpus = {{"", {24}}}; }
            if (op.odd == 15) { spec.fee = allot::u128{1} << 96; }
            if (op.odd == 16) { spec.duration_estimate = allot::Duration{0}; }
            if (op.odd == 17) { spec.duration_estimate = allot::Duration{std::int64_t{1} << 32}; }
            if (op.odd == 18) { spec.duration_estimate = allot::Duration{-5}; }
            if (op.odd == 19) { spec.group = allot::GroupId{""}; }
            if (op.odd == 20) { spec.platforms = {""}; }
            if (op.odd == 21) { spec.platforms = {"Linux"}, spec.platforms_refused = {"Windows", "Linux"}; }
            if (op.odd == 22) { spec.platforms_refused = {""}; }
            return c::Submit{std::move(spec)};
        }
        case Verb::cancel: return c::Cancel{x[1] % 2 == 0 || memory.given.empty() ? task : lease().task};
        case Verb::commit: return c::Commit{lease()};
        case Verb::disclose: return c::Disclose{lease()};
        case Verb::complete: return c::Complete{lease()};
        case Verb::fail: return c::Fail{lease(), static_cast<allot::FailCause>(x[2] % 4)};
        case Verb::decline: return c::Decline{lease()};
        case Verb::renew: return c::Renew{lease()};
        case Verb::advance: return c::Advance{};
        case Verb::match: return c::Match{};
        case Verb::configure: {
            auto other = Setup{};
            other.bits = x[0] | (std::uint32_t{x[1]} << 8U) | (x[4] % 4 == 3 ? 1U << 17U : 0U);
            const auto parameters = [&]() -> Configuration {
                if (op.odd != 0) {  // outside their range
                    auto rules = allot::RulesParameters{};
                    rules.due_max = 0;
                    return rules;
                }
                switch (x[2] % 5) {
                    case 1: return other.queue();
                    case 2: return other.qos();
                    case 3: return other.placement();
                    case 4: return other.terms();
                    default: return other.rules();
                }
            }();
            return c::Configure<Configuration>{parameters, static_cast<std::uint32_t>(x[3] % 8)};
        }
        case Verb::postpone:
            return c::Postpone{op.odd == 13   ? allot::Duration{0}
                               : op.odd == 14 ? allot::Duration{std::int64_t{1} << 32}
                                              : allot::Duration{1 + x[0] * 600'000}};
        case Verb::session_open:
        case Verb::session_commit:
        case Verb::session_rollback: break;
    }
    return std::nullopt;
}

inline auto moment_of(const Op& op, const Setup& setup, allot::TimePoint now, std::optional<allot::TimePoint> deadline)
    -> allot::Moment {
    const auto chance = setup.entropy_always() && op.chance == 0 ? std::uint8_t{255} : op.chance;
    auto moment = allot::Moment{time_after(op, now, deadline)};
    if (chance != 0) { moment.entropy = allot::Entropy{std::uint64_t{chance} * 0x9E37'79B9'7F4A'7C15U}; }
    return moment;
}

}  // namespace support
