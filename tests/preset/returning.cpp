#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <allot/laws/sample.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

// Within the time that history is kept, no sequence of pause, resume, leave, join, update and decline makes a node
// better than its twin, which did none of this: rule 20, in the hands of a node that tries, under every preset.

namespace returning_test {
namespace {

using namespace support;
using allot::OutcomeKind;
using allot::Score;
using allot::laws::Sampler;
namespace preset = allot::preset;

/// The tracker that measures the service.
template <class Tracker>
auto service_of(const Tracker& tracker) -> const auto& {
    if constexpr (requires { tracker.service(); }) {
        return tracker.service();
    } else {
        return tracker;
    }
}

template <class D>
auto is_proven(const D& d) -> bool {
    if constexpr (requires { d.qos().proven(d.node(1)->qos); }) {
        return d.qos().proven(d.node(1)->qos);
    } else {
        return true;
    }
}

/// A node, and the same node in a copy of the network, where it stays and does nothing.
template <class D>
class Twins {
public:
    Twins(D d, std::uint64_t seed) : d_{std::move(d)}, twin_{d_}, sampler_{seed} { ok(d_.join(plain_node(1), now())); }

    void round() {
        serves_badly_ = sampler_.once_in(5) ? !serves_badly_ : serves_badly_;
        hear_verdicts();
        auto lease = std::optional<Lease>{};
        if (sampler_.once_in(2)) {
            lease = begin_task();
            hear_verdicts();
        }
        twin_ = d_;
        if (lease) {
            for (auto moves = sampler_.small(4); moves > 0; --moves) {
                const auto which = sampler_.small(4);
                move(which == 3 ? 4 : which);  // all but joining: it may be gone by now
            }
            const auto end = sampler_.small(4);
            end_task(d_, *lease, end);
            end_task(twin_, *lease, end);
            REQUIRE(
                (state_of(twin_, 1) != NodeState::left || state_of(d_, 1) == NodeState::left));  // a kick-out is final
        }
        for (auto moves = sampler_.small(8); moves > 0; --moves) { move(sampler_.small(6)); }
        (void)d_.join(plain_node(1), now());
        (void)d_.resume(1, now());
        compare();
    }

    /// The one exception to the law, as far as there is one.
    void clear_no_health() {
        if constexpr (clears) {
            auto parameters = service_of(d_.qos()).parameters();
            parameters.rejoin_clears_health = false;
            ok(d_.configure(parameters, 2, now()));
        }
    }

    int declined = 0;
    int returned = 0;
    int excluded = 0;  ///< How often the twin was excluded.

private:
    static constexpr bool clears = requires(D & d) { service_of(d.qos()).parameters().rejoin_clears_health; };

    [[nodiscard]] auto now() const -> Moment { return at(time_); }
    [[nodiscard]] auto later(std::uint32_t bits) -> Moment { return at(time_ += sampler_.duration(bits)); }

    void hear_verdicts() {
        for (auto verdicts = sampler_.small(12); verdicts > 0; --verdicts) {
            const auto outcome = serves_badly_ ? sampler_.bad_outcome() : sampler_.outcome(d_.qos().points_max());
            const auto moment = later(16);  // a minute at most, so that a lease goes on
            ok(outcome.kind == OutcomeKind::scored ? d_.score(1, outcome.points, moment)
                                                   : d_.observe(1, outcome.kind, moment));
            (void)d_.join(plain_node(1), moment);  // in case it was kicked out
        }
    }

    auto begin_task() -> std::optional<Lease> {
        const auto events = d_.submit(with(plain_task(++tasks_), [](auto& t) { t.fee = 10; }), now());
        if (events.accepted() && events.lease() != nullptr) { return *events.lease(); }
        (void)d_.cancel(tasks_, now());
        return std::nullopt;
    }

