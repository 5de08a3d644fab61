#include <chrono>
#include <optional>

#include <allot/policy/archetype.hpp>
#include <allot/terms/bounded_renewals.hpp>
#include <allot/terms/by_evidence.hpp>
#include <allot/terms/draw_delay.hpp>
#include <allot/terms/priced.hpp>
#include <allot/terms/terms_around.hpp>

#define ALLOT_MODEL allot::TermsAround<allot::FixedTerms>
#include "conformance/terms.ipp"
#include "support/network.hpp"

// Terms around others hide no answer of those inside.

namespace terms_around_test {
namespace {

using namespace support;
using allot::BoundedRenewals;
using allot::ByEvidence;
using allot::Delayed;
using allot::DrawDelay;
using allot::FixedTerms;
using allot::Price;
using allot::Priced;
using allot::RenewalBound;

/// The answers of terms with all four layers, in any order.
template <class Terms>
void answers_all(const Terms& terms) {
    auto task = allot::Task{};
    task.fee = 1'000;
    task.duration_estimate = 1min;
    const auto node = allot::Node{};
    CHECK(terms.length(node, task) == 2min);
    CHECK(terms.length_max(node, task) == 6min);
    CHECK(terms.patience(task) == FixedTerms{}.patience(task));
    CHECK(terms.after(task, allot::OutcomeKind::timeout) == allot::Next::retry_elsewhere);
    CHECK(terms.blames(task, allot::OutcomeKind::timeout));
    CHECK(terms.waits_for_evidence(allot::OutcomeKind::timeout));
    CHECK(terms.fee_min(1min) == allot::Amount{420});
    CHECK(terms.forfeit(task, allot::Ending::cancelled, Duration{0}, {}) == allot::Amount{25});
    CHECK(terms.paid(task) == allot::Amount{500});
    CHECK(terms.draws_in_rounds());
    CHECK(terms.drawn_until({TimePoint{9s}, 2026, 5}) == TimePoint{7'999ms});
    CHECK(!terms.drawn_until({TimePoint{9s}, 2026, 6}));
}

}  // namespace

TEST_CASE("terms may stand around each other in any order") {
    const auto fixed = FixedTerms{{.after_timeout = allot::Next::retry, .attempts_max = 3}};
    const auto price = Price{{.fee_per_second_min = 7, .paid = {1, 2}}};
    const auto delay = DrawDelay{{.round_period = 2s}};
    const auto bound = RenewalBound{{.lengths = 3}};
    answers_all(Delayed{Priced{ByEvidence{BoundedRenewals{fixed, bound}}, price}, delay});
    answers_all(BoundedRenewals{ByEvidence{Priced{Delayed{fixed, delay}, price}}, bound});
    answers_all(ByEvidence{BoundedRenewals{Delayed{Priced{fixed, price}, delay}, bound}});
    answers_all(Priced{Delayed{BoundedRenewals{ByEvidence{fixed}, bound}, delay}, price});
}

TEST_CASE("rounds around rounds keep both") {
    const auto fast = DrawDelay{{.round_period = 2s}};
    const auto slow = DrawDelay{{.draw_delay = 5s}};
    CHECK(Delayed{Delayed{FixedTerms{}, fast}}.draws_in_rounds());
    CHECK(Delayed{Delayed{FixedTerms{}, fast}}.drawn_until({TimePoint{9s}, 2026, 5}) == TimePoint{7'999ms});
    CHECK(!Delayed{Delayed{FixedTerms{}, fast}}.drawn_until({TimePoint{9s}, 2026, 4}));
    CHECK(Delayed{Delayed{FixedTerms{}, slow}, fast}.drawn_until({TimePoint{9s}, 2026, 5}) == TimePoint{4s});
    CHECK_FALSE(Delayed{Delayed{}}.draws_in_rounds());
}

TEST_CASE("a rollback gives policies with parameters of one type what each of them had") {
    const auto fast = DrawDelay{{.round_period = 2s}};
    const auto slow = DrawDelay{{.draw_delay = 5s}};
    auto d = allot::Dispatcher{Delayed{Delayed{FixedTerms{}, slow}, fast}};
    const auto before = d;
    auto session = d.session();
    ok(d.configure(allot::DrawDelayParameters{.draw_delay = 7s}, 2, dark(0s)));
    CHECK_FALSE(d == before);
    session.rollback();
    CHECK(d == before);
}

TEST_CASE("of two least fees the larger one holds, and of two payments the smaller one") {
    struct Dear : allot::TermsAround<FixedTerms> {
        static auto fee_min(Duration) -> allot::Amount { return 1'000; }
        static auto paid(const allot::Task&) -> allot::Amount { return 7; }
    };
    auto task = allot::Task{};
    task.fee = 100;
    const auto terms = Priced{Dear{}, Price{{.fee_per_second_min = 1}}};
    CHECK(terms.fee_min(1min) == allot::Amount{1'000});
    CHECK(terms.fee_min(60min) == allot::Amount{3'600});
    CHECK(terms.paid(task) == allot::Amount{7});
}

TEST_CASE("times for ever, or of no length, are the longest and the shortest of times") {
    struct Patient : allot::TermsAround<FixedTerms> {
        Duration time;
        explicit Patient(Duration of) : time{of} {}
        auto length(const allot::Node&, const allot::Task&) const -> Duration { return time; }
        auto length_max(const allot::Node&, const allot::Task&) const -> Duration { return time; }
        auto patience(const allot::Task&) const -> Duration { return time; }
    };
    const auto longest = TimePoint{} + allot::duration_max;
    for (const auto& [time, until] :
         {std::pair{Duration::max(), longest}, std::pair{Duration::min(), TimePoint{1ms}}}) {
        auto d = allot::Dispatcher{Patient{time}};
        CHECK(d.submit(plain_task(1), dark(0s)).or_throw().template get<event::TaskQueued>()->deadline == until);
        const auto lease = d.join(plain_node(1), at(0s)).or_throw().template get<event::TaskStarted>()->lease;
        CHECK(lease.deadline == until);
        if (time > Duration{0}) { CHECK(d.renew(lease, at(1s)).error() == Error::lease_renewal_capped); }
    }
}

TEST_CASE("terms around others have the answers that those inside have, and no further one") {
    using Plain = allot::TermsAround<allot::archetype::Terms>;
    static_assert(allot::lease_terms<Plain>);
    static_assert(!allot::has_blames<Plain> && !allot::has_evidence<Plain> && !allot::has_rounds<Plain>);
    static_assert(!allot::has_fee_min<Plain> && !allot::has_forfeit<Plain> && !allot::has_paid<Plain>);
    static_assert(allot::has_blames<allot::TermsAround<FixedTerms>>);
    static_assert(allot::has_rounds<allot::TermsAround<Delayed<>>>);
    CHECK(Plain{}.length(allot::Node{}, allot::Task{}) == allot::archetype::Terms{}.length({}, {}));
}

}  // namespace terms_around_test
