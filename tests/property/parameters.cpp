#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <allot/estimate.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/laws.hpp>
#include <allot/preset/crynux_relay_2026.hpp>
#include <allot/preset/hardened.hpp>
#include <allot/qos/contract_qos.hpp>
#include <allot/qos/monthly_qos.hpp>
#include <allot/qos/resting.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/valuation/fee_per_size.hpp>
#include <allot/valuation/fee_per_weighted_second.hpp>
#include <allot/weight/contract_weight.hpp>
#include <allot/weight/quality_weight.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// Every field of every policy's parameters is taken to its ends, alone and with others: what is accepted has to work,
// exactly, and what is not has to be refused wherever it is given.

namespace parameters_test {

namespace {

using namespace support;
using allot::u128;

// ---- the ends of a field
// ----------------------------------------------------------------------------------------------

/// Calls `f(field)` for each single number of parameters, whatever it is nested in. Lists are left out.
template <class T, class F>
void each_number(T& value, F&& f) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, allot::Score> ||
                  std::is_same_v<T, allot::Duration> || std::is_same_v<T, u128>) {
        f(value);
    } else if constexpr (allot::has_fields<T>) {
        allot::each_field(value, [&](std::string_view, auto& field) { each_number(field, f); });
    }
}

/// Halfway between two values of a number, rounded towards the first.
inline auto halfway(std::uint32_t a, std::uint32_t b) -> std::uint32_t { return std::midpoint(a, b); }
inline auto halfway(allot::Duration a, allot::Duration b) -> allot::Duration {
    return allot::Duration{std::midpoint(a.count(), b.count())};
}
inline auto halfway(u128 a, u128 b) -> u128 { return a < b ? a + ((b - a) >> 1) : a - ((a - b) >> 1); }