    void end_task(D& d, const Lease& lease, std::uint32_t how) {
        switch (how) {
            case 0: (void)d.complete(lease, now()); break;
            case 1: (void)d.fail(lease, allot::FailCause::execution_error, now()); break;
            case 2: (void)d.fail(lease, allot::FailCause::incorrect_result, now()); break;
            default: break;
        }
        (void)d.cancel(tasks_, now());
    }

    /// What a node may do by itself; what is refused was no use. The twin only grows older.
    void move(std::uint32_t which) {
        const auto moment = later(27);
        switch (which) {
            case 0: (void)d_.pause(1, moment); break;
            case 1: (void)d_.resume(1, moment); break;
            case 2: (void)d_.leave(1, moment); break;
            case 3: returned += d_.join(plain_node(1), moment).accepted() ? 1 : 0; break;
            case 4:
                (void)d_.update({.id = 1, .vram = sampler_.vram(), .stake = 1 + sampler_.small(1'000)}, moment);
                break;
            default:
                if (const auto lease = begin_task()) {
                    ok(d_.decline(*lease, moment));
                    ok(d_.cancel(tasks_, moment));
                    ++declined;
                }
        }
        ok(twin_.advance({moment.time, std::nullopt}));
    }

    void compare() {
        const auto back = d_.qos_score(*d_.node(1));
        const auto stayed = twin_.qos_score(*twin_.node(1));
        const auto banned = twin_.node(1)->node.excluded && state_of(twin_, 1) != NodeState::left;
        excluded += banned ? 1 : 0;
        REQUIRE((is_proven(twin_) || !is_proven(d_)));
        auto floor = Score::zero();
        if constexpr (clears) {
            if (service_of(d_.qos()).parameters().rejoin_clears_health) { return; }
            floor = service_of(d_.qos()).parameters().rejoin_floor;
        }
        REQUIRE(back <= std::max(stayed, floor));
        REQUIRE((d_.node(1)->node.excluded || !banned));
    }

    D d_;
    D twin_;
    Sampler sampler_;
    Duration time_{};
    int tasks_ = 0;
    bool serves_badly_ = false;
};

}  // namespace

TEMPLATE_TEST_CASE("nothing that a node does by itself cures what it did", "[A1][A4][A9]", preset::CrynuxSingle,
                   preset::CrynuxTrio, preset::CrynuxRelay2026, preset::CrynuxContracts1, preset::CrynuxContracts2,
                   preset::Hardened) {
    INFO("ALLOT_SEED " << seed());
    auto twins = Twins{network<TestType>(), seed()};
    for (auto i = 0; i < 300; ++i) {
        CAPTURE(i);
        twins.round();
    }
    twins.clear_no_health();
    for (auto i = 300; i < 600; ++i) {
        CAPTURE(i);
        twins.round();
    }
    CHECK(twins.declined > 0);
    CHECK(twins.returned > 0);
    constexpr auto excludes = requires(const allot::Dispatcher<TestType>& d) {
        service_of(d.qos()).parameters().exclude_below;
    };
    CHECK((twins.excluded > 0) == excludes);
}

TEST_CASE("under the hardened preset no return ends a probation, and zeros prove nobody", "[A4]") {
    auto d = network<preset::Hardened>();
    ok(d.join(plain_node(1), at(0s)));
    ok(d.submit(paying("dear", 51), at(0s)));  // waits for a proven node
    ok(d.score(1, 0, at(0s)));
    ok(d.leave(1, at(0s)));
    CHECK(started(d.join(plain_node(1), at(0s))).empty());
    CHECK(d.qos_score(*d.node(1)) == Score::from_ratio(1, 8));
    for (auto i = 0; i < 16; ++i) { CHECK(started(d.score(1, 0, at(0s))).empty()); }
    for (auto i = 0; i < 7; ++i) { CHECK(started(d.score(1, 10, at(0s))).empty()); }
    CHECK(started(d.score(1, 10, at(1min))).size() == 1);  // when it has rested
}

}  // namespace returning_test
