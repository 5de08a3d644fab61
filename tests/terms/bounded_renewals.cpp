#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <allot/terms/bounded_renewals.hpp>

#define ALLOT_MODEL allot::BoundedRenewals<>
#include "conformance/terms.ipp"
#include "support/network.hpp"

// A lease with its renewals is a multiple of its length at the start, and no longer.

namespace bounded_renewals_test {
namespace {

using namespace support;
using allot::BoundedRenewals;
using allot::FixedTerms;
using allot::RenewalBound;
using allot::RenewalBoundParameters;

constexpr auto most = std::uint32_t{1'000'000};

}  // namespace

TEST_CASE("the bound is a multiple of the length, rounded down") {
    CHECK(RenewalBound{}.length_max(2min) == 4min);
    CHECK(RenewalBound{{.lengths = 1}}.length_max(2min) == 2min);
    CHECK(RenewalBound{{.lengths = {3, 2}}}.length_max(3ms) == 4ms);
    const auto longest = Duration{std::int64_t{1} << 40};
    CHECK(RenewalBound{{.lengths = {most, most}}}.length_max(longest) == longest);
    CHECK(RenewalBound{{.lengths = most}}.length_max(longest) == longest * std::int64_t{most});
}

TEST_CASE("bounds without sense are not valid") {
    CHECK(RenewalBoundParameters{}.valid());
    CHECK(RenewalBoundParameters{.lengths = most}.valid());
    CHECK_FALSE(RenewalBoundParameters{.lengths = 0}.valid());
    CHECK_FALSE(RenewalBoundParameters{.lengths = {1, 0}}.valid());
    CHECK_FALSE(RenewalBoundParameters{.lengths = {1, 2}}.valid());  // a lease would end before it began to be renewed
    CHECK_FALSE(RenewalBoundParameters{.lengths = most + 1}.valid());
    CHECK_THROWS_AS(RenewalBound{{.lengths = 0}}, std::invalid_argument);
    auto bound = RenewalBound{};
    CHECK_THROWS_AS(bound.configure({.lengths = 0}), std::invalid_argument);
    bound.configure({.lengths = 3});
    CHECK(bound.length_max(1min) == 3min);
}

TEST_CASE("the shorter of both bounds holds") {
    const auto node = allot::Node{};
    auto task = allot::Task{};
    const auto terms = BoundedRenewals{FixedTerms{}};
    task.duration_estimate = 1min;
    CHECK(terms.length(node, task) == 2min);
    CHECK(terms.length_max(node, task) == 4min);
    task.duration_estimate = 1ms;  // the least lease is a minute
    CHECK(terms.length_max(node, task) == 2min);
    task.duration_estimate = 24h;  // the greatest is two hours, and eight with renewals
    CHECK(terms.length_max(node, task) == 4h);
    CHECK(BoundedRenewals{FixedTerms{}, RenewalBound{{.lengths = 100}}}.length_max(node, task) == 8h);
}

TEST_CASE("a node that renews without end keeps a task for two lengths of its lease, and then another one gets it") {
    auto d = allot::Dispatcher{
        BoundedRenewals{FixedTerms{{.after_timeout = allot::Next::retry_elsewhere, .attempts_max = 2}}}};
    join_plain(d, 2);
    auto task = plain_task(1);
    task.duration_estimate = 1min;
    const auto lease = leased(d.submit(task, at(0s)));
    CHECK(lease.deadline == at(2min).time);
    CHECK(d.renew(lease, at(1min)).get<event::LeaseRenewed>()->lease.deadline == at(3min).time);
    CHECK(d.renew(lease, at(170s)).get<event::LeaseRenewed>()->lease.deadline == at(4min).time);
    CHECK(refusal(d.renew(lease, at(3min))) == Error::lease_renewal_capped);
    CHECK(refusal(d.renew(lease, at(239s))) == Error::lease_renewal_capped);
    const auto events = d.advance(at(4min));
    CHECK(count<event::TaskRetried>(events) == 1);
    CHECK(where(events) != lease.node.text());
    CHECK(count<event::TaskStarted>(events) == 1);
}

}  // namespace bounded_renewals_test