/// Values worth a try, wherever the ends of what is accepted may lie.
inline auto candidates(bool) -> std::deque<bool> { return {false, true}; }
inline auto candidates(std::uint32_t) -> std::deque<std::uint32_t> {
    return {0, 1, 2, 1U << 16U, 1U << 31U, ~std::uint32_t{0} - 1, ~std::uint32_t{0}};
}
inline auto candidates(u128) -> std::deque<u128> {
    const auto one = u128{1};
    return {u128{0}, one, u128{400}, one << 64, (one << 96) - one, one << 96, ~u128{0}};
}
inline auto candidates(allot::Score) -> std::deque<allot::Score> {
    const auto one = allot::Score::one().raw();
    return {allot::Score::zero(), allot::Score::from_raw(1), allot::Score::from_raw(one / 2),
            allot::Score::from_raw(one - 1), allot::Score::one()};
}
inline auto candidates(allot::Duration) -> std::deque<allot::Duration> {
    using allot::Duration;
    return {Duration::min(),
            Duration{-1},
            Duration{0},
            Duration{1},
            Duration{1'000},
            Duration{std::int64_t{1} << 32},
            Duration{std::int64_t{1} << 40},
            Duration{std::int64_t{1} << 48},
            Duration::max() - Duration{1},
            Duration::max()};
}
template <class E>
    requires std::is_enum_v<E>
auto candidates(E) -> std::deque<E> { return {E{0}, E{1}, E{2}, E{3}, E{4}, E{255}}; }

/// The same, and the very ends of what `accepted(number)` among those of it.
template <class T, class F>
auto ends(T good, F&& accepted) -> std::deque<T> {
    auto all = candidates(good);
    if constexpr (requires { halfway(good, good); }) {
        for (const auto bad : candidates(good)) {
            if (accepted(bad)) { continue; }
            auto in = good;
            auto out = bad;
            for (auto middle = halfway(in, out); middle != in && middle != out; middle = halfway(in, out)) {
                (accepted(middle) ? in : out) = middle;
            }
            all.push_back(in);
            all.push_back(out);
        }
    }
    return all;
}

/// Calls `f(parameters)` with each number at each of its ends, all else as it is by default.
template <class Parameters, class F>
void walk(F&& f) {
    auto numbers = 0;
    auto defaults = Parameters{};
    each_number(defaults, [&](auto&) { ++numbers; });
    for (auto which = 0; which < numbers; ++which) {
        auto tried = Parameters{};
        auto place = 0;
        each_number(tried, [&](auto& number) {
            if (place++ != which) { return; }
            const auto good = number;
            for (const auto value : ends(good, [&](auto v) { return number = v, tried.valid(); })) {
                number = value;
                f(tried);
            }
        });
    }
}

/// Accepted parameters at random, most numbers at an end.
template <class Parameters>
auto accepted_at_random(std::mt19937_64& random) -> Parameters {
    auto tried = Parameters{};
    each_number(tried, [&](auto& number) {
        if (random() % 3 == 0) { return; }
        const auto before = number;
        const auto all = ends(before, [&](auto v) { return number = v, tried.valid(); });
        number = all[random() % all.size()];
        if (!tried.valid()) { number = before; }
    });
    return tried;
}

// ---- a network to play them in
// ----------------------------------------------------------------------------------------

using Eligibility = allot::AllOf<allot::HardwareFit, allot::Probation>;
using Played = allot::Dispatcher<allot::Rules, Eligibility, allot::LinearWeight, allot::FlatQueue, allot::RollingQos,
                                 allot::FeePerWeightedSecond, allot::ThresholdPlacement, allot::FixedTerms>;

/// The parameters of all its policies.
using All = std::tuple<allot::RulesParameters, allot::ProbationParameters, allot::LinearWeightParameters,
                       allot::ValueQueueParameters, allot::RollingQosParameters, allot::FeePerWeightedSecondParameters,
                       allot::ThresholdPlacementParameters, allot::FixedTermsParameters>;

auto made(const All& all) -> Played {
    return std::apply(
        [](const auto& rules, const auto& probation, const auto& weight, const auto& queue, const auto& qos,
           const auto& valuation, const auto& placement, const auto& terms) {
            return Played{allot::Rules{rules},
                          Eligibility{allot::HardwareFit{}, allot::Probation{probation}},
                          allot::LinearWeight{weight},
                          allot::FlatQueue{queue},
                          allot::RollingQos{qos},
                          allot::FeePerWeightedSecond{valuation},
                          allot::ThresholdPlacement{placement},
                          allot::FixedTerms{terms}};
        },
        all);
}

/// The defaults, but for a cap that some nodes reach and some do not, and a queue that shrinks with the network.
auto usual() -> All {
    auto all = All{};
    std::get<allot::LinearWeightParameters>(all).stake_cap = 400;
    std::get<allot::ValueQueueParameters>(all) = {.tasks_per_node = 2, .capacity_min = 1};
    return all;
}

auto real(u128 number) -> long double {
    return static_cast<long double>(number.high()) * 18'446'744'073'709'551'616.0L +
           static_cast<long double>(number.low());
}

/// min(Q, score cap) · M · min(stake, cap) / cap, and the operator's part of its caps, from what the records say.
auto right_weight(const Played& d, const Played::Record& node, const allot::Task& task) -> long double {
    const auto& rules = d.rules().parameters();
    const auto& weight = d.weight_policy().parameters();
    auto on_disk = 0.0L;
    auto in_use = 0.0L;
    const auto h = d.state().nodes().find(node.node.id);
    for (const auto& held : d.state().holdings(*h)) {
        for (const auto model : task.models()) {
            on_disk += held.model == model && held.on_disk() ? 1.0L : 0.0L;
            in_use += held.model == model && held.holding == allot::Holding::in_use ? 1.0L : 0.0L;
        }
    }
    const auto models = static_cast<long double>(task.models().size());
    const auto boost = models == 0.0L ? 1.0L
                                      : 1.0L + (on_disk * rules.boost_on_disk + in_use * rules.boost_in_use) /
                                                   (models * rules.boost_unit);
    const auto cap = real(weight.stake_cap.units);
    auto counted = std::min(real(node.node.stake.units), cap) / cap;
    if (weight.operator_caps != ~std::uint32_t{0}) {
        auto sum = 0.0L;
        d.state().nodes().for_each([&](allot::NodeHandle, const Played::Record& other) {
            const auto same = other.node.present() && other.node.operator_id() == node.node.operator_id();
            sum += same ? real(other.node.stake.units) : 0.0L;
        });
        counted = sum <= cap * weight.operator_caps
                      ? counted
                      : std::min(counted, real(node.node.stake.units) / sum * weight.operator_caps);
    }
    const auto score_counted = std::min(d.qos_score(node), weight.score_cap);
    const auto score = static_cast<long double>(score_counted.raw()) / static_cast<long double>(1U << 30U);
    return score * boost * counted;
}

/// Whether each weight that a draw for this task would go by is the right one: within a millionth, or within what lies
/// below the finest weight there is (2^-92, a few of them).
void check_shares(const Played& d, const TaskSpec& spec) {
    const auto shares = allot::probabilities(d, spec);
    if (!shares || shares->nodes.empty()) { return; }
    const auto task = d.view().record_of(spec);
    // All are in one unit, which may be another than one: that of the node with the largest weight says which.
    auto unit = 0.0L;
    auto largest = 0.0L;
    for (const auto& share : shares->nodes) {
        const auto right = right_weight(d, *d.node(share.node), task);
        if (right > largest) {
            largest = right;
            unit = real(share.weight) / right;
        }
    }
    REQUIRE(largest > 0.0L);
    for (const auto& share : shares->nodes) {
        const auto right = right_weight(d, *d.node(share.node), task) * unit;
        const auto is = real(share.weight);
        const auto finest = 64.0L;
        INFO("node " << share.node.text() << " weighs " << static_cast<double>(is) << ", not "
                     << static_cast<double>(right));
        REQUIRE(std::abs(is - right) <= right * 1e-6L + finest);
    }
}

/// Plays a network whose policies have these parameters: what goes on is sane, and every draw is by the right weights.
void play(const All& all, std::uint64_t seed, int steps) {
    auto d = made(all);
    auto chaos = support::Chaos<Played>{seed};
    auto recorder = allot::MetricsRecorder{};
    const auto apply = [&](const Played::Command& command, const Moment& moment) {
        auto events = Events{};
        d.apply(command, moment, events, recorder.trace<Played>());
        recorder.hear(d, events);
    };
    // One that is as good, as rich and as near as can be, so that weights are as large as they get.
    auto best = with(plain_node("best"), [](NodeSpec& n) { n.models = {"a", "b", "c", "d", "e"}; });
    best.stake = u128{1} << 95;
    apply(command::Join{best}, at(0s));
    for (auto step = 0; step < steps; ++step) {
        const auto command = chaos.command(d);
        if (const auto* submit = std::get_if<command::Submit>(&command); submit != nullptr && !d.check(command)) {
            check_shares(d, submit->task);
        }
        apply(command, chaos.moment(d));
    }
    // What is due, as far as 2^48 ms go. Then the network shrinks, and the queue after it, to no longer than it may be
    // (rule 14).
    for (auto i = 0; i < 60 && d.next_deadline() && *d.next_deadline() < allot::time_point_max; ++i) {
        apply(command::Advance{}, {std::max(d.now(), *d.next_deadline()), allot::Entropy{seed}});
    }
    const auto later = Moment{d.now(), std::nullopt};
    for (auto id = 100; id < 120; ++id) {
        apply(command::Join{plain_node(id)}, later);
        apply(command::Submit{plain_task(id)}, later);
        apply(command::Submit{plain_task(1'000 + id)}, later);
    }
    for (auto id = 100; id < 120; ++id) { apply(command::Leave{allot::NodeId{id}}, later); }
    for (auto i = 0; i < 60; ++i) { apply(command::Advance{}, later); }
    CHECK(d.queued() <= d.queue_capacity());
    CHECK(recorder.metrics(d).above_bound == 0);
}

/// What a refusal has to be like: one sentence that names the policy, wherever the parameters are given.
template <class Policy>
void check_refused(const typename Policy::Parameters& parameters) {
    const auto text = std::string{parameters.fault() == nullptr ? "" : parameters.fault()};
    INFO(text);
    CHECK(text.rfind("allot: ", 0) == 0);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find(" must ") + text.find(" needs ") != 2 * std::string::npos);
    CHECK_THROWS_WITH(Policy{parameters}, text);
    if constexpr (requires(Policy & p) { p.configure(parameters); }) {
        auto policy = Policy{};
        CHECK_THROWS_AS(policy.configure(parameters), std::invalid_argument);
        CHECK(policy.parameters() == typename Policy::Parameters{});
    }
}

/// Walks over the parameters of one policy of the network.
template <class Policy>
void walk_in_network() {
    using Parameters = typename Policy::Parameters;
    auto untouched = Played{};
    const auto before = untouched;
    auto played = 0;
    auto refused = 0;
    walk<Parameters>([&](const Parameters& parameters) {
        auto all = usual();
        std::get<Parameters>(all) = parameters;
        if (parameters.valid()) {
            CHECK(parameters.fault() == nullptr);
            play(all, seed() + static_cast<std::uint64_t>(++played), 200);
        } else {
            ++refused;
            check_refused<Policy>(parameters);
            CHECK(refusal(untouched.configure(parameters, 2, dark(0s))) == Error::parameter_invalid);
        }
    });
    CHECK(untouched == before);
    CHECK(played > 1);
    CHECK(refused > 0);
}

/// Walks over the parameters of one policy, which `lawful(policy)` tries by itself.
template <class Policy, class Lawful>
void walk_by_law(Lawful&& lawful) {
    using Parameters = typename Policy::Parameters;
    auto refused = 0;
    walk<Parameters>([&](const Parameters& parameters) {
        if (!parameters.valid()) {
            ++refused;
            check_refused<Policy>(parameters);
            return;
        }
        const auto finding = lawful(Policy{parameters});
        INFO(finding.value_or(std::string{}));
        CHECK(!finding);
    });
    CHECK(refused > 0);
}

}  // namespace

TEMPLATE_TEST_CASE("a policy's parameters work to the ends of what is accepted, and beyond are refused with a sentence",
                   "[A10]", allot::Rules, allot::Probation, allot::LinearWeight, allot::FlatQueue, allot::RollingQos,
                   allot::FeePerWeightedSecond, allot::ThresholdPlacement, allot::FixedTerms) {
    walk_in_network<TestType>();
}

TEST_CASE("any accepted parameters of all policies work together", "[A10]") {
    auto random = std::mt19937_64{seed()};
    for (auto i = 0; i < 200; ++i) {
        auto all = All{};
        std::apply([&](auto&... one) { ((one = accepted_at_random<std::remove_cvref_t<decltype(one)>>(random)), ...); },
                   all);
        INFO("ALLOT_SEED " << seed() << ", combination " << i);
        play(all, random(), 200);
    }
}

TEST_CASE("a policy keeps its law with any parameters that are accepted", "[A10]") {
    namespace laws = allot::laws;
    walk_by_law<allot::ContractQos>([](const auto& p) { return laws::bounded(p, seed(), 300); });
    walk_by_law<allot::MonthlyQos>([](const auto& p) { return laws::bounded(p, seed(), 300); });
    walk_by_law<allot::RollingQos>([](const auto& p) { return laws::bounded(p, seed(), 300); });
    walk_by_law<allot::FeePerSize>([](const auto& p) { return laws::rational(p, seed(), 100); });
    walk_by_law<allot::FeePerWeightedSecond>([](const auto& p) { return laws::rational(p, seed(), 100); });
    walk_by_law<allot::FixedTerms>([](const auto& p) { return laws::positive(p, seed(), 100); });
    walk_by_law<allot::Price>([](const auto& p) -> laws::Finding {
        for (const auto fee :
             {allot::u128{0}, allot::u128{1}, allot::u128{20}, (allot::u128{1} << 96) - allot::u128{1}}) {
            auto before = allot::Amount{};
            for (const auto held : {0, 1, 1'000, 60'000, 2'000'000'000}) {
                const auto forfeit =
                    p.cancelled(allot::Amount{fee}, allot::Duration{held}, allot::Duration{60'000}, {});
                if (forfeit > allot::Amount{fee}) { return "a forfeit exceeds the fee"; }
                if (forfeit < before) { return "a forfeit falls with time"; }
                before = forfeit;
            }
            if (before != allot::Amount{fee}) { return "a lease that has passed does not forfeit the whole fee"; }
        }
        if (p.fee_min(1min) > p.fee_min(2min)) { return "a longer lease costs less"; }
        return {};
    });
    walk_by_law<allot::ThresholdPlacement>([](const auto& p) { return laws::pure(p, seed(), 100); });
    walk_by_law<allot::LinearWeight>([](const auto& p) { return laws::monotone(p, seed(), 300); });
    walk_by_law<allot::LinearQueue>([](const auto& p) { return laws::ordered(p, seed(), 100); });
    walk_by_law<allot::ValueQueue>([](const auto& p) { return laws::ordered(p, seed(), 100); });
    walk_by_law<allot::Rest>([](const auto& p) -> laws::Finding {
        for (const auto bits : {0, 1, 32, 40, 62}) {
            const auto lease = allot::Duration{(std::int64_t{1} << bits) - 1};
            if (p.length(lease) < allot::Duration{0}) { return "a rest is negative"; }
            if (p.length(std::nullopt) < allot::Duration{0}) { return "a rest after a return is negative"; }
        }
        return {};
    });
    walk_by_law<allot::RenewalBound>([](const auto& p) -> laws::Finding {
        for (const auto bits : {0, 1, 32, 40}) {
            const auto length = allot::Duration{std::int64_t{1} << bits};
            if (p.length_max(length) < length) { return "a lease is longer without a renewal than with one"; }
        }
        return {};
    });
    walk_by_law<allot::QueueShare>([](const auto& p) -> laws::Finding {
        auto before = std::uint32_t{0};
        for (const auto nodes : {0U, 1U, 2U, 1'000'000U, 1U << 24U, ~0U}) {
            const auto share = p.of(nodes);
            if (share < before || (share == 0) != (nodes == 0)) { return "a share falls, or one node has none"; }
            before = share;
        }
        return {};
    });
    walk_by_law<allot::Price>([](const auto& p) -> laws::Finding {
        const auto most = allot::Amount{(u128{1} << 96) - u128{1}};
        for (const auto fee : {allot::Amount{0}, allot::Amount{1}, most}) {
            auto lease = allot::Amount{};
            for (const auto crowding : {allot::Ratio{0}, allot::Ratio{1, ~0U}, allot::Ratio{1, 2}, allot::Ratio{1}}) {
                const auto now = p.in_vain(fee, crowding);
                if (now > fee || now < p.paid(fee)) { return "a lease in vain costs less than a payment, or too much"; }
                if (now < lease) { return "a lease in vain costs less in a fuller queue"; }
                lease = now;
            }
            for (const auto held : {0, 1, 30, 40}) {
                const auto time = allot::Duration{(std::int64_t{1} << held) - 1};
                auto before = allot::Amount{};
                for (const auto crowding :
                     {allot::Ratio{0}, allot::Ratio{1, ~0U}, allot::Ratio{1, 2}, allot::Ratio{1}}) {
                    const auto forfeit = p.cancelled(fee, time, allot::Duration{std::int64_t{1} << 40}, crowding);
                    if (forfeit > fee) { return "more than the fee is forfeited"; }
                    if (forfeit < before) { return "a fuller queue costs less"; }
                    before = forfeit;
                }
            }
        }
        return {};
    });
    walk_by_law<allot::Probation>([](const auto& p) { return laws::pure(p, seed(), 100); });
}

TEST_CASE("the values beside the dispatcher are as strict with their parameters", "[A10]") {
    using Finding = allot::laws::Finding;
    const auto day = allot::Duration{86'400'000};
    walk_by_law<allot::TestSchedule>([&](const allot::TestSchedule& p) -> Finding {
        for (const auto now : {allot::TimePoint{}, allot::TimePoint{day}, allot::time_point_max}) {
            const auto time = p.time_of(7, 1, now);
            if (time < now || p.window_start(now) > now) { return "a test lies in the past"; }
        }
        return {};
    });
    walk_by_law<allot::DemandControl>([&](allot::DemandControl p) -> Finding {
        for (auto i = 0; i < 20; ++i) {
            if (p.arrived(allot::TimePoint{i * day / 20}, allot::Duration{0xFFFF'FFFF}) ||
                p.asked(allot::NodeId{i}, allot::TimePoint{i * day / 20}) == Error::time_went_back) {
                return "an arrival was refused";
            }
        }
        const auto wanted = p.target(allot::time_point_max);
        return wanted && *wanted <= p.parameters().holders_max ? Finding{} : Finding{"more than the most is wanted"};
    });
    walk_by_law<allot::OverheadEstimate>([](const allot::OverheadEstimate& p) -> Finding {
        const auto most = p.images(~std::uint32_t{0});
        const auto text = p.text();
        return (most && *most <= allot::Duration{0}) || (text && *text <= allot::Duration{0}) ? Finding{"no time"}
                                                                                              : Finding{};
    });
}

TEST_CASE("boosts at the end of what is accepted bend no weight, whatever the weight", "[A10]") {
    using allot::RulesParameters;
    const auto most = RulesParameters{.boost_on_disk = 14'999, .boost_in_use = 0, .boost_unit = 1'000};
    CHECK(most.valid());
    CHECK_FALSE(RulesParameters{.boost_on_disk = 14'999, .boost_in_use = 1, .boost_unit = 1'000}.valid());
    CHECK_FALSE(RulesParameters{.boost_on_disk = 100, .boost_in_use = 100, .boost_unit = 10}.valid());
    CHECK_FALSE(RulesParameters{.boost_on_disk = ~std::uint32_t{0}, .boost_in_use = ~std::uint32_t{0}}.valid());
    const auto root = allot::StakeRoot::from((u128{1} << 96) - u128{1});
    const auto factors = allot::Factors{root, root, allot::Score::one(), 15'999, 1'000};
    auto node = allot::Node{};
    node.stake = allot::Amount{400};
    const auto task = allot::Task{};
    const auto exactly = [](std::uint64_t num, std::uint64_t den) { return allot::Weight::from_ratio(num, den); };
    const auto near = [](allot::Weight is, allot::Weight right) {
        return is <= right && right.raw() - is.raw() <= right.raw() >> 29;
    };
    CHECK(near(allot::QualityWeight{}.weight(node, task, factors), exactly(15'999, 1'000)));
    CHECK(near(allot::LinearWeight{{.stake_cap = 400}}.weight(node, task, factors), exactly(15'999, 1'000)));
    CHECK(near(allot::HarmonicWeight{}.weight(node, task, factors), exactly(15'999, 2'000)));
    CHECK(near(allot::ContractWeight{}.weight(node, task, factors), exactly(14'999, 1'000)));
}

/// An embedder's policy that checks nothing itself.
struct Trusting {
    using role = allot::role::valuation;
    struct Parameters {
        std::uint32_t divisor = 1;
        auto valid() const -> bool { return divisor != 0; }
        friend auto operator==(const Parameters&, const Parameters&) -> bool = default;
    };
    Parameters given{};
    auto value(const allot::Task& task, const allot::Requirement&) const -> allot::Value {
        return {task.fee.units, given.divisor};
    }
    auto parameters() const -> const Parameters& { return given; }
    void configure(const Parameters& parameters) { given = parameters; }
};

TEST_CASE("a dispatcher refuses an embedder's policy whose parameters are not valid, as configure does", "[A10]") {
    CHECK_THROWS_WITH(allot::Dispatcher{Trusting{{.divisor = 0}}},
                      "allot: a parameter is outside its documented range");
    auto d = allot::Dispatcher{Trusting{}};
    using Configuration = decltype(d)::Configuration;
    CHECK(d.check(command::Configure<Configuration>{Trusting::Parameters{.divisor = 0}, 2}) ==
          Error::parameter_invalid);
    CHECK_THROWS_AS((allot::preset::Hardened{0}), std::invalid_argument);
    CHECK_THROWS_AS((allot::preset::Hardened{400, u128{1} << 96}), std::invalid_argument);
    CHECK_THROWS_AS((allot::preset::CrynuxRelay2026{1'025}), std::invalid_argument);
}

}  // namespace parameters_test
